package store

import "strconv"

// Value returns the string at key. ok is false when key is absent; the error is ErrWrongType.
func (tx *Tx) Value(key []byte) (value []byte, ok bool, err error) {
	e, err := tx.findKind(key, KindString)
	if err != nil || !e.ok() {
		return nil, false, err
	}
	return e.value(), true, nil
}

// SetValue makes key hold the string value, whatever it held before, with the expiry time at (Unix ms,
// 0 for none).
func (tx *Tx) SetValue(key, value []byte, at int64) {
	if at == 0 {
		tx.record("SET", key, value)
	} else {
		tx.record("SET", key, value, pxat, tx.itoa(at))
	}
	tx.gen++
	e := tx.s.load(tx.db.keys.Find(key))
	switch {
	case !e.ok():
		e = tx.db.create(tx.s, key, KindString, len(value), uint32(tx.now/1000))
	case e.kind() == KindString && e.expiry() == at:
		tx.db.resize(tx.s, &e, len(value))
		e.b[e.meta] &^= flagRaw
		e.setClock(uint32(tx.now / 1000))
	default:
		tx.db.remove(tx.s, &e)
		e = tx.db.create(tx.s, key, KindString, len(value), uint32(tx.now/1000))
	}
	copy(e.value(), value)
	if at != e.expiry() {
		tx.db.setExpiry(tx.s, &e, at)
	}
}

var pxat = []byte("PXAT")

// ReplaceValue makes the string at key value and keeps its expiry time; an absent key is created. The caller has
// checked the kind.
func (tx *Tx) ReplaceValue(key, value []byte) {
	e := tx.find(key)
	at := int64(0)
	if e.ok() {
		at = e.expiry()
	}
	tx.SetValue(key, value, at)
}

// SetInt makes the string at key the decimal n and keeps its expiry time. The caller has checked the kind.
func (tx *Tx) SetInt(key []byte, n int64) {
	var text [20]byte
	tx.ReplaceValue(key, strconv.AppendInt(text[:0], n, 10))
}
