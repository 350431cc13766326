package store

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// A member that is there during a whole pass is given at least once, whatever comes and goes, and a pass is linear.
func TestSetScanWhileItChanges(t *testing.T) {
	for seed := range uint64(15) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s := New(1, seed)
		tx := s.Begin(0, 1, false)
		set, err := tx.Set([]byte("s"))
		require.NoError(t, err)
		keep := 1 + rng.IntN(2000)
		for i := range keep {
			set.Add([]byte("keep" + strconv.Itoa(i)))
		}
		var others []string
		add := func(n int) {
			for range n {
				name := "other" + strconv.Itoa(rng.IntN(1<<20))
				if set.Add([]byte(name)) {
					others = append(others, name)
				}
			}
		}
		remove := func(n int) {
			for ; n > 0 && len(others) > 0; n-- {
				require.True(t, set.Remove([]byte(others[len(others)-1])))
				others = others[:len(others)-1]
			}
		}
		add(rng.IntN(8_000))
		grow := rng.IntN(3) // shrinks, stays, grows
		seen, given, calls, most := map[string]bool{}, 0, 0, set.Len()
		for cursor := uint64(0); ; {
			cursor = set.Scan(cursor, func(m []byte) {
				seen[string(m)] = true
				given++
			})
			if calls++; cursor == 0 {
				break
			}
			most = max(most, set.Len())
			switch grow {
			case 0:
				remove(rng.IntN(200))
			case 1:
				add(rng.IntN(7))
				remove(rng.IntN(7))
			case 2:
				add(rng.IntN(9))
			}
		}
		for i := range keep {
			require.True(t, seen["keep"+strconv.Itoa(i)], "seed %d: member %d of %d", seed, i, keep)
		}
		require.LessOrEqual(t, given, 4*most+10, "seed %d", seed)
		require.LessOrEqual(t, calls, most+10, "seed %d", seed)
		tx.Commit()
	}
}
