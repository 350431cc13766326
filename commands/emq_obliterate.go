package commands

import (
	"bytes"
	"slices"

	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

var emqObliterateRows = []Row{
	{
		Name: "emq.obliterate", Family: "admin", Arity: 6, Flags: emqWrite | Admin, Do: emqObliterate,
		Keys: emqKeys, Layout: fence.Layout{fence.Meta, fence.Base}, Tokens: []string{"obliterate"},
		Syntax: `numkeys meta base <FORCE | ""> budget`, Since: "1.0.0",
		Complexity: "O(M*log N) where M is the budget and N the number of jobs in the sets; all calls together O(K) for the K keys of the database",
		Summary:    "Deletes a paused queue with everything that belongs to it, step by step.",
	},
}

// fieldObliterate is the field of meta that says how far the obliteration has come.
var fieldObliterate = []byte("obliterate")

// emqObliterate handles EMQ.OBLITERATE numkeys meta base | force|"" budget.
//
// Keys:    meta; deletes every key under the base
// Reply:   1 when there is more to do, 0 when the queue is gone
// Errors:  EMQSTATE when the queue is not paused, or has jobs under a lease and force is not given, WRONGTYPE
// Effects: ZREM, DEL, RPUSH flow:outbox, HSET meta
func emqObliterate(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	force := Is(v.args[0], "force")
	if !force && len(v.args[0]) > 0 {
		return ErrSyntax
	}
	budget, err := v.integer(1)
	if err != nil {
		return err
	}
	if budget < 1 {
		return ErrNotInteger
	}
	if err := v.open(); err != nil {
		return err
	}
	paused, err := v.paused()
	switch {
	case err != nil:
		return err
	case !paused:
		return fence.StateNotPaused
	case !force && v.leases():
		return fence.StateActive
	}
	if err := c.Guard(); err != nil {
		return err
	}
	d := demolition{v: &v, left: min(budget, drainMost)}
	if d.meta, err = c.Tx.Hash(v.keys[0]); err != nil {
		return err
	}
	if d.outbox, err = v.outbox(); err != nil {
		return err
	}
	d.rota, err = v.rota()
	d.lanes = err == nil // else something else is there: it goes with the rest
	c.Reply.Flag(!d.run())
	return nil
}

// leases reports whether a job of the queue is under a lease that has not ended.
func (v *verb) leases() bool {
	active, err := v.c.Tx.ZSet(v.key(fence.Active))
	if err != nil {
		return false // something else is there: it goes with the rest
	}
	_, until, ok := active.Last()
	return ok && until > float64(v.c.Now())
}

// demolition is one step of the obliteration of a queue. Jobs go with all that belongs to them and leave ring and counts
// as they must be, so that after any step the rest of the queue still works. How far it has come stands in meta: the cursor
// of the walk through the keyspace, good for one run of the node, and then how many signals of the outbox are still to be
// looked at.
type demolition struct {
	v      *verb
	left   int64 // of the budget: what is deleted or looked at costs 1
	meta   store.Hash
	outbox store.List
	rota   rota
	lanes  bool   // the rota could be opened
	keys   []byte // keys met, each behind its length
}

// run goes on with the work and reports whether the queue is gone.
func (d *demolition) run() bool {
	for i := range jobSets {
		if !d.set(d.v.key(jobSets[i].kind), jobSets[i].kind == fence.Active) {
			return false
		}
	}
	if !d.served() || !d.halted() || !d.walk() || !d.sift() {
		return false
	}
	for _, kind := range lastKeys {
		d.v.c.Tx.Delete(d.v.key(kind))
	}
	d.v.c.Tx.ForgetClaim(d.v.base)
	return true
}

// lastKeys are the keys that stand until the end, so that lanes that are left work on if the rest is called off, meta
// last of all. Never changed.
var lastKeys = [...]fence.Kind{
	fence.Ring, fence.Wake, fence.Paused, fence.GroupLimit, fence.GroupActive, fence.GroupWeight, fence.Meta,
}

// set deletes the jobs of a sorted set of ids and reports whether it is empty. Active ones no longer count for their lanes.
func (d *demolition) set(key []byte, active bool) bool {
	set, err := d.v.c.Tx.ZSet(key)
	if err != nil {
		return true // something else: the walk deletes it
	}
	for ; d.left > 0; d.left-- {
		id, _, ok := set.First()
		if !ok {
			return true
		}
		mark := len(d.v.c.emq.buf)
		id = d.v.keep(id)
		set.Remove(id)
		if active {
			if l, ok := d.laneOf(id); ok {
				d.rota.left(&l, true)
			}
		}
		d.job(id)
		d.v.c.emq.buf = d.v.c.emq.buf[:mark]
	}
	return set.Len() == 0
}

// served deletes the jobs of the lanes on the ring and reports whether none is on it any more.
func (d *demolition) served() bool {
	for d.lanes && d.left > 0 {
		group, ok := d.rota.ring.At(0)
		if !ok {
			return true
		}
		mark := len(d.v.c.emq.buf)
		l, ok := d.lane(group)
		if ok && !d.set(d.v.named(fence.Lane, l.group), false) {
			return false
		}
		d.left--
		if ok {
			d.rota.pass(&l, 0)
		} else {
			d.rota.shed(1)
		}
		d.v.c.emq.buf = d.v.c.emq.buf[:mark]
	}
	return !d.lanes || d.rota.ring.Len() == 0
}

// halted deletes the jobs of the lanes that are paused, each with its pause, and reports whether there is none any more.
func (d *demolition) halted() bool {
	for d.lanes && d.left > 0 && d.rota.paused.Len() > 0 {
		mark := len(d.v.c.emq.buf)
		var group []byte
		d.rota.paused.Each(func(member []byte) bool {
			group = d.v.keep(member)
			return false
		})
		if fence.ValidGroup(group) && !d.set(d.v.named(fence.Lane, group), false) {
			return false
		}
		d.left--
		d.rota.paused.Remove(group)
		d.v.c.emq.buf = d.v.c.emq.buf[:mark]
	}
	return !d.lanes || d.rota.paused.Len() == 0
}

// lane opens the lane of a group; ok is false when there can be none.
func (d *demolition) lane(group []byte) (l lane, ok bool) {
	if !d.lanes || !fence.ValidGroup(group) {
		return l, false
	}
	l, err := d.rota.lane(d.v.keep(group))
	return l, err == nil
}

// laneOf opens the lane of the job id; ok is false when it has no row or no lane.
func (d *demolition) laneOf(id []byte) (l lane, ok bool) {
	row, there, err := d.v.rowOf(id)
	if err != nil || !there {
		return l, false
	}
	group, _ := row.Get(fieldGroup)
	return d.lane(group)
}

// job deletes the row of a job and what belongs to it. A parent in the same queue goes first, since it would wait for ever if
// the rest of the queue were to stay; one in another queue gets a signal.
func (d *demolition) job(id []byte) {
	v := d.v
	for level := 0; ; level++ {
		row, there, err := v.rowOf(id)
		if err != nil || !there {
			return // not a row: the walk deletes it
		}
		var parent []byte
		if name, child := row.Get(fieldParent); child {
			if queue, other := row.Get(fieldParentQueue); level < maxTreeLevels && (!other || string(queue) == string(fence.Queue(v.base))) {
				parent = v.keep(name)
			} else {
				v.signalFailure(&d.outbox, &row, id, textRemoved)
			}
		}
		v.deleteRow(&row, v.named(fence.Row, id), id)
		if parent == nil {
			return
		}
		id = parent
		d.left--
		d.leave(id)
	}
}

// leave takes a job out of whatever set it is in.
func (d *demolition) leave(id []byte) {
	held := false
	for i := range jobSets {
		if set, err := d.v.c.Tx.ZSet(d.v.key(jobSets[i].kind)); err == nil && set.Remove(id) {
			held = held || jobSets[i].kind == fence.Active
		}
	}
	if l, ok := d.laneOf(id); ok {
		l.jobs.Remove(id)
		d.rota.left(&l, held)
	}
}

// progress reads how far an earlier step came.
func (d *demolition) progress() (cursor uint64, signals int64, walked bool) {
	text, _ := d.meta.Get(fieldObliterate)
	epoch, rest, ok := bytes.Cut(text, []byte(" "))
	if !ok {
		return 0, 0, false
	}
	if string(epoch) == "outbox" {
		n, _ := num.Int(rest) // a text that is no number begins again
		return 0, n, true
	}
	if run, ok := num.Int(epoch); ok && run == d.v.c.Tx.Store().Epoch {
		n, _ := num.Int(rest)
		cursor = uint64(n)
	}
	return cursor, 0, false
}

// note writes how far this step came.
func (d *demolition) note(cursor uint64) {
	var text [48]byte
	b := num.AppendInt(text[:0], d.v.c.Tx.Store().Epoch)
	d.meta.Set(fieldObliterate, num.AppendInt(append(b, ' '), int64(cursor)))
}

// walk goes through the keyspace for all other keys of the queue and reports whether it came to the end.
func (d *demolition) walk() bool {
	cursor, _, walked := d.progress()
	if walked {
		return true
	}
	for d.left > 0 {
		d.keys = d.keys[:0]
		next := d.v.c.Tx.Scan(cursor, d.meet)
		if !d.clear() {
			break
		}
		d.left--
		if cursor = next; cursor == 0 {
			var text [48]byte
			d.meta.Set(fieldObliterate, num.AppendInt(append(text[:0], "outbox "...), int64(d.outbox.Len())))
			return true
		}
	}
	d.note(cursor)
	return false
}

// meet keeps a key if it is one of the queue's that the walk deletes.
func (d *demolition) meet(key []byte, _ store.Kind) {
	if !bytes.HasPrefix(key, d.v.base) {
		return
	}
	if k, ok := fence.Parse(key); ok && (k.Kind == fence.Outbox || slices.Contains(lastKeys[:], k.Kind)) {
		return
	}
	d.keys = append(num.AppendInt(d.keys, int64(len(key))), ' ')
	d.keys = append(d.keys, key...)
}

// clear deletes the keys met and reports whether the budget was enough.
func (d *demolition) clear() bool {
	for rest := d.keys; len(rest) > 0; {
		size, tail, _ := bytes.Cut(rest, []byte(" "))
		n, _ := num.Int(size)
		key := tail[:n]
		rest = tail[n:]
		parsed, _ := fence.Parse(key)
		switch parsed.Kind {
		case fence.Lane:
			if !d.set(key, false) {
				return false
			}
		case fence.Row:
			d.job(parsed.Name)
		}
		if d.left <= 0 {
			return false
		}
		if d.v.c.Tx.Delete(key) {
			d.left--
		}
	}
	return true
}

// sift drops the signals of the outbox that are for parents in this queue and reports whether it looked at all. Those for
// other queues stay, as the one thing that is left of the queue until somebody delivers them.
func (d *demolition) sift() bool {
	_, n, _ := d.progress()
	for ; n > 0 && d.left > 0; n-- {
		signal, ok := d.outbox.PopLeft()
		if !ok {
			return true
		}
		d.left--
		if queue := signalQueue(signal); string(queue) != string(fence.Queue(d.v.base)) {
			mark := len(d.v.c.emq.buf)
			d.outbox.PushRight(d.v.keep(signal))
			d.v.c.emq.buf = d.v.c.emq.buf[:mark]
		}
	}
	if n > 0 {
		var text [48]byte
		d.meta.Set(fieldObliterate, num.AppendInt(append(text[:0], "outbox "...), n))
	}
	return n <= 0
}

// signalQueue returns the queue of the parent that a signal is for.
func signalQueue(signal []byte) []byte {
	if rest, failed := bytes.CutPrefix(signal, []byte("\x00fail\x00")); failed {
		signal = rest
	}
	queue, _, _ := bytes.Cut(signal, []byte{0})
	return queue
}
