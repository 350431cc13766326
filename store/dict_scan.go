package store

import (
	"math/bits"
	"math/rand/v2"
)

// Scan calls f for the entries of the next few buckets from cursor and returns the cursor to go on
// from, 0 at the end. Cursors count in the reversed bits of the bucket index, so a pass stays complete
// while the table grows and shrinks. f must not change the table.
func (d *dict) Scan(cursor uint64, f func(ref)) uint64 {
	if d.Len() == 0 {
		return 0
	}
	small, large := &d.t[0], &d.t[1]
	if d.moving < 0 {
		m := uint64(len(small.buckets) - 1)
		small.each(cursor&m, f)
		return nextCursor(cursor, m)
	}
	if len(small.buckets) > len(large.buckets) {
		small, large = large, small
	}
	m0, m1 := uint64(len(small.buckets)-1), uint64(len(large.buckets)-1)
	small.each(cursor&m0, f)
	for {
		large.each(cursor&m1, f)
		cursor = nextCursor(cursor, m1)
		if cursor&(m0^m1) == 0 {
			return cursor
		}
	}
}

// nextCursor adds one to the reversed bits of cursor under mask.
func nextCursor(cursor, mask uint64) uint64 {
	cursor |= ^mask
	return bits.Reverse64(bits.Reverse64(cursor) + 1)
}

func (t *table) each(i uint64, f func(ref)) {
	b := &t.buckets[i]
	for {
		for _, s := range b.slot {
			if s != 0 {
				f(ref(s) & refMask)
			}
		}
		if b.next == 0 {
			return
		}
		b = &t.spill[b.next-1]
	}
}

// Each calls f for every entry until it returns false. f must not change the table.
func (d *dict) Each(f func(ref) bool) {
	for i := range d.t {
		t := &d.t[i]
		for j := range t.buckets {
			for b := &t.buckets[j]; ; b = &t.spill[b.next-1] {
				for _, s := range b.slot {
					if s != 0 && !f(ref(s)&refMask) {
						return
					}
				}
				if b.next == 0 {
					break
				}
			}
		}
	}
}

// Random returns an entry chosen at random, nearly uniformly, or 0 when there is none.
func (d *dict) Random(rng *rand.Rand) ref {
	if d.Len() == 0 {
		return 0
	}
	var found [8]ref
	for {
		i := rng.IntN(len(d.t[0].buckets) + len(d.t[1].buckets))
		t := &d.t[0]
		if i >= len(t.buckets) {
			i -= len(t.buckets)
			t = &d.t[1]
		}
		refs := found[:0]
		t.each(uint64(i), func(r ref) { refs = append(refs, r) })
		// Accept a bucket in proportion to its size, so that entries in thin ones are not favoured: up to twice a bucket of
		// slots exactly, and hardly any is fuller.
		if k := rng.IntN(max(2*slots, len(refs))); k < len(refs) {
			return refs[k]
		}
	}
}
