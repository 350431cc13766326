package server

import (
	"testing"
)

// BenchmarkStatistics is the time that the statistics take of each request in a pipeline: INFO commandstats and latencystats,
// SLOWLOG, LATENCY, and the clock reading that they share with the start of the next command.
func BenchmarkStatistics(b *testing.B) {
	h := newHot(b, hotPaths[0])
	args := [][]byte{[]byte("PING")}
	row, err := h.srv.table.Find(args)
	if err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]func(start int64){
		"all":   func(start int64) { h.srv.account(h.s, row, args, start, error(nil)) },
		"clock": func(int64) { h.srv.mono = h.srv.clock.quick() },
	} {
		b.Run(name, func(b *testing.B) {
			h.srv.stamp()
			b.ReportAllocs()
			for b.Loop() {
				f(h.srv.mono)
			}
		})
	}
}
