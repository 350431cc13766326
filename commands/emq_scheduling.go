package commands

import "github.com/echomq/emqd/fence"

var emqSchedulingRows = []Row{
	{
		Name: "emq.promote", Family: "scheduling", Arity: 6, Flags: emqWrite | DenyOOM, Do: emqPromote,
		Keys: emqKeys, Layout: fence.Layout{fence.Schedule, fence.Pending, fence.Base}, Tokens: []string{"promote"},
		Syntax: "numkeys schedule pending base batch", Since: "1.0.0",
		Complexity: "O(M*log N) where M is the number of due jobs looked at and N that of scheduled jobs",
		Summary:    "Moves flat jobs that are due to the pending ones.",
	},
	{
		Name: "emq.reschedule", Family: "scheduling", Arity: 7, Flags: emqWrite | DenyOOM | Fast, Do: emqReschedule,
		Keys: emqKeys, Layout: fence.Layout{fence.Schedule, fence.Row}, Tokens: []string{"reschedule"},
		Syntax: "numkeys schedule job id <IN | AT> milliseconds", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of scheduled jobs",
		Summary:    "Gives a scheduled job another due time.",
	},
	{
		Name: "emq.delay", Family: "scheduling", Arity: 9, Flags: emqWrite | Fast, Do: emqDelay,
		Keys: emqKeys, Layout: fence.Layout{fence.Row, fence.Active, fence.Schedule}, Tokens: []string{"delay"},
		Syntax: "numkeys job active schedule id token <IN | AT> milliseconds", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of jobs that are active or scheduled",
		Summary:    "Puts a job that the caller holds off to a time to come, without counting a failure.",
	},
}

// emqPromote handles EMQ.PROMOTE numkeys schedule pending base | batch.
//
// Keys:    schedule set, pending set; writes the rows of the jobs promoted
// Reply:   how many jobs were promoted
// Errors:  WRONGTYPE
// Effects: ZREM schedule, HSET row, ZADD pending
func emqPromote(c *Call) error { return promote(c, flatJobs) }

// emqGroupPromote handles EMQ.GROUP.PROMOTE numkeys schedule pending base | batch.
//
// Keys:    schedule set, pending set; writes the rows of the jobs promoted, their lanes, ring and wake
// Reply:   how many jobs were promoted
// Errors:  WRONGTYPE, ERR when a lane's limit or count is no integer
// Effects: as EMQ.PROMOTE, for a lane job ZADD lane, RPUSH ring, LPUSH wake
func emqGroupPromote(c *Call) error { return promote(c, allJobs) }

func promote(c *Call, of scope) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	batch, err := v.count(0)
	if err != nil {
		return err
	}
	if err := v.open(); err != nil {
		return err
	}
	schedule, err := v.set(0)
	if err != nil {
		return err
	}
	n, err := v.pickDue(&schedule, of, batch, uncounted)
	if err != nil {
		return err
	}
	if len(c.emq.picks) > 0 {
		w, err := v.openWay(1, false)
		if err != nil {
			return err
		}
		for _, p := range c.emq.picks {
			v.release(p, &schedule, &w)
		}
	}
	c.Reply.Int(n)
	return nil
}

// emqReschedule handles EMQ.RESCHEDULE numkeys schedule job | id in|at ms.
//
// Keys:    schedule set, job row
// Reply:   1, or -1 when the row is gone
// Errors:  EMQSTATE when the job is not scheduled
// Effects: ZADD schedule
func emqReschedule(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	id := v.args[0]
	at, err := v.due(1)
	if err != nil {
		return err
	}
	if err := v.openRow(id); err != nil {
		return err
	}
	row, err := v.row(v.keys[1])
	if err != nil {
		return err
	}
	if !row.Exists() {
		c.Reply.Int(-1)
		return nil
	}
	schedule, err := v.set(0)
	if err != nil {
		return err
	}
	if !inSet(&schedule, id) {
		return fence.StateNotScheduled
	}
	if err := c.Guard(); err != nil {
		return err
	}
	schedule.Add(id, float64(at))
	c.Reply.Int(1)
	return nil
}

// emqDelay handles EMQ.DELAY numkeys job active schedule | id token in|at ms.
//
// Keys:    job row, active set, schedule set
// Reply:   1
// Errors:  EMQKIND, EMQSTALE when the row is gone, on another token or when the lease is not held, EMQLANE
// Effects: ZREM active, HSET row, ZADD schedule
func emqDelay(c *Call) error {
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
	row, active, err := v.givenUp(id, token, 0, 1, fence.StaleDelayToken, fence.StaleDelayLease)
	if err != nil {
		return err
	}
	if err := c.Guard(); err != nil {
		return err
	}
	schedule, err := v.set(2)
	if err != nil {
		return err
	}
	active.Remove(id)
	row.setState(stateScheduled)
	schedule.Add(id, float64(at))
	c.Reply.Int(1)
	return nil
}
