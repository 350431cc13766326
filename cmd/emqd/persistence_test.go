package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// place is where a node of these tests lives.
type place struct{ dir, socket string }

func newPlace(t *testing.T) place {
	return place{filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "s")}
}

func (p place) start(t *testing.T, dir string) *exec.Cmd {
	cmd, log := node(t, "--port", "0", "--unixsocket", p.socket, "--dir", dir, "--enable-debug-command", "yes")
	go func() { _, _ = io.Copy(io.Discard, log) }() // the pipe must not fill up
	return cmd
}

// talk is a connection with inline commands.
type talk struct {
	net.Conn
	in *bufio.Reader
}

func (p place) dial(t *testing.T) *talk {
	c, err := net.Dial("unix", p.socket)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return &talk{c, bufio.NewReader(c)}
}

// ask returns the reply's first line, or the text of a bulk reply.
func (c *talk) ask(line string) (string, error) {
	if _, err := io.WriteString(c, line+"\r\n"); err != nil {
		return "", err
	}
	reply, err := c.in.ReadString('\n')
	if err != nil || reply[0] != '$' {
		return strings.TrimRight(reply, "\r\n"), err
	}
	n, err := strconv.Atoi(strings.TrimSpace(reply[1:]))
	if err != nil || n < 0 {
		return "", err
	}
	text := make([]byte, n+2)
	_, err = io.ReadFull(c.in, text)
	return string(text[:n]), err
}

func (c *talk) do(t *testing.T, line string) string {
	t.Helper()
	reply, err := c.ask(line)
	require.NoError(t, err, line)
	return reply
}

// info returns a field of INFO persistence.
func (c *talk) info(t *testing.T, name string) string {
	t.Helper()
	_, rest, _ := strings.Cut(c.do(t, "INFO persistence"), "\n"+name+":")
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

// busy reports whether work goes on in the background.
func (c *talk) busy(t *testing.T) bool {
	t.Helper()
	return c.info(t, "aof_rewrite_in_progress")+c.info(t, "rdb_bgsave_in_progress") != "00"
}

// fill writes n keys.
func (c *talk) fill(t *testing.T, n int) {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "HSET emq:{q}:job:%d state pending payload %d%s\r\n", i, i, strings.Repeat("p", 100))
	}
	_, err := io.WriteString(c, b.String())
	require.NoError(t, err)
	for range n {
		reply, err := c.in.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, ":2\r\n", reply)
	}
}

// child returns the process that a node has started, 0 when there is none.
func child(t *testing.T, pid int) int {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	require.NoError(t, err)
	for _, name := range lists {
		text, err := os.ReadFile(name)
		if f := strings.Fields(string(text)); err == nil && len(f) > 0 {
			n, err := strconv.Atoi(f[0])
			require.NoError(t, err)
			return n
		}
	}
	return 0
}

// TestKillChild kills the process that builds the new base: the log is as good as before, and the next attempt succeeds.
func TestKillChild(t *testing.T) {
	if _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid())); err != nil {
		t.Skip("the system does not tell children: ", err)
	}
	p := newPlace(t)
	cmd := p.start(t, p.dir)
	c := p.dial(t)
	c.fill(t, 5000)
	digest := c.do(t, "DEBUG DIGEST")
	for _, command := range []string{"BGREWRITEAOF", "BGSAVE"} {
		killed := false
		for try := 0; try < 50 && !killed; try++ { // it may be faster than the kill
			require.Contains(t, c.do(t, command), "started")
			for c.busy(t) && !killed {
				if victim := child(t, cmd.Process.Pid); victim != 0 {
					killed = syscall.Kill(victim, syscall.SIGKILL) == nil
				}
			}
			for c.busy(t) {
			}
			killed = killed && strings.Contains(c.info(t, "aof_last_bgrewrite_status")+c.info(t, "rdb_last_bgsave_status"), "err")
		}
		require.True(t, killed, command)
		require.Equal(t, digest, c.do(t, "DEBUG DIGEST"))
		require.Contains(t, c.do(t, command), "started")
		for c.busy(t) {
		}
		require.Equal(t, "okok", c.info(t, "aof_last_bgrewrite_status")+c.info(t, "rdb_last_bgsave_status"))
	}
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	p.start(t, p.dir)
	require.Equal(t, digest, p.dial(t).do(t, "DEBUG DIGEST"))
}

// TestKillWhileRewriting kills nodes at random moments of a rewrite: everything acknowledged is there, and the epoch grows
// by one for each start.
func TestKillWhileRewriting(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	p := newPlace(t)
	acknowledged := 0
	for round := 1; round <= 6; round++ {
		cmd := p.start(t, p.dir)
		c := p.dial(t)
		for c.info(t, "loading") != "0" {
		}
		require.Equal(t, strconv.Itoa(round), c.info(t, "node_epoch"))
		if round == 1 {
			c.fill(t, 3000)
		}
		n := 0
		_, err := fmt.Sscanf(c.do(t, "INCRBY n 0"), ":%d", &n)
		require.NoError(t, err)
		require.True(t, n == acknowledged || n == acknowledged+1, "%d acknowledged, %d there", acknowledged, n)
		require.Equal(t, ":3001", c.do(t, "DBSIZE"))
		acknowledged = n
		require.Contains(t, c.do(t, "BGREWRITEAOF"), "started")
		time.AfterFunc(time.Duration(random.IntN(250))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		for {
			reply, err := c.ask("INCR n")
			if err != nil {
				break
			}
			acknowledged++
			require.Equal(t, fmt.Sprintf(":%d", acknowledged), reply)
		}
		_ = cmd.Wait() // it was killed
	}
}

// TestBackup copies the data while a node serves, restores the copies, exports and imports.
func TestBackup(t *testing.T) {
	p := newPlace(t)
	cmd := p.start(t, p.dir)
	p.dial(t).fill(t, 2000)
	c := p.dial(t)
	var acknowledged, stop atomic.Int64
	require.Equal(t, ":1", c.do(t, "INCR n"))
	acknowledged.Store(1)
	done := make(chan error, 1)
	go func() {
		for stop.Load() == 0 {
			if _, err := c.ask("INCR n"); err != nil {
				done <- err
				return
			}
			acknowledged.Add(1)
		}
		done <- nil
	}()
	settings := []string{"--port", "0", "--unixsocket", p.socket}
	emqd := func(dir string, words ...string) string {
		var out, errs strings.Builder
		require.Zero(t, run(append(append(words, settings...), "--dir", dir), nil, &out, &errs), errs.String())
		return out.String()
	}
	type copied struct {
		dir  string
		held int64
	}
	var copies []copied
	d := p.dial(t)
	for i := range 4 {
		if i%2 == 1 {
			require.Contains(t, d.do(t, "BGREWRITEAOF"), "started")
		}
		to := copied{filepath.Join(t.TempDir(), "copy"), acknowledged.Load()}
		require.Contains(t, emqd(p.dir, "backup", to.dir), "node epoch 1")
		restored := copied{filepath.Join(t.TempDir(), "restored"), to.held}
		emqd(restored.dir, "restore", to.dir)
		file := filepath.Join(t.TempDir(), "x.rdb")
		imported := copied{filepath.Join(t.TempDir(), "imported"), acknowledged.Load()}
		require.Contains(t, emqd(p.dir, "export", "--rdb", file), "2001 keys")
		emqd(imported.dir, "restore", file)
		copies = append(copies, to, restored, imported)
		for d.info(t, "aof_rewrite_in_progress") != "0" {
		}
	}
	stop.Store(1)
	require.NoError(t, <-done)
	digest := d.do(t, "DEBUG DIGEST")
	last := filepath.Join(t.TempDir(), "last")
	emqd(p.dir, "backup", last)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait())
	var errs strings.Builder
	require.Equal(t, exitFailure, run([]string{"restore", last, "--port", "0", "--unixsocket", "x", "--dir", p.dir}, nil, io.Discard, &errs))
	require.Contains(t, errs.String(), "there is a log in")
	for i, to := range append(copies, copied{last, acknowledged.Load()}) {
		cmd := p.start(t, to.dir)
		c := p.dial(t)
		require.Equal(t, ":2001", c.do(t, "DBSIZE"))
		if i == len(copies) {
			require.Equal(t, digest, c.do(t, "DEBUG DIGEST"))
		}
		require.Equal(t, "2", c.info(t, "node_epoch"))
		n := int64(0)
		_, err := fmt.Sscanf(c.do(t, "INCRBY n 0"), ":%d", &n)
		require.NoError(t, err)
		require.GreaterOrEqual(t, n, to.held)
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, cmd.Wait())
	}
}
