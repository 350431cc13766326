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
	expireMore  bool
}

// reset sets the counters to nothing; what tells the present state stays.
func (st *stats) reset() {
	clear(st.rows)
	*st = stats{rows: st.rows, blocked: st.blocked, expireMore: st.expireMore}
}

// rowStats count one row's calls; micros is time inside the handler.
type rowStats struct {
	calls, nanos, rejected, failed int64
}

// account notes one execution that began at the clock's start.
func (srv *Server) account(s *session, row *commands.Row, args [][]byte, start int64, err error) {
	st := &srv.stats.rows[row.ID()]
	st.calls++
	st.nanos += srv.clock.nano() - start
	srv.stats.commands++
	if err != nil && !commands.IsWait(err) {
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
