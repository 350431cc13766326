package parity

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	running "github.com/echomq/emqd/parity/node"
	"github.com/echomq/emqd/parity/real"
	"github.com/echomq/emqd/parity/script"
	"github.com/echomq/emqd/parity/wire"
	"github.com/echomq/emqd/server"
)

// asker is a connection to either server.
type asker struct {
	t testing.TB
	*wire.Target
}

func (a asker) do(args ...string) []byte {
	a.t.Helper()
	reply, err := a.Control(args...)
	require.NoError(a.t, err)
	require.NotEqual(a.t, byte('-'), reply[0], "%s: %s", args, reply)
	return append([]byte(nil), reply...)
}

// line is do with the arguments in one line.
func (a asker) line(text string) { a.t.Helper(); a.do(strings.Fields(text)...) }

// logged runs emqd with a log below dir and returns a connection and what stops the node.
func logged(t testing.TB, dir string) (asker, *running.Node) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	n := running.Serve(t, ln, func(c *server.Config) { c.AppendOnly, c.Dir = true, dir })
	target, err := wire.Dial("tcp", n.Addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = target.Close() })
	return asker{t, target}, n
}

// populate puts values of every kind and form into two databases, and changes them in many ways.
func populate(a asker) { populateWith(a, 1500) }

// populateWith is populate with so many elements in the large values.
func populateWith(a asker, large int) {
	long := strings.Repeat("x", 300)
	for _, db := range []string{"0", "3"} {
		a.do("SELECT", db)
		a.do("SET", "binary", "\x00\r\n#emqd 1 2 3\r\n*1\r\n\xff")
		a.do("SET", "huge", strings.Repeat("y", 47*large))
		for _, text := range []string{
			"SET int 12345", "INCRBY int 5", "INCRBYFLOAT f 10.5", "APPEND text abc", "SETRANGE text 5 def", "SETBIT bits 100 1",
			"SET ttl v EX 5000", "SET gone v EX 5000", "DEL gone", "GETEX ttl PXAT 33177117420000", "MSET m1 1 m2 2",
			"HSET h a 1 b 2 c 3", "HINCRBY h a 5", "HDEL h b", "HINCRBYFLOAT h c 1.25", "RPUSH l a b c d e", "LPUSH l z", "LINSERT l BEFORE c x",
			"LSET l 0 y", "LREM l 1 d", "LPOP l", "RPOP l 1", "LTRIM l 0 3", "LMOVE l l2 LEFT RIGHT", "SADD si 1 2 3 70000", "SREM si 2", "SADD s a b c",
			"SPOP s", "SMOVE si s 1", "SINTERSTORE s3 s s", "ZADD z 1 a 2.5 b -inf c +inf d 3e10 e", "ZINCRBY z 0.1 a", "ZREM z b",
			"ZPOPMIN z", "ZUNIONSTORE z2 2 z z WEIGHTS 1 2", "ZREMRANGEBYSCORE z2 5 6", "RENAME m1 m3", "COPY h h2", "PERSIST ttl", "EXPIRE h2 9000",
			"XADD x 1-1 f v", "XADD x 1-2 f v g w", "XADD x 5-0 a b", "XDEL x 1-2", "XGROUP CREATE x g 0", "XREADGROUP GROUP g c1 COUNT 1 STREAMS x >",
			"XSETID x 9-9", "BITOP NOT nots bits", "SETEX short 7000 v", "GETDEL m2", "LPUSH gonelist 1", "RPOP gonelist",
		} {
			a.line(text)
		}
		for i := 0; i < large; i += 50 {
			h, z, s, l := []string{"HSET", "bigh"}, []string{"ZADD", "bigz"}, []string{"SADD", "bigs"}, []string{"RPUSH", "bigl"}
			for j := range 50 {
				n := strconv.Itoa(i + j)
				h, z = append(h, "field"+n, "value"+n), append(z, n+".5", "member"+n)
				s, l = append(s, "member"+n), append(l, "item"+n+long[:(i+j)%200])
			}
			a.do(h...)
			a.do(z...)
			a.do(s...)
			a.do(l...)
		}
		a.line("LPOP bigl 700")
		a.line("ZREMRANGEBYRANK bigz 10 600")
		a.line("SPOP bigs 200")
		a.do("MULTI")
		a.line("SET t1 a")
		a.line("HSET t2 a b")
		a.line("DEL t1 t1")
		a.do("EXEC")
	}
	a.do("SELECT", "1")
	a.line("SET moved 1")
	a.line("MOVE moved 3")
	a.line("SET swapped 1")
	a.line("SWAPDB 1 7")
	a.do("SELECT", "4")
	a.line("SET flushed 1")
	a.do("FLUSHDB")
	a.do("SELECT", "0")
}

// contents reads every key of every database.
func contents(a asker) map[string]string { return contentsOf(a, 16) }

// contentsOf reads every key of the first databases.
func contentsOf(a asker, databases int) map[string]string {
	reads := map[string][]string{
		"string": {"GET"}, "hash": {"HGETALL"}, "set": {"SMEMBERS"}, "list": {"LRANGE", "0", "-1"},
		"zset": {"ZRANGE", "0", "-1", "WITHSCORES"}, "stream": {"XRANGE", "-", "+"},
	}
	all := map[string]string{}
	for db := range databases {
		a.do("SELECT", strconv.Itoa(db))
		v, _, err := script.Decode(a.do("KEYS", "*"))
		require.NoError(a.t, err)
		for _, k := range v.Elems {
			kind := strings.TrimSpace(string(a.do("TYPE", k.Text))[1:])
			read := append([]string{reads[kind][0], k.Text}, reads[kind][1:]...)
			text := plainText(a.t.(*testing.T), kind, read, a.do(read...)) + string(a.do("PEXPIRETIME", k.Text))
			if kind == "stream" {
				text += string(a.do("XPENDING", k.Text, "g"))
			}
			all[fmt.Sprintf("%d %s %q", db, kind, k.Text)] = text
		}
	}
	a.do("SELECT", "0")
	return all
}

func copyDir(t testing.TB, from string) string {
	to, err := os.MkdirTemp("", "log")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(to)) })
	require.NoError(t, os.CopyFS(to, os.DirFS(from)))
	return to
}

// onReal starts the real server on a copy of dir.
func onReal(t testing.TB, dir string, options ...string) (asker, string) {
	dir = copyDir(t, dir)
	return asker{t, real.Start(t, append([]string{"--dir", dir, "--appendonly", "yes", "--appendfsync", "always"}, options...)...)}, dir
}

// TestRealServerStartsOnLog copies the directory of an emqd that runs, as a crash would leave it, and of one that has
// stopped: a real server holds the same, and emqd holds the same on what that server makes of it.
func TestRealServerStartsOnLog(t *testing.T) {
	dir := t.TempDir()
	a, n := logged(t, dir)
	populate(a)
	for range 3 {
		a.line("EMQ.INSTALL")
	}
	a.line("EMQ.ENQUEUE 2 emq:{q}:job:JOB0NgWEfAEJfs emq:{q}:pending JOB0NgWEfAEJfs payload")
	a.line("EMQ.CLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 30000")
	want := contents(a)
	require.Greater(t, len(want), 50)
	for _, state := range []string{"running", "stopped"} {
		if state == "stopped" {
			n.Stop()
		}
		theirs, copied := onReal(t, dir)
		require.Equal(t, want, contents(theirs), state)
		theirs.line("SET added 1")
		again := contents(theirs)
		back, _ := logged(t, copyDir(t, copied))
		require.Equal(t, again, contents(back), "%s: what a real server appended to our log", state)
		theirs.do("BGREWRITEAOF")
		rewritten(t, theirs)
		theirs.line("SET added 2")
		again = contents(theirs)
		back, _ = logged(t, copyDir(t, copied))
		require.Equal(t, again, contents(back), "%s: what a real server rewrote", state)
	}
	ours, _ := logged(t, copyDir(t, dir))
	require.Equal(t, want, contents(ours))
}

// rewritten waits for the end of BGREWRITEAOF.
func rewritten(t testing.TB, a asker) {
	require.Eventually(t, func() bool {
		info := string(a.do("INFO", "persistence"))
		return strings.Contains(info, "aof_rewrite_in_progress:0") && strings.Contains(info, "aof_rewrite_scheduled:0") &&
			strings.Contains(info, "aof_last_bgrewrite_status:ok")
	}, 20*time.Second, 20*time.Millisecond)
}

// TestStartsOnRealServersData starts emqd on what a real server has written: increments alone, a base in either form, and
// a snapshot without a log.
func TestStartsOnRealServersData(t *testing.T) {
	for name, preamble := range map[string]string{"an RDB base": "yes", "a base of commands": "no"} {
		t.Run(name, func(t *testing.T) {
			theirs, dir := onReal(t, t.TempDir(), "--aof-use-rdb-preamble", preamble, "--aof-timestamp-enabled", "yes")
			populate(theirs)
			check := func(what string) {
				want := contents(theirs)
				ours, n := logged(t, copyDir(t, dir))
				require.Equal(t, want, contents(ours), what)
				ours.line("SET ours 1")
				n.Stop()
			}
			check("increments alone")
			theirs.do("BGREWRITEAOF")
			rewritten(t, theirs)
			check("after a rewrite")
			theirs.line("SET after 1")
			theirs.line("LPUSH bigl after")
			check("after more changes")
		})
	}
	t.Run("a snapshot", func(t *testing.T) {
		dir := t.TempDir()
		theirs := asker{t, real.Start(t, "--dir", dir)}
		populate(theirs)
		theirs.do("SAVE")
		want := contents(theirs)
		dir = copyDir(t, dir)
		for run := range 2 {
			ours, n := logged(t, dir)
			require.Equal(t, want, contents(ours))
			ours.do("SET", "run", strconv.Itoa(run))
			want = contents(ours)
			n.Stop()
			require.FileExists(t, filepath.Join(dir, "dump.rdb"))
		}
	})
}

// TestRealServerStartsOnCopies starts a real server on everything that emqd makes to carry data away: snapshots, an export, a
// log that it has made short, a backup.
func TestRealServerStartsOnCopies(t *testing.T) {
	dir := t.TempDir()
	ours, _ := logged(t, dir)
	populate(ours)
	want := contents(ours)
	cfg := server.NewConfig()
	cfg.Dir = dir
	snapshot := func(what string) {
		from := t.TempDir()
		require.NoError(t, os.Rename(filepath.Join(dir, "dump.rdb"), filepath.Join(from, "dump.rdb")))
		require.Equal(t, want, contents(asker{t, real.Start(t, "--dir", from)}), what)
	}
	log := func(what, from string) {
		theirs, _ := onReal(t, from)
		require.Equal(t, want, contents(theirs), what)
	}
	ours.do("SAVE")
	snapshot("SAVE")
	ours.do("BGSAVE")
	require.Eventually(t, func() bool {
		return strings.Contains(string(ours.do("INFO", "persistence")), "rdb_bgsave_in_progress:0")
	}, 20*time.Second, 20*time.Millisecond)
	snapshot("BGSAVE")
	require.NoError(t, server.Export(cfg, filepath.Join(dir, "dump.rdb"), io.Discard))
	snapshot("an export")
	ours.do("BGREWRITEAOF")
	rewritten(t, ours)
	log("a base alone", dir)
	ours.line("LPUSH bigl after")
	ours.line("XADD x * f v")
	want = contents(ours)
	log("a base and an increment", dir)
	dest := t.TempDir()
	require.NoError(t, server.Backup(cfg, dest, io.Discard))
	log("a backup", dest)
}

// TestRestoreOfRealServersData restores what a real server has written: a snapshot, and a directory with a log.
func TestRestoreOfRealServersData(t *testing.T) {
	theirs, dir := onReal(t, t.TempDir())
	populate(theirs)
	theirs.do("BGREWRITEAOF")
	rewritten(t, theirs)
	theirs.line("LPUSH bigl after")
	theirs.do("SAVE")
	want := contents(theirs)
	for _, from := range []string{dir, filepath.Join(dir, "dump.rdb")} {
		cfg := server.NewConfig()
		cfg.Dir = t.TempDir()
		require.NoError(t, server.Restore(cfg, from, io.Discard))
		ours, n := logged(t, cfg.Dir)
		require.Equal(t, want, contents(ours), from)
		n.Stop()
	}
}
