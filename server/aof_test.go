package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/aof"
	"github.com/echomq/emqd/store/aof/memfs"
)

// logged is a node with a log in a file system in memory.
type logged struct {
	t    testing.TB
	fsys *memfs.FS
	srv  *Server
	addr string
	text *logText
	stop func() error
}

// startLogged runs a node on fsys until stop is called or the test ends.
func startLogged(t testing.TB, fsys *memfs.FS, change ...func(*Config)) *logged {
	t.Helper()
	n, err := tryLogged(t, fsys, change...)
	require.NoError(t, err)
	return n
}

func tryLogged(t testing.TB, fsys *memfs.FS, change ...func(*Config)) (*logged, error) {
	cfg := NewConfig()
	cfg.Dir = "/data"
	for _, f := range change {
		f(cfg)
	}
	n := &logged{t: t, fsys: fsys, text: &logText{}}
	srv, err := New(cfg, slog.New(slog.NewTextHandler(n.text, nil)))
	require.NoError(t, err)
	srv.fsys, n.srv = fsys, srv
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	srv.Listen(ln)
	n.addr = ln.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		err := srv.Run(ctx)
		_ = ln.Close() // ends the probe of a node that did not start
		ended <- err
	}()
	var stopped atomic.Bool
	n.stop = func() error {
		if stopped.Swap(true) {
			return nil
		}
		cancel()
		return <-ended
	}
	t.Cleanup(func() { _ = n.stop() }) // the test looks at the error where it matters
	if err := ping(n.addr); err != nil {
		stopped.Store(true)
		return nil, <-ended
	}
	return n, nil
}

// ping waits until a node answers, and fails when it does not start.
func ping(addr string) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if _, err = io.WriteString(c, "PING\r\n"); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 64))
	return err
}

func field(info, name string) string {
	_, rest, _ := strings.Cut(info, name+":")
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

func TestLogRestart(t *testing.T) {
	fsys := memfs.New()
	for run := 1; run <= 4; run++ {
		n := startLogged(t, fsys, func(c *Config) { c.EnableDebugCommand = "yes" })
		c := dial(t, n.addr)
		info := c.do("INFO persistence")
		require.Equal(t, fmt.Sprint(run), field(info, "node_epoch"))
		require.Equal(t, fmt.Sprint(4*(run-1)), field(info, "log_records_recovered"))
		if run > 1 {
			require.Equal(t, fmt.Sprintf(":%d\r\n", run-1), c.do("LLEN l"))
			require.Equal(t, "$1\r\nv\r\n", c.do("HGET h f"))
		}
		require.Equal(t, fmt.Sprintf(":%d\r\n", run), c.do("RPUSH l x"))
		c.do("HSET h f v")
		c.do("MULTI")
		c.do("INCR n")
		c.do("SADD s 1 2 3")
		c.do("EXEC")
		c.do("SET k v PX 100000")
		digest := c.do("DEBUG DIGEST")
		switch run % 2 {
		case 0:
			require.NoError(t, n.stop())
			fsys = fsys.Kill()
		case 1:
			fsys = fsys.Crash() // everything that was answered is durable
		}
		again := startLogged(t, fsys.Kill(), func(c *Config) { c.EnableDebugCommand = "yes" })
		require.Equal(t, digest, dial(t, again.addr).do("DEBUG DIGEST"))
		require.NoError(t, again.stop())
	}
}

// TestLogExpiry restarts when keys have expired: their removal, and what happened before it, is the same again.
func TestLogExpiry(t *testing.T) {
	fsys := memfs.New()
	n := startLogged(t, fsys)
	c := dial(t, n.addr)
	c.do("SET kept v PX 1")
	for c.do("EXISTS kept") == ":1\r\n" {
	}
	c.do("RPUSH kept after")
	c.do("SET short v PX 1")
	require.NoError(t, n.stop())
	n = startLogged(t, fsys.Kill())
	c = dial(t, n.addr)
	require.Equal(t, "*1\r\n$5\r\nafter\r\n", c.do("LRANGE kept 0 -1"))
	require.Equal(t, "$-1\r\n", c.do("GET short"))
}

func TestLogBroken(t *testing.T) {
	for _, op := range []string{"write", "sync"} {
		t.Run(op, func(t *testing.T) {
			fsys := memfs.New()
			n := startLogged(t, fsys, func(c *Config) { c.EnableDebugCommand = "yes" })
			c := dial(t, n.addr)
			require.Equal(t, "+OK\r\n", c.do("SET before v"))
			var failing atomic.Bool
			failing.Store(true)
			fsys.SetFail(func(did, _ string) error {
				if failing.Load() && (did == op || did == "create") {
					return syscall.EIO
				}
				return nil
			})
			c.send("SET unknown v")
			_, err := c.r.Next()
			require.Error(t, err, "what is not in the log is not acknowledged")
			c = dial(t, n.addr)
			require.Contains(t, c.do("SET later v"), "-MISCONF Errors writing to the AOF file: ")
			require.Contains(t, c.do("SET later v"), "input/output error")
			require.Equal(t, "$1\r\nv\r\n", c.do("GET before"))
			require.Equal(t, "err", field(c.do("INFO persistence"), "aof_last_write_status"))
			c.do("MULTI")
			require.Contains(t, c.do("SET later v"), "-MISCONF")
			c.do("DISCARD")
			failing.Store(false)
			for field(c.do("INFO persistence"), "aof_last_write_status") != "ok" {
			}
			c = dial(t, n.addr)
			require.Equal(t, "+OK\r\n", c.do("SET later v"))
			digest := c.do("DEBUG DIGEST")
			again := startLogged(t, fsys.Crash(), func(c *Config) { c.EnableDebugCommand = "yes" })
			require.Equal(t, digest, dial(t, again.addr).do("DEBUG DIGEST"))
		})
	}
}

// TestLogFull fills the disk: what ends jobs goes on, what begins them waits until there is room.
func TestLogFull(t *testing.T) {
	fsys := memfs.New()
	n := startLogged(t, fsys, func(c *Config) { c.EnableDebugCommand = "yes" })
	c := dial(t, n.addr)
	require.Equal(t, "+OK\r\n", c.do("SET a v"))
	fsys.SetLimit(fsys.Used())
	value := strings.Repeat("v", 1000)
	refused := false
	for i := 0; i < 2000 && !refused; i++ {
		reply := c.do(fmt.Sprintf("SET k%d %s", i, value))
		refused = strings.HasPrefix(reply, "-MISCONF Errors writing to the AOF file: no space left on device")
		require.True(t, refused || reply == "+OK\r\n", reply)
	}
	require.True(t, refused)
	require.Equal(t, "full", field(c.do("INFO persistence"), "log_health"))
	for i := range 100 {
		require.Equal(t, ":1\r\n", c.do(fmt.Sprintf("DEL k%d", i)), "what gives room is served")
	}
	fsys.SetLimit(0)
	for field(c.do("INFO persistence"), "log_health") != "well" {
	}
	require.Equal(t, "+OK\r\n", c.do("SET b v"))
	digest := c.do("DEBUG DIGEST")
	again := startLogged(t, fsys.Crash(), func(c *Config) { c.EnableDebugCommand = "yes" })
	require.Equal(t, digest, dial(t, again.addr).do("DEBUG DIGEST"))
}

func TestLogRefusals(t *testing.T) {
	fsys := memfs.New()
	n := startLogged(t, fsys)
	c := dial(t, n.addr)
	c.do("SET a 1")
	c.do("SET b 2")
	after := fsys.Kill()
	name := filepath.Join("/data/appendonlydir", "appendonly.aof.1.incr.aof")
	data := after.Bytes(name)
	cut := bytes.Index(data, []byte("\r\nb\r\n"))
	torn := append(bytes.Clone(data[:cut]), 0, 0, 0)
	after.Put(name, torn)
	_, err := tryLogged(t, after.Kill(), func(c *Config) { c.AOFLoadTruncated = false })
	require.ErrorContains(t, err, "aof-load-truncated is no")
	n = startLogged(t, after)
	c = dial(t, n.addr)
	require.Equal(t, "$-1\r\n", c.do("GET b"))
	require.NotEqual(t, "0", field(c.do("INFO persistence"), "log_bytes_discarded"))
	require.NoError(t, n.stop())
	require.Contains(t, n.text.String(), "record=2")

	data[bytes.Index(data, []byte("\r\na\r\n"))+2] = 'A'
	after = fsys.Kill()
	after.Put(name, data)
	_, err = tryLogged(t, after)
	var damage *aof.Damage
	require.ErrorAs(t, err, &damage)
	require.True(t, errors.As(err, &damage) && damage.Seq == 1)

	after = fsys.Kill()
	require.NoError(t, after.Remove("/data/appendonlydir/appendonly.aof.manifest"))
	_, err = tryLogged(t, after)
	require.ErrorContains(t, err, "not starting with nothing")
}

func TestWaitAOF(t *testing.T) {
	fsys := memfs.New()
	n := startLogged(t, fsys, func(c *Config) { c.AppendFsync = "no" })
	c := dial(t, n.addr)
	c.do("SET a v")
	require.Equal(t, "*2\r\n:1\r\n:0\r\n", c.do("WAITAOF 1 0 0"))
	require.Equal(t, "$1\r\nv\r\n", dial(t, startLogged(t, fsys.Crash()).addr).do("GET a"))
	require.Equal(t, "*2\r\n:1\r\n:0\r\n", c.do("WAITAOF 1 1 1"))
	require.Equal(t, "*2\r\n:1\r\n:0\r\n", c.do("WAITAOF 0 0 0"))
	for _, bad := range []string{"WAITAOF 2 0 0", "WAITAOF x 0 0", "WAITAOF 1 -1 0", "WAITAOF 1 0 -1", "WAITAOF 1 0"} {
		require.Contains(t, c.do(bad), "-ERR ", bad)
	}
	c = dial(t, startServer(t))
	require.Contains(t, c.do("WAITAOF 1 0 0"), "appendonly is disabled")
	require.Equal(t, "*2\r\n:0\r\n:0\r\n", c.do("WAITAOF 0 0 0"))
}

// logText is what a running server logs, to be read while it does.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// String returns everything logged so far.
func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
