package commands

import "github.com/echomq/emqd/fence"

var emqFlowSettleRows = []Row{
	{
		Name: "emq.flow.complete", Family: "completion", Arity: 9, Flags: emqWrite | Fast, Do: emqFlowComplete,
		Keys: emqKeys, Layout: fence.Layout{fence.Active, fence.Row, fence.Base}, Rows: 1, Tokens: []string{"flow.complete"},
		Syntax: "numkeys active job base parent id token result", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of active jobs, and of pending jobs when the parent is released",
		Summary:    "Settles a child that is done, notes its result in the parent, and releases the parent after the last child.",
	},
	{
		Name: "emq.flow.fail", Family: "failure and recovery", Arity: -13, Flags: emqWrite | Fast, Do: emqFlowFail,
		Keys: emqKeys, Layout: fence.Layout{fence.Active, fence.Schedule, fence.Dead, fence.Row, fence.Base}, Rows: 1, OpenRows: true,
		Tokens: []string{"flow.fail"},
		Syntax: "numkeys active schedule dead job base parent [grandparent ...] id token delay_ms max_failures error", Since: "1.0.0",
		Complexity: "O(M*log N) where M is the number of ancestors that die of it and N that of jobs in the sets",
		Summary:    "Reports that a child failed; when its failures are spent its parent fails too, or waits for the others alone.",
	},
	{
		Name: "emq.flow.deliver", Family: "completion", Arity: 6, Flags: emqWrite | Fast, Do: emqFlowDeliver,
		Keys: emqKeys, Layout: fence.Layout{fence.Row, fence.Base}, Tokens: []string{"flow.deliver"},
		Syntax: "numkeys parent base child_id result", Since: "1.0.0", Complexity: "O(log N) where N is the number of pending jobs",
		Summary: "Applies the signal that a child of another queue is done.",
	},
	{
		Name: "emq.flow.faildeliver", Family: "failure and recovery", Arity: 7, Flags: emqWrite | Fast, Do: emqFlowFailDeliver,
		Keys: emqKeys, Layout: fence.Layout{fence.Row, fence.Base}, Tokens: []string{"flow.faildeliver"},
		Syntax: "numkeys parent base child_id error policy", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of jobs that are pending or dead",
		Summary:    "Applies the signal that a child failed or vanished.",
	},
}

// emqFlowComplete handles EMQ.FLOW.COMPLETE numkeys active job base parent | id token result.
//
// Keys:    active set, job row, parent's row; writes pending, the row's sub-keys, metrics:completed, and of the
// parent :processed, :dependencies and its queue's pending
// Reply:   1, or 0 when the row is gone
// Errors:  EMQSTALE on another token or when the lease is not held, EMQLANE, EMQFLOW when the row names another parent
// Effects: as EMQ.COMPLETE; HSET :processed, SET :dependencies, HSET and ZADD when the parent is released
func emqFlowComplete(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	id, token := v.args[0], v.args[1]
	parent, err := v.openChild(id)
	if err != nil {
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
	}
	if err := v.checkParent(&row, v.rows[0]); err != nil {
		return err
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
	step, err := v.parentStep(v.rows[0], parent, id, v.args[2], endDone)
	if err != nil {
		return err
	}
	from.Remove(id)
	v.deleteRow(&row, v.keys[1], id)
	completed.write()
	step.write()
	c.Reply.Int(1)
	return nil
}

// openChild is openRow for a verb that declares the parent's row too, behind the layout, and returns that key's parts.
func (v *verb) openChild(id []byte) (parent fence.Key, err error) {
	if v.base, err = v.c.Row.Layout.CheckRow(v.keys, id); err != nil {
		return parent, err
	}
	for i := len(v.rows) - 1; i >= 0; i-- {
		if parent, err = fence.CheckKey(len(v.keys)+i+1, v.rows[i], fence.Row); err != nil {
			return parent, err
		}
	}
	return parent, checkFence(v.c)
}

// emqFlowFail handles EMQ.FLOW.FAIL numkeys active schedule dead job base parent [grandparent ...] | id token
// delay_ms max_failures error.
//
// Keys:    active, schedule and dead sets, job row, ancestors' rows; writes pending, metrics:failed, of the ancestors
// :failed or :unsuccessful, :dependencies, their queues' pending or dead, and flow:outbox
// Reply:   "scheduled" or "dead"
// Errors:  EMQSTALE when the row is gone, on another token or when the lease is not held, EMQLANE, EMQFLOW when a row names
// another parent than is declared
// Effects: as EMQ.FAIL; per ancestor HSET :failed or :unsuccessful, SET :dependencies, HSET row, ZADD; RPUSH flow:outbox
func emqFlowFail(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	if err := v.takes(5); err != nil {
		return err
	}
	f, err := v.failure()
	if err != nil {
		return err
	}
	if _, err := v.openChild(f.id); err != nil {
		return err
	}
	row, err := v.failingRow(&f)
	if err != nil {
		return err
	}
	if err := v.checkParent(&row, v.rows[0]); err != nil {
		return err
	}
	if err := v.holdFailing(&row, &f); err != nil {
		return err
	}
	if f.spent() {
		return v.failChild(&row, &f)
	}
	if err := c.Guard(); err != nil {
		return err
	}
	return v.failScheduled(&row, &f)
}

// failChild buries the child and tells its ancestors.
func (v *verb) failChild(row *jobRow, f *failure) error {
	up, err := v.climb(v.rows, len(v.keys)+1, f.id, f.text, row.failure())
	if err != nil {
		return err
	}
	if err := v.c.Guard(); err != nil {
		return err
	}
	if err := v.failDead(row, f); err != nil {
		return err
	}
	up.write()
	return nil
}

// emqFlowDeliver handles EMQ.FLOW.DELIVER numkeys parent base | child_id result.
//
// Keys:    parent's row; writes its :processed, :dependencies and pending
// Reply:   1, also when the parent is gone or was told before
// Errors:  WRONGTYPE, ERR when :dependencies is no integer
// Effects: HSET :processed, SET :dependencies, HSET row and ZADD pending when the parent is released
func emqFlowDeliver(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	parent, err := v.openParent()
	if err != nil {
		return err
	}
	step, err := v.parentStep(v.keys[0], parent, v.args[0], v.args[1], endDone)
	if err != nil {
		return err
	}
	if step.acts {
		if err := c.Guard(); err != nil {
			return err
		}
	}
	step.write()
	c.Reply.Int(1)
	return nil
}

// openParent is open for a verb whose first key is the row of a parent, and returns that key's parts.
func (v *verb) openParent() (parent fence.Key, err error) {
	if v.base, err = v.c.Row.Layout.Check(v.keys); err != nil {
		return parent, err
	}
	if parent, err = fence.CheckKey(1, v.keys[0], fence.Row); err != nil {
		return parent, err
	}
	return parent, checkFence(v.c)
}

// emqFlowFailDeliver handles EMQ.FLOW.FAILDELIVER numkeys parent base | child_id error policy.
//
// Keys:    parent's row; writes its :failed or :unsuccessful, :dependencies, pending or dead, and flow:outbox
// Reply:   1, also when the parent is gone or was told before
// Errors:  WRONGTYPE, ERR when :dependencies is no integer
// Effects: HSET :failed or :unsuccessful, SET :dependencies, HSET row, ZADD dead or pending, RPUSH flow:outbox
func emqFlowFailDeliver(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	if _, err := v.openParent(); err != nil {
		return err
	}
	up, err := v.climb(v.keys[:1], 1, v.args[0], v.args[1], failedAs(v.args[2]))
	if err != nil {
		return err
	}
	if up.acts() {
		if err := c.Guard(); err != nil {
			return err
		}
	}
	up.write()
	c.Reply.Int(1)
	return nil
}
