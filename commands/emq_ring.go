package commands

import (
	"math"

	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

// wakeMost is how many lanes the wake list announces at most.
const wakeMost = 64

// rota is the ring of a queue's lanes with what decides which of them are on it, opened for one call.
//
// The ring rule has its one place here: whoever changes a lane's depth, its pause, its limit or its count of active jobs
// opens the rota and the lane before the first write, and ends with turn.
type rota struct {
	v              verb
	ring, wake     store.List
	paused         store.Set
	limits, counts store.Hash
}

// rota opens the five keys. WRONGTYPE when one holds another kind.
func (v *verb) rota() (r rota, err error) {
	tx := v.c.Tx
	r.v = *v
	if r.ring, err = tx.List(v.key(fence.Ring)); err != nil {
		return r, err
	}
	if r.wake, err = tx.List(v.key(fence.Wake)); err != nil {
		return r, err
	}
	if r.paused, err = tx.Set(v.key(fence.Paused)); err != nil {
		return r, err
	}
	if r.limits, err = tx.Hash(v.key(fence.GroupLimit)); err != nil {
		return r, err
	}
	r.counts, err = tx.Hash(v.key(fence.GroupActive))
	return r, err
}

// lane is one lane as it is, kept up to date by the methods of the rota.
type lane struct {
	group  []byte
	jobs   store.ZSet
	paused bool
	limit  int64
	active int64
}

// lane opens the lane of a group, which outlasts the writes. WRONGTYPE when its key holds another kind, ERR when its limit
// or count is no integer.
func (r *rota) lane(group []byte) (l lane, err error) {
	l.group, l.paused, l.limit = group, r.paused.Has(group), math.MaxInt64
	if l.jobs, err = r.v.laneJobs(group); err != nil {
		return l, err
	}
	limit, limited, err := hashInt(&r.limits, group)
	if err != nil {
		return l, err
	}
	if limited {
		l.limit = limit
	}
	l.active, _, err = hashInt(&r.counts, group)
	return l, err
}

// laneJobs opens the pending set of a lane.
func (v *verb) laneJobs(group []byte) (store.ZSet, error) {
	return v.c.Tx.ZSet(v.named(fence.Lane, group))
}

// openLane opens the rota and one lane.
func (v *verb) openLane(group []byte) (r rota, l lane, err error) {
	if r, err = v.rota(); err == nil {
		l, err = r.lane(group)
	}
	return r, l, err
}

// serviceable reports whether a job of the lane can be claimed now.
func (l *lane) serviceable() bool { return l.jobs.Len() > 0 && !l.paused && l.active < l.limit }

// count adds to the number of the group's active jobs. A count that would be 0 or less is a deleted field, one that
// somebody else has left at the very bottom too: it does not wrap around. At the top no lane is serviceable.
func (r *rota) count(l *lane, by int64) {
	if l.active = max(l.active, 0) + by; l.active > 0 {
		setHashInt(&r.counts, l.group, l.active)
		return
	}
	l.active = 0
	r.counts.Delete(l.group)
}

// left notes that a job of the lane has left the set that it was in, which was active when it was leased.
func (r *rota) left(l *lane, leased bool) {
	if leased {
		r.count(l, -1)
	}
	r.turn(l)
}

// turn is the ring rule: a serviceable lane that is not on the ring joins it at the right and is announced, one that is
// not serviceable leaves it.
func (r *rota) turn(l *lane) {
	switch on := r.ring.Has(l.group); {
	case l.serviceable() && !on:
		r.ring.PushRight(l.group)
		r.wake.PushLeft(textOne)
		if r.wake.Len() > wakeMost {
			r.wake.Trim(0, wakeMost)
		}
	case on && !l.serviceable():
		r.ring.Remove(l.group, 0)
	}
}

// pass ends the turn of the lane that stands behind the first skip ones of the ring: those are taken off, and the lane
// goes to the right end, or off when it is not serviceable any more. None of this is a walk along the ring, unless
// somebody else has put the lane there twice.
func (r *rota) pass(l *lane, skip int) {
	r.shed(skip)
	switch {
	case !l.serviceable():
		r.ring.PopLeft()
		if r.ring.Has(l.group) {
			r.ring.Remove(l.group, 0)
		}
	case r.ring.Len() > 1:
		r.ring.PushRight(l.group)
		r.ring.PopLeft()
	}
}

// shed takes the first n lanes off the ring.
func (r *rota) shed(n int) {
	for range n {
		r.ring.PopLeft()
	}
}
