package server

import (
	"errors"
	"hash/maphash"
	"slices"

	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/aof"
	"github.com/echomq/emqd/store/rdb"
)

// Refusals of CONFIG SET appendonly.
var (
	errWhileLoading = errors.New("the data is being read")
	errOldLog       = errors.New("there is a log in the directory whose data was not read at start: move it away, or start with appendonly yes")
)

// followAppendOnly turns the log on or off while the node serves.
func (srv *Server) followAppendOnly(cfg *Config) error {
	if srv.loading != nil {
		return errWhileLoading
	}
	if !cfg.AppendOnly {
		srv.stopLogging()
		return nil
	}
	if err := srv.mayLog(); err != nil {
		return err
	}
	srv.works.startDue, srv.works.startRetry = true, 0
	srv.startLogging()
	return nil
}

// mayLog takes the directory of the log. A log in it that this run of the node has not written is not given up.
func (srv *Server) mayLog() error {
	if srv.logged {
		return nil
	}
	if err := srv.fsys.MakeDir(srv.aofDir()); err != nil {
		return err
	}
	if _, ok := srv.fsys.(aof.Disk); ok {
		lock, err := lockDir(srv.aofDir(), 0)
		if err != nil {
			return err
		}
		srv.lock = lock
	}
	files, err := aof.Open(srv.fsys, srv.aofDir(), srv.cfg.AppendFilename, false)
	if err == nil && !files.Fresh() {
		err = errOldLog
	}
	if err != nil {
		srv.lock.release()
		srv.lock = dirLock{}
		return err
	}
	srv.logged = true
	return nil
}

// stopLogging ends the log, which keeps what was acknowledged until now.
func (srv *Server) stopLogging() {
	srv.commitLog()
	works, l := &srv.works, srv.aof
	works.startDue, works.rewriteDue = false, false
	if w := works.now; w != nil && w.rewrite {
		w.cancel()
	}
	srv.aof, srv.starting = nil, nil
	if l == nil {
		return
	}
	srv.logSeq = l.w.Seq()
	if err := l.close(); err != nil {
		srv.log.Error("the log is not ended as it should be", "error", err)
	}
	srv.log.Warn("appendonly is no: what changes from now on is not in the log")
}

// startLogging begins to make the data in memory a log. It does nothing while another work runs, and is tried again then.
func (srv *Server) startLogging() {
	works := &srv.works
	if works.now != nil || works.closed {
		return
	}
	works.startDue = false
	s := &logStart{
		srv: srv, epoch: srv.store.Epoch, seq: srv.logSeq, salt: newSalt(), databases: srv.store.Databases(),
		seen: map[uint64]struct{}{}, seed: maphash.MakeSeed(), changed: make([]map[string]struct{}, srv.store.Databases()),
	}
	for i := range s.changed {
		s.changed[i] = map[string]struct{}{}
	}
	srv.starting = s
	srv.log.Info("the data becomes a log", "keys", srv.store.Keys())
	srv.begin(true, s.run, s.done)
}

// logStart makes a log of the data in memory while commands go on. The base is written while the data changes: each key in it is as it was
// at some moment since the beginning. The keys that were changed since then are noted, and the first records of the increment
// make them what they are when everything else begins to be logged. The manifest names the files when all that is durable.
type logStart struct {
	srv       *Server
	epoch     int64
	seq       int64 // of the last record that the base holds
	salt      uint32
	databases int

	// The keyspace lock guards these.
	seen    map[uint64]struct{} // hashes of the keys that the base holds
	seed    maphash.Seed
	changed []map[string]struct{} // keys by database
	whole   bool                  // a whole database was changed at once

	files *aof.Log
	base  aof.Item
	size  int64
	log   *aofLog // once the effects go to it
}

// errChangedAll ends an attempt during which a database was emptied or swapped.
var errChangedAll = errors.New("a whole database was changed meanwhile")

// note takes the keys that effects change.
func (s *logStart) note(f *store.Effects) {
	var touches []store.Touch
	for i := range f.Len() {
		touches = f.AppendTouched(touches[:0], i)
		for _, t := range touches {
			if t.Key == nil {
				s.whole = true
				continue
			}
			s.change(t.DB, t.Key)
		}
	}
}

func (s *logStart) change(db int, key []byte) { s.changed[db][string(key)] = struct{}{} }

// leaveOut reports whether a key is left out of the base: one that it holds already, since the table is being resized, or
// one that the version of the format cannot hold. The increment has it then.
func (s *logStart) leaveOut(db int, key []byte, v *rdb.Value, version int) bool {
	var h maphash.Hash
	h.SetSeed(s.seed)
	_ = h.WriteByte(byte(db)) // it never fails; further databases share hashes, which is allowed
	_, _ = h.Write(key)
	sum := h.Sum64()
	_, out := s.seen[sum]
	s.seen[sum] = struct{}{}
	if !out && version < rdb.Version80 {
		out = slices.ContainsFunc(v.Fields, func(f rdb.Field) bool { return f.ExpireAt != 0 })
	}
	if out {
		s.change(db, key)
	}
	return out
}

func (s *logStart) run(w *work) error {
	srv := s.srv
	files, err := aof.Open(srv.fsys, srv.aofDir(), srv.cfg.AppendFilename, false)
	if err == nil {
		s.files = files
		err = files.BeginStart()
	}
	if err != nil {
		return err
	}
	f, item, err := files.Base()
	if err != nil {
		return err
	}
	s.base = item
	out := &looseWriter{w: w, mu: &srv.mu, to: pacedWriter{f: f}}
	out.writeBase(srv, &snapshot{seq: s.seq, leaveOut: s.leaveOut})
	s.size = out.to.at
	if err := errors.Join(out.err, f.Close()); err != nil {
		return err
	}
	writer, err := files.Increment(s.epoch, s.seq+1, s.salt)
	if err != nil {
		return err
	}
	if err := srv.makeReserve(files); err != nil {
		return errors.Join(err, writer.Close())
	}
	if err := s.catchUp(w, writer); err != nil {
		writer.Abandon()
		return err
	}
	if err := s.settle(writer); err != nil {
		return err
	}
	if err := files.Put(item, writer); err != nil {
		return err
	}
	if err := files.Clean(srv.easing(w)); err != nil {
		srv.log.Warn("cannot remove the old files of the log", "error", err)
	}
	return nil
}

// catchUp brings what has changed into the increment, and lets effects go to it from then on.
func (s *logStart) catchUp(w *work, to *aof.Writer) error {
	const rounds, few = 4, 100
	for round := 1; ; round++ {
		s.srv.mu.Lock()
		err := w.ctx.Err()
		if err == nil && s.whole {
			err = errChangedAll
		}
		if err != nil {
			s.srv.mu.Unlock()
			return err
		}
		start := s.srv.clock.nano()
		last := s.mirror(to) <= few || round == rounds
		if err = to.Flush(); last && err == nil {
			s.log = &aofLog{srv: s.srv, files: s.files, w: to, syncAt: s.srv.now}
			s.srv.aof, s.srv.starting = s.log, nil
		}
		s.srv.timed("aof-start", start)
		s.srv.mu.Unlock()
		if last || err != nil {
			return err
		}
		if err := to.Sync(); err != nil {
			return err
		}
	}
}

// mirror writes the keys that have changed as they are now, and returns how many these were.
func (s *logStart) mirror(to *aof.Writer) int {
	n := 0
	for db, keys := range s.changed {
		if len(keys) == 0 {
			continue
		}
		tx := s.srv.store.BeginReplay(db, s.srv.now)
		for key := range keys {
			tx.Mirror([]byte(key))
			if n++; n%100 == 0 {
				to.Append(tx.Effects())
				tx.Commit()
				tx = s.srv.store.BeginReplay(db, s.srv.now)
			}
		}
		if tx.Effects().Len() > 0 {
			to.Append(tx.Effects())
		}
		tx.Commit()
		clear(keys)
	}
	return n
}

// settle waits until what catchUp has written is durable.
func (s *logStart) settle(w *aof.Writer) error {
	mu, l := &s.srv.mu, s.log
	mu.Lock()
	at := w.Written()
	mu.Unlock()
	err := w.Side().Sync()
	mu.Lock()
	defer mu.Unlock()
	if err = w.Reached(at, err); err != nil && s.srv.aof == l {
		l.fail(err)
	}
	return err
}

// done notes the outcome. A log that has begun and is in no manifest is renewed; another one is begun anew.
func (s *logStart) done(_ *work, err error) {
	srv, works := s.srv, &s.srv.works
	if srv.starting == s {
		srv.starting = nil
	}
	switch {
	case !srv.cfg.AppendOnly:
		srv.log.Info("the data does not become a log: that was given up")
	case err == nil:
		works.startFailures = 0
		works.rewrites++
		s.log.stats.base, s.log.stats.others = s.size, s.size
		srv.log.Info("the data is a log from now on", "base", s.base.Name, "bytes", s.size, "increment", s.log.w.Name())
	case s.log != nil && srv.aof == s.log:
		s.log.fail(err)
	default:
		works.startDue = true
		works.startRetry = srv.clock.milli() + min(int64(100)<<min(works.startFailures, 9), 30_000)
		works.startFailures++
		srv.log.Error("the data is not a log yet", "error", err)
	}
}
