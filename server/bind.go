package server

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"syscall"
)

// listenTCP opens port on every address of the setting bind. An address with a leading - may be one that this
// machine does not have; a port in use is an error there as well. Without addresses there are no listeners.
func (srv *Server) listenTCP(port int) (all []net.Listener, err error) {
	defer func() {
		if err != nil {
			for _, ln := range all {
				_ = ln.Close()
			}
			all = nil
		}
	}()
	for _, address := range srv.cfg.Bind {
		host, optional := strings.CutPrefix(address, "-")
		network := "tcp"
		switch host {
		case "*":
			network, host = "tcp4", "0.0.0.0"
		case "::*":
			network, host = "tcp6", "::"
		}
		ln, err := net.Listen(network, net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil && optional && missing(err) {
			srv.log.Debug("an optional address is not available", "address", host, "error", err)
			continue
		}
		if err != nil {
			return all, err
		}
		all = append(all, ln)
	}
	if len(all) == 0 && len(srv.cfg.Bind) > 0 {
		return nil, errors.New("no address of the setting bind is available")
	}
	return all, nil
}

// missing says whether listening failed because the machine lacks the address or its protocol.
func missing(err error) bool {
	var dns *net.DNSError
	return errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) ||
		errors.Is(err, syscall.EPROTONOSUPPORT) || errors.Is(err, syscall.EPFNOSUPPORT) || errors.As(err, &dns)
}
