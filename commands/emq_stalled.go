package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

// emqStalledCheck handles EMQ.STALLED.CHECK numkeys active pending dead base | max_stalled limit.
//
// Keys:    active, pending and dead sets; writes the rows of the jobs found and metrics:failed
// Reply:   [recovered ids, dead ids]
// Errors:  WRONGTYPE, ERR when a row's count of stalls is no integer
// Effects: per job ZREM active, HSET row, ZADD pending or dead, RPUSH flow:outbox; HSET metrics:failed
func emqStalledCheck(c *Call) error { return checkStalled(c, flatJobs) }

// emqGroupStalledCheck handles EMQ.GROUP.STALLED.CHECK numkeys active pending dead base | max_stalled limit.
//
// Keys:    active, pending and dead sets; writes the rows of the jobs found, their lanes, gactive, ring, wake and
// metrics:failed
// Reply:   [recovered ids, dead ids]
// Errors:  WRONGTYPE, ERR when a count is no integer
// Effects: as EMQ.STALLED.CHECK, for a lane job also ZADD lane, HSET gactive, RPUSH ring, LPUSH wake
func emqGroupStalledCheck(c *Call) error { return checkStalled(c, allJobs) }

func checkStalled(c *Call, of scope) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	maxStalled, err := v.count(0)
	if err != nil {
		return err
	}
	limit, err := v.count(1)
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
	if _, err := v.pickDue(&active, of, limit, maxStalled); err != nil {
		return err
	}
	if len(c.emq.picks) > 0 {
		if err := v.settleStalled(&active); err != nil {
			return err
		}
	}
	v.replyStalled()
	return nil
}

// settleStalled carries the picks out.
func (v *verb) settleStalled(active *store.ZSet) error {
	w, err := v.openWay(1, true)
	if err != nil {
		return err
	}
	buried := v.tally(pickBury)
	if buried == 0 {
		for _, p := range v.c.emq.picks {
			v.release(p, active, &w)
		}
		return nil
	}
	dead, err := v.set(2)
	if err != nil {
		return err
	}
	failed, err := v.metric(fence.MetricsFailed, int64(buried))
	if err != nil {
		return err
	}
	var outbox store.List
	if v.buriesChild() {
		if outbox, err = v.outbox(); err != nil {
			return err
		}
	}
	for _, p := range v.c.emq.picks {
		if p.verdict == pickBury {
			v.bury(p, active, &dead, &outbox, &w)
		} else {
			v.release(p, active, &w)
		}
	}
	failed.write()
	return nil
}

// buriesChild reports whether a child of a flow is among the picks to be buried.
func (v *verb) buriesChild() bool {
	for _, p := range v.c.emq.picks {
		if p.child {
			return true
		}
	}
	return false
}

// bury makes a job that stalled too often dead. No key of a parent is declared, so a child leaves a signal.
func (v *verb) bury(p pick, active, dead *store.ZSet, outbox *store.List, w *way) {
	id := v.id(p)
	mark := len(v.c.emq.buf)
	active.Remove(id)
	row := v.pickedRow(id)
	row.stall()
	row.setState(stateDead)
	row.Set(fieldError, fieldStalled)
	dead.Add(id, 0)
	if p.child {
		v.signalFailure(outbox, &row, id, fieldStalled)
	}
	if p.lane {
		l := w.lane(v, &row)
		w.rota.left(&l, w.leased)
	}
	v.c.emq.buf = v.c.emq.buf[:mark]
}

// tally counts the picks of a verdict.
func (v *verb) tally(what verdict) (n int) {
	for _, p := range v.c.emq.picks {
		if p.verdict == what {
			n++
		}
	}
	return n
}

// replyStalled replies the ids that are pending again and those that are dead.
func (v *verb) replyStalled() {
	r := v.c.Reply
	r.Array(2)
	r.Array(v.tally(pickFree) + v.tally(pickCount))
	for _, p := range v.c.emq.picks {
		if p.verdict == pickFree || p.verdict == pickCount {
			r.Bulk(v.id(p))
		}
	}
	r.Array(v.tally(pickBury))
	for _, p := range v.c.emq.picks {
		if p.verdict == pickBury {
			r.Bulk(v.id(p))
		}
	}
}
