package store

// insert adds an item, which must not be present. member are its bytes, for comparison.
func (t *scoreTree) insert(score float64, r ref, member []byte) {
	t.count++
	if t.root == 0 {
		var l *scoreLeaf
		t.root, l = t.newLeaf()
		t.depth = 0
		l.put(0, score, r)
		return
	}
	p := limit{mode: atItem, score: score, member: member}
	var path scorePath
	// Most sets grow at their end: one comparison instead of a search,
	l := t.edge(true, &path)
	last, pos := true, int(l.n)
	switch {
	case t.before(&p, l.score[l.n-1], l.item[l.n-1], false):
	case t.before(&p, l.score[0], l.item[0], false): // and many nearly so
		pos = t.place(&p, l)
	default:
		l, pos = t.seek(&p, &path)
		last = t.isEdge(true, &path)
	}
	for d := range t.depth {
		path[d].n.count[path[d].i]++
	}
	if l.n < leafCap {
		l.put(pos, score, r)
		return
	}
	t.splitLeaf(&path, l, pos, last, score, r)
}

// put makes room at pos of a leaf that is not full.
func (l *scoreLeaf) put(pos int, score float64, r ref) {
	copy(l.score[pos+1:l.n+1], l.score[pos:l.n])
	copy(l.item[pos+1:l.n+1], l.item[pos:l.n])
	l.score[pos], l.item[pos] = score, r
	l.n++
}

// cut takes k items out from pos on.
func (l *scoreLeaf) cut(pos, k int) {
	copy(l.score[pos:], l.score[pos+k:l.n])
	copy(l.item[pos:], l.item[pos+k:l.n])
	l.n -= int64(k)
}

// isEdge reports whether the path takes the last child everywhere, or the first.
func (t *scoreTree) isEdge(last bool, path *scorePath) bool {
	for d := range t.depth {
		if last && path[d].i+1 != int(path[d].n.n) || !last && path[d].i != 0 {
			return false
		}
	}
	return true
}

// splitLeaf adds an item to a full leaf. At the ends of the tree the old leaf stays full, or nearly so, since
// what comes next is most likely beyond it.
func (t *scoreTree) splitLeaf(path *scorePath, l *scoreLeaf, pos int, last bool, score float64, r ref) {
	keep := leafCap / 2
	switch {
	case last && pos == leafCap:
		keep = leafCap
	case last && pos > leafCap/2:
		keep = leafCap * 7 / 8
	case pos == 0 && t.isEdge(false, path):
		keep = 0
	}
	right, rl := t.newLeaf()
	rl.n = int64(copy(rl.score[:], l.score[keep:l.n]))
	copy(rl.item[:], l.item[keep:l.n])
	l.n = int64(keep)
	if pos > keep || keep == leafCap {
		rl.put(pos-keep, score, r)
	} else {
		l.put(pos, score, r)
	}
	if d := t.depth - 1; d >= 0 {
		path[d].n.count[path[d].i] = uint32(l.n)
	}
	t.addChild(path, t.depth-1, right, rl.score[0], rl.item[0], uint32(rl.n), uint32(l.n))
}

// addChild adds a node of count items, the first of which is given, behind the child that the path takes at
// level d. A full node is split; above the root a new one is made, whose other child has left items.
func (t *scoreTree) addChild(path *scorePath, d int, child ref, score float64, item ref, count, left uint32) {
	if d < 0 {
		r, n := t.newInner()
		n.n = 2
		n.child[0], n.child[1] = t.root, child
		n.score[1], n.item[1] = score, item
		n.count[0], n.count[1] = left, count
		t.root = r
		t.depth++
		if t.depth > maxDepth {
			panic("store: a score tree is too deep")
		}
		return
	}
	n, pos := path[d].n, path[d].i+1
	if n.n < innerCap {
		n.put(pos, child, score, item, count)
		return
	}
	keep := innerCap / 2
	if pos == innerCap {
		keep = innerCap
	}
	right, rn := t.newInner()
	rn.take(n, keep)
	if pos > keep || keep == innerCap {
		rn.put(pos-keep, child, score, item, count)
	} else {
		n.put(pos, child, score, item, count)
	}
	if d > 0 {
		path[d-1].n.count[path[d-1].i] = n.total()
	}
	t.addChild(path, d-1, right, rn.score[0], rn.item[0], rn.total(), n.total())
}

// put makes room at pos of an inner node that is not full.
func (n *scoreInner) put(pos int, child ref, score float64, item ref, count uint32) {
	copy(n.child[pos+1:n.n+1], n.child[pos:n.n])
	copy(n.score[pos+1:n.n+1], n.score[pos:n.n])
	copy(n.item[pos+1:n.n+1], n.item[pos:n.n])
	copy(n.count[pos+1:n.n+1], n.count[pos:n.n])
	n.child[pos], n.score[pos], n.item[pos], n.count[pos] = child, score, item, count
	n.n++
}

// cut takes the child at pos out.
func (n *scoreInner) cut(pos int) {
	copy(n.child[pos:], n.child[pos+1:n.n])
	copy(n.score[pos:], n.score[pos+1:n.n])
	copy(n.item[pos:], n.item[pos+1:n.n])
	copy(n.count[pos:], n.count[pos+1:n.n])
	n.n--
}

// take appends the children of o from keep on, which o loses.
func (n *scoreInner) take(o *scoreInner, keep int) {
	copy(n.score[n.n:], o.score[keep:o.n])
	copy(n.item[n.n:], o.item[keep:o.n])
	copy(n.count[n.n:], o.count[keep:o.n])
	n.n += int64(copy(n.child[n.n:], o.child[keep:o.n]))
	o.n = int64(keep)
}

func (n *scoreInner) total() (sum uint32) {
	for _, c := range n.count[:n.n] {
		sum += c
	}
	return sum
}

// remove takes out an item that is present.
func (t *scoreTree) remove(score float64, r ref) {
	var path scorePath
	l := t.edge(false, &path)
	pos := 0
	if l.item[0] != r {
		p := limit{mode: atItem, score: score, member: t.member(r), item: r}
		l, pos = t.seek(&p, &path)
	}
	if l.item[pos] != r {
		panic("store: a member is missing from its score tree")
	}
	t.cut(&path, l, pos, 1)
}

// removeRange takes out n items from the given rank on.
func (t *scoreTree) removeRange(rank, n int) {
	for n > 0 {
		var path scorePath
		l, pos := t.locate(rank, &path)
		k := min(int(l.n)-pos, n)
		t.cut(&path, l, pos, k)
		n -= k
	}
}

// cut takes k items out of a leaf and mends the nodes above.
func (t *scoreTree) cut(path *scorePath, l *scoreLeaf, pos, k int) {
	t.count -= k
	for d := range t.depth {
		path[d].n.count[path[d].i] -= uint32(k)
	}
	l.cut(pos, k)
	d := t.depth - 1
	switch {
	case l.n == 0 && d < 0:
		t.a.Free(t.root)
		t.root = 0
		return
	case l.n == 0:
		t.a.Free(path[d].n.child[path[d].i])
		t.dropChild(path, d)
	default:
		if pos == 0 {
			setFirst(path, d, l.score[0], l.item[0])
		}
		if d >= 0 && l.n <= leafCap/4 {
			t.mergeLeaf(path, d)
		}
	}
	t.lower()
}

// setFirst tells the nodes at level d and above that the first item below the path is another one.
func setFirst(path *scorePath, d int, score float64, item ref) {
	for ; d >= 0; d-- {
		if i := path[d].i; i > 0 {
			path[d].n.score[i], path[d].n.item[i] = score, item
			return
		}
	}
}

// dropChild takes the child of the path at level d, which is freed or has gone into a neighbour, out of its node.
func (t *scoreTree) dropChild(path *scorePath, d int) {
	n, i := path[d].n, path[d].i
	n.cut(i)
	switch {
	case n.n == 0 && d == 0:
		t.a.Free(t.root)
		t.root, t.depth = 0, 0
		return
	case n.n == 0:
		t.a.Free(path[d-1].n.child[path[d-1].i])
		t.dropChild(path, d-1)
		return
	case i == 0:
		setFirst(path, d-1, n.score[0], n.item[0])
	}
	if d > 0 && n.n <= innerCap/4 {
		t.mergeInner(path, d-1)
	}
}

// mergeLeaf joins the leaf below level d with a neighbour when both together leave room.
func (t *scoreTree) mergeLeaf(path *scorePath, d int) {
	n := path[d].n
	j := n.pair(path[d].i, leafCap*3/4, func(i int) int { return int(t.leaf(n.child[i]).n) })
	if j == 0 {
		return
	}
	l, o := t.leaf(n.child[j-1]), t.leaf(n.child[j])
	copy(l.score[l.n:], o.score[:o.n])
	l.n += int64(copy(l.item[l.n:], o.item[:o.n]))
	n.count[j-1] += n.count[j]
	t.a.Free(n.child[j])
	path[d].i = j
	t.dropChild(path, d)
}

// mergeInner is mergeLeaf for an inner node below level d.
func (t *scoreTree) mergeInner(path *scorePath, d int) {
	n := path[d].n
	j := n.pair(path[d].i, innerCap*3/4, func(i int) int { return int(t.inner(n.child[i]).n) })
	if j == 0 {
		return
	}
	l, o := t.inner(n.child[j-1]), t.inner(n.child[j])
	o.score[0], o.item[0] = n.score[j], n.item[j]
	l.take(o, 0)
	n.count[j-1] += n.count[j]
	t.a.Free(n.child[j])
	path[d].i = j
	t.dropChild(path, d)
}

// pair returns the right one of two neighbours, one of them i, that have at most room children or items
// together, 0 when there are none.
func (n *scoreInner) pair(i, room int, size func(int) int) int {
	mine := size(i)
	if i > 0 && size(i-1)+mine <= room {
		return i
	}
	if i+1 < int(n.n) && size(i+1)+mine <= room {
		return i + 1
	}
	return 0
}

// lower takes away roots that have a single child.
func (t *scoreTree) lower() {
	for t.depth > 0 {
		n := t.inner(t.root)
		if n.n > 1 {
			return
		}
		t.a.Free(t.root)
		t.root = n.child[0]
		t.depth--
	}
}
