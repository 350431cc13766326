package num

import (
	"math"
	"math/bits"
	"strconv"
)

// Float reads a double: decimal with optional point and exponent, hexadecimal
// with or without a binary exponent, or an infinity in any case. The whole text
// must be the number. ok is false for NaN, for white space, for magnitudes
// above the largest double and for non-zero values that round to zero.
func Float(b []byte) (f float64, ok bool) {
	l, ok := parseLiteral(b)
	if !ok {
		return 0, false
	}
	f = l.double(b)
	if l.inf {
		return f, true
	}
	return f, !math.IsInf(f, 0) && (f != 0 || l.mant == 0)
}

// powersOfTen are those a double holds exactly.
var powersOfTen = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// double rounds the literal, whose source text is b, to the nearest double:
// an infinity beyond the largest, zero below half of the smallest.
func (l *literal) double(b []byte) float64 {
	var f float64
	switch {
	case l.inf:
		f = math.Inf(1)
	case l.mant == 0:
	case l.hex:
		f = l.hexDouble()
	default:
		f = l.decimalDouble(b)
	}
	if l.neg {
		return -f
	}
	return f
}

func (l *literal) decimalDouble(b []byte) float64 {
	if !l.inexact && l.mant < 1<<53 {
		// One correctly rounded operation on two exact operands.
		if l.exp >= 0 && l.exp < int64(len(powersOfTen)) {
			return float64(l.mant) * powersOfTen[l.exp]
		}
		if l.exp < 0 && -l.exp < int64(len(powersOfTen)) {
			return float64(l.mant) / powersOfTen[-l.exp]
		}
	}
	// mant is below 1e20, so these cannot be brought back into range.
	if l.exp > 310 {
		return math.Inf(1)
	}
	if l.exp < -350 {
		return 0
	}
	low := scaled(l.mant, l.exp)
	if !l.inexact || low == scaled(l.mant+1, l.exp) {
		return low
	}
	// The digits left out decide, so all of them have to be looked at.
	f, _ := strconv.ParseFloat(string(b), 64)
	return math.Abs(f)
}

// scaled returns mant times ten to the exp. It goes through a short text on the
// stack, so that the standard library rounds without any allocation.
func scaled(mant uint64, exp int64) float64 {
	var buf [32]byte
	text := strconv.AppendUint(buf[:0], mant, 10)
	text = append(text, 'e')
	text = strconv.AppendInt(text, exp, 10)
	// The error of a number out of range comes with the infinity wanted here.
	f, _ := strconv.ParseFloat(string(text), 64)
	return f
}

func (l *literal) hexDouble() float64 {
	size := int64(bits.Len64(l.mant)) + l.exp
	if size > 1024 {
		return math.Inf(1)
	}
	if size < -1080 {
		return 0
	}
	mant := l.mant
	if l.inexact {
		// At least 61 bits are kept: the lowest can stand for all that follow.
		mant |= 1
	}
	var buf [32]byte
	text := append(buf[:0], "0x"...)
	text = strconv.AppendUint(text, mant, 16)
	text = append(text, 'p')
	text = strconv.AppendInt(text, l.exp, 10)
	f, _ := strconv.ParseFloat(string(text), 64)
	return f
}

// maxPlainInteger is the bound up to which an integral double is printed as a
// plain integer; above it the shortest digits are used, which may need an
// exponent.
const maxPlainInteger = 1 << 62

// AppendFloat appends the text of f in scores and other double replies: inf,
// -inf or nan; a plain integer for integral values up to 2^62; otherwise the
// fewest digits that read back as f, in plain or exponent form.
//
// Negative zero is printed as 0. Valkey prints 0 or -0 for it depending on how
// the sorted set happens to be stored; the two compare equal, so the one text
// that never shows the difference is used.
//
// Valkey's own digit generator (Grisu2) misses the shortest or nearest digits
// for about three in a thousand doubles that need 16 or 17 of them, and for one
// in a thousand shorter decimals. Here the shortest are always found; either
// text reads back as the same double.
func AppendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "nan"...)
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	case f >= -maxPlainInteger && f <= maxPlainInteger && f == math.Trunc(f):
		return strconv.AppendInt(dst, int64(f), 10)
	}
	if f < 0 {
		dst = append(dst, '-')
		f = -f
	}
	var buf [32]byte
	digits, exp := shortest(&buf, f)
	return appendDigits(dst, digits, exp)
}

// shortest returns the fewest decimal digits that identify f, which is positive
// and finite, without a point, and the power of ten of their last digit. The
// digits are kept in buf.
func shortest(buf *[32]byte, f float64) (digits []byte, exp int) {
	text := strconv.AppendFloat(buf[:0], f, 'e', -1, 64)
	mark := len(text) - 1
	for text[mark] != 'e' {
		mark--
	}
	for _, c := range text[mark+2:] {
		exp = exp*10 + int(c-'0')
	}
	if text[mark+1] == '-' {
		exp = -exp
	}
	digits = text[:1]
	if mark > 1 {
		digits = append(digits, text[2:mark]...)
	}
	return digits, exp - (len(digits) - 1)
}

// appendDigits lays out digits times ten to the exp. Up to seven zeros are
// written after an integer. A fraction is written plainly while its last digit
// is within six decimals or its first one between 1e-3 and 1e3. All else gets
// an exponent, with a sign and without padding.
func appendDigits(dst, digits []byte, exp int) []byte {
	first := exp + len(digits) - 1
	switch {
	case exp >= 0 && exp <= 7:
		dst = append(dst, digits...)
		return appendZeros(dst, exp)
	case exp < 0 && (exp > -7 || first > -4 && first < 4):
		if first < 0 {
			dst = append(dst, '0', '.')
			dst = appendZeros(dst, -first-1)
			return append(dst, digits...)
		}
		dst = append(dst, digits[:first+1]...)
		dst = append(dst, '.')
		return append(dst, digits[first+1:]...)
	}
	dst = append(dst, digits[0])
	if len(digits) > 1 {
		dst = append(dst, '.')
		dst = append(dst, digits[1:]...)
	}
	dst = append(dst, 'e')
	if first >= 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, int64(first), 10)
}

func appendZeros(dst []byte, n int) []byte {
	for ; n > 0; n-- {
		dst = append(dst, '0')
	}
	return dst
}
