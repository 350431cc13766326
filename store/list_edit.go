package store

// set replaces item i, 0 <= i < count.
func (q *listDeque) set(s *Store, i int, value []byte) {
	q.forget(s)
	j, place := q.find(i)
	b, start, end := q.span(s, j, place)
	size := runSize(len(value))
	if size == end-start {
		putRun(b[start:], value)
		return
	}
	if at, ok := q.shift(s, j, start, end, size); ok {
		putRun(b[at:], value)
		return
	}
	q.count--
	q.split(s, j, place, 1, start, end)
	q.between(s, j, place > 0, value)
}

// insert puts value before item i, 0 < i < count.
func (q *listDeque) insert(s *Store, i int, value []byte) {
	q.forget(s)
	j, place := q.find(i)
	b, start, _ := q.span(s, j, place)
	if at, ok := q.shift(s, j, start, start, runSize(len(value))); ok {
		putRun(b[at:], value)
		q.chunk(j).n++
		q.count++
		return
	}
	q.split(s, j, place, 0, start, start)
	q.between(s, j, place > 0, value)
}

// shift makes the bytes start..end of chunk j size bytes long by moving what stands on either side. It returns
// where they are now, or false when the block has no room.
func (q *listDeque) shift(s *Store, j, start, end, size int) (at int, ok bool) {
	c := q.chunk(j)
	b := s.a.Bytes(c.r)
	from, to := int(c.from), int(c.to)
	grow := size - (end - start)
	switch {
	case to+grow <= len(b) && (to-end <= start-from || from < grow):
		copy(b[end+grow:], b[end:to])
		c.to = uint32(to + grow)
		return start, true
	case from >= grow:
		copy(b[from-grow:], b[from:start])
		c.from = uint32(from - grow)
		return start - grow, true
	case to-from+grow <= len(b):
		copy(b, b[from:start])
		at = start - from
		copy(b[at+size:], b[end:to])
		c.from, c.to = 0, uint32(to-from+grow)
		return at, true
	}
	return 0, false
}

// split cuts chunk j in two: the first place items, up to offset start, stay; those from offset end on go into
// a chunk of their own behind it; gone items between them vanish. A side without items has no chunk.
func (q *listDeque) split(s *Store, j, place, gone, start, end int) {
	c := q.chunk(j)
	rest := int(c.n) - place - gone
	from, to := end, int(c.to)
	old := s.a.Bytes(c.r)
	c.to, c.n = uint32(start), uint32(place)
	if rest > 0 {
		right, b := q.block(s, j+1, to-from, true)
		right.from -= uint32(to - from)
		copy(b[right.from:], old[from:to])
		right.n = uint32(rest)
	}
	if place == 0 {
		q.drop(s, j)
	}
}

// between puts value where split cut chunk j: at the end of the left part, which is there when left is set, at the start
// of the right part, or in a chunk of its own.
func (q *listDeque) between(s *Store, j int, left bool, value []byte) {
	size := runSize(len(value))
	q.count++
	if left {
		c := q.chunk(j)
		if b := s.a.Bytes(c.r); len(b)-int(c.to) >= size {
			putRun(b[c.to:], value)
			c.to += uint32(size)
			c.n++
			return
		}
		j++
	}
	if j < q.n && int(q.chunk(j).from) >= size {
		c := q.chunk(j)
		c.from -= uint32(size)
		putRun(s.a.Bytes(c.r)[c.from:], value)
		c.n++
		return
	}
	c, b := q.block(s, j, size, false)
	putRun(b, value)
	c.to, c.n = uint32(size), 1
}

// remove takes up to limit items equal to value out, from the left or, with back, from the right, and returns how
// many there were.
func (q *listDeque) remove(s *Store, value []byte, limit int, back bool) int {
	removed := 0
	for k := 0; k < q.n && removed < limit; k++ {
		j := k
		if back {
			j = q.n - 1 - k
		}
		c := q.chunk(j)
		from, to, cut := runCut(s.a.Bytes(c.r), int(c.from), int(c.to), value, limit-removed, back)
		c.from, c.to = uint32(from), uint32(to)
		c.n -= uint32(cut)
		removed += cut
	}
	q.count -= removed
	q.members.count(s, value, -removed)
	if removed > 0 {
		q.squeeze(s)
	}
	return removed
}

// squeeze drops empty chunks and joins neighbours that fit well into one.
func (q *listDeque) squeeze(s *Store) {
	kept := 0
	for j := range q.n {
		c := *q.chunk(j)
		if c.n == 0 {
			s.a.Free(c.r)
			continue
		}
		if kept > 0 && q.join(s, q.chunk(kept-1), &c) {
			s.a.Free(c.r)
			continue
		}
		*q.chunk(kept) = c
		kept++
	}
	q.n = kept
	q.narrow(s)
}

// join appends the items of right to left when both are small.
func (q *listDeque) join(s *Store, left, right *listChunk) bool {
	b := s.a.Bytes(left.r)
	n, m := int(left.to-left.from), int(right.to-right.from)
	if n+m > listChunkBytes/2 || n+m > len(b) {
		return false
	}
	if int(left.to)+m > len(b) {
		copy(b, b[left.from:left.to])
		left.from, left.to = 0, uint32(n)
	}
	copy(b[left.to:], s.a.Bytes(right.r)[right.from:right.to])
	left.to += uint32(m)
	left.n += right.n
	return true
}
