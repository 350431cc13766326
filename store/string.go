package store

import (
	"strconv"

	"github.com/echomq/emqd/store/num"
)

const (
	// stringInline is the longest string that stands in its key's block; longer ones are objects, so that
	// giving the key a time or another name never copies them.
	stringInline = maxSlab
	// embedded is the longest string that OBJECT ENCODING calls embstr.
	embedded = 44
)

// longString is the large form of a string. Its bytes change in place.
type longString struct {
	b []byte
}

func (l *longString) reclaim(*Store, int) bool { return true }

func (l *longString) mem() int64 { return 48 + int64(cap(l.b)) }

func (l *longString) len() int { return 1 }

// String is a handle on one string key. It is used within its transaction only.
type String struct {
	tx  *Tx
	key []byte
	e   entry
	gen uint64
}

// String opens key as a string. An absent key opens as an empty string, which the first write creates; a key of
// another kind is ErrWrongType. The handle keeps key.
func (tx *Tx) String(key []byte) (String, error) {
	e, err := tx.findKind(key, KindString)
	return String{tx: tx, key: key, e: e, gen: tx.gen}, err
}

// Value returns the string at key. ok is false when key is absent; the error is ErrWrongType.
func (tx *Tx) Value(key []byte) (value []byte, ok bool, err error) {
	e, err := tx.findKind(key, KindString)
	if err != nil || !e.ok() {
		return nil, false, err
	}
	return tx.s.text(&e), true, nil
}

// SetValue makes key hold the string value, whatever it held before, with the expiry time at (Unix ms,
// 0 for none). A time that has come makes the key invisible at once.
func (tx *Tx) SetValue(key, value []byte, at int64) {
	e := tx.s.load(tx.db.keys.Find(key))
	if e.ok() {
		if due := e.expiry(); due != 0 && due <= tx.now {
			tx.mustWrite()
			tx.expire(&e)
			e = entry{}
		}
	}
	tx.assign(&e, key, value, at)
}

// ReplaceValue makes the string at key value and keeps its expiry time; an absent key is created. The caller has
// checked the kind.
func (tx *Tx) ReplaceValue(key, value []byte) {
	e := tx.find(key)
	at := int64(0)
	if e.ok() {
		at = e.expiry()
	}
	tx.assign(&e, key, value, at)
}

// SetInt makes the string at key the decimal n and keeps its expiry time. The caller has checked the kind.
func (tx *Tx) SetInt(key []byte, n int64) {
	var text [20]byte
	tx.ReplaceValue(key, strconv.AppendInt(text[:0], n, 10))
}

// Exists reports whether the key is there.
func (v *String) Exists() bool {
	v.sync()
	return v.e.ok()
}

// Bytes returns the value, nil when the key is absent.
func (v *String) Bytes() []byte {
	v.sync()
	if !v.e.ok() {
		return nil
	}
	return v.tx.s.text(&v.e)
}

// Len returns the number of bytes, 0 when the key is absent.
func (v *String) Len() int { return len(v.Bytes()) }

// Expiry returns the Unix ms at which the key goes, 0 for never.
func (v *String) Expiry() int64 {
	v.sync()
	if !v.e.ok() {
		return 0
	}
	return v.e.expiry()
}

// Set makes the value a copy of value, with the expiry time at (Unix ms, 0 for none).
func (v *String) Set(value []byte, at int64) {
	v.sync()
	v.tx.assign(&v.e, v.key, value, at)
	v.gen = v.tx.gen
}

// Replace makes the value a copy of value and keeps the expiry time.
func (v *String) Replace(value []byte) { v.Set(value, v.Expiry()) }

// SetInt makes the value the decimal n and keeps the expiry time.
func (v *String) SetInt(n int64) {
	var text [20]byte
	v.Replace(strconv.AppendInt(text[:0], n, 10))
}

// Append adds data behind the value and returns the new length. The time it takes depends on data alone.
func (v *String) Append(data []byte) int {
	v.sync()
	if !v.e.ok() {
		v.Set(data, 0)
		return len(data)
	}
	v.Patch(v.Len(), data)
	return v.Len()
}

// Patch writes data, which is not empty, at the offset off, with zeros between the present end and off.
func (v *String) Patch(off int, data []byte) {
	v.sync()
	v.tx.record("SETRANGE", v.key, v.tx.itoa(int64(off)), data)
	copy(v.open(off + len(data))[off:], data)
}

// SetBit sets the bit at the offset off, counted from the highest bit of the first byte, to on.
func (v *String) SetBit(off int, on bool) {
	v.sync()
	digit := bitOff
	if on {
		digit = bitOn
	}
	v.tx.record("SETBIT", v.key, v.tx.itoa(int64(off)), digit)
	b := v.open(off>>3 + 1)
	mask := byte(0x80) >> (off & 7)
	if on {
		b[off>>3] |= mask
	} else {
		b[off>>3] &^= mask
	}
}

// Grow adds zeros behind the value until it is n bytes long.
func (v *String) Grow(n int) {
	if n > v.Len() {
		v.Patch(n-1, zeroByte)
	}
}

// MarkText keeps Encoding from calling the value int. It is no change.
func (v *String) MarkText() {
	v.sync()
	if v.e.ok() {
		v.e.setFlag(flagText)
	}
}

// MarkRaw makes Encoding call the value raw, as it does one that was changed in place. It is no change.
func (v *String) MarkRaw() {
	v.sync()
	if v.e.ok() {
		v.e.setFlag(flagRaw)
	}
}

// Encoding returns what OBJECT ENCODING calls the value's form.
func (v *String) Encoding() string {
	b := v.Bytes()
	if v.e.ok() && v.e.flags()&flagRaw != 0 || len(b) > embedded {
		return "raw"
	}
	if _, ok := num.Int(b); ok && v.e.flags()&flagText == 0 {
		return "int"
	}
	return "embstr"
}

var (
	pxat     = []byte("PXAT")
	bitOn    = []byte("1")
	bitOff   = []byte("0")
	zeroByte = []byte{0}
)

// sync looks the entry up again when something in the keyspace has moved.
func (v *String) sync() {
	if v.gen != v.tx.gen {
		v.e, v.gen = v.tx.again(&v.e, v.key, v.gen), v.tx.gen
	}
}

// open prepares the value for a change in place: it is at least n bytes long afterwards, the added ones
// zero. The key is created when it is absent. The effect is recorded already.
func (v *String) open(n int) []byte {
	tx := v.tx
	if !v.e.ok() {
		v.e = tx.make(v.key, KindString, 0)
	}
	tx.gen++
	v.gen = tx.gen
	b := tx.s.text(&v.e)
	if n > len(b) {
		b = tx.db.lengthen(tx.s, &v.e, n)
	}
	v.e.setFlag(flagRaw)
	return b
}

// text returns the bytes of the string at e in place.
func (s *Store) text(e *entry) []byte {
	if e.isObject() {
		return s.objects[e.object()].(*longString).b
	}
	return e.value()
}

// assign makes key, whose entry is e if it is visible, hold the string value until at. e becomes the new
// entry. value may alias what the key holds.
func (tx *Tx) assign(e *entry, key, value []byte, at int64) {
	if at == 0 {
		tx.record("SET", key, value)
	} else {
		tx.record("SET", key, value, pxat, tx.itoa(at))
	}
	tx.gen++
	room := len(value)
	if room > stringInline {
		room = 4
	}
	switch {
	case !e.ok():
		*e = tx.make(key, KindString, room)
	case e.kind() != KindString:
		tx.db.remove(tx.s, e)
		*e = tx.db.create(tx.s, key, KindString, room, tx.clock)
	default:
		e.b[e.meta] &^= flagRaw | flagText
		e.setClock(tx.clock)
	}
	if len(value) > stringInline {
		copy(tx.db.fit(tx.s, e, len(value)), value)
	} else {
		tx.db.inline(tx.s, e, len(value))
		copy(e.value(), value)
	}
	tx.db.setExpiry(tx.s, e, at)
}

// inline makes the string at e stand in its block with n arbitrary bytes.
func (d *db) inline(s *Store, e *entry, n int) {
	if e.isObject() {
		s.discard(e.object())
		e.b[0] &^= formObject
	}
	d.resize(s, e, n)
}

// fit makes the string at e an object of n arbitrary bytes and returns them.
func (d *db) fit(s *Store, e *entry, n int) []byte {
	if !e.isObject() {
		d.hold(s, e, &longString{})
	}
	l := s.objects[e.object()].(*longString)
	if cap(l.b) < n || cap(l.b) > 2*n {
		before := l.mem()
		l.b = make([]byte, n)
		s.resized(before, l.mem())
	}
	l.b = l.b[:n]
	return l.b
}

// lengthen makes the string at e n bytes long, more than it has, with zeros behind. A long string that grows step
// by step gets room for more, so that n bytes added one by one cost O(n).
func (d *db) lengthen(s *Store, e *entry, n int) []byte {
	old := s.text(e)
	if n <= stringInline && !e.isObject() {
		d.resize(s, e, n)
		b := e.value()
		clear(b[len(old):])
		return b
	}
	room := n
	if len(old) > n/2 {
		room += n / 8
	}
	if !e.isObject() {
		// Fresh memory is zero.
		l := &longString{b: append(make([]byte, 0, room), old...)[:n]}
		d.hold(s, e, l)
		return l.b
	}
	l := s.objects[e.object()].(*longString)
	if cap(l.b) < n {
		before := l.mem()
		l.b = append(make([]byte, 0, room), old...)[:n]
		s.resized(before, l.mem())
		return l.b
	}
	l.b = l.b[:n]
	clear(l.b[len(old):])
	return l.b
}
