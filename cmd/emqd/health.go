package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/echomq/emqd/server"
	"github.com/echomq/emqd/server/resp"
)

// healthTimeout bounds the whole healthcheck.
const healthTimeout = 3 * time.Second

// healthcheck asks the node that runs with cfg for a PING. A node that wants a password which cfg
// does not hold is healthy too: it answers.
func healthcheck(cfg *server.Config) error {
	conn, err := dial(cfg)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(healthTimeout)); err != nil {
		return err
	}
	in := bufio.NewReader(io.LimitReader(conn, 1<<16))
	if cfg.RequirePass != "" {
		reply, err := ask(conn, in, "AUTH", cfg.RequirePass)
		if err != nil {
			return err
		}
		if reply != "+OK" {
			return errors.New("AUTH was answered " + reply)
		}
	}
	reply, err := ask(conn, in, "PING")
	if err != nil {
		return err
	}
	if reply != "+PONG" && !strings.HasPrefix(reply, "-NOAUTH ") {
		return errors.New("PING was answered " + reply)
	}
	return nil
}

// ask sends a request and returns the first line of the reply.
func ask(out io.Writer, in *bufio.Reader, args ...string) (string, error) {
	if _, err := out.Write(resp.AppendRequest(nil, args...)); err != nil {
		return "", fmt.Errorf("no reply to %s: %w", args[0], err)
	}
	reply, err := in.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("no reply to %s: %w", args[0], err)
	}
	return strings.TrimRight(reply, "\r\n"), nil
}

// dial connects to the node: plain TCP where it listens on it, else its Unix socket, else TLS.
func dial(cfg *server.Config) (net.Conn, error) {
	d := &net.Dialer{Timeout: healthTimeout}
	switch {
	case cfg.Port != 0:
		return d.Dial("tcp", net.JoinHostPort(localAddress(cfg.Bind), strconv.Itoa(cfg.Port)))
	case cfg.UnixSocket != "":
		return d.Dial("unix", cfg.UnixSocket)
	}
	own, err := tls.LoadX509KeyPair(cfg.TLSCertFile, cfg.TLSKeyFile)
	if err != nil {
		return nil, err
	}
	return tls.DialWithDialer(d, "tcp", net.JoinHostPort(localAddress(cfg.Bind), strconv.Itoa(cfg.TLSPort)), &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{own},
		// The name in the certificate is not the loopback address; what is checked instead is that
		// the node shows the very certificate it is configured with.
		InsecureSkipVerify: true,
		VerifyPeerCertificate: func(chain [][]byte, _ [][]*x509.Certificate) error {
			if len(chain) == 0 || !bytes.Equal(chain[0], own.Certificate[0]) {
				return errors.New("the node shows another certificate than tls-cert-file")
			}
			return nil
		},
	})
}

// localAddress returns an address of bind that this machine can reach itself at.
func localAddress(bind []string) string {
	for _, b := range bind {
		switch b = strings.TrimPrefix(b, "-"); b {
		case "*", "0.0.0.0":
			return "127.0.0.1"
		case "::*", "::":
			return "::1"
		default:
			return b
		}
	}
	return "127.0.0.1"
}
