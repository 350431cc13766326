// Package store is the keyspace: typed values in numbered databases, expiry, memory accounting, and the
// transactions that alone may change them.
//
// Keys and small values live in an arena outside the Go heap (see arena); larger collections are
// objects whose elements live there too. The package knows no wire protocol, no socket and no clock: the
// instant of a transaction is given to Begin. Nothing in it is safe for concurrent use: the server's
// keyspace lock guards the whole store.
package store

import (
	"math/rand/v2"

	"github.com/tidwall/btree"

	"github.com/echomq/emqd/store/rdb"
)

// Kind is the type of a value.
type Kind uint8

// The kinds of values, in the order of Valkey's own numbering plus one.
const (
	KindNone Kind = iota
	KindString
	KindList
	KindSet
	KindZSet
	KindHash
	KindStream
)

// String returns the name that TYPE replies.
func (k Kind) String() string {
	return [...]string{"none", "string", "list", "set", "zset", "hash", "stream"}[k]
}

// ErrWrongType is returned when a key is opened as another kind than it holds. Its text is the wire line.
const ErrWrongType storeError = "WRONGTYPE Operation against a key holding the wrong kind of value"

type storeError string

func (e storeError) Error() string { return string(e) }

// Limits decide when a small value takes its larger form, and what OBJECT ENCODING calls it. They are
// Valkey's settings of the same names.
type Limits struct {
	HashEntries, HashValue int
	ZSetEntries, ZSetValue int
	SetIntEntries          int
	SetEntries, SetValue   int
	ListSize               int
	// StreamNodeBytes and StreamNodeEntries close a chunk of a stream; 0 is no limit.
	StreamNodeBytes, StreamNodeEntries int
	// StringMax is proto-max-bulk-len: no string grows beyond it.
	StringMax int
}

// DefaultLimits are Valkey's defaults.
func DefaultLimits() Limits {
	return Limits{
		HashEntries: 512, HashValue: 64, ZSetEntries: 128, ZSetValue: 64,
		SetIntEntries: 512, SetEntries: 128, SetValue: 64, ListSize: -2,
		StreamNodeBytes: 4096, StreamNodeEntries: 100,
		StringMax: 512 << 20,
	}
}

// Stats are the store's counters since start or the last reset.
type Stats struct {
	Hits, Misses   int64 // look-ups by read-only transactions
	Expired        int64 // keys removed because their time had come
	ExpiredFields  int64 // hash fields likewise
	Reclaimed      int64 // dropped values whose memory was given back step by step
	OrphansDropped int64 // set members without a row, dropped by the job verbs
}

// Store is a set of databases over one arena.
type Store struct {
	Limits Limits
	Stats  Stats
	Epoch  int64 // grows by one at every start on the same data; the node epoch of leases

	a       *arena
	dbs     []*db
	tx      Tx
	rng     *rand.Rand
	dumper  *rdb.Encoder // made at the first use
	objects []object
	spare   []uint32 // free slots of objects
	touched uint64   // what Touch has read, so that it is read
	objMem  int64    // Go memory of objects, as they report it
	lazy    []reclaimer
	retired []*arena // of keyspaces that were emptied as a whole
	dirty   int64    // changes since the last reset of the counter
	owner   func(key []byte) int
}

// db is one numbered database.
type db struct {
	id      int
	keys    dict
	expires *btree.BTreeG[deadline]
	fields  *btree.BTreeG[fieldDeadline]
	claims  map[string]*int64 // when a job of each queue was last asked for, Unix ms, by the queue's base
	parts   *parts            // nil while there were none
	places  map[string]place  // where searches that go on are, by their names
}

// deadline orders the keys, or the fields of a hash, that have an expiry time.
type deadline struct {
	at int64
	r  ref
}

func newDeadlines() *btree.BTreeG[deadline] {
	return btree.NewBTreeGOptions(func(x, y deadline) bool {
		return x.at < y.at || x.at == y.at && x.r < y.r
	}, btree.Options{NoLocks: true})
}

// object is a value too large to stand in its key's block.
type object interface {
	// reclaim frees up to budget elements of a value that no key holds any more, and reports whether it is done.
	reclaim(s *Store, budget int) bool
	// mem returns the Go memory that the object takes beside its arena blocks.
	mem() int64
	// len returns the number of elements.
	len() int
}

// reclaimer gives memory back step by step.
type reclaimer interface {
	reclaim(s *Store, budget int) bool
}

// New returns an empty store of n databases. The seed feeds every random choice of commands such as SPOP.
func New(n int, seed uint64) *Store {
	s := &Store{
		Limits: DefaultLimits(), Epoch: 1,
		a: newArena(), objects: make([]object, 1), rng: rand.New(rand.NewPCG(seed, seed^0x9e3779b97f4a7c15)),
	}
	for i := range n {
		s.dbs = append(s.dbs, newDB(i, s.a))
	}
	s.tx.s = s
	return s
}

func newDB(id int, a *arena) *db {
	return &db{
		id: id, keys: newDict(a),
		expires: newDeadlines(),
		fields: btree.NewBTreeGOptions(func(x, y fieldDeadline) bool {
			return x.at < y.at || x.at == y.at && x.object < y.object
		}, btree.Options{NoLocks: true}),
	}
}

// Databases returns how many databases there are.
func (s *Store) Databases() int { return len(s.dbs) }

// Len returns the number of keys of database i, those past their time and not yet removed included.
func (s *Store) Len(i int) int { return s.dbs[i].keys.Len() }

// Keys returns the number of keys of all databases, those past their time included.
func (s *Store) Keys() int64 {
	n := 0
	for i := range s.dbs {
		n += s.dbs[i].keys.Len()
	}
	return int64(n)
}

// Expiring returns how many keys of database i have an expiry time.
func (s *Store) Expiring(i int) int { return s.dbs[i].expires.Len() }

// ExpiringHashes returns how many hashes of database i have fields with an expiry time.
func (s *Store) ExpiringHashes(i int) int { return s.dbs[i].fields.Len() }

// Dirty returns the number of effects since the store was made.
func (s *Store) Dirty() int64 { return s.dirty }

// timeBytes is what an order of times takes for one.
const timeBytes = 32

// Memory returns the bytes in use: blocks, tables and objects.
func (s *Store) Memory() int64 {
	n := s.a.live + s.objMem
	for _, d := range s.dbs {
		n += d.keys.bytes() + int64(d.expires.Len()+d.fields.Len())*timeBytes
	}
	return n
}

// Mapped returns the bytes of arena memory obtained from the system.
func (s *Store) Mapped() int64 {
	n := s.a.mapped
	for _, a := range s.retired {
		n += a.mapped
	}
	return n
}

// Purge gives the memory of empty pages that are kept for the next blocks back to the system.
func (s *Store) Purge() { s.a.purge() }

// Pending returns how many dropped values still wait to be reclaimed.
func (s *Store) Pending() int { return len(s.lazy) + len(s.retired) }

// Reclaim frees about budget elements of dropped values and moves unfinished table resizes on. It
// reports whether there is more to do.
func (s *Store) Reclaim(budget int) bool {
	if n := len(s.retired); n > 0 && s.retired[n-1].unmap(budget/512+1) {
		s.retired[n-1] = nil
		s.retired = s.retired[:n-1]
		s.Stats.Reclaimed++
	}
	for len(s.lazy) > 0 && budget > 0 {
		if s.lazy[0].reclaim(s, budget) {
			s.lazy[0] = nil
			s.lazy = s.lazy[1:]
			s.Stats.Reclaimed++
			budget -= 64
			continue
		}
		break
	}
	s.a.Sweep()
	more := s.Pending() > 0
	for _, d := range s.dbs {
		if d.keys.moving >= 0 {
			more = d.keys.move(budget/64+1) || more
		}
	}
	return more
}

// hold gives o a slot and returns its number.
func (s *Store) hold(o object) uint32 {
	s.objMem += o.mem()
	if n := len(s.spare); n > 0 {
		i := s.spare[n-1]
		s.spare = s.spare[:n-1]
		s.objects[i] = o
		return i
	}
	s.objects = append(s.objects, o)
	return uint32(len(s.objects) - 1)
}

// discard takes the object in slot i out of use; its elements are freed now if few, else step by step.
func (s *Store) discard(i uint32) {
	o := s.objects[i]
	s.objects[i] = nil
	s.spare = append(s.spare, i)
	s.objMem -= o.mem()
	if o.len() > 64 || !o.reclaim(s, 1<<10) {
		s.lazy = append(s.lazy, o)
	}
}

// resized tells the accounting that an object's Go memory was before and is now after bytes.
func (s *Store) resized(before, after int64) { s.objMem += after - before }
