package store

// A dict is a hash table of arena entries. An entry is any block of the form
//
//	kind byte | key length (uvarint) | key | whatever its owner keeps
//
// so one table serves the keyspace, hash fields, set members and sorted-set members. It grows and
// shrinks bucket by bucket, never in one stall, and Scan keeps Valkey's guarantee: an entry present
// during a whole scan is returned at least once.
type dict struct {
	a      *arena
	t      [2]table
	moving int // next bucket of t[0] to move into t[1]; -1 when not moving
	paused int // > 0 while an iteration forbids moving
}

type table struct {
	buckets []bucket
	spill   []bucket // overflow buckets, chained by index
	spare   []uint32 // free ones among them
	count   int
}

const slots = 7

// bucket is one cache line: slots hold tag<<48 | ref, next-1 is the overflow bucket. The tag is the bits of the hash from
// tagFrom on: in a large table it tells, together with the bucket's number, which bucket of a larger one is an entry's.
type bucket struct {
	slot [slots]uint64
	next uint32
	_    uint32
}

const (
	minBuckets = 1
	tagFrom    = 16
)

// slotOf returns what a slot holds for the entry at r, whose key has the hash h.
func slotOf(h uint64, r ref) uint64 { return h>>tagFrom<<48 | uint64(r) }

func newDict(a *arena) dict {
	return dict{a: a, moving: -1}
}

// entryKey returns the key of the entry in b.
func entryKey(b []byte) []byte {
	n, w := uvarint(b[1:])
	return b[1+w : 1+w+n]
}

// holds reports whether the entry at r has this key.
func (a *arena) holds(r ref, key []byte) bool {
	b := a.Bytes(r)
	if n := len(key); n < 0x80 { // then the length is one byte
		return int(b[1]) == n && string(b[2:2+n]) == string(key)
	}
	return string(entryKey(b)) == string(key)
}

// Len returns the number of entries.
func (d *dict) Len() int { return d.t[0].count + d.t[1].count }

// bytes returns the memory of the table itself.
func (d *dict) bytes() int64 {
	return d.t[0].bytes() + d.t[1].bytes() // no loop: this is asked before and after each change of a large value
}

func (t *table) bytes() int64 {
	return int64(64*(len(t.buckets)+cap(t.spill)) + 4*cap(t.spare))
}

// Find returns the entry of key, or 0.
func (d *dict) Find(key []byte) ref {
	return d.findHashed(key, hashOf(key))
}

func (d *dict) findHashed(key []byte, h uint64) ref {
	// In one piece: a look-up is a third of what many commands do, and a call for each table costs it a tenth more.
	tag := slotOf(h, 0) >> 48
	for i := range d.t {
		t := &d.t[i]
		if t.count == 0 {
			continue
		}
		b := &t.buckets[h&uint64(len(t.buckets)-1)]
		for {
			for _, s := range &b.slot {
				if s>>48 == tag && s != 0 && d.a.holds(ref(s)&refMask, key) {
					return ref(s) & refMask
				}
			}
			if b.next == 0 {
				break
			}
			b = &t.spill[b.next-1]
		}
	}
	return 0
}

// Insert adds the entry at r under its own key, which must not be present.
func (d *dict) Insert(key []byte, r ref) {
	d.step()
	d.grow()
	h := hashOf(key)
	t := &d.t[0]
	if d.moving >= 0 {
		t = &d.t[1]
	}
	t.put(h, r)
}

// Replace makes the slot of the entry at old, which is there under key, address r instead.
func (d *dict) Replace(key []byte, old, r ref) {
	h := hashOf(key)
	for i := range d.t {
		if t := &d.t[i]; t.count > 0 {
			if b, j, _ := t.locate(h, slotOf(h, old)); b != nil {
				b.slot[j] = slotOf(h, r)
				return
			}
		}
	}
}

// locate returns the bucket and the place in it of a slot whose content is known, and the bucket before it when it is an
// overflow bucket; nil when there is none. No entry is looked at.
func (t *table) locate(h, slot uint64) (b *bucket, j int, before *bucket) {
	b = &t.buckets[h&uint64(len(t.buckets)-1)]
	for {
		for j := range &b.slot {
			if b.slot[j] == slot {
				return b, j, before
			}
		}
		if b.next == 0 {
			return nil, 0, nil
		}
		before, b = b, &t.spill[b.next-1]
	}
}

// Remove takes key's entry out and returns it, 0 when absent. The block is the caller's to free.
func (d *dict) Remove(key []byte) ref {
	h := hashOf(key)
	r := d.findHashed(key, h)
	if r != 0 {
		d.unlink(h, r)
	}
	return r
}

// RemoveEntry takes out the entry at r, which is there under key. The block is the caller's to free.
func (d *dict) RemoveEntry(key []byte, r ref) { d.unlink(hashOf(key), r) }

func (d *dict) unlink(h uint64, r ref) {
	d.step()
	for i := range d.t {
		t := &d.t[i]
		if t.count == 0 {
			continue
		}
		b, j, before := t.locate(h, slotOf(h, r))
		if b == nil {
			continue
		}
		b.slot[j] = 0
		t.count--
		if before != nil && b.empty() {
			t.dropSpill(before, b)
		}
		d.shrink()
		return
	}
}

func (b *bucket) empty() bool {
	for _, s := range b.slot {
		if s != 0 {
			return false
		}
	}
	return true
}

// dropSpill takes the empty overflow bucket b out of the chain behind before.
func (t *table) dropSpill(before, b *bucket) {
	i := before.next
	before.next = b.next
	*b = bucket{}
	t.spare = append(t.spare, i)
}

func (t *table) put(h uint64, r ref) {
	v := slotOf(h, r)
	b := &t.buckets[h&uint64(len(t.buckets)-1)]
	for {
		for j := range b.slot {
			if b.slot[j] == 0 {
				b.slot[j] = v
				t.count++
				return
			}
		}
		if b.next == 0 {
			break
		}
		b = &t.spill[b.next-1]
	}
	var i uint32
	if n := len(t.spare); n > 0 {
		i = t.spare[n-1]
		t.spare = t.spare[:n-1]
		b.next = i
	} else {
		// b may stand in the slice that grows: link before it moves.
		i = uint32(len(t.spill) + 1)
		b.next = i
		t.spill = append(t.spill, bucket{})
	}
	t.spill[i-1].slot[0] = v
	t.count++
}

// grow starts moving into a larger table when the present one is nearly full.
func (d *dict) grow() {
	t := &d.t[0]
	if d.moving >= 0 {
		return
	}
	if t.buckets == nil {
		t.buckets = make([]bucket, minBuckets)
		return
	}
	n := len(t.buckets)
	if t.count >= n*slots*3/4 {
		d.resize(2 * n)
	}
}

// shrink starts moving into a smaller table when the present one is nearly empty.
func (d *dict) shrink() {
	n := len(d.t[0].buckets)
	if d.moving >= 0 || n <= 16 || d.t[0].count > n*slots/10 {
		return
	}
	want := minBuckets
	for want*slots/2 < d.t[0].count {
		want *= 2
	}
	d.resize(want)
}

func (d *dict) resize(n int) {
	// One in sixteen buckets overflows well before the table is full.
	d.t[1] = table{buckets: make([]bucket, n), spill: make([]bucket, 0, n/16)}
	d.moving = 0
	d.step()
}

// touch reads the bucket of a key. For many keys in a row the processor does that at the same time, where one look-up after
// the other waits for memory each time.
func (d *dict) touch(key []byte) uint64 {
	t := &d.t[0]
	if len(t.buckets) == 0 {
		return 0
	}
	return t.buckets[hashOf(key)&uint64(len(t.buckets)-1)].slot[0]
}

// reserve makes the table large enough for n entries at once. It is not for a table that an iteration is in.
func (d *dict) reserve(n int) {
	want := minBuckets
	for want*slots*3/4 < n {
		want *= 2
	}
	for d.move(1 << 10) {
	}
	if want > len(d.t[0].buckets) {
		d.resize(want)
		for d.move(1 << 10) {
		}
	}
}

// step moves a little of an unfinished resize.
func (d *dict) step() {
	if d.moving >= 0 && d.paused == 0 {
		d.move(2)
	}
}

// move moves up to n buckets and reports whether the resize is still unfinished.
func (d *dict) move(n int) bool {
	if d.moving < 0 {
		return false
	}
	from, to := &d.t[0], &d.t[1]
	known := len(to.buckets) <= len(from.buckets) || len(from.buckets) >= 1<<tagFrom
	for ; n > 0 && d.moving < len(from.buckets); n-- {
		b := &from.buckets[d.moving]
		for {
			h := d.hashes(b, known)
			for j, s := range b.slot {
				if s == 0 {
					continue
				}
				to.put(h[j], ref(s)&refMask)
				b.slot[j] = 0
				from.count--
			}
			if b.next == 0 {
				break
			}
			i := b.next - 1
			b.next = 0
			b = &from.spill[i]
		}
		d.moving++
	}
	if d.moving < len(from.buckets) {
		return true
	}
	d.t[0], d.t[1] = d.t[1], table{}
	d.moving = -1
	return false
}

// hashes returns those of the keys in a bucket that is moved; known says that number and tags tell all that matters of them.
// In a loop that does nothing else the processor reads the keys at the same time.
func (d *dict) hashes(b *bucket, known bool) (h [slots]uint64) {
	for j, s := range b.slot {
		switch {
		case s == 0:
		case known:
			h[j] = uint64(d.moving) | s>>48<<tagFrom
		default:
			h[j] = hashOf(entryKey(d.a.Bytes(ref(s) & refMask)))
		}
	}
	return h
}

// uvarint reads the length prefix of an entry: value and width.
func uvarint(b []byte) (n, width int) {
	c := b[0]
	if c < 0x80 {
		return int(c), 1
	}
	n = int(c & 0x7f)
	for shift := 7; ; shift += 7 {
		width++
		c = b[width]
		n |= int(c&0x7f) << shift
		if c < 0x80 {
			return n, width + 1
		}
	}
}

// putUvarint writes n at the start of b and returns the width.
func putUvarint(b []byte, n int) int {
	i := 0
	for n >= 0x80 {
		b[i] = byte(n) | 0x80
		n >>= 7
		i++
	}
	b[i] = byte(n)
	return i + 1
}

func uvarintLen(n int) int {
	w := 1
	for ; n >= 0x80; n >>= 7 {
		w++
	}
	return w
}

// reclaim frees up to budget entries of a table that nobody uses any more and reports whether it is empty.
// The blocks become reusable at the next Sweep.
func (d *dict) reclaim(budget int) bool {
	return d.drain(budget, func(r ref) int {
		d.a.Free(r)
		return 1
	})
}

// drain gives free the entries of a table that nobody uses any more, until what free says they cost together
// reaches budget, and reports whether the table is empty. It looks at no bucket twice.
func (d *dict) drain(budget int, free func(ref) (cost int)) bool {
	for i := range d.t {
		t := &d.t[i]
		for n := len(t.buckets); n > 0; n = len(t.buckets) {
			for b := &t.buckets[n-1]; ; b = &t.spill[b.next-1] {
				for _, s := range b.slot {
					if s != 0 {
						budget -= free(ref(s) & refMask)
					}
				}
				if b.next == 0 {
					break
				}
			}
			t.buckets = t.buckets[:n-1]
			if budget--; budget <= 0 {
				return false
			}
		}
		*t = table{}
	}
	return true
}
