package store

// digest adds the stream to h: entries, ids, counters, groups and pending entries. When a consumer was last seen is no
// part of it.
func (t *streamTable) digest(h digester) {
	id := func(h digester, id StreamID) {
		h.int(int64(id.Ms))
		h.int(int64(id.Seq))
	}
	h.int(int64(t.length))
	t.each(StreamID{}, MaxStreamID, func(e StreamEntry) bool {
		id(h, e.ID)
		h.int(int64(e.Len()))
		e.Each(func(field, value []byte) {
			h.bytes(field)
			h.bytes(value)
		})
		return true
	})
	id(h, t.last)
	id(h, t.maxDel)
	h.int(int64(t.added))
	h.unordered(func(add func(Digest)) {
		for name, g := range t.groups {
			x := newDigester()
			x.bytes([]byte(name))
			g.digest(x, id)
			add(x.sum())
		}
	})
}

func (g *streamGroup) digest(h digester, id func(digester, StreamID)) {
	id(h, g.last)
	h.int(g.read)
	h.unordered(func(add func(Digest)) {
		for name := range g.names {
			x := newDigester()
			x.bytes([]byte(name))
			add(x.sum())
		}
	})
	h.int(int64(g.pending.n))
	p, ok := g.pending.first()
	for ; ok; p, ok = g.pending.next(p) {
		d := g.pending.at(p)
		id(h, g.pending.id(p))
		h.int(d.at)
		h.int(int64(d.count))
		h.bytes(g.consumers[d.owner].name)
	}
}
