package commands

import (
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
}

// uncounted is a limit of stalls for pickDue that frees every job.
const uncounted = -1

// pickDue picks up to limit flat members of set with a score up to now, lowest first, and returns their number.
// Members without a row are picked as orphans and do not count; lane jobs are passed over. With a limit of stalls
// that is not negative each stall is judged by it.
func (v *verb) pickDue(set *store.ZSet, limit, maxStalled int64) (n int64, err error) {
	for i := 0; n < limit; i++ {
		id, score, ok := set.At(i)
		if !ok || score > float64(v.c.Now()) {
			break
		}
		from := len(v.c.emq.buf)
		id = v.keep(id)
		row, there, err := v.rowOf(id)
		switch {
		case err != nil:
			return 0, err
		case !there:
			v.take(pick{from: from, to: from + len(id)})
			continue
		case row.lane():
			v.c.emq.buf = v.c.emq.buf[:from]
			continue
		}
		what := pickFree
		if maxStalled >= 0 {
			if what, err = v.judge(&row, maxStalled); err != nil {
				return 0, err
			}
		}
		child := what == pickBury && row.has(fieldParent)
		v.take(pick{from, from + len(id), what, child})
		n++
	}
	return n, nil
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

// release carries out a pick that is not to be buried: it leaves set, and is pending unless it is an orphan.
func (v *verb) release(p pick, set, pending *store.ZSet) {
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
	pending.Add(id, 0)
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
