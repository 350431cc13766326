package rdb

import "encoding/binary"

const (
	ziplistHeader  = 10
	ziplistEnd     = 0xff
	ziplistBigPrev = 0xfe
	ziplistUnknown = 0xffff

	zipmapEnd = 0xff
	zipmapBig = 0xfe
)

// ziplistItems appends the elements of a ziplist to d.items.
func (d *decoder) ziplistItems(p []byte) {
	if d.err != nil {
		return
	}
	if len(p) < ziplistHeader+1 || uint64(binary.LittleEndian.Uint32(p)) != uint64(len(p)) ||
		p[len(p)-1] != ziplistEnd {
		d.fail("broken ziplist")
		return
	}
	tail, want := binary.LittleEndian.Uint32(p[4:]), int(binary.LittleEndian.Uint16(p[8:]))
	pos, end, prev, n := ziplistHeader, len(p)-1, 0, 0
	for pos < end {
		size := d.ziplistEntry(p[pos:end], prev)
		if size == 0 {
			d.fail("broken ziplist")
			return
		}
		pos, prev = pos+size, size
		n++
	}
	// In an empty ziplist the tail is its end.
	if uint64(tail) != uint64(pos-prev) || want != ziplistUnknown && want != n {
		d.fail("broken ziplist")
	}
}

// ziplistEntry appends the element at the start of p to d.items and gives its
// whole size, or 0 when it is broken. prev is the size of the element before.
func (d *decoder) ziplistEntry(p []byte, prev int) int {
	back, prevSize := uint64(p[0]), 1
	if p[0] == ziplistBigPrev && len(p) > 5 {
		back, prevSize = uint64(binary.LittleEndian.Uint32(p[1:])), 5
	} else if p[0] >= ziplistBigPrev || len(p) < 2 {
		return 0
	}
	if back != uint64(prev) {
		return 0
	}
	body := p[prevSize:]
	if body[0] < 0xc0 {
		return d.ziplistString(body, prevSize)
	}
	size := 0
	switch b := body[0]; {
	case b == 0xc0:
		size = 2
	case b == 0xd0:
		size = 4
	case b == 0xe0:
		size = 8
	case b == 0xf0:
		size = 3
	case b == 0xfe:
		size = 1
	case b >= 0xf1 && b <= 0xfd:
		d.items = append(d.items, d.decimal(int64(b&0x0f)-1))
		return prevSize + 1
	}
	if size == 0 || len(body) < 1+size {
		return 0
	}
	d.items = append(d.items, d.decimal(littleEndian(body[1:1+size])))
	return prevSize + 1 + size
}

func (d *decoder) ziplistString(body []byte, prevSize int) int {
	var head int
	var size uint64
	switch b := body[0]; {
	case b < 0x40:
		head, size = 1, uint64(b)
	case b < 0x80 && len(body) >= 2:
		head, size = 2, uint64(b&0x3f)<<8|uint64(body[1])
	case b >= 0x80 && len(body) >= 5:
		head, size = 5, uint64(binary.BigEndian.Uint32(body[1:]))
	default:
		return 0
	}
	if size > uint64(len(body)-head) {
		return 0
	}
	end := head + int(size)
	d.items = append(d.items, body[head:end:end])
	return prevSize + end
}

// zipmapItems appends the fields and values of a zipmap to d.items.
func (d *decoder) zipmapItems(p []byte) {
	if d.err != nil {
		return
	}
	if len(p) < 2 || p[len(p)-1] != zipmapEnd {
		d.fail("broken zipmap")
		return
	}
	want, rest, n := int(p[0]), p[1:len(p)-1], 0
	for ; len(rest) > 0; n++ {
		field, after, ok := zipmapString(rest, 0)
		if !ok {
			d.fail("broken zipmap")
			return
		}
		value, after, ok := zipmapString(after, 1)
		if !ok {
			d.fail("broken zipmap")
			return
		}
		d.items = append(d.items, field, value)
		rest = after
	}
	if want != zipmapBig && want != n {
		d.fail("broken zipmap")
	}
}

// zipmapString splits a string off p. Behind its length stand spare bytes that
// say how many unused bytes follow it.
func zipmapString(p []byte, spare int) (s, rest []byte, ok bool) {
	if len(p) == 0 || p[0] == zipmapEnd {
		return nil, nil, false
	}
	size, head := uint64(p[0]), 1
	if p[0] == zipmapBig {
		if len(p) < 5 {
			return nil, nil, false
		}
		size, head = uint64(binary.LittleEndian.Uint32(p[1:])), 5
	}
	p = p[head:]
	free := 0
	if spare > 0 {
		if len(p) == 0 {
			return nil, nil, false
		}
		free, p = int(p[0]), p[1:]
	}
	if size > uint64(len(p)) || free > len(p)-int(size) {
		return nil, nil, false
	}
	return p[:size:size], p[int(size)+free:], true
}
