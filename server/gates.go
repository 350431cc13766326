package server

import "github.com/echomq/emqd/commands"

// Refusals of the gates.
const (
	errNoAuth      commands.Error = "NOAUTH Authentication required."
	errNotInMulti  commands.Error = "ERR Command not allowed inside a transaction"
	errLoading     commands.Error = "LOADING emqd is loading the dataset in memory"
	errReadOnlyRow commands.Error = "READONLY You can't write against a read only replica."
	errNoSnapshot  commands.Error = "MISCONF Valkey is configured to save RDB snapshots, but it's currently unable to persist to disk. " +
		"Commands that may modify the data set are disabled, because this instance is configured to report errors during writes if RDB " +
		"snapshotting fails (stop-writes-on-bgsave-error option). Please check the Valkey logs for details about the RDB error."
)

// gates are what a command passes before it runs, in this order. Each reads only the row, the session and the
// server's state; the first refusal is the reply. What one of them looks at, unhindered looks at too.
var gates = []func(*Server, *session, *commands.Row, [][]byte) error{
	gateArity, gateAuth, gateMulti, gateACL, gateMemory, gateLog, gateSubscriber, gateLoading,
}

// admit passes a command through the gates.
func (srv *Server) admit(s *session, row *commands.Row, args [][]byte) error {
	for _, gate := range gates {
		if err := gate(srv, s, row, args); err != nil {
			return err
		}
	}
	return nil
}

// unhindered reports whether nothing in the state of the session and the server can refuse the command, hold it back or queue
// it, so that it runs at once. It is so for nearly all commands, and asking this first instead of the gates one by one saves
// a PING a tenth of its instructions. It may say no where they would say yes, never the other way round.
func (srv *Server) unhindered(s *session, row *commands.Row, args int) bool {
	return row.ArityOK(args) && s.authed && s.tx == nil && s.user.rules.full && srv.loading == nil &&
		(srv.cfg.MaxMemory == 0 || !row.Has(commands.DenyOOM)) &&
		gateLog(srv, s, row, nil) == nil && !s.subscriber() && !srv.pause.active(srv.now)
}

func gateArity(_ *Server, _ *session, row *commands.Row, args [][]byte) error {
	if !row.ArityOK(len(args)) {
		return commands.ErrArity(row.FullName())
	}
	return nil
}

func gateAuth(_ *Server, s *session, row *commands.Row, _ [][]byte) error {
	if !row.Has(commands.NoAuth) && s.needsAuth() {
		return errNoAuth
	}
	return nil
}

func gateSubscriber(_ *Server, s *session, row *commands.Row, _ [][]byte) error {
	if s.proto == 2 && s.subscriber() && !row.Has(commands.SubscriberMode) {
		return commands.Error("ERR Can't execute '" + row.FullName() +
			"': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context")
	}
	return nil
}

func gateMulti(_ *Server, s *session, row *commands.Row, _ [][]byte) error {
	if s.tx != nil && row.Has(commands.NoMulti) {
		return errNotInMulti
	}
	return nil
}

func gateMemory(srv *Server, _ *session, row *commands.Row, _ [][]byte) error {
	if row.Has(commands.DenyOOM) && !row.Has(commands.OwnGuard) {
		return srv.memoryGuard(row)
	}
	return nil
}

// memoryGuard refuses a deny-oom row above the memory limit, and a row that admits new work already below it
// by the reserve, so that a full node can drain.
func (srv *Server) memoryGuard(row *commands.Row) error {
	limit := srv.cfg.MaxMemory
	if limit == 0 || !row.Has(commands.DenyOOM) {
		return nil
	}
	if row.Has(commands.Admission) {
		limit -= srv.cfg.AdmissionReserve.Bytes(limit)
	}
	used := srv.countedMemory()
	for used > limit && srv.store.Pending() > 0 {
		srv.store.Reclaim(1 << 16)
		used = srv.countedMemory()
	}
	if used > limit {
		return commands.ErrOOM
	}
	return nil
}

// Guard is commands.Host's: the write guard for rows that check it themselves.
func (s *session) Guard(row *commands.Row) error { return s.srv.guard(row) }

func (srv *Server) guard(row *commands.Row) error {
	if err := srv.memoryGuard(row); err != nil {
		return err
	}
	return srv.logGuard(row)
}

func gateLog(srv *Server, _ *session, row *commands.Row, _ [][]byte) error {
	if row.Has(commands.Write) && !row.Has(commands.OwnGuard) {
		return srv.logGuard(row)
	}
	return nil
}

// logGuard refuses writes that the log cannot take, and all of them when the last snapshot has failed and save points are to
// keep the data.
func (srv *Server) logGuard(row *commands.Row) error {
	if srv.snapshotFailed() {
		return errNoSnapshot
	}
	if srv.aof == nil {
		return nil
	}
	return srv.aof.refusal(row.Has(commands.DenyOOM))
}

// snapshotFailed reports whether writes are refused because the last snapshot in the background is not there.
func (srv *Server) snapshotFailed() bool {
	return srv.works.saveBad && srv.cfg.StopWritesOnBgsaveError && len(srv.cfg.Save) > 0
}

// mayChange reports whether the node itself may change the keyspace: remove what has expired.
func (srv *Server) mayChange() bool {
	return srv.loading == nil && (srv.aof == nil || srv.aof.refusal(false) == nil)
}

// misconf is the refusal of writes while the log cannot be written.
func misconf(why error) error {
	return commands.Error("MISCONF Errors writing to the AOF file: " + oneLine(why.Error()))
}

func gateLoading(srv *Server, _ *session, row *commands.Row, _ [][]byte) error {
	if srv.loading != nil && !row.Has(commands.Loading) {
		return errLoading
	}
	return nil
}
