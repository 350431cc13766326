package server

import "math/bits"

// histogram counts durations in log-linear buckets: eight to each doubling, so a percentile is at most 12.5% off.
type histogram struct {
	buckets [histBuckets]uint32
	count   int64
}

const histBuckets = 40 * 8

// bucketOf returns the bucket of a duration in nanoseconds.
func bucketOf(nanos int64) int {
	if nanos < 8 {
		return int(max(nanos, 0))
	}
	exp := bits.Len64(uint64(nanos)) - 1 // >= 3
	b := (exp-2)*8 + int(nanos>>(exp-3))&7
	return min(b, histBuckets-1)
}

// bucketTop returns the longest duration of a bucket in nanoseconds.
func bucketTop(b int) int64 {
	if b < 8 {
		return int64(b)
	}
	exp := b/8 + 2
	return (int64(b%8)+9)<<(exp-3) - 1
}

func (h *histogram) add(nanos int64) {
	h.buckets[bucketOf(nanos)]++
	h.count++
}

// percentile returns the duration in nanoseconds below which p percent of the calls were.
func (h *histogram) percentile(p float64) int64 {
	want := int64(p / 100 * float64(h.count))
	seen := int64(0)
	for b, n := range h.buckets {
		seen += int64(n)
		if n > 0 && seen >= want {
			return bucketTop(b)
		}
	}
	return 0
}
