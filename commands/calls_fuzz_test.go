package commands_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/parity/local"
	"github.com/echomq/emqd/parity/script"
	"github.com/echomq/emqd/server/resp"
)

// fuzzCalls bounds one input: what a call can build is bounded only by what the calls before it have stored.
const (
	fuzzCalls = 12
	fuzzWords = 40
)

// FuzzCalls runs any calls, one a line in the quoting of redis-cli, against every argument parser and handler. Its seeds are
// the cases of the corpus. A call may be refused; it must not panic, have effects when it is refused, answer what is
// no single reply, or leave a keyspace that its effects do not make again.
func FuzzCalls(f *testing.F) {
	files, err := script.Load("testdata/*.txt")
	require.NoError(f, err)
	for _, file := range files {
		for _, c := range file.Cases {
			var lines []string
			for _, s := range c.Steps {
				if s.Op == script.Request && len(lines) < fuzzCalls {
					lines = append(lines, script.Words(s.Args))
				}
			}
			f.Add(strings.Join(lines, "\n"))
		}
	}
	table := commands.New(commands.All()...)
	f.Fuzz(func(t *testing.T, text string) {
		target := local.New(table, 1)
		require.NoError(t, target.Reset(3))
		for i, line := range strings.Split(text, "\n") {
			args, err := script.Split(line)
			if i == fuzzCalls || err != nil || len(args) == 0 || len(args) > fuzzWords || !target.Knows(args) || costly(args) {
				return
			}
			reply, err := target.Do(args)
			require.NoError(t, err, line)
			n, err := resp.Frame(reply)
			require.NoError(t, err, line)
			require.Equal(t, len(reply), n, line)
		}
		require.NoError(t, target.Replay())
	})
}

// costly keeps away calls whose cost is what they ask for: long strings by an offset, many random members.
func costly(args []string) bool {
	for _, a := range args {
		if digits := strings.TrimLeft(strings.TrimLeft(a, "-#"), "0"); len(digits) > 5 && strings.Trim(digits, "0123456789") == "" {
			return true
		}
	}
	return false
}
