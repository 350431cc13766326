package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/aof"
	"github.com/echomq/emqd/store/aof/memfs"
)

func debugging(c *Config) { c.EnableDebugCommand = "yes" }

// settled waits until no work runs and returns INFO persistence.
func (c *client) settled() string {
	for {
		info := c.do("INFO persistence")
		if field(info, "aof_rewrite_in_progress")+field(info, "rdb_bgsave_in_progress") == "00" &&
			field(info, "aof_rewrite_scheduled") == "0" {
			return info
		}
	}
}

// fill writes something of every type, some of it with times.
func (c *client) fill(round int) {
	for i := range 40 {
		k := round*40 + i
		c.do(fmt.Sprintf("SET s%d %s", k, strings.Repeat("x", i*5)))
		c.do(fmt.Sprintf("SET t%d v PX %d", k, 10_000_000+k))
		c.do(fmt.Sprintf("RPUSH l%d a b %d", k%7, k))
		c.do(fmt.Sprintf("HSET h%d f%d v", k%5, k))
		c.do(fmt.Sprintf("SADD e%d %d", k%3, k))
		c.do(fmt.Sprintf("ZADD z%d %d m%d", k%2, k, k))
		c.do(fmt.Sprintf("XADD x %d-1 f v", k+1))
	}
	c.do(fmt.Sprintf("HPEXPIRE h1 %d FIELDS 1 f1", 20_000_000+round))
	c.do("SELECT 3")
	c.do(fmt.Sprintf("RPUSH other %d", round))
	c.do("SELECT 0")
}

// TestRewrite loads, compacts and loads again: the data is the same each time, also in what is written in between.
func TestRewrite(t *testing.T) {
	fsys := memfs.New()
	for run := 1; run <= 5; run++ {
		n := startLogged(t, fsys, debugging)
		c := dial(t, n.addr)
		require.Equal(t, fmt.Sprint(run), field(c.do("INFO persistence"), "node_epoch"))
		c.fill(run)
		digest, due := c.do("DEBUG DIGEST"), c.do("PEXPIRETIME t50")
		require.Equal(t, "+Background append only file rewriting started\r\n", c.do("BGREWRITEAOF"))
		info := c.settled()
		require.Equal(t, "ok", field(info, "aof_last_bgrewrite_status"), n.text.String())
		require.Equal(t, "1", field(info, "aof_rewrites"))
		require.Equal(t, digest, c.do("DEBUG DIGEST"))
		require.Less(t, len(fsys.Bytes("/data/appendonlydir/appendonly.aof.manifest")), 200)
		again := startLogged(t, fsys.Crash(), debugging)
		d := dial(t, again.addr)
		require.Equal(t, digest, d.do("DEBUG DIGEST"))
		require.Equal(t, due, d.do("PEXPIRETIME t50"))
		require.Equal(t, "0", field(d.do("INFO persistence"), "log_records_recovered"))
		require.NoError(t, again.stop())
		c.do("SET behind " + fmt.Sprint(run))
		digest = c.do("DEBUG DIGEST")
		require.NoError(t, n.stop())
		fsys = fsys.Crash()
		again = startLogged(t, fsys.Kill(), debugging)
		require.Equal(t, digest, dial(t, again.addr).do("DEBUG DIGEST"))
	}
}

// TestRewriteCrash plays a crash and a kill before every operation on files of a rewrite while a client writes:
// everything that was acknowledged is there.
func TestRewriteCrash(t *testing.T) {
	for _, fsync := range []string{"always", "everysec"} {
		fsys := memfs.New()
		set := func(c *Config) { c.EnableDebugCommand, c.AppendFsync = "yes", fsync }
		n := startLogged(t, fsys, set)
		n.srv.mu.Lock()
		n.srv.works.step, n.srv.works.rest = 4000, 0
		n.srv.mu.Unlock()
		c := dial(t, n.addr)
		c.fill(1)
		c.do("WAITAOF 1 0 0")
		var acknowledged atomic.Int64
		fsys.Record(acknowledged.Load)
		require.Contains(t, c.do("BGREWRITEAOF"), "started")
		for field(c.do("INFO persistence"), "aof_rewrites") == "0" {
			reply := c.do("INCR n")
			require.Equal(t, fmt.Sprintf(":%d\r\n", acknowledged.Load()+1), reply)
			acknowledged.Add(1)
		}
		fsys.Record(nil)
		digest := c.do("DEBUG DIGEST-VALUE s50 t50 l1 h1 e1 z1 x")
		states := fsys.States()
		t.Logf("%s: %d states", fsync, len(states))
		step := max(len(states)/150, 1)
		for i := 0; i < len(states); i++ {
			s := &states[i]
			if strings.HasPrefix(s.Before, "write appendonly.aof.") && i%step != 0 { // the many of the client
				continue
			}
			for _, after := range []*memfs.FS{s.Alive, s.Crashed} {
				again, err := tryLogged(t, after, set)
				require.NoError(t, err, s.Before)
				d := dial(t, again.addr)
				require.Equal(t, digest, d.do("DEBUG DIGEST-VALUE s50 t50 l1 h1 e1 z1 x"), s.Before)
				if fsync == "always" || after == s.Alive {
					var got int64
					_, _ = fmt.Sscanf(strings.TrimPrefix(d.do("INCRBY n 0"), ":"), "%d", &got)
					require.GreaterOrEqual(t, got, s.Tag, s.Before)
					require.LessOrEqual(t, got, s.Tag+1, s.Before)
				}
				require.Equal(t, "2", field(d.do("INFO persistence"), "node_epoch"))
				require.NoError(t, again.stop())
				names, err := after.Names("/data/appendonlydir")
				require.NoError(t, err)
				require.NotContains(t, strings.Join(names, " "), "temp-", s.Before)
			}
		}
		require.NoError(t, n.stop())
	}
}

// TestRewriteFails lets each operation on files of a rewrite fail in turn: nothing that was acknowledged is lost, and
// when the log is not broken by it the next rewrite succeeds.
func TestRewriteFails(t *testing.T) {
	for failing, done := int64(1), false; !done; failing++ {
		fsys := memfs.New()
		n := startLogged(t, fsys, debugging)
		c := dial(t, n.addr)
		c.fill(1)
		digest := c.do("DEBUG DIGEST")
		var count atomic.Int64
		var what atomic.Value
		what.Store("")
		fsys.SetFail(func(op, name string) error {
			if count.Add(1) == failing {
				what.Store(op + " " + name)
				return syscall.EIO
			}
			return nil
		})
		require.Contains(t, c.do("BGREWRITEAOF"), "started")
		info := c.settled()
		fsys.SetFail(nil)
		done = count.Load() < failing
		require.Equal(t, done, field(info, "aof_last_bgrewrite_status") == "ok" && what.Load() == "", what.Load())
		for _, after := range []*memfs.FS{fsys.Kill(), fsys.Crash()} {
			again, err := tryLogged(t, after, debugging)
			require.NoError(t, err, what.Load())
			require.Equal(t, digest, dial(t, again.addr).do("DEBUG DIGEST"), what.Load())
			require.NoError(t, again.stop())
		}
		if field(info, "log_health") != "well" {
			require.NoError(t, n.stop())
			continue
		}
		require.Equal(t, "+OK\r\n", c.do("SET more v"), what.Load())
		require.Contains(t, c.do("BGREWRITEAOF"), "started")
		require.Equal(t, "ok", field(c.settled(), "aof_last_bgrewrite_status"), what.Load())
		require.Equal(t, "+OK\r\n", c.do("SET evenmore v"), what.Load())
		digest = c.do("DEBUG DIGEST")
		require.NoError(t, n.stop())
		again := startLogged(t, fsys.Crash(), debugging)
		require.Equal(t, digest, dial(t, again.addr).do("DEBUG DIGEST"), what.Load())
		require.NoError(t, again.stop())
	}
}

// TestRewriteByItself lets the log grow beyond what the settings allow.
func TestRewriteByItself(t *testing.T) {
	n := startLogged(t, memfs.New(), func(c *Config) { c.AutoAOFRewriteMinSize = 20_000 })
	c := dial(t, n.addr)
	for range 200 {
		c.do("SET k " + strings.Repeat("v", 200))
	}
	for field(c.do("INFO persistence"), "aof_rewrites") == "0" {
	}
	require.Contains(t, n.text.String(), "it has grown")
}

// TestRewriteOfManyIncrements restarts a node until its log is in many files: it is written anew then, not before, and not
// again and again when that fails.
func TestRewriteOfManyIncrements(t *testing.T) {
	fsys := memfs.New()
	for run := range manyIncrements {
		n := startLogged(t, fsys)
		dial(t, n.addr).do(fmt.Sprintf("RPUSH l %d", run))
		require.NoError(t, n.stop())
	}
	increments := func(fsys *memfs.FS) int {
		return strings.Count(string(fsys.Bytes("/data/appendonlydir/appendonly.aof.manifest")), "type i")
	}
	require.Equal(t, manyIncrements, increments(fsys), "it is let be until then")
	reason := func(n *logged) string {
		n.srv.mu.Lock()
		defer n.srv.mu.Unlock()
		return n.srv.rewriteReason()
	}
	n := startLogged(t, fsys, func(c *Config) { c.AutoAOFRewritePercentage = 0 })
	require.Equal(t, manyIncrements+1, increments(fsys))
	require.Empty(t, reason(n), "it is turned off")
	require.NoError(t, n.stop())

	fsys.SetFail(func(op, name string) error {
		if op == "create" && strings.HasSuffix(name, "base.rdb") {
			return errors.New("no")
		}
		return nil
	})
	n = startLogged(t, fsys)
	c := dial(t, n.addr)
	for field(c.do("INFO persistence"), "aof_rewrites_consecutive_failures") == "0" {
	}
	n.srv.mu.Lock()
	for range 1000 {
		n.srv.now = n.srv.works.rewriteRetry - 1
		n.srv.worksCron()
	}
	require.Nil(t, n.srv.works.now, "it rests after a failure")
	require.Equal(t, int64(1), n.srv.works.failures)
	fsys.SetFail(nil)
	n.srv.works.rewriteRetry = 0
	n.srv.mu.Unlock()
	for field(c.do("INFO persistence"), "aof_rewrites") == "0" {
	}
	require.Equal(t, 1, increments(fsys))
	require.Contains(t, n.text.String(), "it is in many files")
	require.Empty(t, reason(n))
	digest := c.do("LRANGE l 0 -1")
	again := startLogged(t, fsys.Crash())
	require.Equal(t, digest, dial(t, again.addr).do("LRANGE l 0 -1"))
}

func TestSnapshots(t *testing.T) {
	for _, logging := range []bool{false, true} {
		fsys := memfs.New()
		set := func(c *Config) { c.AppendOnly, c.EnableDebugCommand = logging, "yes" }
		n := startLogged(t, fsys, set)
		c := dial(t, n.addr)
		c.fill(1)
		require.NotEqual(t, "0", field(c.do("INFO persistence"), "rdb_changes_since_last_save"))
		for i, command := range []string{"SAVE", "BGSAVE", "BGSAVE SCHEDULE"} {
			c.do("RPUSH again x")
			digest := c.do("DEBUG DIGEST")
			require.Contains(t, []string{"+OK\r\n", "+Background saving started\r\n"}, c.do(command))
			info := c.settled()
			require.Equal(t, fmt.Sprint(i+1), field(info, "rdb_saves"))
			require.Equal(t, "ok", field(info, "rdb_last_bgsave_status"))
			require.Equal(t, "0", field(info, "rdb_changes_since_last_save"))
			require.Equal(t, ":"+field(info, "rdb_last_save_time")+"\r\n", c.do("LASTSAVE"))
			alone := memfs.New()
			alone.Put("/data/dump.rdb", fsys.Crash().Bytes("/data/dump.rdb"))
			for _, reads := range []bool{false, true} {
				again := startLogged(t, alone.Kill(), func(c *Config) { c.AppendOnly, c.EnableDebugCommand = reads, "yes" })
				require.Equal(t, digest, dial(t, again.addr).do("DEBUG DIGEST"), command)
				require.NoError(t, again.stop())
			}
		}
		fsys.SetFail(func(op, name string) error {
			if op == "rename" && strings.HasSuffix(name, "dump.rdb") {
				return errors.New("no")
			}
			return nil
		})
		require.Equal(t, "-ERR\r\n", c.do("SAVE"))
		require.Equal(t, "ok", field(c.do("INFO persistence"), "rdb_last_bgsave_status"), "of those in the background alone")
		require.Equal(t, "-ERR Errors trying to SHUTDOWN. Check logs.\r\n", c.do("SHUTDOWN SAVE"))
		require.NoError(t, n.stop())
	}
}

// TestSavePoints reaches a save point, and stops a node that has some.
func TestSavePoints(t *testing.T) {
	fsys := memfs.New()
	set := func(c *Config) {
		c.AppendOnly, c.EnableDebugCommand, c.Save = false, "yes", savePoints{{1, 3}, {3600, 1}}
	}
	n := startLogged(t, fsys, set)
	c := dial(t, n.addr)
	for range 3 {
		c.do("RPUSH l x")
	}
	for field(c.do("INFO persistence"), "rdb_saves") == "0" {
	}
	require.Equal(t, "0", field(c.do("INFO persistence"), "rdb_changes_since_last_save"))
	c.do("RPUSH l x")
	digest := c.do("DEBUG DIGEST")
	require.NoError(t, n.stop())
	fsys = fsys.Crash()
	again := startLogged(t, fsys, set)
	c = dial(t, again.addr)
	require.Equal(t, digest, c.do("DEBUG DIGEST"))
	c.do("RPUSH l x")
	c.send("SHUTDOWN NOSAVE")
	_, err := c.r.Next()
	require.Error(t, err)
	require.NoError(t, again.stop())
	again = startLogged(t, fsys.Crash(), set)
	require.Equal(t, digest, dial(t, again.addr).do("DEBUG DIGEST"), "what came after the snapshot was given up")
}

// blocked is a builder that begins when hold gives it leave.
func blocked(build builder, hold <-chan struct{}) builder {
	return func(ctx context.Context, o *buildOrder, out aof.File) (built, error) {
		select {
		case <-hold:
		case <-ctx.Done():
		}
		return build(ctx, o, out)
	}
}

// TestOneWork asks for work while other work runs.
func TestOneWork(t *testing.T) {
	fsys := memfs.New()
	n := startLogged(t, fsys)
	c := dial(t, n.addr)
	c.do("SET k v")
	hold := make(chan struct{})
	for _, first := range []string{"BGREWRITEAOF", "BGSAVE"} {
		n.srv.mu.Lock()
		n.srv.works.build = blocked(n.srv.here, hold)
		n.srv.mu.Unlock()
		require.Contains(t, c.do(first), "started")
		if first == "BGSAVE" {
			require.Equal(t, "-ERR Background save already in progress\r\n", c.do("SAVE"))
			require.Equal(t, "-ERR Background save already in progress\r\n", c.do("BGSAVE SCHEDULE"))
			require.Equal(t, "+Background append only file rewriting scheduled\r\n", c.do("BGREWRITEAOF"))
			require.Equal(t, "1", field(c.do("INFO persistence"), "aof_rewrite_scheduled"))
		} else {
			require.Equal(t, "-ERR Background append only file rewriting already in progress\r\n", c.do("BGREWRITEAOF"))
			require.Contains(t, c.do("BGSAVE"), "-ERR Another child process is active")
			require.Equal(t, "+Background saving scheduled\r\n", c.do("BGSAVE SCHEDULE"))
		}
		hold <- struct{}{}
		hold <- struct{}{} // the one that was due
		c.settled()
	}
	info := c.do("INFO persistence")
	require.Equal(t, "2", field(info, "aof_rewrites"))
	require.Equal(t, "2", field(info, "rdb_saves"))
	c.do("MULTI")
	c.do("BGSAVE")
	c.do("BGREWRITEAOF")
	require.Equal(t, "*2\r\n+Background saving scheduled\r\n+Background append only file rewriting scheduled\r\n", c.do("EXEC"))
	hold <- struct{}{}
	hold <- struct{}{}
	c.settled()
	require.Contains(t, c.do("BGREWRITEAOF"), "started")
	require.NoError(t, n.stop(), "work is given up")
}
