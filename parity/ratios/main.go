// Command ratios measures emqd next to redis-server on this machine, in one run and in alternation, and prints the
// ratios as Markdown tables: plain commands driven by redis-benchmark, and the job cycle (enqueue, claim, complete) as
// native verbs against short Lua scripts by EVALSHA. It starts and stops both servers itself, on loopback.
//
//	go run ./parity/ratios -emqd bin/emqd [-rounds 5] [-only plain,jobs]
//
// With -only steps it measures emqd alone: how long another client waits while a queue of -jobs jobs is obliterated, drained,
// promoted or recovered in bounded steps.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
)

func main() {
	emqd := flag.String("emqd", "bin/emqd", "the emqd binary")
	peer := flag.String("peer", "redis-server", "the server to compare with")
	rounds := flag.Int("rounds", 5, "runs of each case on each server, in alternation")
	only := flag.String("only", "plain,jobs", "which tables")
	jobs := flag.Int("jobs", 1_000_000, "jobs of the queue in the table of steps")
	flag.Parse()
	if err := run(*emqd, *peer, *rounds, *jobs, strings.Split(*only, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "ratios:", err)
		os.Exit(1)
	}
}

func run(emqd, peer string, rounds, jobs int, tables []string) error {
	if slices.Contains(tables, "steps") {
		if err := stepTable(emqd, jobs); err != nil {
			return err
		}
	}
	if slices.Contains(tables, "plain") {
		if err := withServers(emqd, peer, "no", "no", func(a, b *node) error { return plainTable(a, b, rounds) }); err != nil {
			return err
		}
	}
	if !slices.Contains(tables, "jobs") {
		return nil
	}
	for _, mode := range [][2]string{{"no", "no"}, {"yes", "everysec"}, {"yes", "always"}} {
		if err := withServers(emqd, peer, mode[0], mode[1], func(a, b *node) error { return jobTable(a, b, mode, rounds) }); err != nil {
			return err
		}
	}
	return nil
}

// result is what one run of a case on one server gave.
type result struct {
	rate float64 // operations a second
	p99  float64 // ms
	cpu  float64 // server CPU, microseconds an operation
}

// pair runs a case on both servers in alternation and prints a row of medians.
func pair(name string, a, b *node, rounds int, once func(*node) (result, error)) error {
	var as, bs []result
	for range rounds {
		for _, side := range []struct {
			n    *node
			list *[]result
		}{{a, &as}, {b, &bs}} {
			before := side.n.cpu()
			r, err := once(side.n)
			if err != nil {
				return fmt.Errorf("%s on %s: %w", name, side.n.name, err)
			}
			r.cpu *= side.n.cpu() - before
			*side.list = append(*side.list, r)
		}
	}
	var ratios []float64
	for i := range as {
		ratios = append(ratios, as[i].rate/bs[i].rate)
	}
	slices.Sort(ratios)
	rate := func(r result) float64 { return r.rate }
	p99 := func(r result) float64 { return r.p99 }
	cpu := func(r result) float64 { return r.cpu }
	fmt.Printf("| %s | %.0f | %.0f | %.2f (%.2f-%.2f) | %.2f / %.2f | %.2f / %.2f = %.2f |\n", name, median(as, rate), median(bs, rate),
		ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1], median(as, p99), median(bs, p99),
		median(as, cpu), median(bs, cpu), median(as, cpu)/median(bs, cpu))
	return nil
}

func median(list []result, f func(result) float64) float64 {
	values := make([]float64, 0, len(list))
	for _, r := range list {
		values = append(values, f(r))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func heading(title string) {
	fmt.Printf("\n%s\n\n| case | emqd /s | peer /s | ratio (least-most) | p99 ms, emqd / peer | server CPU us per operation, emqd / peer |\n"+
		"|---|---|---|---|---|---|\n", title)
}
