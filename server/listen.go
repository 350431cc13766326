package server

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/tidwall/redcon"
)

// refuse returns the words with which a new connection is turned away, "" when it is welcome.
func (srv *Server) refuse(loopback bool) string {
	if int64(len(srv.sessions)) >= srv.cfg.MaxClients {
		srv.stats.rejected++
		return "-ERR max number of clients reached\r\n"
	}
	if !loopback && srv.cfg.ProtectedMode && srv.acl.open() {
		srv.stats.rejected++
		return "-DENIED emqd runs in protected mode: it has no password and no ACL file, so it serves clients on this " +
			"host only. Set requirepass or aclfile, or protected-mode no where the network is trusted.\r\n"
	}
	return ""
}

// streams are the listeners whose connections have a goroutine each: Unix sockets, TLS, and TCP where there is no
// event loop. redcon accepts and tracks their connections; the session code is the loop's.
type streams struct{ servers []*redcon.Server }

func (st *streams) close() {
	for _, s := range st.servers {
		_ = s.Close() // the listeners are gone either way
	}
}

// serveStreams opens the listeners that the configuration asks for.
func (srv *Server) serveStreams() (*streams, error) {
	st := &streams{}
	if path := srv.cfg.UnixSocket; path != "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		ln, err := net.Listen("unix", path)
		if err != nil {
			return nil, err
		}
		if perm := srv.cfg.UnixSocketPerm; perm != 0 {
			if err := os.Chmod(path, os.FileMode(perm)); err != nil {
				return nil, err
			}
		}
		srv.stream(st, ln)
	}
	if srv.cfg.TLSPort != 0 {
		conf, err := srv.cfg.TLS()
		if err != nil {
			return nil, err
		}
		listeners, err := srv.listenTCP(srv.cfg.TLSPort)
		if err != nil {
			return nil, err
		}
		for _, ln := range listeners {
			srv.stream(st, tls.NewListener(ln, conf))
		}
	}
	return st, nil
}

// stream serves ln with redcon in the background.
func (srv *Server) stream(st *streams, ln net.Listener) {
	s := redcon.NewServerNetwork(ln.Addr().Network(), ln.Addr().String(), func(redcon.Conn, redcon.Command) {}, nil, nil)
	st.servers = append(st.servers, s)
	srv.log.Info("listening", "network", ln.Addr().Network(), "address", ln.Addr().String())
	go func() {
		if err := s.Serve(takeover{ln, srv}); err != nil {
			srv.log.Error("listener failed", "address", ln.Addr().String(), "error", err)
		}
	}()
}

// takeover hands redcon connections whose first Read runs the whole session, so that requests are read by our own
// exact reader and redcon keeps what it is good at: accepting, tracking and closing.
type takeover struct {
	net.Listener
	srv *Server
}

func (t takeover) Accept() (net.Conn, error) {
	c, err := t.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &streamConn{Conn: c, srv: t.srv, kick: make(chan struct{}, 1)}, nil
}

// streamConn is the transport of one connection with goroutines of its own: its reader feeds the session under
// the keyspace lock, its writer sends the output.
type streamConn struct {
	net.Conn
	srv  *Server
	s    *session
	kick chan struct{}
}

// Read runs the session until the connection ends.
func (c *streamConn) Read([]byte) (int, error) {
	srv := c.srv
	srv.mu.Lock()
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
	loopback := err != nil || net.ParseIP(host).IsLoopback()
	if refusal := srv.refuse(loopback); refusal != "" {
		srv.mu.Unlock()
		_, _ = io.WriteString(c.Conn, refusal) // best effort: the connection ends either way
		return 0, io.EOF
	}
	addr, laddr := c.RemoteAddr().String(), c.LocalAddr().String()
	unix := c.RemoteAddr().Network() == "unix"
	if unix {
		addr = srv.cfg.UnixSocket + ":0"
		laddr = addr
	}
	c.s = srv.open(c, addr, laddr)
	c.s.unix = unix
	c.s.socket = rawSocket(c.Conn)
	srv.mu.Unlock()
	written := make(chan struct{})
	go func() {
		defer close(written)
		c.write()
	}()
	buf := make([]byte, 16<<10)
	for {
		n, err := c.Conn.Read(buf)
		srv.mu.Lock()
		srv.now = srv.clock.milli()
		if n > 0 && !c.s.closing {
			srv.stats.received(n)
			c.s.feed(buf[:n])
			c.work()
		}
		if err != nil {
			c.s.gone()
		}
		dead := c.s.dead
		srv.wake() // what this session did may concern timers and connections of the loop
		srv.mu.Unlock()
		if dead {
			c.signal()
			<-written
			return 0, io.EOF
		}
	}
}

// rawSocket returns the socket below a connection, below TLS where that is spoken; nil when it has none.
func rawSocket(c net.Conn) syscall.RawConn {
	if secured, ok := c.(*tls.Conn); ok {
		c = secured.NetConn()
	}
	sc, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// work gives the session further turns until what it sent so far has run, letting others in between. The
// keyspace lock is held on entry and on return.
func (c *streamConn) work() {
	for c.s.ready {
		c.srv.mu.Unlock()
		c.srv.mu.Lock()
		if c.s.ready {
			c.s.ready = false
			c.s.drain()
		}
	}
}

// write sends output whenever flush or resume has signalled, until the session has ended.
func (c *streamConn) write() {
	srv, s := c.srv, c.s
	for range c.kick {
		srv.mu.Lock()
		if s.ready {
			s.ready = false
			s.drain()
		}
		srv.commitLog()
		out := s.out
		s.out, s.queued, s.flying = nil, false, len(out)
		over := s.dead || s.aborted
		last := over || s.closing
		if !over && len(out) > 0 {
			s.wrote(len(out))
		}
		srv.mu.Unlock()
		var err error
		if !over && len(out) > 0 {
			_, err = c.Conn.Write(out)
		}
		srv.mu.Lock()
		srv.buffers.give(out)
		s.flying, s.overSince = 0, 0
		if last || err != nil {
			s.gone()
		}
		srv.mu.Unlock()
		if last || err != nil {
			_ = c.Conn.Close() // wakes the reader
			return
		}
	}
}

func (c *streamConn) signal() {
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

func (c *streamConn) flush(s *session) {
	s.queued = true
	c.signal()
}

func (c *streamConn) resume(s *session) {
	s.ready = true
	c.signal()
}

// close is transport's. A reader or writer that waits for the client ends now: it may never read again.
func (c *streamConn) close(*session) {
	_ = c.SetDeadline(time.Unix(1, 0)) // it fails when the connection is closed already
	c.signal()
}
