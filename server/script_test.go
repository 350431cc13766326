package server

import (
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/script"
	"github.com/echomq/emqd/parity/wire"
)

var update = flag.Bool("update", false, "rewrite the expectations of the scripts that need connections")

// TestScripts runs the corpus over sockets in both protocol versions, each case against a server of its own.
func TestScripts(t *testing.T) {
	files, err := script.Load("../commands/testdata/*.txt")
	require.NoError(t, err)
	table := Table()
	knows := func(args []string) bool { return table.Lookup([]byte(args[0])) != nil }
	for _, f := range files {
		answers, bad := script.Answers{}, map[*script.Step]bool{}
		for _, c := range f.Cases {
			for _, proto := range []int{2, 3} {
				t.Run(f.Name(c, proto), func(t *testing.T) {
					err := runSocket(t, f, c, proto, script.Options{Knows: knows}, answers)
					var m *script.Mismatch
					if *update && errors.As(err, &m) {
						for _, g := range m.Bad {
							bad[g.Step] = true
						}
						return
					}
					require.NoError(t, err)
				})
			}
		}
		if *update && len(bad) > 0 {
			text := f.Rewrite(answers, func(s *script.Step) bool { return bad[s] })
			require.NoError(t, os.WriteFile(f.Path, []byte(text), 0o644))
		}
	}
}

// runSocket runs one case and skips the test when the case needs a clock that can be moved.
func runSocket(t *testing.T, f *script.File, c *script.Case, proto int, o script.Options, answers script.Answers) error {
	target, err := wire.Dial("tcp", startServer(t))
	require.NoError(t, err)
	defer func() { require.NoError(t, target.Close()) }()
	err = f.Run(c, target, proto, o, answers.Collect(proto))
	var skip script.Skip
	if errors.As(err, &skip) {
		t.Skip(skip)
	}
	return err
}
