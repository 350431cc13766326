package commands

import "github.com/echomq/emqd/fence"

var emqLaneRows = []Row{
	{
		Name: "emq.group.enqueue", Family: "admission", Arity: 8, Flags: emqWrite | Admission | DenyOOM | Fast, Do: emqGroupEnqueue,
		Keys: emqKeys, Layout: fence.Layout{fence.Row, fence.Lane, fence.Base}, Tokens: []string{"group.enqueue"},
		Syntax: "numkeys job lane base id payload group", Since: "1.0.0", Complexity: "O(log N) where N is the number of jobs in the lane",
		Summary: "Adds a job to a lane, unless its row exists.",
	},
	{
		Name: "emq.group.pause", Family: "lanes", Arity: 6, Flags: emqWrite | Fast, Do: emqGroupPause,
		Keys: emqKeys, Layout: fence.Layout{fence.Paused, fence.Ring, fence.Base}, Tokens: []string{"group.pause"},
		Syntax: "numkeys paused ring base group", Since: "1.0.0", Complexity: "O(N) where N is the number of lanes on the ring",
		Summary: "Keeps the jobs of a lane from being claimed.",
	},
	{
		Name: "emq.group.resume", Family: "lanes", Arity: 6, Flags: emqWrite | Fast, Do: emqGroupResume,
		Keys: emqKeys, Layout: fence.Layout{fence.Paused, fence.Ring, fence.Base}, Tokens: []string{"group.resume"},
		Syntax: "numkeys paused ring base group", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Lets the jobs of a paused lane be claimed again.",
	},
	{
		Name: "emq.group.limit", Family: "lanes", Arity: 5, Flags: emqWrite | Fast, Do: emqGroupLimit,
		Keys: emqKeys, Layout: fence.Layout{fence.Base}, Tokens: []string{"group.limit"},
		Syntax: "numkeys base group limit", Since: "1.0.0", Complexity: "O(1), O(N) with N lanes on the ring when the lane reaches its limit by it",
		Summary: "Sets how many jobs of a lane may be active at once.",
	},
	{
		Name: "emq.group.weight", Family: "lanes", Arity: 5, Flags: emqWrite | Fast, Do: emqGroupWeight,
		Keys: emqKeys, Layout: fence.Layout{fence.Base}, Tokens: []string{"group.weight"},
		Syntax: "numkeys base group weight", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Sets how many jobs of a lane one turn of EMQ.GROUP.WCLAIM takes.",
	},
	{
		Name: "emq.group.reassign", Family: "lanes", Arity: 7, Flags: emqWrite | DenyOOM | Fast, Do: emqGroupReassign,
		Keys: emqKeys, Layout: fence.Layout{fence.Row, fence.Lane, fence.Base}, Tokens: []string{"group.reassign"},
		Syntax: "numkeys job lane base id group", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of jobs in the lanes, O(R) with R lanes on the ring when the old one becomes empty",
		Summary:    "Moves a pending job to another lane.",
	},
	{
		Name: "emq.group.depths", Family: "lanes", Arity: -4, Flags: emqRead, Do: emqGroupDepths,
		Keys: emqReads, Layout: fence.Layout{fence.Base}, Tokens: []string{"group.depths"},
		Syntax: "numkeys base group [group ...]", Since: "1.0.0", Complexity: "O(M) where M is the number of groups",
		Summary: "Tells how many jobs are pending in each of some lanes.",
	},
}

// openLaneRow is openRow for a verb that declares the lane of the group too.
func (v *verb) openLaneRow(id, group []byte) (err error) {
	if v.base, err = v.c.Row.Layout.CheckRow(v.keys, id); err != nil {
		return err
	}
	if err := v.c.Row.Layout.CheckName(v.keys, v.base, fence.Lane, group); err != nil {
		return err
	}
	return checkFence(v.c)
}

// openGroup is open for a verb that takes a group without its lane's key.
func (v *verb) openGroup(group []byte) (err error) {
	if v.base, err = v.c.Row.Layout.Check(v.keys); err != nil {
		return err
	}
	if !fence.ValidGroup(group) {
		return fence.LayoutGroup
	}
	return checkFence(v.c)
}

// emqGroupEnqueue handles EMQ.GROUP.ENQUEUE numkeys job lane base | id payload group.
//
// Keys:    job row, lane; writes ring and wake
// Reply:   1, or 0 when the row exists
// Errors:  EMQKIND
// Effects: HSET row, ZADD lane, RPUSH ring, LPUSH wake
func emqGroupEnqueue(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	id, payload, group := v.args[0], v.args[1], v.args[2]
	if err := v.openLaneRow(id, group); err != nil {
		return err
	}
	if !fence.IsJob(id) {
		return fence.KindJob
	}
	if c.Tx.Exists(v.keys[0]) {
		c.Reply.Int(0)
		return nil
	}
	if err := c.Guard(); err != nil {
		return err
	}
	r, l, err := v.openLane(group)
	if err != nil {
		return err
	}
	row, err := v.row(v.keys[0])
	if err != nil {
		return err
	}
	row.SetAll(fieldState, statePending, fieldAttempts, textZero, fieldPayload, payload, fieldGroup, group)
	l.jobs.Add(id, 0)
	r.turn(&l)
	c.Reply.Int(1)
	return nil
}

// emqGroupPause handles EMQ.GROUP.PAUSE numkeys paused ring base | group.
//
// Keys:    paused set, ring
// Reply:   1
// Errors:  EMQLAYOUT on a group that can name no lane
// Effects: SADD paused, LREM ring
func emqGroupPause(c *Call) error { return groupGate(c, true) }

// emqGroupResume handles EMQ.GROUP.RESUME numkeys paused ring base | group.
//
// Keys:    paused set, ring; writes wake
// Reply:   1
// Errors:  EMQLAYOUT on a group that can name no lane
// Effects: SREM paused, RPUSH ring, LPUSH wake
func emqGroupResume(c *Call) error { return groupGate(c, false) }

func groupGate(c *Call, pause bool) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	group := v.args[0]
	if err := v.openGroup(group); err != nil {
		return err
	}
	if err := c.Guard(); err != nil {
		return err
	}
	r, l, err := v.openLane(group)
	if err != nil {
		return err
	}
	if l.paused = pause; pause {
		r.paused.Add(group)
	} else {
		r.paused.Remove(group)
	}
	r.turn(&l)
	c.Reply.Int(1)
	return nil
}

// emqGroupLimit handles EMQ.GROUP.LIMIT numkeys base | group limit.
//
// Keys:    base; writes glimit, ring and wake
// Reply:   1
// Errors:  ERR on a limit below 1, EMQLAYOUT on a group that can name no lane
// Effects: HSET glimit, RPUSH ring, LPUSH wake, or LREM ring
func emqGroupLimit(c *Call) error {
	v, n, err := groupSetting(c)
	if err != nil {
		return err
	}
	r, l, err := v.openLane(v.args[0])
	if err != nil {
		return err
	}
	l.limit = n
	setHashInt(&r.limits, l.group, n)
	r.turn(&l)
	c.Reply.Int(1)
	return nil
}

// emqGroupWeight handles EMQ.GROUP.WEIGHT numkeys base | group weight.
//
// Keys:    base; writes gweight, ring and wake
// Reply:   1
// Errors:  ERR on a weight below 1, EMQLAYOUT on a group that can name no lane
// Effects: HSET gweight
func emqGroupWeight(c *Call) error {
	v, n, err := groupSetting(c)
	if err != nil {
		return err
	}
	weights, err := c.Tx.Hash(v.key(fence.GroupWeight))
	if err != nil {
		return err
	}
	r, l, err := v.openLane(v.args[0])
	if err != nil {
		return err
	}
	setHashInt(&weights, l.group, n)
	r.turn(&l)
	c.Reply.Int(1)
	return nil
}

// groupSetting takes a call with the arguments group and n, at least 1, through its checks up to the guard.
func groupSetting(c *Call) (v verb, n int64, err error) {
	if v, err = newVerb(c); err != nil {
		return v, 0, err
	}
	if n, err = v.integer(1); err == nil && n < 1 {
		err = ErrNotInteger
	}
	if err != nil {
		return v, 0, err
	}
	if err := v.openGroup(v.args[0]); err != nil {
		return v, 0, err
	}
	return v, n, c.Guard()
}

// The replies of EMQ.GROUP.REASSIGN that move nothing.
const (
	reassignThere      = 0
	reassignNoLane     = -1
	reassignNotPending = -2
)

// emqGroupReassign handles EMQ.GROUP.REASSIGN numkeys job lane base | id group.
//
// Keys:    job row, the new lane; writes the old lane, ring and wake
// Reply:   1, 0 when the job is in that lane, -1 when it has no row or no lane, -2 when it is not pending
// Errors:  WRONGTYPE
// Effects: ZREM old lane, HSET row, ZADD lane, LREM ring, RPUSH ring, LPUSH wake
func emqGroupReassign(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	id, group := v.args[0], v.args[1]
	if err := v.openLaneRow(id, group); err != nil {
		return err
	}
	row, err := v.row(v.keys[0])
	if err != nil {
		return err
	}
	old, ok := v.group(&row)
	switch {
	case !ok:
		c.Reply.Int(reassignNoLane)
		return nil
	case string(old) == string(group):
		c.Reply.Int(reassignThere)
		return nil
	}
	from, err := v.laneJobs(old)
	if err != nil {
		return err
	}
	if !inSet(&from, id) {
		c.Reply.Int(reassignNotPending)
		return nil
	}
	if err := c.Guard(); err != nil {
		return err
	}
	r, left, err := v.openLane(old)
	if err != nil {
		return err
	}
	joined, err := r.lane(group)
	if err != nil {
		return err
	}
	left.jobs.Remove(id)
	row.Set(fieldGroup, group)
	joined.jobs.Add(id, 0)
	r.turn(&left)
	r.turn(&joined)
	c.Reply.Int(1)
	return nil
}

// emqGroupDepths handles EMQ.GROUP.DEPTHS numkeys base | group [group ...].
//
// Keys:    base; reads the lanes
// Reply:   array of the numbers of pending jobs
// Errors:  EMQLAYOUT on a group that can name no lane, WRONGTYPE
// Effects: none
func emqGroupDepths(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	if v.base, err = c.Row.Layout.Check(v.keys); err != nil {
		return err
	}
	for _, group := range v.args {
		if !fence.ValidGroup(group) {
			return fence.LayoutGroup
		}
	}
	if err := checkFence(c); err != nil {
		return err
	}
	c.Reply.Array(len(v.args))
	for _, group := range v.args {
		mark := len(c.emq.buf)
		jobs, err := v.laneJobs(group)
		if err != nil {
			return err
		}
		c.Reply.Int(int64(jobs.Len()))
		c.emq.buf = c.emq.buf[:mark]
	}
	return nil
}
