package store

// streamTable is a stream: its entries in chunks, in the order of their ids, and its consumer groups. A stream may
// be empty; its key stays.
type streamTable struct {
	s      *Store
	chunks idIndex[streamChunk] // by the id of each chunk's first entry, deleted or not
	length int
	first  StreamID // id of the first entry, 0-0 when there is none
	last   StreamID // the highest id ever added
	maxDel StreamID // the highest id ever deleted
	added  uint64   // entries ever added
	groups map[string]*streamGroup
	pages  int64 // Go memory of indexes and groups, as the store has been told
}

const streamTableBytes = 288

func (t *streamTable) mem() int64 { return streamTableBytes + t.pages }

// len counts what reclaim has to free.
func (t *streamTable) len() int { return t.chunks.n }

func (t *streamTable) reclaim(s *Store, budget int) bool {
	for ; budget > 0; budget-- {
		p, ok := t.chunks.last()
		if !ok {
			return true
		}
		s.a.Free(t.chunks.at(p).r)
		t.chunks.remove(p)
	}
	return t.chunks.n == 0
}

// grew tells the accounting that Go memory was before and is now after bytes.
func (t *streamTable) grew(before, after int64) {
	t.pages += after - before
	t.s.resized(before, after)
}

// append adds an entry above all others.
func (t *streamTable) append(id StreamID, fields [][]byte) {
	size := 0
	for i := range fields {
		size += len(fields[i])
	}
	p, ok := t.chunks.last()
	if ok && t.chunks.at(p).room(t.s, size) {
		t.chunks.at(p).add(t.s, id, t.chunks.id(p), fields)
	} else {
		if ok {
			t.chunks.at(p).fit(t.s)
		}
		before := t.chunks.bytes
		t.chunks.put(id, t.newChunk(t.s, id, fields))
		t.grew(before, t.chunks.bytes)
	}
	if t.length == 0 {
		t.first = id
	}
	t.length++
	t.added++
	t.last = id
}

// dropChunk takes out a chunk without entries.
func (t *streamTable) dropChunk(p idPos) {
	t.s.a.Free(t.chunks.at(p).r)
	before := t.chunks.bytes
	t.chunks.remove(p)
	t.grew(before, t.chunks.bytes)
}

// cut removes the first n entries.
func (t *streamTable) cut(n int) {
	for n > 0 {
		p, _ := t.chunks.first()
		c, base := t.chunks.at(p), t.chunks.id(p)
		if int(c.live) <= n {
			n -= int(c.live)
			t.length -= int(c.live)
			t.dropChunk(p)
			continue
		}
		b := t.s.a.Bytes(c.r)[:c.used]
		_, _, at := chunkHead(b)
		for n > 0 {
			flags, _, _, next := chunkEntry(b, at, base)
			if flags&entryDeleted == 0 {
				c.tombstone(t.s, at)
				t.length--
				n--
			}
			at = next
		}
		c.compact(t.s, base)
	}
	t.settleFirst()
}

// remove deletes the entry id and reports whether it was there.
func (t *streamTable) remove(id StreamID) {
	p, _ := t.chunks.floor(id)
	c, base := t.chunks.at(p), t.chunks.id(p)
	at, _ := t.seek(c, base, id)
	c.tombstone(t.s, at)
	t.length--
	if c.live == 0 {
		t.dropChunk(p)
	} else {
		c.compact(t.s, base)
	}
	if t.maxDel.Less(id) {
		t.maxDel = id
	}
	if id == t.first {
		t.settleFirst()
	}
}

// settleFirst finds the first entry again.
func (t *streamTable) settleFirst() {
	t.first = StreamID{}
	t.each(StreamID{}, MaxStreamID, func(e StreamEntry) bool {
		t.first = e.ID
		return false
	})
}

// seek returns the offset of the entry id in a chunk.
func (t *streamTable) seek(c *streamChunk, base, id StreamID) (at int, ok bool) {
	b := t.s.a.Bytes(c.r)[:c.used]
	_, _, at = chunkHead(b)
	for at < len(b) {
		flags, x, _, next := chunkEntry(b, at, base)
		if x == id {
			return at, flags&entryDeleted == 0
		}
		if id.Less(x) {
			break
		}
		at = next
	}
	return 0, false
}

// get returns the entry id.
func (t *streamTable) get(id StreamID) (e StreamEntry, ok bool) {
	p, ok := t.chunks.floor(id)
	if !ok {
		return e, false
	}
	c, base := t.chunks.at(p), t.chunks.id(p)
	if c.tail.Less(id) {
		return e, false
	}
	at, ok := t.seek(c, base, id)
	if !ok {
		return e, false
	}
	b := t.s.a.Bytes(c.r)
	n, names, _ := chunkHead(b)
	flags, _, rest, next := chunkEntry(b, at, base)
	return entryAt(b, flags, id, names, n, rest, next), true
}

// each calls f for the entries from..to, both included, in order until it returns false.
func (t *streamTable) each(from, to StreamID, f func(StreamEntry) bool) {
	p, ok := t.chunks.floor(from)
	if !ok {
		p, ok = t.chunks.first()
	}
	for ; ok; p, ok = t.chunks.next(p) {
		c, base := t.chunks.at(p), t.chunks.id(p)
		if to.Less(base) {
			return
		}
		if c.tail.Less(from) {
			continue
		}
		b := t.s.a.Bytes(c.r)[:c.used]
		n, names, at := chunkHead(b)
		for at < len(b) {
			flags, id, rest, next := chunkEntry(b, at, base)
			at = next
			if flags&entryDeleted != 0 || id.Less(from) {
				continue
			}
			if to.Less(id) {
				return
			}
			e := entryAt(b, flags, id, names, n, rest, next)
			if !f(e) {
				return
			}
		}
	}
}

// eachBack is each from the last entry to the first.
func (t *streamTable) eachBack(from, to StreamID, f func(StreamEntry) bool) {
	var room [128]uint32
	places := room[:0] // of the chunk's entries
	p, ok := t.chunks.floor(to)
	for ; ok; p, ok = t.chunks.prev(p) {
		c, base := t.chunks.at(p), t.chunks.id(p)
		if c.tail.Less(from) {
			return
		}
		b := t.s.a.Bytes(c.r)[:c.used]
		n, names, at := chunkHead(b)
		places = places[:0]
		for at < len(b) {
			flags, id, _, next := chunkEntry(b, at, base)
			if to.Less(id) {
				break
			}
			if flags&entryDeleted == 0 && !id.Less(from) {
				places = append(places, uint32(at))
			}
			at = next
		}
		for i := len(places) - 1; i >= 0; i-- {
			flags, id, rest, next := chunkEntry(b, int(places[i]), base)
			e := entryAt(b, flags, id, names, n, rest, next)
			if !f(e) {
				return
			}
		}
	}
}

// top returns the id of the last entry, 0-0 when there is none.
func (t *streamTable) top() (id StreamID) {
	if p, ok := t.chunks.last(); ok && t.chunks.at(p).gone == 0 {
		return t.chunks.at(p).tail
	}
	t.eachBack(StreamID{}, MaxStreamID, func(e StreamEntry) bool {
		id = e.ID
		return false
	})
	return id
}

// tombstones reports whether an entry at or behind from was deleted, as far as is known.
func (t *streamTable) tombstones(from StreamID) bool {
	return t.length > 0 && !t.maxDel.IsZero() && !t.maxDel.Less(t.first) && !t.maxDel.Less(from)
}

// readUpTo returns how many entries were ever added up to id, and false when that cannot be told.
func (t *streamTable) readUpTo(id StreamID) (n int64, ok bool) {
	switch {
	case t.added == 0:
		return 0, true
	case t.length == 0 && !t.last.Less(id), id == t.last:
		return int64(t.added), true
	case t.last.Less(id):
		return 0, false
	case !t.maxDel.IsZero() && !t.maxDel.Less(t.first):
		return 0, false
	case id.Less(t.first):
		return int64(t.added) - int64(t.length), true
	case id == t.first:
		return int64(t.added) - int64(t.length) + 1, true
	}
	return 0, false
}
