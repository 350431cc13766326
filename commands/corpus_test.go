package commands_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/parity/script"
)

// TestEveryRowHasAScript finds every command of the table in the corpus with a reply that is no error, and each of
// EchoMQ's with a refusal too. For the others TestArity and the comparison with a real server make refusals.
func TestEveryRowHasAScript(t *testing.T) {
	files, err := script.Load("testdata/*.txt")
	require.NoError(t, err)
	table := commands.New(commands.All()...)
	served, refused := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		for _, c := range f.Cases {
			for _, s := range c.Steps {
				if s.Op != script.Request {
					continue
				}
				row, err := table.Find(request(s.Args))
				switch {
				case err != nil || s.Reply == nil && !s.Pending:
				case s.Reply != nil && s.Reply.Kind == '-':
					refused[row.FullName()] = true
				default:
					served[row.FullName()] = true
				}
			}
		}
	}
	for _, row := range table.Every() {
		if row.Do == nil {
			continue
		}
		if !served[row.FullName()] {
			t.Errorf("no script has a successful %s", row.FullName())
		}
		if strings.HasPrefix(row.Name, "emq.") && !refused[row.FullName()] {
			t.Errorf("no script has a refused %s", row.FullName())
		}
	}
}

func request(args []string) [][]byte {
	out := make([][]byte, len(args))
	for i, a := range args {
		out[i] = []byte(a)
	}
	return out
}
