package rdb

import (
	"encoding/binary"
	"slices"
)

func (d *decoder) stream(typ byte) *Stream {
	s := new(Stream)
	nodes, _ := d.elements(2)
	for ; nodes > 0 && d.err == nil; nodes-- {
		d.streamNode(s, d.streamNodeKey())
	}
	length := d.count()
	s.LastID = d.streamID()
	if typ == typeStream1 {
		s.EntriesAdded = length
	} else {
		d.streamID() // the first id, which the entries tell
		s.MaxDeletedID = d.streamID()
		s.EntriesAdded = d.count()
	}
	switch n := len(s.Entries); {
	case d.err != nil:
		return s
	case n == 0 && length > 0:
		d.fail("stream without its entries")
	case n > 0 && s.Entries[n-1].ID.Compare(s.LastID) > 0:
		d.fail("stream entry after the last id")
	}
	groups, _ := d.elements(5)
	for ; groups > 0 && d.err == nil; groups-- {
		d.streamGroup(typ, s)
	}
	if d.err == nil {
		d.dup.begin(len(s.Groups))
		for i := range s.Groups {
			d.unique(s.Groups[i].Name)
		}
	}
	return s
}

// streamID reads an id as two lengths.
func (d *decoder) streamID() StreamID {
	return StreamID{d.count(), d.count()}
}

// rawStreamID decodes the 16 bytes of an id.
func rawStreamID(p []byte) StreamID {
	return StreamID{binary.BigEndian.Uint64(p), binary.BigEndian.Uint64(p[8:])}
}

func (d *decoder) streamNodeKey() StreamID {
	key := d.str()
	if len(key) != 16 {
		d.fail("stream node key is not an id")
		return StreamID{}
	}
	return rawStreamID(key)
}

// streamNode appends the entries of one node. Their ids count from base, and
// most name only values, for the fields that the node begins with.
func (d *decoder) streamNode(s *Stream, base StreamID) {
	blob := d.str()
	if d.err != nil {
		return
	}
	it, want, ok := openListpack(blob)
	if !ok {
		d.fail("broken stream node")
		return
	}
	total := it.number() + it.number() // with deleted ones
	names := d.streamStrings(&it, it.number(), 1)
	if it.number() != 0 || it.broken {
		d.fail("broken stream node")
		return
	}
	seen := 4 + len(names)
	for ; !it.done(); total-- {
		e, dead, elements := d.streamEntry(&it, base, names)
		if it.broken {
			break
		}
		seen += elements
		if dead {
			continue
		}
		if n := len(s.Entries); n > 0 && s.Entries[n-1].ID.Compare(e.ID) >= 0 {
			d.fail("stream entries out of order")
			return
		}
		s.Entries = append(s.Entries, e)
	}
	if it.broken || total != 0 || want >= 0 && want != seen {
		d.fail("broken stream node")
	}
}

// streamStrings reads n elements of a node, leaving room for each before it
// in the result when stride is 2.
func (d *decoder) streamStrings(it *listpackIter, n int64, stride int) [][]byte {
	if n < 0 || n > int64(len(it.p)-it.pos)/2 {
		it.broken = true
		return nil
	}
	out := make([][]byte, int(n)*stride)
	for i := stride - 1; i < len(out) && !it.broken; i += stride {
		s, num := it.next()
		if s == nil && !it.broken {
			s = d.decimal(num)
		}
		out[i] = s
	}
	return out
}

// streamEntry reads one entry and gives the number of elements that it took.
func (d *decoder) streamEntry(it *listpackIter, base StreamID, names [][]byte) (e StreamEntry, dead bool, elements int) {
	flags := it.number()
	e.ID = StreamID{base.Ms + uint64(it.number()), base.Seq + uint64(it.number())}
	if flags&streamSameFields != 0 {
		e.Fields = d.streamStrings(it, int64(len(names)), 2)
		for i := 0; 2*i < len(e.Fields); i++ {
			e.Fields[2*i] = names[i]
		}
		elements = 3 + len(names)
	} else {
		n := it.number()
		if n < 0 || n > int64(len(it.p)) {
			it.broken = true
			return e, false, 0
		}
		e.Fields = d.streamStrings(it, 2*n, 1)
		elements = 4 + len(e.Fields)
	}
	if it.number() != int64(elements) {
		it.broken = true
	}
	return e, flags&streamDeleted != 0, elements + 1
}

// ownedPending is an entry of a group's pending list while its owner is sought.
type ownedPending struct {
	StreamPending
	owned bool
}

func (d *decoder) streamGroup(typ byte, s *Stream) {
	g := StreamGroup{Name: d.str(), LastID: d.streamID()}
	if typ == typeStream1 {
		g.EntriesRead = estimateRead(s, g.LastID)
	} else {
		g.EntriesRead = max(int64(d.count()), -1)
	}
	pending := d.streamPending()
	consumers, _ := d.elements(10)
	for ; consumers > 0 && d.err == nil; consumers-- {
		d.streamConsumer(typ, &g, pending)
	}
	for i := range pending {
		if !pending[i].owned {
			d.fail("pending entry without a consumer")
		}
	}
	if d.err != nil {
		return
	}
	d.dup.begin(len(g.Consumers))
	for i := range g.Consumers {
		d.unique(g.Consumers[i].Name)
	}
	s.Groups = append(s.Groups, g)
}

// estimateRead gives the entries-read of a group at id in a stream from which
// nothing is known to be deleted, or -1 when it cannot be told.
func estimateRead(s *Stream, id StreamID) int64 {
	total := int64(s.EntriesAdded)
	switch c := id.Compare(s.LastID); {
	case total == 0:
		return 0
	case c == 0 || len(s.Entries) == 0 && c < 0:
		return total
	case c > 0:
		return -1
	}
	switch c := id.Compare(s.Entries[0].ID); {
	case c < 0:
		return 0
	case c == 0:
		return 1
	}
	return -1
}

// streamPending reads a group's pending list and gives it in order of ids.
func (d *decoder) streamPending() []ownedPending {
	n, room := d.elements(25)
	list := make([]ownedPending, 0, room)
	sorted := true
	for ; n > 0 && d.err == nil; n-- {
		var p ownedPending
		p.ID = d.fixedStreamID()
		p.DeliveryTime = int64(d.uint64())
		p.DeliveryCount = d.count()
		sorted = sorted && (len(list) == 0 || list[len(list)-1].ID.Compare(p.ID) < 0)
		list = append(list, p)
	}
	if d.err != nil || sorted {
		return list
	}
	slices.SortFunc(list, func(a, b ownedPending) int { return a.ID.Compare(b.ID) })
	for i := 1; i < len(list); i++ {
		if list[i].ID == list[i-1].ID {
			d.fail("pending entry listed twice")
		}
	}
	return list
}

func (d *decoder) fixedStreamID() StreamID {
	p := d.view(16)
	if d.err != nil {
		return StreamID{}
	}
	return rawStreamID(p)
}

func (d *decoder) streamConsumer(typ byte, g *StreamGroup, pending []ownedPending) {
	c := StreamConsumer{Name: d.str(), SeenTime: int64(d.uint64())}
	c.ActiveTime = c.SeenTime
	if typ == typeStream3 {
		c.ActiveTime = int64(d.uint64())
	}
	n, room := d.elements(16)
	if room > 0 {
		c.Pending = make([]StreamPending, 0, min(room, len(pending)))
	}
	for ; n > 0 && d.err == nil; n-- {
		id := d.fixedStreamID()
		at, found := slices.BinarySearchFunc(pending, id, func(p ownedPending, id StreamID) int {
			return p.ID.Compare(id)
		})
		if !found || pending[at].owned {
			d.fail("consumer holds what is not pending, or not its own")
			return
		}
		pending[at].owned = true
		c.Pending = append(c.Pending, pending[at].StreamPending)
	}
	g.Consumers = append(g.Consumers, c)
}
