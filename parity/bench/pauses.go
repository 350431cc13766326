package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/echomq/emqd/bench"
)

// pauseLimit is how long requests take at least in a pause.
const pauseLimit = 10 * time.Millisecond

// namedMS is how long in ms an event of the node takes at least to be told of (latency-monitor-threshold).
const namedMS = 2

// hostWatch looks at what the machine takes from all processes.
type hostWatch struct {
	stop   context.CancelFunc
	stolen <-chan []steal
	gaps   *gapWatch
}

func watchHost() (*hostWatch, error) {
	gaps, err := watchGaps()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	return &hostWatch{stop, watchSteal(ctx), gaps}, nil
}

// hostTook is what it took.
type hostTook struct {
	stolen []steal
	gaps   []gap
	why    string // there are no gaps
}

// end ends the looking. It returns err when that is one, otherwise its own.
func (w *hostWatch) end(err error) (hostTook, error) {
	w.stop()
	gaps, why, failed := w.gaps.end()
	if err == nil {
		err = failed
	}
	return hostTook{<-w.stolen, gaps, why}, err
}

// in names what was taken between two instants.
func (h hostTook) in(from, to time.Time) (said []string) {
	sums := gapsIn(h.gaps, from, to)
	for _, cpu := range slices.Sorted(maps.Keys(sums)) {
		said = append(said, fmt.Sprintf("processor %d ran nothing for %.1f ms", cpu, sums[cpu].Seconds()*1e3))
	}
	if lost := stolenIn(h.stolen, from, to); lost > 0 {
		said = append(said, fmt.Sprintf("the host took %d ms of the processors away", lost.Milliseconds()))
	}
	return said
}

// rewriteSpan is when the log was rewritten.
type rewriteSpan struct {
	begin time.Time
	took  time.Duration
	err   error
}

// spanOfRewrite has the node write its log anew and waits until that is done.
func (n *node) spanOfRewrite(ctx context.Context) (s rewriteSpan) {
	s.begin = time.Now()
	s.took, s.err = n.rewrite(ctx)
	return s
}

// pauses names every pause above 10 ms, as far as the node tells.
func (n *node) pauses(o *outcome, r *bench.Result, s rewriteSpan, host hostTook) error {
	spikes := map[int64][]string{}
	latest, err := n.Do("LATENCY", "LATEST")
	if err != nil {
		return err
	}
	events, _ := latest.([]any)
	for _, e := range events {
		parts, ok := e.([]any)
		if !ok || len(parts) < 4 {
			continue
		}
		name := fmt.Sprint(parts[0])
		history, err := n.Do("LATENCY", "HISTORY", name)
		if err != nil {
			return err
		}
		list, _ := history.([]any)
		for _, h := range list {
			if pair, ok := h.([]any); ok && len(pair) == 2 {
				at, _ := pair[0].(int64)
				spikes[at] = append(spikes[at], fmt.Sprintf("%s %v ms", name, pair[1]))
			}
		}
	}
	t := o.table("Pauses above 10 ms", "at s", "ms", "requests", "what node, client and host tell of it")
	const most = 40
	for _, p := range longest(r.Pauses, most) {
		at := time.UnixMilli(p.Unix)
		end := at.Add(time.Duration(p.Millis * 1e6))
		var said []string
		for second := at.Unix(); second <= end.Unix(); second++ {
			said = append(said, spikes[second]...)
		}
		if p.Client > 0 {
			said = append(said, fmt.Sprintf("the client had no processor for %.1f ms", p.Client))
		}
		said = append(said, host.in(at, end)...)
		if end.After(s.begin) && at.Before(s.begin.Add(s.took)) {
			said = append(said, "the log is being rewritten")
		}
		if len(said) == 0 {
			said = []string{"nothing"}
		}
		t.row(fmt.Sprintf("%.2f", p.At), fmt.Sprintf("%.1f", p.Millis), strconv.Itoa(p.Requests), strings.Join(said, "; "))
	}
	if len(r.Pauses) > most {
		t.row("", "", "", fmt.Sprintf("and %d shorter ones", len(r.Pauses)-most))
	}
	if len(r.Pauses) == 0 {
		t.row("none", "", "", "")
	}
	o.gapTable(host.gaps, host.why, time.Duration(r.Seconds*1e9))
	return nil
}

// longest gives the n longest pauses in the order of time.
func longest(all []bench.Pause, n int) []bench.Pause {
	some := slices.Clone(all)
	slices.SortFunc(some, func(a, b bench.Pause) int { return cmp.Compare(b.Millis, a.Millis) })
	some = some[:min(n, len(some))]
	slices.SortFunc(some, func(a, b bench.Pause) int { return cmp.Compare(a.At, b.At) })
	return some
}
