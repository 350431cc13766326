package store

// Exists reports whether key is there. It does not renew the access time.
func (tx *Tx) Exists(key []byte) bool {
	e := tx.look(key)
	return e.ok()
}

// Touch renews the access time of key and reports whether it is there.
func (tx *Tx) Touch(key []byte) bool {
	e := tx.find(key)
	return e.ok()
}

// Kind returns what key holds, KindNone when it is absent. It does not renew the access time.
func (tx *Tx) Kind(key []byte) Kind {
	e := tx.look(key)
	if !e.ok() {
		return KindNone
	}
	return e.kind()
}

// Delete removes key and reports whether it was there. A large value is reclaimed step by step.
func (tx *Tx) Delete(key []byte) bool {
	e := tx.find(key)
	if !e.ok() {
		return false
	}
	tx.drop(&e)
	return true
}

// Expiry returns the Unix ms at which key goes, 0 when it has no time, and whether key is there. It does not renew
// the access time.
func (tx *Tx) Expiry(key []byte) (at int64, ok bool) {
	e := tx.look(key)
	if !e.ok() {
		return 0, false
	}
	return e.expiry(), true
}

// ExpireAt gives key the time at (Unix ms) and reports whether key is there. A time that has come
// removes the key.
func (tx *Tx) ExpireAt(key []byte, at int64) bool {
	e := tx.find(key)
	if !e.ok() {
		return false
	}
	if at <= tx.now {
		tx.drop(&e)
		return true
	}
	tx.record("PEXPIREAT", key, tx.itoa(at))
	tx.gen++
	tx.db.setExpiry(tx.s, &e, at)
	return true
}

// Persist clears key's time and reports whether it had one.
func (tx *Tx) Persist(key []byte) bool {
	e := tx.find(key)
	if !e.ok() || e.expiry() == 0 {
		return false
	}
	tx.record("PERSIST", key)
	tx.gen++
	tx.db.setExpiry(tx.s, &e, 0)
	return true
}

// ExpireCycle removes up to budget keys of the selected database whose time has come, earliest first, and
// reports whether there are more.
func (tx *Tx) ExpireCycle(budget int) bool {
	for ; budget > 0; budget-- {
		next, ok := tx.db.expires.Min()
		if !ok || next.at > tx.now {
			return false
		}
		e := tx.s.load(next.r)
		tx.expire(&e)
	}
	next, ok := tx.db.expires.Min()
	return ok && next.at <= tx.now
}

// NextExpiry returns the earliest time of any key or hash field of any database, 0 when there is none.
func (s *Store) NextExpiry() int64 {
	var first int64
	sooner := func(at int64) {
		if first == 0 || at < first {
			first = at
		}
	}
	for _, d := range s.dbs {
		if d.keys.Len() == 0 {
			continue // as most are: this is asked for in every turn
		}
		if next, ok := d.expires.Min(); ok {
			sooner(next.at)
		}
		if next, ok := d.fields.Min(); ok {
			sooner(next.at)
		}
	}
	return first
}

// Scan calls f with the keys of the next part of the selected database and returns the cursor to go on
// from, 0 at the end.
func (tx *Tx) Scan(cursor uint64, f func(key []byte, kind Kind)) uint64 {
	return tx.db.keys.Scan(cursor, func(r ref) {
		e := tx.s.load(r)
		if !tx.s.past(&e, tx.now) {
			f(e.key(), e.kind())
		}
	})
}

// EachKey calls f for every key of the selected database until it returns false. f changes nothing.
func (tx *Tx) EachKey(f func(key []byte, kind Kind) bool) {
	tx.db.keys.Each(func(r ref) bool {
		e := tx.s.load(r)
		if tx.s.past(&e, tx.now) {
			return true
		}
		return f(e.key(), e.kind())
	})
}

// randomTries is how many keys past their time RandomKey meets before it looks for a visible one in order.
const randomTries = 100

// RandomKey returns a key of the selected database chosen at random; ok is false when none is visible.
func (tx *Tx) RandomKey() (key []byte, ok bool) {
	d := tx.db
	if last, some := d.expires.Max(); some && d.expires.Len() == d.keys.Len() && last.at <= tx.now {
		return nil, false // nothing but keys past their time, however many
	}
	for range randomTries {
		r := d.keys.Random(tx.s.rng)
		if r == 0 {
			return nil, false
		}
		e := tx.s.load(r)
		if !tx.s.past(&e, tx.now) {
			return e.key(), true
		}
	}
	// From somewhere to the end, and then once more from the start.
	cursor := tx.s.rng.Uint64()
	for range 2 {
		for {
			cursor = tx.Scan(cursor, func(k []byte, _ Kind) { key = k })
			if key != nil {
				return key, true
			}
			if cursor == 0 {
				break
			}
		}
	}
	return nil, false
}
