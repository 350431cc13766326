package bench

import "fmt"

// rounds has all connections together take one step after the other, of which those that are counted are measured: a
// verb that uses up what another one has put there is measured alone in this way. A load of one plain command is a
// single step without end.
type rounds struct {
	g     *group
	steps []step
	size  int // requests of a step
	verbs []int

	at, issued, answered int
	through              int    // counted requests of this round that did their work
	pool, fresh          []item // the jobs of this step, and those that it leaves for the next
}

// step is one kind of request in a round.
type step struct {
	verb    string
	words   []string
	does    effect
	counted bool // measured
	once    bool // only in the first round
	endless bool // until the load ends
	reply   string
	request template
}

// effect is what a step does with the jobs of the round.
type effect uint8

const (
	plain   effect = iota // no job
	mints                 // puts new jobs into the queue
	claims                // claims them
	keeps                 // asks about one that is held, and leaves it as it is
	returns               // gives one back to the queue
	ends                  // takes one out of the queue for good
	leaves                // puts a new job where nothing claims it
)

// start begins a step.
func (d *rounds) start(at int, now int64) {
	d.at, d.issued, d.answered = at, 0, 0
	if at == 0 && d.g.limit > 0 {
		d.size = max(1, min(d.size, int(d.g.limit-d.g.begun)))
	}
	s := &d.steps[at]
	if s.does != mints {
		d.pool = append(d.pool[:0], d.fresh...)
	}
	d.fresh = d.fresh[:0]
	d.g.e.count(d.g, s.counted, now)
}

// prepares reports whether the current step puts in place what the load needs.
func (d *rounds) prepares() bool { return d.steps[d.at].once }

// want is how many requests the step has.
func (d *rounds) want() int {
	s := &d.steps[d.at]
	switch {
	case s.endless:
		return 1 << 62
	case s.once:
		return d.g.fill.keys
	case s.does == plain || s.does == mints || s.does == leaves:
		return d.size
	case s.does == claims && d.g.ledger == nil:
		return d.size
	}
	return len(d.pool)
}

func (d *rounds) batch(c *conn, now int64) int {
	for d.answered >= d.want() {
		if d.at+1 == len(d.steps) && (d.g.e.stopping || d.g.limit > 0 && d.g.begun >= d.g.limit) {
			return 0
		}
		at := (d.at + 1) % len(d.steps)
		for at < d.at && d.steps[at].once {
			at++
		}
		if at <= d.at && d.through == 0 {
			d.g.e.failed = fmt.Errorf("nothing of a whole round of %s got through: %w", d.g.name, d.g.mostFailed())
			return 0
		}
		if at <= d.at {
			d.through = 0
		}
		prepared := d.prepares()
		d.start(at, now)
		if prepared {
			d.g.e.prepared(now)
		}
		d.g.e.wake(d.g)
	}
	s := &d.steps[d.at]
	n := min(d.g.depth, d.want()-d.issued)
	c.verb, c.from = d.verbs[d.at], d.issued
	if s.endless {
		n = d.g.begin(n, now)
	} else if s.counted {
		d.g.begun += int64(n)
	}
	d.issued += n
	f := &d.g.fill
	c.held = c.held[:0]
	for i := range n {
		switch s.does {
		case plain:
			if s.endless && d.g.rate > 0 {
				c.held = append(c.held, item{id: d.g.born[i]})
			}
		case mints, leaves:
			id := d.g.ledger.mint(now, 0)
			f.ids = append(f.ids[:0], id)
			c.held = append(c.held, item{id: id})
		case claims:
		default:
			h := &d.pool[c.from+i]
			f.ids, f.parent, f.token = append(f.ids[:0], h.id), h.parent, h.token[:h.tokenLen]
		}
		c.out = s.request.append(c.out, f)
	}
	return n
}

func (d *rounds) take(c *conn, i int, reply []byte, now int64) {
	s := &d.steps[d.at]
	d.answered++
	start := c.sent
	if s.endless && d.g.rate > 0 {
		start = c.held[i].id
	}
	if s.counted {
		d.g.record(c, start, now)
	}
	if !d.judge(c, i, reply) {
		return
	}
	if s.counted {
		d.through++
		d.g.finish(start, now)
	}
}

// judge reports whether the reply says that the work was done, and moves the job on.
func (d *rounds) judge(c *conn, i int, reply []byte) bool {
	s := &d.steps[d.at]
	switch s.does {
	case claims:
		h, ok := d.g.held(c.verb, reply)
		if ok {
			d.fresh = append(d.fresh, h)
		}
		return ok
	case plain:
		if reply[0] == '-' || s.reply != "" && string(reply) != s.reply {
			d.g.wrong(c.verb, reply)
			return false
		}
		if len(reply) >= 4 && (reply[1] == '-' || reply[0] == '*' && reply[1] == '0') {
			d.g.empty++
			return false
		}
		return true
	}
	ok := string(reply) == s.reply
	if !ok {
		d.g.wrong(c.verb, reply)
	}
	var h item
	if s.does == mints || s.does == leaves {
		h = c.held[i]
	} else {
		h = d.pool[c.from+i]
	}
	switch {
	case d.g.ledger == nil: // another load's
	case !ok || s.does == ends || s.does == leaves:
		d.g.ledger.release(h.id)
	case s.does == returns:
		d.g.ledger.row(h.id).state = rowWaiting
		d.fresh = append(d.fresh, h)
	default:
		d.fresh = append(d.fresh, h)
	}
	return ok
}
