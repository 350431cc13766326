package store

import (
	"bytes"
	"slices"
	"strings"
)

// StreamGroup is a handle on a consumer group of a stream. It is used within its transaction only, and as long as the
// group is there.
type StreamGroup struct {
	x    *Stream
	name []byte
	t    *streamTable
	g    *streamGroup
}

// Group opens a group and reports whether it is there. The handle keeps x and name.
func (x *Stream) Group(name []byte) (StreamGroup, bool) {
	t := x.table()
	if t == nil {
		return StreamGroup{}, false
	}
	g, ok := t.groups[string(name)]
	return StreamGroup{x: x, name: name, t: t, g: g}, ok
}

// GroupNames returns the names of the groups in byte order.
func (x *Stream) GroupNames() []string {
	t := x.table()
	if t == nil {
		return nil
	}
	names := make([]string, 0, len(t.groups))
	for name := range t.groups {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Groups returns the number of groups.
func (x *Stream) Groups() int {
	if t := x.table(); t != nil {
		return len(t.groups)
	}
	return 0
}

// CreateGroup adds a group, which must not be there, that has read up to last, read entries so far, -1 for unknown. A
// key that is absent becomes an empty stream.
func (x *Stream) CreateGroup(name []byte, last StreamID, read int64) {
	var text streamIDText
	there := x.Exists()
	x.tx.recordSub("XGROUP", "CREATE", x.key, name, last.text(&text), []byte("MKSTREAM"),
		[]byte("ENTRIESREAD"), x.tx.itoa(read))
	if !there {
		x.tx.effects.reaches(reachSub, subMakes, 0)
	}
	x.make().addGroup(string(name), last, read)
}

func (t *streamTable) addGroup(name string, last StreamID, read int64) *streamGroup {
	if t.groups == nil {
		t.groups = map[string]*streamGroup{}
	}
	g := &streamGroup{last: last, read: read, names: map[string]uint32{}}
	t.groups[name] = g
	t.grew(0, g.release(name))
	return g
}

// DestroyGroup removes a group and reports whether it was there.
func (x *Stream) DestroyGroup(name []byte) bool {
	g, ok := x.Group(name)
	if !ok {
		return false
	}
	x.tx.recordSub("XGROUP", "DESTROY", x.key, name)
	g.t.grew(g.g.release(string(name)), 0)
	delete(g.t.groups, string(name))
	return true
}

// Last returns the id up to which the group has read.
func (g *StreamGroup) Last() StreamID { return g.g.last }

// Read returns how many entries the group has read, -1 when that is unknown.
func (g *StreamGroup) Read() int64 { return g.g.read }

// Pending returns the number of entries delivered and not acknowledged.
func (g *StreamGroup) Pending() int { return g.g.pending.n }

// Lag returns how many entries the group has yet to read, and false when that cannot be told.
func (g *StreamGroup) Lag() (n int64, ok bool) {
	t := g.t
	switch {
	case t.added == 0:
		return 0, true
	case g.g.read >= 0 && !t.tombstones(g.g.last):
		return int64(t.added) - g.g.read, true
	}
	read, ok := t.readUpTo(g.g.last)
	return int64(t.added) - read, ok
}

// SetLast sets how far the group has read, and how many entries that were, -1 for unknown.
func (g *StreamGroup) SetLast(last StreamID, read int64) {
	g.recordLast(last, read)
	g.g.last, g.g.read = last, read
}

func (g *StreamGroup) recordLast(last StreamID, read int64) {
	var text streamIDText
	tx := g.x.tx
	tx.recordSub("XGROUP", "SETID", g.x.key, g.name, last.text(&text), []byte("ENTRIESREAD"), tx.itoa(read))
}

// Consumers returns the number of consumers.
func (g *StreamGroup) Consumers() int { return len(g.g.names) }

// ConsumerNames returns the names of the consumers in byte order.
func (g *StreamGroup) ConsumerNames() []string {
	names := make([]string, 0, len(g.g.names))
	for name := range g.g.names {
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	return names
}

// StreamConsumer is a handle on a consumer of a group, used as the group's handle is.
type StreamConsumer struct {
	g     *StreamGroup
	c     *streamConsumer
	place uint32
}

// Consumer opens a consumer and reports whether it is there. The handle keeps g.
func (g *StreamGroup) Consumer(name []byte) (StreamConsumer, bool) {
	c, place := g.g.find(name)
	return StreamConsumer{g: g, c: c, place: place}, c != nil
}

// CreateConsumer opens a consumer, which is made when it is not there.
func (g *StreamGroup) CreateConsumer(name []byte) (c StreamConsumer, created bool) {
	if c, ok := g.Consumer(name); ok {
		return c, false
	}
	g.x.tx.recordSub("XGROUP", "CREATECONSUMER", g.x.key, g.name, name)
	added, place := g.t.addConsumer(g.g, name, g.x.tx.now)
	return StreamConsumer{g: g, c: added, place: place}, true
}

func (t *streamTable) addConsumer(g *streamGroup, name []byte, now int64) (*streamConsumer, uint32) {
	c := &streamConsumer{name: bytes.Clone(name), seen: now, active: -1}
	if c.name == nil {
		c.name = []byte{}
	}
	place := uint32(len(g.consumers))
	if n := len(g.spare); n > 0 {
		place, g.spare = g.spare[n-1], g.spare[:n-1]
		g.consumers[place] = c
	} else {
		g.consumers = append(g.consumers, c)
	}
	g.names[string(name)] = place
	t.grew(0, c.size())
	return c, place
}

// DeleteConsumer removes a consumer with its pending entries, and returns how many these were.
func (g *StreamGroup) DeleteConsumer(name []byte) (pending int, ok bool) {
	c, place := g.g.find(name)
	if c == nil {
		return 0, false
	}
	g.x.tx.recordSub("XGROUP", "DELCONSUMER", g.x.key, g.name, name)
	before := g.g.pending.bytes + c.size()
	pending = c.pending.n
	p, more := c.pending.first()
	for ; more; p, more = c.pending.next(p) {
		if q, ok := g.g.pending.find(c.pending.id(p)); ok {
			g.g.pending.remove(q)
		}
	}
	delete(g.g.names, string(name))
	g.g.consumers[place] = nil
	g.g.spare = append(g.g.spare, place)
	g.t.grew(before, g.g.pending.bytes)
	return pending, true
}

// Pending returns the number of the consumer's pending entries.
func (c *StreamConsumer) Pending() int { return c.c.pending.n }

// Seen returns when the consumer last tried something, in Unix ms.
func (c *StreamConsumer) Seen() int64 { return c.c.seen }

// Active returns when the consumer last got something, in Unix ms, -1 for never.
func (c *StreamConsumer) Active() int64 { return c.c.active }

// See notes that the consumer tries something now. The times of consumers are for those who watch, and leave no effect.
func (c *StreamConsumer) See() { c.c.seen = c.g.x.tx.now }
