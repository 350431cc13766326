package commands

import (
	"math"
	"strconv"

	"github.com/echomq/emqd/store/num"
)

// Reply builds the answer to a call in the caller's protocol version, appended to a reused buffer. It
// alone knows RESP2 from RESP3: handlers say what they mean (a map, a set, a double) and Reply spells it.
type Reply struct {
	buf   []byte
	resp3 bool
	errs  int
}

// Reset makes the reply append to buf for a client of the given protocol version (2 or 3).
func (r *Reply) Reset(buf []byte, proto int) { r.buf, r.resp3, r.errs = buf, proto == 3, 0 }

// Bytes returns everything appended so far.
func (r *Reply) Bytes() []byte { return r.buf }

// Mark returns the present length, for Cut and Insert.
func (r *Reply) Mark() int { return len(r.buf) }

// Cut drops everything appended after mark.
func (r *Reply) Cut(mark int) { r.buf = r.buf[:mark] }

// Errors returns how many error replies were appended since Reset.
func (r *Reply) Errors() int { return r.errs }

// OK appends the simple string OK.
func (r *Reply) OK() { r.buf = append(r.buf, "+OK\r\n"...) }

// Simple appends a simple string; s has no line break.
func (r *Reply) Simple(s string) {
	r.buf = append(r.buf, '+')
	r.buf = append(r.buf, s...)
	r.buf = append(r.buf, '\r', '\n')
}

// Error appends an error reply; the text is a whole wire line, made one line if it is not.
func (r *Reply) Error(err error) {
	r.errs++
	text := err.Error()
	r.buf = append(r.buf, '-')
	for i := 0; i < len(text); i++ {
		if c := text[i]; c == '\r' || c == '\n' {
			r.buf = append(r.buf, ' ')
		} else {
			r.buf = append(r.buf, c)
		}
	}
	r.buf = append(r.buf, '\r', '\n')
}

// Int appends an integer.
func (r *Reply) Int(n int64) {
	if n == 0 {
		r.buf = append(r.buf, ":0\r\n"...)
		return
	}
	if n == 1 {
		r.buf = append(r.buf, ":1\r\n"...)
		return
	}
	r.head(':', n)
}

// Flag appends 1 or 0, the integer form of yes and no that most commands use in both versions.
func (r *Reply) Flag(yes bool) {
	if yes {
		r.Int(1)
		return
	}
	r.Int(0)
}

// Bool appends a boolean: #t or #f in RESP3, 1 or 0 in RESP2.
func (r *Reply) Bool(yes bool) {
	switch {
	case !r.resp3:
		r.Flag(yes)
	case yes:
		r.buf = append(r.buf, "#t\r\n"...)
	default:
		r.buf = append(r.buf, "#f\r\n"...)
	}
}

// Bulk appends a bulk string; b is copied.
func (r *Reply) Bulk(b []byte) {
	r.head('$', int64(len(b)))
	r.buf = append(r.buf, b...)
	r.buf = append(r.buf, '\r', '\n')
}

// Text appends a bulk string from a string.
func (r *Reply) Text(s string) {
	r.head('$', int64(len(s)))
	r.buf = append(r.buf, s...)
	r.buf = append(r.buf, '\r', '\n')
}

// IntText appends an integer as a bulk string.
func (r *Reply) IntText(n int64) {
	var tmp [20]byte
	r.Bulk(strconv.AppendInt(tmp[:0], n, 10))
}

// Verbatim appends plain text: a verbatim string of the kind txt in RESP3, a bulk string in RESP2.
func (r *Reply) Verbatim(s string) {
	if !r.resp3 {
		r.Text(s)
		return
	}
	r.head('=', int64(len(s)+4))
	r.buf = append(r.buf, "txt:"...)
	r.buf = append(r.buf, s...)
	r.buf = append(r.buf, '\r', '\n')
}

// Double appends a floating-point number: a double in RESP3, its text as a bulk string in RESP2.
func (r *Reply) Double(f float64) {
	var tmp [40]byte
	text := num.AppendFloat(tmp[:0], f)
	if !r.resp3 {
		r.Bulk(text)
		return
	}
	r.buf = append(r.buf, ',')
	if math.IsNaN(f) {
		text = append(tmp[:0], "nan"...)
	}
	r.buf = append(r.buf, text...)
	r.buf = append(r.buf, '\r', '\n')
}

// Null appends the absent value where a bulk string is expected: _ in RESP3, $-1 in RESP2.
func (r *Reply) Null() {
	if r.resp3 {
		r.buf = append(r.buf, "_\r\n"...)
		return
	}
	r.buf = append(r.buf, "$-1\r\n"...)
}

// NullArray appends the absent value where an array is expected: _ in RESP3, *-1 in RESP2.
func (r *Reply) NullArray() {
	if r.resp3 {
		r.buf = append(r.buf, "_\r\n"...)
		return
	}
	r.buf = append(r.buf, "*-1\r\n"...)
}

// Array begins an array of n elements, which the next n appends fill.
func (r *Reply) Array(n int) { r.head('*', int64(n)) }

// Map begins a map of n pairs; in RESP2 a flat array of 2n.
func (r *Reply) Map(n int) {
	if r.resp3 {
		r.head('%', int64(n))
		return
	}
	r.head('*', int64(2*n))
}

// Set begins a set of n elements; in RESP2 an array.
func (r *Reply) Set(n int) {
	if r.resp3 {
		r.head('~', int64(n))
		return
	}
	r.head('*', int64(n))
}

// Push begins an out-of-band message of n elements; in RESP2 an array.
func (r *Reply) Push(n int) {
	if r.resp3 {
		r.head('>', int64(n))
		return
	}
	r.head('*', int64(n))
}

// Pairs begins n two-field elements such as member and score: in RESP3 an array of n, each of which
// Pair opens; in RESP2 one flat array of 2n.
func (r *Reply) Pairs(n int) {
	if r.resp3 {
		r.head('*', int64(n))
		return
	}
	r.head('*', int64(2*n))
}

// Pair opens one element of Pairs.
func (r *Reply) Pair() {
	if r.resp3 {
		r.head('*', 2)
	}
}

// Later reserves the header of an aggregate whose length is not known yet and returns the mark that
// Fill needs. Nothing may be cut below it in between.
func (r *Reply) Later() int { return len(r.buf) }

// Fill inserts at mark the header that begin writes, as in r.Fill(mark, func() { r.Array(n) }), moving
// what was appended since behind it.
func (r *Reply) Fill(mark int, begin func()) {
	end := len(r.buf)
	begin()
	n := len(r.buf) - end
	var head [64]byte
	copy(head[:], r.buf[end:])
	copy(r.buf[mark+n:], r.buf[mark:end])
	copy(r.buf[mark:], head[:n])
}

// Raw appends a reply that is spelt already.
func (r *Reply) Raw(b []byte) { r.buf = append(r.buf, b...) }

// RESP3 reports whether the caller speaks version 3. Only the few commands whose shape differs beyond
// the types above may ask.
func (r *Reply) RESP3() bool { return r.resp3 }

func (r *Reply) head(kind byte, n int64) {
	switch {
	case n < 0 || n >= 1000:
	case n < 10:
		r.buf = append(r.buf, kind, byte('0'+n), '\r', '\n')
		return
	case n < 100:
		r.buf = append(r.buf, kind, byte('0'+n/10), byte('0'+n%10), '\r', '\n')
		return
	default:
		r.buf = append(r.buf, kind, byte('0'+n/100), byte('0'+n/10%10), byte('0'+n%10), '\r', '\n')
		return
	}
	r.buf = append(r.buf, kind)
	r.buf = strconv.AppendInt(r.buf, n, 10)
	r.buf = append(r.buf, '\r', '\n')
}
