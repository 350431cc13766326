// Package clients holds the tests of what clients see of a running emqd: real client libraries and tools,
// replayed conversations, and connections that behave badly.
package clients

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/node"
)

// TestProtocolErrorsEndOneConnectionOnly sends malformed requests, each on a connection of its own.
func TestProtocolErrorsEndOneConnectionOnly(t *testing.T) {
	n := node.Start(t)
	witness := n.Dial()
	for _, c := range []struct{ name, in, reply string }{
		{"null bulk as an argument", "*2\r\n$3\r\nGET\r\n$-1\r\n", "-ERR Protocol error: invalid bulk length\r\n"},
		{"bulk over proto-max-bulk-len", "*1\r\n$2000000000\r\n", "-ERR Protocol error: invalid bulk length\r\n"},
		{"bulk length of 20 digits", "*1\r\n$99999999999999999999\r\n", "-ERR Protocol error: invalid bulk length\r\n"},
		{"count over 31 bits", "*2147483648\r\n", "-ERR Protocol error: invalid multibulk length\r\n"},
		{"nested array", "*1\r\n*2000000000\r\n", "-ERR Protocol error: expected '$', got '*'\r\n"},
		{"no bulk", "*1\r\nfoo\r\n", "-ERR Protocol error: expected '$', got 'f'\r\n"},
		{"unbalanced quotes", "SET a \"b\r\n", "-ERR Protocol error: unbalanced quotes in request\r\n"},
		{"inline without an end", strings.Repeat("A", 70000), "-ERR Protocol error: too big inline request\r\n"},
		{"count without an end", "*" + strings.Repeat("1", 70000), "-ERR Protocol error: too big mbulk count string\r\n"},
		{"garbage behind a request", "*1\r\n$4\r\nPING\r\n*1\r\n!\r\n", "+PONG\r\n-ERR Protocol error: expected '$', got '!'\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := n.Dial()
			conn.Raw(c.in)
			conn.Closed(c.reply)
			witness.Want("PING", "+PONG")
		})
	}
}

func TestEmptyRequestsAreSkipped(t *testing.T) {
	c := node.Start(t).Dial()
	c.Raw("*0\r\n*-1\r\n\r\n*1\r\n$4\r\nPING\r\n")
	require.Equal(t, "+PONG", c.Next())
}

func TestUnknownCommandIsEchoedInPart(t *testing.T) {
	c := node.Start(t).Dial()
	name := strings.Repeat("x", 27000)
	c.Send(name, name+" "+strings.Repeat("y", 200))
	require.Equal(t, "-ERR unknown command '"+name[:128]+"', with args beginning with: \r\n", c.Bytes())
	require.Equal(t, "-ERR unknown command '"+name[:128]+"', with args beginning with: '"+strings.Repeat("y", 128)+"' \r\n", c.Bytes())
}

func TestHTTPIsClosedWithoutAWord(t *testing.T) {
	n := node.Start(t)
	for _, in := range []string{
		"POST / HTTP/1.1\r\nHost: x\r\n\r\n",
		"Host: x\r\nSET owned 1\r\n",
		"*1\r\n$4\r\nPOST\r\n*3\r\n$3\r\nSET\r\n$5\r\nowned\r\n$1\r\n1\r\n",
	} {
		c := n.Dial()
		c.Raw(in)
		c.Closed("")
	}
	n.Dial().Want("GET owned", "$-1")
}

func TestInlineGarbageIsAnswered(t *testing.T) {
	c := node.Start(t).Dial()
	c.Raw("\x01\xff\r\nPING\r\n  \r\n'PI'\"NG\"\r\nPING\n")
	require.Contains(t, c.Bytes(), "-ERR unknown command")
	require.Equal(t, "+PONG", c.Next())
	c.Closed("-ERR Protocol error: unbalanced quotes in request\r\n")
}

// resident returns the process's resident bytes; it includes the test itself.
func resident(t testing.TB) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("memory is measured with /proc: %v", err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	require.NoError(t, err)
	return pages * int64(os.Getpagesize())
}

// TestAnnouncedBytesTakeNoMemory announces 100 times 500 MB, and a million arguments, and sends little of it.
func TestAnnouncedBytesTakeNoMemory(t *testing.T) {
	n := node.Start(t)
	control := n.Dial()
	used := func() int64 {
		_, tail, ok := strings.Cut(control.Do("INFO memory"), `used_memory:`)
		require.True(t, ok)
		v, err := strconv.ParseInt(tail[:strings.IndexAny(tail, `\`)], 10, 64)
		require.NoError(t, err)
		return v
	}
	usedBefore, before := used(), resident(t)
	for range 100 {
		c := n.Dial()
		c.Raw("*2\r\n$4\r\nPING\r\n$1\r\nx\r\n*2\r\n$3\r\nGET\r\n$500000000\r\nabc")
		require.Equal(t, `$"x"`, c.Next())
		c = n.Dial()
		c.Raw("*1\r\n$4\r\nPING\r\n*1048577\r\n$3\r\nDEL\r\n$1000\r\nabc")
		require.Equal(t, "+PONG", c.Next())
	}
	require.Less(t, used()-usedBefore, int64(8<<20))
	require.Less(t, resident(t)-before, int64(64<<20))
}
