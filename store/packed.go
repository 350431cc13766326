package store

import "encoding/binary"

// A packed value is the compact form of a small collection, kept in its key's block:
//
//	count (2) | item length (uvarint) | item | ...
//
// Items are searched from the front, so a packed value is kept short: see packedBytes and packedItems.
const (
	packedHead  = 2
	packedBytes = 12 << 10 // the longest packed value
	packedItems = 256      // the most items
)

func packedCount(v []byte) int { return int(binary.LittleEndian.Uint16(v)) }

func setPackedCount(v []byte, n int) { binary.LittleEndian.PutUint16(v, uint16(n)) }

// packedItem returns the item that begins at offset at and the offset of the next one.
func packedItem(v []byte, at int) (item []byte, next int) {
	n, w := int(v[at]), 1
	if n >= 0x80 {
		n, w = uvarint(v[at:])
	}
	at += w
	return v[at : at+n : at+n], at + n
}

// packedSize returns the bytes that an item of n bytes takes.
func packedSize(n int) int { return uvarintLen(n) + n }

// putPacked writes item at the start of b and returns the width.
func putPacked(b, item []byte) int {
	w := putUvarint(b, len(item))
	return w + copy(b[w:], item)
}

// splice replaces the bytes from..to of e's value with n arbitrary ones, moving what follows.
func (d *db) splice(s *Store, e *entry, from, to, n int) {
	old := len(e.value())
	size := old - (to - from) + n
	if size < old {
		v := e.value()
		copy(v[from+n:], v[to:])
		d.resize(s, e, size)
		return
	}
	if size > old {
		d.resize(s, e, size)
		v := e.value()
		copy(v[from+n:], v[to:old])
	}
}
