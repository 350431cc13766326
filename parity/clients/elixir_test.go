package clients

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/node"
	"github.com/echomq/emqd/server"
)

// bootElixir connects as the Elixir client does, to database 15, and checks every answer as it does.
func bootElixir(t *testing.T, n *node.Node, password string) *node.Conn {
	t.Helper()
	c := n.Dial()
	hello := "HELLO 3"
	if password != "" {
		hello += " AUTH default " + password
	}
	got := c.Do(hello)
	require.True(t, strings.HasPrefix(got, `%{$"server" $"emqd" $"version" $"`), got)
	require.Contains(t, got, `$"proto" :3 $"id" :`)
	require.True(t, strings.HasSuffix(got, `$"mode" $"standalone" $"role" $"master" $"modules" *[]}`), got)
	c.Want("SELECT 15", "+OK")
	c.Want("CLIENT SETNAME worker", "+OK")
	facts := c.Do("EMQ.VERSION")
	require.True(t, strings.HasPrefix(facts, `%{$"wire" $"echomq:6.0.0" $"epoch" :6 $"version" $"`), facts)
	require.Contains(t, facts, `$"capabilities" *[$"`)
	c.Want("GET {emq}:version", `$"echomq:6.0.0"`)
	c.Want("SUBSCRIBE emq:{q}:events", `>[$"subscribe" $"emq:{q}:events" :1]`)
	return c
}

// startElixir runs a node with the fence in database 15, where the client reads it.
func startElixir(t *testing.T, change ...func(*server.Config)) *node.Node {
	n := node.Start(t, change...)
	c := n.Dial()
	if c.Do("PING") != "+PONG" {
		c.Want("AUTH secret", "+OK")
	}
	c.Want("SELECT 15", "+OK")
	c.Want("EMQ.INSTALL", "+OK")
	return n
}

func TestElixirBoot(t *testing.T) {
	n := startElixir(t)
	first := bootElixir(t, n, "")
	second := bootElixir(t, n, "")
	second.Want("PUBLISH emq:{q}:events hi", ":2")
	require.Equal(t, `>[$"message" $"emq:{q}:events" $"hi"]`, second.Next())
	require.Equal(t, `>[$"message" $"emq:{q}:events" $"hi"]`, first.Next())

	closed := startElixir(t, func(c *server.Config) { c.RequirePass = "secret" })
	bootElixir(t, closed, "secret")
	c := closed.Dial()
	require.True(t, strings.HasPrefix(c.Do("HELLO 3"), "-NOAUTH "))
	require.True(t, strings.HasPrefix(c.Do("HELLO 3 AUTH default wrong"), "-WRONGPASS "))
	c.Want("AUTH secret", "+OK") // what it falls back to
	c.Want("PING", "+PONG")
}

func TestElixirPipelines(t *testing.T) {
	c := bootElixir(t, startElixir(t), "")
	c.Send("SET k 1", "INCR k", "NOSUCH", "LPUSH k x", "GET k")
	require.Equal(t, "+OK", c.Next())
	require.Equal(t, ":2", c.Next())
	require.Contains(t, c.Bytes(), "-ERR unknown command 'NOSUCH'")
	require.True(t, strings.HasPrefix(c.Next(), "-WRONGTYPE "))
	require.Equal(t, `$"2"`, c.Next())

	c.Send("CLIENT REPLY OFF", "SET k 5", "NOSUCH", "GET k", "PUBLISH nobody x", "CLIENT REPLY ON")
	require.Equal(t, "+OK", c.Next())
	c.Want("GET k", `$"5"`)

	c.Send("MULTI", "SET k 6", "LPUSH k x", "GET k", "EXEC")
	require.Equal(t, "+OK", c.Next())
	for range 3 {
		require.Equal(t, "+QUEUED", c.Next())
	}
	require.Equal(t, `*[+OK -"WRONGTYPE Operation against a key holding the wrong kind of value" $"6"]`, c.Next())
}

// TestElixirBlocking blocks a connection that pushes and requests still reach.
func TestElixirBlocking(t *testing.T) {
	n := startElixir(t)
	c, other := bootElixir(t, n, ""), bootElixir(t, n, "")
	c.Send("BLPOP wake 0", "PING", "GET k")
	other.Want("SET k v", "+OK")
	other.Want("PUBLISH emq:{q}:events hi", ":2")
	require.Equal(t, `>[$"message" $"emq:{q}:events" $"hi"]`, other.Next())
	require.Equal(t, `>[$"message" $"emq:{q}:events" $"hi"]`, c.Next())
	other.Want("RPUSH wake 1", ":1")
	require.Equal(t, `*[$"wake" $"1"]`, c.Next())
	require.Equal(t, "+PONG", c.Next())
	require.Equal(t, `$"v"`, c.Next())
	c.Want("BLPOP wake 0.010", "_")
	c.Want("BLPOP wake 1.000", "_")
}

// TestElixirWaitersAreServedInOrder pushes within a transaction, and to a waiter that is gone.
func TestElixirWaitersAreServedInOrder(t *testing.T) {
	n := startElixir(t)
	waiting := 0
	park := func() *node.Conn {
		t.Helper()
		c := bootElixir(t, n, "")
		control := n.Dial()
		c.Send("BLPOP wake 0")
		waiting++
		for !strings.Contains(control.Do("INFO clients"), `blocked_clients:`+strconv.Itoa(waiting)) {
		}
		return c
	}
	other := bootElixir(t, n, "")
	first, second := park(), park()
	other.Send("MULTI", "LPUSH wake a", "LPUSH wake b", "LPUSH wake c", "EXEC")
	for range 4 {
		other.Next()
	}
	require.Equal(t, "*[:1 :2 :3]", other.Next())
	require.Equal(t, `*[$"wake" $"c"]`, first.Next())
	require.Equal(t, `*[$"wake" $"b"]`, second.Next())
	other.Want("LRANGE wake 0 -1", `*[$"a"]`)
	other.Want("BLPOP wake 0", `*[$"wake" $"a"]`)
	waiting = 0
	third := park()
	other.Send("MULTI", "RPUSH wake x", "LPOP wake", "EXEC")
	for range 3 {
		other.Next()
	}
	require.Equal(t, `*[:1 $"x"]`, other.Next())
	other.Want("RPUSH wake y", ":1")
	require.Equal(t, `*[$"wake" $"y"]`, third.Next())
}

// TestElixirDeadWaitersPopNothing kills one waiter and closes the socket of another.
func TestElixirDeadWaitersPopNothing(t *testing.T) {
	n := startElixir(t)
	other := bootElixir(t, n, "")
	killed, closed := bootElixir(t, n, ""), bootElixir(t, n, "")
	id := strings.TrimPrefix(killed.Do("CLIENT ID"), ":")
	for _, c := range []*node.Conn{killed, closed} {
		c.Send("BLPOP wake 0")
	}
	for !strings.Contains(other.Do("INFO clients"), `blocked_clients:2`) {
	}
	other.Want("CLIENT KILL ID "+id, ":1")
	ended(t, killed)
	require.NoError(t, closed.Close())
	for !strings.Contains(other.Do("INFO clients"), `blocked_clients:0`) {
	}
	other.Want("RPUSH wake 1", ":1")
	other.Want("LLEN wake", ":1")
	other.Want("CLIENT KILL ID "+id, ":0")
}
