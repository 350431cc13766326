package store

// A run is a row of list items that can be walked from both ends:
//
//	item length (uvarint) | item | item length (uvarint, its bytes reversed) | ...

// runSize returns the bytes that an item of n bytes takes.
func runSize(n int) int { return n + 2*uvarintLen(n) }

// putRun writes item at the start of b and returns the width.
func putRun(b, item []byte) int {
	w := putUvarint(b, len(item))
	at := w + copy(b[w:], item)
	for i := range w {
		b[at+i] = b[w-1-i]
	}
	return at + w
}

// runItem returns the item that begins at offset at and the offset of the next one.
func runItem(b []byte, at int) (item []byte, next int) {
	n, w := uvarint(b[at:])
	at += w
	return b[at : at+n : at+n], at + n + w
}

// runItemBack returns the item that ends before offset end and the offset where it begins.
func runItemBack(b []byte, end int) (item []byte, start int) {
	n, w := 0, 0
	for more := true; more; w++ {
		c := b[end-1-w]
		n |= int(c&0x7f) << (7 * w)
		more = c >= 0x80
	}
	end -= w
	return b[end-n : end : end], end - n - w
}

// runAt returns where item i of the n items in b[from:to] begins and ends, i < n, walking from the nearer end.
func runAt(b []byte, from, to, n, i int) (start, end int) {
	if i < n/2 {
		for ; i > 0; i-- {
			_, from = runItem(b, from)
		}
		_, end = runItem(b, from)
		return from, end
	}
	for i = n - 1 - i; i > 0; i-- {
		_, to = runItemBack(b, to)
	}
	_, start = runItemBack(b, to)
	return start, to
}

// runCut takes up to limit items equal to value out of b[from:to], the first ones or, with back, the last
// ones. What is kept closes up towards the end it started from; its bounds are returned.
func runCut(b []byte, from, to int, value []byte, limit int, back bool) (newFrom, newTo, cut int) {
	if back {
		w := to
		for at := to; at > from; {
			item, start := runItemBack(b, at)
			if cut < limit && string(item) == string(value) {
				cut++
			} else {
				w -= at - start
				copy(b[w:], b[start:at])
			}
			at = start
		}
		return w, to, cut
	}
	w := from
	for at := from; at < to; {
		item, next := runItem(b, at)
		if cut < limit && string(item) == string(value) {
			cut++
		} else {
			w += copy(b[w:], b[at:next])
		}
		at = next
	}
	return from, w, cut
}

// runEach calls f for the items in b[from:to] until it returns false, and reports whether it never did.
func runEach(b []byte, from, to int, f func([]byte) bool) bool {
	for from < to {
		item, next := runItem(b, from)
		if !f(item) {
			return false
		}
		from = next
	}
	return true
}

// runEachBack is runEach from the right.
func runEachBack(b []byte, from, to int, f func([]byte) bool) bool {
	for to > from {
		item, start := runItemBack(b, to)
		if !f(item) {
			return false
		}
		to = start
	}
	return true
}
