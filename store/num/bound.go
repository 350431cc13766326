package num

import "bytes"

// ScoreBound reads one end of a score range: a number, or "(" and a number for
// an end that does not belong to the range. It is as lenient as the commands
// that take it: white space before the number is skipped, no number at all
// stands for 0, the text ends at the first zero byte, and numbers out of range
// become the nearest infinity or zero. ok is false for NaN and anything else
// that is not a number.
func ScoreBound(b []byte) (value float64, exclusive, ok bool) {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	if len(b) > 0 && b[0] == '(' {
		exclusive = true
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, exclusive, true
	}
	b = trimSpace(b)
	l, ok := parseLiteral(b)
	if !ok {
		return 0, exclusive, false
	}
	return l.double(b), exclusive, true
}

// LexKind tells the three forms of a lexicographic bound apart.
type LexKind uint8

// The forms of a lexicographic bound.
const (
	// LexValue is a member text, "[a" or "(a".
	LexValue LexKind = iota
	// LexMin is "-", before every member.
	LexMin
	// LexMax is "+", after every member.
	LexMax
)

// Lex is one end of a lexicographic range. Value is set for LexValue only and
// aliases the text it was read from; it may be empty. Exclusive tells that the
// end itself does not belong to the range, which holds for LexMin and LexMax.
type Lex struct {
	Kind      LexKind
	Exclusive bool
	Value     []byte
}

// LexBound reads one end of a lexicographic range: "-", "+", or a member after
// "[" (inclusive) or "(" (exclusive). ok is false for anything else. The result
// aliases b.
func LexBound(b []byte) (bound Lex, ok bool) {
	if len(b) == 0 {
		return Lex{}, false
	}
	// A zero byte ends the text of an infinite bound as it would in C.
	alone := len(b) == 1 || b[1] == 0
	switch b[0] {
	case '-':
		return Lex{Kind: LexMin, Exclusive: true}, alone
	case '+':
		return Lex{Kind: LexMax, Exclusive: true}, alone
	case '[':
		return Lex{Value: b[1:]}, true
	case '(':
		return Lex{Value: b[1:], Exclusive: true}, true
	}
	return Lex{}, false
}

// Cmp compares the bound with a member: negative when the bound is before it,
// zero when it is equal, positive when it is after it.
func (x Lex) Cmp(member []byte) int {
	switch x.Kind {
	case LexMin:
		return -1
	case LexMax:
		return 1
	}
	return bytes.Compare(x.Value, member)
}
