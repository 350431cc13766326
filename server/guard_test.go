package server

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	guard       = flag.Bool("guard", false, "count the instructions of the hot paths under valgrind and compare them with testdata/instructions.txt")
	guardUpdate = flag.Bool("guard-update", false, "with -guard, write testdata/instructions.txt instead")
	guardWork   = flag.Bool("guard-work", false, "be the process whose instructions are counted")
	guardOnly   = flag.String("guard-only", "", "with -guard-work, the one hot path to go through")
	guardCount  = flag.Bool("guard-count", false, "with -guard-work, count each request twice in the statistics")
	guardIdle   = flag.Int("guard-idle", 0, "with -guard-work, steps of work for nothing in each request")
)

const (
	guardFile     = "testdata/instructions.txt"
	guardSlack    = 5.0   // percent by which a path may be dearer than its committed figure
	guardNothing  = 3.0   // percent by which a path may be dearer than one that does the same without what nobody uses; alike ones differ by 1.6
	guardRequests = 8_000 // counted of each path
	guardWarm     = 1_600 // before that
)

// guardMark is where callgrind begins to count anew.
//
//go:noinline
func guardMark() {}

// TestGuardWork is what TestGuard has valgrind count: between the first and the second mark the requests of the first path,
// between the third and the fourth those of the second, and so on.
func TestGuardWork(t *testing.T) {
	if !*guardWork {
		t.Skip("only for TestGuard")
	}
	for _, p := range hotPaths {
		if *guardOnly != "" && p.name != *guardOnly {
			continue
		}
		h := newHot(t, p)
		h.idle, h.counted = *guardIdle, *guardCount
		p.prepare(h, 0, guardWarm+guardRequests)
		for _, input := range p.turns(0, guardWarm) {
			p.check(t, h.turn(input))
		}
		list := p.turns(guardWarm, guardRequests)
		var out []byte
		guardMark()
		for _, input := range list {
			out = h.turn(input)
		}
		guardMark()
		p.check(t, out)
	}
}

// countInstructions runs the paths under callgrind and returns the instructions of one request of each, of a whole job for the
// cycle.
func countInstructions(t *testing.T, args ...string) []float64 {
	out := filepath.Join(t.TempDir(), "callgrind")
	run := append([]string{
		"--tool=callgrind", "--callgrind-out-file=" + out, "--dump-before=*guardMark", os.Args[0],
		"-test.run", "^TestGuardWork$", "-guard-work",
	}, args...)
	cmd := exec.Command("valgrind", run...)
	// One thread that does Go's work, no collector and no preemption that come when they like; valgrind does not know rdtscp.
	cmd.Env = append(os.Environ(), "GOGC=off", "GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1,cpu.rdtscp=off")
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", text)
	var counts []float64
	for part := 2; ; part += 2 {
		dump, err := os.ReadFile(out + "." + strconv.Itoa(part))
		if os.IsNotExist(err) {
			return counts
		}
		require.NoError(t, err)
		_, rest, ok := bytes.Cut(dump, []byte("\nsummary: "))
		require.True(t, ok, "callgrind's part %d has no summary", part)
		word, _, _ := bytes.Cut(rest, []byte("\n"))
		n, err := strconv.ParseFloat(string(word), 64)
		require.NoError(t, err)
		counts = append(counts, n/guardRequests)
	}
}

// figures are what is committed: instructions by path, and the toolchain that they were taken with.
type figures struct {
	toolchain string
	of        map[string]float64
}

func thisToolchain() string { return runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH }

const guardHead = "# Instructions of one request of each hot path, of one of the three of a job in the cycle, 16 at once.\n" +
	"# make bench-guard compares, make bench-guard UPDATE=1 writes this file.\n"

func readFigures(t *testing.T) figures {
	text, err := os.ReadFile(guardFile)
	require.NoError(t, err)
	f := figures{of: map[string]float64{}}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), ": ")
		switch {
		case strings.HasPrefix(name, "#"):
		case name == "toolchain":
			f.toolchain = value
		default:
			require.True(t, ok, lines.Text())
			f.of[name], err = strconv.ParseFloat(value, 64)
			require.NoError(t, err)
		}
	}
	return f
}

// compare returns what is to be said of counts beside the committed figures, and whether a path is too dear or unknown.
func (f figures) compare(paths []*hotPath, counts []float64, toolchain string) (report string, bad bool) {
	var b strings.Builder
	for i, p := range paths {
		was, ok := f.of[p.name]
		change := (counts[i]/was - 1) * 100
		verdict := ""
		switch {
		case !ok:
			verdict, bad = "  has no committed figure", true
		case change > guardSlack:
			verdict, bad = "  DEARER THAN ALLOWED", true
		case change < -guardSlack:
			verdict = "  cheaper: write the figures anew, so that this is kept"
		}
		fmt.Fprintf(&b, "%-36s %7.0f, committed %7.0f, %+5.1f%%%s\n", p.name, counts[i], was, change, verdict)
	}
	if bad && f.toolchain != toolchain {
		fmt.Fprintf(&b, "The committed figures are of %s and this is %s: the compiler may be the cause. Write the figures\n"+
			"of the last good commit with this toolchain (make bench-guard UPDATE=1) and compare with those.\n", f.toolchain, toolchain)
	}
	return b.String(), bad
}

// TestGuard fails when a hot path takes more than guardSlack percent more instructions than committed. Instructions are
// counted, not seconds: they are the same on a busy machine, within one percent.
func TestGuard(t *testing.T) {
	if !*guard {
		t.Skip("make bench-guard runs this")
	}
	if _, err := exec.LookPath("valgrind"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("valgrind is not installed")
	}
	counts := countInstructions(t)
	require.Len(t, counts, len(hotPaths))
	if *guardUpdate {
		b := []byte(guardHead + "toolchain: " + thisToolchain() + "\n")
		for i, p := range hotPaths {
			b = fmt.Appendf(b, "%s: %.0f\n", p.name, counts[i])
		}
		require.NoError(t, os.WriteFile(guardFile, b, 0o644))
	}
	report, bad := readFigures(t).compare(hotPaths, counts, thisToolchain())
	t.Log("instructions of a request\n" + report)
	require.False(t, bad, "more instructions than committed\n%s", report)

	for i, p := range hotPaths {
		if p.as == nil {
			continue
		}
		same := counts[slices.Index(hotPaths, p.as)]
		require.LessOrEqual(t, (counts[i]/same-1)*100, guardNothing, "%q takes %.0f instructions, %q %.0f", p.name, counts[i], p.as.name, same)
	}

	// What is found is what is there: the cheapest path with a tenth more work, two instructions or more a step.
	slower := countInstructions(t, "-guard-only", hotPaths[0].name, "-guard-idle", strconv.Itoa(int(counts[0]/20)))
	report, bad = readFigures(t).compare(hotPaths[:1], slower, thisToolchain())
	require.True(t, bad, "a tenth more work was not found\n%s", report)

	twice := countInstructions(t, "-guard-only", hotPaths[0].name, "-guard-count")
	statistics := twice[0] - counts[0]
	job := counts[slices.IndexFunc(hotPaths, func(p *hotPath) bool { return p.log })]
	t.Logf("LATENCY, SLOWLOG, INFO commandstats and latencystats take %.0f instructions of a request, a clock reading included: "+
		"%.1f%% of the cheapest path, %.1f%% of a step of a job", statistics, statistics/counts[0]*100, statistics/job*100)
	require.Less(t, statistics/job, 0.02)
}

func TestGuardTellsTheToolchainApart(t *testing.T) {
	paths := []*hotPath{{name: "A"}, {name: "B"}}
	f := figures{"go1", map[string]float64{"A": 1000, "B": 1000}}
	report, bad := f.compare(paths, []float64{1049, 900}, "go1")
	require.False(t, bad)
	require.Contains(t, report, "cheaper")
	report, bad = f.compare(paths, []float64{1051, 1000}, "go1")
	require.True(t, bad)
	require.NotContains(t, report, "compiler")
	report, bad = f.compare(paths, []float64{1051, 1000}, "go2")
	require.True(t, bad)
	require.Contains(t, report, "compiler")
	_, bad = f.compare([]*hotPath{{name: "C"}}, []float64{1}, "go1")
	require.True(t, bad, "a path without a figure")
	committed := readFigures(t)
	require.Len(t, committed.of, len(hotPaths))
	for _, p := range hotPaths {
		require.Contains(t, committed.of, p.name)
	}
}
