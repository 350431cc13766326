package commands

import (
	"bytes"

	"github.com/echomq/emqd/fence"
)

// The replies of the pump's own rows, on the wire.
const (
	PumpDone    = ":1\r\n"  // done
	PumpPassed  = ":0\r\n"  // nothing to be done, or put back to be tried later
	PumpDropped = ":-1\r\n" // thrown away: nobody could make sense of it
)

// Moved returns how many jobs the last verb that looked through a set made pending, and how many it made dead. It
// tells of a call that was not refused.
func (c *Call) Moved() (released, buried int) {
	for _, p := range c.emq.picks {
		switch p.verdict {
		case pickFree, pickCount:
			released++
		case pickBury:
			buried++
		}
	}
	return released, buried
}

// Looked returns how many members the last verb that looked through a set passed over or dropped beside those that it
// moved, and whether it ended before it had seen all that is due.
func (c *Call) Looked() (passed int, more bool) { return c.emq.passed, c.emq.more }

// PumpDeliver returns the row by which a node applies the first signal of a queue's outbox itself. It is in no table: no
// client can call it.
func PumpDeliver() *Row { return &pumpDeliverRow }

var pumpDeliverRow = Row{
	Name: "pump.deliver", full: "pump.deliver", Family: "completion", Arity: 3, Flags: emqWrite, Layout: fence.Layout{fence.Outbox}, Do: pumpDeliver,
}

// pumpDeliver handles pump.deliver numkeys outbox.
//
// Keys:    flow:outbox; writes what EMQ.FLOW.DELIVER or EMQ.FLOW.FAILDELIVER would for the parent that the signal names
// Reply:   1; 0 when the parent's keys do not let it be applied, and it now stands last; -1 when it is no signal
// Errors:  as these verbs, for the fence and the write guard
// Effects: as these verbs, and LPOP flow:outbox, in one step
func pumpDeliver(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	if err := v.open(); err != nil {
		return err
	}
	outbox, err := c.Tx.List(v.keys[0])
	if err != nil {
		return err
	}
	text, ok := outbox.At(0)
	if !ok {
		c.Reply.Int(0)
		return nil
	}
	if err := c.Guard(); err != nil {
		return err
	}
	text = v.keep(text)
	s, ok := readSignal(text)
	if !ok {
		outbox.PopLeft()
		c.Reply.Int(-1)
		return nil
	}
	up, err := v.apply(&s)
	if err != nil {
		if c.Damaged != nil {
			c.Damaged(s.parent, err)
		}
		if outbox.Len() > 1 {
			outbox.PopLeft()
			outbox.PushRight(text)
		}
		c.Reply.Int(0)
		return nil
	}
	outbox.PopLeft()
	up.write()
	c.Reply.Int(1)
	return nil
}

// signal is what an outbox holds for a parent: that a child completed, or failed.
type signal struct {
	queue, parent, child []byte
	failed               bool
	policy               []byte // of a failure
	text                 []byte // result or error
}

// readSignal takes a signal apart: parentqueue NUL parent NUL child NUL result, or NUL fail NUL parentqueue NUL parent NUL
// child NUL policy NUL error. The last part may have any bytes.
func readSignal(text []byte) (s signal, ok bool) {
	rest, failed := bytes.CutPrefix(text, []byte("\x00fail\x00"))
	s.failed = failed
	n := 4
	if failed {
		n = 5
	}
	parts := bytes.SplitN(rest, []byte{0}, n)
	if len(parts) != n {
		return s, false
	}
	s.queue, s.parent, s.child, s.text = parts[0], parts[1], parts[2], parts[n-1]
	if failed {
		s.policy = parts[3]
	}
	return s, fence.ValidQueue(s.queue) && fence.ValidID(s.parent) && len(s.child) > 0
}

// apply prepares what a signal does to its parent.
func (v *verb) apply(s *signal) (fate, error) {
	mark := len(v.c.emq.buf)
	v.c.emq.buf = fence.AppendBase(v.c.emq.buf, s.queue)
	base := v.since(mark)
	w := v.in(base)
	how := endDone
	if s.failed {
		how = failedAs(s.policy)
	}
	return w.climb([][]byte{w.named(fence.Row, s.parent)}, 1, s.child, s.text, how)
}
