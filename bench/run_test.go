package bench

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/node"
	"github.com/echomq/emqd/parity/real"
	"github.com/echomq/emqd/parity/wire"
)

// small returns a load that ends soon.
func small(work string) Load {
	l := NewLoad(work)
	l.Conns, l.Depth, l.Ops, l.Keys, l.Lanes = 7, 3, 300, 500, 10
	return l
}

// open connects to a server until the test ends.
func open(t *testing.T, addr string) *Server {
	t.Helper()
	s, err := Open(addr, "", "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// socket is the path of a real server's Unix socket.
func socket(t *testing.T, target *wire.Target) string {
	t.Helper()
	b, err := target.Control("CONFIG", "GET", "unixsocket")
	require.NoError(t, err)
	reply, _ := decode(b)
	return reply.([]any)[1].(string)
}

// works drives every kind of work, in both ways, and requires that all of it was done and nothing is left.
func works(t *testing.T, s *Server) {
	for _, w := range workloads {
		if w.foreign {
			continue
		}
		for _, portable := range []bool{false, true} {
			l := small(w.name)
			l.portable = portable
			r, err := s.Run(context.Background(), l)
			require.NoError(t, err, w.name)
			require.Empty(t, r.Errors, w.name)
			require.InDelta(t, l.Ops, r.Ops, float64(l.Conns*l.Depth), w.name)
			require.Equal(t, r.Ops, r.Latency.Count, w.name)
			require.Positive(t, r.PerSec, w.name)
			require.LessOrEqual(t, r.Latency.P50, r.Latency.P999)
			if w.cycle != nil {
				left, err := s.Do("ZCARD", l.queues()+"}:active")
				require.NoError(t, err)
				require.Equal(t, int64(0), left, w.name)
			}
			require.NoError(t, s.Clean(l.Prefixes()...))
		}
	}
	keys, err := s.Do("DBSIZE")
	require.NoError(t, err)
	left := int64(0)
	if s.Native {
		left = 1 // the fence value
	}
	require.Equal(t, left, keys)
}

func TestWorks(t *testing.T) {
	n := node.Start(t)
	n.Dial().Want("EMQ.INSTALL", "+OK")
	s := open(t, n.Addr)
	require.True(t, s.Native)
	works(t, s)
}

func TestWorksByScripts(t *testing.T) {
	s := open(t, socket(t, real.Start(t)))
	require.False(t, s.Native)
	works(t, s)
}

// TestForeign works on jobs that another load has put there.
func TestForeign(t *testing.T) {
	n := node.Start(t)
	n.Dial().Want("EMQ.INSTALL", "+OK")
	s := open(t, n.Addr)
	for _, step := range []struct{ work, pending, active string }{{"fill", ":300", ":0"}, {"reclaim", ":300", ":0"}, {"lapse", ":0", ":300"}} {
		l := small(step.work)
		r, err := s.Run(context.Background(), l)
		require.NoError(t, err)
		require.Empty(t, r.Errors)
		require.Equal(t, l.Ops, r.Ops)
		n.Dial().Want("ZCARD emq:{bench}:pending", step.pending)
		n.Dial().Want("ZCARD emq:{bench}:active", step.active)
	}
}

func TestManyQueues(t *testing.T) {
	n := node.Start(t)
	n.Dial().Want("EMQ.INSTALL", "+OK")
	s := open(t, n.Addr)
	l := small("jobs")
	l.Queues = 50
	r, err := s.Run(context.Background(), l)
	require.NoError(t, err)
	require.Empty(t, r.Errors)
	require.Equal(t, l.Ops, r.Ops)
	keys, err := s.Do("KEYS", "emq:{bench-*}:metrics:completed")
	require.NoError(t, err)
	require.Greater(t, len(keys.([]any)), 40)
	require.NoError(t, s.Clean(l.Prefixes()...))
}

// TestDurations has loads end by the clock, with a warm-up and in an open loop.
func TestDurations(t *testing.T) {
	n := node.Start(t)
	n.Dial().Want("EMQ.INSTALL", "+OK")
	s := open(t, n.Addr)
	for _, work := range []string{"jobs", "claim", "set"} {
		l := small(work)
		l.Ops, l.Warmup, l.Duration = 0, 20*time.Millisecond, 100*time.Millisecond
		r, err := s.Run(context.Background(), l)
		require.NoError(t, err)
		require.Empty(t, r.Errors)
		require.GreaterOrEqual(t, r.Seconds, 0.1, work)
		require.Positive(t, r.Ops)
	}
	for _, work := range []string{"jobs", "get", "mixed"} {
		for _, portable := range []bool{false, true} {
			l := small(work)
			l.Ops, l.Rate, l.portable = 200, 2000, portable
			r, err := s.Run(context.Background(), l)
			require.NoError(t, err)
			require.Empty(t, r.Errors)
			require.Equal(t, int64(200), r.Ops, work)
			require.Less(t, r.PerSec, 2200.0)
			require.GreaterOrEqual(t, r.Seconds, 0.09)
		}
	}
}

func TestCheck(t *testing.T) {
	for want, change := range map[string]func(*Load){
		`no work is called "nosuch"`:  func(l *Load) { l.Work = "nosuch" },
		"connections: 0 is not":       func(l *Load) { l.Conns = 0 },
		"the load has no end":         func(l *Load) { l.Duration = 0 },
		"claim takes turns with what": func(l *Load) { l.Work, l.Rate = "claim", 1 },
		"get works on one queue":      func(l *Load) { l.Work, l.Queues = "get", 2 },
		"mixed needs at least 4":      func(l *Load) { l.Work, l.Conns = "mixed", 3 },
		"cannot be negative":          func(l *Load) { l.Ops = -1 },
	} {
		l := NewLoad("jobs")
		require.NoError(t, l.Check())
		change(&l)
		require.ErrorContains(t, l.Check(), want)
	}
}

func TestFence(t *testing.T) {
	s := open(t, node.Start(t).Addr)
	_, err := s.Run(context.Background(), small("jobs"))
	require.ErrorContains(t, err, "send it EMQ.INSTALL once")
	_, err = s.Do("SET", fenceKey, "other")
	require.NoError(t, err)
	_, err = s.Run(context.Background(), small("jobs"))
	require.ErrorContains(t, err, `holds "other"`)
}

// TestErrorsCount has every reply that is wrong counted and no operation with it.
func TestErrorsCount(t *testing.T) {
	n := node.Start(t)
	c := n.Dial()
	c.Want("EMQ.INSTALL", "+OK")
	c.Want("CONFIG SET maxmemory 1", "+OK")
	s := open(t, n.Addr)
	for work, want := range map[string]string{"jobs": "enqueue: -OOM", "set": "set: -OOM", "claim": "enqueue: -OOM", "flows": "flow.add: -OOM"} {
		l := small(work)
		if work == "claim" {
			l.Ops, l.Warmup, l.Duration = 0, 0, 10*time.Millisecond
		}
		r, err := s.Run(context.Background(), l)
		if work == "claim" {
			require.ErrorContains(t, err, "nothing")
			continue
		}
		require.NoError(t, err)
		require.Zero(t, r.Ops)
		require.Len(t, r.Errors, 1)
		require.True(t, strings.HasPrefix(r.Errors[0].Text, want), r.Errors[0].Text)
		require.Equal(t, l.Ops, r.Errors[0].Count)
	}
}
