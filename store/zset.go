package store

import (
	"github.com/echomq/emqd/store/num"
)

// ZSet is a handle on one sorted-set key: members ordered by score, equal scores by member bytes. It is
// used within its transaction only. Ranks count from 0 at the lowest score.
type ZSet struct {
	tx  *Tx
	key []byte
	e   entry
	gen uint64

	// The member of a large set that was found last, in the generation met: who asks for one mostly takes it out next, or
	// gives it another score, and is spared to look it up again.
	met    ref
	metGen uint64
}

// ZSet opens key as a sorted set. An absent key opens as an empty one, which the first Add creates; a
// key of another kind is ErrWrongType. The handle keeps key.
func (tx *Tx) ZSet(key []byte) (ZSet, error) {
	e, err := tx.findKind(key, KindZSet)
	return ZSet{tx: tx, key: key, e: e, gen: tx.gen}, err
}

// Exists reports whether the key is there.
func (z *ZSet) Exists() bool {
	z.sync()
	return z.e.ok()
}

// sync looks the entry up again when something in the keyspace has moved.
func (z *ZSet) sync() {
	if z.gen != z.tx.gen {
		z.e, z.gen = z.tx.again(&z.e, z.key, z.gen), z.tx.gen
	}
}

// moved notes that this handle's own change may have moved entries.
func (z *ZSet) moved() {
	z.tx.gen++
	z.gen = z.tx.gen
}

func (z *ZSet) table() *zsetTable {
	if !z.e.isObject() {
		return nil
	}
	return z.tx.s.objects[z.e.object()].(*zsetTable)
}

// find returns the block and the score of a member of the large form, 0 when it is absent.
func (z *ZSet) find(t *zsetTable, member []byte) (ref, float64) {
	if z.met == 0 || z.metGen != z.tx.gen || !t.has(z.met, member) {
		z.met, z.metGen = t.d.Find(member), z.tx.gen
	}
	if z.met == 0 {
		return 0, 0
	}
	_, score := t.scored(z.met)
	return z.met, score
}

// Len returns the number of members.
func (z *ZSet) Len() int {
	z.sync()
	if !z.e.ok() {
		return 0
	}
	if t := z.table(); t != nil {
		return t.t.count
	}
	return packedCount(z.e.value())
}

// Encoding returns what OBJECT ENCODING calls the value.
func (z *ZSet) Encoding() string {
	z.sync()
	if z.e.ok() && z.e.flags()&flagWide != 0 {
		return "skiplist"
	}
	return "listpack"
}

// Score returns the score of member.
func (z *ZSet) Score(member []byte) (score float64, ok bool) {
	z.sync()
	if !z.e.ok() {
		return 0, false
	}
	if t := z.table(); t != nil {
		r, score := z.find(t, member)
		return score, r != 0
	}
	_, to, _, score := packedMember(z.e.value(), member)
	return score, to != 0
}

// Rank returns the rank of member and its score.
func (z *ZSet) Rank(member []byte) (rank int, score float64, ok bool) {
	z.sync()
	if !z.e.ok() {
		return 0, 0, false
	}
	if t := z.table(); t != nil {
		r, score := z.find(t, member)
		if r == 0 {
			return 0, 0, false
		}
		return t.t.rank(&limit{mode: atItem, score: score, member: member, item: r}), score, true
	}
	_, to, rank, score := packedMember(z.e.value(), member)
	return rank, score, to != 0
}

// First returns the member with the lowest score.
func (z *ZSet) First() (member []byte, score float64, ok bool) { return z.At(0) }

// Last returns the member with the highest score.
func (z *ZSet) Last() (member []byte, score float64, ok bool) { return z.At(z.Len() - 1) }

// At returns the member of the given rank; ok is false when there is none.
func (z *ZSet) At(rank int) (member []byte, score float64, ok bool) {
	if rank < 0 || rank >= z.Len() {
		return nil, 0, false
	}
	if t := z.table(); t != nil {
		r, score := t.t.at(rank)
		z.met, z.metGen = r, z.tx.gen
		return t.t.member(r), score, true
	}
	v := z.e.value()
	member, score, _ = packedScored(v, packedSeek(v, rank))
	return member, score, true
}

// Range calls f for the members of the ranks from up to but without to, upwards or, with back, downwards, until
// it returns false. Ranks outside the set are left out. f must not change this key.
func (z *ZSet) Range(from, to int, back bool, f func(member []byte, score float64) bool) {
	from, to = max(from, 0), min(to, z.Len())
	if from >= to {
		return
	}
	first := from
	if back {
		first = to - 1
	}
	if t := z.table(); t != nil {
		t.t.each(first, to-from, back, func(r ref, score float64) bool { return f(t.t.member(r), score) })
		return
	}
	packedEach(z.e.value(), first, to-from, back, f)
}

// rank returns how many members stand before the limit.
func (z *ZSet) rank(p *limit) int {
	if z.Len() == 0 {
		return 0
	}
	if t := z.table(); t != nil {
		return t.t.rank(p)
	}
	_, rank := packedLimit(z.e.value(), p)
	return rank
}

// Below returns the number of members whose score is less than score, or at most score with inclusive: the rank at
// which the others begin.
func (z *ZSet) Below(score float64, inclusive bool) int {
	if inclusive {
		return z.rank(&limit{mode: afterScore, score: score})
	}
	return z.rank(&limit{mode: atScore, score: score})
}

// Scores returns the ranks from up to but without to of the members with scores from lo to hi, the ends
// themselves left out with loOut and hiOut. Without any, from equals to.
func (z *ZSet) Scores(lo float64, loOut bool, hi float64, hiOut bool) (from, to int) {
	if lo > hi || lo == hi && (loOut || hiOut) {
		return 0, 0
	}
	from = z.Below(lo, loOut)
	return from, max(from, z.Below(hi, !hiOut))
}

// Lexes returns the ranks from up to but without to of the members between two lexicographic bounds. It means
// something when all scores are equal only.
func (z *ZSet) Lexes(lo, hi num.Lex) (from, to int) {
	from = z.lex(lo, false)
	return from, max(from, z.lex(hi, true))
}

func (z *ZSet) lex(x num.Lex, upper bool) int {
	p, end := lexLimit(x, upper)
	switch end {
	case -1:
		return 0
	case 1:
		return z.Len()
	}
	return z.rank(&p)
}

// Scan calls f for the members of the next part of the set and returns the cursor to go on from, 0 at the
// end. f must not change this key.
func (z *ZSet) Scan(cursor uint64, f func(member []byte, score float64)) uint64 {
	n := z.Len()
	if n == 0 {
		return 0
	}
	t := z.table()
	if t == nil {
		packedEach(z.e.value(), 0, n, false, func(m []byte, score float64) bool {
			f(m, score)
			return true
		})
		return 0
	}
	return t.d.Scan(cursor, func(r ref) { f(t.scored(r)) })
}
