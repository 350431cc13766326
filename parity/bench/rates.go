package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/echomq/emqd/bench"
)

// runPlain compares plain commands at three depths.
func runPlain(ctx context.Context, m *matrix, o *outcome) error {
	wanted := map[int]float64{1: 1.0, 16: 1.3, 64: 1.8}
	return m.pair(logOff, func(a, b *node) error {
		o.Peer = b.Name + " " + b.Version
		t := o.table("50 connections, 16-byte values, no log", compareColumns...)
		var drawn []*bench.Series
		for _, work := range []string{"ping", "get", "set", "hset", "zadd", "zpopmin"} {
			for _, depth := range []int{1, 16, 64} {
				l := m.load(work, 50, depth, 1.2)
				l.Payload = 16
				name := fmt.Sprintf("%s P=%d", strings.ToUpper(work), depth)
				s, err := m.compare(ctx, t, name, l, a, b)
				if err != nil {
					return err
				}
				o.atLeast(name+", throughput", s.Ratio(bench.PerSec), wanted[depth])
				o.atMost(name+", p99", s.Ratio(bench.P99), 1, "")
				if work == "get" || work == "set" {
					drawn = append(drawn, s)
				}
			}
		}
		return o.chart("depth", bench.DepthChart("GET and SET: throughput against depth, 50 connections", drawn))
	})
}

// runJobs compares the job cycle under the three settings of the log.
func runJobs(ctx context.Context, m *matrix, o *outcome) error {
	for _, l := range []log{logOff, logSecond, logAlways} {
		err := m.pair(l, func(a, b *node) error {
			o.Peer = b.Name + " " + b.Version
			return m.jobTable(ctx, o, l, a, b)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *matrix) jobTable(ctx context.Context, o *outcome, l log, a, b *node) error {
	t := o.table("enqueue, claim, complete; 100-byte payload; "+l.name, compareColumns...)
	for _, c := range [][2]int{{50, 1}, {8, 1}, {50, 16}} {
		conns, depth := c[0], c[1]
		name := fmt.Sprintf("c=%d P=%d", conns, depth)
		s, err := m.compare(ctx, t, name, m.load("jobs", conns, depth, 2), a, b)
		if err != nil {
			return err
		}
		what := "job cycle " + name + ", " + l.name
		rate := s.Ratio(bench.PerSec)
		switch {
		case conns == 8:
		case depth == 1 && l == logAlways:
			o.atLeast(what, rate, 1.3)
		case depth == 1:
			o.atLeast(what, rate, 1.2)
		case l == logAlways:
			o.atLeast(what, rate, 2.5)
		default:
			o.atLeast(what, rate, 3)
			o.atMost(what+", server CPU per job", s.Ratio(bench.CPU), 0.3, "")
		}
	}
	return nil
}

// runAllocations counts what the Go heap allocates between socket and reply, by a benchmark of the tests.
func runAllocations(ctx context.Context, m *matrix, o *outcome) error {
	cmd := exec.CommandContext(ctx, "go", "test", "./bench", "-run", "^$", "-bench", "^BenchmarkAllocations$", "-benchtime", "200000x")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	t := o.table("Allocations on the Go heap per request, node and client in one process", "verb", "allocations", "bytes")
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || !strings.HasPrefix(fields[0], "BenchmarkAllocations/") {
			continue
		}
		verb, _, _ := strings.Cut(strings.TrimPrefix(fields[0], "BenchmarkAllocations/"), "-")
		figures := map[string]float64{}
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return err
			}
			figures[fields[i+1]] = v
		}
		t.row(verb, fmt.Sprintf("%.3f", figures["mallocs/op"]), fmt.Sprintf("%.1f", figures["heap-bytes/op"]))
		// What is stored is outside the Go heap; a table that grows now and then is allocated there.
		o.atMost("EMQ."+strings.ToUpper(verb)+", allocations from socket to reply", one(figures["mallocs/op"]), 0.05, "")
	}
	if len(t.Rows) == 0 {
		return fmt.Errorf("the benchmark printed nothing: %s", out)
	}
	return nil
}

// runLoad draws the latency of jobs at rates up to nearly what emqd takes.
func runLoad(ctx context.Context, m *matrix, o *outcome) error {
	return m.pair(logOff, func(a, b *node) error {
		o.Peer = b.Name + " " + b.Version
		t := o.table("Job cycle in an open loop, 50 connections, no log: latency of whole jobs from when they were to begin, ms",
			"jobs/s wanted", "emqd /s", "p50", "p99", "p99.9", "peer /s", "p50", "p99", "p99.9")
		full, err := a.Run(ctx, m.load("jobs", 50, 1, 2))
		if err != nil {
			return err
		}
		var drawn []*bench.Series
		for _, part := range []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9} {
			l := m.load("jobs", 50, 1, 2)
			l.Rate = float64(int(full.PerSec*part/100) * 100)
			sweep := *m
			sweep.rounds = min(m.rounds, 3)
			s, err := sweep.alternate(ctx, fmt.Sprintf("%.0f/s", l.Rate), l, a, b)
			if err != nil {
				return err
			}
			row := []string{fmt.Sprintf("%.0f", l.Rate)}
			for _, runs := range [][]*bench.Result{s.Runs, s.Peer} {
				row = append(row, whole(runs), ms(bench.Of(runs, bench.P50).Median), ms(bench.Of(runs, bench.P99).Median), ms(bench.Of(runs, bench.P999).Median))
			}
			t.row(row...)
			_, _ = fmt.Fprintln(m.out, row)
			drawn = append(drawn, s)
		}
		return o.chart("latency", bench.LatencyChart("Job cycle: latency against load, 50 connections", drawn))
	})
}
