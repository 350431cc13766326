package store

import "encoding/binary"

// An entry of the keyspace is one arena block:
//
//	kind and form | key length (uvarint) | key | flags | access clock (4) | used (4) | [expiry (8)] | value
//
// The first three are what every dict entry has. used counts the block's bytes in use, so that the value
// may grow into the slack of its slot. The value is either the packed form of its kind or, when formObject is
// set, the 4-byte number of an object.
type entry struct {
	r    ref
	b    []byte // the block, up to used
	meta int    // offset of flags
}

const (
	kindMask   = 0x07
	formObject = 0x08

	flagExpiry = 0x01
	flagRaw    = 0x02 // a string that was changed in place: OBJECT ENCODING says raw
	flagWide   = 0x04 // a small value that went beyond Valkey's compact limits once
	flagText   = 0x10 // a string that Valkey does not make a number though it reads as one
	flagInts   = 0x08 // a set whose value is an intSet

	metaSize   = 9
	expirySize = 8
)

func (e *entry) ok() bool { return e.r != 0 }

func (e *entry) kind() Kind { return Kind(e.b[0] & kindMask) }

func (e *entry) isObject() bool { return e.b[0]&formObject != 0 }

func (e *entry) flags() byte { return e.b[e.meta] }

func (e *entry) setFlag(f byte) { e.b[e.meta] |= f }

func (e *entry) key() []byte { return entryKey(e.b) }

func (e *entry) clock() uint32 { return binary.LittleEndian.Uint32(e.b[e.meta+1:]) }

func (e *entry) setClock(t uint32) { binary.LittleEndian.PutUint32(e.b[e.meta+1:], t) }

// expiry returns the Unix ms at which the key goes, 0 for never.
func (e *entry) expiry() int64 {
	if e.flags()&flagExpiry == 0 {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(e.b[e.meta+metaSize:]))
}

// valueAt returns the offset of the value in the block.
func (e *entry) valueAt() int {
	if e.flags()&flagExpiry != 0 {
		return e.meta + metaSize + expirySize
	}
	return e.meta + metaSize
}

// value returns the value's bytes in place.
func (e *entry) value() []byte { return e.b[e.valueAt():] }

func (e *entry) setUsed(n int) {
	e.b = e.b[:n]
	binary.LittleEndian.PutUint32(e.b[e.meta+5:], uint32(n))
}

// object returns the number of the object that holds the value.
func (e *entry) object() uint32 { return binary.LittleEndian.Uint32(e.value()) }

// load reads the entry at r.
func (s *Store) load(r ref) entry {
	if r == 0 {
		return entry{}
	}
	b := s.a.Bytes(r)
	meta := 2 + int(b[1])
	if b[1] >= 0x80 {
		n, w := uvarint(b[1:])
		meta = 1 + w + n
	}
	used := binary.LittleEndian.Uint32(b[meta+5:])
	return entry{r: r, b: b[:used:len(b)], meta: meta}
}

// create adds a key that is not there, with room for a value of n bytes whose content is arbitrary.
func (d *db) create(s *Store, key []byte, kind Kind, n int, clock uint32) entry {
	w := uvarintLen(len(key))
	meta := 1 + w + len(key)
	used := meta + metaSize + n
	r, b := s.a.Alloc(used)
	b[0] = byte(kind)
	putUvarint(b[1:], len(key))
	copy(b[1+w:], key)
	b[meta] = 0
	e := entry{r: r, b: b, meta: meta}
	e.setUsed(used)
	e.setClock(clock)
	d.keys.Insert(key, r)
	d.come(s, key)
	return e
}

// resize makes the value n bytes long, keeping as many of its first bytes as both lengths have. The
// entry may move.
func (d *db) resize(s *Store, e *entry, n int) {
	used := e.valueAt() + n
	if s.a.Fits(e.r, used) {
		b := s.a.Bytes(e.r)
		e.b = b
		e.setUsed(used)
		return
	}
	room := used
	if used > maxSlab && used > len(e.b) {
		room += used / 4 // large strings that grow do so again
	}
	r, b := s.a.Alloc(room)
	copy(b, e.b[:min(len(e.b), used)])
	d.replace(s, e, r, b, used)
}

// replace moves the entry to the block b at r, which has its bytes already.
func (d *db) replace(s *Store, e *entry, r ref, b []byte, used int) {
	old := *e
	at := old.expiry()
	e.r, e.b = r, b
	e.setUsed(used)
	d.keys.Replace(entryKey(e.b), old.r, r)
	if at != 0 {
		d.expires.Delete(deadline{at, old.r})
		if e.flags()&flagExpiry != 0 {
			d.expires.Set(deadline{e.expiry(), r})
		}
	}
	s.free(&old)
}

// free gives the block of an entry that has left the keyspace back. Handles that still have it see by its kind, which
// nobody who read the entry before has bytes of, that they must look their key up again.
func (s *Store) free(e *entry) {
	e.b[0] = byte(KindNone)
	s.a.Free(e.r)
}

// setExpiry sets or, with at 0, clears the expiry time. The entry may move.
func (d *db) setExpiry(s *Store, e *entry, at int64) {
	old := e.expiry()
	if old == at {
		return
	}
	if old != 0 && at != 0 {
		d.expires.Delete(deadline{old, e.r})
		binary.LittleEndian.PutUint64(e.b[e.meta+metaSize:], uint64(at))
		d.expires.Set(deadline{at, e.r})
		return
	}
	// The value shifts by the width of the time: rebuild the block, so that bytes read before stay true.
	head := e.meta + metaSize
	value := e.value()
	used := head + len(value)
	if at != 0 {
		used += expirySize
	}
	r, b := s.a.Alloc(used)
	copy(b, e.b[:head])
	if at != 0 {
		b[e.meta] |= flagExpiry
		binary.LittleEndian.PutUint64(b[head:], uint64(at))
		copy(b[head+expirySize:], value)
	} else {
		b[e.meta] &^= flagExpiry
		copy(b[head:], value)
	}
	d.replace(s, e, r, b, used)
	if old == 0 {
		d.expires.Set(deadline{at, r})
	}
}

// tenant is an object that its database keeps an index of beside the key.
type tenant interface {
	// settle tells the object that it is now the value of key in d, in slot i.
	settle(d *db, key []byte, i uint32)
	// leave tells it that it is no longer.
	leave(d *db, i uint32)
}

// remove takes the entry out of the keyspace and frees its value.
func (d *db) remove(s *Store, e *entry) {
	if at := e.expiry(); at != 0 {
		d.expires.Delete(deadline{at, e.r})
	}
	key := e.key()
	d.keys.RemoveEntry(key, e.r)
	d.leave(s, key)
	if e.isObject() {
		if t, ok := s.objects[e.object()].(tenant); ok {
			t.leave(d, e.object())
		}
		s.discard(e.object())
	}
	s.free(e)
}

// transfer gives the value of e, with its expiry and access times, to key in the database to, where key must
// not be present, and removes e. A large value is not copied. It returns the new entry.
func (d *db) transfer(s *Store, e *entry, to *db, key []byte) entry {
	moved := to.create(s, key, e.kind(), len(e.value()), e.clock())
	copy(moved.value(), e.value())
	moved.b[0] = e.b[0]
	moved.setFlag(e.flags() &^ flagExpiry)
	at := e.expiry()
	if at != 0 {
		d.expires.Delete(deadline{at, e.r})
		to.setExpiry(s, &moved, at)
	}
	d.keys.RemoveEntry(e.key(), e.r)
	d.leave(s, e.key())
	if e.isObject() {
		if t, ok := s.objects[e.object()].(tenant); ok {
			t.leave(d, e.object())
			t.settle(to, key, e.object())
		}
	}
	s.free(e)
	return moved
}
