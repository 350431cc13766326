package store

// zsetTable is the large form of a sorted set: a table of the members and their order. A member is one
// dict entry:
//
//	0 | member length | member | score (8)
type zsetTable struct {
	d dict
	t scoreTree
}

func newZSetTable(s *Store) *zsetTable {
	return &zsetTable{d: newDict(s.a), t: scoreTree{a: s.a}}
}

// scored reads the member at r.
func (z *zsetTable) scored(r ref) (member []byte, score float64) {
	b := z.d.a.Bytes(r)
	n, w := uvarint(b[1:])
	at := 1 + w + n
	return b[1+w : at : at], scoreOf(b[at:])
}

// has reports whether the block at r, of which at least the kind can be read, is that of the member.
func (z *zsetTable) has(r ref, member []byte) bool {
	return z.d.a.Bytes(r)[0] != memberGone && z.d.a.holds(r, member)
}

// add stores a member that is not there.
func (z *zsetTable) add(s *Store, member []byte, score float64) {
	before := z.mem()
	w := uvarintLen(len(member))
	at := 1 + w + len(member)
	r, b := s.a.Alloc(at + scoreSize)
	b[0] = 0
	putUvarint(b[1:], len(member))
	copy(b[1+w:], member)
	putScore(b[at:], score)
	z.d.Insert(member, r)
	z.t.insert(score, r, member)
	s.resized(before, z.mem())
}

// change gives the member at r another score than the old one.
func (z *zsetTable) change(r ref, old, score float64) {
	z.t.remove(old, r)
	b := z.d.a.Bytes(r)
	n, w := uvarint(b[1:])
	at := 1 + w + n
	putScore(b[at:], score)
	z.t.insert(score, r, b[1+w:at])
}

// remove takes out the member at r. Its bytes stay readable until the transaction ends.
func (z *zsetTable) remove(s *Store, r ref, member []byte, score float64) {
	before := z.mem()
	z.t.remove(score, r)
	z.d.RemoveEntry(member, r)
	z.free(s, r)
	s.resized(before, z.mem())
}

// memberGone is in the place of a member's kind when it has left its set and its block waits to be reused.
const memberGone = 0xff

func (z *zsetTable) free(s *Store, r ref) {
	z.d.a.Bytes(r)[0] = memberGone
	s.a.Free(r)
}

// removeRange takes out n members from the given rank on.
func (z *zsetTable) removeRange(s *Store, rank, n int) {
	before := z.mem()
	z.t.each(rank, n, false, func(r ref, _ float64) bool {
		z.d.RemoveEntry(z.t.member(r), r)
		z.free(s, r)
		return true
	})
	z.t.removeRange(rank, n)
	s.resized(before, z.mem())
}

func (z *zsetTable) reclaim(_ *Store, budget int) bool {
	return z.d.reclaim(budget) && z.t.reclaim(budget/16+1)
}

func (z *zsetTable) mem() int64 { return 192 + z.d.bytes() }

func (z *zsetTable) len() int { return z.d.Len() }
