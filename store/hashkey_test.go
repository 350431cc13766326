package store

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHashSpreads: keys as clients name them, of all lengths, fill buckets and tags evenly, and each byte of a key counts.
func TestHashSpreads(t *testing.T) {
	names := map[string]func(i int) string{
		"numbers": func(i int) string { return fmt.Sprint(i) },
		"padded":  func(i int) string { return fmt.Sprintf("key:%012d", i) },
		"rows":    func(i int) string { return fmt.Sprintf("emq:{q}:job:JOB%011d", i) },
		"queues":  func(i int) string { return fmt.Sprintf("emq:{q%d}:pending", i) },
		"lengths": func(i int) string { return string(make([]byte, i)) },
	}
	const keys, places = 1 << 14, 1 << 10
	for name, at := range names {
		low, high := make([]int, places), make([]int, places)
		for i := range keys {
			h := hashOf([]byte(at(i)))
			low[h%places]++
			high[h>>54]++
		}
		// Sixteen are expected in each, with a standard deviation of four: nine of these are beyond all chance.
		for i := range places {
			require.InDelta(t, keys/places, low[i], 36, name)
			require.InDelta(t, keys/places, high[i], 36, name)
		}
	}
	for n := range 70 {
		key := make([]byte, n)
		seen := map[uint64]bool{hashOf(key): true}
		for i := range key {
			for bit := range 8 {
				key[i] ^= 1 << bit
				h := hashOf(key)
				key[i] ^= 1 << bit
				require.False(t, seen[h], "bit %d of byte %d of %d", bit, i, n)
				seen[h] = true
			}
		}
	}
}
