package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/echomq/emqd/bench"
)

// node is a server that runs for the measurement.
type node struct {
	*bench.Server
	binary string
	args   []string
	port   int
	dir    string
	cmd    *exec.Cmd
}

// log is a mode of the log that both servers know.
type log struct{ name, appendonly, fsync string }

var (
	logOff    = log{"no log", "no", "everysec"}
	logSecond = log{"fsync every second", "yes", "everysec"}
	logAlways = log{"fsync before every reply", "yes", "always"}
)

func (m *matrix) startEmqd(l log, args ...string) (*node, error) {
	return start(m.emqd, append([]string{
		"--appendonly", l.appendonly, "--appendfsync", l.fsync, "--install", "yes", "--loglevel", "warning", "--maxclients", "12000",
		"--auto-aof-rewrite-percentage", "0", // a section that wants a rewrite asks for it
	}, args...))
}

func (m *matrix) startPeer(l log, args ...string) (*node, error) {
	return start(m.peer, append([]string{
		"--appendonly", l.appendonly, "--appendfsync", l.fsync, "--save", "", "--loglevel", "warning", "--maxclients", "12000",
		"--auto-aof-rewrite-percentage", "0", // a section that wants a rewrite asks for it
	}, args...))
}

// pair runs f with both servers up.
func (m *matrix) pair(l log, f func(a, b *node) error) error {
	a, err := m.startEmqd(l)
	if err != nil {
		return err
	}
	defer a.remove()
	b, err := m.startPeer(l)
	if err != nil {
		return err
	}
	defer b.remove()
	return f(a, b)
}

// start runs a server on a free port of the loopback address, in a directory of its own, and waits until it answers.
func start(binary string, args []string) (*node, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n := &node{binary: binary, port: ln.Addr().(*net.TCPAddr).Port}
	if err := ln.Close(); err != nil {
		return nil, err
	}
	if n.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return nil, err
	}
	n.args = append([]string{"--port", strconv.Itoa(n.port), "--bind", "127.0.0.1", "--dir", n.dir}, args...)
	if _, err := n.up(2 * time.Minute); err != nil {
		n.remove()
		return nil, err
	}
	return n, nil
}

// up starts the process and returns how long it took until it served.
func (n *node) up(patience time.Duration) (time.Duration, error) {
	begin := time.Now()
	n.cmd = exec.Command(n.binary, n.args...)
	n.cmd.Stderr = os.Stderr
	if err := n.cmd.Start(); err != nil {
		return 0, err
	}
	addr := "127.0.0.1:" + strconv.Itoa(n.port)
	for time.Since(begin) < patience {
		s, err := bench.Open(addr, "", "")
		if err == nil {
			info, e := s.Info("persistence")
			if e == nil && info["loading"] == "0" {
				n.Server = s
				return time.Since(begin), nil
			}
			err = s.Close()
		}
		if n.cmd.ProcessState != nil {
			return 0, fmt.Errorf("%s ended: %w", n.binary, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return 0, fmt.Errorf("%s does not serve on port %d", n.binary, n.port)
}

// down ends the process as an operator would.
func (n *node) down() error {
	if n.cmd == nil || n.cmd.Process == nil {
		return nil
	}
	if n.Server != nil {
		_ = n.Server.Close() // it may be gone already
		n.Server = nil
	}
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	done := make(chan struct{})
	go func() {
		_ = n.cmd.Wait() // its exit code says nothing about the measurement
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-time.After(time.Minute):
		_ = n.cmd.Process.Kill()
		<-done
		return fmt.Errorf("%s did not end", n.binary)
	}
}

// remove ends the process at once and removes its data.
func (n *node) remove() {
	if n.cmd != nil && n.cmd.Process != nil {
		_ = n.cmd.Process.Kill() // what it held was made for the measurement
		_ = n.cmd.Wait()
	}
	_ = os.RemoveAll(n.dir)
}

// resident is the memory of the process in bytes.
func (n *node) resident() int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(b) {
		if value, ok := strings.CutPrefix(string(line), "VmRSS:"); ok {
			kb := int64(0)
			if _, err := fmt.Sscan(value, &kb); err == nil {
				return kb << 10
			}
		}
	}
	return 0
}

// fill puts jobs into the queue of a name, where nobody claims them, until there are n.
func (n *node) fill(ctx context.Context, m *matrix, name string, jobs int) error {
	l := m.load("fill", 50, 32, 0)
	l.Ops, l.Name = int64(jobs), name
	r, err := n.Run(ctx, l)
	if err != nil {
		return err
	}
	return wrongReplies("filling a queue", r)
}

// rewrite has the log rewritten and returns how long it took.
func (n *node) rewrite(ctx context.Context) (time.Duration, error) {
	begin := time.Now()
	if _, err := n.Do("BGREWRITEAOF"); err != nil {
		return 0, err
	}
	for ctx.Err() == nil {
		time.Sleep(20 * time.Millisecond)
		info, err := n.Info("persistence")
		if err != nil {
			return 0, err
		}
		if info["aof_rewrite_in_progress"] == "0" && info["aof_rewrite_scheduled"] == "0" {
			if info["aof_last_bgrewrite_status"] != "ok" {
				return 0, fmt.Errorf("the rewrite ended with %q", info["aof_last_bgrewrite_status"])
			}
			return time.Since(begin), nil
		}
	}
	return 0, ctx.Err()
}
