package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store/num"
)

var emqFlowRows = []Row{
	{
		Name: "emq.flow.add", Family: "admission", Arity: -7, Flags: emqWrite | Admission | DenyOOM, Do: emqFlowAdd,
		Keys: emqKeys, Rows: 1, OpenRows: true, Tokens: []string{"flow.add"},
		Syntax: "numkeys row [row ...] id payload parent_id policy [id payload parent_id policy ...]", Since: "1.0.0",
		Complexity: "O(M*log N) where M is the number of nodes and N that of pending jobs",
		Summary:    "Adds a whole tree of jobs, in any queues, in which every parent waits for its children.",
	},
	{
		Name: "emq.flow.hold", Family: "admission", Arity: -7, Flags: emqWrite | Admission | DenyOOM | Fast, Do: emqFlowHold,
		Keys: emqKeys, Layout: fence.Layout{fence.Row, fence.Base}, Tokens: []string{"flow.hold"},
		Syntax: "numkeys row base id payload children [parent_id policy]", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Adds a job that waits for a number of children to come.",
	},
	{
		Name: "emq.flow.child", Family: "admission", Arity: 9, Flags: emqWrite | Admission | DenyOOM | Fast, Do: emqFlowChild,
		Keys: emqKeys, Layout: fence.Layout{fence.Row, fence.Base}, Rows: 1, Tokens: []string{"flow.child"},
		Syntax: "numkeys job base parent id payload <FP | ID> <PLANNED | EXTRA>", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of pending jobs",
		Summary:    "Adds a child of a job that waits for its children.",
	},
}

// flowNode is a job that enters a flow.
type flowNode struct {
	key, base   []byte
	id, payload []byte
	children    int64 // how many it waits for
	parent      []byte
	queue       []byte // the parent's queue, when it is another one
	policy      []byte
}

// write creates the row. A node with children is held; what an earlier job of the same id left of its own children goes.
func (n *flowNode) write(v *verb, row *jobRow) {
	state := statePending
	if n.children > 0 {
		state = stateAwaiting
	}
	row.setState(state)
	row.Set(fieldAttempts, textZero)
	row.Set(fieldPayload, n.payload)
	if n.parent != nil {
		row.Set(fieldParent, n.parent)
		row.Set(fieldParentPolicy, n.policy)
		if n.queue != nil {
			row.Set(fieldParentQueue, n.queue)
		}
	}
	if n.children == 0 {
		return
	}
	mark := len(v.c.emq.buf)
	w := v.in(n.base)
	for _, kind := range parentNotes {
		v.c.Tx.Delete(w.named(kind, n.id))
	}
	var text [20]byte
	v.c.Tx.SetValue(w.named(fence.RowDependencies, n.id), num.AppendInt(text[:0], n.children), 0)
	v.c.emq.buf = v.c.emq.buf[:mark]
}

// emqFlowHold handles EMQ.FLOW.HOLD numkeys row base | id payload children [parent_id policy].
//
// Keys:    job row; writes :dependencies
// Reply:   1, or 0 when the row exists
// Errors:  EMQKIND, EMQLAYOUT when an id has a NUL
// Effects: HSET row, SET :dependencies
func emqFlowHold(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	linked := len(v.args) != 3
	if linked {
		if err := v.takes(5); err != nil {
			return err
		}
	}
	n := flowNode{id: v.args[0], payload: v.args[1]}
	if n.children, err = v.integer(2); err != nil {
		return err
	}
	if n.children < 1 {
		return ErrNotInteger
	}
	if linked {
		if n.policy, err = v.policy(4); err != nil {
			return err
		}
		n.parent = v.args[3]
	}
	if v.base, err = c.Row.Layout.CheckRow(v.keys, n.id); err != nil {
		return err
	}
	n.key, n.base = v.keys[0], v.base
	if linked && !fence.ValidID(n.parent) {
		return fence.LayoutID
	}
	if err := flowIDs(n.id, n.parent); err != nil {
		return err
	}
	if err := checkFence(c); err != nil {
		return err
	}
	if !fence.IsJob(n.id) || linked && !fence.IsJob(n.parent) {
		return fence.KindJob
	}
	if c.Tx.Exists(n.key) {
		c.Reply.Int(0)
		return nil
	}
	if err := c.Guard(); err != nil {
		return err
	}
	row, err := v.row(n.key)
	if err != nil {
		return err
	}
	n.write(&v, &row)
	c.Reply.Int(1)
	return nil
}

// emqFlowChild handles EMQ.FLOW.CHILD numkeys job base parent | id payload policy planned|extra.
//
// Keys:    job row, parent's row of any queue; writes pending and the parent's :dependencies
// Reply:   1, or 0 when the row exists or the parent has seen this child end
// Errors:  EMQKIND, EMQSTATE when the parent is not held, EMQLAYOUT when an id has a NUL
// Effects: HSET row, ZADD pending, SET :dependencies of the parent
func emqFlowChild(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	n := flowNode{id: v.args[0], payload: v.args[1]}
	if n.policy, err = v.policy(2); err != nil {
		return err
	}
	extra := Is(v.args[3], "extra")
	if !extra && !Is(v.args[3], "planned") {
		return ErrSyntax
	}
	if v.base, err = c.Row.Layout.CheckRow(v.keys, n.id); err != nil {
		return err
	}
	parent, err := fence.CheckKey(3, v.rows[0], fence.Row)
	if err != nil {
		return err
	}
	n.key, n.base, n.parent = v.keys[0], v.base, parent.Name
	if string(parent.Base) != string(v.base) {
		n.queue = parent.Queue()
	}
	if err := flowIDs(n.id, n.parent); err != nil {
		return err
	}
	if err := checkFence(c); err != nil {
		return err
	}
	if !fence.IsJob(n.id) {
		return fence.KindJob
	}
	if c.Tx.Exists(n.key) {
		c.Reply.Int(0)
		return nil
	}
	return v.addChild(&n, parent, extra)
}

// addChild adds the child, whose row is not there, to the parent that it names.
func (v *verb) addChild(n *flowNode, parent fence.Key, extra bool) error {
	c, up := v.c, v.in(parent.Base)
	held, err := v.row(v.rows[0])
	switch {
	case err != nil:
		return err
	case !held.awaiting():
		return fence.StateNotAwaiting
	}
	told, err := up.told(n.parent, n.id)
	if err != nil {
		return err
	}
	if told {
		c.Reply.Int(0)
		return nil
	}
	waits, open, err := up.openChildren(n.parent)
	if err == nil && extra {
		open, err = plus(open, 1)
	}
	if err != nil {
		return err
	}
	if err := c.Guard(); err != nil {
		return err
	}
	pending, err := c.Tx.ZSet(v.key(fence.Pending))
	if err != nil {
		return err
	}
	row, err := v.row(n.key)
	if err != nil {
		return err
	}
	n.write(v, &row)
	pending.Add(n.id, 0)
	if extra {
		c.Tx.SetInt(waits, open)
	}
	c.Reply.Int(1)
	return nil
}
