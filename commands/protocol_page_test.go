package commands_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/fence"
)

// TestProtocolPage holds the tables of docs/protocol.md against the registration table and the list of refusal
// classes; -update writes them.
func TestProtocolPage(t *testing.T) {
	const path = "../docs/protocol.md"
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	page := string(text)
	for name, table := range map[string]string{"verbs": verbTable(), "classes": classTable()} {
		part := regexp.MustCompile(`(?s)(<!-- ` + name + `: [^\n]*-->\n).*(<!-- /` + name + ` -->)`)
		require.True(t, part.MatchString(page), name)
		page = part.ReplaceAllString(page, "${1}"+strings.ReplaceAll(table, "$", "$$")+"${2}")
	}
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
		return
	}
	require.True(t, page == string(text), "docs/protocol.md is behind: run go test ./commands -run TestProtocolPage -update")
}

// verbTable lists the verbs family by family, those of one family by name.
func verbTable() string {
	var rows []*commands.Row
	for _, row := range commands.New(commands.All()...).Rows() {
		if strings.HasPrefix(row.Name, "emq.") || strings.HasPrefix(row.Name, "tra.") {
			rows = append(rows, row)
		}
	}
	families := []string{"fence", "admission", "claim and leases", "completion", "scheduling", "failure and recovery", "bus", "lanes", "admin"}
	place := func(row *commands.Row) int {
		if i := slices.Index(families, row.Family); i >= 0 {
			return i
		}
		return len(families)
	}
	slices.SortStableFunc(rows, func(a, b *commands.Row) int {
		if d := place(a) - place(b); d != 0 {
			return d
		}
		return strings.Compare(a.Family, b.Family)
	})
	var out strings.Builder
	out.WriteString("| verb | arguments | family | flags | complexity | tokens |\n|---|---|---|---|---|---|\n")
	for _, row := range rows {
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s | %s | %s |\n", strings.ToUpper(row.Name), code(row.Syntax), row.Family,
			strings.Join(row.Flags.Words(), " "), row.Complexity, strings.Join(row.Tokens, " "))
	}
	return out.String()
}

// code sets text as code of a table cell, nothing when it is empty.
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
}

func classTable() string {
	var out strings.Builder
	out.WriteString("| class | what it says | what a client does |\n|---|---|---|\n")
	for _, c := range fence.Classes() {
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", c.Name, c.Meaning, c.Advice)
	}
	return out.String()
}
