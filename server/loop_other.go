//go:build !linux

package server

import (
	"context"
	"time"
)

// serve calls opened once the listeners are open, and serves every connection with goroutines of its own, where there is no event loop.
func (srv *Server) serve(ctx context.Context, opened func()) error {
	streams, err := srv.serveStreams()
	if err != nil {
		return err
	}
	defer streams.close()
	if srv.listener != nil {
		srv.stream(streams, srv.listener)
	} else if srv.cfg.Port != 0 {
		listeners, err := srv.listenTCP(srv.cfg.Port)
		if err != nil {
			return err
		}
		for _, ln := range listeners {
			srv.stream(streams, ln)
		}
	}
	poke := make(chan struct{}, 1)
	srv.mu.Lock()
	srv.wake = func() {
		select {
		case poke <- struct{}{}:
		default:
		}
	}
	srv.mu.Unlock()
	opened()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-poke:
		case <-timer.C:
		}
		srv.mu.Lock()
		next := left(srv.tick(), srv.clock.nano())
		srv.commitLog()
		srv.mu.Unlock()
		timer.Reset(time.Duration(max(next, 0)) * time.Millisecond)
	}
}
