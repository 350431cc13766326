package commands

import (
	"math"
	"strconv"

	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

var emqExplainRows = []Row{
	{
		Name: "emq.explain", Family: "admin", Arity: 4, Flags: emqRead, Do: emqExplain,
		Keys: emqReads, Layout: fence.Layout{fence.Base}, Tokens: []string{"explain"},
		Syntax: "numkeys base id", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of jobs in the set that the job is in; for a job that waits for children or may stand behind a damaged one at most 10000 keys are looked at",
		Summary:    "Tells why a job is not running.",
	},
}

const (
	// lookMost is how many keys are looked at for the children of a job.
	lookMost = 10_000
	// childrenMost is how many children are listed.
	childrenMost = 100
	// quietMS is for how long a queue may go without a claim before that is worth a word.
	quietMS = 60_000
)

// jobFacts are what is known about a job.
type jobFacts struct {
	jobPlace
	v         *verb
	id        []byte
	row       jobRow
	paused    bool // the whole queue
	group     []byte
	lane      lane
	score     float64 // where its set orders it
	position  int     // in its set, -1 when that has no next
	blocker   blocker // no id when nothing stands in the way
	waits     int64   // for so many children
	children  [][]byte
	lastClaim int64
	claimed   bool
}

// emqExplain handles EMQ.EXPLAIN numkeys base | id.
//
// Keys:    base; reads the job's row, the sets, its lane and what belongs to that, meta
// Reply:   map of why, state and the facts that apply; null when there is no such job
// Errors:  WRONGTYPE
// Effects: none
func emqExplain(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	if err := v.open(); err != nil {
		return err
	}
	row, there, err := v.rowOf(v.args[0])
	if err != nil {
		return err
	}
	if !there {
		c.Reply.Null()
		return nil
	}
	f := jobFacts{v: &v, id: v.args[0], row: row}
	if err := f.find(); err != nil {
		return err
	}
	f.reply(c.Reply)
	return nil
}

// find collects the facts.
func (f *jobFacts) find() (err error) {
	v := f.v
	if f.jobPlace, err = v.whereIs(&f.row, f.id); err != nil {
		return err
	}
	f.position, f.score, _ = f.set.Rank(f.id)
	if f.state != string(statePending) && f.state != string(stateScheduled) {
		f.position = -1
	}
	if f.paused, err = v.paused(); err != nil {
		return err
	}
	if group, ok := f.row.Get(fieldGroup); ok && fence.ValidGroup(group) {
		f.group = v.keep(group)
		if _, f.lane, err = v.openLane(f.group); err != nil {
			return err
		}
	}
	f.lastClaim, f.claimed = v.c.Tx.LastClaim(v.base)
	f.findBlocker()
	if f.state == string(stateAwaiting) {
		if _, f.waits, err = v.openChildren(f.id); err != nil {
			return err
		}
		f.findChildren()
	}
	return nil
}

// findChildren looks for children of the job in its own queue: in the sets first, then among all keys.
func (f *jobFacts) findChildren() {
	tx, look := f.v.c.Tx, lookMost
	for i := range jobSets {
		set, err := tx.ZSet(f.v.key(jobSets[i].kind))
		if err != nil {
			continue
		}
		set.Range(0, set.Len(), false, func(id []byte, _ float64) bool {
			look--
			f.meetChild(id)
			return look > 0 && !f.enough()
		})
	}
	for cursor := uint64(0); look > 0 && !f.enough(); {
		cursor = tx.Scan(cursor, func(key []byte, kind store.Kind) {
			look--
			if k, ok := fence.Parse(key); ok && k.Kind == fence.Row && string(k.Base) == string(f.v.base) {
				f.meetChild(k.Name)
			}
		})
		if cursor == 0 {
			return
		}
	}
}

func (f *jobFacts) enough() bool {
	return len(f.children) >= childrenMost || int64(len(f.children)) >= f.waits
}

// meetChild notes the job id if it is a child not noted before.
func (f *jobFacts) meetChild(id []byte) {
	if f.enough() {
		return
	}
	mark := len(f.v.c.emq.buf)
	row, there, err := f.v.rowOf(id)
	if err == nil && there {
		parent, _ := row.Get(fieldParent)
		queue, other := row.Get(fieldParentQueue)
		if string(parent) == string(f.id) && (!other || string(queue) == string(fence.Queue(f.v.base))) && !f.noted(id) {
			f.children = append(f.children, append([]byte(nil), id...))
		}
	}
	f.v.c.emq.buf = f.v.c.emq.buf[:mark]
}

func (f *jobFacts) noted(id []byte) bool {
	for _, c := range f.children {
		if string(c) == string(id) {
			return true
		}
	}
	return false
}

// until returns the ms to the instant that the job's set orders it by, which somebody else may have put beyond all time.
func (f *jobFacts) until() int64 {
	return int64(max(-maxScore, min(f.score-float64(f.v.c.Now()), maxScore)))
}

// reply replies the facts as a map.
func (f *jobFacts) reply(r *Reply) {
	n, mark := 0, r.Later()
	fact := func(name string) {
		n++
		r.Text(name)
	}
	count := func(name string, field []byte) {
		if n, ok, err := hashInt(&f.row.Hash, field); ok && err == nil {
			fact(name)
			r.Int(n)
		}
	}
	fact("why")
	r.Bulk(f.why(nil))
	fact("state")
	r.Text(f.state)
	fact("queue_paused")
	r.Bool(f.paused)
	if f.group != nil {
		fact("lane")
		r.Bulk(f.group)
		fact("lane_paused")
		r.Bool(f.lane.paused)
		fact("lane_active")
		r.Int(f.lane.active)
		if f.lane.limit != math.MaxInt64 {
			fact("lane_limit")
			r.Int(f.lane.limit)
		}
	}
	switch f.state {
	case string(stateScheduled):
		fact("due_in_ms")
		r.Int(f.until())
	case string(stateActive):
		fact("lease_left_ms")
		r.Int(f.until())
		count("token", fieldAttempts)
	case string(stateAwaiting):
		fact("children_left")
		r.Int(f.waits)
		fact("children")
		r.Array(len(f.children))
		for _, id := range f.children {
			r.Bulk(id)
		}
	}
	if text, ok := f.row.Get(fieldError); ok {
		fact("last_error")
		r.Bulk(text)
	}
	count("failures", fieldFailures)
	if f.position >= 0 {
		fact("position")
		r.Int(int64(f.position))
	}
	if f.blocker.id != nil {
		fact("blocked_by")
		r.Bulk(f.blocker.id)
	}
	fact("last_claim_ms_ago")
	if f.claimed {
		r.Int(max(f.v.c.Now()-f.lastClaim, 0))
	} else {
		r.Null()
	}
	r.Fill(mark, func() { r.Map(n) })
}

// why appends the sentence.
func (f *jobFacts) why(b []byte) []byte {
	switch f.state {
	case string(statePending):
		return f.whyPending(b)
	case string(stateScheduled):
		if left := f.until(); left > 0 {
			b = appendSpan(append(b, "due in "...), left)
		} else {
			b = append(appendSpan(append(b, "due since "...), -left), ", waits to be promoted"...)
		}
		b = f.whyBlocked(b)
		if f.paused {
			b = append(b, "; the queue is paused"...)
		}
		return b
	case string(stateActive):
		if left := f.until(); left > 0 {
			b = append(appendSpan(append(b, "leased for "...), left), " more with token "...)
			attempts, _ := f.row.Get(fieldAttempts)
			return append(b, attempts...)
		}
		return f.whyBlocked(append(appendSpan(append(b, "the lease ended "...), -f.until()), " ago, waits to be recovered"...))
	case string(stateDead):
		return f.whyDead(append(b, "dead"...))
	case string(stateAwaiting):
		return f.whyAwaiting(b)
	}
	return append(b, "the row is in no set, nothing will run it"...)
}

// whyBlocked goes on with what stands in the way, when something does.
func (f *jobFacts) whyBlocked(b []byte) []byte {
	if f.blocker.id == nil {
		return b
	}
	return f.blocker.appendWhy(append(b, "; "...), f.id)
}

func (f *jobFacts) whyPending(b []byte) []byte {
	quiet := f.v.c.Now() - f.lastClaim
	switch {
	case f.paused:
		return append(b, "the queue is paused"...)
	case f.lane.paused:
		return append(append(append(b, "lane "...), f.group...), " is paused"...)
	case f.lane.group != nil && f.lane.active >= f.lane.limit:
		b = append(append(append(b, "lane "...), f.group...), " is at its limit: "...)
		b = append(strconv.AppendInt(b, f.lane.active, 10), " of "...)
		return append(strconv.AppendInt(b, f.lane.limit, 10), " are active"...)
	case f.blocker.id != nil:
		return f.blocker.appendWhy(b, f.id)
	case !f.claimed:
		b = append(b, "no claim on this queue since the node started; "...)
	case quiet > quietMS:
		b = append(appendSpan(append(b, "no claim on this queue for "...), quiet), "; "...)
	}
	if f.position == 0 {
		return append(b, "next in line"...)
	}
	return strconv.AppendInt(append(b, "in line at position "...), int64(f.position), 10)
}

func (f *jobFacts) whyDead(b []byte) []byte {
	if text, ok := f.row.Get(fieldError); ok {
		return append(append(b, ": "...), text...)
	}
	failed, err := f.v.c.Tx.Hash(f.v.named(fence.RowFailed, f.id))
	if err != nil {
		return b
	}
	failed.Each(func(child, text []byte) bool {
		b = append(append(append(b, ": its child "...), child...), " failed: "...)
		b = append(b, text...)
		return false
	})
	return b
}

func (f *jobFacts) whyAwaiting(b []byte) []byte {
	b = strconv.AppendInt(append(b, "waits for "...), f.waits, 10)
	if f.waits == 1 {
		b = append(b, " child"...)
	} else {
		b = append(b, " children"...)
	}
	for i, id := range f.children {
		if i == 0 {
			b = append(b, ':')
		}
		if i == 3 {
			return append(b, " ..."...)
		}
		b = append(append(b, ' '), id...)
	}
	return b
}

// appendSpan appends a length of time as people say it.
func appendSpan(b []byte, ms int64) []byte {
	switch {
	case ms < 120_000:
		return append(strconv.AppendFloat(b, float64(ms)/1000, 'f', 1, 64), " s"...)
	case ms < 7_200_000:
		return append(strconv.AppendInt(b, ms/60_000, 10), " min"...)
	}
	return append(strconv.AppendInt(b, ms/3_600_000, 10), " h"...)
}
