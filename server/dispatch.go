package server

import (
	"fmt"
	"runtime/debug"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store"
)

// dispatch answers one command of a session: finds its row, passes it through the gates, and queues or
// runs it. args alias the input buffer. The keyspace lock is held.
func (srv *Server) dispatch(s *session, args [][]byte) {
	s.active = srv.now
	row, err := srv.table.Find(args)
	if row != nil {
		s.lastRow = row
		if srv.unhindered(s, row, len(args)) {
			srv.execute(s, row, args)
			return
		}
		err = srv.admit(s, row, args)
	} else if crossProtocol(args[0]) {
		srv.log.Warn("possible cross-protocol attack: closing a client that speaks HTTP", "client", s.addr)
		s.end()
		return
	}
	switch {
	case err != nil:
		srv.reject(s, row, err)
	case srv.pause.holds(s, row):
		srv.hold(s, row, args)
	case s.tx != nil && !row.Has(commands.TxControl):
		s.tx.queue(row, args)
		s.answer(func(r *commands.Reply) { r.Simple("QUEUED") })
	default:
		srv.execute(s, row, args)
	}
}

// reject answers a command that did not run. Between MULTI and EXEC it spoils the transaction.
func (srv *Server) reject(s *session, row *commands.Row, err error) {
	switch {
	case row != nil && row.Has(commands.RunsQueue):
		s.tx = nil
		s.unwatch()
		err = abort(err)
	case s.tx != nil:
		s.tx.spoiled = true
	}
	if row != nil {
		srv.stats.rows[row.ID()].rejected++
	}
	srv.stats.countError(err)
	s.spent(row)
	s.answer(func(r *commands.Reply) { r.Error(err) })
}

// answer appends one command's reply unless the client has asked for silence.
func (s *session) answer(f func(*commands.Reply)) {
	if s.muted() {
		return
	}
	s.reply(f)
}

// muted reports whether the present command's reply is dropped, and counts it.
func (s *session) muted() bool {
	if s.hushed {
		s.hushed = false
		return true
	}
	if s.replySkip > 0 {
		s.replySkip--
		return true
	}
	return s.replyOff
}

// crossProtocol recognises the words by which an HTTP request betrays itself.
func crossProtocol(name []byte) bool {
	return commands.Is(name, "post") || commands.Is(name, "host:")
}

// execute runs a command that passed the gates, settles what it did and serves the clients that waited for it.
func (srv *Server) execute(s *session, row *commands.Row, args [][]byte) {
	err := srv.perform(s, row, args, s.tx == nil, false)
	if commands.IsWait(err) {
		until, keys := srv.call.Waiting()
		srv.park(s, row, args, until, keys)
		srv.serveSoon(s.db)
	}
	srv.finishUnblocks()
	srv.serveReady()
}

// perform runs a command into the session's output and settles it. The error is the handler's.
func (srv *Server) perform(s *session, row *commands.Row, args [][]byte, mayBlock, again bool) error {
	mute := s.muted()
	c := &srv.call
	c.Reply.Reset(s.output(), s.proto)
	mark := c.Reply.Mark()
	srv.running, c.Again = s, again
	err := srv.run(s, row, args, mayBlock)
	srv.running = nil
	if mute && !s.heard {
		c.Reply.Cut(mark)
	}
	s.heard, s.hushed = false, mute && commands.IsWait(err)
	s.out = c.Reply.Bytes()
	if len(s.later) > 0 {
		s.out = append(s.out, s.later...)
		s.later = s.later[:0]
	}
	srv.author = s
	srv.settle()
	srv.author = nil
	if len(s.out) > mark {
		s.conn.flush(s)
		s.checkOutput()
	}
	return err
}

// run executes one row on behalf of s into the present reply, with statistics. It leaves the transaction open.
func (srv *Server) run(s *session, row *commands.Row, args [][]byte, mayBlock bool) error {
	c := &srv.call
	start := srv.mono
	if !s.inExec {
		srv.now = start / 1e6
	}
	c.Tx = srv.store.Begin(s.db, srv.now, row.Has(commands.ReadOnly))
	if s.noTouch {
		c.Tx.NoTouch()
	}
	c.Args, c.Row, c.Host, c.Peer, c.MayBlock = args, row, s, s, mayBlock
	effects := c.Tx.Effects().Len()
	err := srv.guarded(c)
	if !c.Again {
		srv.feedMonitors(s, row, args)
	}
	srv.tell(c.Tx, row, effects)
	if s.tracking != nil {
		srv.remember(s, row, args)
		s.spent(row)
	}
	srv.account(s, row, args, start, err)
	return err
}

// guarded runs the call. A panic before its first effect is answered and logged; after it the process
// must not go on with half a transition and ends.
func (srv *Server) guarded(c *commands.Call) (err error) {
	mark, effects := c.Reply.Mark(), c.Tx.Effects().Len()
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		srv.log.Error("panic in a command", "command", c.Row.FullName(), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		if c.Tx.Effects().Len() != effects {
			panic(p)
		}
		c.Reply.Cut(mark)
		c.Reply.Error(commands.ErrInternal)
		err = commands.ErrInternal
	}()
	return c.Run()
}

// tell announces the effects from first on for a row that announces none itself.
func (srv *Server) tell(tx *store.Tx, row *commands.Row, first int) {
	if !row.Has(commands.KeyEvents) {
		return
	}
	tellEffects(tx, first)
	if srv.cfg.EMQEvents && srv.pubsub.any() {
		srv.noteLifecycle(row, first)
	}
}

// settle tells everyone who has an interest what the open transaction did, and ends it.
func (srv *Server) settle() {
	tx := srv.call.Tx
	f := tx.Effects()
	if n := f.Len(); n > 0 {
		if srv.watchers > 0 || srv.stats.blocked > 0 || srv.trackers > 0 {
			for i := range n {
				srv.touched(f, i)
			}
		}
		if srv.aof != nil {
			srv.aof.append(f)
		} else if srv.starting != nil {
			srv.starting.note(f)
		}
		if srv.pump.on {
			srv.pump.noteEffects(srv, f)
		}
	}
	if signals := tx.Signals(); len(signals) > 0 {
		srv.signalled(signals)
	}
	for _, e := range tx.Events() {
		srv.announce(e)
	}
	srv.announceLifecycle()
	tx.Commit()
	if srv.trackers > 0 {
		srv.tellTracking()
	}
	srv.tracked.told = 0
}
