package parity

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	emqd "github.com/echomq/emqd/parity/node"
	"github.com/echomq/emqd/parity/real"
	"github.com/echomq/emqd/parity/wire"
)

// TestStreamMemory fills a stream with entries of three short fields on both servers: emqd needs at most 1.5 times the memory, by
// what each tells of itself.
func TestStreamMemory(t *testing.T) {
	entries := 1_000_000
	if testing.Short() {
		entries = 100_000
	}
	theirs := real.Start(t)
	ours, err := wire.Dial("tcp", emqd.Start(t).Addr)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ours.Close()) })
	used := func(s *wire.Target) int64 {
		reply, err := s.Control("INFO", "memory")
		require.NoError(t, err)
		_, rest, ok := strings.Cut(string(reply), "\r\nused_memory:")
		require.True(t, ok)
		number, _, _ := strings.Cut(rest, "\r\n")
		n, err := strconv.ParseInt(number, 10, 64)
		require.NoError(t, err)
		return n
	}
	grown := func(s *wire.Target) int64 {
		before := used(s)
		const part = 10_000
		for first := 0; first < entries; first += part {
			calls := make([][]string, part)
			for i := range calls {
				k := first + i
				calls[i] = []string{"XADD", "s", fmt.Sprintf("%d-0", 1_000_000+3*k), "kind", "order", "size", strconv.Itoa(k % 997),
					"user", fmt.Sprintf("u%d", k*7919%100_000)}
			}
			_, err := s.Pipeline(calls)
			require.NoError(t, err)
		}
		return used(s) - before
	}
	mine, other := grown(ours), grown(theirs)
	t.Logf("%d entries: %d bytes here, %d there, %.2f times", entries, mine, other, float64(mine)/float64(other))
	require.LessOrEqual(t, float64(mine), 1.5*float64(other))
}
