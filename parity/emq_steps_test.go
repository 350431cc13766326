package parity

import (
	"math/rand/v2"
	"strconv"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/parity/local"
)

// emqDrawer draws steps while it runs them, so that tokens and ids are often right.
type emqDrawer struct {
	rng   *rand.Rand
	n     *local.Target
	steps [][]string
	q     string // base of the queue that the present step is for
}

// drawEMQ draws the steps of one episode.
func drawEMQ(rng *rand.Rand, table *commands.Table, seed uint64) [][]string {
	d := &emqDrawer{rng: rng, n: local.New(table, seed)}
	if !d.chance(50) {
		d.do("EMQ.INSTALL")
	}
	for len(d.steps) < emqEpisode {
		d.q = d.pick("emq:{a}:", "emq:{a}:", "emq:{b}:")
		switch {
		case d.chance(8):
			d.disturb()
		case d.chance(6):
			d.do(stepClock, d.number(0, 40))
		case d.chance(60):
			d.do(stepEpoch, "")
		case d.chance(3):
			d.laneVerb()
		case d.chance(3):
			d.flowVerb()
		case d.chance(3):
			d.operatorVerb()
		default:
			d.verb()
		}
	}
	return d.steps
}

// do notes a step and runs it. What is wrong with it shows in the comparison.
func (d *emqDrawer) do(step ...string) {
	d.steps = append(d.steps, step)
	switch step[0] {
	case stepClock:
		ms, _ := strconv.ParseInt(step[1], 10, 64)
		d.n.Advance(ms)
	case stepEpoch:
		d.n.Store().Epoch++
	default:
		_, _ = d.n.Do(step)
	}
}

// chance is true once in n times.
func (d *emqDrawer) chance(n int) bool { return d.rng.IntN(n) == 0 }

func (d *emqDrawer) pick(words ...string) string { return words[d.rng.IntN(len(words))] }

func (d *emqDrawer) number(from, to int) string { return strconv.Itoa(from + d.rng.IntN(to-from+1)) }

func (d *emqDrawer) id() string {
	if d.chance(40) {
		return d.pick("EVT1", "JO", "job1", "JOB:1", "JOBé")
	}
	return "JOB" + d.number(0, 5)
}

// held returns an id of a set of the queue, mostly with the token that its row has.
func (d *emqDrawer) held(set string) (id, token string) {
	id = d.id()
	tx := d.n.Store().Begin(0, d.n.Now(), true)
	defer tx.Commit()
	if z, err := tx.ZSet([]byte(d.q + set)); err == nil && z.Len() > 0 && !d.chance(6) {
		member, _, _ := z.At(d.rng.IntN(z.Len()))
		if id = string(member); id == "" || id == ghostLogs {
			id = "JOB0"
		}
	}
	token = d.number(0, 4)
	if h, err := tx.Hash([]byte(d.q + "job:" + id)); err == nil && !d.chance(8) {
		if attempts, ok := h.Get([]byte("attempts")); ok {
			token = string(attempts)
		}
	}
	return id, token
}

// ghostLogs is a member that spells the sub-key of a row, so that no row can be its own.
const ghostLogs = "JOB0:logs"

// length counts the members of a set of the queue; another type has none.
func (d *emqDrawer) length(set string) int {
	tx := d.n.Store().Begin(0, d.n.Now(), true)
	defer tx.Commit()
	if z, err := tx.ZSet([]byte(d.q + set)); err == nil {
		return z.Len()
	}
	return 0
}

// running returns a job mostly of active and its token. When there is none, and often else, one is claimed first, mostly
// with a lane or without as asked.
func (d *emqDrawer) running(inLane bool) (id, token string) {
	if d.chance(8) {
		return d.held("pending")
	}
	if d.length("active") > 0 && d.chance(2) || d.chance(8) {
		return d.held("active")
	}
	q, lease := d.q, d.number(20, 50)
	if d.field(q+"meta", "paused") != "" && !d.chance(4) {
		d.do("EMQ.RESUME", "1", q+"meta")
	}
	id = "JOB" + d.number(0, 5)
	if inLane == d.chance(6) {
		d.do("EMQ.ENQUEUE", "2", q+"job:"+id, q+"pending", id, "p")
		d.do("EMQ.CLAIM", "3", q+"pending", q+"active", q, lease)
	} else {
		group := d.group()
		d.do("EMQ.GROUP.ENQUEUE", "3", q+"job:"+id, q+"g:"+group+":pending", q, id, "p", group)
		d.do("EMQ.GROUP.CLAIM", "3", q+"ring", q+"active", q, lease)
	}
	return d.held("active")
}

// died returns a job mostly of dead, for which a running one, mostly with a lane or without as asked, fails for good when there
// is none, and often else.
func (d *emqDrawer) died(inLane bool) string {
	if !d.chance(8) && (d.length("dead") == 0 || d.chance(2)) {
		q, verb := d.q, "EMQ.FAIL"
		if inLane {
			verb = "EMQ.GROUP.FAIL"
		}
		id, token := d.running(inLane)
		d.do(verb, "5", q+"active", q+"schedule", q+"dead", q+"job:"+id, q, id, token, "0", "1", "boom")
	}
	id, _ := d.held("dead")
	return id
}

func (d *emqDrawer) due() (word, ms string) {
	if d.chance(3) {
		return d.pick("at", "AT"), strconv.FormatInt(d.n.Now()+int64(d.rng.IntN(80)-40), 10)
	}
	return d.pick("in", "In"), d.number(-10, 50)
}

// verb draws one call of a verb.
func (d *emqDrawer) verb() {
	q := d.q
	pending, active, schedule, dead := q+"pending", q+"active", q+"schedule", q+"dead"
	row := func(id string) string { return q + "job:" + id }
	word, ms := d.due()
	lease := d.number(1, 50)
	switch d.rng.IntN(23) {
	case 0, 1, 2:
		id := d.id()
		d.do("EMQ.ENQUEUE", "2", row(id), pending, id, d.pick("", "p", "pay\x00load"))
	case 3, 4:
		id := d.id()
		d.do("EMQ.SCHEDULE", "2", row(id), schedule, id, "p", word, ms)
	case 5, 6, 7, 8:
		d.do("EMQ.CLAIM", "3", pending, active, q, lease)
	case 9:
		id, token := d.running(false)
		d.do("EMQ.EXTEND", "2", active, row(id), id, token, lease)
	case 10:
		call := []string{"EMQ.EXTENDS", "2", active, q, lease}
		for range d.rng.IntN(4) {
			id, token := d.running(false)
			call = append(call, id, token)
		}
		if d.chance(5) {
			call = append(call, d.pick("", ghostLogs), "1")
		}
		d.do(call...)
	case 11, 12:
		id, token := d.running(false)
		d.do("EMQ.COMPLETE", "3", active, row(id), q, id, token)
	case 13:
		d.putOff(false)
		d.do("EMQ.PROMOTE", "3", schedule, pending, q, d.number(0, 4))
	case 14:
		id, _ := d.held("schedule")
		d.do("EMQ.RESCHEDULE", "2", schedule, row(id), id, word, ms)
	case 15:
		id, token := d.running(false)
		d.do("EMQ.DELAY", "3", row(id), active, schedule, id, token, word, ms)
	case 16, 17:
		id, token := d.running(false)
		d.do("EMQ.FAIL", "5", active, schedule, dead, row(id), q, id, token, d.number(-5, 20), d.number(0, 4), d.pick("boom", ""))
	case 18:
		id := d.died(false)
		d.do("EMQ.REPROCESS", "3", row(id), dead, pending, id)
	case 19:
		id, token := d.running(false)
		d.do("EMQ.REQUEUE", "3", active, pending, row(id), id, token)
	case 20:
		d.lapsed(false)
		d.do("EMQ.STALLED.CHECK", "4", active, pending, dead, q, d.number(0, 3), d.number(0, 4))
	case 21:
		d.do("EMQ.FAILURES.INCR", "1", q+"stream:s:failures:g", d.pick("1-1", "2-1"))
	case 22:
		id := "EVT0KHTOWnGL" + d.number(10, 30)
		if d.chance(6) {
			id = d.pick("EVT0", "JOB0KHTOWnGL10", "EVTzzzzzzzzzzz", "EVT0KHTOWnG-10", "EVT00000000000")
		}
		d.do("EMQ.APPEND", "1", q+"stream:s", id, "kind", d.pick("a", ""))
	}
}

// disturb draws a write of someone who is no client of the queue: orphans, damaged and foreign rows, other types
// under the keys, another fence, a pause.
func (d *emqDrawer) disturb() {
	row := d.q + "job:JOB" + d.number(0, 5)
	switch d.rng.IntN(12) {
	case 0, 1:
		d.do("ZADD", d.q+d.pick("pending", "schedule", "active"), "0", d.pick("JOB", "JOB0", "JOB9", ghostLogs, ""))
	case 2:
		d.do("HSET", row, "group", "g")
	case 3:
		d.do("HDEL", row, d.pick("group", "parent", "attempts", "payload", "lease_epoch", "failures"))
	case 4:
		d.do("HSET", row, "parent", "JOB9", "parent_policy", d.pick("fp", "id"))
		if d.chance(2) {
			d.do("HSET", row, "parent_queue", "other")
		}
	case 5:
		d.do("HSET", row, d.pick("attempts", "failures", "stalled", "lease_epoch"), d.pick("x", "", "01", "7", "-3"))
	case 6:
		d.do("HSET", row, "state", "awaiting_children")
	case 7:
		d.do("HSET", d.q+"metrics:"+d.pick("completed", "failed"), "count", d.pick("x", "41"))
	case 8:
		d.do("SET", d.q+d.pick("pending", "active", "schedule", "dead", "meta", "flow:outbox", "metrics:failed", "job:JOB0", "job:JOB1:logs"), "text")
	case 9:
		d.do("HSET", d.q+"meta", "paused", "1")
	case 10:
		d.do("HDEL", d.q+"meta", "paused")
	case 11:
		d.do("SET", "{emq}:version", "echomq:5.0.0")
		d.verb()
		d.do("SET", "{emq}:version", d.pick("echomq:6.0.0", "echomq:6.0.0", "echomq:6.0.0", ""))
	}
	if d.chance(3) {
		d.do("GETDEL", d.q+d.pick("pending", "active", "schedule", "dead", "meta", "flow:outbox", "job:JOB0"))
	}
}
