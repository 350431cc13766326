package parity

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	nodes "github.com/echomq/emqd/parity/node"
	"github.com/echomq/emqd/parity/real"
	"github.com/echomq/emqd/parity/script"
	"github.com/echomq/emqd/parity/wire"
	"github.com/echomq/emqd/server"
)

// TestSignals runs every kind of write, with and without a change, between WATCH and EXEC: the transaction must run or not
// as it does in a real server. Every row that writes has a case, those of queues and tensors in TestSignalsOfQueues.
func TestSignals(t *testing.T) {
	text, err := os.ReadFile("testdata/signals.txt")
	require.NoError(t, err)
	ours, theirs := signalNode(t), real.Start(t)
	table, covered := server.Table(), map[string]bool{}
	for _, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		line, outcome, own := strings.Cut(line, " => ")
		want := map[string]string{"told": "*-1\r\n", "kept": "*1\r\n+PONG\r\n"}[outcome]
		if !own {
			want = watched(t, theirs, line)
		}
		require.Equal(t, want, watched(t, ours, line), line)
		steps := strings.Split(line, ";")
		row, err := table.Find(requestOf(steps[len(steps)-1]))
		require.NoError(t, err, line)
		covered[row.FullName()] = true
	}
	for _, row := range table.Every() {
		if row.Has(commands.Write) && row.Do != nil && plain([]string{row.Name}) {
			require.True(t, covered[row.FullName()], "%s has no case in signals.txt", row.FullName())
		}
	}
}

func requestOf(line string) (args [][]byte) {
	for _, word := range strings.Fields(line) {
		args = append(args, []byte(word))
	}
	return args
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

// TestSwapInvalidates has clients that track keys told of SWAPDB: what they hold may stand for other values now. Redis and
// Valkey tell them nothing.
func TestSwapInvalidates(t *testing.T) {
	for target, want := range map[*wire.Target]string{signalNode(t): ">2\r\n$10\r\ninvalidate\r\n_\r\n", real.Start(t): "+PONG\r\n"} {
		require.NoError(t, target.Reset(3))
		for _, line := range []string{"SET k v", "CLIENT TRACKING ON", "GET k", "SWAPDB 0 1"} {
			signalDo(t, target, line)
		}
		require.Equal(t, want, signalDo(t, target, "PING"))
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

// signalDo sends a request of plain words, "" being the empty one and {d} the dump of d, and returns its reply.
func signalDo(t *testing.T, target *wire.Target, line string) string {
	args := strings.Fields(line)
	for i, a := range args {
		switch a {
		case `""`:
			args[i] = ""
		case "{d}":
			reply, err := target.Do([]string{"DUMP", "d"})
			require.NoError(t, err)
			v, _, err := script.Decode(reply)
			require.NoError(t, err)
			args[i] = v.Text
		}
	}
	reply, err := target.Do(args)
	require.NoError(t, err)
	return string(reply)
}
