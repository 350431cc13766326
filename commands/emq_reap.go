package commands

import "github.com/echomq/emqd/fence"

var emqReapRows = []Row{
	{
		Name: "emq.reap", Family: "failure and recovery", Arity: 6, Flags: emqWrite | DenyOOM, Do: emqReap,
		Keys: emqKeys, Layout: fence.Layout{fence.Active, fence.Pending, fence.Base}, Tokens: []string{"reap"},
		Syntax: "numkeys active pending base limit", Since: "1.0.0",
		Complexity: "O(M*log N) where M is the number of lapsed leases looked at and N that of active jobs",
		Summary:    "Recovers jobs of every kind whose lease has lapsed, without counting it.",
	},
	{
		Name: "emq.group.reap", Family: "failure and recovery", Arity: 6, Flags: emqWrite | DenyOOM, Do: emqGroupReap,
		Keys: emqKeys, Layout: fence.Layout{fence.Active, fence.Base}, Tokens: []string{"group.reap"},
		Syntax: "numkeys active base group limit", Since: "1.0.0",
		Complexity: "O(M*log N) where M is the number of lapsed leases looked at and N that of active jobs",
		Summary:    "Recovers jobs of one lane whose lease has lapsed, without counting it.",
	},
	{
		Name: "emq.group.stalled.check", Family: "failure and recovery", Arity: 8, Flags: emqWrite | DenyOOM, Do: emqGroupStalledCheck,
		Keys: emqKeys, Layout: fence.Layout{fence.Active, fence.Pending, fence.Dead, fence.Base}, Tokens: []string{"group.stalled"},
		Syntax: "numkeys active pending dead base max_stalled limit", Since: "1.0.0",
		Complexity: "O(M*log N) where M is the number of lapsed leases looked at and N that of active jobs",
		Summary:    "Recovers jobs of every kind whose lease has lapsed, and buries those that stalled too often.",
	},
	{
		Name: "emq.group.promote", Family: "scheduling", Arity: 6, Flags: emqWrite | DenyOOM, Do: emqGroupPromote,
		Keys: emqKeys, Layout: fence.Layout{fence.Schedule, fence.Pending, fence.Base}, Tokens: []string{"group.promote"},
		Syntax: "numkeys schedule pending base batch", Since: "1.0.0",
		Complexity: "O(M*log N) where M is the number of due jobs looked at and N that of scheduled jobs",
		Summary:    "Moves jobs of every kind that are due to the pending ones or to their lanes.",
	},
}

// emqReap handles EMQ.REAP numkeys active pending base | limit.
//
// Keys:    active set, pending set; writes the rows of the jobs found, their lanes, gactive, ring and wake
// Reply:   how many jobs were recovered
// Errors:  WRONGTYPE, ERR when a lane's limit or count is no integer
// Effects: per job ZREM active, HSET row, ZADD pending or lane, HSET gactive, RPUSH ring, LPUSH wake
func emqReap(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	limit, err := v.count(0)
	if err != nil {
		return err
	}
	if err := v.open(); err != nil {
		return err
	}
	return v.reap(allJobs, limit)
}

// emqGroupReap handles EMQ.GROUP.REAP numkeys active base | group limit.
//
// Keys:    active set; writes the rows of the jobs found, the lane, gactive, ring and wake
// Reply:   how many jobs were recovered
// Errors:  EMQLAYOUT on a group that can name no lane, WRONGTYPE, ERR when the lane's limit or count is no integer
// Effects: per job ZREM active, HSET row, ZADD lane, HSET gactive, RPUSH ring, LPUSH wake
func emqGroupReap(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	limit, err := v.count(1)
	if err != nil {
		return err
	}
	if err := v.openGroup(v.args[0]); err != nil {
		return err
	}
	return v.reap(scope{lanes: true, group: v.args[0]}, limit)
}

// reap recovers lapsed leases of active, declared key 0. Flat jobs go to pending, key 1.
func (v *verb) reap(of scope, limit int64) error {
	active, err := v.set(0)
	if err != nil {
		return err
	}
	n, err := v.pickDue(&active, of, limit, uncounted)
	if err != nil {
		return err
	}
	if len(v.c.emq.picks) > 0 {
		w := way{leased: true}
		if of.flat {
			w, err = v.openWay(1, true)
		} else {
			err = v.openLanes(&w)
		}
		if err != nil {
			return err
		}
		for _, p := range v.c.emq.picks {
			v.release(p, &active, &w)
		}
	}
	v.c.Reply.Int(n)
	return nil
}
