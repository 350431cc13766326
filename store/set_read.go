package store

import "github.com/echomq/emqd/store/num"

// Each calls f for every member until it returns false: integers of a small set in ascending order, members of a packed
// one in the order they came. f must not change this key.
func (s *Set) Each(f func(member []byte) bool) {
	s.sync()
	if !s.e.ok() {
		return
	}
	if t := s.table(); t != nil {
		t.d.Each(func(r ref) bool { return f(entryKey(t.d.a.Bytes(r))) })
		return
	}
	if s.isInts() {
		v := intSet(s.e.value())
		for i := range v.len() {
			if !f(num.AppendInt(s.tx.member[:0], v.at(i))) {
				return
			}
		}
		return
	}
	v := s.e.value()
	for at := packedHead; at < len(v); {
		item, next := packedItem(v, at)
		if !f(item) {
			return
		}
		at = next
	}
}

// Scan calls f with the members of the next part of the set and returns the cursor to go on from, 0 at
// the end. A small set is one part.
func (s *Set) Scan(cursor uint64, f func(member []byte)) uint64 {
	s.sync()
	if s.e.ok() {
		if t := s.table(); t != nil {
			return t.d.Scan(cursor, func(r ref) { f(entryKey(t.d.a.Bytes(r))) })
		}
	}
	s.Each(func(member []byte) bool {
		f(member)
		return true
	})
	return 0
}

// Random returns a member chosen at random, nearly uniformly; ok is false when there is none.
func (s *Set) Random() (member []byte, ok bool) {
	n := s.Len()
	if n == 0 {
		return nil, false
	}
	tx := s.tx
	if t := s.table(); t != nil {
		return entryKey(tx.s.a.Bytes(t.d.Random(tx.s.rng))), true
	}
	i := tx.s.rng.IntN(n)
	v := s.e.value()
	if s.isInts() {
		return num.AppendInt(tx.member[:0], intSet(v).at(i)), true
	}
	at := packedHead
	for ; i > 0; i-- {
		_, at = packedItem(v, at)
	}
	member, _ = packedItem(v, at)
	return member, true
}

// Sample calls f for n different members chosen at random, or for all when there are no more. f must not change this key.
func (s *Set) Sample(n int, f func(member []byte)) {
	left := s.Len()
	n = min(n, left)
	t := (*setTable)(nil)
	if n > 0 {
		t = s.table()
	}
	if t != nil && n < left/3 {
		chosen := make(map[ref]struct{}, n)
		for len(chosen) < n {
			r := t.d.Random(s.tx.s.rng)
			if _, again := chosen[r]; !again {
				chosen[r] = struct{}{}
				f(entryKey(t.d.a.Bytes(r)))
			}
		}
		return
	}
	// Each member is taken with the chance of those still wanted among those still to come.
	s.Each(func(member []byte) bool {
		if n > 0 && s.tx.s.rng.IntN(left) < n {
			n--
			f(member)
		}
		left--
		return n > 0
	})
}
