package server

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/server/resp"
)

// startServer runs a node on a free port of the loopback address until the test ends, and returns its address.
func startServer(t testing.TB, change ...func(*Config)) string {
	t.Helper()
	cfg := NewConfig()
	cfg.AppendOnly = false // what is about the log says so
	cfg.Dir = t.TempDir()
	for _, f := range change {
		f(cfg)
	}
	srv, err := New(cfg, slog.New(slog.NewTextHandler(io.Discard, nil)))
	require.NoError(t, err)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	srv.Listen(ln)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return ln.Addr().String()
}

// client is a raw connection that reads replies as they are framed.
type client struct {
	t testing.TB
	net.Conn
	r *resp.ReplyReader
}

func dial(t testing.TB, addr string) *client {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return &client{t, c, resp.NewReplyReader(bufio.NewReader(c))}
}

// send writes inline commands, one a line.
func (c *client) send(lines ...string) {
	c.t.Helper()
	_, err := io.WriteString(c, strings.Join(lines, "\r\n")+"\r\n")
	require.NoError(c.t, err)
}

// next returns the next reply's bytes.
func (c *client) next() string {
	c.t.Helper()
	b, err := c.r.Next()
	require.NoError(c.t, err)
	return string(b)
}

// do sends one inline command and returns its reply.
func (c *client) do(line string) string {
	c.t.Helper()
	c.send(line)
	return c.next()
}

func TestServesAPipeline(t *testing.T) {
	c := dial(t, startServer(t))
	c.send("PING", "HSET h a 1 b 2", "HGET h a", "NOSUCH x", "HGET h")
	require.Equal(t, "+PONG\r\n", c.next())
	require.Equal(t, ":2\r\n", c.next())
	require.Equal(t, "$1\r\n1\r\n", c.next())
	require.Equal(t, "-ERR unknown command 'NOSUCH', with args beginning with: 'x' \r\n", c.next())
	require.Equal(t, "-ERR wrong number of arguments for 'hget' command\r\n", c.next())
}

func TestTransaction(t *testing.T) {
	addr := startServer(t)
	a, b := dial(t, addr), dial(t, addr)
	require.Equal(t, "+OK\r\n", a.do("WATCH h"))
	require.Equal(t, "+OK\r\n", a.do("MULTI"))
	require.Equal(t, "+QUEUED\r\n", a.do("HSET h x 1"))
	require.Equal(t, ":1\r\n", b.do("HSET h y 1"))
	require.Equal(t, "*-1\r\n", a.do("EXEC"))
	require.Equal(t, "+OK\r\n", a.do("MULTI"))
	require.Equal(t, "+QUEUED\r\n", a.do("HSET h x 1"))
	require.Equal(t, "+QUEUED\r\n", a.do("HGETALL h"))
	require.Equal(t, "*2\r\n:1\r\n*4\r\n$1\r\ny\r\n$1\r\n1\r\n$1\r\nx\r\n$1\r\n1\r\n", a.do("EXEC"))
	require.Equal(t, "+OK\r\n", a.do("MULTI"))
	require.Contains(t, a.do("NOSUCH"), "-ERR unknown command")
	require.Equal(t, "+QUEUED\r\n", a.do("HSET leaked x 1"))
	require.Contains(t, a.do("EXEC"), "-EXECABORT")
	require.Equal(t, "*0\r\n", a.do("HGETALL leaked"))
}

func TestRefusedExecDiscardsTheTransaction(t *testing.T) {
	c := dial(t, startServer(t))
	require.Equal(t, "+OK\r\n", c.do("MULTI"))
	require.Equal(t, "+QUEUED\r\n", c.do("SET k v"))
	require.Equal(t, "-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command\r\n", c.do("EXEC x"))
	require.Equal(t, "-ERR EXEC without MULTI\r\n", c.do("EXEC"))
	require.Equal(t, "$-1\r\n", c.do("GET k"))
}

func TestExecIsRefusedWhenMemoryHasRunOut(t *testing.T) {
	addr := startServer(t)
	a, b := dial(t, addr), dial(t, addr)
	require.Equal(t, "+OK\r\n", a.do("MULTI"))
	require.Equal(t, "+QUEUED\r\n", a.do("SET k v"))
	require.Equal(t, "+OK\r\n", b.do("CONFIG SET maxmemory 1"))
	require.Equal(t, "-EXECABORT Transaction discarded because of: OOM command not allowed when used memory > 'maxmemory'.\r\n", a.do("EXEC"))
	require.Equal(t, "-OOM command not allowed when used memory > 'maxmemory'.\r\n", a.do("SET k v"))
	require.Equal(t, "$-1\r\n", a.do("GET k"))
}
