package rdb

import (
	"bytes"
	"hash/maphash"
)

// dupTable finds elements that are named twice. It is an open hash table of
// positions, used again from value to value; the seed keeps hostile input from
// choosing collisions.
type dupTable struct {
	seed  maphash.Seed
	slots []uint32 // position in keys plus one, 0 is free
	keys  [][]byte
	mask  uint64
}

// linearDup is the number of keys up to which comparing each with each is
// cheaper than hashing.
const linearDup = 8

// begin empties the table and makes it ready for n keys.
func (t *dupTable) begin(n int) {
	t.keys = t.keys[:0]
	if cap(t.keys) < n {
		t.keys = make([][]byte, 0, n)
	}
	if n <= linearDup {
		t.mask = 0
		return
	}
	if t.slots == nil {
		t.seed = maphash.MakeSeed()
	}
	size := 16
	for size < 2*n {
		size *= 2
	}
	if cap(t.slots) < size {
		t.slots = make([]uint32, size)
	} else {
		t.slots = t.slots[:size]
		clear(t.slots)
	}
	t.mask = uint64(size - 1)
}

// add puts key in and reports whether it is new.
func (t *dupTable) add(key []byte) bool {
	if t.mask == 0 {
		for _, k := range t.keys {
			if bytes.Equal(k, key) {
				return false
			}
		}
		t.keys = append(t.keys, key)
		return true
	}
	i := maphash.Bytes(t.seed, key) & t.mask
	for ; t.slots[i] != 0; i = (i + 1) & t.mask {
		if bytes.Equal(t.keys[t.slots[i]-1], key) {
			return false
		}
	}
	t.keys = append(t.keys, key)
	t.slots[i] = uint32(len(t.keys))
	return true
}

// reset gives back memory that only an unusually large value needed.
func (t *dupTable) reset() {
	if cap(t.keys) > kept {
		t.keys = nil
	}
	if cap(t.slots) > 2*kept {
		t.slots = nil
	}
}
