package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/echomq/emqd/bench"
)

const million = 1_000_000

// runMemory fills both servers with a million pending jobs, reads the memory and times restarts.
func runMemory(ctx context.Context, m *matrix, o *outcome) error {
	t := o.table("A million pending jobs of 100-byte payload, fsync every second", "what", "emqd", "peer", "ratio")
	var rss, log, base [2]float64
	err := m.pair(logSecond, func(a, b *node) error {
		o.Peer = b.Name + " " + b.Version
		for i, n := range []*node{a, b} {
			empty := n.resident()
			if err := n.fill(ctx, m, "resident", million); err != nil {
				return err
			}
			rss[i] = float64(n.resident()) / (1 << 20)
			_, _ = fmt.Fprintf(m.out, "%s: %.0f MB, %.0f of them before\n", n.Name, rss[i], float64(empty)/(1<<20))
		}
		for i, n := range []*node{a, b} {
			took, err := n.again()
			if err != nil {
				return err
			}
			log[i] = took.Seconds()
			if _, err := n.rewrite(ctx); err != nil {
				return err
			}
			if took, err = n.again(); err != nil {
				return err
			}
			base[i] = took.Seconds()
			reply, err := n.Do("ZCARD", "emq:{resident}:pending")
			if err != nil || reply != int64(million) {
				return fmt.Errorf("%s has %v jobs after its restarts: %w", n.Name, reply, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, row := range []struct {
		what, format string
		v            [2]float64
	}{{"resident memory, MB", "%.0f", rss}, {"restart from the log as written, s", "%.2f", log}, {"restart from a rewritten log, s", "%.2f", base}} {
		t.row(row.what, fmt.Sprintf(row.format, row.v[0]), fmt.Sprintf(row.format, row.v[1]), fmt.Sprintf("%.2f", row.v[0]/row.v[1]))
	}
	o.atMost("1 M pending jobs, resident memory", one(rss[0]/rss[1]), 1, "")
	o.atMost("1 M pending jobs, restart from the log", one(log[0]/log[1]), 0.5, "")
	o.atMost("1 M pending jobs, restart from a rewritten log", one(base[0]/base[1]), 0.5, "")
	return nil
}

// again restarts the server and returns how long it took until it served.
func (n *node) again() (time.Duration, error) {
	if err := n.down(); err != nil {
		return 0, err
	}
	return n.up(5 * time.Minute)
}

// runCompaction measures the latency of jobs at half of what the server takes, while the log is rewritten and while not.
func runCompaction(ctx context.Context, m *matrix, o *outcome) error {
	t := o.table("Jobs that keep a processor of the server busy for half of the time, a million more resident, fsync every second; latency of requests, ms",
		"server", "jobs/s", "p99 idle", "p99 rewriting", "ratio", "p99.9 rewriting", "max idle", "max rewriting", "rewrite, s")
	return m.pair(logSecond, func(a, b *node) error {
		o.Peer = b.Name + " " + b.Version
		for _, n := range []*node{a, b} {
			if err := n.fill(ctx, m, "resident", million); err != nil {
				return err
			}
			rate, _, err := n.busy(ctx, m.load("jobs", openConns, 1, 3), 0.5)
			if err != nil {
				return err
			}
			if _, err := n.Do("CONFIG", "SET", "latency-monitor-threshold", strconv.Itoa(namedMS)); err != nil {
				return err
			}
			var idle, during []*bench.Result
			var took []float64
			var worst rewritten
			for range min(m.rounds, m.pick(3, 2)) { // a rewrite takes its time, on purpose
				w, err := m.whileRewriting(ctx, n, rate)
				if err != nil {
					return err
				}
				// As long as the rewrite took: what disturbs the machine comes in bursts, and a short run is as often between them.
				r, err := n.Run(ctx, m.paced(rate, max(w.rewrite.took, 4*time.Second)))
				if err != nil {
					return err
				}
				idle = append(idle, r)
				if worst.result == nil || requestMax(w.result) > requestMax(worst.result) {
					worst = w
				}
				during, took = append(during, w.result), append(took, w.rewrite.took.Seconds())
			}
			slow := ratio(during, idle, requestP99)
			t.row(n.Name, fmt.Sprintf("%.0f", rate), ms(bench.Of(idle, requestP99).Median), ms(bench.Of(during, requestP99).Median), spread(slow),
				ms(bench.Of(during, requestP999).Median), ms(bench.Of(idle, requestMax).Most), ms(bench.Of(during, requestMax).Most),
				fmt.Sprintf("%.1f", bench.SpreadOf(took).Median))
			_, _ = fmt.Fprintln(m.out, t.Rows[len(t.Rows)-1])
			if n == a {
				o.atMost("compaction under load with 1 M jobs, p99 against idle", slow, 1.5, "")
				o.atMost("compaction under load with 1 M jobs, max", one(bench.Of(during, requestMax).Most/1e3), 20, " ms")
				if err := n.pauses(o, worst.result, worst.rewrite, worst.host); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// paced is a load of jobs at a fixed rate.
func (m *matrix) paced(rate float64, duration time.Duration) bench.Load {
	l := m.load("jobs", openConns, 1, 1)
	l.Rate, l.Duration = rate, duration
	return l
}

// rewritten is one run through a rewrite.
type rewritten struct {
	result  *bench.Result
	rewrite rewriteSpan
	host    hostTook
}

// whileRewriting drives jobs for as long as a rewrite takes.
func (m *matrix) whileRewriting(ctx context.Context, n *node, rate float64) (w rewritten, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rewrites := make(chan rewriteSpan, 1)
	go func() {
		time.Sleep(400 * time.Millisecond) // the load is warm
		rewrites <- n.spanOfRewrite(ctx)
		cancel()
	}()
	driver, err := bench.Open(n.Addr, "", "")
	if err != nil {
		return w, err
	}
	host, err := watchHost()
	if err != nil {
		return w, err
	}
	l := m.paced(rate, 2*time.Minute)
	l.PauseLimit = pauseLimit
	w.result, err = driver.Run(ctx, l)
	if w.host, err = host.end(err); err != nil {
		return w, err
	}
	if err := driver.Close(); err != nil {
		return w, err
	}
	w.rewrite = <-rewrites
	return w, w.rewrite.err
}

// requestP99, requestP999 and requestMax are of the slowest kind of request, which an operation is made of.
func requestP99(r *bench.Result) float64 {
	return slowest(r, func(d bench.Dist) float64 { return d.P99 })
}

func requestP999(r *bench.Result) float64 {
	return slowest(r, func(d bench.Dist) float64 { return d.P999 })
}

func requestMax(r *bench.Result) float64 {
	return slowest(r, func(d bench.Dist) float64 { return d.Max })
}

func slowest(r *bench.Result, figure func(bench.Dist) float64) float64 {
	most := 0.0
	for _, v := range r.Requests {
		most = max(most, figure(v.Latency))
	}
	return most
}

// runClaim claims from a queue of ten thousand pending jobs and from one of ten million, in turn on one node.
func runClaim(ctx context.Context, m *matrix, o *outcome) error {
	a, err := m.startEmqd(logOff)
	if err != nil {
		return err
	}
	defer a.remove()
	jobs := map[string]int{"small": 10_000, "large": 10 * million}
	for name, n := range jobs {
		if err := a.fill(ctx, m, name, n); err != nil {
			return err
		}
	}
	runs := map[string][]*bench.Result{}
	for range m.rounds {
		for _, name := range []string{"small", "large"} {
			l := m.load("reclaim", 50, 1, 2)
			l.Name = name
			r, err := a.Run(ctx, l)
			if err != nil {
				return err
			}
			if err := wrongReplies("claim", r); err != nil {
				return err
			}
			runs[name] = append(runs[name], r)
		}
	}
	t := o.table("Claims, 50 connections, each job given back after its turn", "pending", "claims/s", "p50 ms", "p99 ms", "server CPU us")
	for _, name := range []string{"small", "large"} {
		t.row(fmt.Sprint(jobs[name]), whole(runs[name]), ms(bench.Of(runs[name], bench.P50).Median), ms(bench.Of(runs[name], bench.P99).Median),
			fmt.Sprintf("%.2f", bench.Of(runs[name], bench.CPU).Median))
	}
	o.atMost("claim from 10 M pending against 10 k, p50", ratio(runs["large"], runs["small"], bench.P50), 1.5, "")
	o.atMost("claim from 10 M pending against 10 k, p99", ratio(runs["large"], runs["small"], bench.P99), 1.5, "")
	o.atMost("claim from 10 M pending against 10 k, server CPU", ratio(runs["large"], runs["small"], bench.CPU), 1.5, "")
	rss := float64(a.resident())
	t.row("resident memory", fmt.Sprintf("%.0f MB, %.0f bytes a job", rss/(1<<20), rss/(10*million)), "", "", "")
	return nil
}

// runConnections measures what ten thousand idle connections take, and what they do to fifty busy ones.
func runConnections(ctx context.Context, m *matrix, o *outcome) error {
	const idle = 10_000
	t := o.table("Jobs with 50 connections, alone and beside ten thousand idle ones, in turn", "server", "bytes per idle connection", "p99 ms alone", "p99 ms beside", "ratio",
		"throughput ratio")
	return m.pair(logOff, func(a, b *node) error {
		o.Peer = b.Name + " " + b.Version
		for _, n := range []*node{a, b} {
			var alone, beside []*bench.Result
			var bytes []float64
			for range m.rounds {
				for _, crowd := range []int{0, idle} {
					before := n.resident()
					conns, err := crowdOf(n, crowd)
					if err != nil {
						return err
					}
					if crowd > 0 {
						bytes = append(bytes, float64(n.resident()-before)/float64(crowd))
					}
					r, err := n.Run(ctx, m.load("jobs", 50, 1, 2))
					for _, c := range conns {
						_ = c.Close() // idle until the end
					}
					if err != nil {
						return err
					}
					if crowd > 0 {
						beside = append(beside, r)
					} else {
						alone = append(alone, r)
					}
				}
			}
			first := bytes[0] // the first crowd finds no memory that an earlier one has left
			p99 := ratio(beside, alone, bench.P99)
			t.row(n.Name, fmt.Sprintf("%.0f", first), ms(bench.Of(alone, bench.P99).Median), ms(bench.Of(beside, bench.P99).Median), spread(p99),
				spread(ratio(beside, alone, bench.PerSec)))
			if n == a {
				o.atMost("10,000 idle connections, bytes each", one(first), 20<<10, " bytes")
				o.atMost("10,000 idle connections, p99 of 50 busy ones", p99, 1.1, "")
			}
		}
		return nil
	})
}

// crowdOf opens connections that have asked once and ask no more.
func crowdOf(n *node, size int) (conns []net.Conn, err error) {
	buf := make([]byte, 64)
	for range size {
		c, err := net.Dial("tcp", n.Addr)
		if err != nil {
			return conns, err
		}
		conns = append(conns, c)
		if _, err := c.Write([]byte("*1\r\n$4\r\nPING\r\n")); err != nil {
			return conns, err
		}
		if _, err := c.Read(buf); err != nil {
			return conns, err
		}
	}
	return conns, nil
}
