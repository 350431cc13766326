package store

import (
	"bytes"
	"math"
	"unsafe"
)

// scoreTree is the order of a large sorted set: a B+tree of (score, member) with the number of items below
// each child, so that a rank is found, and found again from, in O(log n).
//
// Its nodes are arena blocks and name each other and the members by refs: the collector sees none of them. An item's
// score stands in the leaf, its member bytes only in the member's own block.
type scoreTree struct {
	a     *arena
	root  ref
	depth int // levels of inner nodes above the leaves
	count int
}

const (
	leafCap  = 63 // makes a leaf fill a slot of 1024 bytes
	innerCap = 63
	maxDepth = 12
)

// scoreLeaf holds items in order.
type scoreLeaf struct {
	n     int64
	score [leafCap]float64
	item  [leafCap]ref
}

// scoreInner holds children in order. score and item are the first item below each child but the first, for
// which they mean nothing: that item is a matter of the nodes above.
type scoreInner struct {
	n     int64
	child [innerCap]ref
	score [innerCap]float64
	item  [innerCap]ref
	count [innerCap]uint32
}

// scorePath is the way from the root to a leaf: at each inner node the child that was taken.
type scorePath [maxDepth]struct {
	n *scoreInner
	i int
}

// The nodes are structs without Go pointers, laid over blocks that are long enough and aligned to 8.

func (t *scoreTree) leaf(r ref) *scoreLeaf {
	return (*scoreLeaf)(unsafe.Pointer(unsafe.SliceData(t.a.Bytes(r))))
}

func (t *scoreTree) inner(r ref) *scoreInner {
	return (*scoreInner)(unsafe.Pointer(unsafe.SliceData(t.a.Bytes(r))))
}

func (t *scoreTree) newLeaf() (ref, *scoreLeaf) {
	r, _ := t.a.Alloc(int(unsafe.Sizeof(scoreLeaf{})))
	l := t.leaf(r)
	l.n = 0
	return r, l
}

func (t *scoreTree) newInner() (ref, *scoreInner) {
	r, _ := t.a.Alloc(int(unsafe.Sizeof(scoreInner{})))
	n := t.inner(r)
	n.n = 0
	return r, n
}

// member returns the member bytes of an item.
func (t *scoreTree) member(r ref) []byte { return entryKey(t.a.Bytes(r)) }

// limit is a place in the order: between the items that are before it and the others.
type limit struct {
	mode   limitMode
	score  float64
	member []byte
	item   ref // the item's own block if it has one, to save looking at its bytes
}

type limitMode uint8

const (
	atItem      limitMode = iota // before the item of this score and member
	atScore                      // before the items of this score
	afterScore                   // after them
	atMember                     // before this member, scores aside
	afterMember                  // after it
)

// before reports whether an item stands before the limit; an item that is the limit's own does if same.
func (t *scoreTree) before(p *limit, score float64, r ref, same bool) bool {
	switch p.mode {
	case atItem:
		switch {
		case score != p.score:
			return score < p.score
		case r == p.item:
			return same
		}
		c := bytes.Compare(t.member(r), p.member)
		return c < 0 || same && c == 0
	case atScore:
		return score < p.score
	case afterScore:
		return score <= p.score
	case atMember:
		return bytes.Compare(t.member(r), p.member) < 0
	}
	return bytes.Compare(t.member(r), p.member) <= 0
}

// seek finds the limit's place: the leaf and the position in it. An item that is the limit's own is at that position; the
// place after the last item of a leaf is in that leaf.
func (t *scoreTree) seek(p *limit, path *scorePath) (l *scoreLeaf, pos int) {
	r := t.root
	for d := range t.depth {
		n := t.inner(r)
		i := t.passed(p, n.score[1:n.n], n.item[1:n.n], true)
		path[d].n, path[d].i = n, i
		r = n.child[i]
	}
	l = t.leaf(r)
	return l, t.place(p, l)
}

// place returns the limit's position in a leaf.
func (t *scoreTree) place(p *limit, l *scoreLeaf) int {
	return t.passed(p, l.score[:l.n], l.item[:l.n], false)
}

// passed returns how many of some items in order stand before the limit. Scores are enough for nearly all of them, and they are
// searched without a branch that depends on one: half as long as by calls of before.
func (t *scoreTree) passed(p *limit, scores []float64, items []ref, same bool) int {
	lo, hi := 0, len(scores)
	switch p.mode {
	case atScore:
		return below(scores, p.score)
	case afterScore:
		return upTo(scores, p.score)
	case atItem:
		lo = below(scores, p.score)
		if lo == hi || scores[lo] != p.score {
			return lo
		}
		hi = lo + upTo(scores[lo:], p.score)
	}
	for lo < hi {
		m := (lo + hi) / 2
		if t.before(p, scores[m], items[m], same) {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// below returns how many of the scores, which are in order, are less than x.
func below(scores []float64, x float64) int {
	at := 0
	for n := len(scores); n > 0; {
		half := (n + 1) / 2
		less := 0
		if scores[at+half-1] < x {
			less = 1
		}
		at += half & -less
		n -= half
	}
	return at
}

// upTo returns how many of the scores, which are in order, are not greater than x.
func upTo(scores []float64, x float64) int {
	if math.IsInf(x, 1) {
		return len(scores)
	}
	return below(scores, math.Nextafter(x, math.Inf(1)))
}

// rank returns the number of items before the limit.
func (t *scoreTree) rank(p *limit) int {
	if t.root == 0 {
		return 0
	}
	var path scorePath
	_, rank := t.seek(p, &path)
	for d := range t.depth {
		for _, c := range path[d].n.count[:path[d].i] {
			rank += int(c)
		}
	}
	return rank
}

// locate finds the item of the given rank, which is below count.
func (t *scoreTree) locate(rank int, path *scorePath) (l *scoreLeaf, pos int) {
	r := t.root
	for d := range t.depth {
		n := t.inner(r)
		i := 0
		for rank >= int(n.count[i]) {
			rank -= int(n.count[i])
			i++
		}
		path[d].n, path[d].i = n, i
		r = n.child[i]
	}
	return t.leaf(r), rank
}

// edge goes down the first children, or the last, and returns the leaf there.
func (t *scoreTree) edge(last bool, path *scorePath) *scoreLeaf {
	r := t.root
	for d := range t.depth {
		n := t.inner(r)
		i := 0
		if last {
			i = int(n.n) - 1
		}
		path[d].n, path[d].i = n, i
		r = n.child[i]
	}
	return t.leaf(r)
}

// at returns the item of the given rank, which is below count.
func (t *scoreTree) at(rank int) (ref, float64) {
	var path scorePath
	var l *scoreLeaf
	pos := 0
	switch rank {
	case 0:
		l = t.edge(false, &path)
	case t.count - 1:
		l = t.edge(true, &path)
		pos = int(l.n) - 1
	default:
		l, pos = t.locate(rank, &path)
	}
	return l.item[pos], l.score[pos]
}

// each calls f for the n items from the given rank on, onwards or backwards, until it returns false. f changes
// nothing.
func (t *scoreTree) each(rank, n int, back bool, f func(r ref, score float64) bool) {
	if n <= 0 {
		return
	}
	var path scorePath
	l, pos := t.locate(rank, &path)
	for {
		if !f(l.item[pos], l.score[pos]) {
			return
		}
		if n--; n == 0 {
			return
		}
		if back {
			if pos--; pos < 0 {
				l = t.neighbour(true, &path)
				pos = int(l.n) - 1
			}
		} else if pos++; pos == int(l.n) {
			l = t.neighbour(false, &path)
			pos = 0
		}
	}
}

// neighbour moves the path to the next leaf, or the one before; there is one.
func (t *scoreTree) neighbour(back bool, path *scorePath) *scoreLeaf {
	d := t.depth - 1
	for back && path[d].i == 0 || !back && path[d].i+1 == int(path[d].n.n) {
		d--
	}
	if back {
		path[d].i--
	} else {
		path[d].i++
	}
	r := path[d].n.child[path[d].i]
	for d++; d < t.depth; d++ {
		n := t.inner(r)
		i := 0
		if back {
			i = int(n.n) - 1
		}
		path[d].n, path[d].i = n, i
		r = n.child[i]
	}
	return t.leaf(r)
}

// reclaim frees up to budget nodes of a tree that nobody uses any more and reports whether it is gone.
func (t *scoreTree) reclaim(budget int) bool {
	for ; t.root != 0; budget-- {
		if budget <= 0 {
			return false
		}
		var path scorePath
		t.edge(true, &path)
		d := t.depth - 1
		for ; d >= 0; d-- {
			n := path[d].n
			t.a.Free(n.child[path[d].i])
			if n.n--; n.n > 0 {
				break
			}
		}
		if d < 0 {
			t.a.Free(t.root)
			*t = scoreTree{a: t.a}
		}
	}
	return true
}
