package main

import (
	"context"
	"fmt"

	"github.com/echomq/emqd/bench"
)

// compareColumns are those of the tables that set the peer beside emqd.
var compareColumns = []string{"case", "emqd /s", "peer /s", "ratio", "p99 ms, emqd / peer", "ratio", "server CPU us, emqd / peer", "ratio"}

// compare runs a load on both servers in turn, adds a row and returns the series.
func (m *matrix) compare(ctx context.Context, t *table, name string, l bench.Load, a, b *node) (*bench.Series, error) {
	s, err := m.alternate(ctx, name, l, a, b)
	if err != nil {
		return nil, err
	}
	p99 := s.Ratio(bench.P99)
	t.row(name, whole(s.Runs), whole(s.Peer), spread(s.Ratio(bench.PerSec)), both(s, "%.2f", bench.P99, 1e3), spread(p99),
		both(s, "%.2f", bench.CPU, 1), spread(s.Ratio(bench.CPU)))
	_, _ = fmt.Fprintf(m.out, "%s\n", t.Rows[len(t.Rows)-1])
	return s, nil
}

// alternate runs a load on both servers in turn, or on emqd alone. A wrong reply is a failure.
func (m *matrix) alternate(ctx context.Context, name string, l bench.Load, a, b *node) (*bench.Series, error) {
	var peer *bench.Server
	if b != nil {
		peer = b.Server
	}
	s, err := bench.Alternate(ctx, l, m.rounds, a.Server, peer)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, r := range append(append([]*bench.Result{}, s.Runs...), s.Peer...) {
		if err := wrongReplies(name, r); err != nil {
			return nil, err
		}
		if r.Ops == 0 {
			return nil, fmt.Errorf("%s on %s: nothing was done", name, r.Server.Name)
		}
	}
	s.Title = name
	return s, ctx.Err()
}

// wrongReplies is an error when a run had any.
func wrongReplies(name string, r *bench.Result) error {
	if len(r.Errors) == 0 {
		return nil
	}
	return fmt.Errorf("%s on %s: %d wrong replies: %s", name, r.Server.Name, r.Errors[0].Count, r.Errors[0].Text)
}

// both writes the medians of a figure of both sides.
func both(s *bench.Series, format string, figure func(*bench.Result) float64, unit float64) string {
	own, peer := bench.Of(s.Runs, figure).Median/unit, bench.Of(s.Peer, figure).Median/unit
	return fmt.Sprintf(format+" / "+format, own, peer)
}

func whole(runs []*bench.Result) string {
	return fmt.Sprintf("%.0f", bench.Of(runs, bench.PerSec).Median)
}

// ms writes a latency in milliseconds.
func ms(micros float64) string { return fmt.Sprintf("%.2f", micros/1e3) }

// ratio is the ratio of the medians of two lists of runs of one server, with the ratios of pairs.
func ratio(over, under []*bench.Result, figure func(*bench.Result) float64) bench.Spread {
	s := bench.Series{Runs: over, Peer: under}
	return s.Ratio(figure)
}
