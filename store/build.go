package store

import "github.com/echomq/emqd/store/rdb"

// build makes key, which is absent, hold a copy of the value, whose elements differ. It belongs to an effect that is
// recorded already: it records and announces nothing itself.
func (tx *Tx) build(key []byte, v *rdb.Value) {
	listen, dirty := tx.listen, tx.s.dirty
	tx.listen = false
	// What the handles record is cut again at each step, so that it never grows large.
	mark := tx.effects.mark()
	done := func() { tx.effects.cut(mark) }
	switch v.Kind {
	case rdb.KindString:
		s := String{tx: tx, key: key, gen: tx.gen}
		s.Set(v.Str, 0)
		done()
	case rdb.KindList:
		l := List{tx: tx, key: key, gen: tx.gen}
		for _, item := range v.Items {
			l.PushRight(item)
			done()
		}
	case rdb.KindSet:
		s := Set{tx: tx, key: key, gen: tx.gen}
		for i, member := range v.Items {
			s.Add(member)
			done()
			if t := s.table(); t != nil && i == packedItems {
				tx.s.reserve(t, &t.d, len(v.Items))
			}
		}
	case rdb.KindZSet:
		tx.buildZSet(key, v.Scored, done)
	case rdb.KindHash:
		tx.buildHash(key, v.Fields, done)
	case rdb.KindStream:
		tx.buildStream(key, v.Stream)
	default:
		panic("store: no stored form of a " + v.Kind.String())
	}
	tx.listen, tx.s.dirty = listen, dirty
}

// buildHash makes a small hash in one piece.
func (tx *Tx) buildHash(key []byte, fields []rdb.Field, done func()) {
	h := Hash{tx: tx, key: key, gen: tx.gen}
	size, timed := packedHead, false
	for i := range fields {
		size += packedSize(len(fields[i].Name)) + packedSize(len(fields[i].Value))
		timed = timed || fields[i].ExpireAt != 0
	}
	if !timed && size <= packedBytes && 2*len(fields) <= packedItems {
		h.e = tx.make(key, KindHash, size)
		v := h.e.value()
		setPackedCount(v, 2*len(fields))
		at := packedHead
		for i := range fields {
			at += putPacked(v[at:], fields[i].Name)
			at += putPacked(v[at:], fields[i].Value)
			h.widen(fields[i].Name, fields[i].Value)
		}
		if len(fields) > tx.s.Limits.HashEntries {
			h.e.setFlag(flagWide)
		}
		return
	}
	for i := range fields {
		h.put(fields[i].Name, fields[i].Value)
		if at := fields[i].ExpireAt; at != 0 {
			h.ExpireField(fields[i].Name, at)
			done()
		}
		if t := h.table(); t != nil && i == packedItems {
			tx.s.reserve(t, &t.d, len(fields))
		}
	}
}

// buildZSet adds the members in ascending order, which costs the least; files have them in descending order. A set that
// is to be large is so from the beginning.
func (tx *Tx) buildZSet(key []byte, members []rdb.Scored, done func()) {
	z := ZSet{tx: tx, key: key, gen: tx.gen}
	n := len(members)
	at := func(i int) *rdb.Scored { return &members[i] }
	if n > 0 && members[0].Score >= members[n-1].Score {
		at = func(i int) *rdb.Scored { return &members[n-1-i] }
	}
	if n <= packedMembers {
		for i := range n {
			z.Add(at(i).Member, at(i).Score)
			done()
		}
		return
	}
	z.e = tx.make(key, KindZSet, packedHead)
	setPackedCount(z.e.value(), 0)
	t := z.spread()
	tx.s.reserve(t, &t.d, n)
	wide := n > tx.s.Limits.ZSetEntries
	const ahead = 64
	for i := range n {
		if i%ahead == 0 {
			for j := i; j < min(i+ahead, n); j++ {
				tx.s.touched ^= t.d.touch(at(j).Member)
			}
		}
		m := at(i)
		t.add(tx.s, m.Member, m.Score+0)
		wide = wide || len(m.Member) > tx.s.Limits.ZSetValue
	}
	if wide {
		z.e.setFlag(flagWide)
	}
}

// Touch prepares the memory that a look-up of key in database i needs. It is for keys that come soon, all together.
func (s *Store) Touch(i int, key []byte) { s.touched ^= s.dbs[i].keys.touch(key) }

// TouchMember is Touch for a key and for a member that is looked up in its value when that is a large one.
func (s *Store) TouchMember(i int, key, member []byte) {
	e := s.load(s.dbs[i].keys.Find(key))
	if !e.ok() || !e.isObject() {
		return
	}
	switch t := s.objects[e.object()].(type) {
	case *zsetTable:
		s.touched ^= t.d.touch(member)
	case *setTable:
		s.touched ^= t.d.touch(member)
	}
}

// Reserve makes room for n keys in database i, so that its table does not grow step by step.
func (s *Store) Reserve(i, n int) { s.dbs[i].keys.reserve(n) }

// reserve makes room for n elements in the table d of an object that the store holds.
func (s *Store) reserve(o object, d *dict, n int) {
	before := o.mem()
	d.reserve(n)
	s.resized(before, o.mem())
}
