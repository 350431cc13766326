package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/echomq/emqd/bench"
)

// runScale compares jobs over many queues and with large payloads, and has the leases of a million jobs run out.
func runScale(ctx context.Context, m *matrix, o *outcome) error {
	err := m.pair(logOff, func(a, b *node) error {
		o.Peer = b.Name + " " + b.Version
		t := o.table("Job cycle, no log", compareColumns...)
		for _, c := range []struct {
			name                          string
			queues, conns, depth, payload int
		}{
			{"one queue", 1, 50, 1, 100}, {"100,000 queues", 100_000, 50, 1, 100}, {"100,000 queues, P=16", 100_000, 50, 16, 100},
			{"4 KB payload", 1, 50, 1, 4 << 10}, {"4 KB payload, P=16", 1, 50, 16, 4 << 10}, {"1 MB payload, c=8", 1, 8, 1, 1 << 20},
		} {
			l := m.load("jobs", c.conns, c.depth, 2)
			l.Queues, l.Payload = c.queues, c.payload
			if _, err := m.compare(ctx, t, c.name, l, a, b); err != nil {
				return err
			}
		}
		t = o.table("Lanes and flows, no log", compareColumns...)
		for _, work := range []string{"lanes", "flows"} {
			for _, depth := range []int{1, 16} {
				if _, err := m.compare(ctx, t, fmt.Sprintf("%s P=%d", work, depth), m.load(work, 50, depth, 2), a, b); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.lapsed(ctx, o)
}

// lapsed lets a million leases run out and has the node recover the jobs while others work.
func (m *matrix) lapsed(ctx context.Context, o *outcome) error {
	a, err := m.startEmqd(logOff)
	if err != nil {
		return err
	}
	defer a.remove()
	if err := a.fill(ctx, m, "lapsed", million); err != nil {
		return err
	}
	l := m.load("lapse", 50, 16, 0)
	l.Ops, l.Name = million, "lapsed"
	if _, err := a.Run(ctx, l); err != nil {
		return err
	}
	full, err := a.Run(ctx, m.load("jobs", 50, 1, 2))
	if err != nil {
		return err
	}
	before, err := a.Run(ctx, m.paced(full.PerSec/2, 4*time.Second))
	if err != nil {
		return err
	}
	driver, err := bench.Open(a.Addr, "", "")
	if err != nil {
		return err
	}
	defer func() { _ = driver.Close() }() // nothing was asked since
	recovering, cancel := context.WithCancel(ctx)
	defer cancel()
	took := make(chan time.Duration, 1)
	go func() {
		defer cancel()
		took <- a.recover(recovering)
	}()
	during, err := driver.Run(recovering, m.paced(full.PerSec/2, 2*time.Minute))
	if err != nil {
		return err
	}
	t := o.table("A million leases that ran out, recovered by the pump (every 10 ms, batches of 100) while others work at half of the capacity",
		"", "p50 ms", "p99 ms", "p99.9 ms", "max ms", "recovered in s")
	for _, r := range []*bench.Result{before, during} {
		name, seconds := "before", ""
		if r == during {
			name, seconds = "meanwhile", fmt.Sprintf("%.1f", (<-took).Seconds())
		}
		t.row(name, ms(slowest(r, func(d bench.Dist) float64 { return d.P50 })), ms(requestP99(r)), ms(requestP999(r)), ms(requestMax(r)), seconds)
	}
	left, err := a.Do("ZCARD", "emq:{lapsed}:active")
	if err != nil || left != int64(0) {
		return fmt.Errorf("%v of a million leases are not recovered: %w", left, err)
	}
	o.atMost("a million expired leases recovered, longest request meanwhile", one(requestMax(during)/1e3), 50, " ms")
	return nil
}

// recover turns the pump on and waits until no lease is left.
func (n *node) recover(ctx context.Context) time.Duration {
	begin := time.Now()
	if _, err := n.Do("CONFIG", "SET", "pump", "10ms", "pump-max-stalled", "3"); err != nil {
		return 0
	}
	for ctx.Err() == nil {
		if left, err := n.Do("ZCARD", "emq:{lapsed}:active"); err != nil || left == int64(0) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return time.Since(begin)
}

// openConns is how many connections the mixed work has: enough that what is due finds a free one.
const openConns = 200

// busy finds the rate of an open loop of l's work at which the node's processor time is that share of one processor. An
// operation costs less at a high rate, where a turn finds several requests and the client is awake already: so it is looked
// for in steps.
func (n *node) busy(ctx context.Context, l bench.Load, share float64) (rate, closed float64, err error) {
	l.Conns = openConns
	full, err := n.Run(ctx, l)
	if err != nil {
		return 0, 0, err
	}
	rate = full.PerSec * share / 2
	for range 3 {
		l.Rate = rate
		r, err := n.Run(ctx, l)
		if err != nil {
			return 0, 0, err
		}
		rate *= share / (r.CPU * r.PerSec / 1e6)
	}
	return rate, full.PerSec, nil
}

// runTails drives mixed work that keeps a processor of the node busy for 60% of the time, beside a million jobs and through
// one rewrite of the log.
func runTails(ctx context.Context, m *matrix, o *outcome) error {
	a, err := m.startEmqd(logSecond, "--latency-monitor-threshold", strconv.Itoa(namedMS), "--slowlog-log-slower-than", "5000")
	if err != nil {
		return err
	}
	defer a.remove()
	if err := a.fill(ctx, m, "resident", million); err != nil {
		return err
	}
	rate, closed, err := a.busy(ctx, m.load("mixed", openConns, 1, 5), 0.6)
	if err != nil {
		return err
	}
	if _, err := a.Do("LATENCY", "RESET"); err != nil {
		return err
	}
	l := m.load("mixed", openConns, 1, 1)
	l.Rate, l.Duration, l.Warmup, l.PauseLimit = rate, m.tails, time.Second, pauseLimit
	driver, err := bench.Open(a.Addr, "", "")
	if err != nil {
		return err
	}
	defer func() { _ = driver.Close() }() // nothing was asked since
	rewrites := make(chan rewriteSpan, 1)
	go func() {
		time.Sleep(m.tails / 2)
		rewrites <- a.spanOfRewrite(ctx)
	}()
	host, err := watchHost()
	if err != nil {
		return err
	}
	r, err := driver.Run(ctx, l)
	took, err := host.end(err)
	if err != nil {
		return err
	}
	s := <-rewrites
	if s.err != nil {
		return s.err
	}
	if err := wrongReplies("mixed", r); err != nil {
		return err
	}
	t := o.table(fmt.Sprintf("Jobs, lanes, GET and SET at %.0f operations/s, which keep a processor of the node busy for 60%% of the time, for %v; a closed loop takes %.0f; "+
		"a million jobs resident, fsync every second, one rewrite of %.1f s; ms", l.Rate, m.tails, closed, s.took.Seconds()), "request", "count", "p50", "p99", "p99.9", "max", "p99.9 / p50")
	add := func(name string, d bench.Dist) {
		t.row(name, fmt.Sprint(d.Count), ms(d.P50), ms(d.P99), ms(d.P999), ms(d.Max), fmt.Sprintf("%.1f", d.P999/d.P50))
	}
	worst := 0.0
	for _, v := range r.Requests {
		add(v.Name, v.Latency)
		worst = max(worst, v.Latency.P999/v.Latency.P50)
	}
	add("whole operations", r.Latency)
	o.HDR = r.Latency.HDR
	o.atMost("tails of mixed load, p99.9 over p50 of the worst kind of request", one(worst), 5, "")
	o.atMost("tails of mixed load, max", one(requestMax(r)/1e3), 50, " ms")
	if err := a.pauses(o, r, s, took); err != nil {
		return err
	}
	if err := o.chart("percentiles", bench.PercentileChart("Mixed load at 60% of capacity: latency of operations by percentile", []*bench.Series{{Runs: []*bench.Result{r}}})); err != nil {
		return err
	}
	return m.plainTails(ctx, o)
}

// plainTails has both servers answer GET and nothing else, without data to speak of, a log or a rewrite, with the same
// share of a processor as the mixed work: what is left of the tails then is the machine's and the client's.
func (m *matrix) plainTails(ctx context.Context, o *outcome) error {
	t := o.table("For comparison: GET and nothing else at 60% of a processor, no log, no rewrite; ms", "server", "requests/s", "p50", "p99", "p99.9", "max", "p99.9 / p50")
	return m.pair(logOff, func(a, b *node) error {
		o.Peer = b.Name + " " + b.Version
		runs := map[*node][]*bench.Result{}
		rates := map[*node]float64{}
		for _, n := range []*node{a, b} {
			rate, _, err := n.busy(ctx, m.load("get", openConns, 1, 3), 0.6)
			if err != nil {
				return err
			}
			rates[n] = rate
		}
		for range m.rounds {
			for _, n := range []*node{a, b} {
				l := m.load("get", openConns, 1, 20)
				l.Rate = rates[n]
				r, err := n.Run(ctx, l)
				if err != nil {
					return err
				}
				if err := wrongReplies("get", r); err != nil {
					return err
				}
				runs[n] = append(runs[n], r)
			}
		}
		for _, n := range []*node{a, b} {
			of := func(figure func(*bench.Result) float64) string { return ms(bench.Of(runs[n], figure).Median) }
			over := bench.Of(runs[n], func(r *bench.Result) float64 { return r.Latency.P999 / r.Latency.P50 })
			t.row(n.Name, whole(runs[n]), of(bench.P50), of(bench.P99), of(bench.P999), ms(bench.Of(runs[n], requestMax).Most),
				fmt.Sprintf("%.1f (%.1f-%.1f)", over.Median, over.Least, over.Most))
		}
		return nil
	})
}
