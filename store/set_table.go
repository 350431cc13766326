package store

// setTable is the large form of a set. A member is one dict entry whose kind byte is 0:
//
//	0 | member length (uvarint) | member
type setTable struct{ d dict }

// newSetTable returns an empty table, which is not held by the store yet.
func newSetTable(s *Store) *setTable { return &setTable{newDict(s.a)} }

// add puts a member that is not there into a table that the store holds.
func (t *setTable) add(s *Store, member []byte) {
	before := t.mem()
	t.insert(s, member)
	s.resized(before, t.mem())
}

// insert is add without the accounting, for a table that the store does not hold yet.
func (t *setTable) insert(s *Store, member []byte) {
	w := uvarintLen(len(member))
	r, b := s.a.Alloc(1 + w + len(member))
	b[0] = 0
	putUvarint(b[1:], len(member))
	copy(b[1+w:], member)
	t.d.Insert(member, r)
}

// remove takes out a member that is there.
func (t *setTable) remove(s *Store, member []byte) {
	before := t.mem()
	s.a.Free(t.d.Remove(member))
	s.resized(before, t.mem())
}

func (t *setTable) reclaim(s *Store, budget int) bool { return t.d.reclaim(budget) }

func (t *setTable) mem() int64 { return 160 + t.d.bytes() }

func (t *setTable) len() int { return t.d.Len() }
