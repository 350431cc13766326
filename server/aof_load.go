package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/echomq/emqd/store/aof"
	"github.com/echomq/emqd/store/rdb"
)

// loading is how far the data is read at start. The keyspace lock guards it.
type loading struct {
	total, done int64 // bytes
	began       int64 // Unix ms
	toldAt      int64
}

// percent returns how much is read.
func (p *loading) percent() float64 {
	if p.total == 0 {
		return 100
	}
	return min(100*float64(p.done)/float64(p.total), 100)
}

// left returns the seconds that the rest will take.
func (p *loading) left(now int64) int64 {
	if p.done == 0 {
		return 1
	}
	return (now - p.began) * (p.total - p.done) / p.done / 1000
}

// quietLoad is how many bytes are read before the listeners are opened: too few for anyone to ask how long it takes.
const quietLoad = 4 << 20

// prepare finds the data of the node, and reads it when it is little. It returns what is left to be done once the
// listeners are open: load, which is nil when there is nothing.
func (srv *Server) prepare(ctx context.Context) (load func(), err error) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	files, lock, err := srv.openLog()
	if err != nil {
		return nil, err
	}
	read := func() error {
		if err := srv.load(ctx, files, lock); err != nil {
			lock.release()
			if ctx.Err() == nil { // otherwise the node is to stop anyway
				return err
			}
		}
		return nil
	}
	if files == nil || files.Bytes() <= quietLoad {
		return nil, read()
	}
	srv.loading = &loading{total: files.Bytes(), began: srv.clock.milli()}
	return func() {
		srv.mu.Lock()
		defer srv.mu.Unlock()
		if err := read(); err != nil {
			srv.stop(err)
		}
		srv.wake()
	}, nil
}

// openLog opens the files of the log. Without appendonly it is the snapshot alone, as a log that is never started;
// nil when there is none.
func (srv *Server) openLog() (*aof.Log, dirLock, error) {
	var lock dirLock
	dump := filepath.Join(srv.cfg.Dir, srv.cfg.DBFilename)
	dumped, err := srv.holds(dump)
	if err != nil {
		return nil, lock, err
	}
	if !srv.cfg.AppendOnly {
		if names, err := srv.fsys.Names(srv.aofDir()); err == nil && len(names) > 0 {
			srv.log.Warn("appendonly is no: the log in this directory is not read", "dir", srv.aofDir())
		}
		if !dumped {
			return nil, lock, nil
		}
		files, err := aof.Snapshot(srv.fsys, dump)
		return files, lock, err
	}
	if err := srv.fsys.MakeDir(srv.aofDir()); err != nil {
		return nil, lock, err
	}
	if _, ok := srv.fsys.(aof.Disk); ok {
		if lock, err = lockDir(srv.aofDir(), lockPatience); err != nil {
			return nil, lock, err
		}
	}
	files, err := srv.openFiles(dump, dumped)
	if err != nil {
		lock.release()
	}
	return files, lock, err
}

// openFiles opens the log and gives a fresh one the data that there is from before: an append-only file of one part,
// as Redis 6 wrote it, or a snapshot.
func (srv *Server) openFiles(dump string, dumped bool) (*aof.Log, error) {
	single := filepath.Join(srv.cfg.Dir, srv.cfg.AppendFilename)
	lone, err := srv.holds(single)
	if err != nil {
		return nil, err
	}
	files, err := aof.Open(srv.fsys, srv.aofDir(), srv.cfg.AppendFilename, dumped || lone)
	if err != nil || !files.Fresh() {
		return files, err
	}
	from := dump
	if lone {
		from = single
	}
	if lone || dumped {
		srv.log.Info("the log starts from the data in an older file, which stays as it is", "file", from)
		err = files.Import(from)
	}
	return files, err
}

// holds reports whether there is a file with something in it.
func (srv *Server) holds(name string) (bool, error) {
	f, err := srv.fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	size, err := f.Size()
	return size > 0, errors.Join(err, f.Close())
}

// loadedStats are what INFO tells of the last reading.
type loadedStats struct{ keys, expired int64 }

// load reads the data and begins to write the log.
func (srv *Server) load(ctx context.Context, files *aof.Log, lock dirLock) error {
	if files == nil {
		srv.install()
		return nil
	}
	began := time.Now()
	// Much is allocated here and little of it is garbage: the collector would take a twentieth of the time.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	r := &replayer{srv: srv, ctx: ctx, now: srv.clock.milli(), snapshot: !srv.cfg.AppendOnly || files.Fresh()}
	if err := files.ReplayAhead(r); err != nil {
		var damage *aof.Damage
		if errors.As(err, &damage) {
			return fmt.Errorf("the log is damaged and emqd does not start on it: %w. "+
				"\"emqd repair %s OUT\" writes a copy with everything else", err, srv.aofDir())
		}
		return err
	}
	if r.refused > 0 {
		srv.log.Warn("commands of another server's log were refused, as they were there", "commands", r.refused)
	}
	state := files.State()
	if s := state.Skipped; s != (rdb.Skipped{}) {
		srv.log.Warn("the base holds what emqd does not serve, and that is left out", "function_libraries", s.Functions,
			"data_of_modules", s.ModuleAux, "slot_migrations", s.SlotImports, "empty_keys", s.EmptyKeys)
	}
	if srv.cfg.AppendOnly {
		if err := srv.startLog(files, lock); err != nil {
			return err
		}
	}
	srv.loading = nil
	srv.works.savedDirty = srv.store.Dirty()
	srv.loaded = loadedStats{keys: state.Keys, expired: r.expired}
	srv.log.Info("the data is read", "keys", state.Keys, "records", state.Records, "bytes", state.Bytes,
		"seconds", time.Since(began).Seconds(), "epoch", srv.store.Epoch)
	srv.install()
	srv.commitLog()
	return nil
}

// startLog opens the increment that this run writes.
func (srv *Server) startLog(files *aof.Log, lock dirLock) error {
	state := files.State()
	l := &aofLog{srv: srv, files: files}
	l.stats.records, l.stats.checksums = state.Records, state.Flaws
	if t := state.Tail; t != nil {
		if !srv.cfg.AOFLoadTruncated && !t.Garbage {
			return fmt.Errorf("%s ends with %s, %d bytes at byte %d, record %d, and aof-load-truncated is no: "+
				"set it to yes, or use \"emqd repair\"", t.File, t.Why, t.Bytes, t.Offset, t.Seq)
		}
		l.stats.discarded = t.Bytes
		srv.log.Warn("the end of the log is dropped; it was not acknowledged", "file", t.File, "what", t.Why,
			"offset", t.Offset, "bytes", t.Bytes, "record", t.Seq, "kept_aside", t.Garbage)
	}
	w, err := files.Start(state.Epoch+1, newSalt())
	if err != nil {
		return err
	}
	if err := srv.makeReserve(files); err != nil {
		return err
	}
	l.w, l.syncAt = w, srv.now
	l.stats.base, l.stats.others = files.BaseBytes(), files.Bytes()
	srv.store.Epoch, srv.aof, srv.lock, srv.logged = w.Epoch(), l, lock, true
	return nil
}

// makeReserve makes the reserve, if there is room for it.
func (srv *Server) makeReserve(files *aof.Log) error {
	err := files.Reserve(reserveBytes)
	if errors.Is(err, aof.ErrFull) {
		srv.log.Warn("there is no room for the reserve of the log", "dir", srv.aofDir())
		return nil
	}
	return err
}
