package commands_test

import (
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/parity/local"
	"github.com/echomq/emqd/parity/script"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata from the answers")

// TestScripts runs the corpus in process in both protocol versions. Cases that need the server run in
// its package.
func TestScripts(t *testing.T) {
	files, err := script.Load("testdata/*.txt")
	require.NoError(t, err)
	table := commands.New(commands.All()...)
	for _, f := range files {
		answers := script.Answers{}
		bad := map[*script.Step]bool{}
		for _, c := range f.Cases {
			for _, proto := range []int{2, 3} {
				t.Run(f.Name(c, proto), func(t *testing.T) {
					runLocal(t, f, c, table, proto, answers, bad)
				})
			}
		}
		if *update && len(bad) > 0 {
			text := f.Rewrite(answers, func(s *script.Step) bool { return bad[s] })
			require.NoError(t, os.WriteFile(f.Path, []byte(text), 0o644))
		}
	}
}

func runLocal(t *testing.T, f *script.File, c *script.Case, table *commands.Table, proto int,
	answers script.Answers, bad map[*script.Step]bool) {
	target := local.New(table, 1)
	err := f.Run(c, target, proto, script.Options{Knows: target.Knows}, answers.Collect(proto))
	var skip script.Skip
	if errors.As(err, &skip) {
		t.Skip(skip)
	}
	var m *script.Mismatch
	if *update && errors.As(err, &m) {
		for _, g := range m.Bad {
			bad[g.Step] = true
		}
		return
	}
	require.NoError(t, err)
	require.NoError(t, target.Replay())
}
