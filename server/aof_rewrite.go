package server

import (
	"context"
	"errors"

	"github.com/echomq/emqd/store/aof"
)

// bytes returns the size of the log without what is kept ahead of it.
func (l *aofLog) bytes() int64 { return l.stats.others + l.w.Written().Pos }

// manyIncrements is the number of increments beyond which the log is written anew whatever its size: each start of a node adds one.
const manyIncrements = 64

// rewriteReason returns why the log is to be written anew by itself, "" when it is not.
func (srv *Server) rewriteReason() string {
	l, percentage := srv.aof, srv.cfg.AutoAOFRewritePercentage
	if l == nil || l.broken != nil || l.tight || percentage == 0 || srv.now < srv.works.rewriteRetry {
		return ""
	}
	size := l.bytes()
	switch {
	case size >= srv.cfg.AutoAOFRewriteMinSize && (size-l.stats.base)*100/max(l.stats.base, 1) >= percentage:
		return "it has grown"
	case l.files.Increments() > manyIncrements:
		return "it is in many files"
	}
	return ""
}

// rewrite begins to make the log short: the records go on in a new increment, and in the background everything
// before it becomes a new base. It does nothing while another work runs. From a log that is broken the way is memory.
func (srv *Server) rewrite() {
	l := srv.aof
	if srv.works.now != nil || srv.works.closed {
		return
	}
	srv.works.rewriteDue = false
	if l.broken != nil {
		l.retryAt = srv.now
		return
	}
	srv.log.Info("writing the log anew", "bytes", l.bytes())
	salt, dirty := newSalt(), srv.cfg.AppendFsync != "always"
	var r rewriting
	srv.begin(true, func(w *work) error {
		staged, err := l.files.Stage(srv.store.Epoch, salt)
		if err != nil {
			return err
		}
		if dirty { // so that little is left for the loop to wait for
			if err := l.w.Side().Sync(); err != nil {
				srv.mu.Lock()
				defer srv.mu.Unlock()
				l.fail(err)
				return errors.Join(err, staged.Abandon())
			}
		}
		if err := l.moveTo(w, staged, &r); err != nil {
			return errors.Join(err, staged.Abandon())
		}
		return r.finish(w)
	}, func(w *work, err error) { l.rewritten(w, &r, err) })
}

// rewriting is a rewrite on its way.
type rewriting struct {
	l       *aofLog
	old     aof.Manifest // what becomes the base
	writer  *aof.Writer  // of the last increment of it
	filling *filling     // ahead of that
	sealed  int64        // bytes of old
	base    built
}

// moveTo lets the records go on in staged.
func (l *aofLog) moveTo(w *work, staged *aof.Staged, r *rewriting) error {
	l.srv.mu.Lock()
	defer l.srv.mu.Unlock()
	defer l.srv.timed("aof-rewrite", l.srv.clock.nano())
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if l.broken != nil {
		return l.broken
	}
	if l.awaitRoom(); l.broken != nil {
		return l.broken
	}
	if err := l.w.Sync(); errors.Is(err, aof.ErrFull) {
		l.squeeze()
		return err
	} else if err != nil {
		l.fail(err)
		return err
	}
	r.l, r.old, r.writer, r.filling = l, l.files.Before(l.w.Name(), true), l.w, l.filling
	r.sealed = l.bytes()
	l.stats.others = r.sealed
	l.w, l.filling = staged.Begin(l.w), nil
	return nil
}

// finish makes the base and puts it in force.
func (r *rewriting) finish(w *work) error {
	if r.filling != nil {
		<-r.filling.done // nobody uses what it has made
	}
	srv := r.l.srv
	if err := r.writer.Seal(); err != nil {
		return err
	}
	f, item, err := r.l.files.Base()
	if err != nil {
		return err
	}
	order := srv.order(r.old, 0, true)
	order.told = w.keys.Store
	r.base, err = srv.works.build(w.ctx, order, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, r.l.files.Discard(item))
	}
	if err := w.ctx.Err(); err != nil {
		return errors.Join(err, r.l.files.Discard(item))
	}
	return r.l.files.Switch(item, r.old, srv.easing(w))
}

// rewritten notes the outcome.
func (l *aofLog) rewritten(w *work, r *rewriting, err error) {
	srv, works := l.srv, &l.srv.works
	works.rewriteTook = (srv.clock.milli() - w.began) / 1000
	if errors.Is(err, context.Canceled) {
		srv.log.Info("the log is not written anew: that was given up")
		return
	}
	works.rewriteBad = err != nil
	if err != nil {
		works.failures++
		works.rewriteRetry = srv.clock.milli() + min(int64(60_000)<<min(works.failures-1, 6), 3_600_000)
		srv.log.Error("the log is not written anew; it is as good as before", "error", err)
		return
	}
	works.failures, works.rewriteRetry = 0, 0
	works.rewrites++
	l.stats.others += r.base.Bytes - r.sealed
	l.stats.base = r.base.Bytes
	srv.log.Info("the log is written anew", "keys", r.base.Keys, "before", r.sealed, "base", r.base.Bytes, "seconds", works.rewriteTook)
}
