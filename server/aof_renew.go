package server

import (
	"bufio"
	"errors"
	"io"
	"time"

	"github.com/echomq/emqd/store/aof"
)

// recover tries to get well after the disk was full or a write or sync has failed.
func (l *aofLog) recover() {
	if l.broken != nil {
		if w := l.srv.works.now; w != nil && w.rewrite {
			w.cancel() // it uses the same files
			return
		}
		l.renew()
		return
	}
	if l.w.Buffered() > 0 {
		if err := l.write(); err != nil && !errors.Is(err, aof.ErrFull) {
			l.fail(err)
		}
	}
	if l.w.Buffered() > 0 || l.broken != nil || l.w.Room() < roomAgain && !l.extend(roomAgain) {
		return
	}
	if err := l.files.Reserve(reserveBytes); err != nil {
		return // still too little
	}
	l.tight, l.retries = false, 0
	l.srv.log.Info("the disk of the log has room again: nothing is refused any more")
}

// roomAgain is how many bytes must be free for records before new work is let in again.
const roomAgain = 256 << 10

// renew writes the data in memory as a new base with a new increment. No write is let in while the log is broken, so
// the data stands still; reads go on between the parts of the work.
func (l *aofLog) renew() {
	for l.srv.store.Reclaim(1 << 16) { // a table that is being resized would be met twice by a scan
	}
	f, item, err := l.files.Base()
	if err != nil {
		l.srv.log.Error("the data cannot be written anew yet", "error", err)
		return
	}
	l.renewing = true
	go func() {
		err := l.writeBase(f)
		size, sizeErr := f.Size()
		err = errors.Join(err, sizeErr, f.Close())
		l.srv.mu.Lock()
		defer l.srv.mu.Unlock()
		l.renewed(item, size, err)
	}()
}

// writeBase fills the file of a base. It takes the keyspace lock for a few milliseconds at a time.
func (l *aofLog) writeBase(f aof.File) error {
	srv := l.srv
	srv.mu.Lock()
	defer srv.mu.Unlock()
	held := time.Now()
	n := &snapshot{store: srv.store, now: srv.clock.milli(), seq: l.w.Seq(), base: true, plain: !srv.cfg.RDBCompression, pause: func() {
		if time.Since(held) > 2*time.Millisecond {
			srv.mu.Unlock()
			time.Sleep(200 * time.Microsecond)
			srv.mu.Lock()
			held = time.Now()
		}
	}}
	out := bufio.NewWriterSize(io.NewOffsetWriter(f, 0), 1<<20)
	if err := n.write(out); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return f.Sync()
}

// renewed puts a new base in force, when it was written.
func (l *aofLog) renewed(item aof.Item, size int64, err error) {
	l.renewing = false
	var w *aof.Writer
	if err == nil {
		w, err = l.files.Replace(item, l.srv.store.Epoch, l.w.Seq()+1, newSalt())
	} else if e := l.files.Discard(item); e != nil {
		l.srv.log.Warn("cannot remove an unfinished base", "file", item.Name, "error", e)
	}
	if w == nil {
		l.srv.log.Error("the data cannot be written anew yet", "error", err)
		return
	}
	if err != nil {
		l.srv.log.Warn("cannot remove the old files of the log", "error", err)
	}
	if l.filling != nil {
		<-l.filling // of the file that is given up
		l.filling = nil
	}
	l.w.Abandon()
	l.w, l.broken, l.tight, l.retries = w, nil, false, 0
	l.stats.renewals++
	l.stats.base, l.stats.others = size, size
	l.srv.log.Info("the data is written anew: writes are let in again", "base", item.Name, "increment", w.Name())
}
