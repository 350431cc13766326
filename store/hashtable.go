package store

import "encoding/binary"

// hashTable is the large form of a hash. A field is one dict entry whose kind byte tells whether it has an
// expiry time:
//
//	flags | name length | name | [expiry (8)] | value length (uvarint) | value
type hashTable struct {
	s *Store
	d dict
}

const fieldExpiry = 0x01

// fieldDeadline orders the hash objects by their next field to expire.
type fieldDeadline struct {
	at     int64
	object uint32
}

// hashField is one field as stored; the slices alias the store.
type hashField struct {
	r           ref
	name, value []byte
	at          int64 // expiry, 0 for none
}

func (t *hashTable) load(r ref) hashField {
	b := t.s.a.Bytes(r)
	n, w := uvarint(b[1:])
	f := hashField{r: r, name: b[1+w : 1+w+n]}
	at := 1 + w + n
	if b[0]&fieldExpiry != 0 {
		f.at = int64(binary.LittleEndian.Uint64(b[at:]))
		at += expirySize
	}
	n, w = uvarint(b[at:])
	f.value = b[at+w : at+w+n]
	return f
}

// get returns field unless its time has come.
func (t *hashTable) get(field []byte, now int64) (hashField, bool) {
	r := t.d.Find(field)
	if r == 0 {
		return hashField{}, false
	}
	f := t.load(r)
	return f, f.at == 0 || f.at > now
}

// visible returns the number of fields whose time has not come.
func (t *hashTable) visible(int64) int { return t.d.Len() }

// set stores a field without an expiry time and reports whether it is new.
func (t *hashTable) set(tx *Tx, field, value []byte) bool {
	before := t.mem()
	w := uvarintLen(len(field))
	size := 1 + w + len(field) + packedSize(len(value))
	old := t.d.Find(field)
	r, b := old, []byte(nil)
	if old != 0 && tx.s.a.Fits(old, size) {
		b = tx.s.a.Bytes(old)
	} else {
		r, b = tx.s.a.Alloc(size)
		putUvarint(b[1:], len(field))
		copy(b[1+w:], field)
	}
	b[0] = 0
	putPacked(b[1+w+len(field):], value)
	switch {
	case old == 0:
		t.d.Insert(field, r)
	case old != r:
		t.d.Replace(field, r)
		tx.s.a.Free(old)
	}
	tx.s.resized(before, t.mem())
	return old == 0
}

func (t *hashTable) remove(tx *Tx, field []byte) {
	before := t.mem()
	if r := t.d.Remove(field); r != 0 {
		tx.s.a.Free(r)
	}
	tx.s.resized(before, t.mem())
}

func (t *hashTable) each(now int64, f func(hashField) bool) {
	t.d.Each(func(r ref) bool {
		x := t.load(r)
		if x.at != 0 && x.at <= now {
			return true
		}
		return f(x)
	})
}

func (t *hashTable) reclaim(s *Store, budget int) bool { return t.d.reclaim(budget) }

func (t *hashTable) mem() int64 { return 160 + t.d.bytes() }

func (t *hashTable) len() int { return t.d.Len() }
