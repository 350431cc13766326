package store

// slotBytes is what a table keeps for one entry on average, the empty slots counted.
const slotBytes = 14

// Usage returns the bytes that key takes, its name and its place in the keyspace included, and whether it is
// there. The elements of large values are estimated by samples of them, 0 for all.
func (tx *Tx) Usage(key []byte, samples int) (bytes int64, ok bool) {
	e := tx.find(key)
	if !e.ok() {
		return 0, false
	}
	n := int64(tx.s.a.Size(e.r)) + slotBytes
	if e.expiry() != 0 {
		n += timeBytes
	}
	if !e.isObject() {
		return n, true
	}
	o := tx.s.objects[e.object()]
	n += o.mem()
	switch o := o.(type) {
	case *hashTable:
		n += o.d.blockBytes(samples)
	case *setTable:
		n += o.d.blockBytes(samples)
	case *zsetTable:
		n += o.d.blockBytes(samples) + o.t.blockBytes()
	case *streamTable:
		p, ok := o.chunks.first()
		for ; ok; p, ok = o.chunks.next(p) {
			n += int64(tx.s.a.Size(o.chunks.at(p).r))
		}
	case *listDeque:
		for i := range o.n {
			n += int64(tx.s.a.Size(o.chunk(i).r))
		}
	}
	return n, true
}

// blockBytes estimates the bytes of the table's entries by the first samples of them.
func (d *dict) blockBytes(samples int) int64 {
	if samples <= 0 {
		samples = d.Len()
	}
	seen, sum := 0, int64(0)
	d.Each(func(r ref) bool {
		sum += int64(d.a.Size(r))
		seen++
		return seen < samples
	})
	if seen == 0 {
		return 0
	}
	return sum * int64(d.Len()) / int64(seen)
}

// blockBytes estimates the bytes of the tree's nodes by their count of entries when three quarters full.
func (t *scoreTree) blockBytes() int64 { return int64(t.count) * 16 * 4 / 3 }
