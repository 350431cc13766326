package bench

import (
	"context"
	"slices"
)

// Series is the runs of one load on a server, and those on the peer in between.
type Series struct {
	Title string    `json:"title"`
	Runs  []*Result `json:"runs"`
	Peer  []*Result `json:"peer_runs,omitempty"`
}

// Alternate drives a load on the server and on the peer in turn, so that what changes on the machine meets both alike.
// Without a peer it drives the server alone. What the load wrote is removed after each run.
func Alternate(ctx context.Context, l Load, rounds int, target, peer *Server) (*Series, error) {
	s := &Series{}
	one := func(on *Server, list *[]*Result) error {
		r, err := on.Run(ctx, l)
		if clean := on.Clean(l.Prefixes()...); err == nil {
			err = clean
		}
		if err == nil {
			*list = append(*list, r)
		}
		return err
	}
	for range rounds {
		if err := one(target, &s.Runs); err != nil {
			return s, err
		}
		if peer != nil {
			if err := one(peer, &s.Peer); err != nil {
				return s, err
			}
		}
		if ctx.Err() != nil {
			break
		}
	}
	return s, nil
}

// Spread is a figure of several runs: the median, the least and the most.
type Spread struct {
	Median float64 `json:"median"`
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
}

// Of returns the spread of a figure of each run.
func Of(runs []*Result, figure func(*Result) float64) Spread {
	values := make([]float64, len(runs))
	for i, r := range runs {
		values[i] = figure(r)
	}
	return SpreadOf(values)
}

// SpreadOf returns the spread of values, of an even number of which the median is the mean of the two in the middle.
func SpreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	mid := len(sorted) / 2
	median := sorted[mid]
	if len(sorted)%2 == 0 {
		median = (sorted[mid-1] + sorted[mid]) / 2
	}
	return Spread{median, sorted[0], sorted[len(sorted)-1]}
}

// Ratio is the ratio of the medians of a figure, with the least and the most of the ratios of runs that followed each
// other. It is 0 when the peer's figure is not known.
func (s *Series) Ratio(figure func(*Result) float64) Spread {
	own, peer := Of(s.Runs, figure), Of(s.Peer, figure)
	if peer.Median == 0 {
		return Spread{}
	}
	var each []float64
	for i := range min(len(s.Runs), len(s.Peer)) {
		if p := figure(s.Peer[i]); p > 0 {
			each = append(each, figure(s.Runs[i])/p)
		}
	}
	spread := SpreadOf(each)
	spread.Median = own.Median / peer.Median
	return spread
}

// The figures that are compared.
func PerSec(r *Result) float64 { return r.PerSec }

// CPU is the server's processor time for an operation, in microseconds.
func CPU(r *Result) float64 { return r.CPU }

// P50, P99, P999 and Max are latencies of a whole operation, in microseconds.
func P50(r *Result) float64 { return r.Latency.P50 }

// P99 is explained at P50.
func P99(r *Result) float64 { return r.Latency.P99 }

// P999 is explained at P50.
func P999(r *Result) float64 { return r.Latency.P999 }

// Max is explained at P50.
func Max(r *Result) float64 { return r.Latency.Max }
