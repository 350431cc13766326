package server

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/echomq/emqd/store/aof"
)

// works is the long work beside serving: writing snapshots and making the log short. One runs at a time. The
// keyspace lock guards it.
type works struct {
	build   builder
	step    int64         // in which files are cut before they are removed
	rest    time.Duration // between two steps
	now     *work         // the one that runs
	running sync.WaitGroup
	closed  bool

	saveDue    bool // BGSAVE SCHEDULE
	saved      time.Time
	savedDirty int64 // Store.Dirty at that time
	saveTried  int64 // Unix ms
	saveBad    bool
	saveTook   int64 // seconds, -1 before the first
	saves      int64
	noEndSave  bool // SHUTDOWN has decided it

	startDue      bool  // the data is to become a log
	startRetry    int64 // Unix ms before which that is not tried again
	startFailures int   // consecutive

	rewriteDue   bool
	rewriteBad   bool
	rewriteTook  int64
	rewrites     int64
	failures     int64 // consecutive
	rewriteRetry int64 // Unix ms before which no rewrite begins by itself
}

// work is one that runs.
type work struct {
	rewrite bool // otherwise a snapshot
	began   int64
	total   int64        // keys that there were when it began
	keys    atomic.Int64 // written so far
	ctx     context.Context
	cancel  context.CancelFunc
}

// begin notes that a work runs; done is called with the keyspace lock held when it has ended.
func (srv *Server) begin(rewrite bool, do func(w *work) error, done func(w *work, err error)) {
	w := &work{rewrite: rewrite, began: srv.now, total: srv.store.Keys()}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	srv.works.now = w
	srv.works.running.Go(func() {
		err := do(w)
		srv.mu.Lock()
		defer srv.mu.Unlock()
		w.cancel()
		srv.works.now = nil
		done(w, err)
		srv.wake()
	})
}

// progress returns how many keys the work that runs has written, and of how many; zeros when none runs.
func (w *works) progress() (done, total int64) {
	if w.now == nil {
		return 0, 0
	}
	return min(w.now.keys.Load(), w.now.total), w.now.total
}

// endWorks stops the work that runs and lets no other begin.
func (srv *Server) endWorks() {
	srv.mu.Lock()
	srv.works.closed = true
	if w := srv.works.now; w != nil {
		w.cancel()
	}
	srv.mu.Unlock()
	srv.works.running.Wait()
}

const (
	removeStep = 4 << 20
	removeRest = 2 * time.Millisecond
)

// easing is how w removes the files that it leaves behind: syncs of the log beside it wait for a step at most. When w is to end, at once.
func (srv *Server) easing(w *work) *aof.Easing {
	return &aof.Easing{Step: srv.works.step, Rest: func() bool {
		select {
		case <-w.ctx.Done():
			return false
		case <-time.After(srv.works.rest):
			return true
		}
	}}
}

// worksCron begins works that are due.
func (srv *Server) worksCron() {
	w := &srv.works
	if w.now != nil || w.closed || srv.loading != nil || srv.aof != nil && srv.aof.broken != nil {
		return
	}
	switch {
	case w.startDue:
		if srv.now >= w.startRetry {
			srv.startLogging()
		}
	case w.rewriteDue:
		srv.rewrite()
	case w.saveDue, srv.savePointReached():
		srv.saveBehind()
	default:
		if why := srv.rewriteReason(); why != "" {
			srv.log.Info("the log is to be written anew", "why", why, "bytes", srv.aof.bytes(), "base", srv.aof.stats.base,
				"increments", srv.aof.files.Increments())
			srv.rewrite()
		}
	}
}

// savePointReached reports whether one of the points of the setting save is reached.
func (srv *Server) savePointReached() bool {
	w := &srv.works
	if w.saveBad && srv.now-w.saveTried < 5000 {
		return false
	}
	changes := srv.changes()
	for _, p := range srv.cfg.Save {
		if changes >= p.changes && changes > 0 && srv.now-w.saved.UnixMilli() > p.seconds*1000 {
			srv.log.Info("a save point is reached", "changes", changes, "seconds", p.seconds)
			return true
		}
	}
	return false
}

// changes returns the changes since the last snapshot.
func (srv *Server) changes() int64 { return srv.store.Dirty() - srv.works.savedDirty }

// dumpName is the file of snapshots.
func (srv *Server) dumpName() string { return filepath.Join(srv.cfg.Dir, srv.cfg.DBFilename) }

// writeWhole makes a file, or replaces one, with what fill writes and makes durable: at once or not at all.
func writeWhole(fsys aof.FS, name string, fill func(aof.File) error) error {
	dir := filepath.Dir(name)
	temp := filepath.Join(dir, "temp-"+filepath.Base(name))
	if err := fsys.MakeDir(dir); err != nil {
		return err
	}
	if err := fsys.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := fsys.Create(temp)
	if err != nil {
		return err
	}
	err = fill(f)
	if err = errors.Join(err, f.Close()); err == nil {
		err = fsys.Rename(temp, name)
	}
	if err != nil {
		_ = fsys.Remove(temp) // the next one removes it otherwise
		return err
	}
	return fsys.SyncDir(dir)
}

// save writes a snapshot from memory while nothing else runs.
func (srv *Server) save() error {
	began, dirty := srv.clock.milli(), srv.store.Dirty()
	err := writeWhole(srv.fsys, srv.dumpName(), func(f aof.File) error {
		for srv.store.Reclaim(1 << 16) { // a table that is being resized would be met twice by a scan
		}
		w := &pacedWriter{f: f}
		n := &snapshot{store: srv.store, now: srv.clock.milli(), plain: !srv.cfg.RDBCompression, pause: func() {}}
		if srv.aof != nil {
			n.seq = srv.aof.w.Seq()
		}
		if err := n.write(w); err != nil {
			return err
		}
		return w.close()
	})
	srv.savedTo(began, dirty, err)
	return err
}

// saveNow writes the snapshot that saveBehind cannot write behind.
func (srv *Server) saveNow() { srv.works.saveBad = srv.save() != nil }

// saveAtEnd writes the snapshot of a node that stops and has save points, unless SHUTDOWN has said otherwise.
func (srv *Server) saveAtEnd() error {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if len(srv.cfg.Save) == 0 || srv.works.noEndSave || srv.loading != nil {
		return nil
	}
	return srv.save()
}

// savedTo notes the outcome of a snapshot. That one has failed counts only for those in the background, of whose failure nobody
// else is told.
func (srv *Server) savedTo(began, dirty int64, err error) {
	w := &srv.works
	w.saveTook = (srv.clock.milli() - began) / 1000
	if err != nil {
		srv.log.Error("the snapshot is not written", "file", srv.dumpName(), "error", err)
		return
	}
	w.saved, w.savedDirty = time.UnixMilli(srv.clock.milli()), dirty
	w.saves++
	w.saveBad = false
	srv.log.Info("a snapshot is written", "file", srv.dumpName(), "seconds", w.saveTook)
}

// saveBehind writes a snapshot in the background: from the log, of which what is written stays as it is. Without a log
// there is nothing that stands still but memory, and it is written at once.
func (srv *Server) saveBehind() {
	works, l := &srv.works, srv.aof
	works.saveDue, works.saveTried = false, srv.now
	if l != nil && l.broken == nil {
		if err := l.w.Flush(); errors.Is(err, aof.ErrFull) {
			l.squeeze()
		} else if err != nil {
			l.fail(err)
		}
	}
	if l == nil || l.broken != nil || l.w.Buffered() > 0 {
		srv.saveNow()
		return
	}
	m, dirty, name := l.files.Before(l.w.Name(), true), srv.store.Dirty(), srv.dumpName()
	order := srv.order(m, l.w.Written().Pos, false)
	srv.begin(false, func(w *work) error {
		order.told = w.keys.Store
		return writeWhole(srv.fsys, name, func(f aof.File) error {
			_, err := works.build(w.ctx, order, f)
			return err
		})
	}, func(w *work, err error) {
		if errors.Is(err, context.Canceled) {
			srv.log.Info("the snapshot is not written: that was given up")
			return
		}
		srv.savedTo(w.began, dirty, err)
		works.saveBad = err != nil
	})
}

// order returns the order for the RDB file of what m holds.
func (srv *Server) order(m aof.Manifest, end int64, base bool) *buildOrder {
	return &buildOrder{
		Dir: srv.aofDir(), Prefix: srv.cfg.AppendFilename, Manifest: string(m.Append(nil)), End: end,
		Databases: srv.cfg.Databases, Base: base, Plain: !srv.cfg.RDBCompression,
	}
}
