package bench

import (
	"context"
	"fmt"
	"net"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// poll drives the connections from one goroutine: it waits for sockets with epoll, reads, judges, and writes what follows.
type poll struct {
	e  *engine
	fd int
}

// run drives the connections until the load is over and closes them.
func (e *engine) run(ctx context.Context, conns []net.Conn, warmup, duration time.Duration) error {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	p := &poll{e: e, fd: fd}
	defer func() { _ = unix.Close(fd) }()
	defer p.close()
	for i, c := range e.conns {
		c.fd = -1
		if err := c.adopt(conns[i]); err != nil {
			return err
		}
		if err := p.watch(unix.EPOLL_CTL_ADD, c, unix.EPOLLIN, i); err != nil {
			return err
		}
	}
	e.begin(warmup, duration)
	return p.loop(ctx)
}

// adopt makes a file descriptor of the connection's own, which the runtime does not poll.
func (c *conn) adopt(nc net.Conn) error {
	defer func() { _ = nc.Close() }() // only the copy is used from now on
	raw, err := nc.(syscall.Conn).SyscallConn()
	if err != nil {
		return err
	}
	var dup error
	err = raw.Control(func(fd uintptr) { c.fd, dup = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err != nil {
		return err
	}
	return dup // it is non-blocking already, as the one that it is a copy of
}

func (p *poll) close() {
	for _, c := range p.e.conns {
		if c.fd > 0 {
			_ = unix.Close(c.fd)
		}
	}
}

func (p *poll) watch(op int, c *conn, events uint32, i int) error {
	return unix.EpollCtl(p.fd, op, c.fd, &unix.EpollEvent{Events: events, Fd: int32(i)})
}

func (p *poll) loop(ctx context.Context) error {
	e := p.e
	for i, c := range e.conns {
		c.index = i
	}
	events := make([]unix.EpollEvent, 256)
	for {
		if err := p.flush(); err != nil {
			return err
		}
		now := e.now()
		over, err := e.tick(ctx, now)
		if over || err != nil {
			return err
		}
		if err := p.flush(); err != nil {
			return err
		}
		d := e.wait(now, 100*time.Millisecond)
		n, err := p.wait(events, d)
		if err != nil {
			return err
		}
		if n == 0 {
			e.ran(now + int64(d))
			continue
		}
		woke := e.woke()
		for _, ev := range events[:n] {
			c := e.conns[ev.Fd]
			if ev.Events&unix.EPOLLOUT != 0 {
				if err := p.write(c); err != nil {
					return err
				}
			}
			if ev.Events&^uint32(unix.EPOLLOUT) != 0 {
				if err := p.read(c); err != nil {
					return err
				}
			}
		}
		e.ran(woke)
	}
}

// wait returns the sockets that are ready. Times below some milliseconds are waited for with a call that knows
// nanoseconds.
func (p *poll) wait(events []unix.EpollEvent, d time.Duration) (int, error) {
	ms := int(d / time.Millisecond)
	if ms < 5 {
		ms = 0
		ts := unix.NsecToTimespec(int64(max(d, 0)))
		if _, err := unix.Ppoll([]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}, &ts, nil); err != nil && err != unix.EINTR {
			return 0, err
		}
	}
	n, err := unix.EpollWait(p.fd, events, ms)
	if err == unix.EINTR {
		return 0, nil
	}
	return n, err
}

// flush writes the requests of all connections that have new ones.
func (p *poll) flush() error {
	for i := 0; i < len(p.e.dirty); i++ {
		if err := p.write(p.e.dirty[i]); err != nil {
			return err
		}
	}
	p.e.dirty = p.e.dirty[:0]
	return nil
}

func (p *poll) write(c *conn) error {
	for len(c.out) > 0 {
		n, err := transfer(unix.SYS_WRITE, c.fd, c.out)
		if err == unix.EINTR {
			continue
		}
		if err == unix.EAGAIN {
			if !c.blocked {
				c.blocked = true
				return p.watch(unix.EPOLL_CTL_MOD, c, unix.EPOLLIN|unix.EPOLLOUT, c.index)
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("write: %w", err)
		}
		c.out = c.out[:copy(c.out, c.out[n:])]
	}
	if c.blocked {
		c.blocked = false
		return p.watch(unix.EPOLL_CTL_MOD, c, unix.EPOLLIN, c.index)
	}
	return nil
}

// read takes what a socket has and judges it.
func (p *poll) read(c *conn) error {
	if cap(c.in)-len(c.in) < 4096 {
		grown := make([]byte, len(c.in), 2*cap(c.in)+16<<10)
		copy(grown, c.in)
		c.in = grown
	}
	n, err := transfer(unix.SYS_READ, c.fd, c.in[len(c.in):cap(c.in)])
	if err == unix.EAGAIN || err == unix.EINTR {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if n == 0 {
		return errClosed
	}
	c.in = c.in[:len(c.in)+n]
	if err := c.receive(p.e.now()); err != nil {
		return err
	}
	return p.flush()
}

// transfer reads or writes on a socket that never blocks, so that the scheduler need not know of the call: about a tenth
// of the client's time.
func transfer(call uintptr, fd int, b []byte) (int, error) {
	n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
