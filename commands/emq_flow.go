package commands

import (
	"bytes"

	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

// The policies of a child: what its failure means for its parent. Never changed.
var (
	policyFatal  = []byte("fp") // the parent fails too
	policyIgnore = []byte("id") // the parent waits for the others alone
)

// in returns the verb with the base of another queue, which a declared key has.
func (v *verb) in(base []byte) verb {
	w := *v
	w.base = base
	return w
}

// policy reads argument i as a child's policy, in its one spelling.
func (v *verb) policy(i int) ([]byte, error) {
	switch {
	case Is(v.args[i], "fp"):
		return policyFatal, nil
	case Is(v.args[i], "id"):
		return policyIgnore, nil
	}
	return nil, ErrSyntax
}

// flowIDs refuses ids that cannot be part of a signal, whose parts are joined by NUL.
func flowIDs(ids ...[]byte) error {
	for _, id := range ids {
		if bytes.IndexByte(id, 0) >= 0 {
			return fence.LayoutFlowID
		}
	}
	return nil
}

// awaiting reports whether the job is held until its children have ended.
func (r *jobRow) awaiting() bool {
	state, _ := r.Get(fieldState)
	return string(state) == string(stateAwaiting)
}

// checkParent refuses unless the row, of the verb's queue, names the job at the declared row key as its parent.
func (v *verb) checkParent(row *jobRow, key []byte) error {
	id, ok := row.Get(fieldParent)
	if !ok {
		return fence.FlowNone
	}
	mark := len(v.c.emq.buf)
	base := v.base
	if queue, ok := row.Get(fieldParentQueue); ok {
		if !fence.ValidQueue(queue) {
			return fence.FlowParent
		}
		v.c.emq.buf = fence.AppendBase(v.c.emq.buf, queue)
		base = v.since(mark)
	}
	same := fence.IsRow(key, base, id)
	v.c.emq.buf = v.c.emq.buf[:mark]
	if !same {
		return fence.FlowParent
	}
	return nil
}

// openChildren reads how many children the job still waits for; the count may be absent, which is 0.
func (v *verb) openChildren(id []byte) (key []byte, n int64, err error) {
	key = v.named(fence.RowDependencies, id)
	text, ok, err := v.c.Tx.Value(key)
	if err != nil || !ok {
		return key, 0, err
	}
	if n, ok = num.Int(text); !ok {
		return key, 0, ErrNotInteger
	}
	return key, max(n, 0), nil
}

// outbox opens the list of signals to parents.
func (v *verb) outbox() (store.List, error) { return v.c.Tx.List(v.key(fence.Outbox)) }

// signalFailure leaves the signal that the job id, whose row has a parent, failed with the error text. Its parts
// are joined by NUL, the first of them empty:
//
//	"" fail parentqueue parent child policy error
func (v *verb) signalFailure(outbox *store.List, row *jobRow, id, text []byte) {
	mark := len(v.c.emq.buf)
	queue, ok := row.Get(fieldParentQueue)
	if !ok {
		queue = fence.Queue(v.base)
	}
	parent, _ := row.Get(fieldParent)
	policy, _ := row.Get(fieldParentPolicy)
	buf := append(v.c.emq.buf, "\x00fail"...)
	for _, part := range [...][]byte{queue, parent, id, policy, text} {
		buf = append(append(buf, 0), part...)
	}
	outbox.PushRight(buf[mark:])
	v.c.emq.buf = buf[:mark]
}
