package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

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
