package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/echomq/emqd/bench"
	"github.com/echomq/emqd/server/resp"
)

// stepCase is work on a queue that goes in bounded steps: what fills the queue, and the call that is repeated until it is done.
type stepCase struct {
	name string
	fill []string // a request for each job, in which % is its id
	then []string // one request after them, as often as there are parts of 10,000 jobs
	step []string
	done func(reply string) bool
}

// The queue that the steps work on.
const still = "emq:{still}:"

func answers(last string) func(string) bool { return func(reply string) bool { return reply == last } }

// stepCases are the verbs that look through or delete a whole queue.
var stepCases = []stepCase{
	{"EMQ.OBLITERATE, flat jobs, budget 1000", words("EMQ.ENQUEUE 2 ~job:% ~pending % p"), nil,
		words("EMQ.OBLITERATE 2 ~meta ~ force 1000"), answers(":0\r\n")},
	{"EMQ.OBLITERATE, one lane, budget 1000", words("EMQ.GROUP.ENQUEUE 3 ~job:% ~g:g:pending ~ % p g"), nil,
		words("EMQ.OBLITERATE 2 ~meta ~ force 1000"), answers(":0\r\n")},
	{"EMQ.DRAIN", words("EMQ.ENQUEUE 2 ~job:% ~pending % p"), nil, words("EMQ.DRAIN 2 ~ ~pending"), answers(":0\r\n")},
	{"EMQ.GROUP.DRAIN", words("EMQ.GROUP.ENQUEUE 3 ~job:% ~g:g:pending ~ % p g"), nil,
		words("EMQ.GROUP.DRAIN 3 ~g:g:pending ~ring ~ g"), answers(":0\r\n")},
	{"EMQ.PROMOTE, batch 1000", words("EMQ.SCHEDULE 2 ~job:% ~schedule % p in 0"), nil,
		words("EMQ.PROMOTE 3 ~schedule ~pending ~ 1000"), answers(":0\r\n")},
	{"EMQ.STALLED.CHECK, limit 1000", words("EMQ.ENQUEUE 2 ~job:% ~pending % p"), words("EMQ.CLAIMS 3 ~pending ~active ~ 1 10000"),
		words("EMQ.STALLED.CHECK 4 ~active ~pending ~dead ~ 3 1000"), answers("*2\r\n*0\r\n*0\r\n")},
	{"EMQ.REAP, limit 1000", words("EMQ.ENQUEUE 2 ~job:% ~pending % p"), words("EMQ.CLAIMS 3 ~pending ~active ~ 1 10000"),
		words("EMQ.REAP 3 ~active ~pending ~ 1000"), answers(":0\r\n")},
}

func words(text string) []string { return strings.Fields(strings.ReplaceAll(text, "~", still)) }

// runSteps measures how long others wait for their replies while a queue is worked through, call after call.
func runSteps(ctx context.Context, m *matrix, o *outcome) error {
	jobs := m.pick(million, million/5)
	t := o.table(fmt.Sprintf("One worker's jobs while a queue of %d jobs is worked through, no log", jobs), "call", "calls", "longest, ms", "by the node's SLOWLOG", "its threads ran", "and waited for a processor", "seconds", "node's CPU a call, ms",
		"others' p50 ms", "p99 ms", "most ms")
	for _, c := range stepCases {
		a, err := m.startEmqd(logOff, "--slowlog-log-slower-than", "1000", "--slowlog-max-len", "10000")
		if err != nil {
			return err
		}
		err = a.stepRow(ctx, m, t, &c, jobs)
		a.remove()
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// stepTime is what is known of one call: how long it took, and meanwhile the node's threads ran and waited for a processor.
type stepTime struct{ took, ran, waited time.Duration }

func tenths(d time.Duration) string { return fmt.Sprintf("%.1f", d.Seconds()*1e3) }

// stepRow fills the queue and works through it beside a worker of another one.
func (n *node) stepRow(ctx context.Context, m *matrix, t *table, c *stepCase, jobs int) error {
	conn, err := net.Dial("tcp", n.Addr)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // the node ends next
	s := &stepConn{Conn: conn, replies: resp.NewReplyReader(conn)}
	if err := s.fill(c, jobs); err != nil {
		return err
	}
	ctx, over := context.WithCancel(ctx)
	defer over()
	calls, longest, took := 0, stepTime{}, time.Duration(0)
	failed := make(chan error, 1)
	go func() {
		defer over()
		began := time.Now()
		for reply := ""; !c.done(reply); calls++ {
			ran, waited := n.sched()
			begin := time.Now()
			var err error
			if reply, err = s.do(c.step); err != nil {
				failed <- err
				return
			}
			if t := time.Since(begin); t > longest.took {
				longest = stepTime{took: t}
				longest.ran, longest.waited = n.sched()
				longest.ran, longest.waited = longest.ran-ran, longest.waited-waited
			}
		}
		took = time.Since(began)
		failed <- nil
	}()
	before := n.CPU()
	l := m.load("jobs", 1, 1, 600)
	l.Warmup = 0
	r, err := n.Run(ctx, l)
	if err = errors.Join(<-failed, err); err != nil {
		return err
	}
	worst := func(figure func(bench.Dist) float64) string { return ms(slowest(r, figure)) }
	own, err := n.slowest(c.step[0])
	if err != nil {
		return err
	}
	t.row(c.name, strconv.Itoa(calls), tenths(longest.took), tenths(own), tenths(longest.ran), tenths(longest.waited), fmt.Sprintf("%.1f", took.Seconds()),
		fmt.Sprintf("%.2f", (n.CPU()-before)/float64(calls)/1e3), worst(func(d bench.Dist) float64 { return d.P50 }), ms(requestP99(r)), ms(requestMax(r)))
	return nil
}

// stepConn is the connection that fills the queue and works through it.
type stepConn struct {
	net.Conn
	replies *resp.ReplyReader
	buf     []byte
}

// fill adds the jobs in pipelines, and pauses the queue where that is asked for.
func (s *stepConn) fill(c *stepCase, jobs int) error {
	const part = 1000
	for first := 0; first < jobs; first += part {
		count := min(part, jobs-first)
		s.buf = s.buf[:0]
		for i := range count {
			id := fmt.Sprintf("JOB%011d", first+i)
			call := slices.Clone(c.fill)
			for j := range call {
				call[j] = strings.ReplaceAll(call[j], "%", id)
			}
			s.buf = resp.AppendRequest(s.buf, call...)
		}
		if _, err := s.Write(s.buf); err != nil {
			return err
		}
		for range count {
			if got, err := s.reply(); err != nil || got != ":1\r\n" {
				return fmt.Errorf("a job was answered %q: %w", got, err)
			}
		}
	}
	for first := 0; c.then != nil && first < jobs; first += 10_000 {
		if _, err := s.do(c.then); err != nil {
			return err
		}
	}
	if c.step[0] == "EMQ.OBLITERATE" {
		_, err := s.do(words("EMQ.PAUSE 1 ~meta"))
		return err
	}
	return nil
}

func (s *stepConn) do(call []string) (string, error) {
	if _, err := s.Write(resp.AppendRequest(s.buf[:0], call...)); err != nil {
		return "", err
	}
	return s.reply()
}

// reply reads a reply, which is refused when it is an error.
func (s *stepConn) reply() (string, error) {
	b, err := s.replies.Next()
	if err == nil && b[0] == '-' {
		err = fmt.Errorf("refused: %q", b)
	}
	return string(b), err
}
