package store

import (
	"slices"
	"strings"

	"github.com/echomq/emqd/store/rdb"
)

// readStream returns the stream as plain data, which aliases the store.
func (tx *Tx) readStream(t *streamTable) rdb.Value {
	s := &rdb.Stream{
		Entries: make([]rdb.StreamEntry, 0, t.length),
		LastID:  rdb.StreamID(t.last), MaxDeletedID: rdb.StreamID(t.maxDel), EntriesAdded: t.added,
	}
	t.each(StreamID{}, MaxStreamID, func(e StreamEntry) bool {
		fields := make([][]byte, 0, 2*e.Len())
		e.Each(func(field, value []byte) { fields = append(fields, field, value) })
		s.Entries = append(s.Entries, rdb.StreamEntry{ID: rdb.StreamID(e.ID), Fields: fields})
		return true
	})
	for name, g := range t.groups {
		s.Groups = append(s.Groups, g.plain(name))
	}
	slices.SortFunc(s.Groups, func(a, b rdb.StreamGroup) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return rdb.Value{Kind: rdb.KindStream, Stream: s}
}

// plain returns the group as plain data.
func (g *streamGroup) plain(name string) rdb.StreamGroup {
	out := rdb.StreamGroup{Name: []byte(name), LastID: rdb.StreamID(g.last), EntriesRead: g.read}
	for _, c := range g.consumers {
		if c == nil {
			continue
		}
		x := rdb.StreamConsumer{
			Name: c.name, SeenTime: c.seen, ActiveTime: c.active, Pending: make([]rdb.StreamPending, 0, c.pending.n),
		}
		p, ok := c.pending.first()
		for ; ok; p, ok = c.pending.next(p) {
			q, _ := g.pending.find(c.pending.id(p))
			d := g.pending.at(q)
			x.Pending = append(x.Pending, rdb.StreamPending{
				ID: rdb.StreamID(c.pending.id(p)), DeliveryTime: d.at, DeliveryCount: d.count,
			})
		}
		out.Consumers = append(out.Consumers, x)
	}
	slices.SortFunc(out.Consumers, func(a, b rdb.StreamConsumer) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return out
}

// buildStream makes key, which is absent, a copy of the stream. It records nothing.
func (tx *Tx) buildStream(key []byte, s *rdb.Stream) {
	x := Stream{tx: tx, key: key, gen: tx.gen}
	t := x.make()
	for i := range s.Entries {
		t.append(StreamID(s.Entries[i].ID), s.Entries[i].Fields)
	}
	t.last, t.maxDel, t.added = StreamID(s.LastID), StreamID(s.MaxDeletedID), s.EntriesAdded
	for i := range s.Groups {
		from := &s.Groups[i]
		g := t.addGroup(string(from.Name), StreamID(from.LastID), from.EntriesRead)
		for j := range from.Consumers {
			t.buildConsumer(g, &from.Consumers[j])
		}
	}
}

func (t *streamTable) buildConsumer(g *streamGroup, from *rdb.StreamConsumer) {
	c, place := t.addConsumer(g, from.Name, from.SeenTime)
	c.active = from.ActiveTime
	before := g.memOf(c, nil)
	for _, p := range from.Pending {
		g.give(StreamID(p.ID), delivery{at: p.DeliveryTime, count: p.DeliveryCount, owner: place})
	}
	t.grew(before, g.memOf(c, nil))
}
