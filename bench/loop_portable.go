package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// portable drives each connection from a goroutine of its own, under one lock but for the waiting: the way without epoll.
type portable struct {
	e     *engine
	mu    sync.Mutex
	conns map[*conn]net.Conn
	errs  []error
}

func (e *engine) runPortable(ctx context.Context, conns []net.Conn, warmup, duration time.Duration) error {
	p := &portable{e: e, conns: map[*conn]net.Conn{}}
	for i, c := range e.conns {
		p.conns[c] = conns[i]
	}
	p.mu.Lock()
	e.begin(warmup, duration)
	p.flush()
	p.mu.Unlock()
	var wg sync.WaitGroup
	for c := range p.conns {
		wg.Go(func() { p.read(c) })
	}
	err := p.watch(ctx)
	for _, nc := range conns {
		_ = nc.Close() // which ends its reader
	}
	wg.Wait()
	return err
}

// watch does what is due until the load is over.
func (p *portable) watch(ctx context.Context) error {
	for {
		p.mu.Lock()
		now := p.e.now()
		over, err := p.e.tick(ctx, now)
		p.flush()
		err = errors.Join(append(p.errs, err)...)
		wait := p.e.wait(now, 10*time.Millisecond)
		p.mu.Unlock()
		if over || err != nil {
			return err
		}
		time.Sleep(wait)
	}
}

// flush writes what there is to be written. The lock is held: a server that does not read stops the client, as it should.
func (p *portable) flush() {
	for i := 0; i < len(p.e.dirty); i++ {
		c := p.e.dirty[i]
		if _, err := p.conns[c].Write(c.out); err != nil {
			p.errs = append(p.errs, fmt.Errorf("write: %w", err))
		}
		c.out = c.out[:0]
	}
	p.e.dirty = p.e.dirty[:0]
}

// read takes what a connection's socket has and judges it, until the connection is closed.
func (p *portable) read(c *conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := p.conns[c].Read(buf)
		p.mu.Lock()
		if err == nil {
			c.in = append(c.in, buf[:n]...)
			err = c.receive(p.e.now())
			p.flush()
		}
		if err != nil && !p.e.stopping {
			p.errs = append(p.errs, fmt.Errorf("read: %w", err))
		}
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}
