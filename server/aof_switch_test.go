package server

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/aof/memfs"
)

// unlogged is a node without a log on fsys, with some data.
func unlogged(t *testing.T, fsys *memfs.FS) (*logged, *client) {
	n := startLogged(t, fsys, debugging, func(c *Config) { c.AppendOnly = false })
	c := dial(t, n.addr)
	c.fill(1)
	return n, c
}

// on waits until the data is a log; what is to be tried again later is tried at once.
func (n *logged) on(c *client) {
	for info := ""; field(info, "aof_rewrite_in_progress") != "0" || field(info, "log_health") != "well"; {
		n.srv.mu.Lock()
		n.srv.works.startRetry = 0
		if l := n.srv.aof; l != nil {
			l.retryAt = 0
		}
		n.srv.mu.Unlock()
		info = c.do("INFO persistence")
	}
}

// writer writes with another client until it is stopped: two keys that are always changed together, in one of two
// databases, keys that come and go, and some of those of fill.
type writer struct {
	done, ended chan struct{}
	count       atomic.Int64
}

func startWriter(t *testing.T, addr string, seed uint64) *writer {
	w := &writer{done: make(chan struct{}), ended: make(chan struct{})}
	c := dial(t, addr)
	r := rand.New(rand.NewPCG(seed, 3))
	go func() {
		defer close(w.ended)
		for {
			select {
			case <-w.done:
				return
			default:
			}
			n := r.IntN(40)
			c.send("MULTI", "INCR pair", "RPUSH twin x", fmt.Sprintf("SELECT %d", r.IntN(2)*3), fmt.Sprintf("RPUSH l%d %d", n%7, n), "SELECT 0",
				fmt.Sprintf("SET new%d v PX 1000000", n), fmt.Sprintf("DEL new%d s%d", r.IntN(40), n), fmt.Sprintf("HPEXPIRE h%d 20000000 FIELDS 1 f%d", n%5, n),
				fmt.Sprintf("ZADD z0 %d m%d", n, n), "EXEC")
			reply := ""
			for !strings.HasPrefix(reply, "*") {
				reply = c.next()
			}
			w.count.Add(1)
		}
	}()
	return w
}

func (w *writer) stop() {
	close(w.done)
	<-w.ended
}

// TestAppendOnlyLive turns the log on under a client that writes, off and on again: what a start then finds is what there
// was when everything was answered.
func TestAppendOnlyLive(t *testing.T) {
	fsys := memfs.New()
	n, c := unlogged(t, fsys)
	same := func(digest string) {
		t.Helper()
		for _, after := range []*memfs.FS{fsys.Crash(), fsys.Kill()} {
			again := startLogged(t, after, debugging)
			require.Equal(t, digest, dial(t, again.addr).do("DEBUG DIGEST"))
			require.NoError(t, again.stop())
		}
	}
	for round := range 3 {
		w := startWriter(t, n.addr, uint64(round))
		require.Equal(t, "+OK\r\n", c.do("CONFIG SET appendonly yes"))
		n.on(c)
		c.do("RPUSH behind x")
		w.stop()
		require.Contains(t, c.do("WAITAOF 1 0 0"), ":1")
		digest := c.do("DEBUG DIGEST")
		same(digest)
		require.Equal(t, "+OK\r\n", c.do("DEBUG LOADAOF"))
		require.Equal(t, digest, c.do("DEBUG DIGEST"))
		c.do("BGREWRITEAOF")
		require.Equal(t, "ok", field(c.settled(), "aof_last_bgrewrite_status"))
		same(digest)
		require.Equal(t, "+OK\r\n", c.do("CONFIG SET appendonly no"))
		require.Equal(t, "0", field(c.do("INFO persistence"), "aof_enabled"))
		require.Contains(t, c.do("WAITAOF 1 0 0"), "appendonly is disabled")
		c.do("RPUSH unlogged x")
		same(digest)
		names, err := fsys.Names("/data/appendonlydir")
		require.NoError(t, err)
		require.Len(t, names, 4, "the manifest, base, increment and reserve")
		require.Contains(t, c.do("DEBUG LOADAOF"), "-ERR Error trying to load the AOF files")
	}
	require.Equal(t, "*2\r\n$10\r\nappendonly\r\n$2\r\nno\r\n", c.do("CONFIG GET appendonly"))
	c.do("CONFIG SET appendonly yes")
	n.on(c)
	digest := c.do("DEBUG DIGEST")
	require.NoError(t, n.stop())
	same(digest)
}

// TestAppendOnlyCrash plays crashes and kills before every operation on files while the log is turned on for the first
// and the second time under a client that writes: a start finds nothing, the log that was turned off, or all that was
// answered since the new one is in force, and no transaction by half.
func TestAppendOnlyCrash(t *testing.T) {
	for _, second := range []bool{false, true} {
		fsys := memfs.New()
		n, c := unlogged(t, fsys)
		if second {
			c.do("CONFIG SET appendonly yes")
			n.on(c)
			c.do("CONFIG SET appendonly no")
		}
		c.do("SET pair 0")
		w := startWriter(t, n.addr, 1)
		var promised atomic.Int64
		fsys.Record(promised.Load)
		c.do("CONFIG SET appendonly yes")
		n.on(c)
		for from := w.count.Load(); w.count.Load() < from+3; {
			promised.Store(w.count.Load())
			c.do("PING")
		}
		fsys.Record(nil)
		w.stop()
		states := fsys.States()
		t.Logf("%d states", len(states))
		whole := 0
		for i, s := range states {
			for _, after := range []*memfs.FS{s.Alive, s.Crashed} {
				if i%3 != 0 && s.Tag == 0 && strings.HasPrefix(s.Before, "write") {
					continue
				}
				again, err := tryLogged(t, after, debugging)
				require.NoError(t, err, s.Before)
				d := dial(t, again.addr)
				var pair, twin int64
				_, _ = fmt.Sscanf(d.do("INCRBY pair 0"), ":%d", &pair)
				_, _ = fmt.Sscanf(d.do("LLEN twin"), ":%d", &twin)
				require.Equal(t, pair, twin, s.Before)
				require.GreaterOrEqual(t, pair, s.Tag, s.Before)
				if pair > 0 {
					whole++
					require.Equal(t, ":40\r\n", d.do("EXISTS "+joined("t%d", 40, 79)), s.Before)
				}
				require.NoError(t, again.stop())
			}
		}
		require.Positive(t, whole)
		require.NoError(t, n.stop())
	}
}

// joined returns words with the numbers from first to last.
func joined(word string, first, last int) string {
	var all []string
	for i := first; i <= last; i++ {
		all = append(all, fmt.Sprintf(word, i))
	}
	return strings.Join(all, " ")
}

// TestAppendOnlyFails lets each operation on files fail in turn while the log is turned on: it is on in the end.
func TestAppendOnlyFails(t *testing.T) {
	for failing, done := int64(1), false; !done; failing += 2 {
		fsys := memfs.New()
		n, c := unlogged(t, fsys)
		var count atomic.Int64
		fsys.SetFail(func(string, string) error {
			if count.Add(1) == failing {
				return syscall.EIO
			}
			return nil
		})
		if reply := c.do("CONFIG SET appendonly yes"); reply != "+OK\r\n" {
			require.Contains(t, reply, "input/output error")
			require.Equal(t, "+OK\r\n", c.do("CONFIG SET appendonly yes"))
		}
		c = dial(t, n.addr)
		n.on(c)
		fsys.SetFail(nil)
		done = count.Load() < failing
		require.Equal(t, "+OK\r\n", c.do("SET later v"), "%d", failing)
		digest := c.do("DEBUG DIGEST")
		again := startLogged(t, fsys.Crash(), debugging)
		require.Equal(t, digest, dial(t, again.addr).do("DEBUG DIGEST"), "%d", failing)
		require.NoError(t, again.stop())
		require.NoError(t, n.stop())
	}
}

// TestAppendOnlyRefused asks for a log where there is one that was not read, and for one while whole databases change.
func TestAppendOnlyRefused(t *testing.T) {
	fsys := memfs.New()
	n := startLogged(t, fsys)
	dial(t, n.addr).do("SET old v")
	require.NoError(t, n.stop())
	n, c := unlogged(t, fsys)
	require.Contains(t, c.do("CONFIG SET appendonly yes"), "-ERR CONFIG SET failed (possibly related to argument 'appendonly') - there is a log in the directory")
	require.Equal(t, "0", field(c.do("INFO persistence"), "aof_enabled"))
	require.NoError(t, n.stop())
	require.Equal(t, "$1\r\nv\r\n", dial(t, startLogged(t, fsys).addr).do("GET old"))

	fsys = memfs.New()
	n, c = unlogged(t, fsys)
	s := &slow{began: make(chan string), leave: make(chan struct{})}
	fsys.SetFail(func(op, name string) error {
		if strings.Contains(name, ".base.") {
			return s.fail(op, name)
		}
		return nil
	})
	s.on.Store(true)
	require.Equal(t, "+OK\r\n", c.do("CONFIG SET appendonly yes"))
	<-s.began
	require.Equal(t, "1", field(c.do("INFO persistence"), "aof_rewrite_in_progress"))
	require.Equal(t, "-ERR Background append only file rewriting already in progress\r\n", c.do("BGREWRITEAOF"))
	c.do("FLUSHALL")
	c.do("SET after v")
	s.on.Store(false)
	close(s.leave)
	n.on(c)
	require.Contains(t, n.text.String(), errChangedAll.Error())
	again := startLogged(t, fsys.Crash())
	d := dial(t, again.addr)
	require.Equal(t, ":1\r\n", d.do("DBSIZE"))
	require.Equal(t, "$1\r\nv\r\n", d.do("GET after"))

	c.do("CONFIG SET appendonly no")
	c.do("MULTI")
	c.do("CONFIG SET appendonly yes")
	c.do("CONFIG SET appendonly no")
	c.do("EXEC")
	require.Equal(t, "0", field(c.settled(), "aof_enabled"))
	require.NoError(t, n.stop())
}
