package emqd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/echomq/emqd"

// imports says which packages of ours and of others each package may import: the table of
// docs/architecture.md. A trailing /... stands for everything below too.
var imports = map[string][]string{
	"bench/chart":           {},
	"cmd/emqd":              {"bench", "fence", "server", "server/resp", "store/aof", "github.com/alecthomas/kong"},
	"bench":                 {"bench/chart", "server/resp", "github.com/HdrHistogram/hdrhistogram-go", "golang.org/x/sys/..."},
	"server":                {"commands", "fence", "store/...", "server/resp", "github.com/tidwall/redcon", "github.com/tidwall/btree", "golang.org/x/sys/...", "github.com/prometheus/..."},
	"server/resp":           {},
	"commands":              {"fence", "store/..."},
	"fence":                 {},
	"store":                 {"store/...", "github.com/tidwall/btree", "golang.org/x/sys/..."},
	"store/num":             {},
	"store/glob":            {},
	"store/rdb":             {},
	"store/aof":             {"store", "store/rdb", "golang.org/x/sys/..."},
	"store/aof/memfs":       {"store/aof"},
	"store/internal/oracle": {},
	"parity":                {},
	"parity/bench":          {"bench", "bench/chart", "server/resp", "golang.org/x/sys/..."},
	"parity/script":         {},
	"parity/local":          {"commands", "store", "parity/script"},
	"parity/wire":           {"server/resp", "parity/script"},
	"parity/node":           {"server", "server/resp", "parity/script", "github.com/stretchr/testify/..."},
	"docs/examples/lanes":   {"github.com/redis/go-redis/..."},
	"docs/examples/flow":    {"github.com/redis/go-redis/..."},
	"docs/examples/worker":  {"github.com/redis/go-redis/..."},
	"parity/real":           {"parity/wire", "github.com/stretchr/testify/..."},
}

// testsOnly are the packages that nothing but tests, and what is made for tests, imports.
var testsOnly = []string{"parity/...", "store/internal/oracle", "store/aof/memfs"}

// maxLines is where a file is too long to be read at once.
const maxLines = 450

// source is one Go file of the module.
type source struct {
	dir, path string
	test      bool
	lines     int
	text      string
	ast       *ast.File
}

// sources parses every Go file of the module.
func sources(t *testing.T) []source {
	var all []source
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); p != "." && (strings.HasPrefix(name, ".") || name == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), p, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all = append(all, source{
			dir: path.Dir(filepath.ToSlash(p)), path: p, test: strings.HasSuffix(p, "_test.go"),
			lines: strings.Count(string(text), "\n"), text: string(text), ast: file,
		})
		return nil
	})
	require.NoError(t, err)
	return all
}

// imported returns the paths that a file imports, those of ours without the module.
func (s source) imported(t *testing.T) []string {
	var out []string
	for _, spec := range s.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		out = append(out, strings.TrimPrefix(p, module+"/"))
	}
	return out
}

func matches(patterns []string, p string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		base, below := strings.CutSuffix(pattern, "/...")
		return p == base || below && strings.HasPrefix(p, base+"/")
	})
}

// TestImports holds the packages to the table of who may import whom.
func TestImports(t *testing.T) {
	page, err := os.ReadFile("docs/architecture.md")
	require.NoError(t, err)
	ours := map[string]bool{}
	files := sources(t)
	for _, s := range files {
		ours[s.dir] = true
	}
	for dir := range imports {
		require.True(t, ours[dir], "%s is in the table and not in the tree", dir)
	}
	for _, s := range files {
		if s.test {
			continue
		}
		allowed, ok := imports[s.dir]
		require.True(t, ok, "%s is not in the table of imports", s.dir)
		require.True(t, strings.Contains(string(page), "`"+s.dir+"`"), "docs/architecture.md does not name %s", s.dir)
		for _, p := range s.imported(t) {
			if ours[p] && matches(testsOnly, p) {
				require.True(t, matches(testsOnly, s.dir), "%s imports %s, which is for tests", s.path, p)
			}
			standard := !ours[p] && !strings.Contains(strings.Split(p, "/")[0], ".")
			require.True(t, standard || matches(allowed, p), "%s imports %s", s.path, p)
		}
	}
}

// wallClock finds what makes a transition depend on more than the keyspace and the given instant.
var wallClock = regexp.MustCompile(`\b(time\.(Now|Since|Until|Sleep|After|Tick|NewTimer|NewTicker)|rand\.(N|(Int|Uint|Float|Perm|Shuffle|Norm|Exp)[A-Za-z0-9]*))\(`)

// TestNoWallClock keeps clocks, global random sources, goroutines and locks out of store and commands.
func TestNoWallClock(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || s.dir != "store" && s.dir != "commands" {
			continue
		}
		require.Empty(t, wallClock.FindString(s.text), s.path)
		for _, p := range s.imported(t) {
			require.NotContains(t, []string{"sync", "sync/atomic", "net", "os", "log", "log/slog", "context"}, p, s.path)
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.ChanType:
				require.Fail(t, "a goroutine or channel", s.path)
			}
			return true
		})
	}
}

// refusal is the form of every error text on the wire.
var refusal = regexp.MustCompile(`^[A-Z][A-Z0-9]*( [^\r\n\x00]*)?$`)

// TestErrorTexts holds the constants of commands.Error to one line that begins with a code.
func TestErrorTexts(t *testing.T) {
	seen := 0
	for _, s := range sources(t) {
		if s.test || s.dir != "commands" && s.dir != "server" {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			for _, lit := range errorTexts(n) {
				text, err := strconv.Unquote(lit.Value)
				require.NoError(t, err)
				require.Regexp(t, refusal, text, s.path)
				seen++
			}
			return true
		})
	}
	require.Positive(t, seen)
}

// errorTexts returns the literals that n makes an Error: in a typed declaration, or as the beginning of a
// conversion.
func errorTexts(n ast.Node) []*ast.BasicLit {
	isError := func(e ast.Expr) bool {
		if sel, ok := e.(*ast.SelectorExpr); ok {
			e = sel.Sel
		}
		id, ok := e.(*ast.Ident)
		return ok && id.Name == "Error"
	}
	var values []ast.Expr
	switch n := n.(type) {
	case *ast.ValueSpec:
		if n.Type != nil && isError(n.Type) {
			values = n.Values
		}
	case *ast.CallExpr:
		if isError(n.Fun) && len(n.Args) == 1 {
			values = n.Args
		}
	}
	var out []*ast.BasicLit
	for _, v := range values {
		for {
			sum, ok := v.(*ast.BinaryExpr)
			if !ok {
				break
			}
			v = sum.X
		}
		if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			out = append(out, lit)
		}
	}
	return out
}

// TestHouseStyle holds files to a length, handlers to replies without fmt, and the tree to what is finished.
func TestHouseStyle(t *testing.T) {
	unfinished := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)
	for _, s := range sources(t) {
		require.LessOrEqual(t, s.lines, maxLines, "%s has %d lines", s.path, s.lines)
		require.Empty(t, unfinished.FindString(s.text), s.path)
		if s.test {
			continue
		}
		for _, bad := range []string{"util", "common", "types", "helpers"} {
			require.NotEqual(t, bad, s.ast.Name.Name, s.path)
		}
		if s.dir == "commands" && s.path != filepath.Join("commands", "table.go") {
			require.NotContains(t, s.imported(t), "fmt", s.path)
		}
		require.False(t, strings.Contains(s.text, "func init()"), "%s has an init function", s.path)
	}
}
