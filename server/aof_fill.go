package server

import (
	"errors"

	"github.com/echomq/emqd/store/aof"
)

// filling is a region of the log that is being filled in the background.
type filling struct {
	to   int64
	laid chan struct{} // closed when the region is written, or could not be
	err  error         // of writing it, once laid is closed
	done chan error    // the outcome, once nothing uses the file any more
}

// inlineFill is how many bytes are filled at once where that is done between requests: 20 microseconds.
const inlineFill = 64 << 10

// fillAhead fills the region ahead when little is left: where replies wait for syncs in the background and durably, so that
// those find its size and its blocks on the disk. Elsewhere it only takes the room, a little at a time and at once, since a
// thread that does it gets in the way of the loop for longer.
func (l *aofLog) fillAhead() {
	switch {
	case l.filling != nil || l.tight:
	case l.srv.cfg.AppendFsync != "always":
		if l.w.Room() < inlineFill/2 {
			l.extend(inlineFill)
		}
	default:
		if from, to, ok := l.w.Ahead(); ok {
			l.fill(from, to)
		}
	}
}

// extend fills a region ahead, now.
func (l *aofLog) extend(size int64) {
	if l.filling != nil || l.w.Err() != nil {
		return
	}
	from, to := l.w.More(size)
	switch err := aof.Fill(l.w.Side(), from, to); {
	case err == nil:
		l.w.Filled(to)
	case errors.Is(err, aof.ErrFull):
		l.squeeze()
	default:
		l.fail(err)
	}
}

// fill fills a region ahead in the background and makes it durable.
func (l *aofLog) fill(from, to int64) {
	file := l.w.Side()
	f := &filling{to: to, laid: make(chan struct{}), done: make(chan error, 1)}
	l.filling = f
	go func() {
		err := aof.Fill(file, from, to)
		f.err = err
		close(f.laid)
		if err == nil {
			err = file.Sync()
		}
		f.done <- err
		l.srv.mu.Lock()
		defer l.srv.mu.Unlock()
		l.reap()
	}()
}

// awaitRoom waits until what is to be written does not meet the region that is being filled. For that the region need
// be written, not durable: with a disk that is busy the one takes a millisecond and the other one half a second.
func (l *aofLog) awaitRoom() {
	if l.filling == nil || l.w.Room() >= 0 {
		return
	}
	f := l.filling
	if <-f.laid; f.err != nil {
		l.filled(f, <-f.done)
	} else {
		l.w.Filled(f.to)
	}
}

// reap takes the outcome of filling when it is there.
func (l *aofLog) reap() {
	if l.filling == nil {
		return
	}
	select {
	case err := <-l.filling.done:
		l.filled(l.filling, err)
	default:
	}
}

// filled takes the outcome of f.
func (l *aofLog) filled(f *filling, err error) {
	l.filling = nil
	switch {
	case l.broken != nil: // the file is given up
	case err == nil:
		l.w.Filled(f.to)
		if l.tight {
			l.retryAt = l.srv.now // there is room again
		}
	case errors.Is(err, aof.ErrFull):
		l.squeeze()
	default:
		l.fail(err)
	}
}
