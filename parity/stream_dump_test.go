package parity

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/parity/local"
	"github.com/echomq/emqd/parity/real"
	"github.com/echomq/emqd/parity/script"
)

// TestStreamDumps moves a stream with its groups from emqd to a real server and back: all that is read of it stays the
// same.
func TestStreamDumps(t *testing.T) {
	server := real.Start(t)
	require.NoError(t, server.Reset(2))
	emqd := local.New(commands.New(commands.All()...), 1)
	emqd.Advance(server.Now() - emqd.Now())
	ask := func(to script.Target, args ...string) script.Value {
		reply, err := to.Do(args)
		require.NoError(t, err)
		v, _, err := script.Decode(reply)
		require.NoError(t, err)
		require.NotEqual(t, byte('-'), reply[0], "%v: %s", args, reply)
		return v
	}
	for i := range 350 {
		id := strconv.Itoa(1+i/100) + "-" + strconv.Itoa(10+i%100)
		ask(emqd, "XADD", "s", id, "name", id, "other", "-12")
		if i%7 == 0 {
			ask(emqd, "XDEL", "s", id)
		}
	}
	ask(emqd, "XGROUP", "CREATE", "s", "g", "1-15")
	ask(emqd, "XGROUP", "CREATE", "s", "empty", "0", "ENTRIESREAD", "5")
	ask(emqd, "XREADGROUP", "GROUP", "g", "a", "COUNT", "120", "STREAMS", "s", ">")
	ask(emqd, "XREADGROUP", "GROUP", "g", "b", "COUNT", "20", "STREAMS", "s", ">")
	ask(emqd, "XCLAIM", "s", "g", "b", "0", "1-17", "1-18", "IDLE", "5000", "RETRYCOUNT", "9")

	reads := [][]string{
		{"XRANGE", "KEY", "-", "+"}, {"XPENDING", "KEY", "g"}, {"XPENDING", "KEY", "g", "-", "+", "1000", "b"}, {"XINFO", "GROUPS", "KEY"}, {"XLEN", "KEY"},
	}
	same := func(a, b script.Target, keyA, keyB string) {
		for _, read := range reads {
			with := func(key string) []string {
				args := append([]string{}, read...)
				for i := range args {
					if args[i] == "KEY" {
						args[i] = key
					}
				}
				return args
			}
			x, y := ask(a, with(keyA)...), ask(b, with(keyB)...)
			require.True(t, x.Near(y, 10_000), "%v\n%s\n%s", read, x, y)
		}
	}
	payload := ask(emqd, "DUMP", "s").Text
	ask(server, "RESTORE", "s", "0", payload)
	same(emqd, server, "s", "s")
	ask(emqd, "RESTORE", "back", "0", ask(server, "DUMP", "s").Text)
	same(emqd, emqd, "s", "back")
}
