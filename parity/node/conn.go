package node

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/script"
	"github.com/echomq/emqd/server/resp"
)

// patience is how long a reply may take before the test fails.
const patience = 20 * time.Second

// Conn is a raw connection. Its methods end the test when the connection fails.
type Conn struct {
	net.Conn
	t       testing.TB
	replies *resp.ReplyReader
}

// Wrap makes a Conn of a connection, and closes it when the test ends.
func Wrap(t testing.TB, nc net.Conn) *Conn {
	t.Cleanup(func() { _ = nc.Close() }) // it may be closed already
	return &Conn{nc, t, resp.NewReplyReader(nc)}
}

// Raw sends bytes as they are.
func (c *Conn) Raw(text string) {
	c.t.Helper()
	_, err := io.WriteString(c.Conn, text)
	require.NoError(c.t, err)
}

// Send sends requests in one write. Each is a line in the quoting of redis-cli.
func (c *Conn) Send(lines ...string) {
	c.t.Helper()
	var b []byte
	for _, line := range lines {
		args, err := script.Split(line)
		require.NoError(c.t, err)
		b = resp.AppendRequest(b, args...)
	}
	_, err := c.Write(b)
	require.NoError(c.t, err)
}

// Bytes returns the next reply or push as it was sent.
func (c *Conn) Bytes() string {
	c.t.Helper()
	require.NoError(c.t, c.SetReadDeadline(time.Now().Add(patience)))
	b, err := c.replies.Next()
	require.NoError(c.t, err)
	return string(b)
}

// Next returns the next reply or push in the notation of the scripts.
func (c *Conn) Next() string {
	c.t.Helper()
	v, _, err := script.Decode([]byte(c.Bytes()))
	require.NoError(c.t, err)
	return v.String()
}

// Do sends one request and returns its reply in the notation of the scripts.
func (c *Conn) Do(line string) string {
	c.t.Helper()
	c.Send(line)
	return c.Next()
}

// Want sends one request and requires the reply.
func (c *Conn) Want(line, reply string) {
	c.t.Helper()
	require.Equal(c.t, reply, c.Do(line), "%.100s", line)
}

// Closed requires that the server ends the connection with no more than rest behind what was read.
func (c *Conn) Closed(rest string) {
	c.t.Helper()
	require.NoError(c.t, c.SetReadDeadline(time.Now().Add(patience)))
	var got []byte
	for {
		b, err := c.replies.Next()
		got = append(got, b...)
		if err == nil {
			continue
		}
		require.NotErrorIs(c.t, err, os.ErrDeadlineExceeded, "the connection is open after %q", got)
		require.Equal(c.t, rest, string(got))
		return
	}
}
