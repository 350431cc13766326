package store

// List is a handle on one list key. It is used within its transaction only. Indexes count from the left, from 0.
//
// The small form is packed in the key's block: the number of items (2 bytes) and a run. The large form is a listDeque.
type List struct {
	tx  *Tx
	key []byte
	e   entry
	gen uint64
}

const (
	listPackedBytes = 8 << 10 // the longest packed list
	listRepack      = 512     // a list in one chunk that shrank to this is packed again
)

// List opens key as a list. An absent key opens as an empty list, which the first push creates; a key of
// another kind is ErrWrongType. The handle keeps key.
func (tx *Tx) List(key []byte) (List, error) {
	e, err := tx.findKind(key, KindList)
	return List{tx: tx, key: key, e: e, gen: tx.gen}, err
}

// Exists reports whether the key is there.
func (l *List) Exists() bool {
	l.sync()
	return l.e.ok()
}

// sync looks the entry up again when something in the keyspace has moved.
func (l *List) sync() {
	if l.gen != l.tx.gen {
		l.e, l.gen = l.tx.again(&l.e, l.key, l.gen), l.tx.gen
	}
}

// moved notes that this handle's own change may have moved entries.
func (l *List) moved() {
	l.tx.gen++
	l.gen = l.tx.gen
}

func (l *List) deque() *listDeque {
	if !l.e.isObject() {
		return nil
	}
	return l.tx.s.objects[l.e.object()].(*listDeque)
}

// Len returns the number of items.
func (l *List) Len() int {
	l.sync()
	if !l.e.ok() {
		return 0
	}
	if q := l.deque(); q != nil {
		return q.count
	}
	return packedCount(l.e.value())
}

// PushLeft puts value, which is copied, before the first item.
func (l *List) PushLeft(value []byte) {
	l.sync()
	l.tx.extend("LPUSH", l.key, value)
	l.push(l.tx.effects.last(), true)
}

// PushRight puts value, which is copied, behind the last item.
func (l *List) PushRight(value []byte) {
	l.sync()
	l.tx.extend("RPUSH", l.key, value)
	l.push(l.tx.effects.last(), false)
}

// push is a push without its effect. value does not alias the keyspace.
func (l *List) push(value []byte, left bool) {
	tx := l.tx
	if !l.e.ok() {
		l.e = tx.make(l.key, KindList, packedHead)
		setPackedCount(l.e.value(), 0)
		l.moved()
	}
	q, chunks := l.deque(), 0
	if q == nil {
		if l.pushPacked(value, left) {
			return
		}
		q = l.spread(left)
	} else {
		chunks = q.n
	}
	if left {
		q.pushLeft(tx.s, value)
	} else {
		q.pushRight(tx.s, value)
	}
	if q.n != chunks {
		l.mark()
	}
}

// mark remembers that the list grew beyond the limit of a listpack. It is asked whenever a chunk is added.
func (l *List) mark() {
	if l.e.flags()&flagWide == 0 && l.beyondLimit() {
		l.e.setFlag(flagWide)
	}
}

// pushPacked pushes into the packed form, unless it would become too long.
func (l *List) pushPacked(value []byte, left bool) bool {
	v := l.e.value()
	size, at := runSize(len(value)), len(v)
	if at+size > listPackedBytes {
		return false
	}
	if left {
		at = packedHead
	}
	l.tx.db.splice(l.tx.s, &l.e, at, at, size)
	v = l.e.value()
	putRun(v[at:], value)
	setPackedCount(v, packedCount(v)+1)
	l.moved()
	return true
}

// spread turns the packed form into a deque with room on the given side.
func (l *List) spread(left bool) *listDeque {
	tx := l.tx
	q := newListDeque()
	v := l.e.value()
	if run := v[packedHead:]; len(run) > 0 {
		c := q.open(tx.s, 0)
		r, b := tx.s.a.Alloc(listChunkBytes)
		at := 0
		if left {
			at = len(b) - len(run)
		}
		copy(b[at:], run)
		*c = listChunk{r: r, from: uint32(at), to: uint32(at + len(run)), n: uint32(packedCount(v))}
		q.count = packedCount(v)
	}
	tx.db.hold(tx.s, &l.e, q)
	l.moved()
	return q
}

// settle removes the key when the deque has no item left, and packs it when few are.
func (l *List) settle(q *listDeque) {
	tx := l.tx
	if q.count == 0 {
		l.gone()
		return
	}
	if q.n > 1 || q.count > 64 {
		return
	}
	c := *q.chunk(0)
	if c.to-c.from > listRepack {
		return
	}
	run := tx.s.a.Bytes(c.r)[c.from:c.to]
	tx.s.discard(l.e.object())
	l.e.b[0] &^= formObject
	l.e.b[l.e.meta] &^= flagWide
	tx.db.resize(tx.s, &l.e, packedHead+len(run))
	v := l.e.value()
	setPackedCount(v, int(c.n))
	copy(v[packedHead:], run)
	l.moved()
}

func (l *List) gone() {
	l.tx.vanish(&l.e)
	l.e, l.gen = entry{}, l.tx.gen
}

// At returns item i.
func (l *List) At(i int) (value []byte, ok bool) {
	if i < 0 || i >= l.Len() {
		return nil, false
	}
	if q := l.deque(); q != nil {
		j, place := q.find(i)
		b, start, _ := q.span(l.tx.s, j, place)
		value, _ = runItem(b, start)
		return value, true
	}
	v := l.e.value()
	start, _ := runAt(v, packedHead, len(v), packedCount(v), i)
	value, _ = runItem(v, start)
	return value, true
}

// Each calls f for the items from index from rightwards until it returns false. f must not change this key.
func (l *List) Each(from int, f func(value []byte) bool) {
	l.walk(from, false, f)
}

// EachBack calls f for the items from index from leftwards until it returns false. f must not change this key.
func (l *List) EachBack(from int, f func(value []byte) bool) {
	l.walk(from, true, f)
}

func (l *List) walk(i int, back bool, f func(value []byte) bool) {
	n := l.Len()
	if i < 0 || i >= n {
		return
	}
	q := l.deque()
	if q == nil {
		v := l.e.value()
		start, end := runAt(v, packedHead, len(v), n, i)
		if back {
			runEachBack(v, packedHead, end, f)
		} else {
			runEach(v, start, len(v), f)
		}
		return
	}
	j, place := q.find(i)
	b, start, end := q.span(l.tx.s, j, place)
	if back {
		for more := runEachBack(b, int(q.chunk(j).from), end, f); more && j > 0; {
			j--
			c := q.chunk(j)
			more = runEachBack(l.tx.s.a.Bytes(c.r), int(c.from), int(c.to), f)
		}
		return
	}
	for more := runEach(b, start, int(q.chunk(j).to), f); more && j < q.n-1; {
		j++
		c := q.chunk(j)
		more = runEach(l.tx.s.a.Bytes(c.r), int(c.from), int(c.to), f)
	}
}
