package rdb

import "encoding/binary"

const (
	listpackHeader  = 6
	listpackEnd     = 0xff
	listpackUnknown = 0xffff // a count that does not fit
)

// listpackIter walks the elements of a listpack whose frame was checked.
type listpackIter struct {
	p      []byte // the elements, without header and end
	pos    int
	broken bool
}

// openListpack checks the frame of a listpack and gives its element count, or
// -1 when the listpack does not tell.
func openListpack(p []byte) (it listpackIter, n int, ok bool) {
	if len(p) < listpackHeader+1 || uint64(binary.LittleEndian.Uint32(p)) != uint64(len(p)) ||
		p[len(p)-1] != listpackEnd {
		return it, 0, false
	}
	n = int(binary.LittleEndian.Uint16(p[4:]))
	if n == listpackUnknown {
		n = -1
	}
	return listpackIter{p: p[listpackHeader : len(p)-1]}, n, true
}

func (it *listpackIter) done() bool { return it.pos >= len(it.p) || it.broken }

// next gives the next element: a string, which aliases the listpack, or a
// number when s is nil. After a broken element it.broken is set.
func (it *listpackIter) next() (s []byte, num int64) {
	if it.done() {
		it.broken = true
		return nil, 0
	}
	p := it.p[it.pos:]
	head, size := listpackEntry(p)
	if head == 0 || size > uint64(len(p)-head) {
		it.broken = true
		return nil, 0
	}
	end := head + int(size)
	if p[0]>>6 == 2 || p[0]>>4 == 0xe || p[0] == 0xf0 {
		s = p[head:end:end]
	} else {
		num = listpackNumber(p[:end])
	}
	var back [5]byte
	want := appendBacklen(back[:0], end)
	if len(p)-end < len(want) || string(p[end:end+len(want)]) != string(want) {
		it.broken = true
		return nil, 0
	}
	it.pos += end + len(want)
	return s, num
}

// number gives the next element, which must be a number.
func (it *listpackIter) number() int64 {
	s, n := it.next()
	if s != nil {
		it.broken = true
	}
	return n
}

// listpackEntry gives the bytes before the payload of the element at p and the
// size of that payload; head is 0 for what is not an element.
func listpackEntry(p []byte) (head int, size uint64) {
	switch b := p[0]; {
	case b < 0x80:
		return 1, 0
	case b < 0xc0:
		return 1, uint64(b & 0x3f)
	case b < 0xe0:
		return 1, 1
	case b < 0xf0:
		if len(p) < 2 {
			return 0, 0
		}
		return 2, uint64(b&0x0f)<<8 | uint64(p[1])
	case b == 0xf0:
		if len(p) < 5 {
			return 0, 0
		}
		return 5, uint64(binary.LittleEndian.Uint32(p[1:]))
	case b <= 0xf3:
		return 1, uint64(b) - 0xf1 + 2
	case b == 0xf4:
		return 1, 8
	}
	return 0, 0
}

// listpackNumber decodes a whole number element, without its back length.
func listpackNumber(p []byte) int64 {
	switch b := p[0]; {
	case b < 0x80:
		return int64(b)
	case b < 0xe0:
		return int64(int16(uint16(b)<<11|uint16(p[1])<<3)) >> 3
	default:
		return littleEndian(p[1:])
	}
}

// littleEndian decodes a signed number of one to eight bytes.
func littleEndian(p []byte) int64 {
	var v uint64
	for i, b := range p {
		v |= uint64(b) << (8 * i)
	}
	shift := 64 - 8*len(p)
	return int64(v<<shift) >> shift
}

// appendBacklen appends the size of an element in the form that is read from
// its end.
func appendBacklen(dst []byte, n int) []byte {
	switch {
	case n <= 127:
		return append(dst, byte(n))
	case n < 16383:
		return append(dst, byte(n>>7), byte(n&127|128))
	case n < 2097151:
		return append(dst, byte(n>>14), byte(n>>7&127|128), byte(n&127|128))
	case n < 268435455:
		return append(dst, byte(n>>21), byte(n>>14&127|128), byte(n>>7&127|128), byte(n&127|128))
	}
	return append(dst, byte(n>>28), byte(n>>21&127|128), byte(n>>14&127|128), byte(n>>7&127|128), byte(n&127|128))
}

// listpackItems appends the elements of a listpack to d.items.
func (d *decoder) listpackItems(p []byte) {
	if d.err != nil {
		return
	}
	it, want, ok := openListpack(p)
	n := 0
	for ; ok && !it.done(); n++ {
		s, num := it.next()
		if s == nil && !it.broken {
			s = d.decimal(num)
		}
		d.items = append(d.items, s)
	}
	if !ok || it.broken || want >= 0 && n != want {
		d.fail("broken listpack")
	}
}

// listpack builds a listpack.
type listpack struct {
	buf []byte
	n   int
}

// begin starts an empty listpack in the memory of the last one.
func (l *listpack) begin() {
	l.buf = append(l.buf[:0], 0, 0, 0, 0, 0, 0)
	l.n = 0
}

// finish completes the listpack, which is valid until begin.
func (l *listpack) finish() []byte {
	l.buf = append(l.buf, listpackEnd)
	binary.LittleEndian.PutUint32(l.buf, uint32(len(l.buf)))
	binary.LittleEndian.PutUint16(l.buf[4:], uint16(min(l.n, listpackUnknown)))
	return l.buf
}

// str appends a string, as a number when it is the text of one.
func (l *listpack) str(s []byte) {
	if v, ok := parseInt(s); ok {
		l.number(v)
		return
	}
	from := len(l.buf)
	switch n := len(s); {
	case n < 64:
		l.buf = append(l.buf, 0x80|byte(n))
	case n < 4096:
		l.buf = append(l.buf, 0xe0|byte(n>>8), byte(n))
	default:
		l.buf = binary.LittleEndian.AppendUint32(append(l.buf, 0xf0), uint32(n))
	}
	l.buf = append(l.buf, s...)
	l.close(from)
}

// number appends a number.
func (l *listpack) number(v int64) {
	from := len(l.buf)
	switch {
	case v >= 0 && v <= 127:
		l.buf = append(l.buf, byte(v))
	case v >= -4096 && v <= 4095:
		l.buf = append(l.buf, 0xc0|byte(v>>8)&0x1f, byte(v))
	case v >= -1<<15 && v < 1<<15:
		l.buf = append(l.buf, 0xf1, byte(v), byte(v>>8))
	case v >= -1<<23 && v < 1<<23:
		l.buf = append(l.buf, 0xf2, byte(v), byte(v>>8), byte(v>>16))
	case v >= -1<<31 && v < 1<<31:
		l.buf = binary.LittleEndian.AppendUint32(append(l.buf, 0xf3), uint32(v))
	default:
		l.buf = binary.LittleEndian.AppendUint64(append(l.buf, 0xf4), uint64(v))
	}
	l.close(from)
}

func (l *listpack) close(from int) {
	l.buf = appendBacklen(l.buf, len(l.buf)-from)
	l.n++
}

// parseInt parses the text of a 64-bit number in its one canonical form.
func parseInt(s []byte) (int64, bool) {
	if len(s) == 0 || len(s) > 20 {
		return 0, false
	}
	digits := s
	if s[0] == '-' {
		digits = s[1:]
	}
	if len(digits) == 0 || digits[0] == '0' && len(s) > 1 {
		return 0, false
	}
	var v uint64
	for _, c := range digits {
		c -= '0'
		if c > 9 || v > (1<<64-1)/10 {
			return 0, false
		}
		if v *= 10; v+uint64(c) < v {
			return 0, false
		}
		v += uint64(c)
	}
	if s[0] == '-' {
		return -int64(v), v <= 1<<63
	}
	return int64(v), v < 1<<63
}
