package server

import (
	"slices"
	"strconv"
	"strings"

	"github.com/echomq/emqd/commands"
)

// latencyEvents keeps the spikes of each event that took longer than latency-monitor-threshold.
type latencyEvents map[string]*latencyEvent

// latencyEvent is a ring of one event's newest spikes, one a second at most.
type latencyEvent struct {
	samples []latencySample
	max     int64
}

type latencySample struct{ at, ms int64 } // Unix seconds, milliseconds

const latencySamples = 160

// spike notes that event took nanos.
func (srv *Server) spike(event string, nanos int64) {
	limit, ms := srv.cfg.LatencyMonitorThreshold, nanos/1e6
	if limit <= 0 || ms < limit {
		return
	}
	e := srv.latency[event]
	if e == nil {
		e = &latencyEvent{}
		srv.latency[event] = e
	}
	e.max = max(e.max, ms)
	at := srv.now / 1000
	if n := len(e.samples); n > 0 && e.samples[n-1].at == at {
		e.samples[n-1].ms = max(e.samples[n-1].ms, ms)
		return
	}
	if len(e.samples) == latencySamples {
		e.samples = slices.Delete(e.samples, 0, 1)
	}
	e.samples = append(e.samples, latencySample{at, ms})
}

// timed notes how long event has taken that began at the clock's start.
func (srv *Server) timed(event string, start int64) { srv.spike(event, srv.clock.nano()-start) }

func latencySub(name string, arity int, syntax, summary, since string, do func(*commands.Call) error) commands.Row {
	return commands.Row{
		Name: name, Arity: arity, Syntax: syntax, Summary: summary, Since: since, Do: do, Complexity: "O(N), N being the events or commands",
		Flags: commands.Admin | commands.NoScript | commands.Loading | commands.Stale,
	}
}

var latencyRows = []commands.Row{{
	Name: "latency", Family: "server", Arity: -2, Since: "2.8.13",
	Summary: "The commands about what took long.", Complexity: "That of the subcommand",
	Subs: []commands.Row{
		latencySub("doctor", 2, "", "Says in words what was slow and where to look.", "2.8.13", cmdLatencyDoctor).WithTips(commands.TipVaries, "request_policy:all_nodes", "response_policy:special"),
		latencySub("graph", 3, "event", "Draws an event's spikes.", "2.8.13", cmdLatencyGraph).WithTips(commands.TipVaries, "request_policy:all_nodes", "response_policy:special"),
		commands.HelpRow("2.8.13"),
		latencySub("histogram", -2, "[command [command ...]]", "Tells how long commands took, cumulative by powers of two.", "7.0.0", cmdLatencyHistogram).WithTips(commands.TipVaries, "request_policy:all_nodes", "response_policy:special"),
		latencySub("history", 3, "event", "Lists an event's spikes with their times.", "2.8.13", cmdLatencyHistory).WithTips(commands.TipVaries, "request_policy:all_nodes", "response_policy:special"),
		latencySub("latest", 2, "", "Tells each event's newest and worst spike.", "2.8.13", cmdLatencyLatest).WithTips(commands.TipVaries, "request_policy:all_nodes", "response_policy:special"),
		latencySub("reset", -2, "[event [event ...]]", "Forgets the spikes of events.", "2.8.13", cmdLatencyReset).WithTips("request_policy:all_nodes", "response_policy:agg_sum"),
	},
}}

// names returns the events in the order of their names.
func (l latencyEvents) names() []string {
	names := make([]string, 0, len(l))
	for name := range l {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// cmdLatencyLatest handles LATENCY LATEST.
//
// Reply:   array of event, Unix seconds of its newest spike, its milliseconds, the longest ever
// Effects: none
func cmdLatencyLatest(c *commands.Call) error {
	l := c.Peer.(*session).srv.latency
	c.Reply.Array(len(l))
	for _, name := range l.names() {
		e := l[name]
		last := e.samples[len(e.samples)-1]
		c.Reply.Array(4)
		c.Reply.Text(name)
		c.Reply.Int(last.at)
		c.Reply.Int(last.ms)
		c.Reply.Int(e.max)
	}
	return nil
}

// cmdLatencyHistory handles LATENCY HISTORY event.
//
// Reply:   array of pairs of Unix seconds and milliseconds
// Effects: none
func cmdLatencyHistory(c *commands.Call) error {
	e := c.Peer.(*session).srv.latency[string(c.Args[2])]
	if e == nil {
		c.Reply.Array(0)
		return nil
	}
	c.Reply.Array(len(e.samples))
	for _, s := range e.samples {
		c.Reply.Array(2)
		c.Reply.Int(s.at)
		c.Reply.Int(s.ms)
	}
	return nil
}

// cmdLatencyReset handles LATENCY RESET [event ...].
//
// Reply:   number of events reset
// Effects: none
func cmdLatencyReset(c *commands.Call) error {
	l := c.Peer.(*session).srv.latency
	n := 0
	if len(c.Args) == 2 {
		n = len(l)
		clear(l)
	}
	for _, name := range c.Args[2:] {
		if _, ok := l[string(name)]; ok {
			delete(l, string(name))
			n++
		}
	}
	c.Reply.Int(int64(n))
	return nil
}

// cmdLatencyGraph handles LATENCY GRAPH event.
//
// Reply:   text with one column for each spike
// Errors:  no samples
// Effects: none
func cmdLatencyGraph(c *commands.Call) error {
	name := string(c.Args[2])
	e := c.Peer.(*session).srv.latency[name]
	if e == nil {
		return commands.Error("ERR No samples available for event '" + commands.EchoLong(c.Args[2]) + "'")
	}
	low, high := e.samples[0].ms, e.samples[0].ms
	for _, s := range e.samples {
		low, high = min(low, s.ms), max(high, s.ms)
	}
	const rows = 4
	var b strings.Builder
	b.WriteString(name + " - high " + strconv.FormatInt(high, 10) + " ms, low " + strconv.FormatInt(low, 10) +
		" ms (all time high " + strconv.FormatInt(e.max, 10) + " ms)\n")
	for level := rows; level > 0; level-- {
		for _, s := range e.samples {
			mark := byte(' ')
			if high == low || (s.ms-low)*rows >= (high-low)*int64(level-1) {
				mark = '#'
			}
			b.WriteByte(mark)
		}
		b.WriteByte('\n')
	}
	c.Reply.Verbatim(b.String())
	return nil
}

// cmdLatencyDoctor handles LATENCY DOCTOR.
//
// Reply:   text that says what was slow and where to look
// Effects: none
func cmdLatencyDoctor(c *commands.Call) error {
	srv := c.Peer.(*session).srv
	var b strings.Builder
	switch {
	case srv.cfg.LatencyMonitorThreshold == 0:
		b.WriteString("Latency monitoring is off. Turn it on with CONFIG SET latency-monitor-threshold <milliseconds>.\n")
	case len(srv.latency) == 0:
		b.WriteString("No event took longer than " + strconv.FormatInt(srv.cfg.LatencyMonitorThreshold, 10) + " ms.\n")
	}
	for _, name := range srv.latency.names() {
		e := srv.latency[name]
		sum := int64(0)
		for _, s := range e.samples {
			sum += s.ms
		}
		b.WriteString(name + ": " + strconv.Itoa(len(e.samples)) + " spikes, mean " + strconv.FormatInt(sum/int64(len(e.samples)), 10) +
			" ms, worst " + strconv.FormatInt(e.max, 10) + " ms. " + latencyAdvice[name] + "\n")
	}
	c.Reply.Verbatim(b.String())
	return nil
}

// latencyAdvice says where to look for the cause of each event's spikes.
var latencyAdvice = map[string]string{
	"command":                 "Slow commands are in SLOWLOG GET.",
	"fast-command":            "Commands that should be quick were not: look for a busy machine or memory pressure.",
	"expire-cycle":            "Many keys expired at the same time: spread their times.",
	"pump":                    "A turn of the pump took long: look for jobs with large rows, and for signals of large flows. INFO emq has what it does.",
	"cron":                    "The periodic work took long: look for very many clients, and for save points of a node without a log.",
	"aof-fsync-always":        "Replies waited for a sync of the log: look for a slow disk, or for others that write to it.",
	"aof-rewrite":             "A rewrite of the log began with a sync that all waited for: look for a slow disk.",
	"aof-start":               "What had changed while the data became a log was brought into it: turn the log on when less is written.",
	"aof-full":                "The disk of the log became full, and giving up the reserve took long: make room.",
	"aof-recover":             "An attempt to get well waited for the disk of the log: see log_health in INFO persistence.",
	"event-loop":              "One turn of the event loop took long: look for the other events of that second, and for many large pipelines at once.",
	"keyspace-lock":           "The event loop waited for work in the background: a snapshot, a clean-up, a connection over TLS or a Unix socket.",
	"aof-write":               "A write to the log took long: the disk is busy, or what the system had buffered was to be written first.",
	"aof-write-pending-fsync": "It was while a sync of the log was under way: see log_sync_usec_p99 in INFO persistence.",
	"aof-write-active-child":  "It was while a child process wrote the log anew or a snapshot.",
	"aof-write-alone":         "Nothing else of this node used the disk at the time: look at what else is on it.",
}

// cmdLatencyHistogram handles LATENCY HISTOGRAM [command ...].
//
// Reply:   map of command to a map of its calls and histogram_usec, cumulative by powers of two microseconds
// Effects: none
func cmdLatencyHistogram(c *commands.Call) error {
	srv := c.Peer.(*session).srv
	var rows []*commands.Row
	for _, row := range srv.table.Every() {
		h := srv.stats.rows[row.ID()].hist
		if h == nil {
			continue
		}
		wanted := len(c.Args) == 2
		for _, name := range c.Args[2:] {
			full := row.FullName()
			container, _, isSub := strings.Cut(full, "|")
			wanted = wanted || commands.Is(name, full) || isSub && commands.Is(name, container)
		}
		if wanted {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b *commands.Row) int { return strings.Compare(a.FullName(), b.FullName()) })
	c.Reply.Map(len(rows))
	for _, row := range rows {
		h := srv.stats.rows[row.ID()].hist
		c.Reply.Text(row.FullName())
		c.Reply.Map(2)
		c.Reply.Text("calls")
		c.Reply.Int(h.count)
		c.Reply.Text("histogram_usec")
		steps := h.doublings()
		c.Reply.Map(len(steps))
		for _, s := range steps {
			c.Reply.Int(s.micros)
			c.Reply.Int(s.calls)
		}
	}
	return nil
}

type histogramStep struct{ micros, calls int64 }

// doublings returns the cumulative counts at powers of two microseconds, from the first that has calls to the one
// that has all.
func (h *histogram) doublings() (steps []histogramStep) {
	seen, b := int64(0), 0
	for micros := int64(1); seen < h.count; micros *= 2 {
		for ; b < histBuckets && (bucketTop(b) <= micros*1000 || b == histBuckets-1); b++ {
			seen += int64(h.buckets[b])
		}
		if seen > 0 {
			steps = append(steps, histogramStep{micros, seen})
		}
	}
	return steps
}
