package server

import (
	"slices"

	"github.com/echomq/emqd/commands"
)

// pause is CLIENT PAUSE: until when which commands wait.
type pause struct {
	writes int64 // Unix ms until which commands that may write wait
	all    int64 // Unix ms until which every command waits
	held   []*waiter
}

// active reports whether anything is paused at the instant now.
func (p *pause) active(now int64) bool { return now < p.writes || now < p.all }

// describe returns why clients are paused, what waits, and for how many ms from now on, in the words of INFO.
func (p *pause) describe(now int64) (reason, actions string, left int64) {
	switch {
	case now < p.all:
		return "client_pause", "all", p.all - now
	case now < p.writes:
		return "client_pause", "write", p.writes - now
	}
	return "none", "none", 0
}

// holds reports whether a command has to wait now. EXEC counts as what it would run.
func (p *pause) holds(s *session, row *commands.Row) bool {
	now := s.srv.now
	switch {
	case !p.active(now) || row.Has(commands.PauseExempt):
		return false
	case now < p.all:
		return true
	}
	return mayWrite(row) || row.Has(commands.RunsQueue) && s.tx != nil && slices.ContainsFunc(s.tx.rows, mayWrite)
}

func mayWrite(row *commands.Row) bool {
	return row.Flags&(commands.Write|commands.MayReplicate|commands.PauseWrite) != 0
}

// hold keeps a command that arrived during a pause; the session waits.
func (srv *Server) hold(s *session, row *commands.Row, args [][]byte) {
	w := &waiter{s: s, row: row, args: cloneArgs(args), bytes: argsBytes(args), db: s.db, held: true}
	s.waiting = w
	srv.stats.blocked++
	srv.pause.held = append(srv.pause.held, w)
}

// unpause runs the held commands when their pause is over, in the order in which they came.
func (srv *Server) unpause() {
	if len(srv.pause.held) == 0 {
		return
	}
	list := srv.pause.held
	srv.pause.held = nil
	for _, w := range list {
		if w.s.waiting != w {
			continue
		}
		if srv.pause.holds(w.s, w.row) {
			srv.pause.held = append(srv.pause.held, w)
			continue
		}
		srv.unpark(w)
		srv.stamp()
		srv.dispatch(w.s, w.args)
		if len(w.s.in) > 0 {
			w.s.conn.resume(w.s)
		}
	}
}
