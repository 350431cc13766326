package emqd

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	quotedCode = regexp.MustCompile("`([^`]*)`")
	oneTest    = regexp.MustCompile(`^Test[A-Z]\w*$`)
	testFunc   = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	scriptCase = regexp.MustCompile(`^(\w+\.txt): (.+)$`)
)

// TestTestingPage has every test and every case of a script that docs/testing.md names in the tree.
func TestTestingPage(t *testing.T) {
	tests := map[string]bool{}
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range testFunc.FindAllStringSubmatch(string(text), -1) {
			tests[m[1]] = true
		}
		return err
	}))
	page, err := os.ReadFile("docs/testing.md")
	require.NoError(t, err)
	named := 0
	for _, m := range quotedCode.FindAllStringSubmatch(string(page), -1) {
		if c := scriptCase.FindStringSubmatch(m[1]); c != nil {
			text, err := os.ReadFile(filepath.Join("commands", "testdata", c[1]))
			require.NoError(t, err, m[1])
			require.Contains(t, "\n"+string(text), "\n== "+c[2]+"\n", m[1])
			named++
		}
		if oneTest.MatchString(m[1]) {
			require.True(t, tests[m[1]], "%s is no test", m[1])
			named++
		}
	}
	require.Greater(t, named, 90)
}
