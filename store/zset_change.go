package store

import (
	"math"

	"github.com/echomq/emqd/store/num"
)

// Add gives member the score, which is a number, and reports whether it is new, and whether it had another score. The
// member is copied. Negative zero is stored as zero.
func (z *ZSet) Add(member []byte, score float64) (added, changed bool) {
	if math.IsNaN(score) {
		panic("store: a score must be a number")
	}
	score += 0
	z.sync()
	if !z.e.ok() {
		z.record(member, score)
		z.e = z.tx.make(z.key, KindZSet, packedHead)
		setPackedCount(z.e.value(), 0)
		z.addPacked(member, score)
		return true, false
	}
	if t := z.table(); t != nil {
		return z.addTable(t, member, score)
	}
	v := z.e.value()
	from, to, _, old := packedMember(v, member)
	switch {
	case to == 0:
		z.record(member, score)
		z.addPacked(member, score)
		return true, false
	case old == score:
		return false, false
	}
	z.record(member, score)
	z.tx.tmp = packedMove(v, from, to, &limit{mode: atItem, score: score, member: member}, z.tx.tmp)
	return false, true
}

func (z *ZSet) record(member []byte, score float64) {
	tx := z.tx
	tx.extend("ZADD", z.key, num.AppendFloat(tx.text[:0], score), member)
	// The effect may have taken away a key past its time.
	z.gen = tx.gen
}

// addPacked adds a member that is not there to the packed form, or makes the set large for it.
func (z *ZSet) addPacked(member []byte, score float64) {
	tx := z.tx
	v := z.e.value()
	n, size := packedCount(v), packedSize(len(member))+scoreSize
	limits := &tx.s.Limits
	if len(member) > limits.ZSetValue || n+1 > limits.ZSetEntries {
		z.e.setFlag(flagWide)
	}
	if n == packedMembers || len(v)+size > packedBytes {
		z.spread().add(tx.s, member, score)
		z.moved()
		return
	}
	at, _ := packedLimit(v, &limit{mode: atItem, score: score, member: member})
	tx.db.splice(tx.s, &z.e, at, at, size)
	v = z.e.value()
	setPackedCount(v, n+1)
	at += putPacked(v[at:], member)
	putScore(v[at:], score)
	z.moved()
}

func (z *ZSet) addTable(t *zsetTable, member []byte, score float64) (added, changed bool) {
	tx := z.tx
	r, old := z.find(t, member)
	if r != 0 {
		if old == score {
			return false, false
		}
		z.record(member, score)
		t.change(r, old, score)
		return false, true
	}
	limits := &tx.s.Limits
	if len(member) > limits.ZSetValue || t.t.count+1 > limits.ZSetEntries {
		z.e.setFlag(flagWide)
	}
	z.record(member, score)
	t.add(tx.s, member, score)
	return true, false
}

// spread makes the set large.
func (z *ZSet) spread() *zsetTable {
	tx := z.tx
	t := newZSetTable(tx.s)
	empty := t.mem()
	v := z.e.value()
	for at := packedHead; at < len(v); {
		member, score, next := packedScored(v, at)
		t.add(tx.s, member, score)
		at = next
	}
	// hold counts all of the object's memory, of which add has counted the growth already.
	tx.s.resized(t.mem(), empty)
	tx.db.hold(tx.s, &z.e, t)
	return t
}

// Remove takes member out and reports whether it was there. The key goes with its last member.
func (z *ZSet) Remove(member []byte) bool {
	z.sync()
	if !z.e.ok() {
		return false
	}
	tx := z.tx
	if t := z.table(); t != nil {
		r, score := z.find(t, member)
		if r == 0 {
			return false
		}
		tx.extend("ZREM", z.key, member)
		t.remove(tx.s, r, member, score)
		z.trim(t.t.count)
		return true
	}
	from, to, _, _ := packedMember(z.e.value(), member)
	if to == 0 {
		return false
	}
	tx.extend("ZREM", z.key, member)
	z.cutPacked(from, to, 1)
	return true
}

// RemoveRange takes out the members of the ranks from up to but without to, ranks outside the set left
// out, and returns how many they were. The key goes with its last member.
func (z *ZSet) RemoveRange(from, to int) int {
	from, to = max(from, 0), min(to, z.Len())
	if from >= to {
		return 0
	}
	tx := z.tx
	z.Range(from, to, false, func(member []byte, _ float64) bool {
		tx.extend("ZREM", z.key, member)
		return true
	})
	if t := z.table(); t != nil {
		t.removeRange(tx.s, from, to-from)
		z.trim(t.t.count)
		return to - from
	}
	v := z.e.value()
	z.cutPacked(packedSeek(v, from), packedSeek(v, to), to-from)
	return to - from
}

// cutPacked takes the bytes from..to, which are k members, out of the packed form.
func (z *ZSet) cutPacked(from, to, k int) {
	n := packedCount(z.e.value()) - k
	z.tx.db.splice(z.tx.s, &z.e, from, to, 0)
	setPackedCount(z.e.value(), n)
	z.moved()
	z.trim(n)
}

// trim removes the key when it has no member left.
func (z *ZSet) trim(n int) {
	if n > 0 {
		return
	}
	z.tx.vanish(&z.e)
	z.e, z.gen = entry{}, z.tx.gen
}
