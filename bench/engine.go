package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// engine is a load while it runs.
type engine struct {
	base   time.Time
	groups []*group
	conns  []*conn

	start    int64 // when the load began
	warm     int64 // when measuring begins
	cut      int64 // when what is unanswered is given up, 0 while not stopping
	ready    bool  // nothing is being put in place any more
	stopping bool
	open     bool    // measuring
	failed   error   // why the load cannot go on
	busy     int     // connections with requests under way
	dirty    []*conn // connections with requests to be written

	measured  int64   // nanoseconds
	cpu       float64 // microseconds of the server's
	opened    int64
	cpuAt     float64
	serverCPU func() float64

	pauseLimit int64
	pauses     []Pause
	lateness   []late
	progress   func(done int64, part float64)
	shown      int64
	warmup     int64
	duration   int64
}

// patience is how long the last replies may take.
const patience = 30 * time.Second

// now is the time since the engine was made.
func (e *engine) now() int64 { return int64(time.Since(e.base)) }

// begin starts the clock and has every connection send.
func (e *engine) begin(warmup, duration time.Duration) {
	e.start = e.now()
	e.warmup, e.duration = int64(warmup), int64(duration)
	e.warm = e.start + e.warmup
	e.ready = !e.preparing()
	for _, g := range e.groups {
		g.origin = e.start
	}
	for _, g := range e.groups {
		if d, ok := g.driver.(*rounds); ok {
			d.start(0, e.start)
		} else {
			e.count(g, true, e.start)
		}
	}
	for _, c := range e.conns {
		c.next(e.start)
	}
}

// preparing reports whether a group still puts in place what it needs.
func (e *engine) preparing() bool {
	for _, g := range e.groups {
		if d, ok := g.driver.(*rounds); ok && d.prepares() {
			return true
		}
	}
	return false
}

// prepared begins the load when no group prepares any more: until then nobody begins an operation.
func (e *engine) prepared(now int64) {
	if e.preparing() {
		return
	}
	e.ready = true
	e.warm = now + e.warmup
	for _, g := range e.groups {
		g.origin = now
		e.count(g, g.counting(), now)
	}
	for _, g := range e.groups {
		e.wake(g)
	}
}

// count says whether the group's requests are of the kind that is measured from now on.
func (e *engine) count(g *group, counted bool, now int64) {
	g.measuring = counted && e.ready && now >= e.warm && !e.stopping
	any := false
	for _, g := range e.groups {
		any = any || g.measuring
	}
	e.measure(any, now)
}

// measure begins or ends a stretch of measured time.
func (e *engine) measure(on bool, now int64) {
	if on == e.open {
		return
	}
	e.open = on
	cpu := e.serverCPU()
	if on {
		e.opened, e.cpuAt = now, cpu
		return
	}
	e.measured += now - e.opened
	e.cpu += cpu - e.cpuAt
}

// tick does what is due: the end of the warm-up, arrivals of open loops, the end. It reports whether the load is over.
func (e *engine) tick(ctx context.Context, now int64) (bool, error) {
	for _, g := range e.groups {
		if e.ready && now >= e.warm && !g.measuring && !e.stopping && g.counting() {
			e.count(g, true, now)
		}
		if e.ready && !e.stopping && g.rate > 0 && len(g.idle) > 0 && g.arrival() <= now {
			e.wake(g)
		}
	}
	if !e.stopping && (ctx.Err() != nil || e.elapsed(now) >= e.duration && e.duration > 0) {
		e.stop(now)
	}
	if e.failed != nil {
		return true, e.failed
	}
	if e.progress != nil && now-e.shown > int64(200*time.Millisecond) {
		e.shown = now
		e.progress(e.done(), e.part(now))
	}
	if e.busy == 0 && (e.stopping || e.exhausted()) {
		e.stop(now)
		return true, nil
	}
	if e.stopping && now > e.cut {
		return true, fmt.Errorf("%d connections got no reply for %v", e.busy, patience)
	}
	return false, nil
}

// counting reports whether what the group does now is to be measured once it is warm. In rounds a stretch begins with
// a step.
func (g *group) counting() bool {
	d, ok := g.driver.(*rounds)
	return !ok || d.steps[d.at].endless
}

// elapsed is the time measured so far.
func (e *engine) elapsed(now int64) int64 {
	if e.open {
		return e.measured + now - e.opened
	}
	return e.measured
}

func (e *engine) done() int64 {
	var n int64
	for _, g := range e.groups {
		n += g.done
	}
	return n
}

// part is how much of the load is done, from 0 to 1.
func (e *engine) part(now int64) float64 {
	if e.duration > 0 {
		return min(1, float64(e.elapsed(now))/float64(e.duration))
	}
	var begun, limit int64
	for _, g := range e.groups {
		begun, limit = begun+g.begun, limit+g.limit
	}
	return float64(begun) / float64(max(limit, 1))
}

// exhausted reports whether every group has begun all of its operations.
func (e *engine) exhausted() bool {
	for _, g := range e.groups {
		if g.limit == 0 || g.begun < g.limit {
			return false
		}
	}
	return true
}

// stop ends the measuring; operations that were begun are still finished.
func (e *engine) stop(now int64) {
	if e.stopping {
		return
	}
	e.stopping = true
	e.cut = now + int64(patience)
	for _, g := range e.groups {
		g.measuring = false
	}
	e.measure(false, now)
}

// wake has the idle connections of a group try again.
func (e *engine) wake(g *group) {
	idle := g.idle
	g.idle, g.spare = g.spare[:0], idle
	now := e.now()
	for i, c := range idle {
		c.next(now)
		if len(g.idle) > 0 { // there was nothing for it, so there is nothing for the others
			g.idle = append(g.idle, idle[i+1:]...)
			return
		}
	}
}

// wait is how long nothing is due, at most max.
func (e *engine) wait(now int64, max time.Duration) time.Duration {
	next := now + int64(max)
	for _, at := range []int64{e.warm, e.cut} {
		if at > now {
			next = min(next, at)
		}
	}
	if e.open && e.duration > 0 {
		next = min(next, now+e.duration-e.elapsed(now))
	}
	if e.ready && !e.stopping {
		for _, g := range e.groups {
			if g.rate > 0 && len(g.idle) > 0 && (g.limit == 0 || g.begun < g.limit) {
				next = min(next, g.arrival())
			}
		}
	}
	return time.Duration(next - now)
}

// Pause is a stretch of time in which requests took longer than the limit of the load.
type Pause struct {
	At       float64 `json:"at_s"` // seconds since the load began
	Unix     int64   `json:"unix_ms"`
	Millis   float64 `json:"ms"` // from the sending of the first such request to the last reply
	Requests int     `json:"requests"`
	Client   float64 `json:"client_ms,omitempty"` // of it that the measuring client itself did not get on
}

// late is a stretch in which the client did not get on, though there was nothing that it waited for.
type late struct{ from, to int64 }

// lateBy is how long the client takes at most for all that a wait has given, with much to spare.
const lateBy = int64(3 * time.Millisecond)

// woke returns the time from which ran counts. Where nobody wants to know of pauses neither of them reads the clock.
func (e *engine) woke() int64 {
	if e.pauseLimit <= 0 {
		return 0
	}
	return e.now()
}

// ran notes that what began at from, and takes a moment, is done: when it took long the client had no processor.
func (e *engine) ran(from int64) {
	if e.pauseLimit <= 0 {
		return
	}
	if now := e.now(); now-from > lateBy {
		e.lateness = append(e.lateness, late{from, now})
	}
}

// blame tells of each pause for how long the client did not get on in it.
func (e *engine) blame() {
	for i := range e.pauses {
		p := &e.pauses[i]
		from := e.start + int64(p.At*1e9)
		to := from + int64(p.Millis*1e6)
		for _, l := range e.lateness {
			p.Client += float64(max(0, min(to, l.to)-max(from, l.from))) / 1e6
		}
	}
}

// pause notes a request that took long.
func (e *engine) pause(start, now int64) {
	at, ms := float64(start-e.start)/1e9, float64(now-start)/1e6
	if n := len(e.pauses); n > 0 {
		p := &e.pauses[n-1]
		if end := p.At + p.Millis/1e3; at <= end {
			first := min(p.At, at)
			p.Millis = (max(end, at+ms/1e3) - first) * 1e3
			p.At = first
			p.Requests++
			return
		}
	}
	e.pauses = append(e.pauses, Pause{At: at, Unix: e.base.Add(time.Duration(start)).UnixMilli(), Millis: ms, Requests: 1})
}

var errClosed = errors.New("the server has closed a connection")
