package store

import "math/rand/v2"

// Random returns a field chosen at random and its value; ok is false when there is none.
func (h *Hash) Random(rng *rand.Rand) (field, value []byte, ok bool) {
	n := h.Len()
	if n == 0 {
		return nil, nil, false
	}
	if t := h.table(); t != nil {
		f := t.random(rng, h.tx.now, n)
		return f.name, f.value, true
	}
	v := h.e.value()
	at := packedHead
	for skip := 2 * rng.IntN(n); skip > 0; skip-- {
		_, at = packedItem(v, at)
	}
	field, at = packedItem(v, at)
	value, _ = packedItem(v, at)
	return field, value, true
}

// random returns one of the n visible fields.
func (t *hashTable) random(rng *rand.Rand, now int64, n int) hashField {
	for range 64 {
		if f := t.load(t.d.Random(rng)); f.at == 0 || f.at > now {
			return f
		}
	}
	// Nearly all fields wait for their removal: walk to one of the others.
	skip := rng.IntN(n)
	var found hashField
	t.each(now, func(f hashField) bool {
		found = f
		skip--
		return skip >= 0
	})
	return found
}

// Scan calls f with the fields of the next part of the hash and returns the cursor to go on from, 0 at the end.
// A small hash comes in one part. f must not change this key.
func (h *Hash) Scan(cursor uint64, f func(field, value []byte)) uint64 {
	h.sync()
	if !h.e.ok() {
		return 0
	}
	t := h.table()
	if t == nil {
		h.Each(func(field, value []byte) bool {
			f(field, value)
			return true
		})
		return 0
	}
	return t.d.Scan(cursor, func(r ref) {
		if x := t.load(r); x.at == 0 || x.at > h.tx.now {
			f(x.name, x.value)
		}
	})
}
