package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

var emqLaneClaimRows = []Row{
	{
		Name: "emq.group.claim", Family: "claim and leases", Arity: 6, Flags: emqWrite | DenyOOM | Fast, Do: emqGroupClaim,
		Keys: emqKeys, Layout: fence.Layout{fence.Ring, fence.Active, fence.Base}, Tokens: []string{"group.claim"},
		Syntax: "numkeys ring active base lease_ms", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of jobs that are in the lane or active",
		Summary:    "Gives the next lane its turn: takes its first job under a lease.",
	},
	{
		Name: "emq.group.wclaim", Family: "claim and leases", Arity: 6, Flags: emqWrite | DenyOOM, Do: emqGroupWClaim,
		Keys: emqKeys, Layout: fence.Layout{fence.Ring, fence.Active, fence.Base}, Tokens: []string{"group.wclaim"},
		Syntax: "numkeys ring active base lease_ms", Since: "1.0.0",
		Complexity: "O(M*log N) where M is the number of jobs claimed and N that of jobs that are in the lane or active",
		Summary:    "Gives the next lane its turn: takes as many jobs as its weight says.",
	},
	{
		Name: "emq.group.claims", Family: "claim and leases", Arity: 6, Flags: emqWrite | DenyOOM, Do: emqGroupClaims,
		Keys: emqKeys, Layout: fence.Layout{fence.Ring, fence.Active, fence.Base}, Tokens: []string{"group.claims"},
		Syntax: "numkeys ring active base lease_ms", Since: "1.0.0",
		Complexity: "O(M*log N) where M is the number of jobs claimed and N that of jobs that are in the lane or active",
		Summary:    "Gives the next lane its turn: takes all its jobs, up to its limit.",
	},
	{
		Name: "emq.group.bclaim", Family: "claim and leases", Arity: 7, Flags: emqWrite | DenyOOM | Blocking | Exclusive, Do: emqGroupBClaim,
		Keys: emqKeys, Layout: fence.Layout{fence.Ring, fence.Active, fence.Base}, Tokens: []string{"group.bclaim"},
		Syntax: "numkeys ring active base lease_ms timeout", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of jobs that are in the lane or active",
		Summary:    "Gives the next lane its turn, waiting for one while no lane can be served.",
	},
}

// share is how much of a lane one turn takes.
type share uint8

const (
	shareOne share = iota
	shareWeight
	shareAll
)

// emqGroupClaim handles EMQ.GROUP.CLAIM numkeys ring active base | lease_ms.
//
// Keys:    ring, active set; reads meta, paused and glimit, writes the lane, gactive and the claimed job's row
// Reply:   [id, payload, attempts, group], or an empty array when the queue is paused or no lane can be served
// Errors:  EMQLANE when the first job of the lane is not the lane's, WRONGTYPE, ERR when its attempts are no integer
// Effects: ZREM lane, HSET row, ZADD active, HSET gactive, RPUSH and LPOP ring
func emqGroupClaim(c *Call) error { return claimTurn(c, shareOne) }

// emqGroupWClaim handles EMQ.GROUP.WCLAIM numkeys ring active base | lease_ms.
//
// Keys:    as EMQ.GROUP.CLAIM, and reads gweight
// Reply:   array of [id, payload, attempts, group]
// Errors:  as EMQ.GROUP.CLAIM
// Effects: as EMQ.GROUP.CLAIM, for each job
func emqGroupWClaim(c *Call) error { return claimTurn(c, shareWeight) }

// emqGroupClaims handles EMQ.GROUP.CLAIMS numkeys ring active base | lease_ms.
//
// Keys:    as EMQ.GROUP.CLAIM
// Reply:   array of [id, payload, attempts, group]
// Errors:  as EMQ.GROUP.CLAIM
// Effects: as EMQ.GROUP.CLAIM, for each job
func emqGroupClaims(c *Call) error { return claimTurn(c, shareAll) }

func claimTurn(c *Call, how share) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	deadline, err := v.lease(0)
	if err != nil {
		return err
	}
	if err := v.open(); err != nil {
		return err
	}
	n, _, err := v.claimLane(deadline, how)
	if err == nil && n == 0 {
		c.Reply.Array(0)
	}
	return err
}

// emqGroupBClaim handles EMQ.GROUP.BCLAIM numkeys ring active base | lease_ms timeout_s.
//
// Keys:    as EMQ.GROUP.CLAIM
// Reply:   as EMQ.GROUP.CLAIM, an empty array when the time is up
// Errors:  as EMQ.GROUP.CLAIM, ERR on a bad timeout
// Effects: as EMQ.GROUP.CLAIM
func emqGroupBClaim(c *Call) error { return claimOrWait(c, true) }

// claimLane gives the next lane its turn and replies what it took into active, declared key 1; nothing when there is
// nothing. A lane whose members are all orphans loses them, and the next one is tried. dropped tells that the search ended
// at maxOrphans, or as many lanes that cannot be served.
func (v *verb) claimLane(deadline int64, how share) (claimed int, dropped bool, err error) {
	v.c.Tx.NoteClaim(v.base)
	c := v.c
	if paused, err := v.paused(); err != nil || paused {
		return 0, false, err
	}
	r, err := v.rota()
	if err != nil {
		return 0, false, err
	}
	orphans := 0
	for wrote := false; ; wrote = true {
		c.emq.picks, c.emq.jobs = c.emq.picks[:0], c.emq.jobs[:0]
		t, err := v.nextTurn(&r, how)
		switch {
		case wrote && err != nil, err == nil && !t.found && t.skip == 0:
			return 0, false, nil // what was written stays, so there is no refusal any more
		case err != nil:
			return 0, false, err
		}
		if !wrote {
			err = c.Guard()
		}
		var active store.ZSet
		if err == nil {
			active, err = v.set(1)
		}
		if err != nil {
			return 0, false, err
		}
		if !t.found {
			r.shed(t.skip)
			return 0, t.skip == maxOrphans, nil
		}
		n := v.takeTurn(&r, &t, &active, deadline, how != shareOne)
		orphans += len(c.emq.picks)
		if full := orphans >= maxOrphans; n > 0 || full {
			return n, full, nil
		}
	}
}

// laneTurn is what the next turn of a ring is.
type laneTurn struct {
	skip  int // lanes at the left that cannot be served
	found bool
	lane  lane // the one behind them
}

// nextTurn finds the first lane of the ring that can be served and what its turn takes: the jobs, and as picks the
// orphans before them.
func (v *verb) nextTurn(r *rota, how share) (t laneTurn, err error) {
	if t, err = v.nextTurnLane(r); err != nil || !t.found {
		return t, err
	}
	most, err := v.most(&t.lane, how)
	if err != nil {
		return t, err
	}
	return t, v.heads(&t.lane.jobs, most, t.lane.group)
}

// nextTurnLane finds the first lane of the ring that can be served.
func (v *verb) nextTurnLane(r *rota) (t laneTurn, err error) {
	for ; ; t.skip++ {
		group, ok := r.ring.At(t.skip)
		if !ok || t.skip == maxOrphans {
			return t, nil
		}
		if !fence.ValidGroup(group) {
			continue
		}
		mark := len(v.c.emq.buf)
		if t.lane, err = r.lane(v.keep(group)); err != nil {
			return t, err
		}
		if t.found = t.lane.serviceable(); t.found {
			return t, nil
		}
		v.c.emq.buf = v.c.emq.buf[:mark]
	}
}

// most returns how many jobs a turn of the lane takes. A lane without a weight weighs 1.
func (v *verb) most(l *lane, how share) (int64, error) {
	room := l.limit - max(l.active, 0)
	switch how {
	case shareOne:
		return 1, nil
	case shareAll:
		return room, nil
	}
	weights, err := v.c.Tx.Hash(v.key(fence.GroupWeight))
	if err != nil {
		return 0, err
	}
	weight, _, err := hashInt(&weights, l.group)
	return min(room, max(weight, 1)), err
}

// takeTurn carries a turn out and returns how many jobs it replied.
func (v *verb) takeTurn(r *rota, t *laneTurn, active *store.ZSet, deadline int64, many bool) int {
	jobs, l := v.c.emq.jobs, &t.lane
	v.drop(&l.jobs)
	if many && len(jobs) > 0 {
		v.c.Reply.Array(len(jobs))
	}
	for i := range jobs {
		v.hold(&jobs[i], &l.jobs, active, deadline, l.group)
	}
	if len(jobs) > 0 {
		r.count(l, int64(len(jobs)))
	}
	r.pass(l, t.skip)
	return len(jobs)
}
