package num

import (
	"errors"
	"math/big"
)

// Errors of AddLong. The texts are those of the error replies, without the code.
var (
	ErrNotFloat     = errors.New("value is not a valid float")
	ErrNotFiniteSum = errors.New("increment would produce NaN or Infinity")
)

// The x87 extended format that Valkey computes INCRBYFLOAT in.
const (
	longPrec = 64
	// longMaxExp and longMinExp bound the exponent of a mantissa in [0.5, 1).
	// The smallest denormal is two to the longMinExp; half of it rounds to zero.
	longMaxExp = 16384
	longMinExp = -16445
	// maxLongText is the length from which a text is refused unread.
	maxLongText = 5 * 1024
)

// Long is a number of extended precision: 64 bits of mantissa and the exponent
// range of the x87 format, which INCRBYFLOAT and HINCRBYFLOAT compute in. It is
// made by ParseLong and never changes.
type Long struct {
	f *big.Float
}

// ParseLong reads a Long. It accepts the texts Float accepts, in the wider
// range, shorter than 5120 bytes. The infinities are accepted; see IsInf.
func ParseLong(b []byte) (x Long, ok bool) {
	if len(b) >= maxLongText {
		return Long{}, false
	}
	l, ok := parseLiteral(b)
	if !ok {
		return Long{}, false
	}
	f := new(big.Float).SetPrec(longPrec)
	switch {
	case l.inf:
		return Long{f.SetInf(l.neg)}, true
	case l.mant != 0:
		if !l.long(f) {
			return Long{}, false
		}
	}
	if l.neg {
		f.Neg(f)
	}
	return Long{f}, true
}

// long rounds the magnitude of a non-zero literal to f. ok is false when it is
// out of range on either side.
func (l *literal) long(f *big.Float) (ok bool) {
	// mant is below 2^64 or 1e20: beyond these nothing comes back into range,
	// and no huge power has to be computed to know.
	if limit := int64(5000); !l.hex && (l.exp > limit || l.exp < -limit) {
		return false
	}
	if limit := int64(17000); l.hex && (l.exp > limit || l.exp < -limit) {
		return false
	}
	m, exp := l.integer()
	switch {
	case l.hex:
		f.SetInt(m)
		f.SetMantExp(f, int(exp))
	case exp >= 0:
		f.SetInt(m.Mul(m, tenTo(exp)))
	default:
		// Both operands are exact, so the division rounds once.
		f.Quo(new(big.Float).SetInt(m), new(big.Float).SetInt(tenTo(-exp)))
	}
	size := f.MantExp(nil)
	if size > longMaxExp || size < longMinExp {
		return false
	}
	// Exactly half of the smallest denormal goes to the even neighbour, zero.
	return size > longMinExp || f.Cmp(new(big.Float).SetMantExp(big.NewFloat(0.5), longMinExp)) > 0
}

// integer returns all digits of the literal as an integer, and the power of the
// base (ten, or two when hexadecimal) to multiply it by.
func (l *literal) integer() (m *big.Int, exp int64) {
	m = new(big.Int)
	if !l.inexact {
		return m.SetUint64(l.mant), l.exp
	}
	text := make([]byte, 0, len(l.digits))
	for _, c := range l.digits {
		if c != '.' {
			text = append(text, c)
		}
	}
	if l.hex {
		m.SetString(string(text), 16)
		return m, l.exp - 4*l.dropped
	}
	m.SetString(string(text), 10)
	return m, l.exp - l.dropped
}

func tenTo(n int64) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil)
}

// IsInf reports whether x is an infinity of either sign.
func (x Long) IsInf() bool {
	return x.f.IsInf()
}

// Add returns x + y rounded to the precision of a Long. ok is false when the
// sum is not a finite number.
func (x Long) Add(y Long) (sum Long, ok bool) {
	if x.IsInf() || y.IsInf() {
		return Long{}, false
	}
	f := new(big.Float).SetPrec(longPrec).Add(x.f, y.f)
	return Long{f}, f.MantExp(nil) <= longMaxExp
}

// Append appends the text of x with up to 17 decimals, rounded, without
// trailing zeros, without an exponent, and 0 for negative zero.
func (x Long) Append(dst []byte) []byte {
	if x.IsInf() {
		if x.f.Signbit() {
			return append(dst, "-inf"...)
		}
		return append(dst, "inf"...)
	}
	start := len(dst)
	dst = x.f.Append(dst, 'f', 17)
	end := len(dst)
	for dst[end-1] == '0' {
		end--
	}
	if dst[end-1] == '.' {
		end--
	}
	if string(dst[start:end]) == "-0" {
		return append(dst[:start], '0')
	}
	return dst[:end]
}

// AddLong appends the text of a + b, computed in extended precision, to dst.
// On error dst is returned as it was: ErrNotFloat when either text is not a
// number ParseLong accepts, ErrNotFiniteSum when the sum is not finite.
func AddLong(dst, a, b []byte) ([]byte, error) {
	x, ok := ParseLong(a)
	if !ok {
		return dst, ErrNotFloat
	}
	y, ok := ParseLong(b)
	if !ok {
		return dst, ErrNotFloat
	}
	sum, ok := x.Add(y)
	if !ok {
		return dst, ErrNotFiniteSum
	}
	return sum.Append(dst), nil
}
