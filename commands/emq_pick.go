package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

// verdict is what happens to a member of a set that a verb has decided about.
type verdict uint8

const (
	pickOrphan verdict = iota // it has no row: dropped
	pickFree                  // back to pending
	pickCount                 // back to pending, the stall counted
	pickBury                  // to the dead, the stall counted
)

// pick is a member that a verb decided about before it wrote: where its id stands in the scratch, and what
// happens to it.
type pick struct {
	from, to int
	verdict  verdict
	child    bool // it has a parent that has to hear of its end
	lane     bool // it belongs to a lane
}

// uncounted is a limit of stalls for pickDue that frees every job.
const uncounted = -1

// scope says which jobs a verb moves that looks through a set of both kinds. The others are passed over.
type scope struct {
	flat, lanes bool
	group       []byte // the only lane when it is not nil
}

// The scopes without a group.
var (
	flatJobs = scope{flat: true}
	allJobs  = scope{flat: true, lanes: true}
)

// takes reports whether the job is within the scope, and whether it belongs to a lane. One whose row names a lane that
// nobody can have is in no scope.
func (s scope) takes(row *jobRow) (lane, ok bool) {
	group, lane := row.Get(fieldGroup)
	if !lane {
		return false, s.flat
	}
	return true, s.lanes && fence.ValidGroup(group) && (s.group == nil || string(s.group) == string(group))
}

// appendName appends the name of the search of this scope through the set at key.
func (s scope) appendName(b, key []byte) []byte {
	b = append(b, key...)
	switch {
	case s.group != nil:
		b = append(append(b, "\x00g"...), s.group...)
	case s.lanes:
		b = append(b, "\x00a"...)
	}
	return b
}

// pickDue picks up to limit members of declared key 0, which is set, in the scope with a score up to now, lowest first, and
// returns their number; then it asks the guard. Members without a row are picked as orphans and do not count. With a limit
// of stalls that is not negative each stall is judged by it.
//
// After passMost members that it passed over or dropped the search ends, and the next call with this scope goes on there:
// so no call takes long, and what stands behind them has its turn. After the last one that is due it begins anew.
func (v *verb) pickDue(set *store.ZSet, of scope, limit, maxStalled int64) (n int64, err error) {
	tx, mark := v.c.Tx, len(v.c.emq.buf)
	v.c.emq.buf = of.appendName(v.c.emq.buf, v.keys[0])
	search := v.since(mark)
	first := tx.Place(search, set)
	if !v.dueAt(set, first) {
		first = 0
	}
	i := first
	for ; n < limit && v.c.emq.passed < passMost; i++ {
		id, score, ok := set.At(i)
		if !ok || score > float64(v.c.Now()) {
			break
		}
		took, err := v.pickOne(id, of, maxStalled)
		switch {
		case err != nil:
			return 0, err
		case took:
			n++
		default:
			v.c.emq.passed++
		}
	}
	if len(v.c.emq.picks) > 0 {
		if err := v.c.Guard(); err != nil {
			return 0, err
		}
	}
	id, score, _ := set.At(i)
	switch v.c.emq.more = v.dueAt(set, i); {
	case v.c.emq.more && (n < limit || first > 0):
		tx.NotePlace(search, score, id)
	default:
		tx.ForgetPlace(search)
	}
	return n, nil
}

// dueAt reports whether there is a member at rank i and its time has come.
func (v *verb) dueAt(set *store.ZSet, i int) bool {
	_, score, ok := set.At(i)
	return ok && score <= float64(v.c.Now())
}

// pickOne picks a member unless it is passed over, and reports whether it is one that counts.
func (v *verb) pickOne(id []byte, of scope, maxStalled int64) (took bool, err error) {
	from := len(v.c.emq.buf)
	took, err = v.pickKept(v.keep(id), from, of, maxStalled)
	if err != nil && v.c.Damaged != nil {
		v.c.Damaged(id, err)
		v.c.emq.buf = v.c.emq.buf[:from]
		return false, nil
	}
	return took, err
}

// pickKept is pickOne for a member that stands in the scratch.
func (v *verb) pickKept(id []byte, from int, of scope, maxStalled int64) (took bool, err error) {
	row, there, err := v.rowOf(id)
	switch {
	case err != nil:
		return false, err
	case !there:
		v.take(pick{from: from, to: from + len(id)})
		return false, nil
	}
	lane, ok := of.takes(&row)
	if !ok {
		v.c.emq.buf = v.c.emq.buf[:from]
		return false, nil
	}
	if lane && v.c.Damaged != nil {
		group, _ := v.group(&row)
		if _, _, err := v.openLane(group); err != nil {
			return false, err
		}
	}
	what := pickFree
	if maxStalled >= 0 {
		if what, err = v.judge(&row, maxStalled); err != nil {
			return false, err
		}
	}
	child := what == pickBury && row.has(fieldParent)
	v.take(pick{from, from + len(id), what, child, lane})
	return true, nil
}

// judge tells what a lapsed lease means for its job. One that an earlier run of the node gave could not be
// extended while the node was down, so it is not counted.
func (v *verb) judge(row *jobRow, maxStalled int64) (verdict, error) {
	if row.earlier(v.c.Tx.Store().Epoch) {
		return pickFree, nil
	}
	stalls, err := row.stalls()
	switch {
	case err != nil:
		return pickOrphan, err
	case stalls >= maxStalled:
		return pickBury, nil
	}
	return pickCount, nil
}

// take notes a pick whose id stands in the scratch, and gives back the scratch behind it.
func (v *verb) take(p pick) {
	v.c.emq.picks = append(v.c.emq.picks, p)
	v.c.emq.buf = v.c.emq.buf[:p.to]
}

// id returns the id of a pick.
func (v *verb) id(p pick) []byte { return v.c.emq.buf[p.from:p.to:p.to] }

// way is where picks go: the flat jobs to pending, the others to their lanes.
type way struct {
	pending store.ZSet
	rota    rota
	leased  bool // they leave active, which their groups count
}

// openWay opens what the picks need, after the guard: pending is the declared key of the flat jobs.
func (v *verb) openWay(pending int, leased bool) (w way, err error) {
	w.leased = leased
	if w.pending, err = v.set(pending); err != nil {
		return w, err
	}
	return w, v.openLanes(&w)
}

// openLanes opens the rota when a pick belongs to a lane, and checks that each such lane can be opened.
func (v *verb) openLanes(w *way) (err error) {
	opened := false
	for _, p := range v.c.emq.picks {
		if !p.lane {
			continue
		}
		if !opened {
			if w.rota, err = v.rota(); err != nil {
				return err
			}
			opened = true
		}
		mark := len(v.c.emq.buf)
		row := v.pickedRow(v.id(p))
		group, _ := v.group(&row)
		if _, err := w.rota.lane(group); err != nil {
			return err
		}
		v.c.emq.buf = v.c.emq.buf[:mark]
	}
	return nil
}

// lane opens the lane of a picked job, which openLanes has opened before.
func (w *way) lane(v *verb, row *jobRow) lane {
	group, _ := v.group(row)
	l, err := w.rota.lane(group)
	if err != nil {
		panic("commands: a lane changed between the decision and the write")
	}
	return l
}

// release carries out a pick that is not to be buried: it leaves set, and is pending unless it is an orphan.
func (v *verb) release(p pick, set *store.ZSet, w *way) {
	id := v.id(p)
	set.Remove(id)
	if p.verdict == pickOrphan {
		v.c.Tx.Store().Stats.OrphansDropped++
		return
	}
	mark := len(v.c.emq.buf)
	row := v.pickedRow(id)
	if p.verdict == pickCount {
		row.stall()
	}
	row.setState(statePending)
	if p.lane {
		l := w.lane(v, &row)
		l.jobs.Add(id, 0)
		w.rota.left(&l, w.leased)
	} else {
		w.pending.Add(id, 0)
	}
	v.c.emq.buf = v.c.emq.buf[:mark]
}

// pickedRow opens the row of a pick again, which is there and a hash as it was when it was picked.
func (v *verb) pickedRow(id []byte) jobRow {
	row, there, err := v.rowOf(id)
	if err != nil || !there {
		panic("commands: a row changed between the decision and the write")
	}
	return row
}
