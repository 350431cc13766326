package store

import "github.com/echomq/emqd/store/num"

// Encoding returns what OBJECT ENCODING calls the form of this list: listpack while Valkey would keep it in one
// piece by the list-max-listpack-size setting, else quicklist.
func (l *List) Encoding() string {
	if l.Len() > 0 && l.beyondLimit() {
		return "quicklist"
	}
	return "listpack"
}

// beyondLimit reports whether the list is too large for one listpack. Once it was, only half the limit is
// allowed, since Valkey turns back no sooner. It looks at no more bytes than the limit.
func (l *List) beyondLimit() bool {
	items, size := listLimit(l.tx.s.Limits.ListSize)
	if l.e.flags()&flagWide != 0 {
		items, size = items/2, size/2
	}
	if l.Len() > items {
		return true
	}
	size -= listpackFrame
	l.Each(0, func(value []byte) bool {
		size -= listpackSize(value)
		return size >= 0
	})
	return size < 0
}

// listLimit returns the most items and bytes of a listpack under the setting list-max-listpack-size: a number of
// items, or -1 to -5 for 4 to 64 KB.
func listLimit(setting int) (items, size int) {
	const noLimit = 1 << 30
	switch {
	case setting >= 0:
		return max(setting, 1), 8 << 10
	case setting < -5:
		return noLimit, 64 << 10
	}
	return noLimit, 2 << 10 << -setting
}

// listpackFrame is the size of a listpack without elements.
const listpackFrame = 7

// listpackSize returns the bytes that value takes in Valkey's listpack.
func listpackSize(value []byte) int {
	if n, ok := num.Int(value); ok {
		return listpackIntSize(n)
	}
	size := len(value)
	switch {
	case size < 1<<6:
		size++
	case size < 1<<12:
		size += 2
	default:
		size += 5
	}
	return size + uvarintLen(size)
}

// listpackIntSize is listpackSize of the text of n.
func listpackIntSize(n int64) int {
	switch {
	case n >= 0 && n < 1<<7:
		return 2
	case n >= -1<<12 && n < 1<<12:
		return 3
	case n >= -1<<15 && n < 1<<15:
		return 4
	case n >= -1<<23 && n < 1<<23:
		return 5
	case n >= -1<<31 && n < 1<<31:
		return 6
	}
	return 10
}
