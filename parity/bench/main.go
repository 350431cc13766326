// Command bench runs the whole matrix of docs/performance.md: emqd next to redis-server on this machine, in turn and in
// one call, and writes the page from the newest results of all sections.
//
//	go run ./parity/bench -emqd bin/emqd [-sections plain,jobs] [-rounds 5] [-short] [-tails 10m]
//
// It starts and stops all servers itself, on free ports of the loopback address and in directories of their own. The
// results of each section are kept in docs/performance as JSON, its charts beside them; what the page says about them by
// hand is in docs/performance/notes.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/echomq/emqd/bench"
)

// section is a part of the matrix that can be run alone.
type section struct {
	name, title string
	limit       time.Duration // what it may take at most
	run         func(context.Context, *matrix, *outcome) error
}

// sections are in the order of the page.
var sections = []section{
	{"plain", "Plain commands", 12 * time.Minute, runPlain},
	{"jobs", "Job cycle", 10 * time.Minute, runJobs},
	{"allocations", "Allocations", 4 * time.Minute, runAllocations},
	{"memory", "A million pending jobs", 5 * time.Minute, runMemory},
	{"compaction", "Compaction under load", 5 * time.Minute, runCompaction},
	{"claim", "Claims from ten million", 8 * time.Minute, runClaim},
	{"connections", "Idle connections", 4 * time.Minute, runConnections},
	{"scale", "Scale", 8 * time.Minute, runScale},
	{"waits", "Timeouts under load", 4 * time.Minute, runWaits},
	{"steps", "Long work in steps", 6 * time.Minute, runSteps},
	{"load", "Latency against load", 4 * time.Minute, runLoad},
	{"tails", "Tails", 20 * time.Minute, runTails},
}

// matrix is how the sections are to be run.
type matrix struct {
	emqd, peer string
	rounds     int
	short      bool
	tails      time.Duration
	dir        string // of the results
	out        io.Writer
}

func main() {
	m := &matrix{out: os.Stdout}
	flag.StringVar(&m.emqd, "emqd", "bin/emqd", "the emqd binary")
	flag.StringVar(&m.peer, "peer", "redis-server", "the server to compare with")
	flag.IntVar(&m.rounds, "rounds", 0, "runs of each case on each server (5, 3 when short)")
	flag.BoolVar(&m.short, "short", false, "shorter runs and fewer rounds")
	flag.DurationVar(&m.tails, "tails", 0, "length of the run of tails (10m, 2m when short)")
	only := flag.String("sections", "", "sections to run, with commas; all without")
	page := flag.String("page", "docs/performance.md", "the page to write; its results and charts are in the directory of that name")
	write := flag.Bool("write", false, "run nothing: only write the page from the results")
	gaps := flag.Bool("gaps", false, "measure nothing: tell of moments in which a processor ran nothing, until the input ends")
	flag.Parse()
	if *gaps {
		if err := printGaps(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	m.dir = strings.TrimSuffix(*page, ".md")
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := m.main(ctx, *only, *page, *write); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (m *matrix) main(ctx context.Context, only, page string, write bool) error {
	if m.rounds == 0 {
		m.rounds = m.pick(5, 3)
	}
	if m.tails == 0 {
		m.tails = 10 * time.Minute
		if m.short {
			m.tails = 2 * time.Minute
		}
	}
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(m.dir, 0o755); err != nil {
		return err
	}
	var failures []error
	for _, s := range chosen {
		if write || ctx.Err() != nil {
			break
		}
		if err := m.section(ctx, s); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", s.name, err))
			_, _ = fmt.Fprintf(m.out, "%s FAILED: %v\n", s.name, err)
		}
	}
	return errors.Join(append(failures, writePage(m.dir, page))...)
}

// choose returns the sections with the names.
func choose(names string) ([]section, error) {
	if names == "" {
		return sections, nil
	}
	var chosen []section
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(sections, func(s section) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no section is called %q", name)
		}
		chosen = append(chosen, sections[i])
	}
	return chosen, nil
}

// section runs one section and keeps its results.
func (m *matrix) section(ctx context.Context, s section) error {
	ctx, cancel := context.WithTimeout(ctx, s.limit+2*m.tails)
	defer cancel()
	_, _ = fmt.Fprintf(m.out, "\n== %s\n", s.title)
	o := &outcome{
		Name: s.name, Title: s.title, Time: time.Now().UTC().Truncate(time.Second), Commit: m.commit(), Machine: bench.ThisMachine(),
		Rounds: m.rounds, Short: m.short, dir: m.dir, out: m.out,
	}
	begin := time.Now()
	if err := s.run(ctx, m, o); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	o.Seconds = time.Since(begin).Seconds()
	o.print()
	return o.save()
}

// pick is one of two numbers, for long and for short runs.
func (m *matrix) pick(long, short int) int {
	if m.short {
		return short
	}
	return long
}

// load is the load that sections begin with.
func (m *matrix) load(work string, conns, depth int, seconds float64) bench.Load {
	l := bench.NewLoad(work)
	l.Conns, l.Depth = conns, depth
	l.Duration, l.Warmup = time.Duration(seconds*float64(time.Second)), 300*time.Millisecond
	if m.short {
		l.Duration = l.Duration * 6 / 10
	}
	return l
}

// commit names the code that is measured.
func (m *matrix) commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--exclude=*", "--abbrev=12").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
