package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

var emqFailureRows = []Row{
	{
		Name: "emq.fail", Family: "failure and recovery", Arity: 12, Flags: emqWrite | Fast, Do: emqFail,
		Keys: emqKeys, Layout: fence.Layout{fence.Active, fence.Schedule, fence.Dead, fence.Row, fence.Base},
		Tokens: []string{"fail", "fail.budget"},
		Syntax: "numkeys active schedule dead job base id token delay_ms max_failures error", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of jobs that are active, scheduled or dead",
		Summary:    "Reports that a job failed: it is tried again after a delay, or is dead when its failures are spent.",
	},
	{
		Name: "emq.reprocess", Family: "failure and recovery", Arity: 6, Flags: emqWrite | DenyOOM | Fast, Do: emqReprocess,
		Keys: emqKeys, Layout: fence.Layout{fence.Row, fence.Dead, fence.Pending}, Tokens: []string{"reprocess"},
		Syntax: "numkeys job dead pending id", Since: "1.0.0", Complexity: "O(log N) where N is the number of jobs that are dead or pending",
		Summary: "Makes a dead job pending again.",
	},
	{
		Name: "emq.requeue", Family: "failure and recovery", Arity: 7, Flags: emqWrite | Fast, Do: emqRequeue,
		Keys: emqKeys, Layout: fence.Layout{fence.Active, fence.Pending, fence.Row}, Tokens: []string{"requeue"},
		Syntax: "numkeys active pending job id token", Since: "1.0.0", Complexity: "O(log N) where N is the number of jobs that are active or pending",
		Summary: "Gives a job that the caller holds back to the queue, without counting a failure.",
	},
	{
		Name: "emq.stalled.check", Family: "failure and recovery", Arity: 8, Flags: emqWrite | DenyOOM, Do: emqStalledCheck,
		Keys: emqKeys, Layout: fence.Layout{fence.Active, fence.Pending, fence.Dead, fence.Base}, Tokens: []string{"stalled", "stalled.restart"},
		Syntax: "numkeys active pending dead base max_stalled limit", Since: "1.0.0",
		Complexity: "O(M*log N) where M is the number of lapsed leases looked at and N that of active jobs",
		Summary:    "Recovers flat jobs whose lease has lapsed, and buries those that stalled too often.",
	},
}

// emqFail handles EMQ.FAIL numkeys active schedule dead job base | id token delay_ms max_failures error.
//
// Keys:    active, schedule and dead sets, job row; writes pending and metrics:failed
// Reply:   "scheduled" or "dead"
// Errors:  EMQSTALE when the row is gone, on another token or when the lease is not held, EMQLANE, EMQFLOW
// Effects: ZREM active or pending, HSET row, ZADD schedule or dead, HSET metrics:failed
func emqFail(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	f, err := v.failure()
	if err != nil {
		return err
	}
	if err := v.openRow(f.id); err != nil {
		return err
	}
	row, err := v.failingRow(&f)
	if err != nil {
		return err
	}
	if row.flow() {
		return fence.FlowJob
	}
	if err := v.holdFailing(&row, &f); err != nil {
		return err
	}
	if err := c.Guard(); err != nil {
		return err
	}
	return v.fail(&row, &f)
}

// failure is a failed attempt as the caller of EMQ.FAIL and its siblings reports it.
type failure struct {
	id, token []byte
	at        int64 // when the job is tried again
	budget    int64 // the failures of which it dies
	text      []byte

	from     store.ZSet // the set that the job is in
	failures int64      // with this one
}

// failure reads the arguments id token delay_ms max_failures error.
func (v *verb) failure() (f failure, err error) {
	f.id, f.token, f.text = v.args[0], v.args[1], v.args[4]
	if f.at, err = v.delay(2); err != nil {
		return f, err
	}
	f.budget, err = v.integer(3)
	return f, err
}

// failingRow opens the row of a flat job, declared key 3, for the holder of its token.
func (v *verb) failingRow(f *failure) (row jobRow, err error) {
	row, err = v.row(v.keys[3])
	switch {
	case err != nil:
		return row, err
	case !row.Exists():
		return row, fence.StaleGone
	case !row.holds(f.token):
		return row, fence.StaleRetryToken
	case row.lane():
		return row, fence.LaneJob
	}
	return row, nil
}

// holdFailing finds the set that the flat job is taken out of, and counts the failure.
func (v *verb) holdFailing(row *jobRow, f *failure) (err error) {
	held := false
	if f.from, held, err = v.holder(v.keys[0], f.id); err != nil {
		return err
	}
	if !held {
		return fence.StaleRetryLease
	}
	f.failures, err = row.failed()
	return err
}

// spent reports whether the job dies of the failure.
func (f *failure) spent() bool { return f.failures >= f.budget }

// fail buries the job when its failures are spent, and lets it be tried again otherwise.
func (v *verb) fail(row *jobRow, f *failure) error {
	if f.spent() {
		return v.failDead(row, f)
	}
	return v.failScheduled(row, f)
}

// failScheduled lets the job be tried again at its instant.
func (v *verb) failScheduled(row *jobRow, f *failure) error {
	schedule, err := v.set(1)
	if err != nil {
		return err
	}
	f.write(row, stateScheduled)
	schedule.Add(f.id, float64(f.at))
	v.c.Reply.Text("scheduled")
	return nil
}

// failDead buries the job.
func (v *verb) failDead(row *jobRow, f *failure) error {
	dead, err := v.set(2)
	if err != nil {
		return err
	}
	failed, err := v.metric(fence.MetricsFailed, 1)
	if err != nil {
		return err
	}
	f.write(row, stateDead)
	dead.Add(f.id, 0)
	failed.write()
	v.c.Reply.Text("dead")
	return nil
}

// write takes the job out of its set and notes the failure in its row.
func (f *failure) write(row *jobRow, state []byte) {
	f.from.Remove(f.id)
	row.Set(fieldError, f.text)
	setHashInt(&row.Hash, fieldFailures, f.failures)
	row.setState(state)
}

// emqReprocess handles EMQ.REPROCESS numkeys job dead pending | id.
//
// Keys:    job row, dead set, pending set
// Reply:   1, or -1 when the row is gone
// Errors:  EMQSTATE when the job is not dead, EMQLANE
// Effects: ZREM dead, HDEL and HSET row, ZADD pending
func emqReprocess(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	id := v.args[0]
	if err := v.openRow(id); err != nil {
		return err
	}
	row, err := v.row(v.keys[0])
	if err != nil {
		return err
	}
	if !row.Exists() {
		c.Reply.Int(-1)
		return nil
	}
	dead, err := v.set(1)
	switch {
	case err != nil:
		return err
	case !inSet(&dead, id):
		return fence.StateNotDead
	case row.lane():
		return fence.LaneJob
	}
	if err := c.Guard(); err != nil {
		return err
	}
	pending, err := v.set(2)
	if err != nil {
		return err
	}
	dead.Remove(id)
	row.renew()
	pending.Add(id, 0)
	c.Reply.Int(1)
	return nil
}

// renew makes the row of a dead job that of a pending one with its whole budget.
func (r *jobRow) renew() {
	r.setState(statePending)
	r.Delete(fieldError)
	r.Delete(fieldFailures)
	r.Delete(fieldStalled)
}

// emqRequeue handles EMQ.REQUEUE numkeys active pending job | id token.
//
// Keys:    active set, pending set, job row
// Reply:   1
// Errors:  EMQSTALE when the row is gone, on another token or when the lease is not held, EMQLANE
// Effects: ZREM active, HSET row, ZADD pending
func emqRequeue(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	id, token := v.args[0], v.args[1]
	if err := v.openRow(id); err != nil {
		return err
	}
	row, active, err := v.givenUp(id, token, 2, 0, fence.StaleRequeueToken, fence.StaleRequeueLease)
	if err != nil {
		return err
	}
	if err := c.Guard(); err != nil {
		return err
	}
	pending, err := v.set(1)
	if err != nil {
		return err
	}
	active.Remove(id)
	row.setState(statePending)
	pending.Add(id, 0)
	c.Reply.Int(1)
	return nil
}
