package bench

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/node"
)

// BenchmarkAllocations counts what node and client together allocate on the Go heap for one request of a verb. The
// client's own part, a load's buffers and histograms, is taken off by measuring two loads of different length.
func BenchmarkAllocations(b *testing.B) {
	n := node.Start(b)
	n.Dial().Want("EMQ.INSTALL", "+OK")
	s, err := Open(n.Addr, "", "")
	require.NoError(b, err)
	for _, verb := range []string{"enqueue", "claim", "complete"} {
		b.Run(verb, func(b *testing.B) {
			measure := func(ops int) (mallocs, bytes uint64) {
				l := NewLoad(verb)
				l.Ops, l.Depth = int64(ops), 16
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				r, err := s.Run(context.Background(), l)
				runtime.ReadMemStats(&after)
				require.NoError(b, err)
				require.Empty(b, r.Errors)
				require.NoError(b, s.Clean(l.Prefixes()...))
				return after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc
			}
			const whole = 50_000 // more than a round of the load has
			measure(b.N + whole) // tables grow
			short, shortBytes := measure(whole)
			long, longBytes := measure(b.N + whole)
			b.ReportMetric(float64(int64(long-short))/float64(b.N), "mallocs/op")
			b.ReportMetric(float64(int64(longBytes-shortBytes))/float64(b.N), "heap-bytes/op")
		})
	}
	require.NoError(b, s.Close())
}
