package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

// drainMost is how many members of sets one call deletes, so that no call stops the node for long.
const drainMost = 2_000

var emqLaneDrainRows = []Row{
	{
		Name: "emq.group.drain", Family: "lanes", Arity: 6, Flags: emqWrite, Do: emqGroupDrain,
		Keys: emqKeys, Layout: fence.Layout{fence.Lane, fence.Ring, fence.Base}, Tokens: []string{"group.drain"},
		Syntax: "numkeys lane ring base group", Since: "1.0.0",
		Complexity: "O(M) where M is the number of jobs in the lane, of which one call takes 2000 at most",
		Summary:    "Deletes the pending jobs of a lane, up to 2000 in one call.",
	},
}

// emqGroupDrain handles EMQ.GROUP.DRAIN numkeys lane ring base | group.
//
// Keys:    lane, ring; writes the rows of its jobs with their sub-keys, and flow:outbox
// Reply:   how many jobs were deleted
// Errors:  WRONGTYPE
// Effects: per job DEL row and sub-keys, RPUSH flow:outbox; ZREM lane, LREM ring
func emqGroupDrain(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	group := v.args[0]
	if v.base, err = c.Row.Layout.Check(v.keys); err != nil {
		return err
	}
	if err := c.Row.Layout.CheckName(v.keys, v.base, fence.Lane, group); err != nil {
		return err
	}
	if err := checkFence(c); err != nil {
		return err
	}
	jobs, err := v.set(0)
	if err != nil {
		return err
	}
	children, err := v.pickAll(&jobs, drainMost)
	if err != nil {
		return err
	}
	if err := c.Guard(); err != nil {
		return err
	}
	r, l, err := v.openLane(group)
	if err != nil {
		return err
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
	l.jobs.RemoveRange(0, len(c.emq.picks))
	r.turn(&l)
	c.Reply.Int(n)
	return nil
}

// pickAll picks the first members of set, at most n, and reports whether a child of a flow is among them.
func (v *verb) pickAll(set *store.ZSet, n int) (children bool, err error) {
	set.Range(0, min(n, set.Len()), false, func(id []byte, _ float64) bool {
		from := len(v.c.emq.buf)
		id = v.keep(id)
		row, there, bad := v.rowOf(id)
		if err = bad; err != nil {
			return false
		}
		p := pick{from: from, to: from + len(id), verdict: pickOrphan}
		if there {
			p.verdict, p.child = pickFree, row.has(fieldParent)
			children = children || p.child
		}
		v.take(p)
		return true
	})
	return children, err
}

// erase deletes the row of a pick with its sub-keys, and leaves the signal that a child is gone. It reports whether there
// was a row.
func (v *verb) erase(p pick, outbox *store.List) bool {
	if p.verdict == pickOrphan {
		v.c.Tx.Store().Stats.OrphansDropped++
		return false
	}
	id := v.id(p)
	mark := len(v.c.emq.buf)
	row, there, err := v.rowOf(id)
	there = there && err == nil // a damaged queue has an id in two sets
	if there {
		v.uproot(&row, v.named(fence.Row, id), id, outbox)
	}
	v.c.emq.buf = v.c.emq.buf[:mark]
	return there
}

// textRemoved is the error of a child that was deleted.
var textRemoved = []byte("removed")
