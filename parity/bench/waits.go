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
	{"nothing", 0, 0}, {"jobs on 8 connections, P=1", 8, 1}, {"jobs on 8 connections, P=16", 8, 16}, {"jobs on 50 connections, P=16", 50, 16},
}

// runWaits measures by how much timeouts of waiting calls are late while other clients keep the node busy. Two figures beside each
// tell what of that is the machine's: how long a PING takes on the same connections, and how late a timer of the measuring process
// itself is, which asks the node nothing.
func runWaits(ctx context.Context, m *matrix, o *outcome) error {
	a, err := m.startEmqd(logOff)
	if err != nil {
		return err
	}
	defer a.remove()
	each := m.pick(60, 25)
	t := o.table(fmt.Sprintf("Timeouts of 5 to 400 ms, %d connections and %d waits a verb", waitConns, waitConns*each),
		"beside", "verb", "waits", "early", "late p50 ms", "p99 ms", "max ms", "PING p99 ms", "max ms", "own timer p99 ms", "max ms")
	early, late := 0, time.Duration(0)
	for _, beside := range waitLoads {
		waits, own, err := a.waitBeside(ctx, m, beside.conns, beside.deep, each)
		if err != nil {
			return err
		}
		for i, verb := range waitVerbs {
			w := waits[i]
			name, _, _ := strings.Cut(verb, " ")
			t.row(beside.name, name, strconv.Itoa(len(w.late)), strconv.Itoa(w.early()), millis(w.late, 0.5), millis(w.late, 0.99), millis(w.late, 1),
				millis(w.ping, 0.99), millis(w.ping, 1), millis(own, 0.99), millis(own, 1))
			early += w.early()
			late = max(late, percentile(w.late, 0.99))
		}
	}
	o.atMost("timeouts of waiting calls, early", one(float64(early)), 0, "")
	o.atMost("timeouts of waiting calls under load, p99 of lateness", one(late.Seconds()*1e3), 10, " ms")
	return nil
}

// waited is what one verb's waits gave, in order of length.
type waited struct{ late, ping []time.Duration }

func (w *waited) early() int {
	return len(w.late) - len(w.late[sortedBelow(w.late, 0):])
}

func sortedBelow(sorted []time.Duration, limit time.Duration) int {
	n, _ := slices.BinarySearch(sorted, limit)
	return n
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
			late, ping, failed := n.waitOnOne(waitVerbs[i%len(waitVerbs)], uint64(i), each)
			mu.Lock()
			defer mu.Unlock()
			err = errors.Join(err, failed)
			w := &waits[i%len(waitVerbs)]
			w.late, w.ping = append(w.late, late...), append(w.ping, ping...)
		})
	}
	all.Wait()
	over()
	err = errors.Join(err, <-load)
	for i := range waits {
		slices.Sort(waits[i].late)
		slices.Sort(waits[i].ping)
	}
	return waits, <-timed, err
}

// waitOnOne waits on a connection of its own, again and again, and returns by how much each reply was late and how long a PING took.
func (n *node) waitOnOne(verb string, seed uint64, each int) (late, ping []time.Duration, err error) {
	conn, err := net.Dial("tcp", n.Addr)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = conn.Close() }() // nothing is asked any more
	replies := resp.NewReplyReader(conn)
	ask := func(call ...string) (time.Duration, error) {
		begin := time.Now()
		if _, err := conn.Write(resp.AppendRequest(nil, call...)); err != nil {
			return 0, err
		}
		reply, err := replies.Next()
		if err == nil && reply[0] == '-' {
			err = fmt.Errorf("refused: %q", reply)
		}
		return time.Since(begin), err
	}
	random := rand.New(rand.NewPCG(seed, 1))
	for range each {
		micros := 5_000 + random.IntN(395_000)
		took, err := ask(append(words(verb), fmt.Sprintf("0.%06d", micros))...)
		if err != nil {
			return nil, nil, err
		}
		late = append(late, took-time.Duration(micros)*time.Microsecond)
		if took, err = ask("PING"); err != nil {
			return nil, nil, err
		}
		ping = append(ping, took)
	}
	return late, ping, nil
}
