package server

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/aof/memfs"
)

// slow is a disk on which every operation waits for leave, once it is slow.
type slow struct {
	on    atomic.Bool
	began chan string   // the operation that waits
	leave chan struct{} // closed: none waits
	over  atomic.Bool   // nothing may be done any more
	late  atomic.Value  // what was done all the same
}

func (s *slow) fail(op, name string) error {
	if s.over.Load() {
		s.late.Store(op + " " + name)
	} else if s.on.Load() {
		select {
		case s.began <- op + " " + name:
			<-s.leave
		case <-s.leave:
		}
	}
	return nil
}

// broken returns a node whose log is broken, with the disk of its renewal, which begins at once.
func broken(t *testing.T) (*logged, *client, *slow) {
	fsys := memfs.New()
	n := startLogged(t, fsys, debugging)
	c := dial(t, n.addr)
	for i := range 3000 {
		c.send(fmt.Sprintf("SET k%d v%d", i, i))
	}
	for range 3000 {
		require.Equal(t, "+OK\r\n", c.next())
	}
	for filling := true; filling; runtime.Gosched() { // in the background of what was written
		n.srv.mu.Lock()
		filling = n.srv.aof.filling != nil
		n.srv.mu.Unlock()
	}
	s := &slow{began: make(chan string), leave: make(chan struct{})}
	fsys.SetFail(func(op, _ string) error {
		if op == "sync" {
			return syscall.EIO
		}
		return nil
	})
	c.send("SET unknown v")
	_, err := c.r.Next()
	require.Error(t, err)
	s.on.Store(true)
	fsys.SetFail(s.fail)
	n.srv.mu.Lock()
	n.srv.aof.retryAt = 0
	n.srv.mu.Unlock()
	return n, dial(t, n.addr), s
}

// TestRenewalOnSlowDisk lets each operation on files of a renewal wait: reads are served meanwhile, writes are let in when
// it is done.
func TestRenewalOnSlowDisk(t *testing.T) {
	n, c, s := broken(t)
	steps := 0
	for {
		select {
		case <-s.began:
			steps++
			require.Equal(t, "$5\r\nv2999\r\n", c.do("GET k2999"))
			require.Contains(t, c.do("SET k v"), "-MISCONF")
			require.Equal(t, "broken", field(c.do("INFO persistence"), "log_health"))
			s.leave <- struct{}{}
			continue
		default:
		}
		if field(c.do("INFO persistence"), "log_health") == "well" {
			break
		}
	}
	s.on.Store(false)
	t.Logf("%d operations", steps)
	require.Greater(t, steps, 12)
	require.Equal(t, "+OK\r\n", c.do("SET later v"))
	digest := c.do("DEBUG DIGEST")
	again := startLogged(t, n.fsys.Crash(), debugging)
	require.Equal(t, digest, dial(t, again.addr).do("DEBUG DIGEST"))
}

// TestStopWaitsForRenewal stops a node while an operation of its renewal waits for the disk: when the node has stopped,
// nothing more is done to the files.
func TestStopWaitsForRenewal(t *testing.T) {
	for step := 0; step < 24; step += 4 {
		n, _, s := broken(t)
		for range step {
			<-s.began
			s.leave <- struct{}{}
		}
		<-s.began
		ended := make(chan error, 1)
		go func() { ended <- n.stop() }()
		for closed := false; !closed; runtime.Gosched() {
			n.srv.mu.Lock()
			closed = n.srv.works.closed
			n.srv.mu.Unlock()
		}
		select {
		case err := <-ended:
			require.Fail(t, "stopped while the disk was busy", "%v", err)
		default:
		}
		close(s.leave)
		require.NoError(t, <-ended)
		s.over.Store(true)
		again := startLogged(t, n.fsys.Kill(), debugging)
		require.Equal(t, "$5\r\nv2999\r\n", dial(t, again.addr).do("GET k2999"))
		require.NoError(t, again.stop())
		require.Nil(t, s.late.Load())
	}
}
