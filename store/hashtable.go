package store

import (
	"encoding/binary"

	"github.com/tidwall/btree"
)

// hashTable is the large form of a hash. A field is one dict entry whose kind byte tells whether it has an
// expiry time:
//
//	flags | name length | name | [expiry (8)] | value length (uvarint) | value
//
// The fields that have an expiry time are in due as well, in the order of their times, and the table stands in its
// database's fields under the first of these times.
type hashTable struct {
	s   *Store
	d   dict
	due *btree.BTreeG[deadline] // nil when no field has a time

	// The place of a table that has had a due field: its database, key and slot in Store.objects.
	home *db
	key  []byte
	slot uint32
	next int64 // the time in home.fields, 0 when it is not there
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
	if f := t.load(r); f.at == 0 || f.at > now {
		return f, true
	}
	return hashField{}, false
}

// visible returns the number of fields whose time has not come.
func (t *hashTable) visible(now int64) int {
	n := t.d.Len()
	switch {
	case t.next == 0 || t.next > now:
		return n
	case t.spent(now):
		return 0
	}
	t.due.Scan(func(x deadline) bool {
		if x.at > now {
			return false
		}
		n--
		return true
	})
	return n
}

// spent reports whether the time of every field has come.
func (t *hashTable) spent(now int64) bool {
	if t.next == 0 || t.next > now || t.due.Len() < t.d.Len() {
		return false
	}
	last, _ := t.due.Max()
	return last.at <= now
}

// set stores a field without an expiry time and reports whether it is new: absent, or there past its time.
func (t *hashTable) set(tx *Tx, field, value []byte) bool {
	before := t.mem()
	w := uvarintLen(len(field))
	size := 1 + w + len(field) + packedSize(len(value))
	old := t.d.Find(field)
	fresh := old == 0
	if old != 0 {
		f := t.load(old)
		fresh = f.at != 0 && f.at <= tx.now
		t.forget(f)
	}
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
		t.d.Replace(field, old, r)
		tx.s.a.Free(old)
	}
	t.schedule()
	tx.s.resized(before, t.mem())
	return fresh
}

// stamp gives a field of the table the expiry time at, 0 for none.
func (t *hashTable) stamp(tx *Tx, f hashField, at int64) {
	if f.at == at {
		return
	}
	before := t.mem()
	w := uvarintLen(len(f.name))
	head := 1 + w + len(f.name)
	r := f.r
	if f.at != 0 && at != 0 {
		binary.LittleEndian.PutUint64(tx.s.a.Bytes(r)[head:], uint64(at))
	} else {
		// The value shifts by the width of the time: a new block, so that bytes read before stay true.
		size, flags := head+packedSize(len(f.value)), byte(0)
		if at != 0 {
			size, flags = size+expirySize, fieldExpiry
		}
		var b []byte
		r, b = tx.s.a.Alloc(size)
		copy(b, tx.s.a.Bytes(f.r)[:head])
		b[0] = flags
		if at != 0 {
			binary.LittleEndian.PutUint64(b[head:], uint64(at))
			head += expirySize
		}
		putPacked(b[head:], f.value)
		t.d.Replace(f.name, f.r, r)
		tx.s.a.Free(f.r)
	}
	// Add first, then take away: a tree that was never empty allocates nothing.
	if at != 0 {
		if t.due == nil {
			t.due = newDeadlines()
		}
		t.due.Set(deadline{at, r})
	}
	t.forget(f)
	t.schedule()
	tx.s.resized(before, t.mem())
}

// forget takes a field out of the order of times. schedule follows.
func (t *hashTable) forget(f hashField) {
	if f.at != 0 {
		t.due.Delete(deadline{f.at, f.r})
	}
}

// schedule keeps the database informed of the first time.
func (t *hashTable) schedule() {
	next := int64(0)
	if t.due != nil {
		if first, ok := t.due.Min(); ok {
			next = first.at
		} else {
			t.due = nil
		}
	}
	t.register(next)
}

func (t *hashTable) register(next int64) {
	if next == t.next {
		return
	}
	if next != 0 {
		t.home.fields.Set(fieldDeadline{next, t.slot})
	}
	if t.next != 0 {
		t.home.fields.Delete(fieldDeadline{t.next, t.slot})
	}
	t.next = next
}

// settle notes where the table stands.
func (t *hashTable) settle(d *db, key []byte, i uint32) {
	t.home, t.key, t.slot = d, append([]byte(nil), key...), i
	t.schedule()
}

// leave takes the table out of its database's order.
func (t *hashTable) leave(*db, uint32) { t.register(0) }

func (t *hashTable) remove(tx *Tx, field []byte) {
	before := t.mem()
	if r := t.d.Find(field); r != 0 {
		t.forget(t.load(r))
		t.d.RemoveEntry(field, r)
		tx.s.a.Free(r)
		t.schedule()
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

func (t *hashTable) reclaim(s *Store, budget int) bool {
	t.due = nil
	return t.d.reclaim(budget)
}

func (t *hashTable) mem() int64 {
	n := 240 + t.d.bytes()
	if t.due != nil {
		n += int64(t.due.Len()) * 24
	}
	return n
}

func (t *hashTable) len() int { return t.d.Len() }
