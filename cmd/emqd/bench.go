package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/echomq/emqd/bench"
)

// benchArgs is the command line of emqd bench.
type benchArgs struct {
	Work []string `arg:"" optional:"" name:"work" help:"What to measure, one after the other: see above. Without any: jobs."`

	Target   string `default:"127.0.0.1:6390" placeholder:"ADDR" help:"The server: host:port, or the path of a Unix socket [${default}]."`
	User     string `placeholder:"NAME" help:"User to authenticate as."`
	Password string `placeholder:"WORD" env:"EMQD_BENCH_PASSWORD" help:"Its password."`
	Vs       string `placeholder:"ADDR" help:"A second server on which the same work is done in turn, by scripts if it has no job verbs."`
	VsUser   string `placeholder:"NAME" help:"User on the second server."`
	VsPass   string `name:"vs-password" placeholder:"WORD" env:"EMQD_BENCH_VS_PASSWORD" help:"Its password."`
	Rounds   int    `placeholder:"N" help:"Runs on each server; medians are shown [1, with --vs 5]."`

	Conns    int           `short:"c" default:"50" placeholder:"N" help:"Connections [${default}]."`
	Pipeline []int         `short:"P" default:"1" placeholder:"N" help:"Requests that a connection sends before it waits; several depths with commas [${default}]."`
	Payload  int           `default:"100" placeholder:"BYTES" help:"Size of payloads and values [${default}]."`
	Duration time.Duration `default:"5s" placeholder:"TIME" help:"How long to measure [${default}]."`
	Ops      int64         `short:"n" placeholder:"N" help:"Measure a number of operations instead, without a warm-up."`
	Warmup   time.Duration `default:"1s" placeholder:"TIME" help:"How long to run before that [${default}]."`
	Rate     []float64     `aliases:"rates" placeholder:"N" help:"Begin so many operations a second, ready or not; latency counts from when one should have begun. Several rates with commas."`

	Keys     int    `default:"100000" placeholder:"N" help:"How many keys, fields or members plain commands use [${default}]."`
	Queues   int    `default:"1" placeholder:"N" help:"Queues that jobs are spread over [${default}]."`
	Lanes    int    `default:"100" placeholder:"N" help:"Groups of the lanes work [${default}]."`
	Children int    `default:"3" placeholder:"N" help:"Children of each flow [${default}]."`
	Seed     uint64 `default:"1" placeholder:"N" help:"Seed of the random keys [${default}]."`

	JSON       string        `placeholder:"FILE" help:"Write everything measured, histograms too."`
	SVG        string        `placeholder:"FILE" help:"Draw latency against load (several rates), throughput against depth (several depths), or latency by percentile."`
	PauseLimit time.Duration `name:"pauses" placeholder:"TIME" help:"Report when requests took longer than this."`
}

const benchAbout = `Measure a server: throughput, latency, and the processor time that it takes when it is on this machine.

Work is one or more of these:

`

// benchHelp is the text above the flags: what can be measured.
func benchHelp() string {
	var b strings.Builder
	b.WriteString(benchAbout)
	var rest []string
	for _, w := range bench.Works() {
		if w[1] == "" {
			rest = append(rest, w[0])
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n\n", w[0], w[1])
	}
	b.WriteString("and single requests: " + strings.Join(rest, " ") + "\n\n" +
		"All keys begin with emq:{bench-ID or bench-ID: and are removed at the end; ID is new in each call.")
	return b.String()
}

// runBench is emqd bench. It returns the exit code.
func runBench(args []string, stdout, stderr io.Writer) int {
	var a benchArgs
	parser, err := kong.New(&a, kong.Name("emqd bench"), kong.Description(benchHelp()), kong.Writers(stdout, io.Discard),
		kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: 118}), kong.Exit(func(int) { panic(errHelp) }))
	if err == nil {
		_, err = parse(parser, args)
	}
	if errors.Is(err, errHelp) {
		return 0
	}
	if err == nil {
		err = a.check()
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "emqd bench: %v\nRun \"emqd bench --help\" for what it takes.\n", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := a.run(ctx, stdout, stderr); err != nil {
		_, _ = fmt.Fprintf(stderr, "emqd bench: %v\n", err)
		return exitFailure
	}
	return 0
}

// check completes the arguments and reports what is wrong with them.
func (a *benchArgs) check() error {
	if len(a.Work) == 0 {
		a.Work = []string{"jobs"}
	}
	if a.Rounds == 0 {
		a.Rounds = 1
		if a.Vs != "" {
			a.Rounds = 5
		}
	}
	if a.Rounds < 1 {
		return errors.New("--rounds must be at least 1")
	}
	if len(a.Rate) == 0 {
		a.Rate = []float64{0}
	}
	for l := range a.loads("") {
		if err := l.Check(); err != nil {
			return err
		}
	}
	return nil
}

// loads yields every load that is asked for: each work at each depth and each rate.
func (a *benchArgs) loads(name string) func(yield func(bench.Load) bool) {
	return func(yield func(bench.Load) bool) {
		for _, work := range a.Work {
			for _, depth := range a.Pipeline {
				for _, rate := range a.Rate {
					l := bench.Load{
						Work: strings.ToLower(work), Conns: a.Conns, Depth: depth, Payload: a.Payload, Keys: a.Keys, Queues: a.Queues, Lanes: a.Lanes,
						Children: a.Children, Duration: a.Duration, Ops: a.Ops, Warmup: a.Warmup, Rate: rate, Seed: a.Seed, Name: name, PauseLimit: a.PauseLimit,
					}
					if !yield(l) {
						return
					}
				}
			}
		}
	}
}

// run measures and reports.
func (a *benchArgs) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	target, err := bench.Open(a.Target, a.User, a.Password)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	report := &bench.Report{Format: 1, Time: time.Now().UTC().Truncate(time.Second), Machine: bench.ThisMachine(), Target: *target}
	var peer *bench.Server
	if a.Vs != "" {
		if peer, err = bench.Open(a.Vs, a.VsUser, a.VsPass); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, peer.Close()) }()
		report.Peer = peer
	}
	name := fmt.Sprintf("bench-%08x", rand.Uint32())
	a.announce(stdout, target, peer, name)
	for l := range a.loads(name) {
		if ctx.Err() != nil {
			break
		}
		l.Progress = progressLine(stderr, l.Work)
		series, err := bench.Alternate(ctx, l, a.Rounds, target, peer)
		clearLine(stderr, l.Progress)
		if err != nil {
			return err
		}
		series.Title = l.Work + " " + title(l)
		report.Series = append(report.Series, series)
		if err := series.Print(stdout); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(stdout)
	}
	return a.save(report)
}

// announce says what is about to be done, and to which keys.
func (a *benchArgs) announce(to io.Writer, target, peer *bench.Server, name string) {
	on := target.String()
	if peer != nil {
		on += " and " + peer.String() + " in turn"
	}
	_, _ = fmt.Fprintf(to, "%s, %d connections, %d bytes of payload\n", on, a.Conns, a.Payload)
	var prefixes []string
	for l := range a.loads(name) {
		for _, p := range l.Prefixes() {
			if !slices.Contains(prefixes, p) {
				prefixes = append(prefixes, p)
			}
		}
	}
	for i, p := range prefixes {
		prefixes[i] = p + "*"
	}
	if len(prefixes) > 0 {
		_, _ = fmt.Fprintf(to, "keys: %s, removed at the end\n", strings.Join(prefixes, " "))
	}
	_, _ = fmt.Fprintln(to)
}

// title names a load above its figures.
func title(l bench.Load) string {
	t := fmt.Sprintf("P=%d", l.Depth)
	if l.Rate > 0 {
		t += fmt.Sprintf(" %.0f/s", l.Rate)
	}
	return t
}

// save writes the files that are asked for.
func (a *benchArgs) save(report *bench.Report) error {
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{{a.JSON, report.WriteJSON}, {a.SVG, report.Chart().WriteSVG}} {
		if file.name == "" {
			continue
		}
		f, err := os.Create(file.name)
		if err != nil {
			return err
		}
		if err := errors.Join(file.write(f), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// progressLine shows how far a load is, on a terminal alone.
func progressLine(to io.Writer, work string) func(string) {
	f, ok := to.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return func(text string) { _, _ = fmt.Fprintf(f, "\r%s %s\x1b[K", work, text) }
}

func clearLine(to io.Writer, progress func(string)) {
	if progress != nil {
		_, _ = fmt.Fprint(to, "\r\x1b[K")
	}
}
