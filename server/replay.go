package server

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store/aof"
	"github.com/echomq/emqd/store/rdb"
)

// replayer does what a log says again: it is the Reader of aof.Log.Replay and the host of the handlers, which it lets do
// everything. Its methods are called with the keyspace lock held, which Progress gives away for a moment.
type replayer struct {
	srv      *Server
	ctx      context.Context
	now      int64
	pace     *pace
	snapshot bool // keys of the base whose time has come are left out
	stopped  error
	expired  int64
	refused  int64
	call     commands.Call
	reply    commands.Reply
	buf      []byte
}

// errTooFewDatabases refuses data of databases that the node does not have.
var errTooFewDatabases = errors.New("the setting databases is too small for this data")

// Key is aof.Reader's.
func (r *replayer) Key(e *rdb.Entry) error {
	s := r.srv.store
	if e.DB >= s.Databases() {
		return fmt.Errorf("%w: it uses database %d", errTooFewDatabases, e.DB)
	}
	if r.stopped != nil {
		return r.stopped
	}
	if r.snapshot && e.ExpireAt != 0 && e.ExpireAt <= r.now {
		r.expired++
		return nil
	}
	tx := s.BeginReplay(e.DB, r.now)
	defer tx.Commit()
	if !tx.Load(e.Key, &e.Value, e.ExpireAt) {
		return errors.New("the key is there twice")
	}
	r.pace.step()
	return nil
}

// Expect is aof.Reader's.
func (r *replayer) Expect(db int, keys int64) {
	if db < r.srv.store.Databases() {
		r.srv.store.Reserve(db, int(keys))
	}
}

// Soon is aof.Reader's.
func (r *replayer) Soon(db int, key, member []byte) {
	s := r.srv.store
	switch {
	case db >= s.Databases(): // which is an error later
	case member == nil:
		s.Touch(db, key)
	default:
		s.TouchMember(db, key, member)
	}
}

// Record is aof.Reader's.
func (r *replayer) Record(rec *aof.Record) error {
	if r.stopped != nil {
		return r.stopped
	}
	for i := range rec.Commands {
		if err := r.run(&rec.Commands[i], rec.Seq > 0); err != nil {
			return err
		}
	}
	r.pace.step()
	return nil
}

// run runs one command. In a log of ours every command succeeds; other servers log what failed, too, and are
// not affected by it.
func (r *replayer) run(cmd *aof.Command, ours bool) error {
	c, s := &r.call, r.srv.store
	if cmd.DB >= s.Databases() {
		return fmt.Errorf("%w: it uses database %d", errTooFewDatabases, cmd.DB)
	}
	row, err := r.srv.table.Find(cmd.Args)
	if err != nil {
		return fmt.Errorf("cannot do %q again: %w", clip(cmd.Args[0]), err)
	}
	if !row.ArityOK(len(cmd.Args)) {
		return fmt.Errorf("cannot do %q again: %w", clip(cmd.Args[0]), commands.ErrArity(row.FullName()))
	}
	if !row.Has(commands.Write) {
		return nil
	}
	r.reply.Reset(r.buf[:0], 2)
	c.Tx, c.Args, c.Row, c.Table, c.Host, c.Reply = s.BeginReplay(cmd.DB, r.now), cmd.Args, row, r.srv.table, r, &r.reply
	err = c.Run()
	c.Tx.Commit()
	if cap(r.reply.Bytes()) <= 1<<16 {
		r.buf = r.reply.Bytes()
	}
	if err != nil && ours {
		return fmt.Errorf("cannot do %s again: %w", row.FullName(), err)
	}
	if err != nil {
		r.refused++
	}
	return nil
}

func clip(b []byte) []byte { return b[:min(len(b), 128)] }

// Progress is aof.Reader's. It lets the event loop have a turn, and ends the reading when the node is to stop.
func (r *replayer) Progress(bytes int64) {
	r.stopped = r.ctx.Err()
	p := r.srv.loading
	if p == nil {
		return
	}
	p.done = bytes
	now := r.srv.clock.milli()
	if now-p.toldAt >= 1000 {
		p.toldAt = now
		r.srv.log.Info("reading the data", "percent", int(p.percent()), "bytes", p.done, "of", p.total, "seconds_left", p.left(now))
	}
	r.srv.mu.Unlock()
	runtime.Gosched()
	r.srv.mu.Lock()
}

// Allows is commands.Host's.
func (r *replayer) Allows([]byte, commands.KeyFlags) bool { return true }

// Guard is commands.Host's.
func (r *replayer) Guard(*commands.Row) error { return nil }

// Publish is commands.Host's.
func (r *replayer) Publish(_, _ []byte) int64 { return 0 }
