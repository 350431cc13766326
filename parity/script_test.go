package parity

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/real"
	"github.com/echomq/emqd/parity/script"
)

// TestScripts runs the corpus against a real server. What differs says so in the script, with its reason.
func TestScripts(t *testing.T) {
	server := real.Start(t)
	files, err := script.Load("../commands/testdata/*.txt")
	require.NoError(t, err)
	for _, f := range files {
		for _, c := range f.Cases {
			for _, proto := range []int{2, 3} {
				t.Run(f.Name(c, proto), func(t *testing.T) {
					err := f.Run(c, server, proto, script.Options{Foreign: true, Knows: plain}, nil)
					var skip script.Skip
					if errors.As(err, &skip) {
						t.Skip(skip)
					}
					require.NoError(t, err)
				})
			}
		}
	}
}

// plain reports whether the command is not one of EchoMQ's own, which no other server has.
func plain(args []string) bool {
	name := strings.ToUpper(args[0])
	return !strings.HasPrefix(name, "EMQ.") && !strings.HasPrefix(name, "TRA.")
}
