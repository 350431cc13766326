package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

var emqLaneSettleRows = []Row{
	{
		Name: "emq.group.complete", Family: "completion", Arity: 7, Flags: emqWrite | Fast, Do: emqGroupComplete,
		Keys: emqKeys, Layout: fence.Layout{fence.Active, fence.Row, fence.Base}, Tokens: []string{"group.complete"},
		Syntax: "numkeys active job base id token", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of active jobs",
		Summary:    "Settles a lane job that is done and deletes its row.",
	},
	{
		Name: "emq.group.fail", Family: "failure and recovery", Arity: 12, Flags: emqWrite | Fast, Do: emqGroupFail,
		Keys: emqKeys, Layout: fence.Layout{fence.Active, fence.Schedule, fence.Dead, fence.Row, fence.Base},
		Tokens: []string{"group.fail"},
		Syntax: "numkeys active schedule dead job base id token delay_ms max_failures error", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of jobs that are active, scheduled or dead",
		Summary:    "Reports that a lane job failed: it is tried again after a delay, or is dead when its failures are spent.",
	},
	{
		Name: "emq.group.delay", Family: "scheduling", Arity: 10, Flags: emqWrite | Fast, Do: emqGroupDelay,
		Keys: emqKeys, Layout: fence.Layout{fence.Row, fence.Active, fence.Schedule, fence.Base}, Tokens: []string{"group.delay"},
		Syntax: "numkeys job active schedule base id token <IN | AT> milliseconds", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of jobs that are active or scheduled",
		Summary:    "Puts a lane job that the caller holds off to a time to come, without counting a failure.",
	},
	{
		Name: "emq.group.requeue", Family: "failure and recovery", Arity: 8, Flags: emqWrite | Fast, Do: emqGroupRequeue,
		Keys: emqKeys, Layout: fence.Layout{fence.Active, fence.Pending, fence.Row, fence.Base}, Tokens: []string{"group.requeue"},
		Syntax: "numkeys active pending job base id token", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of jobs that are active or in the lane",
		Summary:    "Gives a lane job that the caller holds back to its lane, without counting a failure.",
	},
	{
		Name: "emq.group.reprocess", Family: "failure and recovery", Arity: 7, Flags: emqWrite | DenyOOM | Fast, Do: emqGroupReprocess,
		Keys: emqKeys, Layout: fence.Layout{fence.Row, fence.Dead, fence.Pending, fence.Base}, Tokens: []string{"group.reprocess"},
		Syntax: "numkeys job dead pending base id", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of jobs that are dead or in the lane",
		Summary:    "Makes a dead lane job pending in its lane again.",
	},
}

// heldJob is a lane job that passed the checks of its token.
type heldJob struct {
	row   jobRow
	group []byte
}

// heldJob opens the row under declared key i for the holder of a lane job. gone and stale are the refusals of a row that is
// not there and of another token; where gone is nil the caller asks whether the row exists.
func (v *verb) heldJob(i int, token []byte, gone, stale error) (job heldJob, err error) {
	if job.row, err = v.row(v.keys[i]); err != nil {
		return job, err
	}
	if !job.row.Exists() {
		return job, gone
	}
	if !job.row.holds(token) {
		return job, stale
	}
	group, ok := v.group(&job.row)
	if !ok {
		return job, fence.LaneNone
	}
	job.group = group
	return job, nil
}

// laneHolder returns the set that a settling verb takes the job out of: active at the key given, or its lane when the
// lease lapsed and the job was recovered but not claimed again.
func (v *verb) laneHolder(key, id, group []byte) (set store.ZSet, leased, held bool, err error) {
	if set, err = v.c.Tx.ZSet(key); err != nil {
		return set, false, false, err
	}
	if inSet(&set, id) {
		return set, true, true, nil
	}
	if set, err = v.laneJobs(group); err != nil {
		return set, false, false, err
	}
	return set, false, inSet(&set, id), nil
}

// emqGroupComplete handles EMQ.GROUP.COMPLETE numkeys active job base | id token.
//
// Keys:    active set, job row; writes the lane, the row's sub-keys, gactive, ring, wake and metrics:completed
// Reply:   1, or 0 when the row is gone
// Errors:  EMQSTALE on another token or when the lease is not held, EMQLANE, EMQFLOW
// Effects: ZREM active or lane, DEL row and sub-keys, HSET metrics:completed, HSET gactive, RPUSH ring, LPUSH wake
func emqGroupComplete(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	id, token := v.args[0], v.args[1]
	if err := v.openRow(id); err != nil {
		return err
	}
	job, err := v.heldJob(1, token, nil, fence.StaleCompleteToken)
	switch {
	case err != nil:
		return err
	case !job.row.Exists():
		c.Reply.Int(0)
		return nil
	case job.row.flow():
		return fence.FlowJob
	}
	from, leased, held, err := v.laneHolder(v.keys[0], id, job.group)
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
	r, l, err := v.openLane(job.group)
	if err != nil {
		return err
	}
	from.Remove(id)
	v.deleteRow(&job.row, v.keys[1], id)
	completed.write()
	r.left(&l, leased)
	c.Reply.Int(1)
	return nil
}

// emqGroupFail handles EMQ.GROUP.FAIL numkeys active schedule dead job base | id token delay_ms max_failures error.
//
// Keys:    active, schedule and dead sets, job row; writes the lane, gactive, ring, wake and metrics:failed
// Reply:   "scheduled" or "dead"
// Errors:  EMQSTALE when the row is gone, on another token or when the lease is not held, EMQLANE, EMQFLOW
// Effects: ZREM active or lane, HSET row, ZADD schedule or dead, HSET metrics:failed, HSET gactive, RPUSH ring, LPUSH wake
func emqGroupFail(c *Call) error {
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
	job, err := v.heldJob(3, f.token, fence.StaleGone, fence.StaleRetryToken)
	if err != nil {
		return err
	}
	if job.row.flow() {
		return fence.FlowJob
	}
	leased, held := false, false
	if f.from, leased, held, err = v.laneHolder(v.keys[0], f.id, job.group); err != nil {
		return err
	}
	if !held {
		return fence.StaleRetryLease
	}
	if f.failures, err = job.row.failed(); err != nil {
		return err
	}
	if err := c.Guard(); err != nil {
		return err
	}
	r, l, err := v.openLane(job.group)
	if err != nil {
		return err
	}
	if err := v.fail(&job.row, &f); err != nil {
		return err
	}
	r.left(&l, leased)
	return nil
}

// emqGroupDelay handles EMQ.GROUP.DELAY numkeys job active schedule base | id token in|at ms.
//
// Keys:    job row, active set, schedule set; writes gactive, ring and wake
// Reply:   1
// Errors:  EMQKIND, EMQSTALE when the row is gone, on another token or when the lease is not held, EMQLANE
// Effects: ZREM active, HSET row, ZADD schedule, HSET gactive, RPUSH ring, LPUSH wake
func emqGroupDelay(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	id, token := v.args[0], v.args[1]
	at, err := v.due(2)
	if err != nil {
		return err
	}
	if err := v.openRow(id); err != nil {
		return err
	}
	if !fence.IsJob(id) {
		return fence.KindJob
	}
	job, err := v.heldJob(0, token, fence.StaleGone, fence.StaleDelayToken)
	if err != nil {
		return err
	}
	active, err := v.set(1)
	if err != nil {
		return err
	}
	if !inSet(&active, id) {
		return fence.StaleDelayLease
	}
	if err := c.Guard(); err != nil {
		return err
	}
	schedule, err := v.set(2)
	if err != nil {
		return err
	}
	r, l, err := v.openLane(job.group)
	if err != nil {
		return err
	}
	active.Remove(id)
	job.row.setState(stateScheduled)
	schedule.Add(id, float64(at))
	r.left(&l, true)
	c.Reply.Int(1)
	return nil
}

// emqGroupRequeue handles EMQ.GROUP.REQUEUE numkeys active pending job base | id token.
//
// Keys:    active set, job row; writes the lane, gactive, ring and wake
// Reply:   1
// Errors:  EMQSTALE when the row is gone, on another token or when the lease is not held, EMQLANE
// Effects: ZREM active, HSET row, ZADD lane, HSET gactive, RPUSH ring, LPUSH wake
func emqGroupRequeue(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	id, token := v.args[0], v.args[1]
	if err := v.openRow(id); err != nil {
		return err
	}
	job, err := v.heldJob(2, token, fence.StaleGone, fence.StaleRequeueToken)
	if err != nil {
		return err
	}
	active, err := v.set(0)
	if err != nil {
		return err
	}
	if !inSet(&active, id) {
		return fence.StaleRequeueLease
	}
	if err := c.Guard(); err != nil {
		return err
	}
	r, l, err := v.openLane(job.group)
	if err != nil {
		return err
	}
	active.Remove(id)
	job.row.setState(statePending)
	l.jobs.Add(id, 0)
	r.left(&l, true)
	c.Reply.Int(1)
	return nil
}

// emqGroupReprocess handles EMQ.GROUP.REPROCESS numkeys job dead pending base | id.
//
// Keys:    job row, dead set; writes the lane, ring and wake
// Reply:   1, or -1 when the row is gone
// Errors:  EMQSTATE when the job is not dead, EMQLANE
// Effects: ZREM dead, HDEL and HSET row, ZADD lane, RPUSH ring, LPUSH wake
func emqGroupReprocess(c *Call) error {
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
	if err != nil {
		return err
	}
	if !inSet(&dead, id) {
		return fence.StateNotDead
	}
	group, ok := v.group(&row)
	if !ok {
		return fence.LaneNone
	}
	if err := c.Guard(); err != nil {
		return err
	}
	r, l, err := v.openLane(group)
	if err != nil {
		return err
	}
	dead.Remove(id)
	row.renew()
	l.jobs.Add(id, 0)
	r.turn(&l)
	c.Reply.Int(1)
	return nil
}
