package store

import "strconv"

// Next delivers up to count entries, 0 for all, that the group has not read to the consumer, and calls f for each. With
// noAck they do not become pending. It returns how many there were.
func (c *StreamConsumer) Next(count int, noAck bool, f func(StreamEntry)) (n int) {
	g, t := c.g.g, c.g.t
	from, ok := g.last.Next()
	if !ok {
		return 0
	}
	last, read := g.last, g.read
	t.each(from, MaxStreamID, func(e StreamEntry) bool {
		if read >= 0 && !t.tombstones(e.ID) {
			read = max(read, read+1) // it stays at the most
		} else if read, ok = t.readUpTo(e.ID); !ok {
			read = -1
		}
		last = e.ID
		if !noAck {
			c.deliver(e.ID, delivery{at: c.g.x.tx.now, count: 1, owner: c.place}, last)
		}
		f(e)
		n++
		return n != count
	})
	if n > 0 {
		c.g.recordLast(last, read)
		g.last, g.read = last, read
	}
	return n
}

// deliver records and makes one delivery in a group that has read up to last.
func (c *StreamConsumer) deliver(id StreamID, d delivery, last StreamID) {
	g, tx := c.g, c.g.x.tx
	var text, lastText streamIDText
	var at, count [20]byte
	tx.record("XCLAIM", g.x.key, g.name, c.c.name, []byte("0"), id.text(&text),
		[]byte("TIME"), strconv.AppendInt(at[:0], d.at, 10),
		[]byte("RETRYCOUNT"), strconv.AppendUint(count[:0], d.count, 10),
		[]byte("FORCE"), []byte("JUSTID"), []byte("LASTID"), last.text(&lastText))
	var old *streamConsumer
	if p, ok := g.g.pending.find(id); ok {
		old = g.g.consumers[g.g.pending.at(p).owner]
	}
	before := g.g.memOf(c.c, old)
	g.g.give(id, d)
	g.t.grew(before, g.g.memOf(c.c, old))
	c.c.active = tx.now
}

// Claim makes the consumer the owner of the entry id, last delivered at the instant at (Unix ms) for the count-th time.
func (c *StreamConsumer) Claim(id StreamID, at int64, count uint64) {
	c.deliver(id, delivery{at: at, count: count, owner: c.place}, c.g.g.last)
}

// History calls f for up to count, 0 for all, of the consumer's pending entries from the id from on, with the entry
// unless it is gone. Those that are there are thereby delivered once more. It returns how many there were.
func (c *StreamConsumer) History(from StreamID, count int, f func(id StreamID, e StreamEntry, there bool)) (n int) {
	g := c.g
	active := c.c.active
	p, ok := c.c.pending.ceil(from)
	for ok && (count == 0 || n < count) {
		id := c.c.pending.id(p)
		e, there := g.t.get(id)
		if there {
			q, _ := g.g.pending.find(id)
			c.deliver(id, delivery{at: g.x.tx.now, count: g.g.pending.at(q).count + 1, owner: c.place}, g.g.last)
		}
		f(id, e, there)
		n++
		p, ok = c.c.pending.next(p) // a delivery to the owner moves nothing
	}
	c.c.active = active // reading one's own history is not getting something
	return n
}

// Ack acknowledges the entry id and reports whether it was pending.
func (g *StreamGroup) Ack(id StreamID) bool {
	p, ok := g.g.pending.find(id)
	if !ok {
		return false
	}
	var text streamIDText
	tx := g.x.tx
	if n := tx.effects.Len(); tx.effects.joins("XACK", tx.db.id, g.x.key) && string(tx.effects.Arg(n-1, 1)) == string(g.name) {
		tx.extend("XACK", g.x.key, id.text(&text))
	} else {
		tx.record("XACK", g.x.key, g.name, id.text(&text))
	}
	owner := g.g.consumers[g.g.pending.at(p).owner]
	before := g.g.memOf(owner, nil)
	g.g.pending.remove(p)
	owner.forget(id)
	g.t.grew(before, g.g.memOf(owner, nil))
	return true
}

// Delivery returns the pending entry id.
func (g *StreamGroup) Delivery(id StreamID) (Pending, bool) {
	p, ok := g.g.pending.find(id)
	if !ok {
		return Pending{}, false
	}
	return g.g.pendingAt(p), true
}

// NextPending returns the first pending entry whose id is not below from.
func (g *StreamGroup) NextPending(from StreamID) (Pending, bool) {
	p, ok := g.g.pending.ceil(from)
	if !ok {
		return Pending{}, false
	}
	return g.g.pendingAt(p), true
}

// LastPending returns the id of the last pending entry.
func (g *StreamGroup) LastPending() (id StreamID, ok bool) {
	p, ok := g.g.pending.last()
	if !ok {
		return id, false
	}
	return g.g.pending.id(p), true
}

func (g *streamGroup) pendingAt(p idPos) Pending {
	d := g.pending.at(p)
	return Pending{ID: g.pending.id(p), At: d.at, Count: d.count, Consumer: g.consumers[d.owner].name}
}

// EachPending calls f for the pending entries from..to, both included, in order until it returns false. f must not
// change this key.
func (g *StreamGroup) EachPending(from, to StreamID, f func(Pending) bool) {
	p, ok := g.g.pending.ceil(from)
	for ; ok && !to.Less(g.g.pending.id(p)); p, ok = g.g.pending.next(p) {
		if !f(g.g.pendingAt(p)) {
			return
		}
	}
}

// EachPending is the group's for this consumer's entries alone.
func (c *StreamConsumer) EachPending(from, to StreamID, f func(Pending) bool) {
	g := c.g.g
	p, ok := c.c.pending.ceil(from)
	for ; ok && !to.Less(c.c.pending.id(p)); p, ok = c.c.pending.next(p) {
		q, _ := g.pending.find(c.c.pending.id(p))
		if !f(g.pendingAt(q)) {
			return
		}
	}
}
