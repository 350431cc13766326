package store

// parts counts the keys of a database that are parts of others, by the hash of the other one's name. What counts as a part is
// said by Store.Divide. Where no part is counted there is none; where one is counted there may be.
type parts [partSlots]uint32

const partSlots = 1 << 12

func (p *parts) of(name []byte) *uint32 { return &p[hashOf(name)%partSlots] }

// Divide says which keys are parts of others, so that HasParts can tell without a look-up that a key has none: owner returns
// how many of a key's first bytes are the name of the key that it is a part of, 0 for a key by itself. It is called before
// the first key is made. owner is asked once for each key that comes and goes.
func (s *Store) Divide(owner func(key []byte) int) {
	if s.Keys() > 0 {
		panic("store: there are keys already that parts were not counted of")
	}
	s.owner = owner
}

// HasParts reports whether the selected database may hold keys that are parts of key. Without Divide it may.
func (tx *Tx) HasParts(key []byte) bool {
	if tx.s.owner == nil {
		return true
	}
	return tx.db.parts != nil && *tx.db.parts.of(key) > 0
}

// come counts a new key if it is a part.
func (d *db) come(s *Store, key []byte) {
	if s.owner == nil {
		return
	}
	if n := s.owner(key); n > 0 {
		if d.parts == nil {
			d.parts = new(parts)
		}
		*d.parts.of(key[:n])++
	}
}

// leave counts out a key that goes.
func (d *db) leave(s *Store, key []byte) {
	if d.parts == nil {
		return
	}
	if n := s.owner(key); n > 0 {
		*d.parts.of(key[:n])--
	}
}
