package parity

import "strings"

// group draws one of a few groups.
func (d *emqDrawer) group() string { return d.pick("g", "g", "h", "pending", "x:y") }

// laneVerb draws one call of a verb that knows lanes, or a write of someone else to their keys.
func (d *emqDrawer) laneVerb() {
	q := d.q
	pending, active, schedule, dead := q+"pending", q+"active", q+"schedule", q+"dead"
	ring, paused := q+"ring", q+"paused"
	row := func(id string) string { return q + "job:" + id }
	lane := func(group string) string { return q + "g:" + group + ":pending" }
	word, ms := d.due()
	lease, group := d.number(1, 50), d.group()
	switch d.rng.IntN(40) {
	case 0, 1, 2, 3, 4:
		id := d.id()
		d.do("EMQ.GROUP.ENQUEUE", "3", row(id), lane(group), q, id, d.pick("", "p"), group)
	case 5, 6, 7, 8:
		d.do("EMQ.GROUP.CLAIM", "3", ring, active, q, lease)
	case 9, 10:
		d.servable()
		d.do("EMQ.GROUP.WCLAIM", "3", ring, active, q, lease)
	case 11, 12:
		d.servable()
		d.do("EMQ.GROUP.CLAIMS", "3", ring, active, q, lease)
	case 13, 14, 15:
		id, token := d.running(true)
		d.do("EMQ.GROUP.COMPLETE", "3", active, row(id), q, id, token)
	case 16, 17, 18:
		id, token := d.running(true)
		d.do("EMQ.GROUP.FAIL", "5", active, schedule, dead, row(id), q, id, token, d.number(-5, 20), d.number(0, 4), d.pick("boom", ""))
	case 19, 20, 21:
		id, token := d.running(true)
		d.do("EMQ.GROUP.DELAY", "4", row(id), active, schedule, q, id, token, word, ms)
	case 22, 23, 24:
		id, token := d.running(true)
		d.do("EMQ.GROUP.REQUEUE", "4", active, pending, row(id), q, id, token)
	case 25, 26:
		id := d.died(true)
		d.do("EMQ.GROUP.REPROCESS", "4", row(id), dead, pending, q, id)
	case 27, 28:
		d.putOff(true)
		d.do("EMQ.GROUP.PROMOTE", "3", schedule, pending, q, d.number(0, 4))
	case 29, 30:
		if held := d.lapsed(true); held != "" {
			group = held
		}
		d.do("EMQ.GROUP.REAP", "2", active, q, group, d.number(0, 3))
	case 31:
		d.lapsed(false)
		d.do("EMQ.REAP", "3", active, pending, q, d.number(0, 3))
	case 32:
		d.lapsed(true)
		d.do("EMQ.GROUP.STALLED.CHECK", "4", active, pending, dead, q, d.number(0, 3), d.number(0, 4))
	case 33:
		d.do("EMQ.GROUP."+d.pick("PAUSE", "RESUME"), "3", paused, ring, q, group)
		if d.chance(2) {
			d.do("EMQ.GROUP.PAUSE", "3", paused, ring, q, group)
			d.do("EMQ.GROUP.ENQUEUE", "3", row("JOB5"), lane(group), q, "JOB5", "p", group)
		}
		d.do("EMQ.GROUP.RESUME", "3", paused, ring, q, group)
	case 34:
		d.do("EMQ.GROUP.LIMIT", "1", q, group, d.number(1, 4))
		d.do("EMQ.GROUP.WEIGHT", "1", q, d.group(), d.number(1, 4))
	case 35:
		from := d.group()
		id, _ := d.held("g:" + from + ":pending")
		if !d.chance(4) {
			d.do("EMQ.GROUP.ENQUEUE", "3", row(id), lane(from), q, id, "p", from)
		}
		d.do("EMQ.GROUP.REASSIGN", "3", row(id), lane(group), q, id, group)
	case 36, 37:
		if !d.chance(4) {
			id := "JOB" + d.number(0, 5)
			d.do("EMQ.GROUP.ENQUEUE", "3", row(id), lane(group), q, id, "p", group)
		}
		d.do("EMQ.GROUP.DEPTHS", "1", q, group, d.group())
		if d.chance(2) || d.length("g:"+group+":pending") > 2 {
			d.do("EMQ.GROUP.DRAIN", "3", lane(group), ring, q, group)
		}
	case 38:
		if !d.chance(3) {
			id := "JOB" + d.number(0, 5)
			d.do("EMQ.ENQUEUE", "2", row(id), pending, id, "p")
		}
		d.do("EMQ.CLAIMS", "3", pending, active, q, lease, d.number(0, 4))
	case 39:
		d.disturbLanes(group)
	}
}

// servable mostly adds a job to a lane, so that a claim finds one.
func (d *emqDrawer) servable() {
	if !d.chance(4) {
		id, group := "JOB"+d.number(0, 5), d.group()
		d.do("EMQ.GROUP.ENQUEUE", "3", d.q+"job:"+id, d.q+"g:"+group+":pending", d.q, id, "p", group)
	}
}

// lapsed mostly has a running job, and lets its lease lapse. It returns the group that its row names, if a lane can have that.
func (d *emqDrawer) lapsed(inLane bool) (group string) {
	if d.chance(4) {
		return ""
	}
	id, _ := d.running(inLane)
	d.do(stepClock, "60")
	if group = d.field(d.q+"job:"+id, "group"); strings.Contains(group, "\x00") {
		group = ""
	}
	return group
}

// putOff mostly has a scheduled job that is due.
func (d *emqDrawer) putOff(inLane bool) {
	q := d.q
	if d.chance(4) {
		return
	}
	if !inLane {
		id := "JOB" + d.number(0, 5)
		d.do("EMQ.SCHEDULE", "2", q+"job:"+id, q+"schedule", id, "p", "in", d.number(-5, 2))
		return
	}
	id, token := d.running(true)
	d.do("EMQ.GROUP.DELAY", "4", q+"job:"+id, q+"active", q+"schedule", q, id, token, "in", d.number(-5, 2))
}

// disturbLanes draws a write of someone who is no client of the queue to what lanes are kept in.
func (d *emqDrawer) disturbLanes(group string) {
	q := d.q
	id := d.pick("JOB", "JOB0", "JOB1", "JOB9", ghostLogs, "")
	switch d.rng.IntN(9) {
	case 0, 1:
		d.do("ZADD", q+"g:"+group+":pending", "0", id)
	case 2:
		d.do(d.pick("RPUSH", "LPUSH"), q+"ring", d.pick(group, "gone", "", "a\x00b"))
	case 3:
		d.do("LREM", q+"ring", "0", group)
	case 4:
		d.do("HSET", q+d.pick("glimit", "gactive", "gweight"), group, d.pick("x", "", "01", "2", "0", "-3"))
	case 5:
		d.do("HDEL", q+d.pick("glimit", "gactive", "gweight"), group)
	case 6:
		d.do("HSET", q+"job:JOB"+d.number(0, 5), "group", d.pick("g", "h", "", "a\x00b"))
	case 7:
		d.do("SET", q+d.pick("ring", "wake", "paused", "glimit", "gactive", "gweight", "g:"+group+":pending"), "text")
	case 8:
		d.do("HDEL", q+"job:JOB"+d.number(0, 5), "group")
	}
	if d.chance(2) {
		d.do("GETDEL", q+d.pick("ring", "wake", "paused", "glimit", "gactive", "gweight", "g:"+group+":pending"))
	}
}
