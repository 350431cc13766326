package server

import (
	"strings"

	"github.com/echomq/emqd/commands"
)

// stats are the node's counters beside the store's.
type stats struct {
	rows        []rowStats // by row ID
	errors      map[string]int64
	commands    int64
	connections int64
	rejected    int64
	netIn       int64
	netOut      int64
	blocked     int
	peak        int64    // highest memory seen
	opsAt       [2]int64 // commands and Unix ms at the last two samples, for the rate
	ops         int64
}

// reset sets the counters to nothing; what tells the present state stays.
func (st *stats) reset() {
	clear(st.rows)
	*st = stats{rows: st.rows, blocked: st.blocked}
}

// rowStats count one row's calls; micros is time inside the handler.
type rowStats struct {
	calls, nanos, rejected, failed int64
	hist                           *histogram // made by the first call
}

// account notes one execution that began at the clock's start. Its end is the start of the next in the same pipeline,
// which spares a clock reading for each command.
func (srv *Server) account(s *session, row *commands.Row, args [][]byte, start int64, err error) {
	srv.mono = srv.clock.nano()
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

// sampleOps renews the rate of commands; it is called about ten times a second.
func (st *stats) sampleOps(now int64) {
	if passed := now - st.opsAt[1]; passed > 0 {
		rate := (st.commands - st.opsAt[0]) * 1000 / passed
		st.ops += (rate - st.ops) / 4
		st.opsAt = [2]int64{st.commands, now}
	}
}

// opsPerSecond returns the recent rate of commands.
func (st *stats) opsPerSecond() int64 { return max(st.ops, 0) }
