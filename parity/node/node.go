// Package node runs an emqd in the test's own process and opens raw connections to it.
package node

import (
	"context"
	"io"
	"log/slog"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/server"
)

// Node is a running emqd.
type Node struct {
	Addr string // host:port of its plain TCP listener

	t      testing.TB
	cancel context.CancelFunc
	done   chan error
	ended  bool
}

// Set returns a change of one setting, in the notation of CONFIG SET and among those that it may change.
func Set(name, value string) func(*server.Config) {
	return func(c *server.Config) {
		if err := c.Set(server.Pair{Name: name, Value: value}); err != nil {
			panic(err)
		}
	}
}

// Start runs a node on a free port of the loopback address until the test ends.
func Start(t testing.TB, change ...func(*server.Config)) *Node {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return Serve(t, ln, change...)
}

// Serve is Start with a listener of the caller's, which is closed with the node.
func Serve(t testing.TB, ln net.Listener, change ...func(*server.Config)) *Node {
	t.Helper()
	cfg := server.NewConfig()
	cfg.AppendOnly = false // what is about the log says so
	cfg.Dir = t.TempDir()
	for _, f := range change {
		f(cfg)
	}
	srv, err := server.New(cfg, slog.New(slog.NewTextHandler(io.Discard, nil)))
	require.NoError(t, err)
	srv.Listen(ln)
	ctx, cancel := context.WithCancel(context.Background())
	n := &Node{Addr: ln.Addr().String(), t: t, cancel: cancel, done: make(chan error, 1)}
	go func() { n.done <- srv.Run(ctx) }()
	t.Cleanup(n.Stop)
	return n
}

// Stop ends the node and waits for its end. A second call does nothing.
func (n *Node) Stop() {
	if n.ended {
		return
	}
	n.ended = true
	n.cancel()
	require.NoError(n.t, <-n.done)
}

// Dial opens a raw connection, closed when the test ends.
func (n *Node) Dial() *Conn {
	n.t.Helper()
	nc, err := net.Dial("tcp", n.Addr)
	require.NoError(n.t, err)
	return Wrap(n.t, nc)
}
