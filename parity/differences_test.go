package parity

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// difference is one allowed difference: patterns of what is compared, and the reason.
type difference struct {
	line     int
	patterns []*regexp.Regexp
	reason   string
	used     bool
}

// differences is what of one kind is allowed to differ.
type differences []*difference

// loadDifferences reads the lines of a kind in differences.txt.
func loadDifferences(t *testing.T, kind string, fields int) differences {
	t.Helper()
	text, err := os.ReadFile("differences.txt")
	require.NoError(t, err)
	var all differences
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, "|")
		for k := range parts {
			parts[k] = strings.TrimSpace(parts[k])
		}
		where := fmt.Sprintf("differences.txt:%d", i+1)
		require.Contains(t, []string{"call", "row", "docs"}, parts[0], where)
		if parts[0] != kind {
			continue
		}
		require.Len(t, parts, fields+2, where)
		require.NotEmpty(t, parts[fields+1], "%s: no reason", where)
		d := &difference{line: i + 1, reason: parts[fields+1]}
		for _, p := range parts[1 : fields+1] {
			d.patterns = append(d.patterns, glob(p))
		}
		all = append(all, d)
	}
	return all
}

func glob(p string) *regexp.Regexp {
	return regexp.MustCompile(`(?is)^` + strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, `.*`) + `$`)
}

// allow reports whether a line has all the fields.
func (all differences) allow(fields ...string) bool {
	for _, d := range all {
		ok := true
		for i, p := range d.patterns {
			ok = ok && p.MatchString(fields[i])
		}
		if ok {
			d.used = true
			return true
		}
	}
	return false
}

// unused returns the numbers of the lines that allowed nothing.
func (all differences) unused() (lines []int) {
	for _, d := range all {
		if !d.used {
			lines = append(lines, d.line)
		}
	}
	return lines
}
