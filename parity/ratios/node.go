package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// node is a server that runs for the measurement.
type node struct {
	name string
	port int
	cmd  *exec.Cmd
	dir  string
}

// withServers runs f with both servers up, with the log in the given mode on both sides.
func withServers(emqd, peer, appendonly, fsync string, f func(a, b *node) error) (err error) {
	if fsync == "no" {
		fsync = "everysec" // only a setting that both accept: there is no log
	}
	a, err := start("emqd", emqd, "--appendonly", appendonly, "--appendfsync", fsync, "--install", "yes", "--loglevel", "warning")
	if err != nil {
		return err
	}
	defer a.stop()
	b, err := start("peer", peer, "--appendonly", appendonly, "--appendfsync", fsync, "--save", "", "--loglevel", "warning")
	if err != nil {
		return err
	}
	defer b.stop()
	return f(a, b)
}

// start runs a server on a free port of the loopback address and waits until it answers.
func start(name, binary string, args ...string) (*node, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n := &node{name: name, port: ln.Addr().(*net.TCPAddr).Port}
	if err := ln.Close(); err != nil {
		return nil, err
	}
	if n.dir, err = os.MkdirTemp("", "ratios"); err != nil {
		return nil, err
	}
	n.cmd = exec.Command(binary, append([]string{"--port", strconv.Itoa(n.port), "--bind", "127.0.0.1", "--dir", n.dir}, args...)...)
	n.cmd.Stderr = os.Stderr
	if err := n.cmd.Start(); err != nil {
		return nil, err
	}
	for range 100 {
		if c, err := n.dial(); err == nil {
			return n, c.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	n.stop()
	return nil, fmt.Errorf("%s does not answer on port %d", binary, n.port)
}

func (n *node) stop() {
	_ = n.cmd.Process.Kill() // what it held was made for the measurement
	_ = n.cmd.Wait()
	_ = os.RemoveAll(n.dir)
}

func (n *node) dial() (net.Conn, error) { return net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(n.port)) }

// cpu returns the server's CPU time so far in microseconds, its finest grain being a hundredth of a second.
func (n *node) cpu() float64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(n.cmd.Process.Pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	ticks := 0.0
	for _, f := range fields[11:13] { // utime and stime
		t, err := strconv.ParseFloat(string(f), 64)
		if err != nil {
			return 0
		}
		ticks += t
	}
	return ticks * 1e4
}
