package server

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/aof/memfs"
)

// A paused queue gives nothing out after a restart either: neither what was pending nor what the restart recovers, and
// a claimer that waits goes on waiting until the queue is resumed.
func TestPausedQueueStaysPausedAcrossARestart(t *testing.T) {
	const (
		flat = "EMQ.BCLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 60000 0"
		lane = "EMQ.GROUP.BCLAIM 3 emq:{q}:ring emq:{q}:active emq:{q}: 60000 0"
	)
	fsys := memfs.New()
	n := startLogged(t, fsys)
	c := dial(t, n.addr)
	require.Equal(t, "+OK\r\n", c.do("EMQ.INSTALL"))
	for _, line := range []string{
		"EMQ.ENQUEUE 2 emq:{q}:job:JOB1 emq:{q}:pending JOB1 p",
		"EMQ.GROUP.ENQUEUE 3 emq:{q}:job:JOB2 emq:{q}:g:x:pending emq:{q}: JOB2 p x",
		"EMQ.ENQUEUE 2 emq:{q}:job:JOB3 emq:{q}:pending JOB3 p",
		"EMQ.PAUSE 1 emq:{q}:meta",
	} {
		if strings.HasPrefix(line, "EMQ.PAUSE") {
			require.Contains(t, c.do("EMQ.CLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 1"), "JOB1")
		}
		require.Equal(t, ":1\r\n", c.do(line))
	}
	require.NoError(t, n.stop())

	n = startLogged(t, fsys)
	c = dial(t, n.addr)
	waiting := []*client{dial(t, n.addr), dial(t, n.addr)}
	waiting[0].send(flat)
	waiting[1].send(lane)
	for field(c.do("INFO clients"), "blocked_clients") != "2" {
	}
	require.Equal(t, ":0\r\n", c.do("ZADD emq:{q}:active XX 1 JOB1"))
	require.Equal(t, "*2\r\n*1\r\n$4\r\nJOB1\r\n*0\r\n", c.do("EMQ.GROUP.STALLED.CHECK 4 emq:{q}:active emq:{q}:pending emq:{q}:dead emq:{q}: 1 10"))
	require.Equal(t, "*0\r\n", c.do("EMQ.CLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 60000"))
	require.Equal(t, ":2\r\n", c.do("ZCARD emq:{q}:pending"))
	require.Equal(t, ":0\r\n", c.do("ZCARD emq:{q}:active"))
	require.Equal(t, "2", field(c.do("INFO clients"), "blocked_clients"))
	require.Equal(t, ":1\r\n", c.do("EMQ.RESUME 1 emq:{q}:meta"))
	require.Equal(t, "*3\r\n$4\r\nJOB1\r\n$1\r\np\r\n:2\r\n", waiting[0].next())
	require.Equal(t, "*4\r\n$4\r\nJOB2\r\n$1\r\np\r\n:1\r\n$1\r\nx\r\n", waiting[1].next())
}

// A wait begins at any nanosecond; its time is up at a whole millisecond, never before and at most one after what was asked for,
// which itself is rounded up to a millisecond. The sleep until then adds less than one.
func TestTimeoutsAreNeverEarlyAndAMillisecondLate(t *testing.T) {
	const ms = int64(1e6)
	for _, call := range []string{
		"EMQ.BCLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 60000 ", "EMQ.GROUP.BCLAIM 3 emq:{q}:ring emq:{q}:active emq:{q}: 60000 ", "BZPOPMIN z ",
	} {
		for timeout, nanos := range map[string]int64{
			"0.001": ms, "0.05": 50 * ms, "0.07": 70 * ms, "2.3": 2300 * ms, "10": 10_000 * ms, "0.0001": ms / 10, "0.0375": 37*ms + ms/2, "1.2345678": 1_234_567_800,
		} {
			for _, into := range []int64{0, 1, 499_999, 500_000, 999_999} {
				n := newPumped(t)
				begun := n.now*ms + into
				n.s.out = nil
				n.srv.mono = begun
				n.srv.dispatch(n.s, splitArgs(call+timeout))
				w, ok := n.srv.deadlines.Min()
				require.True(t, ok)
				at := w.lapsesAt()
				late := at*ms - begun - nanos
				require.GreaterOrEqual(t, late, int64(0), "%s%s, %d ns into its millisecond", call, timeout, into)
				require.LessOrEqual(t, late, ms+(ms-nanos%ms)%ms)

				n.srv.now = at - 1
				n.srv.timeouts()
				require.NotNil(t, n.s.waiting)
				n.srv.now = at
				n.srv.timeouts()
				require.Nil(t, n.s.waiting)

				for _, seen := range []int64{begun, at*ms - 1, at*ms - ms, at*ms - ms - 1} {
					woken := seen + left(at, seen)*ms
					require.GreaterOrEqual(t, woken, at*ms)
					require.Less(t, woken, at*ms+ms)
				}
				require.LessOrEqual(t, left(at, at*ms), int64(0))
			}
		}
	}
}

// Requests of others give way to a timeout that is overdue, and go on after it, none lost and none twice.
func TestRequestsGiveWayToAnOverdueTimeout(t *testing.T) {
	n := newPumped(t)
	n.s.out = nil
	n.srv.overdue = 1 // long ago
	n.s.feed([]byte(strings.Repeat("PING\r\n", 100)))
	require.Empty(t, n.s.out)
	n.srv.tick()
	n.s.drain()
	require.Equal(t, strings.Repeat("+PONG\r\n", 100), string(n.s.out))

	n.s.out = nil
	n.srv.stamp()
	until := n.srv.overdue
	n.srv.dispatch(n.s, splitArgs("BLPOP l 5"))
	require.Less(t, n.srv.overdue, until)
	require.Equal(t, (n.s.waiting.lapsesAt()+lateMost)*1e6, n.srv.overdue)
	n.srv.unpark(n.s.waiting)
	n.srv.tick()
	require.Equal(t, until, n.srv.overdue)
}
