package num

// literal is a floating-point text taken apart. Its magnitude is mant times
// base to the exp, plus something smaller than one unit of mant when inexact.
type literal struct {
	neg     bool
	inf     bool
	hex     bool
	mant    uint64
	exp     int64
	inexact bool
	// digits spans the mantissa within the source text, its point included.
	// exp counts from mant's last digit, dropped tells how many digits of the
	// span follow that one.
	digits  []byte
	dropped int64
}

const (
	maxDecimalDigits = 19
	maxHexDigits     = 16
	// maxExponent bounds a written exponent so that sums with digit counts
	// cannot overflow; it is far beyond what any text length can make up for.
	maxExponent = 1 << 50
)

// parseLiteral takes apart b, which must be as a whole what C's strtod accepts
// after its leading white space: an optional sign, then inf, infinity, a
// decimal or a hexadecimal number. ok is false for anything else; NaN is among
// that, since no command takes it.
func parseLiteral(b []byte) (l literal, ok bool) {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		l.neg = b[0] == '-'
		b = b[1:]
	}
	if len(b) == 0 {
		return l, false
	}
	if b[0]|0x20 == 'i' {
		l.inf = foldEqual(b, "inf") || foldEqual(b, "infinity")
		return l, l.inf
	}
	marker := byte('e')
	if len(b) > 2 && b[0] == '0' && b[1]|0x20 == 'x' {
		l.hex = true
		marker = 'p'
		b = b[2:]
	}
	rest, ok := l.mantissa(b)
	if !ok {
		return l, false
	}
	if len(rest) == 0 {
		return l, true
	}
	if rest[0]|0x20 != marker {
		return l, false
	}
	exp, ok := exponent(rest[1:])
	l.exp += exp
	return l, ok
}

// mantissa reads digits with at most one point and returns what follows them.
// ok is false when there is no digit.
func (l *literal) mantissa(b []byte) (rest []byte, ok bool) {
	base, limit, perDigit := uint64(10), maxDecimalDigits, int64(1)
	if l.hex {
		base, limit, perDigit = 16, maxHexDigits, 4
	}
	seen, kept, point := 0, 0, false
	i := 0
	for ; i < len(b); i++ {
		if b[i] == '.' && !point {
			point = true
			continue
		}
		d := digitValue(b[i])
		if d >= base {
			break
		}
		seen++
		if kept < limit {
			l.mant = l.mant*base + d
			if l.mant != 0 {
				kept++
			}
			if point {
				l.exp -= perDigit
			}
			continue
		}
		l.dropped++
		l.inexact = l.inexact || d != 0
		if !point {
			l.exp += perDigit
		}
	}
	l.digits = b[:i]
	return b[i:], seen > 0
}

// digitValue returns the value of a hexadecimal digit, or 255.
func digitValue(c byte) uint64 {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0')
	case c >= 'a' && c <= 'f':
		return uint64(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return uint64(c-'A') + 10
	}
	return 255
}

// exponent reads an optional sign and at least one decimal digit. Values beyond
// maxExponent are held there.
func exponent(b []byte) (exp int64, ok bool) {
	neg := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	for _, c := range b {
		d := c - '0'
		if d > 9 {
			return 0, false
		}
		exp = min(exp*10+int64(d), maxExponent)
	}
	if neg {
		exp = -exp
	}
	return exp, true
}

// foldEqual reports whether b is the lower-case word in any case.
func foldEqual(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i, c := range b {
		if c|0x20 != word[i] {
			return false
		}
	}
	return true
}
