package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

var emqCompletionRows = []Row{
	{
		Name: "emq.complete", Family: "completion", Arity: 7, Flags: emqWrite | Fast, Do: emqComplete,
		Keys: emqKeys, Layout: fence.Layout{fence.Active, fence.Row, fence.Base}, Tokens: []string{"complete"},
		Syntax: "numkeys active job base id token", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of active jobs",
		Summary:    "Settles a job that is done and deletes its row.",
	},
}

// emqComplete handles EMQ.COMPLETE numkeys active job base | id token.
//
// Keys:    active set, job row; writes pending, the row's sub-keys and metrics:completed
// Reply:   1, or 0 when the row is gone
// Errors:  EMQSTALE on another token or when the lease is not held, EMQLANE, EMQFLOW
// Effects: ZREM active or pending, DEL row and sub-keys, HSET metrics:completed
func emqComplete(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	id, token := v.args[0], v.args[1]
	if err := v.openRow(id); err != nil {
		return err
	}
	row, err := v.row(v.keys[1])
	switch {
	case err != nil:
		return err
	case !row.Exists():
		c.Reply.Int(0)
		return nil
	case !row.holds(token):
		return fence.StaleCompleteToken
	case row.lane():
		return fence.LaneJob
	case row.flow():
		return fence.FlowJob
	}
	from, held, err := v.holder(v.keys[0], id)
	if err != nil {
		return err
	}
	if !held {
		return fence.StaleCompleteLease
	}
	if err := c.Guard(); err != nil {
		return err
	}
	completed, err := v.metric(fence.MetricsCompleted, 1)
	if err != nil {
		return err
	}
	from.Remove(id)
	v.deleteRow(&row, v.keys[1], id)
	completed.write()
	c.Reply.Int(1)
	return nil
}

// givenUp opens the row and the active set, at these places among the keys, of a flat job that its holder gives up, and
// refuses a row that is gone, another token, a lane and a lease that is not held, in this order.
func (v *verb) givenUp(id, token []byte, rowAt, activeAt int, stale, lapsed fence.Refusal) (jobRow, store.ZSet, error) {
	row, err := v.row(v.keys[rowAt])
	switch {
	case err != nil:
		return row, store.ZSet{}, err
	case !row.Exists():
		return row, store.ZSet{}, fence.StaleGone
	case !row.holds(token):
		return row, store.ZSet{}, stale
	case row.lane():
		return row, store.ZSet{}, fence.LaneJob
	}
	active, err := v.set(activeAt)
	if err == nil && !inSet(&active, id) {
		err = lapsed
	}
	return row, active, err
}

// holder returns the set that a settling verb takes the job out of: active at the key given, or pending when
// the lease lapsed and the job was recovered but not claimed again.
func (v *verb) holder(key, id []byte) (set store.ZSet, held bool, err error) {
	if set, err = v.c.Tx.ZSet(key); err != nil {
		return set, false, err
	}
	if inSet(&set, id) {
		return set, true, nil
	}
	if set, err = v.c.Tx.ZSet(v.key(fence.Pending)); err != nil {
		return set, false, err
	}
	return set, inSet(&set, id), nil
}
