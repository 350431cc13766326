package server

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDebugIsOffByDefault(t *testing.T) {
	c := dial(t, startServer(t))
	require.Contains(t, c.do("DEBUG DIGEST"), "-ERR DEBUG command not allowed.")
}

func TestDebugReloadKeepsEverything(t *testing.T) {
	c := dial(t, startServer(t, func(cfg *Config) { cfg.EnableDebugCommand = "yes" }))
	for _, line := range []string{
		"SET s v PXAT 99999999999999", "HSET h a 1 b 2", "RPUSH l 1 2 3", "SADD set a b", "SADD ints 1 2", "ZADD z 1.5 a 2 b",
		"SETRANGE long 20000 x",
	} {
		require.NotContains(t, c.do(line), "-")
	}
	before := c.do("DEBUG DIGEST")
	require.Equal(t, "+OK\r\n", c.do("DEBUG RELOAD"))
	require.Equal(t, before, c.do("DEBUG DIGEST"))
	require.Contains(t, c.do("DEBUG OBJECT h"), "encoding:listpack serializedlength:")
}

func TestMemoryUsageFollowsSize(t *testing.T) {
	c := dial(t, startServer(t))
	require.Equal(t, "$-1\r\n", c.do("MEMORY USAGE nokey"))
	require.Equal(t, "$2\r\nOK\r\n", "$2\r\n"+c.do("SET k v")[1:])
	small := c.do("MEMORY USAGE k")
	require.Equal(t, ":1001\r\n", c.do("SETRANGE k 1000 x"))
	require.NotEqual(t, small, c.do("MEMORY USAGE k"))
	require.Contains(t, c.do("INFO memory"), "used_memory:")
	require.Contains(t, c.do("MEMORY DOCTOR"), "Nothing to worry about.")
}
