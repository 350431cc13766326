package store

import "github.com/echomq/emqd/store/num"

// Set is a handle on one set key. It is used within its transaction only.
//
// A small set is an intSet while all its members are integers, else packed; a large one is a setTable. An
// integer member that it gives is spelt in a buffer of the transaction, which the next one reuses: a member is good until
// another is asked for.
type Set struct {
	tx  *Tx
	key []byte
	e   entry
	gen uint64
}

// Set opens key as a set. An absent key opens as an empty set, which the first Add creates; a key of
// another kind is ErrWrongType. The handle keeps key.
func (tx *Tx) Set(key []byte) (Set, error) {
	e, err := tx.findKind(key, KindSet)
	return Set{tx: tx, key: key, e: e, gen: tx.gen}, err
}

// Exists reports whether the key is there.
func (s *Set) Exists() bool {
	s.sync()
	return s.e.ok()
}

// sync looks the entry up again when something in the keyspace has moved.
func (s *Set) sync() {
	if s.gen != s.tx.gen {
		s.e, s.gen = s.tx.again(&s.e, s.key, s.gen), s.tx.gen
	}
}

// moved notes that this handle's own change may have moved entries.
func (s *Set) moved() {
	s.tx.gen++
	s.gen = s.tx.gen
}

func (s *Set) table() *setTable {
	if !s.e.isObject() {
		return nil
	}
	return s.tx.s.objects[s.e.object()].(*setTable)
}

func (s *Set) isInts() bool { return s.e.flags()&flagInts != 0 }

// Len returns the number of members.
func (s *Set) Len() int {
	s.sync()
	if !s.e.ok() {
		return 0
	}
	if t := s.table(); t != nil {
		return t.d.Len()
	}
	return packedCount(s.e.value())
}

// Encoding returns what OBJECT ENCODING calls the value.
func (s *Set) Encoding() string {
	s.sync()
	switch {
	case !s.e.ok():
		return "listpack"
	case s.isInts():
		return "intset"
	case s.e.flags()&flagWide != 0:
		return "hashtable"
	}
	return "listpack"
}

// Has reports whether member is in the set.
func (s *Set) Has(member []byte) bool {
	s.sync()
	if !s.e.ok() {
		return false
	}
	if t := s.table(); t != nil {
		return t.d.Find(member) != 0
	}
	if s.isInts() {
		n, ok := num.Int(member)
		if !ok {
			return false
		}
		_, found := intSet(s.e.value()).search(n)
		return found
	}
	_, to := packedMemberOf(s.e.value(), member)
	return to != 0
}

// packedMemberOf returns where member stands in the packed set v; to is 0 when it does not.
func packedMemberOf(v, member []byte) (from, to int) {
	for at := packedHead; at < len(v); {
		item, next := packedItem(v, at)
		if string(item) == string(member) {
			return at, next
		}
		at = next
	}
	return 0, 0
}

// Add puts member, which is copied, into the set and reports whether it is new.
func (s *Set) Add(member []byte) bool {
	if s.Has(member) {
		return false
	}
	s.tx.extend("SADD", s.key, member)
	s.put(s.tx.effects.last())
	return true
}

// put adds a member that is not there, without its effect. member does not alias the keyspace.
func (s *Set) put(member []byte) {
	tx := s.tx
	limits := &tx.s.Limits
	n, isInt := num.Int(member)
	if !s.e.ok() {
		s.create(isInt && limits.SetIntEntries > 0)
	}
	if t := s.table(); t != nil {
		s.measure(t.d.Len()+1, len(member))
		t.add(tx.s, member)
		return
	}
	count := packedCount(s.e.value())
	if s.isInts() {
		if isInt && count < limits.SetIntEntries && count < intSetMost {
			tx.db.putInt(tx.s, &s.e, n)
			s.moved()
			return
		}
		s.spell()
		if isInt { // too many integers go into a table at once, as in Valkey
			s.e.setFlag(flagWide)
		}
	}
	s.measure(count+1, len(member))
	if t := s.table(); t != nil {
		t.add(tx.s, member)
		return
	}
	v := s.e.value()
	if end := len(v); end+packedSize(len(member)) <= packedBytes && count < packedItems {
		tx.db.resize(tx.s, &s.e, end+packedSize(len(member)))
		v = s.e.value()
		putPacked(v[end:], member)
		setPackedCount(v, count+1)
		s.moved()
		return
	}
	s.spread().add(tx.s, member)
}

// create makes the key hold an empty set.
func (s *Set) create(ints bool) {
	if ints {
		s.e = s.tx.make(s.key, KindSet, intSetHead)
		s.e.value()[packedHead] = intSetNarrowest
		s.e.setFlag(flagInts)
	} else {
		s.e = s.tx.make(s.key, KindSet, packedHead)
	}
	setPackedCount(s.e.value(), 0)
	s.moved()
}

// measure notes when a member of size bytes that makes the members count takes the set beyond Valkey's compact limits.
func (s *Set) measure(count, size int) {
	limits := &s.tx.s.Limits
	if count > limits.SetEntries || size > limits.SetValue {
		s.e.setFlag(flagWide)
	}
}

// spell turns an intSet into the packed form of the texts of its members, or a table when they are many.
func (s *Set) spell() {
	tx := s.tx
	v := intSet(s.e.value())
	s.e.b[s.e.meta] &^= flagInts
	if v.len() >= packedItems || v.len() >= tx.s.Limits.SetEntries {
		t := newSetTable(tx.s)
		for i := range v.len() {
			t.insert(tx.s, num.AppendInt(tx.member[:0], v.at(i)))
		}
		tx.db.hold(tx.s, &s.e, t)
		s.moved()
		return
	}
	packed := make([]byte, packedHead, packedHead+21*v.len())
	setPackedCount(packed, v.len())
	for i := range v.len() {
		text := num.AppendInt(tx.member[:0], v.at(i))
		packed = append(packed, byte(len(text)))
		packed = append(packed, text...)
	}
	tx.db.resize(tx.s, &s.e, len(packed))
	copy(s.e.value(), packed)
	s.moved()
}

// spread turns the packed form into a table.
func (s *Set) spread() *setTable {
	tx := s.tx
	t := newSetTable(tx.s)
	v := s.e.value()
	for at := packedHead; at < len(v); {
		item, next := packedItem(v, at)
		t.insert(tx.s, item)
		at = next
	}
	tx.db.hold(tx.s, &s.e, t)
	s.moved()
	return t
}

// Remove takes member out and reports whether it was there. The key goes with its last member.
func (s *Set) Remove(member []byte) bool {
	if !s.Has(member) {
		return false
	}
	tx := s.tx
	tx.extend("SREM", s.key, member)
	member = tx.effects.last()
	left := s.Len() - 1
	switch t := s.table(); {
	case left == 0:
		tx.vanish(&s.e)
		s.e, s.gen = entry{}, tx.gen
	case t != nil:
		t.remove(tx.s, member)
	case s.isInts():
		n, _ := num.Int(member)
		tx.db.cutInt(tx.s, &s.e, n)
		s.moved()
	default:
		from, to := packedMemberOf(s.e.value(), member)
		tx.db.splice(tx.s, &s.e, from, to, 0)
		setPackedCount(s.e.value(), left)
		s.moved()
	}
	return true
}
