package store

import (
	"encoding/binary"
	"math"
)

// streamChunk is a run of entries in one arena block, what Valkey keeps in one node. Its block is
//
//	fields (uvarint) | field name item | ... | entry | entry | ...
//
// where the names are those of the chunk's first entry, and an entry is
//
//	flags | ms above the chunk's id (uvarint) | seq (uvarint) | length of the rest (uvarint) | rest
//
// with seq counting from the chunk's when ms is the same. The rest is the values alone when the fields are those of
// the chunk, else the number of fields and then field, value, field, value ... An item is packed as elsewhere.
type streamChunk struct {
	r    ref
	used uint32 // bytes of the block in use
	live uint32 // entries
	dead uint32 // tombstones in the block
	gone uint32 // entries ever deleted, those compacted away included: Valkey counts them as the node's
	node uint32 // bytes that Valkey's node would have, tombstones included
	tail StreamID
}

const (
	entryDeleted = 1 << iota
	entryOwnFields
)

// streamChunkMax is where a chunk is closed whatever the settings allow.
const streamChunkMax = 256 << 10

// StreamEntry is one entry as stored. It aliases the store.
type StreamEntry struct {
	ID StreamID

	names []byte // the chunk's field names, nil when rest has its own
	rest  []byte
	n     int
}

// Len returns the number of fields.
func (e *StreamEntry) Len() int { return e.n }

// Each calls f for every field and its value in the order they were given.
func (e *StreamEntry) Each(f func(field, value []byte)) {
	at, name := 0, 0
	for range e.n {
		var field, value []byte
		if e.names != nil {
			field, name = packedItem(e.names, name)
		} else {
			field, at = packedItem(e.rest, at)
		}
		value, at = packedItem(e.rest, at)
		f(field, value)
	}
}

// chunkHead returns the number of the chunk's fields, their names, and where its entries begin.
func chunkHead(b []byte) (n int, names []byte, at int) {
	n, w := uvarint(b)
	at = w
	for range n {
		_, at = packedItem(b, at)
	}
	return n, b[w:at:at], at
}

// chunkEntry reads the entry at offset at of a chunk whose id is base, and returns its flags, id, where its rest
// begins, and where the next entry does.
func chunkEntry(b []byte, at int, base StreamID) (flags byte, id StreamID, rest, next int) {
	flags = b[at]
	at++
	ms, w := binary.Uvarint(b[at:])
	at += w
	seq, w := binary.Uvarint(b[at:])
	at += w
	n, w := uvarint(b[at:])
	at += w
	if ms == 0 {
		seq += base.Seq
	}
	return flags, StreamID{base.Ms + ms, seq}, at, at + n
}

// entryAt returns the entry whose rest stands in b[rest:next].
func entryAt(b []byte, flags byte, id StreamID, names []byte, fields, rest, next int) StreamEntry {
	e := StreamEntry{ID: id, names: names, rest: b[rest:next:next], n: fields}
	if flags&entryOwnFields != 0 {
		n, w := uvarint(e.rest)
		e.names, e.rest, e.n = nil, e.rest[w:], n
	}
	return e
}

// sameNames reports whether the fields of a new entry, field, value, field, value, are the chunk's.
func sameNames(n int, names []byte, fields [][]byte) bool {
	if n != len(fields)/2 {
		return false
	}
	at := 0
	for i := 0; i < len(fields); i += 2 {
		name, next := packedItem(names, at)
		if string(name) != string(fields[i]) {
			return false
		}
		at = next
	}
	return true
}

// entryForm is a new entry on its way into a chunk.
type entryForm struct {
	fields  [][]byte // field, value, field, value
	same    bool     // the fields are the chunk's
	ms, seq uint64
	rest    int // bytes of the rest
}

// form measures an entry for a chunk whose id is base.
func form(id, base StreamID, fields [][]byte, same bool) entryForm {
	f := entryForm{fields: fields, same: same, ms: id.Ms - base.Ms, seq: id.Seq}
	if f.ms == 0 {
		f.seq -= base.Seq
	}
	if !same {
		f.rest = uvarintLen(len(fields) / 2)
	}
	for i := range fields {
		if !same || i%2 == 1 {
			f.rest += packedSize(len(fields[i]))
		}
	}
	return f
}

func (f *entryForm) size() int {
	return 1 + uvarintLen64(f.ms) + uvarintLen64(f.seq) + uvarintLen(f.rest) + f.rest
}

func (f *entryForm) put(b []byte) {
	b[0] = 0
	if !f.same {
		b[0] = entryOwnFields
	}
	at := 1 + binary.PutUvarint(b[1:], f.ms)
	at += binary.PutUvarint(b[at:], f.seq)
	at += putUvarint(b[at:], f.rest)
	if !f.same {
		at += putUvarint(b[at:], len(f.fields)/2)
	}
	for i := range f.fields {
		if !f.same || i%2 == 1 {
			at += putPacked(b[at:], f.fields[i])
		}
	}
}

// nodeSize returns the bytes that the entry takes in Valkey's node.
func (f *entryForm) nodeSize(id, base StreamID) int {
	n := len(f.fields) / 2
	elements := n + 3
	size := 2 // the flags
	if !f.same {
		elements += n + 1
		size += listpackIntSize(int64(n))
	}
	size += listpackIntSize(int64(id.Ms-base.Ms)) + listpackIntSize(int64(id.Seq-base.Seq)) + listpackIntSize(int64(elements))
	for i := range f.fields {
		if !f.same || i%2 == 1 {
			size += listpackSize(f.fields[i])
		}
	}
	return size
}

// nodeHeadSize returns the bytes that the head of Valkey's node takes, before any entry.
func nodeHeadSize(fields [][]byte) int {
	size := listpackFrame + 2 + 2 + listpackIntSize(int64(len(fields)/2)) + 2
	for i := 0; i < len(fields); i += 2 {
		size += listpackSize(fields[i])
	}
	return size
}

func uvarintLen64(n uint64) int {
	w := 1
	for ; n >= 0x80; n >>= 7 {
		w++
	}
	return w
}

// newChunk makes a chunk of the first entry id.
func (t *streamTable) newChunk(s *Store, id StreamID, fields [][]byte) streamChunk {
	f := form(id, id, fields, true)
	head := uvarintLen(len(fields) / 2)
	for i := 0; i < len(fields); i += 2 {
		head += packedSize(len(fields[i]))
	}
	used := head + f.size()
	r, b := s.a.Alloc(used)
	at := putUvarint(b, len(fields)/2)
	for i := 0; i < len(fields); i += 2 {
		at += putPacked(b[at:], fields[i])
	}
	f.put(b[at:])
	return streamChunk{
		r: r, used: uint32(used), live: 1, tail: id,
		node: uint32(min(nodeHeadSize(fields)+f.nodeSize(id, id), math.MaxUint32)),
	}
}

// room reports whether the chunk takes one more entry of size bytes of fields and values.
func (c *streamChunk) room(s *Store, size int) bool {
	const most = 1 << 30
	limit := s.Limits.StreamNodeBytes
	if limit <= 0 || limit > most {
		limit = most
	}
	entries := s.Limits.StreamNodeEntries
	return int(c.node)+size < limit && (entries <= 0 || int(c.live+c.gone) < entries) && int(c.used)+size < streamChunkMax
}

// add appends an entry to a chunk whose id is base.
func (c *streamChunk) add(s *Store, id, base StreamID, fields [][]byte) {
	b := s.a.Bytes(c.r)
	n, names, _ := chunkHead(b)
	f := form(id, base, fields, sameNames(n, names, fields))
	used := int(c.used) + f.size()
	if used > len(b) {
		r, grown := s.a.Alloc(used + used/8)
		copy(grown, b[:c.used])
		s.a.Free(c.r)
		c.r, b = r, grown
	}
	f.put(b[c.used:])
	c.node += uint32(f.nodeSize(id, base))
	c.used, c.tail = uint32(used), id
	c.live++
}

// fit gives back the slack of a chunk that takes no more entries.
func (c *streamChunk) fit(s *Store) {
	if classed := int(c.used); classed <= maxSlab && s.a.Size(c.r) == int(classSize[classOf(classed)]) {
		return
	}
	c.move(s, s.a.Bytes(c.r)[:c.used])
}

// move puts content, which may alias the block, into a new block.
func (c *streamChunk) move(s *Store, content []byte) {
	r, b := s.a.Alloc(len(content))
	copy(b, content)
	s.a.Free(c.r)
	c.r, c.used = r, uint32(len(content))
}

// tombstone marks the entry at offset at deleted.
func (c *streamChunk) tombstone(s *Store, at int) {
	s.a.Bytes(c.r)[at] |= entryDeleted
	c.live--
	c.dead++
	c.gone++
}

// compact drops the tombstones once they are most of the chunk.
func (c *streamChunk) compact(s *Store, base StreamID) {
	if c.dead < 8 || c.dead <= c.live {
		return
	}
	b := s.a.Bytes(c.r)[:c.used]
	_, _, at := chunkHead(b)
	content := append(s.tx.tmp[:0], b[:at]...)
	for at < len(b) {
		flags, _, _, next := chunkEntry(b, at, base)
		if flags&entryDeleted == 0 {
			content = append(content, b[at:next]...)
		}
		at = next
	}
	s.tx.tmp = content
	c.move(s, content)
	c.dead = 0
}
