package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

// emqKeys is the key-spec of every verb that declares keys: EVAL's.
var emqKeys = []KeySpec{{
	Index: 1, Numbered: true, FirstKey: 1, Step: 1, Flags: KeyRW | KeyAccess | KeyUpdate,
}}

// emqReads is the key-spec of the verbs that only read.
var emqReads = []KeySpec{{Index: 1, Numbered: true, FirstKey: 1, Step: 1, Flags: KeyRO | KeyAccess}}

// emqRead are the flags that every reading verb has besides its own.
const emqRead = ReadOnly | MovableKeys

// emqWrite are the flags that every write verb has besides its own.
const emqWrite = Write | MovableKeys | OwnGuard | KeyEvents

// maxScore is the largest integer that a score, a double, holds exactly along with all below it.
const maxScore = 1 << 53

// maxOrphans is how many members without a row one claim drops before it gives up.
const maxOrphans = 128

// passMost is how many members of a set one call passes over or drops beside those that it moves.
const passMost = 1_000

var fenceKey = []byte(fence.VersionKey)

// verb is one running EchoMQ verb: the call, its arguments taken apart, and the base of its keys. The methods are
// used in the order of the checks: newVerb and the readers of arguments (shape), open (layout and fence), the
// verb's own domain, guard, and then the writes.
type verb struct {
	c    *Call
	keys [][]byte // the declared keys that the layout names
	rows [][]byte // the declared keys behind them: rows of any queue
	args [][]byte // what follows them
	base []byte   // known after open
}

// emqScratch is memory that the verbs of one Call after another use.
type emqScratch struct {
	buf   []byte // keys and ids that the running verb built
	picks []pick
	jobs  []claimable
	steps []parentStep

	passed int  // members that pickDue passed over or dropped
	more   bool // it ended before it had seen all that is due
}

// newVerb takes the call apart: numkeys must be an integer, fit the call as EVAL wants it and be what the row's
// layout says. The table has checked the arity.
func newVerb(c *Call) (verb, error) {
	c.emq.buf, c.emq.picks, c.emq.jobs = c.emq.buf[:0], c.emq.picks[:0], c.emq.jobs[:0]
	c.emq.passed, c.emq.more = 0, false
	rest := c.Args[2:]
	n, ok := num.Int(c.Args[1])
	takes := int64(len(c.Row.Layout) + c.Row.Rows)
	least := takes - int64(c.Row.Optional)
	switch {
	case !ok:
		return verb{}, ErrNotInteger
	case n > int64(len(rest)):
		return verb{}, errKeysMany
	case n < 0:
		return verb{}, errKeysNegative
	case n < least && (least < takes || c.Row.OpenRows):
		return verb{}, fence.LayoutCountMin(int(least))
	case n < least, n > takes && !c.Row.OpenRows:
		return verb{}, fence.LayoutCount(int(takes))
	}
	fixed := min(int(n), len(c.Row.Layout))
	return verb{c: c, keys: rest[:fixed], rows: rest[fixed:n], args: rest[n:]}, nil
}

// takes refuses a call that has another number of arguments behind its keys.
func (v *verb) takes(n int) error {
	if len(v.args) != n {
		return ErrArity(v.c.Row.FullName())
	}
	return nil
}

// The refusals of a key count, as EVAL has them.
const (
	errKeysMany     Error = "ERR Number of keys can't be greater than number of args"
	errKeysNegative Error = "ERR Number of keys can't be negative"
)

// integer reads argument i as an integer.
func (v *verb) integer(i int) (int64, error) {
	n, ok := num.Int(v.args[i])
	if !ok {
		return 0, ErrNotInteger
	}
	return n, nil
}

// count reads argument i as a number of things, which is not negative.
func (v *verb) count(i int) (int64, error) {
	n, err := v.integer(i)
	if err == nil && n < 0 {
		err = ErrNotInteger
	}
	return n, err
}

// lease reads argument i as the length of a lease in ms, at least 1, and returns its deadline.
func (v *verb) lease(i int) (deadline int64, err error) {
	n, err := v.integer(i)
	if err == nil && n < 1 {
		err = ErrNotInteger
	}
	if err != nil {
		return 0, err
	}
	return v.after(n)
}

// delay reads argument i as ms from now and returns the instant; a negative delay is due already.
func (v *verb) delay(i int) (at int64, err error) {
	n, err := v.integer(i)
	if err != nil {
		return 0, err
	}
	return v.after(n)
}

// due reads arguments i and i+1, in ms from now or at an instant in Unix ms, and returns the instant.
func (v *verb) due(i int) (at int64, err error) {
	switch {
	case Is(v.args[i], "in"):
		return v.delay(i + 1)
	case Is(v.args[i], "at"):
		at, err = v.integer(i + 1)
		if err == nil && !exact(at) {
			err = ErrNotInteger
		}
		return at, err
	}
	return 0, ErrSyntax
}

// after returns the instant ms from now, which must be an exact score.
func (v *verb) after(ms int64) (int64, error) {
	if ms > maxScore || ms < -maxScore || !exact(v.c.Now()+ms) {
		return 0, ErrNotInteger
	}
	return v.c.Now() + ms, nil
}

// exact reports whether every integer between 0 and n is exact as a score.
func exact(n int64) bool { return -maxScore <= n && n <= maxScore }

// open checks the layout of the keys and the fence.
func (v *verb) open() (err error) {
	if v.base, err = v.c.Row.Layout[:len(v.keys)].Check(v.keys); err != nil {
		return err
	}
	return checkFence(v.c)
}

// openRow is open for a verb that declares the row of the job id.
func (v *verb) openRow(id []byte) (err error) {
	if v.base, err = v.c.Row.Layout.CheckRow(v.keys, id); err != nil {
		return err
	}
	return checkFence(v.c)
}

// checkFence reads the fence as the caller and refuses when it does not hold this server's wire.
func checkFence(c *Call) error {
	value, held, err := readFence(c)
	if err != nil {
		return err
	}
	return fence.CheckWire(value, held)
}

func readFence(c *Call) (value []byte, held bool, err error) {
	if !c.Host.Allows(fenceKey, KeyAccess) {
		return nil, false, ErrNoPermKey
	}
	return c.Tx.Value(fenceKey)
}

// key builds the key of a kind that carries no name.
func (v *verb) key(kind fence.Kind) []byte {
	from := len(v.c.emq.buf)
	v.c.emq.buf = fence.AppendKey(v.c.emq.buf, v.base, kind)
	return v.since(from)
}

// named builds the key of a kind that carries a name.
func (v *verb) named(kind fence.Kind, name []byte) []byte {
	from := len(v.c.emq.buf)
	v.c.emq.buf = fence.AppendNamed(v.c.emq.buf, v.base, kind, name)
	return v.since(from)
}

// keep copies bytes that alias the store, so that they outlast writes.
func (v *verb) keep(b []byte) []byte {
	from := len(v.c.emq.buf)
	v.c.emq.buf = append(v.c.emq.buf, b...)
	return v.since(from)
}

func (v *verb) since(from int) []byte {
	b := v.c.emq.buf
	return b[from:len(b):len(b)]
}

// set opens declared key i as a sorted set.
func (v *verb) set(i int) (store.ZSet, error) { return v.c.Tx.ZSet(v.keys[i]) }

// inSet reports whether id is a member of set.
func inSet(set *store.ZSet, id []byte) bool {
	_, ok := set.Score(id)
	return ok
}

// paused reports whether the whole queue is paused.
func (v *verb) paused() (bool, error) {
	meta, err := v.c.Tx.Hash(v.key(fence.Meta))
	if err != nil {
		return false, err
	}
	_, paused := meta.Get(fieldPaused)
	return paused, nil
}

// countField is a field that is counted up: its hash and what it holds next.
type countField struct {
	h     store.Hash
	field []byte
	n     int64
}

// counter opens the field of the hash at key to be counted up by n. What the field holds must be an integer.
func (v *verb) counter(key, field []byte, n int64) (k countField, err error) {
	k.field = field
	if k.h, err = v.c.Tx.Hash(key); err != nil {
		return k, err
	}
	held, _, err := hashInt(&k.h, field)
	if err != nil {
		return k, err
	}
	k.n, err = plus(held, n)
	return k, err
}

// metric opens one of the queue's two counters of settled jobs.
func (v *verb) metric(kind fence.Kind, n int64) (countField, error) {
	return v.counter(v.key(kind), fieldCount, n)
}

// write stores the new count.
func (k *countField) write() { setHashInt(&k.h, k.field, k.n) }

// hashInt reads a field that holds an integer; an absent one is 0.
func hashInt(h *store.Hash, field []byte) (n int64, held bool, err error) {
	text, held := h.Get(field)
	if !held {
		return 0, false, nil
	}
	n, ok := num.Int(text)
	if !ok {
		return 0, true, ErrHashInteger
	}
	return n, true, nil
}

func setHashInt(h *store.Hash, field []byte, n int64) {
	var text [20]byte
	h.Set(field, num.AppendInt(text[:0], n))
}

// plus adds n, which is not negative, to a counter.
func plus(held, n int64) (int64, error) {
	if sum := held + n; sum >= held {
		return sum, nil
	}
	return 0, ErrOverflow
}
