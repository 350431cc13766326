package commands

import (
	"errors"

	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

var emqClaimRows = []Row{
	{
		Name: "emq.claim", Family: "claim and leases", Arity: 6, Flags: emqWrite | DenyOOM | Fast, Do: emqClaim,
		Keys: emqKeys, Layout: fence.Layout{fence.Pending, fence.Active, fence.Base}, Tokens: []string{"claim", "claim.pause"},
		Syntax: "numkeys pending active base lease_ms", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of jobs that are pending or active",
		Summary:    "Takes the first pending job under a lease and returns it with its fencing token.",
	},
	{
		Name: "emq.claims", Family: "claim and leases", Arity: 7, Flags: emqWrite | DenyOOM, Do: emqClaims,
		Keys: emqKeys, Layout: fence.Layout{fence.Pending, fence.Active, fence.Base}, Tokens: []string{"claims"},
		Syntax: "numkeys pending active base lease_ms size", Since: "1.0.0",
		Complexity: "O(M*log N) where M is the number of jobs claimed and N that of jobs that are pending or active",
		Summary:    "Takes the first pending jobs under leases that end at one time.",
	},
	{
		Name: "emq.bclaim", Family: "claim and leases", Arity: 7, Flags: emqWrite | DenyOOM | Blocking | Exclusive, Do: emqBClaim,
		Keys: emqKeys, Layout: fence.Layout{fence.Pending, fence.Active, fence.Base}, Tokens: []string{"bclaim"},
		Syntax: "numkeys pending active base lease_ms timeout", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of jobs that are pending or active",
		Summary:    "Takes the first pending job under a lease, waiting for one while there is none.",
	},
	{
		Name: "emq.extend", Family: "claim and leases", Arity: 7, Flags: emqWrite | Fast, Do: emqExtend,
		Keys: emqKeys, Layout: fence.Layout{fence.Active, fence.Row}, Tokens: []string{"extend"},
		Syntax: "numkeys active job id token lease_ms", Since: "1.0.0", Complexity: "O(log N) where N is the number of active jobs",
		Summary: "Renews the lease of a job that the caller holds.",
	},
	{
		Name: "emq.extends", Family: "claim and leases", Arity: -5, Flags: emqWrite, Do: emqExtends,
		Keys: emqKeys, Layout: fence.Layout{fence.Active, fence.Base}, Tokens: []string{"extends"},
		Syntax: "numkeys active base lease_ms [id token ...]", Since: "1.0.0",
		Complexity: "O(M*log N) where M is the number of ids and N that of active jobs",
		Summary:    "Renews the leases of many jobs to one deadline and returns those that the caller no longer holds.",
	},
}

// emqClaim handles EMQ.CLAIM numkeys pending active base | lease_ms.
//
// Keys:    pending set, active set; reads meta, writes the claimed job's row
// Reply:   [id, payload, attempts], or an empty array when the queue is paused or has no pending job
// Errors:  EMQLANE when the first job belongs to a lane, WRONGTYPE, ERR when its attempts are no integer
// Effects: ZREM pending, HSET row, ZADD active
func emqClaim(c *Call) error {
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
	n, _, err := v.claim(deadline, 1, false)
	if err == nil && n == 0 {
		c.Reply.Array(0)
	}
	return err
}

// emqClaims handles EMQ.CLAIMS numkeys pending active base | lease_ms size.
//
// Keys:    pending set, active set; reads meta, writes the claimed jobs' rows
// Reply:   array of [id, payload, attempts]
// Errors:  as EMQ.CLAIM, when the first job is one to be refused
// Effects: as EMQ.CLAIM, for each job
func emqClaims(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	deadline, err := v.lease(0)
	if err != nil {
		return err
	}
	size, err := v.count(1)
	if err != nil {
		return err
	}
	if err := v.open(); err != nil {
		return err
	}
	n, _, err := v.claim(deadline, size, true)
	if err == nil && n == 0 {
		c.Reply.Array(0)
	}
	return err
}

// emqBClaim handles EMQ.BCLAIM numkeys pending active base | lease_ms timeout_s.
//
// Keys:    as EMQ.CLAIM
// Reply:   as EMQ.CLAIM, an empty array when the time is up
// Errors:  as EMQ.CLAIM, ERR on a bad timeout
// Effects: as EMQ.CLAIM
func emqBClaim(c *Call) error { return claimOrWait(c, false) }

// claimOrWait claims one job, of a lane or a flat one, and waits while there is none.
func claimOrWait(c *Call, lanes bool) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	deadline, err := v.lease(0)
	if err != nil {
		return err
	}
	until, err := c.Deadline(v.args[1])
	if err != nil {
		return err
	}
	if err := v.open(); err != nil {
		return err
	}
	n, dropped := 0, false
	if lanes {
		n, dropped, err = v.claimLane(deadline, shareOne)
	} else {
		n, dropped, err = v.claim(deadline, 1, false)
	}
	if n > 0 {
		return nil
	}
	return v.wait(err, dropped, until)
}

// wait ends the run of a claim that waits and found nothing, or was refused: the caller waits for a change of declared key 0
// or of the queue's pause. When only orphans were dropped it goes on soon, since what stands behind them would wake nobody. One
// of these two keys of a wrong type refuses the first run only; any other refusal ends the wait, since what is refused would
// stand in the way of every job behind it.
func (v *verb) wait(err error, dropped bool, until int64) error {
	c := v.c
	switch {
	case err != nil && !(c.Again && errors.Is(err, store.ErrWrongType) && v.cannotWait()):
		return err
	case !c.MayBlock:
		c.Reply.Array(0)
		return nil
	case dropped:
		return c.WaitSoon(until, v.keys[0], v.key(fence.Meta))
	}
	return c.Wait(until, v.keys[0], v.key(fence.Meta))
}

// cannotWait reports whether one of the keys that a claim waits for is of a wrong type.
func (v *verb) cannotWait() bool {
	if _, err := v.paused(); err != nil {
		return true
	}
	if v.c.Row.Layout[0] == fence.Ring {
		_, err := v.c.Tx.List(v.keys[0])
		return err != nil
	}
	_, err := v.set(0)
	return err != nil
}

// claim takes up to n flat jobs from pending, declared key 0, into active, key 1, and replies them, as an array of many or
// one alone; nothing when there is none. dropped tells that orphans went and no job was found.
func (v *verb) claim(deadline, n int64, many bool) (claimed int, dropped bool, err error) {
	v.c.Tx.NoteClaim(v.base)
	c := v.c
	c.emq.picks, c.emq.jobs = c.emq.picks[:0], c.emq.jobs[:0]
	if paused, err := v.paused(); err != nil || paused {
		return 0, false, err
	}
	pending, err := v.set(0)
	if err != nil {
		return 0, false, err
	}
	if err := v.heads(&pending, n, nil); err != nil {
		return 0, false, err
	}
	jobs := c.emq.jobs
	if len(jobs)+len(c.emq.picks) == 0 {
		return 0, false, nil
	}
	if err := c.Guard(); err != nil {
		return 0, false, err
	}
	active, err := v.set(1)
	if err != nil {
		return 0, false, err
	}
	v.drop(&pending)
	if many && len(jobs) > 0 {
		c.Reply.Array(len(jobs))
	}
	for i := range jobs {
		v.hold(&jobs[i], &pending, &active, deadline, nil)
	}
	return len(jobs), len(jobs) == 0, nil
}

// claimable is a job at the head of a set, checked.
type claimable struct {
	id       []byte // in the scratch
	row      jobRow
	attempts int64 // the next token
	before   int64 // failures to note down: those of a row that scripts have claimed before, else -1
}

// heads finds the first members of a set that have a row, at most n, and picks the orphans among them, at most maxOrphans.
// A job that such a claim may not or cannot take ends the search, and is refused when it is the first one. The set is the
// lane of a group, or holds flat jobs when group is nil.
func (v *verb) heads(set *store.ZSet, n int64, group []byte) error {
	for i := 0; int64(len(v.c.emq.jobs)) < n; i++ {
		id, _, ok := set.At(i)
		if !ok {
			return nil
		}
		from := len(v.c.emq.buf)
		id = v.keep(id)
		row, there, err := v.rowOf(id)
		if err == nil && !there {
			if len(v.c.emq.picks) == maxOrphans {
				return nil
			}
			v.take(pick{from: from, to: from + len(id)})
			continue
		}
		job := claimable{id: id, row: row}
		if err == nil {
			err = job.check(group)
		}
		if err != nil {
			if len(v.c.emq.jobs) > 0 {
				return nil
			}
			return err
		}
		v.c.emq.jobs = append(v.c.emq.jobs, job)
	}
	return nil
}

// drop takes the picks, which are orphans, out of their set.
func (v *verb) drop(set *store.ZSet) {
	for _, p := range v.c.emq.picks {
		set.Remove(v.id(p))
		v.c.Tx.Store().Stats.OrphansDropped++
	}
}

// check refuses a job that a claim of the group's lane, or of flat jobs when group is nil, may not or cannot take.
func (job *claimable) check(group []byte) error {
	if err := job.row.belongs(group); err != nil {
		return err
	}
	return job.count()
}

// count reads the attempts and what follows from them.
func (job *claimable) count() error {
	held, _, err := hashInt(&job.row.Hash, fieldAttempts)
	if err != nil {
		return err
	}
	job.before = -1
	if held > 0 && !job.row.has(fieldEpoch) && !job.row.has(fieldFailures) {
		job.before = held
	}
	job.attempts, err = plus(held, 1)
	return err
}

// hold takes the job from a set of pending ones into active and replies id, payload and attempts, for the job of a lane
// also its group.
func (v *verb) hold(job *claimable, pending, active *store.ZSet, deadline int64, group []byte) {
	c := v.c
	if group == nil {
		c.Reply.Array(3)
	} else {
		c.Reply.Array(4)
	}
	c.Reply.Bulk(job.id)
	if payload, ok := job.row.Get(fieldPayload); ok {
		c.Reply.Bulk(payload)
	} else {
		c.Reply.Null()
	}
	c.Reply.Int(job.attempts)
	if group != nil {
		c.Reply.Bulk(group)
	}
	pending.Remove(job.id)
	var texts [3][20]byte
	pairs := [...][]byte{
		fieldAttempts, num.AppendInt(texts[0][:0], job.attempts), fieldState, stateActive,
		fieldEpoch, num.AppendInt(texts[1][:0], c.Tx.Store().Epoch), fieldFailures, num.AppendInt(texts[2][:0], job.before),
	}
	if job.before >= 0 {
		job.row.SetAll(pairs[:]...)
	} else {
		job.row.SetAll(pairs[:6]...)
	}
	active.Add(job.id, float64(deadline))
}

// emqExtend handles EMQ.EXTEND numkeys active job | id token lease_ms.
//
// Keys:    active set, job row
// Reply:   1, or -1 when the row is gone
// Errors:  EMQSTALE when the token is not the row's attempts or the lease is not held
// Effects: ZADD active
func emqExtend(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	id, token := v.args[0], v.args[1]
	deadline, err := v.lease(2)
	if err != nil {
		return err
	}
	if err := v.openRow(id); err != nil {
		return err
	}
	row, err := v.row(v.keys[1])
	switch {
	case err != nil:
		return err
	case !row.Exists():
		c.Reply.Int(-1)
		return nil
	case !row.holds(token):
		return fence.StaleExtendToken
	}
	active, err := v.set(0)
	if err != nil {
		return err
	}
	if !inSet(&active, id) {
		return fence.StaleExtendLease
	}
	if err := c.Guard(); err != nil {
		return err
	}
	active.Add(id, float64(deadline))
	c.Reply.Int(1)
	return nil
}

// emqExtends handles EMQ.EXTENDS numkeys active base | lease_ms [id token ...].
//
// Keys:    active set; reads the rows of the ids
// Reply:   array of the ids whose lease is not the caller's any more
// Errors:  arity when an id has no token
// Effects: ZADD active
func emqExtends(c *Call) error {
	if (len(c.Args)+c.Row.Arity)%2 != 0 {
		return ErrArity(c.Row.FullName())
	}
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
	active, err := v.set(0)
	if err != nil {
		return err
	}
	guarded, lost, mark := false, 0, c.Reply.Later()
	for pairs := v.args[1:]; len(pairs) > 0; pairs = pairs[2:] {
		id, token := pairs[0], pairs[1]
		if !v.leased(&active, id, token) {
			c.Reply.Bulk(id)
			lost++
			continue
		}
		if !guarded {
			if err := c.Guard(); err != nil {
				return err
			}
			guarded = true
		}
		active.Add(id, float64(deadline))
	}
	c.Reply.Fill(mark, func() { c.Reply.Array(lost) })
	return nil
}

// leased reports whether the job is active under the token. A key of another type is no row.
func (v *verb) leased(active *store.ZSet, id, token []byte) bool {
	mark := len(v.c.emq.buf)
	row, there, err := v.rowOf(id)
	held := err == nil && there && row.holds(token) && inSet(active, id)
	v.c.emq.buf = v.c.emq.buf[:mark]
	return held
}
