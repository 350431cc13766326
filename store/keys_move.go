package store

// Rename gives the value at src, with its expiry time, to dst, whatever that held before, and reports whether
// src is there. Nothing is done when both are the same key.
func (tx *Tx) Rename(src, dst []byte) bool {
	e := tx.find(src)
	if !e.ok() || string(src) == string(dst) {
		return e.ok()
	}
	tx.bury(dst)
	tx.record("RENAME", src, dst)
	tx.effects.reaches(reachRename, 0, 0)
	tx.gen++
	tx.discardAt(tx.db, dst)
	// What stood at dst may have moved the table, never the entry of src.
	tx.db.transfer(tx.s, &e, tx.db, dst)
	tx.Notify('n', "new", dst)
	return true
}

// Move gives key to database i, which is another than the selected one, and reports whether it did: key is here
// and not there.
func (tx *Tx) Move(key []byte, i int) bool {
	e := tx.find(key)
	if !e.ok() || tx.existsIn(i, key) {
		return false
	}
	to := tx.s.dbs[i]
	tx.buryIn(i, key)
	tx.record("MOVE", key, tx.itoa(int64(i)))
	tx.effects.reaches(reachMove, i, 0)
	tx.gen++
	tx.db.transfer(tx.s, &e, to, key)
	tx.NotifyIn(i, 'n', "new", key)
	return true
}

// Copy makes dst in database i a copy of src with the same expiry time and reports whether it did: src is there,
// and dst is not or may be replaced. Both are not the same key of the same database.
func (tx *Tx) Copy(src, dst []byte, i int, replace bool) bool {
	e := tx.find(src)
	tx.count(e.ok(), src) // a read, though the command writes
	if !e.ok() || !replace && tx.existsIn(i, dst) {
		return false
	}
	tx.buryIn(i, dst)
	if i == tx.db.id {
		tx.record("COPY", src, dst, replaceWord)
	} else {
		tx.record("COPY", src, dst, dbWord, tx.itoa(int64(i)), replaceWord)
	}
	tx.effects.reaches(reachCopy, i, 0)
	to := tx.s.dbs[i]
	tx.discardAt(to, dst)
	tx.gen++
	tx.duplicate(&e, to, dst)
	tx.NotifyIn(i, 'n', "new", dst)
	return true
}

var (
	dbWord      = []byte("DB")
	replaceWord = []byte("REPLACE")
	absTTLWord  = []byte("ABSTTL")
)

// duplicate makes dst, which is absent in the database to, a copy of the value at e with its expiry time.
func (tx *Tx) duplicate(e *entry, to *db, dst []byte) {
	at := e.expiry()
	if !e.isObject() {
		c := to.create(tx.s, dst, e.kind(), len(e.value()), tx.clock)
		copy(c.value(), e.value())
		c.setFlag(e.flags() &^ flagExpiry)
		to.setExpiry(tx.s, &c, at)
		return
	}
	v := tx.read(e)
	flags := e.flags() &^ flagExpiry
	from := tx.db
	tx.db = to
	tx.build(dst, &v)
	if c := tx.s.load(to.keys.Find(dst)); c.ok() {
		c.setFlag(flags)
		to.setExpiry(tx.s, &c, at)
	}
	tx.db = from
	tx.gen++
}

// discardAt removes key from d if it is there, as a part of an effect that is recorded already.
func (tx *Tx) discardAt(d *db, key []byte) {
	if e := tx.s.load(d.keys.Find(key)); e.ok() {
		d.remove(tx.s, &e)
	}
}

// existsIn reports whether key is visible in database i.
func (tx *Tx) existsIn(i int, key []byte) bool {
	e := tx.s.load(tx.s.dbs[i].keys.Find(key))
	return e.ok() && !tx.s.past(&e, tx.now)
}

// buryIn removes key of database i when it is there past its time.
func (tx *Tx) buryIn(i int, key []byte) {
	from := tx.db
	tx.db = tx.s.dbs[i]
	tx.bury(key)
	tx.db = from
}
