package server

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
)

// TestCommandsPage holds docs/commands.md against the registration table; -update writes it.
func TestCommandsPage(t *testing.T) {
	const path = "../docs/commands.md"
	want := commandsPage(Table())
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
	}
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, want == string(page), "docs/commands.md is behind: run go test ./server -run TestCommandsPage -update")
}

// commandsPage is the command reference: the rows family by family.
func commandsPage(t *commands.Table) string {
	byGroup := map[string][]*commands.Row{}
	var groups []string
	n := 0
	for _, row := range t.Every() {
		if row.Do == nil {
			continue // a container is shown by what it contains
		}
		if byGroup[row.Group()] == nil {
			groups = append(groups, row.Group())
		}
		byGroup[row.Group()] = append(byGroup[row.Group()], row)
		n++
	}
	slices.Sort(groups)
	var b strings.Builder
	fmt.Fprintf(&b, "# Commands\n\nThe %d commands and sub-commands that emqd serves, written from its registration table. Names of flags and\n"+
		"categories are Valkey's. `COMMAND DOCS`, `COMMAND INFO` and `<container> HELP` tell the same on a running node.\n", n)
	for _, group := range groups {
		rows := byGroup[group]
		slices.SortFunc(rows, func(a, b *commands.Row) int { return strings.Compare(a.FullName(), b.FullName()) })
		fmt.Fprintf(&b, "\n## %s\n\n| command | what it does | cost | flags | ACL categories |\n|---|---|---|---|---|\n", group)
		for _, row := range rows {
			name := strings.ToUpper(strings.ReplaceAll(row.FullName(), "|", " "))
			syntax := strings.ReplaceAll(strings.TrimSpace(name+" "+row.Syntax), "|", `\|`)
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", syntax, row.Summary, row.Complexity,
				strings.Join(row.Flags.Words(), " "), strings.Join(row.ACLCategories(), " "))
		}
	}
	return b.String()
}
