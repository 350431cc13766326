package bench

// cycle has each connection work jobs: it puts depth of them (or of flows) into the queue, then claims and settles as
// many until all have been. The jobs that it claims may be another connection's.
type cycle struct {
	g                        *group
	add, fetch, settle, leaf template
	addVerb, takeVerb        int
	settleVerb, leafVerb     int
	children                 int
	queues                   int
	lanes                    int
}

const (
	phaseAdd = iota
	phaseClaim
	phaseSettle
)

func (d *cycle) batch(c *conn, now int64) int {
	for {
		switch c.phase {
		case phaseAdd:
			c.phase = phaseClaim
			n := d.admit(c, now)
			if n == 0 {
				c.phase = phaseAdd
			}
			return n
		case phaseClaim:
			n := min(d.g.depth, len(c.todo))
			if n == 0 {
				c.phase = phaseAdd
				continue
			}
			c.verb, c.phase, c.held = d.takeVerb, phaseSettle, c.held[:0]
			for _, q := range c.todo[:n] {
				d.g.fill.queue = int(q)
				c.out = d.fetch.append(c.out, &d.g.fill)
			}
			return n
		default:
			c.phase = phaseClaim
			if len(c.held) > 0 {
				d.release(c)
				return len(c.held)
			}
		}
	}
}

// admit appends new jobs or flows.
func (d *cycle) admit(c *conn, now int64) int {
	n := d.g.begin(d.g.depth, now)
	c.todo, c.held, c.verb = c.todo[:0], c.held[:0], d.addVerb
	f := &d.g.fill
	for i := range n {
		f.queue = 0
		if d.queues > 1 {
			f.queue = f.random.IntN(d.queues)
		}
		parent := d.g.ledger.mint(d.g.born[i], 0)
		f.ids = append(f.ids[:0], parent)
		for range d.children {
			f.ids = append(f.ids, d.g.ledger.mint(d.g.born[i], parent))
		}
		f.lane = int(parent % int64(max(d.lanes, 1)))
		c.out = d.add.append(c.out, f)
		c.held = append(c.held, item{id: parent, queue: int32(f.queue)})
		for range d.children + 1 {
			c.todo = append(c.todo, int32(f.queue))
		}
	}
	return n
}

// release appends what settles the jobs that are held.
func (d *cycle) release(c *conn) {
	c.verb = d.settleVerb
	f := &d.g.fill
	for i := range c.held {
		h := &c.held[i]
		f.ids, f.parent, f.queue, f.token = append(f.ids[:0], h.id), h.parent, int(h.queue), h.token[:h.tokenLen]
		if h.parent != h.id {
			c.out = d.leaf.append(c.out, f)
		} else {
			c.out = d.settle.append(c.out, f)
		}
	}
}

func (d *cycle) take(c *conn, i int, reply []byte, now int64) {
	switch {
	case c.verb == d.addVerb:
		start := c.sent
		if d.g.rate > 0 {
			start = d.g.ledger.row(c.held[i].id).born
		}
		d.g.record(c, start, now)
		d.admitted(c, i, reply)
	case c.verb == d.takeVerb:
		d.g.record(c, c.sent, now)
		d.claimed(c, reply)
	default:
		h := &c.held[i]
		if h.parent != h.id {
			c.verb = d.leafVerb
		} else {
			c.verb = d.settleVerb
		}
		d.g.record(c, c.sent, now)
		row := d.g.ledger.release(h.id)
		if len(reply) != 4 || reply[0] != ':' || reply[1] != '1' {
			d.g.wrong(c.verb, reply)
			return
		}
		if h.parent == h.id {
			d.g.finish(row.born, now)
		}
	}
}

// admitted judges the reply to an admission. A job that is not in the queue is not waited for.
func (d *cycle) admitted(c *conn, i int, reply []byte) {
	want := byte('1')
	if d.children > 0 {
		want = byte('0' + d.children)
	}
	if len(reply) == 4 && reply[0] == ':' && reply[1] == want {
		return
	}
	d.g.wrong(c.verb, reply)
	d.g.ledger.release(c.held[i].id)
	c.todo = c.todo[:len(c.todo)-d.children-1]
}

// claimed judges the reply to the oldest claim of the batch, whose queue is the first in todo.
func (d *cycle) claimed(c *conn, reply []byte) {
	queue := c.todo[0]
	c.todo = c.todo[:copy(c.todo, c.todo[1:])]
	h, ok := d.g.held(c.verb, reply)
	if ok {
		h.queue = queue
		c.held = append(c.held, h)
	} else if h.id == 0 {
		c.todo = append(c.todo, queue) // there was nothing yet
	}
}

// held reads the reply to a claim. Without a job the id is 0, with a wrong one it is -1.
func (g *group) held(verb int, reply []byte) (h item, ok bool) {
	var parts [4][]byte
	n := elements(reply, parts[:])
	switch {
	case n == 0:
		g.empty++
		return h, false
	case n < 3 || len(parts[2]) > len(h.token):
		g.wrong(verb, reply)
		return item{id: -1}, false
	}
	h.id = readID(parts[0])
	h.parent = h.id
	h.tokenLen = uint8(copy(h.token[:], parts[2]))
	if g.ledger == nil {
		return h, h.id >= 0
	}
	row := g.ledger.claim(h.id)
	if row == nil {
		g.fail(g.verbs[verb].name, "handed out "+string(parts[0])+", which is claimed already or was never enqueued")
		return item{id: -1}, false
	}
	h.parent = row.parent
	return h, true
}

// wrong counts a reply that is not the one for work that was done.
func (g *group) wrong(verb int, reply []byte) {
	text := string(reply[:min(len(reply), 120)])
	for len(text) > 0 && (text[len(text)-1] == '\n' || text[len(text)-1] == '\r') {
		text = text[:len(text)-1]
	}
	g.fail(g.verbs[verb].name, text)
}
