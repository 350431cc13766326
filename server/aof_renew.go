package server

import (
	"errors"
	"sync"
	"time"

	"github.com/echomq/emqd/store/aof"
)

// recover tries to get well after the disk was full or a write or sync has failed. It waits for the disk no longer than
// a write does.
func (l *aofLog) recover() {
	defer l.srv.timed("aof-recover", l.srv.clock.nano())
	if l.broken != nil {
		if l.giveUpWork() {
			l.again()
			l.renew()
		}
		return
	}
	if l.filling != nil || l.reserving {
		return
	}
	if l.w.Buffered() > 0 {
		if err := l.write(); err != nil && !errors.Is(err, aof.ErrFull) {
			l.fail(err)
		}
	}
	l.again()
	switch {
	case l.w.Buffered() > 0 || l.broken != nil:
	case l.w.Room() < roomAgain:
		l.fill(l.w.More(roomAgain))
	default:
		l.reserve()
	}
}

// again decides when the next attempt to get well comes.
func (l *aofLog) again() {
	l.retries++
	l.retryAt = l.srv.now + min(int64(1000)<<min(l.retries, 6), 30_000)
}

// giveUpWork ends the work that uses the files of the log, and reports whether none does. A snapshot is begun again later.
func (l *aofLog) giveUpWork() bool {
	works := &l.srv.works
	if w := works.now; w != nil && !l.renewing {
		works.saveDue = works.saveDue || !w.rewrite
		w.cancel()
	}
	return works.now == nil && !works.closed
}

// roomAgain is how many bytes must be free for records before new work is let in again.
const roomAgain = 256 << 10

// reserve makes the reserve again in the background. When that is done, the disk is not full any more.
func (l *aofLog) reserve() {
	if l.srv.works.closed {
		return
	}
	l.reserving = true
	l.srv.works.running.Go(func() {
		err := l.files.Reserve(reserveBytes)
		l.srv.mu.Lock()
		defer l.srv.mu.Unlock()
		l.reserving = false
		if err != nil || l.broken != nil {
			return // still too little
		}
		l.tight, l.retries = false, 0
		l.srv.log.Info("the disk of the log has room again: nothing is refused any more")
	})
}

// renewal is the data in memory on its way to a new base and increment.
type renewal struct {
	l       *aofLog
	epoch   int64
	seq     int64    // of the last record that the data holds
	salt    uint32   // of the new increment
	filling *filling // of the file that is given up
	base    aof.Item
	size    int64
	writer  *aof.Writer
}

// renew begins to write the data in memory as a new base with a new increment. No write is let in while the log is broken, so
// the data stands still; reads go on. What is done to files is done in the background, without the keyspace lock.
func (l *aofLog) renew() {
	r := &renewal{l: l, epoch: l.srv.store.Epoch, seq: l.w.Seq(), salt: newSalt(), filling: l.filling}
	l.filling, l.renewing = nil, true
	l.srv.begin(true, r.run, r.done)
}

func (r *renewal) run(w *work) error {
	files := r.l.files
	if r.filling != nil {
		<-r.filling.done
	}
	f, item, err := files.Base()
	if err != nil {
		return err
	}
	r.base = item
	out := &looseWriter{w: w, mu: &r.l.srv.mu, to: pacedWriter{f: f}}
	out.writeBase(r.l.srv, &snapshot{seq: r.seq})
	r.size = out.to.at
	if err := errors.Join(out.err, f.Close()); err != nil {
		return errors.Join(err, files.Discard(item))
	}
	r.writer, err = files.Replace(item, r.epoch, r.seq+1, r.salt, r.l.srv.easing(w))
	return err
}

// done lets the records go on in the new increment, when there is one.
func (r *renewal) done(_ *work, err error) {
	l := r.l
	l.renewing = false
	if l.srv.aof != l { // it was turned off meanwhile
		if r.writer != nil {
			r.writer.Abandon()
		}
		return
	}
	if r.writer == nil {
		l.srv.log.Error("the data cannot be written anew yet", "error", err)
		return
	}
	if err != nil {
		l.srv.log.Warn("cannot remove the old files of the log", "error", err)
	}
	l.w.Abandon()
	l.w, l.broken, l.tight, l.retries = r.writer, nil, false, 0
	l.stats.renewals++
	l.stats.base, l.stats.others = r.size, r.size
	l.srv.log.Info("the data is written anew: writes are let in again", "base", r.base.Name, "increment", l.w.Name())
}

// looseWriter takes bytes from one who holds the keyspace lock, and puts them in a file while nobody does.
type looseWriter struct {
	w   *work
	mu  sync.Locker
	to  pacedWriter
	buf []byte
	at  time.Time // when the lock was taken
	err error
}

// Write is io.Writer's.
func (o *looseWriter) Write(b []byte) (int, error) {
	o.buf = append(o.buf, b...)
	return len(b), o.err
}

func (o *looseWriter) take() {
	o.mu.Lock()
	o.at = time.Now()
}

// give ends the holding of the lock and writes what was taken meanwhile.
func (o *looseWriter) give() {
	o.mu.Unlock()
	if err := o.w.ctx.Err(); err != nil && o.err == nil {
		o.err = err
	}
	if o.err == nil {
		_, o.err = o.to.Write(o.buf)
	}
	o.buf = o.buf[:0]
}

// rest lets others have the lock when it is time.
func (o *looseWriter) rest() {
	if time.Since(o.at) > 2*time.Millisecond || len(o.buf) > pacedPart {
		o.give()
		time.Sleep(200 * time.Microsecond)
		o.take()
	}
}

// writeBase writes all data as a base, as n says. It takes the keyspace lock for a few milliseconds at a time.
func (o *looseWriter) writeBase(srv *Server, n *snapshot) {
	o.take()
	for n.leaveOut == nil && srv.store.Reclaim(1<<12) { // a table that is being resized would be met twice by a scan
		o.rest()
	}
	n.store, n.now, n.base, n.plain = srv.store, srv.clock.milli(), true, !srv.cfg.RDBCompression
	n.pause = func() {
		o.w.keys.Store(n.keys)
		o.rest()
	}
	err := n.write(o)
	o.give()
	if o.err == nil {
		o.err = err
	}
	if o.err == nil {
		o.err = o.to.close()
	}
}
