package server

import (
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/parity/script"
)

// silent is a transport that goes nowhere: a session's output stays where it is.
type silent struct{}

func (silent) flush(*session)  {}
func (silent) resume(*session) {}
func (silent) close(*session)  {}

// pumped is a node without sockets and without a clock of its own: a test gives it commands and lets time pass.
type pumped struct {
	t   testing.TB
	srv *Server
	s   *session
	now int64
}

const pumpTick = 250

func newPumped(t testing.TB, change ...func(*Config)) *pumped {
	cfg := NewConfig()
	cfg.Pump = pumpTick
	for _, f := range change {
		f(cfg)
	}
	srv, err := New(cfg, slog.New(slog.NewTextHandler(io.Discard, nil)))
	require.NoError(t, err)
	n := &pumped{t: t, srv: srv, now: 2_000_000_000_000}
	srv.pump.at = 0
	n.s = srv.open(silent{}, "test:1", "test:2")
	require.Equal(t, "+OK", n.do("EMQ.INSTALL"))
	return n
}

// do runs a command and returns its reply as scripts write it. ~x is emq:{q}:x.
func (n *pumped) do(line string) string {
	n.t.Helper()
	args, err := script.Split(strings.ReplaceAll(line, "~", "emq:{q}:"))
	require.NoError(n.t, err)
	request := make([][]byte, len(args))
	for i, a := range args {
		request[i] = []byte(a)
	}
	n.s.out = nil
	n.srv.mono, n.srv.now = n.now*1e6, n.now
	n.srv.dispatch(n.s, request)
	v, _, err := script.Decode(n.s.out)
	require.NoError(n.t, err)
	return v.String()
}

// pass lets time pass and the pump have its turns until it has nothing left to do.
func (n *pumped) pass(ms int64) {
	n.t.Helper()
	n.now += ms
	n.srv.now = n.now
	for turns := 0; n.srv.runPump() <= n.now; turns++ {
		require.Less(n.t, turns, 100_000, "the pump never comes to an end")
	}
}

// turn is one turn of the pump, whether it is time or not.
func (n *pumped) turn() bool {
	n.srv.now = n.now
	return n.srv.pumpTurn(pumpBudget)
}

func (n *pumped) schedule(id string, in int64) {
	n.t.Helper()
	require.Equal(n.t, ":1", n.do("EMQ.SCHEDULE 2 ~job:"+id+" ~schedule "+id+" p in "+strconv.FormatInt(in, 10)))
}

func (n *pumped) enqueue(id string) {
	n.t.Helper()
	require.Equal(n.t, ":1", n.do("EMQ.ENQUEUE 2 ~job:"+id+" ~pending "+id+" p"))
}

const claimMinute = "EMQ.CLAIM 3 ~pending ~active ~ 60000"

// repeat registers a repeatable job.
func (n *pumped) repeat(name string, every, first int64) {
	n.t.Helper()
	require.Equal(n.t, ":1", n.do(fmt.Sprintf("EMQ.REPEAT.REGISTER 2 ~repeat ~repeat:%s %[1]s %d t %d", name, every, first)))
}

// next returns when the repeatable job is due next.
func (n *pumped) next(name string) int64 {
	n.t.Helper()
	v, err := script.ParseValue(n.do("ZSCORE ~repeat " + name))
	require.NoError(n.t, err)
	at, err := strconv.ParseInt(v.Text, 10, 64)
	require.NoError(n.t, err)
	return at
}

// slot returns the time in the id of the one pending job, in Unix ms, and takes the job away.
func (n *pumped) slot() int64 {
	n.t.Helper()
	v, err := script.ParseValue(n.do("ZPOPMIN ~pending"))
	require.NoError(n.t, err)
	require.Len(n.t, v.Elems, 2, "one pending job")
	require.Equal(n.t, ":0", n.do("ZCARD ~pending"))
	_, s, ok := fence.ParseID([]byte(v.Elems[0].Text))
	require.True(n.t, ok)
	require.Equal(n.t, ":1", n.do("DEL ~job:"+v.Elems[0].Text))
	return s.UnixMilli()
}
