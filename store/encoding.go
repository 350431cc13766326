package store

// Encoding returns what OBJECT ENCODING calls the form of key's value, "" when key is absent. It does not renew the
// access time.
func (tx *Tx) Encoding(key []byte) string {
	e := tx.peek(key)
	if !e.ok() {
		return ""
	}
	switch e.kind() {
	case KindString:
		v := String{tx: tx, key: key, e: e, gen: tx.gen}
		return v.Encoding()
	case KindList:
		l := List{tx: tx, key: key, e: e, gen: tx.gen}
		return l.Encoding()
	case KindSet:
		s := Set{tx: tx, key: key, e: e, gen: tx.gen}
		return s.Encoding()
	case KindZSet:
		z := ZSet{tx: tx, key: key, e: e, gen: tx.gen}
		return z.Encoding()
	case KindHash:
		h := Hash{tx: tx, key: key, e: e, gen: tx.gen}
		return h.Encoding()
	case KindStream:
		return "stream"
	}
	panic("store: no encoding of a " + e.kind().String())
}

// Idle returns for how many seconds key was not used; ok is false when it is absent. It does not count as
// a use.
func (tx *Tx) Idle(key []byte) (seconds int64, ok bool) {
	e := tx.peek(key)
	if !e.ok() {
		return 0, false
	}
	return max(tx.now/1000-int64(e.clock()), 0), true
}
