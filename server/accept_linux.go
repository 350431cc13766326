package server

import (
	"errors"
	"net"
	"strconv"

	"golang.org/x/sys/unix"
)

// listen opens the TCP port on every address of the bind setting.
func (l *loop) listen() error {
	srv, cfg := l.srv, l.srv.cfg
	if cfg.Port == 0 && srv.listener == nil {
		return nil
	}
	if srv.listener != nil {
		return l.adopt(srv.listener)
	}
	listeners, err := srv.listenTCP(cfg.Port)
	if err != nil {
		return err
	}
	for _, ln := range listeners {
		if err := l.adopt(ln); err != nil {
			return err
		}
	}
	return nil
}

// adopt makes the loop accept on ln.
func (l *loop) adopt(ln net.Listener) error {
	file, err := ln.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	defer file.Close()
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return err
	}
	l.ports = append(l.ports, port{fd, ln})
	l.srv.log.Info("listening", "address", ln.Addr().String())
	return l.watch(fd, unix.EPOLLIN)
}

func (l *loop) closePorts() {
	for _, p := range l.ports {
		_ = unix.Close(p.fd)
		_ = p.ln.Close()
	}
}

// accept takes the connections that wait on the listeners.
func (l *loop) accept() {
	for _, p := range l.ports {
		for range acceptBatch {
			fd, sa, err := unix.Accept4(p.fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
			if err != nil {
				if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.ECONNABORTED) && !errors.Is(err, unix.EINTR) {
					l.srv.log.Warn("cannot accept a connection", "error", err)
				}
				break
			}
			l.admit(fd, sa, p.ln.Addr().String())
		}
	}
}

// admit makes a session of an accepted connection, or refuses it in words.
func (l *loop) admit(fd int, sa unix.Sockaddr, laddr string) {
	srv := l.srv
	addr, loopback := peerAddr(sa)
	if refusal := srv.refuse(loopback); refusal != "" {
		_, _ = rawWrite(fd, []byte(refusal)) // best effort: the connection ends either way
		_ = unix.Close(fd)
		return
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) // only latency is at stake
	if t := srv.cfg.TCPKeepAlive; t > 0 {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, t)
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, max(t/3, 1))
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 3)
	}
	if local, err := unix.Getsockname(fd); err == nil {
		laddr, _ = peerAddr(local)
	}
	s := srv.open(l, addr, laddr)
	s.fd, s.events = fd, unix.EPOLLIN
	for fd >= len(l.conns) {
		l.conns = append(l.conns, make([]*session, max(64, len(l.conns)))...)
	}
	l.conns[fd] = s
	if err := l.watch(fd, unix.EPOLLIN); err != nil {
		l.drop(s)
	}
}

func peerAddr(sa unix.Sockaddr) (addr string, loopback bool) {
	var ip net.IP
	var port int
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		ip, port = net.IP(a.Addr[:]), a.Port
	case *unix.SockaddrInet6:
		ip, port = net.IP(a.Addr[:]), a.Port
	}
	return net.JoinHostPort(ip.String(), strconv.Itoa(port)), ip.IsLoopback()
}
