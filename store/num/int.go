// Package num reads and prints numbers exactly as Valkey does.
//
// Readers take the argument bytes as they came from the wire, never keep them
// and never change them. Appenders extend the slice they are given. Apart from
// the extended-precision sums of INCRBYFLOAT nothing allocates on ordinary
// input.
package num

import (
	"bytes"
	"math"
	"strconv"
)

// maxIntLen is the length of the longest integer text, -9223372036854775808.
const maxIntLen = 20

// Int reads a signed decimal integer. It accepts only the text AppendInt would
// print for the value: no space, no plus sign, no leading zero, no "-0". ok is
// false for any other text and for values outside int64.
func Int(b []byte) (v int64, ok bool) {
	if len(b) == 0 || len(b) > maxIntLen {
		return 0, false
	}
	if len(b) == 1 {
		d := b[0] - '0'
		return int64(d), d <= 9
	}
	neg := b[0] == '-'
	if neg {
		b = b[1:]
	}
	if b[0] < '1' || b[0] > '9' {
		return 0, false
	}
	u, ok := digits(b)
	switch {
	case !ok:
		return 0, false
	case neg:
		// The conversion wraps 1<<63 to the smallest int64, its own negation.
		return -int64(u), u <= 1<<63
	default:
		return int64(u), u <= math.MaxInt64
	}
}

// digits reads a text of decimal digits only. ok is false when another byte
// occurs or the value does not fit in uint64. Empty text is 0.
func digits(b []byte) (u uint64, ok bool) {
	// Nineteen digits cannot overflow.
	if len(b) <= 19 {
		for _, c := range b {
			d := c - '0'
			if d > 9 {
				return 0, false
			}
			u = u*10 + uint64(d)
		}
		return u, true
	}
	for _, c := range b {
		d := c - '0'
		if d > 9 || u > math.MaxUint64/10 {
			return 0, false
		}
		next := u*10 + uint64(d)
		if next < u*10 {
			return 0, false
		}
		u = next
	}
	return u, true
}

// Uint reads an unsigned integer the way SCAN reads its cursor. A strict
// integer must not be negative. Any other text is read as C's strtoull would:
// leading white space, a sign (negation wraps around) and leading zeros are
// accepted, and the text ends at the first zero byte. ok is false for empty
// text, stray bytes and values above the largest uint64.
func Uint(b []byte) (u uint64, ok bool) {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	if v, ok := Int(b); ok {
		return uint64(v), v >= 0
	}
	b = trimSpace(b)
	if len(b) == 0 {
		return 0, false
	}
	neg := b[0] == '-'
	if neg || b[0] == '+' {
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	u, ok = digits(b)
	if !ok {
		return 0, false
	}
	if neg {
		u = -u
	}
	return u, true
}

// trimSpace drops leading bytes that C's isspace accepts.
func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	return b
}

func isSpace(c byte) bool {
	return c == ' ' || c >= '\t' && c <= '\r'
}

// AppendInt appends the decimal text of v, the only text of v Int accepts.
func AppendInt(dst []byte, v int64) []byte {
	if v >= 0 && v < 10 { // as most counters are; a claim writes two of them, and takes 1% less so
		return append(dst, byte('0'+v))
	}
	return strconv.AppendInt(dst, v, 10)
}
