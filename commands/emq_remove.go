package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

var emqRemoveRows = []Row{
	{
		Name: "emq.remove", Family: "admin", Arity: 10, Flags: emqWrite | Fast, Do: emqRemove,
		Keys:   emqKeys,
		Layout: fence.Layout{fence.Row, fence.Pending, fence.Active, fence.Schedule, fence.Dead, fence.Dedup}, Tokens: []string{"remove"},
		Syntax: "numkeys job pending active schedule dead dedup id dedup_id", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of jobs in the set that the job is in",
		Summary:    "Removes a job from wherever it is, unless it is locked.",
	},
	{
		Name: "emq.drain", Family: "admin", Arity: -4, Flags: emqWrite, Do: emqDrain,
		Keys: emqKeys, Layout: fence.Layout{fence.Base, fence.Pending, fence.Schedule}, Optional: 1, Tokens: []string{"drain"},
		Syntax: "numkeys base pending [schedule]", Since: "1.0.0",
		Complexity: "O(M*log N) where M is the number of jobs removed, at most 2000, and N that of jobs in the sets",
		Summary:    "Removes jobs that wait to be claimed, and those that are scheduled when that set is given.",
	},
}

// fieldDedup is the field of a row that names the idempotency key under which the job's id is parked.
var fieldDedup = []byte("dedup")

// emqRemove handles EMQ.REMOVE numkeys job pending active schedule dead dedup | id dedup_id.
//
// Keys:    job row, the sets, dedup key; writes the row's sub-keys, its lane and what belongs to that, flow:outbox
// Reply:   1, or -1 when the row is gone
// Errors:  EMQLOCK while the job is locked, WRONGTYPE
// Effects: ZREM, HSET or HDEL gactive, ring and wake, RPUSH flow:outbox, DEL row, sub-keys and dedup key
func emqRemove(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	id := v.args[0]
	if v.base, err = c.Row.Layout.CheckRow(v.keys, id); err != nil {
		return err
	}
	if err := c.Row.Layout.CheckName(v.keys, v.base, fence.Dedup, v.args[1]); err != nil {
		return err
	}
	if err := checkFence(c); err != nil {
		return err
	}
	row, err := v.row(v.keys[0])
	if err != nil {
		return err
	}
	owner, parked, err := c.Tx.Value(v.keys[5])
	if err != nil {
		return err
	}
	parked = parked && string(owner) == string(id)
	there := row.Exists()
	if there && c.Tx.Exists(v.named(fence.RowLock, id)) {
		return fence.LockHeld
	}
	if there || parked {
		if err := c.Guard(); err != nil {
			return err
		}
	}
	if there {
		if err := v.removeJob(&row, id); err != nil {
			return err
		}
	}
	if parked {
		c.Tx.Delete(v.keys[5])
	}
	if there {
		c.Reply.Int(1)
	} else {
		c.Reply.Int(-1)
	}
	return nil
}

// removeJob takes a job that has a row out of the declared sets 1 to 4 and out of its lane, deletes the row and tells
// its parent.
func (v *verb) removeJob(row *jobRow, id []byte) error {
	var sets [4]store.ZSet
	var err error
	for i := range sets {
		if sets[i], err = v.set(i + 1); err != nil {
			return err
		}
	}
	group, laned := row.Get(fieldGroup)
	laned = laned && fence.ValidGroup(group)
	var r rota
	var l lane
	if laned {
		if r, l, err = v.openLane(v.keep(group)); err != nil {
			return err
		}
	}
	var outbox store.List
	if row.has(fieldParent) {
		if outbox, err = v.outbox(); err != nil {
			return err
		}
	}
	held := inSet(&sets[1], id)
	for i := range sets {
		sets[i].Remove(id)
	}
	if laned {
		l.jobs.Remove(id)
		if held {
			r.count(&l, -1)
		}
		r.turn(&l)
	}
	v.uproot(row, v.keys[0], id, &outbox)
	return nil
}

// uproot deletes the row at key and what belongs to it; a child leaves the signal that it was removed.
func (v *verb) uproot(row *jobRow, key, id []byte, outbox *store.List) {
	if row.has(fieldParent) {
		v.signalFailure(outbox, row, id, textRemoved)
	}
	v.deleteRow(row, key, id)
}

// releaseDedup deletes the idempotency key that the row names, if it holds the row's own id.
func (v *verb) releaseDedup(row *jobRow, id []byte) {
	name, ok := row.Get(fieldDedup)
	if !ok {
		return
	}
	mark := len(v.c.emq.buf)
	key := v.named(fence.Dedup, name)
	if owner, _, err := v.c.Tx.Value(key); err == nil && string(owner) == string(id) {
		v.c.Tx.Delete(key)
	}
	v.c.emq.buf = v.c.emq.buf[:mark]
}

// emqDrain handles EMQ.DRAIN numkeys base pending [schedule].
//
// Keys:    pending set, schedule set; writes the rows of their jobs, sub-keys and flow:outbox
// Reply:   how many jobs were removed
// Errors:  WRONGTYPE
// Effects: per job RPUSH flow:outbox, DEL row and sub-keys; ZREM
func emqDrain(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	if err := v.takes(0); err != nil {
		return err
	}
	if err := v.open(); err != nil {
		return err
	}
	var sets [2]store.ZSet
	var taken [2]int
	children := false
	for i := range v.keys[1:] {
		if sets[i], err = v.set(i + 1); err != nil {
			return err
		}
		before := len(c.emq.picks)
		some, err := v.pickAll(&sets[i], drainMost-before)
		if err != nil {
			return err
		}
		taken[i], children = len(c.emq.picks)-before, children || some
	}
	if len(c.emq.picks) > 0 {
		if err := c.Guard(); err != nil {
			return err
		}
	}
	var outbox store.List
	if children {
		if outbox, err = v.outbox(); err != nil {
			return err
		}
	}
	n := int64(0)
	for _, p := range c.emq.picks {
		if v.erase(p, &outbox) {
			n++
		}
	}
	for i := range v.keys[1:] {
		sets[i].RemoveRange(0, taken[i])
	}
	c.Reply.Int(n)
	return nil
}
