package server

import (
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/server/resp"
)

// deaf starts a node with a Unix socket and returns a connection over it that has sent many requests and reads no reply,
// its number, and a connection to see it by.
func deaf(t *testing.T, change func(*Config)) (id string, witness *client) {
	path := filepath.Join(t.TempDir(), "s")
	addr := startServer(t, func(c *Config) { c.UnixSocket = path }, change)
	witness = dial(t, addr)
	require.Equal(t, "+OK\r\n", witness.do("SET big "+strings.Repeat("v", 60_000)))
	conn, err := net.Dial("unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	c := &client{t, conn, resp.NewReplyReader(conn)}
	id = strings.Trim(c.do("CLIENT ID"), ":\r\n")
	require.Contains(t, witness.do("CLIENT LIST ID "+id), " flags=U ")
	go func() { _, _ = io.WriteString(conn, strings.Repeat("GET big\r\n", 2000)) }() // fails when it is closed
	return id, witness
}

func gone(witness *client, id string) {
	for witness.do("CLIENT LIST ID "+id) != "$0\r\n\r\n" {
	}
}

// A client that is killed is gone at once, also while its writer waits for it to read.
func TestKilledClientThatDoesNotReadIsGone(t *testing.T) {
	id, witness := deaf(t, func(*Config) {})
	for !strings.Contains(witness.do("CLIENT LIST ID "+id), " events=rw ") {
	}
	require.Equal(t, ":1\r\n", witness.do("CLIENT KILL ID "+id))
	gone(witness, id)
}

// What is being written counts for the output limit, and the limit ends the writer.
func TestOutputLimitEndsAClientThatDoesNotRead(t *testing.T) {
	id, witness := deaf(t, func(c *Config) { c.ClientOutputLimits[ClassNormal] = OutputLimit{Hard: 4 << 20} })
	gone(witness, id)
}

// Nothing is popped for a client that was closed in the same turn.
func TestNothingIsPoppedForAClientThatIsClosed(t *testing.T) {
	addr := startServer(t, func(c *Config) { c.ClientOutputLimits[ClassPubSub] = OutputLimit{Hard: 1000} })
	a, b := dial(t, addr), dial(t, addr)
	a.do("HELLO 3")
	a.do("SUBSCRIBE c")
	a.send("BLPOP l 0")
	for field(b.do("INFO clients"), "blocked_clients") != "1" {
	}
	b.send("PUBLISH c "+strings.Repeat("x", 2000), "RPUSH l x", "LRANGE l 0 -1")
	require.Equal(t, ":1\r\n", b.next())
	require.Equal(t, ":1\r\n", b.next())
	require.Equal(t, "*1\r\n$1\r\nx\r\n", b.next())
	require.Equal(t, "0", field(b.do("INFO clients"), "blocked_clients"))
}
