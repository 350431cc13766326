package clients

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/node"
	"github.com/echomq/emqd/server"
)

// ended reads until the server closes the connection; what is still under way is dropped.
func ended(t testing.TB, c net.Conn) {
	t.Helper()
	require.NoError(t, c.SetReadDeadline(time.Now().Add(20*time.Second)))
	_, err := io.Copy(io.Discard, c)
	if late, ok := err.(net.Error); ok {
		require.False(t, late.Timeout(), "the connection is still open")
	}
}

// TestSubscriberThatDoesNotReadIsClosed publishes until the hard limit of its class is passed: the publisher
// counts one receiver less then, and nobody else is hurt.
func TestSubscriberThatDoesNotReadIsClosed(t *testing.T) {
	n := node.Start(t, node.Set("client-output-buffer-limit", "pubsub 1mb 0 0"))
	deaf, listener, publisher := n.Dial(), n.Dial(), n.Dial()
	deaf.Want("SUBSCRIBE news", `*[$"subscribe" $"news" :1]`)
	listener.Want("SUBSCRIBE news", `*[$"subscribe" $"news" :1]`)
	body := strings.Repeat("x", 64<<10)
	receivers := ":2"
	for i := 0; receivers == ":2"; i++ {
		require.Less(t, i, 4096, "the limit is never reached")
		receivers = publisher.Do("PUBLISH news " + body)
		require.Contains(t, listener.Bytes(), body)
	}
	require.Equal(t, ":1", receivers)
	ended(t, deaf)
	publisher.Want("PUBLISH news on", ":1")
	require.Equal(t, `*[$"message" $"news" $"on"]`, listener.Next())
}

func TestClientThatDoesNotReadItsRepliesIsClosed(t *testing.T) {
	n := node.Start(t, node.Set("client-output-buffer-limit", "normal 4mb 0 0"))
	c, witness := n.Dial(), n.Dial()
	witness.Want(`SET big "v"*1000000`, "+OK")
	id := strings.TrimPrefix(c.Do("CLIENT ID"), ":")
	go func() { _, _ = io.WriteString(c, strings.Repeat("GET big\r\n", 1000)) }() // fails when c is closed
	until := time.Now().Add(10 * time.Second)
	for witness.Do("CLIENT LIST ID "+id) != `$""` {
		require.True(t, time.Now().Before(until))
	}
	ended(t, c)
	witness.Want("STRLEN big", ":1000000")
}

func TestSoftOutputLimit(t *testing.T) {
	n := node.Start(t, node.Set("client-output-buffer-limit", "pubsub 0 256kb 1"))
	deaf, publisher := n.Dial(), n.Dial()
	deaf.Want("SUBSCRIBE news", `*[$"subscribe" $"news" :1]`)
	body := strings.Repeat("x", 1<<20)
	receivers := ":1"
	for i := 0; i < 12 && receivers == ":1"; i++ { // the second may be over before all are sent
		receivers = publisher.Do("PUBLISH news " + body)
	}
	until := time.Now().Add(10 * time.Second)
	for publisher.Do("PUBSUB NUMSUB news") != `*[$"news" :0]` {
		require.True(t, time.Now().Before(until))
	}
	ended(t, deaf)
}

func TestQueryBufferLimit(t *testing.T) {
	n := node.Start(t, node.Set("client-query-buffer-limit", "1mb"))
	c, witness := n.Dial(), n.Dial()
	_, err := io.WriteString(c, "*2\r\n$4\r\nECHO\r\n$3000000\r\n"+strings.Repeat("x", 2_000_000))
	if err == nil {
		ended(t, c)
	}
	witness.Want("PING", "+PONG")
	c = n.Dial()
	c.Want(`STRLEN "k"*900000`, ":0")
	parked := n.Dial()
	parked.Send("BLPOP nothing 0")
	_, err = io.WriteString(parked, strings.Repeat("PING\r\n", 400_000))
	if err == nil {
		ended(t, parked)
	}
	witness.Want("PING", "+PONG")
}

func TestMaxClientsRefuses(t *testing.T) {
	n := node.Start(t, node.Set("maxclients", "3"))
	a, b := n.Dial(), n.Dial()
	n.Dial().Want("PING", "+PONG")
	a.Want("PING", "+PONG")
	b.Want("PING", "+PONG")
	n.Dial().Closed("-ERR max number of clients reached\r\n")
	b.Want("QUIT", "+OK")
	b.Closed("")
	c := n.Dial()
	c.Want("PING", "+PONG")
	require.Contains(t, c.Do("INFO stats"), `rejected_connections:1\r\n`)
}

// TestIdleClientsAreClosed leaves alone who waits in a blocking command or is subscribed.
func TestIdleClientsAreClosed(t *testing.T) {
	n := node.Start(t, node.Set("timeout", "1"))
	idle, parked, subscriber := n.Dial(), n.Dial(), n.Dial()
	parked.Send("BLPOP q 0")
	subscriber.Want("SUBSCRIBE c", `*[$"subscribe" $"c" :1]`)
	idle.Want("PING", "+PONG")
	idle.Closed("")
	busy := n.Dial()
	busy.Want("RPUSH q x", ":1")
	require.Equal(t, `*[$"q" $"x"]`, parked.Next())
	busy.Want("PUBLISH c hi", ":1")
	require.Equal(t, `*[$"message" $"c" $"hi"]`, subscriber.Next())
}

// TestProtectedMode connects from another address of this machine than loopback.
func TestProtectedMode(t *testing.T) {
	var outside net.IP
	addrs, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() && ip.IP.To4() != nil {
			outside = ip.IP
		}
	}
	if outside == nil {
		t.Skip("this machine has no address but loopback")
	}
	start := func(change ...func(*server.Config)) *node.Node {
		ln, err := net.Listen("tcp", net.JoinHostPort(outside.String(), "0"))
		require.NoError(t, err)
		return node.Serve(t, ln, change...)
	}
	c := start().Dial()
	require.Contains(t, c.Bytes(), "-DENIED emqd runs in protected mode")
	c.Closed("")
	start(node.Set("protected-mode", "no")).Dial().Want("PING", "+PONG")
	secret := start(func(c *server.Config) { c.RequirePass = "secret" }).Dial()
	secret.Want("PING", "-NOAUTH Authentication required.")
	secret.Want("AUTH secret", "+OK")
	secret.Want("PING", "+PONG")
}
