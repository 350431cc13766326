package commands

import "github.com/echomq/emqd/fence"

var emqAdmissionRows = []Row{
	{
		Name: "emq.enqueue", Family: "admission", Arity: 6, Flags: emqWrite | Admission | DenyOOM | Fast, Do: emqEnqueue,
		Keys: emqKeys, Layout: fence.Layout{fence.Row, fence.Pending}, Tokens: []string{"enqueue"},
		Syntax: "numkeys job pending id payload", Since: "1.0.0", Complexity: "O(log N) where N is the number of pending jobs",
		Summary: "Adds a job that can be claimed at once, unless its row exists.",
	},
	{
		Name: "emq.schedule", Family: "admission", Arity: 8, Flags: emqWrite | Admission | DenyOOM | Fast, Do: emqSchedule,
		Keys: emqKeys, Layout: fence.Layout{fence.Row, fence.Schedule}, Tokens: []string{"schedule"},
		Syntax: "numkeys job schedule id payload <IN | AT> milliseconds", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of scheduled jobs",
		Summary:    "Adds a job that becomes due at a time to come, unless its row exists.",
	},
}

// emqEnqueue handles EMQ.ENQUEUE numkeys job pending | id payload.
//
// Keys:    job row, pending set
// Reply:   1, or 0 when the row exists
// Errors:  EMQKIND
// Effects: HSET row, ZADD pending
func emqEnqueue(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	return v.admit(statePending, 0)
}

// emqSchedule handles EMQ.SCHEDULE numkeys job schedule | id payload in|at ms.
//
// Keys:    job row, schedule set
// Reply:   1, or 0 when the row exists
// Errors:  EMQKIND
// Effects: HSET row, ZADD schedule
func emqSchedule(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	at, err := v.due(2)
	if err != nil {
		return err
	}
	return v.admit(stateScheduled, at)
}

// admit adds the job of the first two arguments, id and payload, to declared key 1, its row being key 0.
func (v *verb) admit(state []byte, score int64) error {
	c, id := v.c, v.args[0]
	if err := v.openRow(id); err != nil {
		return err
	}
	if !fence.IsJob(id) {
		return fence.KindJob
	}
	row, err := v.row(v.keys[0])
	if err != nil || row.Exists() { // what is there is not touched, whatever it is
		c.Reply.Int(0)
		return nil
	}
	if err := c.Guard(); err != nil {
		return err
	}
	set, err := v.set(1)
	if err != nil {
		return err
	}
	row.SetAll(fieldState, state, fieldAttempts, textZero, fieldPayload, v.args[1])
	set.Add(id, float64(score))
	c.Reply.Int(1)
	return nil
}
