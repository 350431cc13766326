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
