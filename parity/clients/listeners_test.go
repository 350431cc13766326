package clients

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/node"
	"github.com/echomq/emqd/server"
)

// startTLS runs a node that serves TLS too, and returns the address of that.
func startTLS(t *testing.T, ca *node.Authority, auth string) string {
	ca.Issue("server")
	port := node.FreePort(t)
	n := node.Start(t, func(c *server.Config) {
		c.TLSPort, c.TLSAuthClients, c.Bind = port, auth, []string{"127.0.0.1"}
		c.TLSCertFile, c.TLSKeyFile, c.TLSCACertFile = ca.Path("server.pem"), ca.Path("server.key"), ca.Path("ca.pem")
	})
	n.Dial().Want("PING", "+PONG") // and so all listeners are open
	return (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}).String()
}

// conversation is what every listener has to serve: a pipeline, blocking, a push while blocked.
func conversation(t *testing.T, dial func() *node.Conn) {
	a, b := dial(), dial()
	a.Send("HELLO 3", "SET k v", "GET k", "NOSUCH", "SUBSCRIBE c")
	require.Contains(t, a.Bytes(), "$5\r\nproto\r\n:3\r\n")
	require.Equal(t, "+OK", a.Next())
	require.Equal(t, `$"v"`, a.Next())
	require.Contains(t, a.Bytes(), "-ERR unknown command")
	require.Equal(t, `>[$"subscribe" $"c" :1]`, a.Next())
	a.Send("BLPOP q 0", "PING")
	b.Want("PUBLISH c hi", ":1")
	require.Equal(t, `>[$"message" $"c" $"hi"]`, a.Next())
	b.Want("RPUSH q x y", ":2")
	require.Equal(t, `*[$"q" $"x"]`, a.Next())
	require.Equal(t, "+PONG", a.Next())
	text := strings.Repeat("v", 1<<20)
	b.Want("SET big "+text, "+OK")
	require.Equal(t, "$1048576\r\n"+text+"\r\n", func() string { a.Send("GET big"); return a.Bytes() }())
	b.Want("QUIT", "+OK")
	b.Closed("")
}

func TestTLS(t *testing.T) {
	ca := node.NewAuthority(t, "one")
	addr := startTLS(t, ca, "no")
	conf := &tls.Config{RootCAs: ca.Pool}
	conversation(t, func() *node.Conn {
		c, err := tls.Dial("tcp", addr, conf)
		require.NoError(t, err)
		return node.Wrap(t, c)
	})
	_, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: node.NewAuthority(t, "other").Pool})
	require.ErrorContains(t, err, "unknown authority")
	_, err = tls.Dial("tcp", addr, &tls.Config{RootCAs: ca.Pool, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10})
	require.Error(t, err)
	plain, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer func() { require.NoError(t, plain.Close()) }()
	_, err = plain.Write([]byte("PING\r\n"))
	require.NoError(t, err)
	ended(t, plain)
}

func TestTLSClientCertificates(t *testing.T) {
	ca, other := node.NewAuthority(t, "one"), node.NewAuthority(t, "other")
	good, bad := ca.Issue("client"), other.Issue("client")
	addr := startTLS(t, ca, "yes")
	ask := func(conf *tls.Config) error {
		conf.RootCAs = ca.Pool
		c, err := tls.Dial("tcp", addr, conf)
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }() // after a refusal it is closed already
		require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Second)))
		if _, err := c.Write([]byte("PING\r\n")); err != nil {
			return err
		}
		b := make([]byte, 7)
		_, err = c.Read(b)
		if err == nil {
			require.Equal(t, "+PONG\r\n", string(b))
		}
		return err
	}
	present := func(cert tls.Certificate) func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		return func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil }
	}
	require.NoError(t, ask(&tls.Config{GetClientCertificate: present(good)}))
	require.Error(t, ask(&tls.Config{}), "without a certificate")
	require.Error(t, ask(&tls.Config{GetClientCertificate: present(bad)}), "of another authority")
	addr = startTLS(t, ca, "optional")
	require.NoError(t, ask(&tls.Config{}))
	require.Error(t, ask(&tls.Config{GetClientCertificate: present(bad)}))
}

func TestUnixSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "emqd") // a Unix socket's path must be short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	path := filepath.Join(dir, "s")
	n := node.Start(t, func(c *server.Config) { c.UnixSocket, c.UnixSocketPerm = path, 0o700 })
	n.Dial().Want("PING", "+PONG")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	dial := func() *node.Conn {
		c, err := net.Dial("unix", path)
		require.NoError(t, err)
		return node.Wrap(t, c)
	}
	conversation(t, dial)
	require.Contains(t, dial().Do("CLIENT INFO"), "addr="+path+":0 ")
	n.Stop()
	_, err = os.Stat(path)
	require.ErrorIs(t, err, os.ErrNotExist)
}
