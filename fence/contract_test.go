package fence

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckWire(t *testing.T) {
	require.NoError(t, CheckWire([]byte("echomq:6.0.0"), true))
	require.EqualError(t, CheckWire(nil, false), "EMQWIRE expected echomq:6.0.0 but {emq}:version is absent")
	for value, want := range map[string]string{
		"":                               "",
		"echomq:5.0.0":                   "echomq:5.0.0",
		"echomq:6.0.0 ":                  "echomq:6.0.0 ",
		"ECHOMQ:6.0.0":                   "ECHOMQ:6.0.0",
		"a\r\nb\nc\r":                    "a  b c ",
		strings.Repeat("x", 127) + "\ny": strings.Repeat("x", 127) + " ",
		strings.Repeat("x", 5000):        strings.Repeat("x", 128),
	} {
		require.EqualError(t, CheckWire([]byte(value), true), "EMQWIRE expected echomq:6.0.0 found "+want)
	}
	require.True(t, strings.HasSuffix(Wire, ":"+strconv.Itoa(Epoch)+".0.0"))
}

func TestWireAllocs(t *testing.T) {
	right, wrong := []byte(Wire), []byte("echomq:5.0.0")
	buf := make([]byte, 0, 256)
	allocs := testing.AllocsPerRun(100, func() {
		if CheckWire(right, true) != nil || CheckWire(nil, false) == nil {
			t.Fatal("the fence was misjudged")
		}
		buf = AppendWireFound(buf[:0], wrong)
	})
	require.Zero(t, allocs)
}

func TestCapabilities(t *testing.T) {
	list := Capabilities()
	require.True(t, slices.IsSorted(list), "byte order")
	require.Len(t, slices.Compact(slices.Clone(list)), len(list), "no token twice")
	for _, token := range list {
		require.True(t, Known(token))
		require.Regexp(t, `^[a-z]+(\.[a-z]+)?$`, token)
	}
	for _, token := range []string{"install", "enqueue", "schedule", "claim", "claim.pause", "extend", "extends",
		"complete", "promote", "reschedule", "delay", "fail", "fail.budget", "reprocess", "requeue", "stalled",
		"stalled.restart", "bus.append", "bus.failures", "bus.publish"} {
		require.True(t, Known(token), token)
	}
	for _, token := range []string{"", "Claim", "claim.", "version", "group", "zzz"} {
		require.False(t, Known(token), token)
	}
	list[0] = "changed"
	require.NotEqual(t, list[0], Capabilities()[0], "a copy is handed out")
}

func TestRefusalsAndClasses(t *testing.T) {
	known := map[string]bool{}
	for _, class := range Classes() {
		require.Regexp(t, `^EMQ[A-Z]+$`, class.Name)
		require.False(t, known[class.Name], class.Name)
		require.Regexp(t, `^[A-Z].*\.$`, class.Meaning)
		require.Regexp(t, `^[A-Z].*\.$`, class.Advice)
		known[class.Name] = true
	}
	texts := slices.Clone(Refusals())
	for p := range layoutTable {
		for k := range kindCount {
			texts = append(texts, Refusal(LayoutKey(p, k).Error()), Refusal(LayoutName(p, k).Error()))
		}
		texts = append(texts, Refusal(LayoutBase(p).Error()), Refusal(LayoutCount(p).Error()))
	}
	used := map[string]bool{}
	for _, text := range texts {
		require.True(t, known[text.Class()], text)
		require.Greater(t, len(text), len(text.Class())+1, text)
		require.NotContains(t, string(text), "\r")
		require.NotContains(t, string(text), "\n")
		used[text.Class()] = true
	}
	require.Equal(t, known, used, "a class that no refusal has")
}

// TestRefusalTexts spells every fixed text out: clients match them byte for byte, so
// a changed one must be changed here too, on purpose.
func TestRefusalTexts(t *testing.T) {
	want := []Refusal{
		"EMQLAYOUT the id must be 1 byte or more and must not end in the name of a row's sub-key, such as :logs",
		"EMQLAYOUT the group must be 1 byte or more, without NUL",
		"EMQLAYOUT an id in a flow must be without NUL",
		"EMQLAYOUT the first node is the root: it has neither parent nor policy",
		"EMQLAYOUT a node's parent must be given before it",
		"EMQLAYOUT an id is given twice in one tree",
		"EMQLAYOUT a tree has at most 64 levels",
		"EMQWIRE expected echomq:6.0.0 but {emq}:version is absent",
		"EMQKIND job id must be JOB-namespaced",
		"EMQKIND record id must be EVT-namespaced",
		"EMQSTALE job gone",
	}
	for _, fault := range []string{"token mismatch", "lease not held"} {
		for _, verb := range []string{"complete", "retry", "extend", "delay", "requeue"} {
			want = append(want, Refusal("EMQSTALE "+verb+" "+fault))
		}
	}
	want = append(want,
		"EMQSTATE not dead",
		"EMQSTATE not scheduled",
		"EMQSTATE not paused",
		"EMQSTATE active jobs present",
		"EMQSTATE not awaiting children",
		"EMQLANE job belongs to a lane",
		"EMQLANE job has no lane",
		"EMQFLOW job belongs to a flow",
		"EMQFLOW job has no parent",
		"EMQFLOW job has another parent",
		"EMQLOCK job is locked",
		"EMQRATE at concurrency ceiling",
	)
	require.Equal(t, want, Refusals())
}

// TestRefusalsAreAllListed reads the package's own source, so that a constant of
// type Refusal cannot be added without its place in Refusals.
func TestRefusalsAreAllListed(t *testing.T) {
	listed := map[Refusal]bool{}
	for _, r := range Refusals() {
		require.False(t, listed[r], "listed twice: %s", r)
		listed[r] = true
	}
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	declared := 0
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), entry.Name(), nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if ok {
				if of, ok := spec.Type.(*ast.Ident); ok && of.Name == "Refusal" {
					declared += len(spec.Names)
				}
			}
			return true
		})
	}
	require.Equal(t, declared, len(listed), "constants of type Refusal against those listed")
}
