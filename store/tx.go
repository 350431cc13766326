package store

import (
	"math/rand/v2"
	"slices"
	"strconv"
)

// Tx is one transition: reads and changes at one instant on one selected database. Only handles that it
// opens can change the keyspace, and every change records its effect before it is made, so a write
// without a log entry cannot be expressed.
//
// Byte slices that it returns alias the store. They stay what they are until the transaction ends or the
// same key is written, whichever comes first; whoever needs them longer copies.
type Tx struct {
	s        *Store
	db       *db
	now      int64
	clock    uint32 // access time of what is touched, Unix s
	readonly bool
	noTouch  bool
	stale    bool   // a look-up met a key past its time that is still there
	gen      uint64 // grows when entries move; handles look their entry up again

	effects Effects
	events  []Event
	gone    []string // collections emptied since the last event
	signals []Touch  // keys that are told changed although they stayed as they were
	listen  bool     // someone wants events
	tmp     []byte
	member  [20]byte // the text of the integer member that a set gave last
	popped  []byte   // the value that a list gave last, when it stood in a packed one
	text    [40]byte
}

// Event is a keyspace event: what happened to which key. Class is the flag letter of
// notify-keyspace-events.
type Event struct {
	Class byte
	Name  string
	DB    int
	Key   string
}

// Begin starts the transaction of database i at the instant now (Unix ms). There is one at a time; it ends
// with Commit. A read-only one panics on a change.
func (s *Store) Begin(i int, now int64, readonly bool) *Tx {
	tx := &s.tx
	tx.db, tx.now, tx.readonly, tx.noTouch, tx.stale = s.dbs[i], now, readonly, false, false
	tx.clock = uint32(now / 1000)
	return tx
}

// BeginReplay starts a transaction of database i in which no time has come yet: what is done again from a log
// meets every key that was there, whatever its time. now (Unix ms) is only what access times say.
func (s *Store) BeginReplay(i int, now int64) *Tx {
	tx := s.Begin(i, 1, false)
	tx.clock = uint32(now / 1000)
	return tx
}

// Commit ends the transaction: blocks that it freed become reusable, and its effects and events, which the
// caller has taken before, are forgotten.
func (tx *Tx) Commit() {
	tx.effects.reset()
	if len(tx.events) > 0 {
		clear(tx.events)
		tx.events = tx.events[:0]
	}
	if len(tx.signals) > 0 {
		clear(tx.signals)
		tx.signals = tx.signals[:0]
	}
	tx.s.a.Sweep()
}

// Signal tells those that watch or track key that it was written to, where a command left it as it was and has no effect
// to record, but counts as a change for them in Redis.
func (tx *Tx) Signal(key []byte) { tx.signals = append(tx.signals, Touch{tx.db.id, slices.Clone(key)}) }

// Signals returns the keys of Signal so far. A nil key stands for the flush of a database without keys.
func (tx *Tx) Signals() []Touch { return tx.signals }

// Select moves the transaction to database i.
func (tx *Tx) Select(i int) { tx.db = tx.s.dbs[i] }

// DB returns the number of the selected database.
func (tx *Tx) DB() int { return tx.db.id }

// Now returns the transaction's instant in Unix ms.
func (tx *Tx) Now() int64 { return tx.now }

// Store returns the store, for its counters and settings.
func (tx *Tx) Store() *Store { return tx.s }

// Rand returns the store's random source, the only one that commands use.
func (tx *Tx) Rand() *rand.Rand { return tx.s.rng }

// Effects returns what was done so far.
func (tx *Tx) Effects() *Effects { return &tx.effects }

// Events returns the keyspace events so far.
func (tx *Tx) Events() []Event {
	tx.tellGone()
	return tx.events
}

// Listen says whether keyspace events are wanted; without, Notify costs nothing.
func (s *Store) Listen(on bool) { s.tx.listen = on }

// Listens reports whether keyspace events are wanted.
func (tx *Tx) Listens() bool { return tx.listen }

// NoTouch keeps look-ups of this transaction from renewing access times.
func (tx *Tx) NoTouch() { tx.noTouch = true }

// Notify adds a keyspace event of the given class letter for key.
func (tx *Tx) Notify(class byte, name string, key []byte) {
	if !tx.listen {
		return
	}
	tx.events = append(tx.events, Event{class, name, tx.db.id, string(key)})
	tx.tellGone()
}

// NotifyIn is Notify for a key of database i.
func (tx *Tx) NotifyIn(i int, class byte, name string, key []byte) {
	from := tx.db
	tx.db = tx.s.dbs[i]
	tx.Notify(class, name, key)
	tx.db = from
}

// tellGone adds the del events of collections that lost their last element. They follow the event that
// names what took the element.
func (tx *Tx) tellGone() {
	for _, key := range tx.gone {
		tx.events = append(tx.events, Event{'g', "del", tx.db.id, key})
	}
	tx.gone = tx.gone[:0]
}

// record adds the effect "name key args...". When key is past its time and still there it goes first, so that
// its DEL stands before the effect that writes over it.
func (tx *Tx) record(name string, key []byte, args ...[]byte) {
	tx.mustWrite()
	if tx.stale {
		tx.bury(key)
	}
	tx.s.dirty++
	tx.effects.begin(name, tx.db.id)
	tx.effects.arg(key)
	for _, a := range args {
		tx.effects.arg(a)
	}
}

// recordSub is record for the sub-command of a container, which stands before the key.
func (tx *Tx) recordSub(name, sub string, key []byte, args ...[]byte) {
	tx.mustWrite()
	if tx.stale {
		tx.bury(key)
	}
	tx.s.dirty++
	tx.effects.begin(name, tx.db.id)
	tx.effects.reaches(reachSub, 0, 0)
	tx.effects.arg([]byte(sub))
	tx.effects.arg(key)
	for _, a := range args {
		tx.effects.arg(a)
	}
}

// extend records like record, but adds args to the last effect when that is the same command on the same key.
func (tx *Tx) extend(name string, key []byte, args ...[]byte) {
	if !tx.effects.joins(name, tx.db.id, key) {
		tx.record(name, key, args...)
		return
	}
	tx.s.dirty++
	for _, a := range args {
		tx.effects.arg(a)
	}
}

func (tx *Tx) mustWrite() {
	if tx.readonly {
		panic("store: a read-only transaction changed the keyspace")
	}
}

// itoa spells n in a buffer that the next call reuses.
func (tx *Tx) itoa(n int64) []byte { return strconv.AppendInt(tx.text[:0], n, 10) }

// peek returns the entry of key if it is there and its time has not come. It renews no access time and
// counts nothing.
func (tx *Tx) peek(key []byte) entry {
	e := tx.s.load(tx.db.keys.Find(key))
	if !e.ok() {
		return entry{}
	}
	if tx.s.past(&e, tx.now) {
		tx.stale = true
		return entry{}
	}
	return e
}

// look is peek that counts a hit or a miss of a reading command and announces the miss.
func (tx *Tx) look(key []byte) entry {
	e := tx.peek(key)
	if tx.readonly {
		tx.count(e.ok(), key)
	}
	return e
}

// count counts a hit or announces a miss.
func (tx *Tx) count(hit bool, key []byte) {
	if hit {
		tx.s.Stats.Hits++
		return
	}
	tx.s.Stats.Misses++
	tx.Notify('m', "keymiss", key)
}

// find is look that renews the access time. Every handle begins with it: on top of look a GET takes 4% more
// instructions, a completion 8%.
func (tx *Tx) find(key []byte) (e entry) {
	if r := tx.db.keys.Find(key); r != 0 {
		e = tx.s.load(r)
		switch {
		case tx.s.past(&e, tx.now):
			tx.stale = true
			e = entry{}
		case !tx.noTouch:
			e.setClock(tx.clock)
		}
	}
	if tx.readonly {
		tx.count(e.ok(), key)
	}
	return e
}

// genTables is what the generation grows by when whole databases change places or go: then no entry that a handle has
// means anything.
const genTables = 1 << 32

// again finds the entry of key once more for a handle that has e since the generation gen. While the block of e is in use
// it is the one, whatever else has moved; not to look for it there saves 4% of a claim's instructions.
func (tx *Tx) again(e *entry, key []byte, gen uint64) entry {
	if e.ok() && gen/genTables == tx.gen/genTables && e.kind() != KindNone {
		if e := tx.s.load(e.r); !tx.s.past(&e, tx.now) {
			return e
		}
	}
	return tx.find(key)
}

// findKind is find for a key that must hold kind if anything.
func (tx *Tx) findKind(key []byte, kind Kind) (entry, error) {
	e := tx.find(key)
	if e.ok() && e.kind() != kind {
		return entry{}, ErrWrongType
	}
	return e, nil
}

// make creates key, which must not be visible, with a value of n arbitrary bytes. The effect that it belongs to
// is recorded already.
func (tx *Tx) make(key []byte, kind Kind, n int) entry {
	tx.mustWrite()
	tx.gen++
	if tx.listen {
		// Not through Notify: del events that wait for their cause stay behind this one.
		tx.events = append(tx.events, Event{'n', "new", tx.db.id, string(key)})
	}
	return tx.db.create(tx.s, key, kind, n, tx.clock)
}

// bury removes key when it is there past its time.
func (tx *Tx) bury(key []byte) {
	if e := tx.s.load(tx.db.keys.Find(key)); e.ok() {
		if tx.s.past(&e, tx.now) {
			tx.expire(&e)
		}
	}
}

// expire removes an entry whose time has come, its own or that of all its fields.
func (tx *Tx) expire(e *entry) {
	key := append(tx.tmp[:0], e.key()...)
	tx.tmp = key
	tx.gen++
	stale := tx.stale
	tx.stale = false // this record buries nothing: the key goes here
	tx.record("DEL", key)
	tx.stale = stale
	if at := e.expiry(); at != 0 && at <= tx.now {
		tx.s.Stats.Expired++
		tx.Notify('x', "expired", key)
	} else {
		tx.s.Stats.ExpiredFields += int64(tx.s.objects[e.object()].len())
		tx.Notify('h', "hexpired", key)
		tx.Notify('g', "del", key)
	}
	tx.db.remove(tx.s, e)
}

// drop removes an entry and records that.
func (tx *Tx) drop(e *entry) {
	tx.record("DEL", e.key())
	tx.gen++
	tx.db.remove(tx.s, e)
}

// vanish removes the entry of a collection that lost its last element: the effect that took the element
// out removes the key on replay too, so nothing further is recorded.
func (tx *Tx) vanish(e *entry) {
	if tx.listen {
		tx.gone = append(tx.gone, string(e.key()))
	}
	tx.gen++
	tx.db.remove(tx.s, e)
}
