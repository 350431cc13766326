package commands_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/parity/script"
)

// FuzzEMQ sends calls with any arguments, one line each, words separated by tabs. Whatever comes, there is one
// well-formed reply, and a refusal has no effects.
func FuzzEMQ(f *testing.F) {
	files, err := script.Load("testdata/emq_*.txt")
	require.NoError(f, err)
	for _, file := range files {
		for _, c := range file.Cases {
			var lines []string
			for _, s := range c.Steps {
				lines = append(lines, strings.Join(s.Args, "\t"))
			}
			f.Add(strings.Join(lines, "\n"))
		}
	}
	f.Fuzz(func(t *testing.T, calls string) {
		n := newNode(t)
		for call := range strings.SplitSeq(calls, "\n") {
			args := strings.Split(call, "\t")
			row := n.table.Lookup([]byte(args[0]))
			if row != nil && row.ArityOK(len(args)) && !row.Has(commands.Blocking) {
				n.do(args...)
			}
		}
	})
}
