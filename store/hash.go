package store

import "encoding/binary"

// Hash is a handle on one hash key. It is used within its transaction only.
type Hash struct {
	tx  *Tx
	key []byte
	e   entry
	gen uint64
}

// Hash opens key as a hash. An absent key opens as an empty hash, which the first Set creates; a key of
// another kind is ErrWrongType. The handle keeps key.
func (tx *Tx) Hash(key []byte) (Hash, error) {
	e, err := tx.findKind(key, KindHash)
	return Hash{tx: tx, key: key, e: e, gen: tx.gen}, err
}

// Exists reports whether the key is there.
func (h *Hash) Exists() bool {
	h.sync()
	return h.e.ok()
}

// sync looks the entry up again when something in the keyspace has moved.
func (h *Hash) sync() {
	if h.gen != h.tx.gen {
		h.e, h.gen = h.tx.again(&h.e, h.key, h.gen), h.tx.gen
	}
}

// moved notes that this handle's own change may have moved entries.
func (h *Hash) moved() {
	h.tx.gen++
	h.gen = h.tx.gen
}

func (h *Hash) table() *hashTable {
	if !h.e.isObject() {
		return nil
	}
	return h.tx.s.objects[h.e.object()].(*hashTable)
}

// Len returns the number of fields.
func (h *Hash) Len() int {
	h.sync()
	if !h.e.ok() {
		return 0
	}
	if t := h.table(); t != nil {
		return t.visible(h.tx.now)
	}
	return packedCount(h.e.value()) / 2
}

// Get returns the value of field.
func (h *Hash) Get(field []byte) (value []byte, ok bool) {
	h.sync()
	if !h.e.ok() {
		return nil, false
	}
	if t := h.table(); t != nil {
		f, ok := t.get(field, h.tx.now)
		return f.value, ok
	}
	value, _, _ = packedField(h.e.value(), field)
	return value, value != nil
}

// packedField returns the value of field in the packed hash v and where value item begins and ends; a nil
// value when there is no such field.
func packedField(v, field []byte) (value []byte, from, to int) {
	// Written out, since every field of a job is read here: with packedItem a claim and a completion take 3% more instructions.
	for at := packedHead; at < len(v); at = to {
		n, w := int(v[at]), 1
		if n >= 0x80 {
			n, w = uvarint(v[at:])
		}
		name := at + w
		from = name + n
		m, w := int(v[from]), 1
		if m >= 0x80 {
			m, w = uvarint(v[from:])
		}
		to = from + w + m
		if n == len(field) && string(v[name:from]) == string(field) {
			return v[from+w : to : to], from, to
		}
	}
	return nil, 0, 0
}

// Set gives field the value, clearing the field's expiry time, and reports whether the field is new. Both are copied.
func (h *Hash) Set(field, value []byte) (created bool) {
	h.purge()
	h.tx.extend("HSET", h.key, field, value)
	return h.put(field, value)
}

// put is Set without its effect.
func (h *Hash) put(field, value []byte) (created bool) {
	tx := h.tx
	if !h.e.ok() {
		h.e = tx.make(h.key, KindHash, packedHead)
		setPackedCount(h.e.value(), 0)
	}
	h.widen(field, value)
	if t := h.table(); t != nil {
		created = h.putInto(t, field, value)
		h.moved()
		return created
	}
	v := h.e.value()
	old, from, to := packedField(v, field)
	if len(old) == len(value) && old != nil {
		copy(old, value) // in its place: no entry moves, and no handle has to look again
		h.gen = tx.gen
		return false
	}
	created = old == nil
	size := len(v) - (to - from) + packedSize(len(value))
	if created {
		from, to = len(v), len(v)
		size += packedSize(len(field))
	}
	n := packedCount(v)
	switch {
	case size > packedBytes || created && n+2 > packedItems:
		h.putInto(h.spread(), field, value)
	case created:
		tx.db.resize(tx.s, &h.e, size)
		v = h.e.value()
		from += putPacked(v[from:], field)
		putPacked(v[from:], value)
		setPackedCount(v, n+2)
	default:
		tx.db.splice(tx.s, &h.e, from, to, packedSize(len(value)))
		putPacked(h.e.value()[from:], value)
	}
	h.moved()
	return created
}

// widen notes that the hash goes beyond Valkey's compact form when this field or value is too long for it.
func (h *Hash) widen(field, value []byte) {
	if limit := h.tx.s.Limits.HashValue; len(field) > limit || len(value) > limit {
		h.e.setFlag(flagWide)
	}
}

// SetAll is Set of fields, which differ, and values in turn. A key that is not there is made in one piece.
func (h *Hash) SetAll(pairs ...[]byte) {
	h.purge()
	size := packedHead
	for _, item := range pairs {
		size += packedSize(len(item))
	}
	if h.e.ok() || size > packedBytes || len(pairs) > packedItems {
		for len(pairs) > 0 {
			n := min(len(pairs), packedItems) // so that no effect grows without bound
			h.tx.extend("HSET", h.key, pairs[:n]...)
			for i := 0; i < n; i += 2 {
				h.put(pairs[i], pairs[i+1])
			}
			pairs = pairs[n:]
		}
		return
	}
	h.tx.extend("HSET", h.key, pairs...)
	h.e = h.tx.make(h.key, KindHash, size)
	v := h.e.value()
	setPackedCount(v, len(pairs))
	at := packedHead
	for i, item := range pairs {
		at += putPacked(v[at:], item)
		if i%2 > 0 {
			h.widen(pairs[i-1], item)
		}
	}
	h.moved()
}

// putInto is put for the large form.
func (h *Hash) putInto(t *hashTable, field, value []byte) (created bool) {
	created = t.set(h.tx, field, value)
	if t.d.Len() > h.tx.s.Limits.HashEntries {
		h.e.setFlag(flagWide)
	}
	return created
}

// Delete removes field and reports whether it was there. The key goes with its last field.
func (h *Hash) Delete(field []byte) bool {
	h.purge()
	if !h.e.ok() {
		return false
	}
	tx := h.tx
	if t := h.table(); t != nil {
		if _, ok := t.get(field, tx.now); !ok {
			return false
		}
		tx.extend("HDEL", h.key, field)
		t.remove(tx, field)
		if t.spent(tx.now) {
			// The others are past their time: the key goes now, and says so itself.
			tx.expire(&h.e)
			h.e, h.gen = entry{}, tx.gen
			return true
		}
		h.trim(t.d.Len())
		return true
	}
	v := h.e.value()
	value, from, to := packedField(v, field)
	if value == nil {
		return false
	}
	tx.extend("HDEL", h.key, field)
	from -= packedSize(len(field))
	n := packedCount(v) - 2
	tx.db.splice(tx.s, &h.e, from, to, 0)
	setPackedCount(h.e.value(), n)
	h.moved()
	h.trim(n)
	return true
}

// trim removes the key when it has no field left.
func (h *Hash) trim(n int) {
	if n > 0 {
		return
	}
	h.tx.vanish(&h.e)
	h.e, h.gen = entry{}, h.tx.gen
}

// Drop removes the key, if it is there.
func (h *Hash) Drop() {
	h.sync()
	if h.e.ok() {
		h.tx.drop(&h.e)
		h.e, h.gen = entry{}, h.tx.gen
	}
}

// Each calls f for every field until it returns false. f must not change this key.
func (h *Hash) Each(f func(field, value []byte) bool) {
	h.EachTimed(func(field, value []byte, _ int64) bool { return f(field, value) })
}

// EachTimed is Each with each field's expiry time in Unix ms, 0 for none.
func (h *Hash) EachTimed(f func(field, value []byte, at int64) bool) {
	h.sync()
	if !h.e.ok() {
		return
	}
	if t := h.table(); t != nil {
		t.each(h.tx.now, func(x hashField) bool { return f(x.name, x.value, x.at) })
		return
	}
	v := h.e.value()
	for at := packedHead; at < len(v); {
		name, next := packedItem(v, at)
		value, end := packedItem(v, next)
		if !f(name, value, 0) {
			return
		}
		at = end
	}
}

// Encoding returns what OBJECT ENCODING calls the form of this hash: listpack while Valkey would keep it so by the
// hash-max-listpack settings, else hashtable.
func (h *Hash) Encoding() string {
	h.sync()
	if h.e.ok() && (h.e.flags()&flagWide != 0 || h.Len() > h.tx.s.Limits.HashEntries) {
		return "hashtable"
	}
	return "listpack"
}

// spread turns the packed form into a table.
func (h *Hash) spread() *hashTable {
	tx := h.tx
	t := &hashTable{s: tx.s, d: newDict(tx.s.a)}
	before := t.mem()
	v := h.e.value()
	for at := packedHead; at < len(v); {
		name, next := packedItem(v, at)
		value, end := packedItem(v, next)
		t.set(tx, name, value)
		at = end
	}
	tx.s.resized(t.mem(), before) // hold counts it all
	tx.db.hold(tx.s, &h.e, t)
	return t
}

// hold makes o the entry's value.
func (d *db) hold(s *Store, e *entry, o object) {
	d.resize(s, e, 4)
	binary.LittleEndian.PutUint32(e.value(), s.hold(o))
	e.b[0] |= formObject
}
