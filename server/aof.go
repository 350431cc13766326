package server

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/aof"
)

// aofLog is the node's log while it is written. The keyspace lock guards it.
//
// Its health: as long as writes and syncs succeed it is well. When the disk is full it is tight: verbs that bring
// something new are refused, the others use what room there is. After a failed write or sync it is broken: the increment
// is not trusted any more, and every write is refused until the data in memory was written anew.
type aofLog struct {
	srv   *Server
	files *aof.Log
	w     *aof.Writer

	authors []*session // whose replies wait for the next commit
	forced  bool       // this turn's commit syncs whatever appendfsync says
	syncing bool       // a sync runs in the background
	syncAt  int64      // Unix ms of the last sync
	filling *filling   // of the region ahead, in the background

	broken    error // why the increment is not trusted
	tight     bool
	retryAt   int64 // Unix ms of the next attempt to get well
	retries   int
	renewing  bool // the data in memory is being written anew
	reserving bool // the reserve is being made again
	stats     aofStats
}

// aofStats are what INFO tells of the log.
type aofStats struct {
	syncs     histogram
	delayed   int64 // turns in which a sync of the last second was still running
	records   int64 // read at start
	discarded int64 // bytes dropped at start
	checksums int64 // damages found at start
	base      int64 // bytes of the base
	others    int64 // bytes of the files other than the one that is written
	renewals  int64
}

// append adds the effects of a transaction to the log.
func (l *aofLog) append(f *store.Effects) {
	if l.broken == nil { // otherwise the data in memory is what will be written, and this is in it
		l.w.Append(f)
	}
	if a := l.srv.author; a != nil && !a.unlogged {
		a.unlogged = true
		l.authors = append(l.authors, a)
	}
}

// commitLog makes what was done as durable as appendfsync promises. It is called before replies are sent: when it
// fails, the replies of those who wrote are not.
func (srv *Server) commitLog() {
	if srv.aof != nil && (len(srv.aof.authors) > 0 || srv.aof.w.Buffered() > 0 || srv.aof.forced) {
		srv.aof.commit()
	}
}

func (l *aofLog) commit() {
	if l.broken == nil {
		err := l.write()
		switch {
		case errors.Is(err, aof.ErrFull):
			l.squeeze()
			l.disown(err)
		case err != nil:
			l.fail(err)
		}
	}
	if l.broken != nil {
		l.disown(l.broken)
	}
	for _, s := range l.authors {
		s.unlogged = false
	}
	clear(l.authors)
	l.authors, l.forced = l.authors[:0], false
}

// write writes and, if it is promised, syncs.
func (l *aofLog) write() error {
	if l.awaitRoom(); l.broken != nil {
		return l.broken
	}
	always := l.forced || l.srv.cfg.AppendFsync == "always"
	if !always {
		if err := l.flush(); err != nil {
			return err
		}
	} else if l.w.Pending() {
		start := l.srv.clock.nano()
		if err := l.w.Sync(); err != nil {
			return err
		}
		end := l.srv.clock.nano()
		l.stats.syncs.add(end - start)
		if end-start > 1e6 {
			l.srv.spike("aof-fsync-always", end-start)
		}
		l.syncAt = end / 1e6
	}
	l.fillAhead()
	return nil
}

// flush writes what was appended and notes when that took long, as what Valkey calls it.
func (l *aofLog) flush() error {
	if l.srv.cfg.LatencyMonitorThreshold <= 0 { // spares two readings of the clock
		return l.w.Flush()
	}
	start := l.srv.clock.nano()
	err := l.w.Flush()
	took := l.srv.clock.nano() - start
	l.srv.spike("aof-write", took)
	switch {
	case l.syncing:
		l.srv.spike("aof-write-pending-fsync", took)
	case l.srv.works.now != nil:
		l.srv.spike("aof-write-active-child", took)
	default:
		l.srv.spike("aof-write-alone", took)
	}
	return err
}

// disown ends the connections whose replies must not be sent.
func (l *aofLog) disown(why error) {
	for _, s := range l.authors {
		if !s.dead && len(s.out) > 0 {
			l.srv.log.Warn("closing a client whose write is not in the log", "client", s.addr, "error", why)
			s.end()
		}
	}
}

// fail ends the use of the increment.
func (l *aofLog) fail(err error) {
	if l.broken != nil {
		return
	}
	l.broken = err
	l.retries = 0
	l.retryAt = l.srv.now + 1000
	l.srv.log.Error("the log cannot be written: writes are refused, reads go on, and the data will be written anew", "error", err)
}

// squeeze notes that the disk is full and uses the reserve.
func (l *aofLog) squeeze() {
	if l.tight {
		return
	}
	defer l.srv.timed("aof-full", l.srv.clock.nano())
	l.tight = true
	l.retryAt = l.srv.now + 1000
	l.srv.log.Error("the disk of the log is full: commands that need more room are refused", "dir", l.dir())
	if err := l.files.Release(); err != nil {
		l.srv.log.Warn("cannot release the reserve", "error", err)
		return
	}
	l.extend(reserveBytes / 2)
}

// cron does the periodic part: the sync of the last second, and getting well.
func (l *aofLog) cron() {
	l.reap()
	if l.broken == nil && !l.syncing && l.srv.cfg.AppendFsync == "everysec" && l.w.Pending() {
		if l.srv.now-l.syncAt >= 1000 {
			l.syncBehind()
		}
	} else if l.syncing && l.srv.now-l.syncAt >= 2000 {
		l.stats.delayed++
	}
	if (l.broken != nil || l.tight) && l.srv.now >= l.retryAt {
		l.recover()
	}
}

// syncBehind syncs what is written in the background.
func (l *aofLog) syncBehind() {
	w, to := l.w, l.w.Written()
	l.syncing, l.syncAt = true, l.srv.now
	start := time.Now()
	go func() {
		err := w.Side().Sync()
		took := time.Since(start)
		l.srv.mu.Lock()
		defer l.srv.mu.Unlock()
		l.syncing = false
		l.stats.syncs.add(int64(took))
		if l.w != w || w.Err() != nil {
			return // it was replaced meanwhile
		}
		if err := w.Reached(to, err); err != nil {
			l.fail(err)
		}
	}()
}

// refusal returns why row may not write now, nil when it may.
func (l *aofLog) refusal(growing bool) error {
	switch {
	case l.broken != nil:
		return misconf(l.broken)
	case l.tight && (growing || l.w.Room() < tightRoom):
		return misconf(aof.ErrFull)
	}
	return nil
}

const (
	reserveBytes = 1 << 20  // kept on the disk for the time when it is full
	tightRoom    = 16 << 10 // left for the largest record when nothing more is let in
)

func (l *aofLog) dir() string { return l.srv.aofDir() }

func (srv *Server) aofDir() string { return filepath.Join(srv.cfg.Dir, srv.cfg.AppendDirName) }

// close ends the log of a node that stops.
func (l *aofLog) close() error {
	if l.filling != nil {
		l.filled(l.filling, <-l.filling.done)
	}
	if l.broken != nil {
		l.w.Abandon()
		return nil
	}
	return l.w.Close()
}

// closeLog ends the log of a node that has stopped serving.
func (srv *Server) closeLog() error {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	defer srv.lock.release()
	if l := srv.aof; l != nil && l.filling != nil {
		filling := l.filling
		l.filling = nil
		srv.mu.Unlock() // others may still want to know that the node has stopped
		err := <-filling.done
		srv.mu.Lock()
		l.filled(filling, err)
	}
	if srv.aof == nil {
		return nil
	}
	return srv.aof.close()
}

// newSalt returns a random salt for the checksums of an increment.
func newSalt() uint32 { return rand.Uint32() }
