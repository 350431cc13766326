package server

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClientNamesAndInfo(t *testing.T) {
	c := dial(t, startServer(t))
	require.Equal(t, "$-1\r\n", c.do("CLIENT GETNAME"))
	require.Equal(t, "-ERR Client names cannot contain spaces, newlines or special characters.\r\n", c.do(`CLIENT SETNAME "a b"`))
	require.Equal(t, "+OK\r\n", c.do("CLIENT SETNAME me"))
	require.Equal(t, "$2\r\nme\r\n", c.do("CLIENT GETNAME"))
	require.Equal(t, "+OK\r\n", c.do("CLIENT SETINFO LIB-NAME go-redis"))
	require.Equal(t, "-ERR LIB-VER cannot contain spaces, newlines or special characters.\r\n", c.do(`CLIENT SETINFO LIB-VER "a b"`))
	require.Equal(t, "-ERR Unrecognized option 'FOO'\r\n", c.do("CLIENT SETINFO FOO bar"))
	require.Contains(t, c.do("CLIENT INFO"), " name=me ")
	require.Contains(t, c.do("CLIENT LIST"), " cmd=client|list user=default redir=-1 resp=2 lib-name=go-redis lib-ver= ")
	require.Equal(t, "+OK\r\n", c.do("CLIENT NO-EVICT on"))
	require.Equal(t, "+OK\r\n", c.do("CLIENT NO-TOUCH on"))
	require.Contains(t, c.do("CLIENT INFO"), " flags=eT ")
}

func TestClientReply(t *testing.T) {
	c := dial(t, startServer(t))
	c.send("CLIENT REPLY SKIP", "PING", "PING one")
	require.Equal(t, "$3\r\none\r\n", c.next())
	c.send("CLIENT REPLY OFF", "PING", "NOSUCH", "CLIENT REPLY ON", "PING two")
	require.Equal(t, "+OK\r\n", c.next())
	require.Equal(t, "$3\r\ntwo\r\n", c.next())
}

// A reply that was to be skipped stays skipped when its command waited for it, however the wait ends.
func TestClientReplySkipsWhatWaited(t *testing.T) {
	addr := startServer(t)
	a, b := dial(t, addr), dial(t, addr)
	id := strings.TrimSuffix(strings.TrimPrefix(a.do("CLIENT ID"), ":"), "\r\n")
	for _, end := range []string{"RPUSH l x", "CLIENT UNBLOCK " + id, "CLIENT UNBLOCK " + id + " ERROR"} {
		a.send("CLIENT REPLY SKIP", "BLPOP l 0", "PING")
		for field(b.do("INFO clients"), "blocked_clients") != "1" {
		}
		require.Equal(t, ":1\r\n", b.do(end))
		require.Equal(t, "+PONG\r\n", a.next())
	}
	a.send("CLIENT REPLY SKIP", "BLPOP l 0.001", "PING")
	require.Equal(t, "+PONG\r\n", a.next())
	a.send("CLIENT REPLY OFF", "BLPOP l 0.001", "RESET", "PING")
	require.Equal(t, "+RESET\r\n", a.next(), "it turns replies on")
	require.Equal(t, "+PONG\r\n", a.next())
}

func TestPushesAreSentWhileRepliesAreOff(t *testing.T) {
	addr := startServer(t)
	a, b := dial(t, addr), dial(t, addr)
	require.Contains(t, a.do("HELLO 3"), "%7\r\n")
	a.send("CLIENT REPLY OFF", "PING", "SUBSCRIBE c")
	require.Equal(t, ">3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n", a.next())
	require.Equal(t, ":1\r\n", b.do("PUBLISH c hi"))
	require.Contains(t, a.next(), "$7\r\nmessage\r\n")
	require.Contains(t, a.do("UNSUBSCRIBE c"), "$11\r\nunsubscribe\r\n")
}

func TestClientKillEndsTheSocketAndTheWait(t *testing.T) {
	addr := startServer(t)
	a, b := dial(t, addr), dial(t, addr)
	id := strings.TrimSuffix(strings.TrimPrefix(a.do("CLIENT ID"), ":"), "\r\n")
	require.Equal(t, ":1\r\n", b.do("CLIENT KILL ID "+id))
	_, err := a.r.Next()
	require.Error(t, err)
	require.Equal(t, "-ERR No such client\r\n", b.do("CLIENT KILL 1.2.3.4:5"))
	require.Equal(t, ":0\r\n", b.do("CLIENT KILL TYPE pubsub"))
}

func TestPauseHoldsWrites(t *testing.T) {
	addr := startServer(t)
	a, b := dial(t, addr), dial(t, addr)
	require.Equal(t, "+OK\r\n", a.do("CLIENT PAUSE 100000 WRITE"))
	b.send("HSET h f v", "PING")
	require.Equal(t, "*0\r\n", a.do("HGETALL h"))
	require.Equal(t, "1", field(a.do("INFO clients"), "blocked_clients"))
	require.Equal(t, "+OK\r\n", a.do("CLIENT UNPAUSE"))
	require.Equal(t, ":1\r\n", b.next())
	require.Equal(t, "+PONG\r\n", b.next())
	require.Equal(t, "0", field(a.do("INFO clients"), "blocked_clients"))
	require.Equal(t, "-ERR timeout is negative\r\n", a.do("CLIENT PAUSE -1"))
}

func TestTrackingInvalidates(t *testing.T) {
	addr := startServer(t)
	a, b := dial(t, addr), dial(t, addr)
	require.Contains(t, a.do("HELLO 3"), "%7\r\n")
	require.Equal(t, "+OK\r\n", a.do("CLIENT TRACKING ON"))
	require.Equal(t, "_\r\n", a.do("HGET h f"))
	require.Equal(t, ":1\r\n", b.do("HSET h f v"))
	require.Equal(t, ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nh\r\n", a.next())
	require.Equal(t, ":0\r\n", b.do("HSET h f w"))
	require.Equal(t, "$1\r\nw\r\n", a.do("HGET h f"))
	require.Equal(t, "+OK\r\n", a.do("CLIENT TRACKING OFF"))
	require.Equal(t, "+OK\r\n", a.do("CLIENT TRACKING ON BCAST PREFIX ab PREFIX x"))
	require.Equal(t, ":1\r\n", b.do("HSET abc f v"))
	require.Equal(t, ">2\r\n$10\r\ninvalidate\r\n*1\r\n$3\r\nabc\r\n", a.next())
	require.Contains(t, a.do("CLIENT TRACKING ON BCAST PREFIX abc"), "-ERR Prefix 'abc' overlaps with an existing prefix 'ab'.")
}

func TestMonitorShowsCommands(t *testing.T) {
	addr := startServer(t)
	a, b := dial(t, addr), dial(t, addr)
	require.Equal(t, "+OK\r\n", a.do("MONITOR"))
	require.Equal(t, ":1\r\n", b.do(`HSET h f "a b\x01"`))
	require.Regexp(t, `^\+\d+\.\d{6} \[0 127\.0\.0\.1:\d+\] "HSET" "h" "f" "a b\\x01"`+"\r\n$", a.next())
}

// Invalidations go to another connection: as pushes, or as messages to one of version 2 that has subscribed to anything.
// Each one that finds nobody there is told to the client itself.
func TestTrackingRedirects(t *testing.T) {
	addr := startServer(t)
	a, b, c := dial(t, addr), dial(t, addr), dial(t, addr)
	number := func(c *client) string { return strings.Trim(c.do("CLIENT ID"), ":\r\n") }
	id := number(c)
	require.Contains(t, a.do("HELLO 3"), "%7\r\n")
	require.Equal(t, "+OK\r\n", a.do("CLIENT TRACKING ON REDIRECT "+id))
	require.Equal(t, "_\r\n", a.do("GET k"))
	require.Equal(t, "+OK\r\n", b.do("SET k 1"))
	require.Equal(t, "+PONG\r\n", c.do("PING"), "it listens to nothing")
	require.Contains(t, c.do("SUBSCRIBE c"), ":1\r\n")
	require.Equal(t, "$1\r\n1\r\n", a.do("GET k"))
	require.Equal(t, "+OK\r\n", b.do("SET k 2"))
	require.Equal(t, "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n*1\r\n$1\r\nk\r\n", c.next())
	require.Equal(t, "+OK\r\n", b.do("FLUSHALL"))
	require.Equal(t, "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n$-1\r\n", c.next())
	require.Equal(t, ":1\r\n", b.do("CLIENT KILL ID "+id))
	require.Equal(t, "*2\r\n_\r\n_\r\n", a.do("MGET k l"))
	require.Equal(t, "+OK\r\n", b.do("MSET k 1 l 1"))
	for range 2 {
		require.Equal(t, ">2\r\n$21\r\ntracking-redir-broken\r\n:"+id+"\r\n", a.next())
	}
	require.Equal(t, "+OK\r\n", a.do("CLIENT TRACKING OFF"))

	require.Equal(t, "+OK\r\n", b.do("CLIENT TRACKING ON"))
	require.Contains(t, b.do("SUBSCRIBE __redis__:invalidate"), ":1\r\n")
	require.Equal(t, "+OK\r\n", a.do("SET k 3"))
	require.Contains(t, b.do("PING"), "pong", "version 2 is told nothing without a redirection")
}

func TestMonitorShowsWhatWaitsWhenItBegins(t *testing.T) {
	addr := startServer(t)
	c, waiting, monitor := dial(t, addr), dial(t, addr), dial(t, addr)
	require.Equal(t, "+OK\r\n", monitor.do("MONITOR"))
	waiting.send("BLPOP l 0")
	require.Contains(t, monitor.next(), `"BLPOP" "l" "0"`)
	require.Equal(t, ":1\r\n", c.do("RPUSH l x"))
	require.Equal(t, "*2\r\n$1\r\nl\r\n$1\r\nx\r\n", waiting.next())
	require.Equal(t, "+PONG\r\n", waiting.do("PING"))
	require.Contains(t, monitor.next(), `"RPUSH" "l" "x"`)
	require.Contains(t, monitor.next(), `"PING"`, "BLPOP is not shown again")
}

func TestUnblockedIsCounted(t *testing.T) {
	addr := startServer(t)
	c, waiting := dial(t, addr), dial(t, addr)
	id := strings.TrimSpace(strings.TrimPrefix(waiting.do("CLIENT ID"), ":"))
	waiting.send("BLPOP l 0")
	awaitFact(t, c, "blocked_clients", 1)
	require.Equal(t, ":1\r\n", c.do("CLIENT UNBLOCK "+id+" ERROR"))
	require.Equal(t, "-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n", waiting.next())
	info := c.do("INFO everything")
	require.Equal(t, "count=1", fact(t, info, "errorstat_UNBLOCKED"))
	require.Regexp(t, "calls=1,.*rejected_calls=0,failed_calls=1", fact(t, info, "cmdstat_blpop"))
}

// TestTrackingWithinExec has a key that is read behind its change in a transaction stay tracked, and one that is read before it not.
func TestTrackingWithinExec(t *testing.T) {
	addr := startServer(t)
	a, b := dial(t, addr), dial(t, addr)
	require.Contains(t, a.do("HELLO 3"), "%7\r\n")
	require.Equal(t, "+OK\r\n", a.do("CLIENT TRACKING ON"))
	all := dial(t, addr)
	require.Contains(t, all.do("HELLO 3"), "%7\r\n")
	require.Equal(t, "+OK\r\n", all.do("CLIENT TRACKING ON BCAST"))
	a.send("MULTI", "GET y", "MSET x 1 y 2", "GET x", "SET z 1", "GET z", "EXEC", "PING")
	require.Equal(t, "+OK\r\n", a.next())
	for range 5 {
		require.Equal(t, "+QUEUED\r\n", a.next())
	}
	require.Equal(t, "*5\r\n_\r\n+OK\r\n$1\r\n1\r\n+OK\r\n$1\r\n1\r\n", a.next())
	const invalid = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\n"
	require.Equal(t, invalid+"y\r\n", a.next())
	require.Equal(t, "+PONG\r\n", a.next())
	require.Equal(t, ">2\r\n$10\r\ninvalidate\r\n*3\r\n$1\r\nx\r\n$1\r\ny\r\n$1\r\nz\r\n", all.next(), "once for all")
	require.Equal(t, "+OK\r\n", b.do("MSET x 1 y 1 z 1"))
	require.Equal(t, invalid+"x\r\n", a.next())
	require.Equal(t, invalid+"z\r\n", a.next())
	require.Equal(t, "+PONG\r\n", a.do("PING"))
}

// TestManyClientsAreLookedAtLessOften counts the memory of a few clients in every round of the timer and that of many once a second.
func TestManyClientsAreLookedAtLessOften(t *testing.T) {
	for _, clients := range []int{10, fewClients + 10} {
		srv, err := New(NewConfig(), mute())
		require.NoError(t, err)
		for range clients {
			srv.open(silent{}, "test:1", "test:0")
		}
		rounds := 0
		for start := srv.now; srv.now < start+3000; srv.now += cronInterval {
			srv.clientMem = -1
			srv.sampleMemory()
			if srv.clientMem > 0 {
				rounds++
			}
		}
		if clients > fewClients {
			require.Equal(t, 3, rounds)
		} else {
			require.Equal(t, 30, rounds)
		}
	}
}

// TestRoster has every client looked at within ten rounds, whoever leaves meanwhile.
func TestRoster(t *testing.T) {
	srv, err := New(NewConfig(), mute())
	require.NoError(t, err)
	var all []*session
	for range 1000 {
		all = append(all, srv.open(silent{}, "test:1", "test:0"))
	}
	for i, s := range all {
		if i%3 == 0 {
			s.gone()
		}
	}
	require.Len(t, srv.roster, len(srv.sessions))
	srv.cfg.Timeout = 1
	srv.now += 2000
	for range 10 {
		srv.checkClients()
	}
	for i, s := range all {
		require.Equal(t, srv.sessions[s.id] != nil, i%3 != 0)
		require.Equal(t, i%3 != 0, s.aborted, i)
	}
}
