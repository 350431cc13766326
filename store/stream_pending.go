package store

// delivery is an entry that a group's consumer got and has not acknowledged.
type delivery struct {
	at    int64 // Unix ms of the last delivery
	count uint64
	owner uint32 // index in the group's consumers
}

// Pending is a delivered entry that waits for its acknowledgement. The entry itself may be gone.
type Pending struct {
	ID       StreamID
	At       int64  // Unix ms of the last delivery
	Count    uint64 // deliveries
	Consumer []byte // the owner's name; it aliases the store
}

// streamGroup is a consumer group.
type streamGroup struct {
	last      StreamID
	read      int64 // entries read, -1 for unknown
	pending   idIndex[delivery]
	names     map[string]uint32 // place of each consumer
	consumers []*streamConsumer
	spare     []uint32 // free places
}

// streamConsumer is one consumer of a group.
type streamConsumer struct {
	name    []byte
	seen    int64             // Unix ms when it last tried something
	active  int64             // Unix ms when it last got something, -1 for never
	pending idIndex[struct{}] // ids of the group's pending entries that it owns
}

const (
	streamGroupBytes    = 256
	streamConsumerBytes = 224
)

// release returns all Go memory of the group.
func (g *streamGroup) release(name string) int64 {
	n := int64(streamGroupBytes+len(name)) + g.pending.bytes
	for _, c := range g.consumers {
		if c != nil {
			n += c.size()
		}
	}
	return n
}

// size returns the Go memory of the consumer.
func (c *streamConsumer) size() int64 {
	return int64(streamConsumerBytes+2*len(c.name)) + c.pending.bytes
}

// find returns the consumer and its place, nil when there is none.
func (g *streamGroup) find(name []byte) (*streamConsumer, uint32) {
	i, ok := g.names[string(name)]
	if !ok {
		return nil, 0
	}
	return g.consumers[i], i
}

// give makes the consumer at place owner the owner of the entry id.
func (g *streamGroup) give(id StreamID, d delivery) {
	c := g.consumers[d.owner]
	if p, ok := g.pending.find(id); ok {
		old := g.pending.at(p)
		if old.owner != d.owner {
			g.consumers[old.owner].forget(id)
			c.pending.put(id, struct{}{})
		}
		*old = d
		return
	}
	g.pending.put(id, d)
	c.pending.put(id, struct{}{})
}

func (c *streamConsumer) forget(id StreamID) {
	if p, ok := c.pending.find(id); ok {
		c.pending.remove(p)
	}
}

// memOf returns the memory that give and forget may change: the group's index and those of two consumers.
func (g *streamGroup) memOf(a, b *streamConsumer) int64 {
	n := g.pending.bytes
	if a != nil {
		n += a.pending.bytes
	}
	if b != nil && b != a {
		n += b.pending.bytes
	}
	return n
}
