package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/echomq/emqd/server/resp"
)

// waitVerbs are the calls that wait for what never comes. The timeout is put behind them.
var waitVerbs = []string{
	"EMQ.BCLAIM 3 ~pending ~active ~ 60000", "EMQ.GROUP.BCLAIM 3 ~ring ~active ~ 60000", "BZPOPMIN ~nothing",
}

// waitConns connections wait for each verb, one time after the other.
const waitConns = 10

// waitLoads are what the node does meanwhile.
var waitLoads = []struct {
	name        string
	conns, deep int
}{
	{"nothing", 0, 0}, {"jobs on 8 connections, P=1", 8, 1}, {"jobs on 8 connections, P=16", 8, 16}, {"jobs on 50 connections, P=16", 50, 16}, {"jobs on 50 connections, P=200", 50, 200},
}

// runWaits measures by how much timeouts of waiting calls are late while other clients keep the node busy: from when the node has
// begun the call, which a TIME in front of it tells, to when its reply is here. How long the call was on its way before stands beside
// it, and how late a timer of the measuring process itself is, which asks the node nothing: so late is the machine.
func runWaits(ctx context.Context, m *matrix, o *outcome) error {
	a, err := m.startEmqd(logOff)
	if err != nil {
		return err
	}
	defer a.remove()
	each := m.pick(60, 25)
	t := o.table(fmt.Sprintf("Timeouts of 5 to 400 ms, %d connections and %d waits a verb", waitConns, waitConns*each),
		"beside", "verb", "waits", "early", "late p50 ms", "p99 ms", "max ms", "on its way p99 ms", "max ms", "own timer p99 ms", "max ms")
	early, late := 0, time.Duration(0)
	for _, beside := range waitLoads {
		waits, own, err := a.waitBeside(ctx, m, beside.conns, beside.deep, each)
		if err != nil {
			return err
		}
		for i, verb := range waitVerbs {
			w := waits[i]
			name, _, _ := strings.Cut(verb, " ")
			t.row(beside.name, name, strconv.Itoa(len(w.late)), strconv.Itoa(w.early), millis(w.late, 0.5), millis(w.late, 0.99), millis(w.late, 1),
				millis(w.way, 0.99), millis(w.way, 1), millis(own, 0.99), millis(own, 1))
			early += w.early
			if beside.conns > 0 {
				late = max(late, percentile(w.late, 0.99))
			}
		}
	}
	o.atMost("timeouts of waiting calls, early", one(float64(early)), 0, "")
	o.atMost("timeouts of waiting calls under load, p99 of lateness", one(late.Seconds()*1e3), 10, " ms")
	return nil
}

// waited is what one verb's waits gave: how late they were and how long on their way, in order of length, and how many took less
// than they were to.
type waited struct {
	late, way []time.Duration
	early     int
}

func percentile(sorted []time.Duration, p float64) time.Duration {
	return sorted[max(int(p*float64(len(sorted))+0.5), 1)-1]
}

func millis(sorted []time.Duration, p float64) string {
	return ms(percentile(sorted, p).Seconds() * 1e6)
}

// ownTimer sleeps again and again until ctx is done and returns by how much it overslept, in order of length.
func ownTimer(ctx context.Context) (late []time.Duration) {
	const span = 20 * time.Millisecond
	for ctx.Err() == nil {
		begin := time.Now()
		time.Sleep(span)
		late = append(late, time.Since(begin)-span)
	}
	slices.Sort(late)
	return late
}

// waitBeside has all connections wait beside a load of jobs, if it has connections.
func (n *node) waitBeside(ctx context.Context, m *matrix, conns, depth, each int) (waits []waited, own []time.Duration, err error) {
	ahead, err := n.ahead()
	if err != nil {
		return nil, nil, err
	}
	ctx, over := context.WithCancel(ctx)
	defer over()
	load := make(chan error, 1)
	if conns == 0 {
		load <- nil
	} else {
		l := m.load("jobs", conns, depth, 600)
		l.Warmup = 0
		go func() {
			_, err := n.Run(ctx, l)
			load <- err
		}()
		time.Sleep(300 * time.Millisecond) // until it runs
	}
	waits = make([]waited, len(waitVerbs))
	timed := make(chan []time.Duration, 1)
	go func() { timed <- ownTimer(ctx) }()
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range waitConns * len(waitVerbs) {
		all.Go(func() {
			got, failed := n.waitOnOne(waitVerbs[i%len(waitVerbs)], uint64(i), each, ahead)
			mu.Lock()
			defer mu.Unlock()
			err = errors.Join(err, failed)
			w := &waits[i%len(waitVerbs)]
			w.late, w.way, w.early = append(w.late, got.late...), append(w.way, got.way...), w.early+got.early
		})
	}
	all.Wait()
	over()
	err = errors.Join(err, <-load)
	for i := range waits {
		slices.Sort(waits[i].late)
		slices.Sort(waits[i].way)
	}
	return waits, <-timed, err
}

// ahead returns by how much the node's clock is ahead of this process's: of many looks the one that took the shortest time.
func (n *node) ahead() (time.Duration, error) {
	best, ahead := time.Hour, time.Duration(0)
	for range 200 {
		begin := time.Now()
		reply, err := n.Do("TIME")
		took := time.Since(begin)
		if err != nil {
			return 0, err
		}
		if took >= best {
			continue
		}
		words, _ := reply.([]any)
		if len(words) != 2 {
			return 0, fmt.Errorf("TIME replied %v", reply)
		}
		at, err := nodeTime(fmt.Sprint(words[0]), fmt.Sprint(words[1]))
		if err != nil {
			return 0, err
		}
		best, ahead = took, at.Sub(begin.Add(took/2))
	}
	return ahead, nil
}

func nodeTime(seconds, micros string) (time.Time, error) {
	s, err1 := strconv.ParseInt(seconds, 10, 64)
	us, err2 := strconv.ParseInt(micros, 10, 64)
	return time.Unix(s, us*1e3), errors.Join(err1, err2)
}

// waitOnOne waits on a connection of its own, again and again.
func (n *node) waitOnOne(verb string, seed uint64, each int, ahead time.Duration) (w waited, err error) {
	conn, err := net.Dial("tcp", n.Addr)
	if err != nil {
		return w, err
	}
	defer func() { _ = conn.Close() }() // nothing is asked any more
	replies := resp.NewReplyReader(conn)
	random := rand.New(rand.NewPCG(seed, 1))
	for range each {
		span := time.Duration(5_000+random.IntN(395_000)) * time.Microsecond
		call := resp.AppendRequest(nil, "TIME")
		call = resp.AppendRequest(call, append(words(verb), fmt.Sprintf("%.6f", span.Seconds()))...)
		sent := time.Now()
		if _, err := conn.Write(call); err != nil {
			return w, err
		}
		reply, err := replies.Next()
		if err != nil {
			return w, err
		}
		parts := strings.Fields(string(reply)) // *2 $10 seconds $6 micros
		if len(parts) != 5 {
			return w, fmt.Errorf("TIME replied %q", reply)
		}
		begun, err := nodeTime(parts[2], parts[4])
		if err != nil {
			return w, err
		}
		if reply, err = replies.Next(); err != nil || reply[0] == '-' {
			return w, fmt.Errorf("%s replied %q: %w", verb, reply, err)
		}
		got := time.Now()
		begun = begun.Add(-ahead)
		w.late, w.way = append(w.late, got.Sub(begun)-span), append(w.way, begun.Sub(sent))
		if got.Sub(sent) < span {
			w.early++
		}
	}
	return w, nil
}
