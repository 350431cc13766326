package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
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
	if paused, err := v.paused(); err != nil || paused {
		c.Reply.Array(0)
		return err
	}
	pending, err := v.set(0)
	if err != nil {
		return err
	}
	job, err := v.head(&pending)
	switch {
	case err != nil:
		return err
	case !job.found && len(c.emq.picks) == 0:
		c.Reply.Array(0)
		return nil
	}
	if err := c.Guard(); err != nil {
		return err
	}
	active, err := v.set(1)
	if err != nil {
		return err
	}
	for _, p := range c.emq.picks {
		v.release(p, &pending, &pending)
	}
	if !job.found {
		c.Reply.Array(0)
		return nil
	}
	v.hold(&job, &pending, &active, deadline)
	return nil
}

// claimable is the job at the head of a set, checked.
type claimable struct {
	found    bool
	id       []byte // in the scratch
	row      jobRow
	attempts int64 // the next token
	before   int64 // failures to note down: those of a row that scripts have claimed before, else -1
}

// head finds the first member of a set of flat jobs that has a row, and picks the orphans before it. It refuses a
// job that a flat claim may not or cannot take.
func (v *verb) head(set *store.ZSet) (job claimable, err error) {
	for i := 0; ; i++ {
		id, _, ok := set.At(i)
		if !ok {
			return job, nil
		}
		from := len(v.c.emq.buf)
		id = v.keep(id)
		row, there, err := v.rowOf(id)
		switch {
		case err != nil:
			return job, err
		case !there && i == maxOrphans:
			return job, nil
		case !there:
			v.take(pick{from: from, to: from + len(id)})
			continue
		case row.lane():
			return job, fence.LaneJob
		}
		job = claimable{found: true, id: id, row: row}
		return job, job.count()
	}
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

// hold takes the job from a set of pending ones into active and replies id, payload and attempts.
func (v *verb) hold(job *claimable, pending, active *store.ZSet, deadline int64) {
	c := v.c
	c.Reply.Array(3)
	c.Reply.Bulk(job.id)
	if payload, ok := job.row.Get(fieldPayload); ok {
		c.Reply.Bulk(payload)
	} else {
		c.Reply.Null()
	}
	c.Reply.Int(job.attempts)
	pending.Remove(job.id)
	setHashInt(&job.row.Hash, fieldAttempts, job.attempts)
	job.row.setState(stateActive)
	setHashInt(&job.row.Hash, fieldEpoch, c.Tx.Store().Epoch)
	if job.before >= 0 {
		setHashInt(&job.row.Hash, fieldFailures, job.before)
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
