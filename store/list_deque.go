package store

// listDeque is the large form of a list: a ring of chunks, each an arena block that holds a run of items
// with room at either end. The ring is a plain slice that the collector does not look into, so going to an index
// costs a look at 24 bytes per chunk, and pushes and pops at both ends touch one chunk.
type listDeque struct {
	ring  []listChunk // length a power of two
	head  int         // position of the first chunk in ring
	n     int         // chunks
	count int         // items

	members listMembers // nil until someone asks
}

// listChunk is one block; its items are the run at bytes from..to.
type listChunk struct {
	r        ref
	from, to uint32
	n        uint32
}

const (
	listChunkBytes = 8 << 10            // room of an ordinary chunk
	listAlone      = listChunkBytes / 4 // items from here on that do not fit into the end chunk get a block of their own
)

func newListDeque() *listDeque { return &listDeque{ring: make([]listChunk, 4)} }

func (q *listDeque) mem() int64 { return 88 + 24*int64(len(q.ring)) + q.members.mem() }

func (q *listDeque) len() int { return q.count }

func (q *listDeque) reclaim(s *Store, budget int) bool {
	for ; q.n > 0 && budget > 0; budget-- {
		s.a.Free(q.chunk(q.n - 1).r)
		q.n--
	}
	return q.n == 0
}

// chunk returns chunk i from the left. It is valid until a chunk is added or dropped.
func (q *listDeque) chunk(i int) *listChunk { return &q.ring[(q.head+i)&(len(q.ring)-1)] }

// open makes room for a chunk before chunk i and returns it, holding nothing yet.
func (q *listDeque) open(s *Store, i int) *listChunk {
	if q.n == len(q.ring) {
		before := q.mem()
		ring := make([]listChunk, 2*len(q.ring))
		k := copy(ring, q.ring[q.head:])
		copy(ring[k:], q.ring[:q.head])
		q.ring, q.head = ring, 0
		s.resized(before, q.mem())
	}
	q.n++
	if i < q.n/2 {
		q.head = (q.head - 1) & (len(q.ring) - 1)
		for j := range i {
			*q.chunk(j) = *q.chunk(j + 1)
		}
	} else {
		for j := q.n - 1; j > i; j-- {
			*q.chunk(j) = *q.chunk(j - 1)
		}
	}
	c := q.chunk(i)
	*c = listChunk{}
	return c
}

// drop takes chunk i out and frees its block.
func (q *listDeque) drop(s *Store, i int) {
	s.a.Free(q.chunk(i).r)
	if i < q.n/2 {
		for j := i; j > 0; j-- {
			*q.chunk(j) = *q.chunk(j - 1)
		}
		q.head = (q.head + 1) & (len(q.ring) - 1)
	} else {
		for j := i; j < q.n-1; j++ {
			*q.chunk(j) = *q.chunk(j + 1)
		}
	}
	q.n--
	q.narrow(s)
}

// narrow gives back a ring that is mostly empty.
func (q *listDeque) narrow(s *Store) {
	if len(q.ring) <= 64 || q.n > len(q.ring)/8 {
		return
	}
	before := q.mem()
	ring := make([]listChunk, len(q.ring)/4)
	for i := range q.n {
		ring[i] = *q.chunk(i)
	}
	q.ring, q.head = ring, 0
	s.resized(before, q.mem())
}

// block opens a chunk before chunk i for a first run of size bytes and returns it with its bytes. Its run is empty and
// stands at the right end when left is set, since items will be pushed to its left.
func (q *listDeque) block(s *Store, i, size int, left bool) (*listChunk, []byte) {
	c := q.open(s, i)
	room := listChunkBytes
	if size > listAlone {
		room = size
	}
	r, b := s.a.Alloc(room)
	c.r = r
	if left {
		c.from, c.to = uint32(len(b)), uint32(len(b))
	}
	return c, b
}

// pushLeft adds value before the first item.
func (q *listDeque) pushLeft(s *Store, value []byte) {
	size := runSize(len(value))
	var c *listChunk
	var b []byte
	if q.n > 0 && int(q.chunk(0).from) >= size {
		c = q.chunk(0)
		b = s.a.Bytes(c.r)
	} else {
		c, b = q.block(s, 0, size, true)
	}
	c.from -= uint32(size)
	putRun(b[c.from:], value)
	c.n++
	q.count++
	q.members.count(s, value, 1)
}

// pushRight adds value behind the last item.
func (q *listDeque) pushRight(s *Store, value []byte) {
	size := runSize(len(value))
	var c *listChunk
	var b []byte
	if q.n > 0 {
		c = q.chunk(q.n - 1)
		b = s.a.Bytes(c.r)
	}
	if c == nil || len(b)-int(c.to) < size {
		c, b = q.block(s, q.n, size, false)
	}
	putRun(b[c.to:], value)
	c.to += uint32(size)
	c.n++
	q.count++
	q.members.count(s, value, 1)
}

// popLeft takes the first item out; its bytes stay readable until the next change of this list.
func (q *listDeque) popLeft(s *Store) []byte {
	c := q.chunk(0)
	item, next := runItem(s.a.Bytes(c.r), int(c.from))
	c.from = uint32(next)
	q.members.count(s, item, -1)
	q.lost(s, 0)
	return item
}

// popRight takes the last item out; its bytes stay readable until the next change of this list.
func (q *listDeque) popRight(s *Store) []byte {
	c := q.chunk(q.n - 1)
	item, start := runItemBack(s.a.Bytes(c.r), int(c.to))
	c.to = uint32(start)
	q.members.count(s, item, -1)
	q.lost(s, q.n-1)
	return item
}

// lost accounts for an item taken out of chunk i.
func (q *listDeque) lost(s *Store, i int) {
	q.count--
	c := q.chunk(i)
	if c.n--; c.n == 0 {
		q.drop(s, i)
	}
}

// find returns the chunk of item i, 0 <= i < count, and i's place in it.
func (q *listDeque) find(i int) (chunk, place int) {
	if i < q.count/2 {
		for j := 0; ; j++ {
			n := int(q.chunk(j).n)
			if i < n {
				return j, i
			}
			i -= n
		}
	}
	i = q.count - 1 - i
	for j := q.n - 1; ; j-- {
		n := int(q.chunk(j).n)
		if i < n {
			return j, n - 1 - i
		}
		i -= n
	}
}

// span returns the bytes of chunk j and where its item at place begins and ends.
func (q *listDeque) span(s *Store, j, place int) (b []byte, start, end int) {
	c := q.chunk(j)
	b = s.a.Bytes(c.r)
	start, end = runAt(b, int(c.from), int(c.to), int(c.n), place)
	return b, start, end
}

// trim keeps the items from..to-1, 0 <= from < to <= count.
func (q *listDeque) trim(s *Store, from, to int) {
	q.forget(s)
	for right := q.count - to; right > 0; {
		n := int(q.chunk(q.n - 1).n)
		if n > right {
			_, _, end := q.span(s, q.n-1, n-right-1)
			c := q.chunk(q.n - 1)
			c.to, c.n = uint32(end), uint32(n-right)
			break
		}
		q.drop(s, q.n-1)
		right -= n
	}
	for left := from; left > 0; {
		n := int(q.chunk(0).n)
		if n > left {
			_, start, _ := q.span(s, 0, left)
			c := q.chunk(0)
			c.from, c.n = uint32(start), uint32(n-left)
			break
		}
		q.drop(s, 0)
		left -= n
	}
	q.count = to - from
}
