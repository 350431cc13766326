package parity

import (
	"fmt"
	"strconv"
	"strings"
)

// flowQueue draws the base of a queue.
func (d *emqDrawer) flowQueue() string { return d.pick("emq:{a}:", "emq:{a}:", "emq:{b}:") }

// field reads a field of a job's row.
func (d *emqDrawer) field(row, field string) string {
	tx := d.n.Store().Begin(0, d.n.Now(), true)
	defer tx.Commit()
	if h, err := tx.Hash([]byte(row)); err == nil {
		if value, ok := h.Get([]byte(field)); ok {
			return string(value)
		}
	}
	return ""
}

// parents draws up to n row keys of the ancestors of the row, mostly the right ones.
func (d *emqDrawer) parents(row string, n int) (keys []string) {
	for range n {
		base, _, _ := strings.Cut(row, "job:")
		if queue := d.field(row, "parent_queue"); queue != "" && !strings.ContainsAny(queue, "{}\x00") {
			base = "emq:{" + queue + "}:"
		}
		id := d.field(row, "parent")
		if id == "" || d.chance(12) {
			id = "JOB" + d.number(0, 5)
		}
		row = base + "job:" + id
		keys = append(keys, row)
	}
	return keys
}

// waiting draws the row key of a job, most likely one that waits for children.
func (d *emqDrawer) waiting() string {
	for range 8 {
		row := d.flowQueue() + "job:JOB" + d.number(0, 5)
		if d.field(row, "state") == "awaiting_children" {
			return row
		}
	}
	return d.q + "job:JOB" + d.number(0, 5)
}

// tree draws a whole tree.
func (d *emqDrawer) tree() {
	ids := d.rng.Perm(6)[:1+d.rng.IntN(5)]
	var keys, args []string
	for i, n := range ids {
		id := fmt.Sprintf("JOB%d", n)
		if d.chance(60) {
			id = fmt.Sprintf("EVT%d", n)
		}
		keys = append(keys, d.flowQueue()+"job:"+id)
		parent, policy := "", ""
		if i > 0 {
			parent, policy = args[4*d.rng.IntN(i)], d.pick("fp", "id", "FP")
		}
		args = append(args, id, d.pick("", "p"), parent, policy)
	}
	d.do(append(append([]string{"EMQ.FLOW.ADD", strconv.Itoa(len(keys))}, keys...), args...)...)
}

// runningChild returns a running job and its token, mostly the child of a job that waits for it.
func (d *emqDrawer) runningChild() (id, token string) {
	if d.chance(4) {
		return d.running(false)
	}
	q, parent, id := d.q, "JOB"+d.number(6, 7), "JOB"+d.number(0, 5)
	d.do("EMQ.FLOW.HOLD", "2", q+"job:"+parent, q, parent, "p", d.number(1, 2))
	d.do("EMQ.FLOW.CHILD", "3", q+"job:"+id, q, q+"job:"+parent, id, "p", d.pick("fp", "id"), "planned")
	for d.length("pending") > 0 && d.field(q+"job:"+id, "state") == "pending" && d.field(q+"meta", "paused") == "" {
		d.do("EMQ.CLAIM", "3", q+"pending", q+"active", q, "50")
		if d.chance(6) { // nor is there an end when the claim is refused
			break
		}
	}
	return id, d.field(q+"job:"+id, "attempts")
}

// flowVerb draws one call of a verb of flows, or a write of someone else to what they are kept in.
func (d *emqDrawer) flowVerb() {
	q := d.q
	pending, active, schedule, dead := q+"pending", q+"active", q+"schedule", q+"dead"
	row := func(id string) string { return q + "job:" + id }
	switch d.rng.IntN(22) {
	case 0, 1, 2:
		d.tree()
	case 3, 4:
		id := d.id()
		call := []string{"EMQ.FLOW.HOLD", "2", row(id), q, id, "p", d.number(1, 3)}
		if d.chance(2) {
			call = append(call, "JOB"+d.number(0, 5), d.pick("fp", "id"))
		}
		d.do(call...)
	case 5, 6:
		id := d.id()
		d.do("EMQ.FLOW.CHILD", "3", row(id), q, d.waiting(), id, "p", d.pick("fp", "id"), d.pick("planned", "extra", "EXTRA"))
	case 7, 8:
		d.do("EMQ.CLAIM", "3", pending, active, q, "50")
	case 9, 10, 11, 12:
		id, token := d.runningChild()
		d.do("EMQ.FLOW.COMPLETE", "4", active, row(id), q, d.parents(row(id), 1)[0], id, token, d.pick("", "done"))
	case 13, 14, 15, 16:
		id, token := d.runningChild()
		up := d.parents(row(id), 1+d.rng.IntN(3))
		call := []string{"EMQ.FLOW.FAIL", strconv.Itoa(5 + len(up)), active, schedule, dead, row(id), q}
		d.do(append(append(call, up...), id, token, d.number(-5, 20), d.number(0, 2), d.pick("boom", ""))...)
	case 17:
		parent := d.waiting()
		base, _, _ := strings.Cut(parent, "job:")
		d.do("EMQ.FLOW.DELIVER", "2", parent, base, "JOB"+d.number(0, 7), "r")
	case 18, 19:
		parent := d.waiting()
		base, _, _ := strings.Cut(parent, "job:")
		d.do("EMQ.FLOW.FAILDELIVER", "2", parent, base, "JOB"+d.number(0, 7), "e", d.pick("fp", "id", "", "x"))
	case 20:
		d.do("LPOP", q+"flow:outbox")
	case 21:
		d.disturbFlows()
	}
}

// disturbFlows draws a write of someone who is no client of the queue.
func (d *emqDrawer) disturbFlows() {
	row := d.waiting()
	switch d.rng.IntN(6) {
	case 0:
		d.do("SET", row+":dependencies", d.pick("x", "", "01", "2", "0", "-3"))
	case 1:
		d.do("SET", row+d.pick(":processed", ":failed", ":unsuccessful"), "text")
	case 2:
		d.do("HSET", row, "parent_queue", d.pick("a", "b", "", "a}b", "a\x00b"))
	case 3:
		d.do("HSET", row, "parent_policy", d.pick("x", "", "id"))
	case 4:
		d.do("HDEL", row, d.pick("parent_policy", "parent_queue", "state"))
	case 5:
		d.do("HSET", row, "dedup", d.pick("k", ""))
		d.do("SET", d.q+"de:k", d.pick("JOB0", "JOB1", "JOB2"))
	}
	if d.chance(2) {
		d.do("DEL", row+d.pick(":dependencies", ":processed", ":failed", ":unsuccessful"))
	}
}

// operatorVerb draws one call of an operator's verb that a reference stands for. EMQ.OBLITERATE and EMQ.EXPLAIN have
// none: they depend on the order of the keyspace, and on what the node remembers.
func (d *emqDrawer) operatorVerb() {
	q := d.q
	pending, active, schedule, dead := q+"pending", q+"active", q+"schedule", q+"dead"
	row := func(id string) string { return q + "job:" + id }
	id, _ := d.held(d.pick("active", "pending", "schedule", "dead", "g:g:pending"))
	name := d.pick("r", "s")
	repeat, record := q+"repeat", q+"repeat:"+name
	switch d.rng.IntN(19) {
	case 0:
		d.do("EMQ.PAUSE", "1", q+"meta")
	case 1, 2:
		if d.chance(3) {
			d.do("EMQ.PAUSE", "1", q+"meta")
		}
		d.do("EMQ.RESUME", "1", q+"meta")
	case 3, 4, 5:
		dedup := d.pick("", "k")
		if d.chance(6) {
			d.do("SET", row(id)+":lock", "held")
		}
		d.do("EMQ.REMOVE", "6", row(id), pending, active, schedule, dead, q+"de:"+dedup, id, dedup)
	case 6:
		if d.chance(2) {
			d.do("EMQ.ENQUEUE", "2", row("JOB0"), pending, "JOB0", "p")
			d.do("EMQ.DRAIN", "2", q, pending)
		} else {
			d.putOff(false)
			d.do("EMQ.DRAIN", "3", q, pending, schedule)
		}
	case 7:
		d.do("EMQ.UPDATE", "1", row(id), d.pick("", "new"))
	case 8:
		d.do("EMQ.PROGRESS", "2", row(id), q+"events", id, d.number(0, 100))
	case 9:
		d.do("EMQ.LOG", "2", row(id), row(id)+":logs", d.number(0, 99), d.number(0, 3))
	case 10:
		d.do("EMQ.COUNTS", "1", q, "pending", "Active", "schedule", "dead", "completed", "failed")
	case 11:
		d.do("EMQ.STATE", "5", row(id), pending, active, schedule, dead, id)
	case 12:
		if d.chance(2) {
			d.do("SET", q+"limiter", d.number(0, 3), "PXAT", strconv.FormatInt(d.n.Now()+1_000_000, 10))
			d.do("HSET", q+"meta", d.pick("max", "concurrency"), d.pick("1", "2", "x"))
		}
		if d.chance(2) {
			d.do("SET", q+"limiter", "3", "PXAT", strconv.FormatInt(d.n.Now()+1_000_000, 10))
			d.do("HSET", q+"meta", "max", "1")
		}
		d.do("EMQ.RATE", "2", q+"limiter", q+"meta", d.number(0, 3))
	case 13:
		if d.chance(2) {
			d.do("HSET", q+"meta", "concurrency", d.number(1, 2))
			d.running(false)
		}
		d.do("EMQ.MAXED", "2", q+"meta", active)
	case 18:
		d.do("EMQ.PUBLISH", "1", q+"events", d.pick("done", "", "a\"b\\c"), id, "a", d.pick("1", "x\ny"))
	case 14, 15:
		d.do("EMQ.REPEAT.REGISTER", "2", repeat, record, name, d.number(1, 3), d.pick("", "t"), d.number(-5, 5))
	case 16:
		if !d.chance(4) {
			d.do("EMQ.REPEAT.REGISTER", "2", repeat, record, name, "2", "t", d.number(-5, 5))
		}
		d.do("EMQ.REPEAT.ADVANCE", "2", repeat, record, name, d.number(-5, 9))
	case 17:
		if !d.chance(4) {
			d.do("EMQ.REPEAT.REGISTER", "2", repeat, record, name, "2", "t", d.number(-5, 5))
		}
		d.do("EMQ.REPEAT.CANCEL", "2", repeat, record, name)
	}
	if d.chance(20) {
		d.do("SET", q+d.pick("repeat", "repeat:r", "limiter", "meta", "job:JOB1:lock", "job:JOB1:logs", "de:k"), "text")
	}
	if d.chance(12) {
		d.do("DEL", q+d.pick("repeat", "repeat:r", "limiter", "meta", "job:JOB1:lock", "job:JOB1:logs", "de:k"))
	}
}
