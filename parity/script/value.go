// Package script is the corpus format of the tests: requests with their expected replies and effects as
// text that is pleasant to write and to diff, and yet exact to the byte. It parses script files, prints
// replies, runs cases against any target and rewrites expectations. docs/testing.md describes the format.
package script

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Value is one reply. Two replies are the same bytes if and only if their Strings are equal.
type Value struct {
	Kind  byte // the type byte: one of + - : $ * _ , # ( = % ~ >
	Null  bool // $-1 and *-1
	Text  string
	Elems []Value // of a map: key, value, key, value ...
}

// Decode reads the first reply in buf, which holds it completely, and returns its length.
func Decode(buf []byte) (v Value, n int, err error) {
	end := bytes.Index(buf, []byte("\r\n"))
	if end < 1 {
		return v, 0, fmt.Errorf("script: no reply in %q", cut(buf))
	}
	v.Kind = buf[0]
	line := string(buf[1:end])
	n = end + 2
	if strings.IndexByte("+-:,#_(", v.Kind) >= 0 {
		v.Text = line
		return v, n, nil
	}
	count, err := strconv.Atoi(line)
	if err != nil || count < -1 || strings.IndexByte("$=*%~>", v.Kind) < 0 {
		return v, 0, fmt.Errorf("script: malformed reply %q", cut(buf))
	}
	if count == -1 {
		v.Null = true
		return v, n, nil
	}
	if v.Kind == '$' || v.Kind == '=' {
		if len(buf) < n+count+2 {
			return v, 0, fmt.Errorf("script: reply cut off: %q", cut(buf))
		}
		v.Text = string(buf[n : n+count])
		return v, n + count + 2, nil
	}
	if v.Kind == '%' {
		count *= 2
	}
	for range count {
		e, m, err := Decode(buf[n:])
		if err != nil {
			return v, 0, err
		}
		v.Elems = append(v.Elems, e)
		n += m
	}
	return v, n, nil
}

func cut(b []byte) []byte { return b[:min(len(b), 80)] }

// brackets are the opening and closing byte of the aggregates.
func brackets(kind byte) (open, end byte) {
	if kind == '%' {
		return '{', '}'
	}
	return '[', ']'
}

func (v Value) aggregate() bool { return strings.IndexByte("*%~>", v.Kind) >= 0 && !v.Null }

// String returns the reply on one line.
func (v Value) String() string { return string(v.append(nil, true)) }

func (v Value) append(b []byte, top bool) []byte {
	b = append(b, v.Kind)
	switch {
	case v.Null:
		return append(b, "-1"...)
	case v.aggregate():
		open, end := brackets(v.Kind)
		b = append(b, open)
		for i, e := range v.Elems {
			if i > 0 {
				b = append(b, ' ')
			}
			b = e.append(b, false)
		}
		return append(b, end)
	case v.Kind == '$' || v.Kind == '=':
		return append(b, Quote(v.Text)...)
	case plain(v.Text, top):
		return append(b, v.Text...)
	}
	return append(b, Quote(v.Text)...)
}

// plain reports whether a line's text needs no quotes; alone on its line it may have spaces.
func plain(s string, top bool) bool {
	if strings.HasPrefix(s, `"`) || strings.TrimSpace(s) != s {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' || !top && strings.IndexByte(` []{}"`, s[i]) >= 0 {
			return false
		}
	}
	return true
}

// width is the length of a line from which replies are spread over several.
const width = 110

// Lines returns the reply on one line or, when it is long, with one element on each.
func (v Value) Lines() []string { return v.lines("", true) }

func (v Value) lines(indent string, top bool) []string {
	one := indent + string(v.append(nil, top))
	if len(one) <= width || !v.aggregate() || len(v.Elems) == 0 {
		return []string{one}
	}
	open, end := brackets(v.Kind)
	out := []string{indent + string([]byte{v.Kind, open})}
	inner := indent + "  "
	step := 1
	if v.Kind == '%' {
		step = 2
	}
	for part := range slices.Chunk(v.Elems, step) {
		last := part[len(part)-1].lines(inner, false)
		if step == 2 {
			last[0] = inner + string(part[0].append(nil, false)) + " " + strings.TrimPrefix(last[0], inner)
		}
		out = append(out, last...)
	}
	return append(out, indent+string(end))
}

// RESP3 returns what a reply in version 2 is in version 3 when only the nulls differ.
func (v Value) RESP3() Value {
	if v.Null {
		return Value{Kind: '_'}
	}
	if len(v.Elems) > 0 {
		elems := make([]Value, len(v.Elems))
		for i, e := range v.Elems {
			elems[i] = e.RESP3()
		}
		v.Elems = elems
	}
	return v
}

// Sorted returns the reply with the elements of its collection in order: those of the reply itself or, in a
// reply of the form [cursor, collection], of the latter. A group is as many elements as belong together.
func (v Value) Sorted(group int) Value {
	if !v.aggregate() || len(v.Elems) == 0 {
		return v
	}
	last := len(v.Elems) - 1
	if v.Kind == '*' && last == 1 && !v.Elems[0].aggregate() && v.Elems[1].aggregate() {
		v.Elems = []Value{v.Elems[0], v.Elems[1].Sorted(group)}
		return v
	}
	if v.Kind == '%' {
		group = 2
	}
	if v.Elems[0].aggregate() || len(v.Elems)%group != 0 {
		group = 1
	}
	parts := slices.Collect(slices.Chunk(v.Elems, group))
	slices.SortStableFunc(parts, func(x, y []Value) int {
		return strings.Compare(Value{Kind: '*', Elems: x}.String(), Value{Kind: '*', Elems: y}.String())
	})
	v.Elems = slices.Concat(parts...)
	return v
}

// Near reports whether w is v but for integers that differ by at most n.
func (v Value) Near(w Value, n int64) bool {
	if w.Kind != v.Kind || w.Null != v.Null || len(w.Elems) != len(v.Elems) {
		return false
	}
	for i := range v.Elems {
		if !v.Elems[i].Near(w.Elems[i], n) {
			return false
		}
	}
	x, err1 := strconv.ParseInt(v.Text, 10, 64)
	y, err2 := strconv.ParseInt(w.Text, 10, 64)
	if err1 != nil || err2 != nil {
		return w.Text == v.Text
	}
	return x-y <= n && y-x <= n
}
