package server

import (
	"context"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/aof/memfs"
)

// idler is a transport on which everything takes 20 ms of the bubble's time.
type idler struct{ silent }

const idled = 20 * time.Millisecond

func (idler) flush(*session) { time.Sleep(idled) }
func (idler) close(*session) { time.Sleep(idled) }

// TestLatencyEvents lets each kind of work beside commands take 20 ms, by the clock of a bubble: it is an event.
func TestLatencyEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := memfs.New()
		cfg := NewConfig()
		cfg.Dir, cfg.Install, cfg.LatencyMonitorThreshold, cfg.Pump = "/data", true, 10, 5
		srv, err := New(cfg, mute())
		require.NoError(t, err)
		srv.fsys = fsys
		load, err := srv.prepare(context.Background())
		require.NoError(t, err)
		require.Nil(t, load)
		srv.mu.Lock()
		client, listener := srv.open(silent{}, "test:1", "test:0"), srv.open(idler{}, "test:2", "test:0")
		do := func(s *session, line string) {
			srv.stamp()
			s.feed([]byte(line + "\r\n"))
			srv.commitLog()
		}
		unlocked := func(f func()) {
			srv.mu.Unlock()
			f()
			srv.mu.Lock()
		}
		slow := func(ops ...string) {
			fsys.SetFail(func(op, _ string) error {
				if slices.Contains(ops, op) {
					time.Sleep(idled)
				}
				return nil
			})
		}
		// took runs f and requires that the event has taken 20 ms, or several times as many, and that it has advice.
		took := func(event string, f func()) {
			t.Helper()
			clear(srv.latency)
			f()
			e := srv.latency[event]
			require.NotNil(t, e, "%s: %v", event, srv.latency.names())
			require.GreaterOrEqual(t, e.max, idled.Milliseconds(), event)
			require.Zero(t, e.max%idled.Milliseconds(), event)
			client.out = nil
			do(client, "LATENCY DOCTOR")
			require.Contains(t, string(client.out), event+": ")
			require.NotEmpty(t, latencyAdvice[event])
		}
		pass := func(d time.Duration) {
			time.Sleep(d)
			srv.now = srv.clock.milli()
		}
		do(client, "CONFIG SET notify-keyspace-events KEA")

		do(client, "SET k v PX 1")
		do(client, "EMQ.SCHEDULE 2 emq:{q}:job:JOB1 emq:{q}:schedule JOB1 p in 5")
		do(listener, "PSUBSCRIBE *")
		pass(10 * time.Millisecond)
		took("expire-cycle", func() { srv.expire() })
		took("pump", func() { srv.pumpTurn(pumpBudget) })
		do(listener, "PUNSUBSCRIBE")

		srv.cfg.Timeout = 1
		pass(time.Minute)
		client.active = srv.now
		took("cron", func() { srv.cron() })

		slow("write")
		do(client, "CONFIG SET appendfsync no")
		write := func() { do(client, "SET k w") }
		took("aof-write", write)
		took("aof-write-alone", write)
		srv.aof.syncing = true
		took("aof-write-pending-fsync", write)
		srv.aof.syncing, srv.works.now = false, &work{}
		took("aof-write-active-child", write)
		srv.works.now = nil

		slow("sync")
		do(client, "SET k w")
		took("aof-rewrite", func() {
			srv.rewrite()
			unlocked(srv.works.running.Wait)
		})
		slow("write")
		do(client, "CONFIG SET appendonly no")
		took("aof-start", func() {
			do(client, "CONFIG SET appendonly yes")
			do(client, "SET k x")
			unlocked(srv.works.running.Wait)
		})
		slow("remove")
		took("aof-full", func() { srv.aof.squeeze() })
		slow("write")
		client.feed([]byte("DEL k\r\n")) // and what it does waits to be written
		took("aof-recover", func() { srv.aof.recover() })
		unlocked(func() { time.Sleep(time.Minute) }) // what that has begun ends
		srv.mu.Unlock()
		require.NoError(t, srv.closeLog())
	})
}

// TestLatencyOfTheLoop has a turn take 2 ms, and others keep the keyspace for as long while a turn is due.
func TestLatencyOfTheLoop(t *testing.T) {
	n := startLogged(t, memfs.New(), debugging, func(cfg *Config) { cfg.LatencyMonitorThreshold = 1 })
	c := dial(t, n.addr)
	seen := func(event string) bool {
		n.srv.mu.Lock()
		defer n.srv.mu.Unlock()
		return n.srv.latency[event] != nil
	}
	c.send("DEBUG SLEEP 0.002")
	require.Equal(t, "+OK\r\n", c.next())
	require.Eventually(t, func() bool { return seen("event-loop") }, 10*time.Second, time.Millisecond)
	for !seen("keyspace-lock") {
		n.srv.mu.Lock()
		c.send("PING")
		for begin := time.Now(); time.Since(begin) < 2*time.Millisecond; {
			runtime.Gosched()
		}
		n.srv.mu.Unlock()
		require.Equal(t, "+PONG\r\n", c.next())
	}
}

// TestLatencyPage compares the page of events with those that have advice.
func TestLatencyPage(t *testing.T) {
	page, err := os.ReadFile("../docs/latency.md")
	require.NoError(t, err)
	var named []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllSubmatch(page, -1) {
		named = append(named, string(m[1]))
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(latencyAdvice)), named)
}
