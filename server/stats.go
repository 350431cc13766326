package server

import (
	"strings"

	"github.com/echomq/emqd/commands"
)

// stats are the node's counters beside the store's.
type stats struct {
	rows           []rowStats // by row ID
	errors         map[string]int64
	commands       int64
	connections    int64
	rejected       int64
	netIn          int64
	netOut         int64
	reads          int64 // from connections
	writes         int64 // to connections
	turns          int64 // of the event loop
	turnNanos      int64 // that they took, without the waiting
	blocked        int
	peak           int64 // highest memory seen
	buffers        bufferPeaks
	overSince      int64 // Unix ms at which the node went over maxmemory, 0 when it is not
	overTotal      int64 // ms that it was over it before
	overInput      int64 // clients closed for their input
	overOutput     int64 // clients closed for their output
	evictedClients int64 // clients closed by maxmemory-clients
	expireCapped   int64 // rounds of expiry that left some for the next
	expireNanos    int64
	forks          int64 // child processes started
	forkMicros     int64 // that starting the last one took

	opsRate, inRate, outRate, turnRate, turnTime rate
}

// reset sets the counters to nothing; what tells the present state stays.
func (st *stats) reset() {
	clear(st.rows)
	*st = stats{rows: st.rows, blocked: st.blocked, peak: st.peak, buffers: st.buffers, overSince: st.overSince}
}

// received counts what a connection's read gave.
func (st *stats) received(n int) {
	st.netIn += int64(n)
	st.reads++
}

// wrote counts what a write to the session's connection took.
func (s *session) wrote(n int) {
	s.totalOut += int64(n)
	s.srv.stats.netOut += int64(n)
	s.srv.stats.writes++
}

// turned counts a turn of the event loop.
func (st *stats) turned(nanos int64) {
	st.turns++
	st.turnNanos += nanos
}

// commandNanos returns the time that all commands took.
func (st *stats) commandNanos() (n int64) {
	for i := range st.rows {
		n += st.rows[i].nanos
	}
	return n
}

// cpuTime is time on a processor in seconds.
type cpuTime struct{ sys, user float64 }

// rowStats count one row's calls; micros is time inside the handler.
type rowStats struct {
	calls, nanos, rejected, failed int64
	hist                           *histogram // made by the first call
}

// account notes one execution that began at the clock's start. Its end is the start of the next in the same pipeline,
// which spares a clock reading for each command.
func (srv *Server) account(s *session, row *commands.Row, args [][]byte, start int64, err error) {
	srv.mono = srv.clock.quick()
	nanos := srv.mono - start
	st := &srv.stats.rows[row.ID()]
	if commands.IsWait(err) {
		return // the run that serves it counts
	}
	s.totalCmds++
	st.calls++
	st.nanos += nanos
	srv.stats.commands++
	if srv.cfg.LatencyTracking {
		if st.hist == nil {
			st.hist = new(histogram)
		}
		st.hist.add(nanos)
	}
	if micros := nanos / 1000; micros >= srv.cfg.SlowlogLogSlowerThan {
		srv.noteSlow(s, row, args, micros)
	}
	if nanos > 1e6 {
		event := "command"
		if row.Has(commands.Fast) {
			event = "fast-command"
		}
		srv.spike(event, nanos)
	}
	if err != nil {
		st.failed++
		srv.stats.countError(err)
	}
}

// endedByError counts a call that waited and that err ends.
func (st *stats) endedByError(row *commands.Row, err error) {
	rs := &st.rows[row.ID()]
	rs.calls++
	rs.failed++
	st.commands++
	st.countError(err)
}

// maxErrorKinds bounds the error prefixes that are counted apart.
const maxErrorKinds = 128

// countError counts an error reply under its first word.
func (st *stats) countError(err error) {
	code, _, _ := strings.Cut(err.Error(), " ")
	if st.errors == nil {
		st.errors = map[string]int64{}
	}
	if _, ok := st.errors[code]; !ok && len(st.errors) >= maxErrorKinds {
		return
	}
	st.errors[code]++
}

// errorReplies returns how many error replies were counted.
func (st *stats) errorReplies() (n int64) {
	for _, k := range st.errors {
		n += k
	}
	return n
}

// rate is how fast something grows: the mean of the last samples.
type rate struct {
	value, base int64 // at the last sample
	samples     [16]int64
	next        int
	begun       bool
}

// sample notes that the value is now so much at such a base; scale is what a growth of both by one counts.
func (r *rate) sample(value, base, scale int64) {
	if r.begun {
		grown := int64(0)
		if passed := base - r.base; passed > 0 {
			grown = (value - r.value) * scale / passed
		}
		r.samples[r.next] = grown
		r.next = (r.next + 1) % len(r.samples)
	}
	r.value, r.base, r.begun = value, base, true
}

func (r *rate) mean() int64 {
	sum := int64(0)
	for _, n := range r.samples {
		sum += n
	}
	return sum / int64(len(r.samples))
}

// sample renews the rates; it is called about ten times a second.
func (st *stats) sample(now int64) {
	st.opsRate.sample(st.commands, now, 1000)
	st.inRate.sample(st.netIn, now, 1000)
	st.outRate.sample(st.netOut, now, 1000)
	st.turnRate.sample(st.turns, now, 1000)
	st.turnTime.sample(st.turnNanos/1000, st.turns, 1)
}
