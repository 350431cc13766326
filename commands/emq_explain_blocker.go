package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

// blocker is a job that the verbs are refused for, with every job behind it.
type blocker struct {
	id  []byte
	why error
}

// findBlocker looks for a job that stands in the way of this one, or this one itself when it is one.
func (f *jobFacts) findBlocker() {
	switch f.state {
	case string(statePending):
		if !f.jobPlace.lane {
			f.blocker = f.v.refusedHead(&f.set, nil)
		} else if f.blocker = f.v.refusedHead(&f.set, f.group); f.blocker.id == nil {
			f.blocker = f.v.refusedTurn()
		}
	case string(stateScheduled), string(stateActive):
		if f.until() <= 0 {
			f.blocker = f.refusedDue()
		}
	}
}

// refusedHead returns the job at the head of a set of pending ones when no claim can take it: the lane of a group, or the flat jobs
// when group is nil. Orphans before it would be dropped.
func (v *verb) refusedHead(set *store.ZSet, group []byte) (b blocker) {
	for i := range lookMost {
		id, _, ok := set.At(i)
		if !ok {
			return b
		}
		mark := len(v.c.emq.buf)
		row, there, err := v.rowOf(v.keep(id))
		v.c.emq.buf = v.c.emq.buf[:mark]
		if err == nil && !there {
			continue
		}
		if err == nil {
			job := claimable{row: row}
			err = job.check(group)
		}
		if err != nil {
			b = blocker{append([]byte(nil), id...), err}
		}
		return b
	}
	return b
}

// refusedTurn returns the job that the next turn of the lanes is refused for.
func (v *verb) refusedTurn() (b blocker) {
	r, err := v.rota()
	if err != nil {
		return b
	}
	t, err := v.nextTurnLane(&r)
	if err != nil || !t.found {
		return b
	}
	return v.refusedHead(&t.lane.jobs, t.lane.group)
}

// refusedDue returns the first of the jobs in the set up to this one that can be neither promoted nor recovered.
func (f *jobFacts) refusedDue() (b blocker) {
	v := f.v
	for i := range lookMost {
		id, _, ok := f.set.At(i)
		if !ok {
			return b
		}
		mark := len(v.c.emq.buf)
		err := f.movable(v.keep(id))
		v.c.emq.buf = v.c.emq.buf[:mark]
		switch {
		case err != nil:
			return blocker{append([]byte(nil), id...), err}
		case string(id) == string(f.id):
			return b
		}
	}
	return b
}

// movable refuses a job of the set whose row, or whose lane, does not let it become pending.
func (f *jobFacts) movable(id []byte) error {
	v := f.v
	row, there, err := v.rowOf(id)
	if err != nil || !there {
		return err
	}
	if f.state == string(stateActive) {
		if _, err := v.judge(&row, 0); err != nil {
			return err
		}
	}
	if group, ok := row.Get(fieldGroup); ok && fence.ValidGroup(group) {
		_, _, err = v.openLane(v.keep(group))
	}
	return err
}

// appendWhy appends the part of the sentence that names it.
func (b *blocker) appendWhy(text, id []byte) []byte {
	if string(b.id) == string(id) {
		text = append(text, "every call that comes to it is refused: "...)
	} else {
		text = append(append(append(text, "behind "...), b.id...), ", at which every call is refused: "...)
	}
	return append(text, b.why.Error()...)
}
