package server

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPubSubInRESP3PushesBehindOwnReply(t *testing.T) {
	addr := startServer(t)
	a, b := dial(t, addr), dial(t, addr)
	require.Contains(t, a.do("HELLO 3"), "%7\r\n")
	require.Equal(t, ">3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n", a.do("SUBSCRIBE c"))
	require.Equal(t, ":1\r\n", a.do("PUBLISH c hi"))
	require.Equal(t, ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n", a.next())
	require.Equal(t, "+PONG\r\n", a.do("PING"))
	require.Equal(t, ":1\r\n", b.do("PUBLISH c there"))
	require.Equal(t, ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$5\r\nthere\r\n", a.next())
}

func TestSubscribedRESP2ClientMayNotRunOtherCommands(t *testing.T) {
	c := dial(t, startServer(t))
	require.Equal(t, "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n", c.do("SUBSCRIBE c"))
	require.Equal(t, "*2\r\n$4\r\npong\r\n$0\r\n\r\n", c.do("PING"))
	require.Equal(t, "*2\r\n$4\r\npong\r\n$1\r\nx\r\n", c.do("PING x"))
	require.Equal(t, "-ERR Can't execute 'hget': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context\r\n", c.do("HGET a b"))
	require.Equal(t, "*3\r\n$11\r\nunsubscribe\r\n$1\r\nc\r\n:0\r\n", c.do("UNSUBSCRIBE"))
	require.Equal(t, "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n", c.do("UNSUBSCRIBE"))
}

func TestKeyspaceEvents(t *testing.T) {
	addr := startServer(t, func(c *Config) { require.NoError(t, c.Set(Pair{"notify-keyspace-events", "KEA"})) })
	a, b := dial(t, addr), dial(t, addr)
	require.Equal(t, "*3\r\n$10\r\npsubscribe\r\n$1\r\n*\r\n:1\r\n", a.do("PSUBSCRIBE *"))
	require.Equal(t, ":1\r\n", b.do("HSET h f v"))
	require.Equal(t, ":1\r\n", b.do("HDEL h f"))
	for _, want := range []string{"hset", "hdel", "del"} {
		require.Contains(t, a.next(), "$16\r\n__keyspace@0__:h\r\n$"+string('0'+byte(len(want)))+"\r\n"+want+"\r\n")
		require.Contains(t, a.next(), ":"+want+"\r\n$1\r\nh\r\n")
	}
}
