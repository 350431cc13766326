package store

// Flush removes every key of the selected database. It takes the same short time for any number of keys; their
// memory is given back step by step.
func (tx *Tx) Flush() {
	tx.mustWrite()
	id := tx.db.id
	if tx.db.keys.Len() == 0 {
		tx.signals = append(tx.signals, Touch{DB: id})
		return
	}
	tx.recordKeyless("FLUSHDB")
	tx.effects.reaches(reachAll, id, id)
	tx.s.empty(id)
	tx.Select(id)
	tx.gen += genTables
}

// FlushAll removes every key of every database, as Flush does.
func (tx *Tx) FlushAll() {
	tx.mustWrite()
	s := tx.s
	if s.Keys() == 0 {
		tx.signals = append(tx.signals, Touch{DB: tx.db.id})
		return
	}
	tx.recordKeyless("FLUSHALL")
	tx.effects.reaches(reachAll, 0, len(s.dbs)-1)
	for i := range s.dbs {
		s.empty(i)
	}
	tx.Select(tx.db.id)
	tx.gen += genTables
}

// Swap makes the keys of database i those of j and the other way round.
func (tx *Tx) Swap(i, j int) {
	tx.mustWrite()
	if i == j {
		return
	}
	first := append([]byte(nil), tx.itoa(int64(i))...)
	tx.recordKeyless("SWAPDB", first, tx.itoa(int64(j)))
	tx.effects.reaches(reachSwap, i, j)
	id, dbs := tx.db.id, tx.s.dbs
	dbs[i], dbs[j] = dbs[j], dbs[i]
	dbs[i].id, dbs[j].id = i, j
	tx.Select(id)
	tx.gen += genTables
}

// recordKeyless records an effect whose first argument is no key; its reach is said next.
func (tx *Tx) recordKeyless(name string, args ...[]byte) {
	tx.s.dirty++
	tx.effects.begin(name, tx.db.id)
	for _, a := range args {
		tx.effects.arg(a)
	}
}

// empty makes database i an empty one. When no other one has keys the whole arena is put aside, and nothing in
// it needs to be looked at again; otherwise the keys are taken apart step by step.
func (s *Store) empty(i int) {
	d := s.dbs[i]
	n := d.keys.Len()
	if n == 0 {
		return
	}
	if int64(n) == s.Keys() {
		s.retire()
		return
	}
	s.lazy = append(s.lazy, &emptied{d.keys})
	*d = *newDB(i, s.a)
}

// retire puts the arena with everything in it aside. Its bytes stay readable until the next Reclaim.
func (s *Store) retire() {
	old := s.a
	s.a = newArena()
	s.a.poison = old.poison
	s.retired = append(s.retired, old)
	// Whatever waits to be reclaimed lives in the old arena too.
	s.objects, s.spare, s.lazy, s.objMem = make([]object, 1), nil, nil, 0
	for i, d := range s.dbs {
		*d = *newDB(i, s.a)
	}
}

// emptied is the keys of a database that was emptied.
type emptied struct{ keys dict }

func (f *emptied) reclaim(s *Store, budget int) bool {
	return f.keys.drain(budget, func(r ref) int {
		cost := 1
		if e := s.load(r); e.isObject() {
			cost += s.objects[e.object()].len()
			s.discard(e.object())
		}
		s.a.Free(r)
		return min(cost, 64)
	})
}
