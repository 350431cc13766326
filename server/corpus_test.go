package server

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/script"
)

// unscripted are the commands that no script can call, and why; Go tests call them.
var unscripted = map[string]string{
	"monitor": "its lines have the clock in them", "shutdown": "ends the server", "config|rewrite": "writes a file",
	"debug": "is refused unless the configuration allows it",
}

// TestEveryRowHasAScript finds every command of the server in the corpus.
func TestEveryRowHasAScript(t *testing.T) {
	files, err := script.Load("../commands/testdata/*.txt")
	require.NoError(t, err)
	table := Table()
	called := map[string]bool{}
	for _, f := range files {
		for _, c := range f.Cases {
			for _, s := range c.Steps {
				var args [][]byte
				for _, a := range s.Args {
					args = append(args, []byte(a))
				}
				if s.Op != script.Request {
					continue
				}
				if row, err := table.Find(args); err == nil {
					called[row.FullName()] = true
				}
			}
		}
	}
	for _, row := range table.Every() {
		if row.Do != nil && !called[row.FullName()] && unscripted[row.FullName()] == "" {
			t.Errorf("no script calls %s", row.FullName())
		}
	}
}
