package commands_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/parity/local"
)

// TestArity calls every command with too few and too many arguments, and with a count that fits.
func TestArity(t *testing.T) {
	table := commands.New(commands.All()...)
	for _, row := range table.Every() {
		if row.Do == nil {
			continue
		}
		name := strings.Split(row.FullName(), "|")
		refusal := "-" + commands.ErrArity(row.FullName()).Error() + "\r\n"
		ask := func(n int) string {
			args := append([]string{}, name...)
			for len(args) < n {
				args = append(args, "1")
			}
			reply, err := local.New(table, 1).Do(args)
			require.NoError(t, err, row.FullName())
			return string(reply)
		}
		least := row.Arity
		if least < 0 {
			least = -least
		} else {
			require.Equal(t, refusal, ask(least+1), "one argument too many")
			require.NotEqual(t, refusal, ask(least), "%s with the arguments that its arity says", row.FullName())
		}
		if least > len(name) {
			require.Equal(t, refusal, ask(least-1), "one argument too few")
		}
	}
}
