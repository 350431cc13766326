package store

// listMembers counts the items of a large list by the hash of their bytes, so that asking for one takes no walk. It is built
// when it is first asked for and dropped by changes in the middle of the list. Two items that share a 64-bit hash are
// taken for one; the seed of the hash is the process's own, so nobody can choose such items.
type listMembers map[uint64]uint32

// memberBytes is what one entry takes in the map, with its share of free room.
const memberBytes = 24

func (m listMembers) mem() int64 { return memberBytes * int64(len(m)) }

// count notes that n more items equal value are in the list, or -n fewer.
func (m listMembers) count(s *Store, value []byte, n int) {
	if m == nil || n == 0 {
		return
	}
	h, before := hashOf(value), m.mem()
	if sum := int(m[h]) + n; sum > 0 {
		m[h] = uint32(sum)
	} else {
		delete(m, h)
	}
	s.resized(before, m.mem())
}

// forget drops the counts.
func (q *listDeque) forget(s *Store) {
	if q.members != nil {
		before := q.mem()
		q.members = nil
		s.resized(before, q.mem())
	}
}

// tally counts the items of the deque.
func (q *listDeque) tally(s *Store) {
	before := q.mem()
	q.members = make(listMembers, q.count)
	for j := range q.n {
		c := q.chunk(j)
		runEach(s.a.Bytes(c.r), int(c.from), int(c.to), func(item []byte) bool {
			q.members[hashOf(item)]++
			return true
		})
	}
	s.resized(before, q.mem())
}

// listWalk is how many bytes of a packed list Has walks.
const listWalk = 2 * listRepack

// Has reports whether value is in the list. A short list is walked; a longer one is put into the large form, which remembers
// its items from the first call on until it is changed in its middle.
func (l *List) Has(value []byte) bool {
	if l.Len() == 0 {
		return false
	}
	q := l.deque()
	if q == nil {
		if len(l.e.value()) <= listWalk {
			return l.index(value) >= 0
		}
		q = l.spread(false)
	}
	if q.members == nil {
		q.tally(l.tx.s)
	}
	return q.members[hashOf(value)] > 0
}
