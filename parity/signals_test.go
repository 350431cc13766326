package parity

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	nodes "github.com/echomq/emqd/parity/node"
	"github.com/echomq/emqd/parity/real"
	"github.com/echomq/emqd/parity/wire"
)

// TestSignals runs every kind of write, with and without a change, between WATCH and EXEC: the transaction must run or not
// as it does in a real server.
func TestSignals(t *testing.T) {
	text, err := os.ReadFile("testdata/signals.txt")
	require.NoError(t, err)
	ours, theirs := signalNode(t), real.Start(t)
	for _, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		require.Equal(t, watched(t, theirs, line), watched(t, ours, line), line)
	}
}

// TestFlushOfNothingInvalidates has clients that track keys told of a flush even when there was no key.
func TestFlushOfNothingInvalidates(t *testing.T) {
	for _, target := range []*wire.Target{signalNode(t), real.Start(t)} {
		for _, flush := range []string{"FLUSHDB", "FLUSHALL"} {
			require.NoError(t, target.Reset(3))
			signalDo(t, target, "CLIENT TRACKING ON")
			require.Equal(t, "$-1\r\n", strings.Replace(signalDo(t, target, "GET k"), "_\r\n", "$-1\r\n", 1))
			require.NoError(t, target.Send("other", []string{flush}))
			_, err := target.Receive("other")
			require.NoError(t, err)
			require.Equal(t, ">2\r\n$10\r\ninvalidate\r\n_\r\n", signalDo(t, target, "PING"), flush)
		}
	}
}

func signalNode(t *testing.T) *wire.Target {
	n := nodes.Start(t)
	target, err := wire.Dial("tcp", n.Addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = target.Close() })
	return target
}

// watched returns the reply of EXEC after WATCH k and the last request of the line.
func watched(t *testing.T, target *wire.Target, line string) string {
	require.NoError(t, target.Reset(2))
	steps := strings.Split(line, ";")
	last := len(steps) - 1
	for _, step := range steps[:last] {
		require.NotEqual(t, byte('-'), signalDo(t, target, step)[0], line)
	}
	signalDo(t, target, "WATCH k")
	require.NotEqual(t, byte('-'), signalDo(t, target, steps[last])[0], line)
	signalDo(t, target, "MULTI")
	signalDo(t, target, "PING")
	return signalDo(t, target, "EXEC")
}

// signalDo sends a request of plain words, "" being the empty one, and returns its reply.
func signalDo(t *testing.T, target *wire.Target, line string) string {
	args := strings.Fields(line)
	for i, a := range args {
		if a == `""` {
			args[i] = ""
		}
	}
	reply, err := target.Do(args)
	require.NoError(t, err)
	return string(reply)
}
