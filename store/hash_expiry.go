package store

// FieldExpiry returns the Unix ms at which field goes, 0 when it has no time, and whether field is there.
func (h *Hash) FieldExpiry(field []byte) (at int64, ok bool) {
	h.sync()
	if !h.e.ok() {
		return 0, false
	}
	if t := h.table(); t != nil {
		f, ok := t.get(field, h.tx.now)
		return f.at, ok
	}
	value, _, _ := packedField(h.e.value(), field)
	return 0, value != nil
}

// ExpireField gives field the expiry time at (Unix ms) and reports whether field is there. A time that has come
// removes the field, and the key with its last one.
func (h *Hash) ExpireField(field []byte, at int64) bool {
	h.purge()
	if _, ok := h.Get(field); !ok {
		return false
	}
	tx := h.tx
	if at <= tx.now {
		tx.s.Stats.ExpiredFields++
		return h.Delete(field)
	}
	tx.record("HPEXPIREAT", h.key, tx.itoa(at), fieldsWord, oneWord, field)
	t := h.table()
	if t == nil {
		t = h.spread()
	}
	if t.home == nil {
		t.settle(tx.db, h.key, h.e.object())
	}
	f, _ := t.get(field, tx.now)
	t.stamp(tx, f, at)
	h.e.setFlag(flagWide) // Valkey keeps no times in a listpack
	h.moved()
	return true
}

// PersistField clears field's expiry time and reports whether it had one.
func (h *Hash) PersistField(field []byte) bool {
	h.purge()
	if at, _ := h.FieldExpiry(field); at == 0 {
		return false
	}
	h.tx.record("HPERSIST", h.key, fieldsWord, oneWord, field)
	t := h.table()
	f, _ := t.get(field, h.tx.now)
	t.stamp(h.tx, f, 0)
	h.moved()
	return true
}

var (
	fieldsWord = []byte("FIELDS")
	oneWord    = []byte("1")
)

// purgeBudget is how many fields past their time a write removes at most; the cycle removes the others.
const purgeBudget = 64

// purge removes some of the fields whose time has come, before something is written.
func (h *Hash) purge() {
	h.sync()
	if !h.e.ok() {
		return
	}
	t := h.table()
	if t == nil || t.next == 0 || t.next > h.tx.now {
		return
	}
	h.tx.purgeFields(h.key, t, purgeBudget)
}

// purgeFields removes up to budget fields of t, the value of key, whose time has come, and returns how many it
// removed. There is a field whose time has not come.
func (tx *Tx) purgeFields(key []byte, t *hashTable, budget int) int {
	n := 0
	for ; n < budget && t.next != 0 && t.next <= tx.now; n++ {
		first, _ := t.due.Min()
		name := t.load(first.r).name
		tx.extend("HDEL", key, name)
		t.remove(tx, name)
	}
	tx.s.Stats.ExpiredFields += int64(n)
	tx.Notify('h', "hexpired", key)
	return n
}

// ExpireFields removes up to budget hash fields of the selected database whose time has come, those of the hash
// that waits longest first, and reports whether there are more. A hash whose fields are all past their time goes at once.
func (tx *Tx) ExpireFields(budget int) bool {
	for {
		next, ok := tx.db.fields.Min()
		if !ok || next.at > tx.now {
			return false
		}
		if budget <= 0 {
			return true
		}
		t := tx.s.objects[next.object].(*hashTable)
		if e := tx.s.load(tx.db.keys.Find(t.key)); tx.s.past(&e, tx.now) {
			tx.expire(&e)
			budget--
			continue
		}
		budget -= tx.purgeFields(t.key, t, budget)
	}
}

// past reports whether the time of an entry, or of all fields of the hash that it is, has come.
func (s *Store) past(e *entry, now int64) bool {
	return (e.flags()&flagExpiry != 0 || e.b[0] == byte(KindHash)|formObject) && s.timedPast(e, now)
}

// timedPast is past for an entry that may have times at all.
func (s *Store) timedPast(e *entry, now int64) bool {
	if at := e.expiry(); at != 0 && at <= now {
		return true
	}
	return e.b[0] == byte(KindHash)|formObject && s.objects[e.object()].(*hashTable).spent(now)
}
