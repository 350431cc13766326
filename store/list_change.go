package store

import "bytes"

// PopLeft takes the first item out; the key goes with its last item. The value stays what it is until the
// list is changed again or another value is popped.
func (l *List) PopLeft() (value []byte, ok bool) { return l.pop("LPOP", true) }

// PopRight takes the last item out, like PopLeft.
func (l *List) PopRight() (value []byte, ok bool) { return l.pop("RPOP", false) }

func (l *List) pop(effect string, left bool) (value []byte, ok bool) {
	n := l.Len()
	if n == 0 {
		return nil, false
	}
	tx := l.tx
	tx.record(effect, l.key)
	if q := l.deque(); q != nil {
		if left {
			value = q.popLeft(tx.s)
		} else {
			value = q.popRight(tx.s)
		}
		l.settle(q)
		return value, true
	}
	// What follows closes up over the item.
	v := l.e.value()
	from, to := packedHead, len(v)
	if left {
		value, to = runItem(v, from)
	} else {
		value, from = runItemBack(v, to)
	}
	tx.popped = append(tx.popped[:0], value...)
	l.cutPacked(from, to, n-1)
	return tx.popped, true
}

// PopLeftN takes the first n items out, or all, calling f for each before any is gone, and returns how
// many there were. f must not change this key.
func (l *List) PopLeftN(n int, f func(value []byte)) int {
	n = min(n, l.Len())
	if n <= 0 {
		return 0
	}
	l.tx.record("LPOP", l.key, l.tx.itoa(int64(n)))
	left := n
	l.Each(0, func(value []byte) bool {
		f(value)
		left--
		return left > 0
	})
	l.keep(n, l.Len())
	return n
}

// PopRightN takes the last n items out, the last one first, like PopLeftN.
func (l *List) PopRightN(n int, f func(value []byte)) int {
	n = min(n, l.Len())
	if n <= 0 {
		return 0
	}
	l.tx.record("RPOP", l.key, l.tx.itoa(int64(n)))
	left := n
	l.EachBack(l.Len()-1, func(value []byte) bool {
		f(value)
		left--
		return left > 0
	})
	l.keep(0, l.Len()-n)
	return n
}

// Trim keeps the items from..to-1 only, 0 <= from, to <= Len; the key goes when there are none.
func (l *List) Trim(from, to int) {
	n := l.Len()
	if n == 0 || from == 0 && to == n {
		return
	}
	if from >= to {
		l.tx.record("LTRIM", l.key, []byte("1"), []byte("0"))
		l.gone()
		return
	}
	var text [20]byte
	first := append(text[:0], l.tx.itoa(int64(from))...)
	l.tx.record("LTRIM", l.key, first, l.tx.itoa(int64(to-1)))
	l.keep(from, to)
}

// keep is Trim without its effect.
func (l *List) keep(from, to int) {
	if from >= to {
		l.gone()
		return
	}
	if q := l.deque(); q != nil {
		q.trim(l.tx.s, from, to)
		l.settle(q)
		return
	}
	v := l.e.value()
	n := packedCount(v)
	if to < n {
		start, _ := runAt(v, packedHead, len(v), n, to)
		l.cutPacked(start, len(v), to)
	}
	if from > 0 {
		v = l.e.value()
		start, _ := runAt(v, packedHead, len(v), to, from)
		l.cutPacked(packedHead, start, to-from)
	}
}

// cutPacked takes the bytes from..to out of the packed form, which leaves n items.
func (l *List) cutPacked(from, to, n int) {
	if n == 0 {
		l.gone()
		return
	}
	l.tx.db.splice(l.tx.s, &l.e, from, to, 0)
	setPackedCount(l.e.value(), n)
	l.moved()
}

// Set makes item i value, which is copied, and reports whether there is an item i.
func (l *List) Set(i int, value []byte) bool {
	if i < 0 || i >= l.Len() {
		return false
	}
	tx := l.tx
	tx.record("LSET", l.key, tx.itoa(int64(i)), value)
	value = tx.effects.last()
	if q := l.deque(); q != nil {
		q.set(tx.s, i, value)
		return true
	}
	v := l.e.value()
	from, to := runAt(v, packedHead, len(v), packedCount(v), i)
	size := runSize(len(value))
	if len(v)-(to-from)+size > listPackedBytes {
		l.spread(false).set(tx.s, i, value)
		return true
	}
	tx.db.splice(tx.s, &l.e, from, to, size)
	putRun(l.e.value()[from:], value)
	l.moved()
	return true
}

// Insert puts value, which is copied, before or after the first item equal to pivot, and reports whether
// there is one.
func (l *List) Insert(pivot, value []byte, after bool) bool {
	i := l.index(pivot)
	if i < 0 {
		return false
	}
	tx := l.tx
	if after {
		tx.record("LINSERT", l.key, []byte("AFTER"), pivot, value)
		i++
	} else {
		tx.record("LINSERT", l.key, []byte("BEFORE"), pivot, value)
	}
	value = tx.effects.last()
	n := l.Len()
	if i == 0 || i == n {
		l.push(value, i == 0)
		return true
	}
	if q := l.deque(); q != nil {
		q.insert(tx.s, i, value)
		return true
	}
	v := l.e.value()
	size := runSize(len(value))
	if len(v)+size > listPackedBytes {
		l.spread(false).insert(tx.s, i, value)
		return true
	}
	at, _ := runAt(v, packedHead, len(v), n, i)
	tx.db.splice(tx.s, &l.e, at, at, size)
	putRun(l.e.value()[at:], value)
	setPackedCount(l.e.value(), n+1)
	l.moved()
	return true
}

// index returns the place of the first item equal to value, -1 when there is none.
func (l *List) index(value []byte) int {
	i, found := -1, false
	l.Each(0, func(item []byte) bool {
		i++
		found = bytes.Equal(item, value)
		return !found
	})
	if !found {
		return -1
	}
	return i
}

// Remove takes items equal to value out and returns how many there were: the first limit ones, the last -limit
// ones when it is negative, all when it is 0. The key goes with its last item.
func (l *List) Remove(value []byte, limit int) int {
	if l.index(value) < 0 {
		return 0
	}
	tx := l.tx
	tx.record("LREM", l.key, tx.itoa(int64(limit)), value)
	value = tx.effects.last()
	back, most := limit < 0, limit
	switch {
	case limit == 0:
		most = l.Len()
	case back:
		most = max(-limit, 1)
	}
	if q := l.deque(); q != nil {
		removed := q.remove(tx.s, value, most, back)
		l.settle(q)
		return removed
	}
	v := l.e.value()
	n := packedCount(v)
	from, to, removed := runCut(v, packedHead, len(v), value, most, back)
	copy(v[packedHead:], v[from:to])
	l.cutPacked(packedHead+to-from, len(v), n-removed)
	return removed
}
