package server

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// loop is the event loop: one goroutine on a thread of its own that waits for all plain TCP connections at once
// and, with the keyspace lock held, reads, runs and answers what is ready. Nothing in a turn waits.
type loop struct {
	srv     *Server
	ep      int
	wakeFD  int
	wakeMu  sync.Mutex // guards wakeFD against a wake-up after its end
	buf     []byte
	conns   []*session // by file descriptor
	ports   []port
	flushes []*session
	resumes []*session
	inTurn  bool
}

// port is one listening socket.
type port struct {
	fd int
	ln net.Listener
}

const (
	readSize    = 64 << 10 // bytes read from one connection in one turn
	maxEvents   = 512      // of one turn where a sync waits for all of them
	fewEvents   = 32       // of one turn elsewhere
	acceptBatch = 256
)

// serve opens the listeners, calls opened and turns the loop until ctx is done.
func (srv *Server) serve(ctx context.Context, opened func()) error {
	l := &loop{srv: srv, buf: make([]byte, readSize)}
	var err error
	if l.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	defer unix.Close(l.ep)
	if l.wakeFD, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return err
	}
	defer l.closeWake()
	if err := l.watch(l.wakeFD, unix.EPOLLIN); err != nil {
		return err
	}
	defer l.closePorts()
	if err := l.listen(); err != nil {
		return err
	}
	srv.mu.Lock()
	srv.wake = l.poke
	srv.mu.Unlock()
	defer func() {
		srv.mu.Lock()
		srv.wake = func() {}
		srv.mu.Unlock()
	}()
	streams, err := srv.serveStreams()
	if err != nil {
		return err
	}
	defer streams.close()
	poked := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		l.poke()
		close(poked)
	})
	defer func() {
		// A late write to a closed wakeFD would reach whatever file has its number by then.
		if !stop() {
			<-poked
		}
	}()
	opened()
	return l.turn(ctx)
}

// turn waits and serves until ctx is done.
func (l *loop) turn(ctx context.Context) error {
	srv := l.srv
	events := make([]unix.EpollEvent, maxEvents)
	var next int64
	most := fewEvents
	for {
		n, err := l.await(events[:most], next)
		if err != nil {
			return err
		}
		l.lock()
		l.inTurn = true
		start := srv.clock.nano()
		srv.now = start / 1e6
		fresh := false
		for i := range events[:n] {
			fresh = l.event(&events[i]) || fresh
			l.catchUp()
		}
		if fresh {
			l.accept()
		}
		l.resumeAll()
		next = srv.tick()
		l.flushAll()
		if len(l.resumes) > 0 {
			next = 0
		}
		done := ctx.Err() != nil
		if done {
			l.closeAll()
		}
		l.inTurn = false
		most = l.turnEvents()
		took := srv.clock.nano() - start
		srv.stats.turned(took)
		srv.spike("event-loop", took)
		srv.mu.Unlock()
		if done {
			return nil
		}
	}
}

// lock takes the keyspace for a turn and notes when others kept it for long.
func (l *loop) lock() {
	srv := l.srv
	if srv.mu.TryLock() {
		return
	}
	start := srv.clock.nano()
	srv.mu.Lock()
	srv.timed("keyspace-lock", start)
}

// turnEvents is how many connections a turn serves at most. Replies leave at the end of a turn, and who is served first waits
// until then: with many connections the clients and the node take turns then, instead of working at the same time. At
// 35,000 mixed operations a second on 200 connections, on two processors, that was the end of it: a hundred requests that
// had waited for some reason were not made up for in a second (p99.9 of 20 to 340 ms, with few events 6 to 9 ms). Where
// a reply waits for a sync, one sync is to cover as many as there are.
func (l *loop) turnEvents() int {
	if l.srv.aof != nil && l.srv.cfg.AppendFsync == "always" {
		return maxEvents
	}
	return fewEvents
}

// await waits for events until the Unix ms next at the latest.
func (l *loop) await(events []unix.EpollEvent, next int64) (int, error) {
	// First without sleeping, which spares the scheduler's bookkeeping while the node is busy.
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(l.ep), uintptr(unsafe.Pointer(&events[0])),
		uintptr(len(events)), 0, 0, 0)
	if errno == 0 && n > 0 {
		return int(n), nil
	}
	wait := left(next, l.srv.clock.nano())
	if wait <= 0 {
		return 0, nil
	}
	k, err := unix.EpollWait(l.ep, events, int(min(wait, 1000)))
	if errors.Is(err, unix.EINTR) {
		return 0, nil
	}
	return k, err
}

// event handles one ready descriptor and reports whether it is a listener.
func (l *loop) event(ev *unix.EpollEvent) (listener bool) {
	fd := int(ev.Fd)
	if fd == l.wakeFD {
		var b [8]byte
		_, _ = unix.Read(fd, b[:]) // only empties the counter
		return false
	}
	if fd >= len(l.conns) || l.conns[fd] == nil {
		return true
	}
	s := l.conns[fd]
	if ev.Events&unix.EPOLLOUT != 0 {
		l.srv.commitLog() // there may be replies of this turn in the output
		l.send(s)
	}
	// Who has not had its turn for what it sent already is not read further, so that its input stays small.
	if !s.dead && !s.ready && ev.Events&(unix.EPOLLIN|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		l.receive(s)
	}
	return false
}

// receive reads once from s and runs what arrived.
func (l *loop) receive(s *session) {
	buf := l.buf
	direct := len(s.in) >= readSize && !s.closing
	if direct {
		// A large argument is arriving: read behind what is there, in a buffer that grows with the bytes received.
		if cap(s.in)-len(s.in) < readSize {
			s.in = l.srv.buffers.grow(s.in)
		}
		buf = s.in[len(s.in):cap(s.in)]
		buf = buf[:min(len(buf), 16*readSize)]
	}
	n, errno := rawRead(s.fd, buf)
	switch {
	case n > 0:
		l.srv.stats.received(n)
		switch {
		case s.closing:
		case direct:
			s.in = s.in[:len(s.in)+n]
			s.totalIn += int64(n)
			s.drain()
		default:
			s.feed(buf[:n])
		}
	case errno == unix.EAGAIN || errno == unix.EINTR:
	default:
		l.drop(s)
	}
}

// send writes what it can of s's output.
func (l *loop) send(s *session) {
	for s.sent < len(s.out) {
		n, errno := rawWrite(s.fd, s.out[s.sent:])
		if errno == unix.EAGAIN {
			l.want(s, unix.EPOLLIN|unix.EPOLLOUT)
			return
		}
		if errno != 0 {
			if errno == unix.EINTR {
				continue
			}
			l.drop(s)
			return
		}
		s.sent += n
		s.wrote(n)
	}
	l.srv.buffers.give(s.out)
	s.out, s.sent, s.overSince = nil, 0, 0
	if s.closing {
		l.drop(s)
		return
	}
	l.want(s, unix.EPOLLIN)
}

// want changes the events that s waits for.
func (l *loop) want(s *session, events uint32) {
	if s.events == events {
		return
	}
	s.events = events
	ev := unix.EpollEvent{Events: events, Fd: int32(s.fd)}
	if err := unix.EpollCtl(l.ep, unix.EPOLL_CTL_MOD, s.fd, &ev); err != nil {
		l.drop(s)
	}
}

// flush is transport's: the output goes out at the end of the turn.
func (l *loop) flush(s *session) {
	if s.queued {
		return
	}
	s.queued = true
	l.flushes = append(l.flushes, s)
	l.pokeFromOutside()
}

// resume is transport's: the input is looked at again in the next turn.
func (l *loop) resume(s *session) {
	if s.ready {
		return
	}
	s.ready = true
	l.resumes = append(l.resumes, s)
	l.pokeFromOutside()
}

// close is transport's.
func (l *loop) close(s *session) { l.flush(s) }

// catchUp gives timeouts that are overdue their replies before the turn goes on.
func (l *loop) catchUp() {
	if l.srv.mono >= l.srv.overdue {
		l.srv.tick()
		l.flushAll()
	}
}

// flushAll sends the replies there are, once what they tell of is in the log.
func (l *loop) flushAll() {
	l.srv.commitLog()
	for i := 0; i < len(l.flushes); i++ {
		s := l.flushes[i]
		s.queued = false
		switch {
		case s.dead:
		case s.aborted:
			l.drop(s)
		case s.events&unix.EPOLLOUT == 0:
			l.send(s)
		}
	}
	clear(l.flushes)
	l.flushes = l.flushes[:0]
}

func (l *loop) resumeAll() {
	list := l.resumes
	l.resumes = nil
	for _, s := range list {
		s.ready = false
		if !s.dead {
			s.drain()
		}
		l.catchUp()
	}
}

// drop ends a connection now.
func (l *loop) drop(s *session) {
	if s.dead {
		return
	}
	l.conns[s.fd] = nil
	s.gone()
	if err := unix.Close(s.fd); err != nil {
		l.srv.log.Debug("close failed", "client", s.addr, "error", err)
	}
}

func (l *loop) closeAll() {
	for _, s := range l.conns {
		if s != nil {
			l.send(s)
			l.drop(s)
		}
	}
}

func (l *loop) pokeFromOutside() {
	if !l.inTurn {
		l.poke()
	}
}

func (l *loop) watch(fd int, events uint32) error {
	return unix.EpollCtl(l.ep, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// rawRead and rawWrite skip the scheduler's bookkeeping around system calls: the descriptors never block.
func rawRead(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	if errno != 0 {
		return -1, errno
	}
	return int(n), 0
}

func rawWrite(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	if errno != 0 {
		return -1, errno
	}
	return int(n), 0
}
