package main

import (
	"crypto/tls"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	testnode "github.com/echomq/emqd/parity/node"
)

// TestSecondSignalEndsASlowStop stops a process that has a large snapshot to write, and then at once.
func TestSecondSignalEndsASlowStop(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		p := newPlace(t)
		cmd, log := node(t, "--port", "0", "--unixsocket", p.socket, "--dir", p.dir, "--appendonly", "no", "--save", "3600 1")
		c := p.dial(t)
		require.Equal(t, ":268435457", c.do(t, "SETRANGE k 268435456 x"))
		require.NoError(t, cmd.Process.Signal(signal))
		for said := ""; !strings.Contains(said, "msg=stopping"); {
			text, err := log.ReadString('\n')
			require.NoError(t, err)
			said = text
		}
		require.NoError(t, cmd.Process.Signal(signal))
		_, _ = io.Copy(io.Discard, log)
		var exit *exec.ExitError
		require.ErrorAs(t, cmd.Wait(), &exit)
		require.Equal(t, 128+int(signal), exit.ExitCode())
		_, err := os.Stat(filepath.Join(p.dir, "dump.rdb"))
		require.ErrorIs(t, err, fs.ErrNotExist, "the snapshot was not finished")
	}
}

// TestProcessServesTLS has a process ask clients for certificates that they must or may show.
func TestProcessServesTLS(t *testing.T) {
	ca, other := testnode.NewAuthority(t, "one"), testnode.NewAuthority(t, "other")
	ca.Issue("server")
	good, bad := ca.Issue("client"), other.Issue("client")
	for auth, served := range map[string][3]bool{"yes": {true, false, false}, "optional": {true, true, false}, "no": {true, true, true}} {
		port := testnode.FreePort(t)
		cmd, log := node(t, "--port", "0", "--tls-port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", filepath.Join(t.TempDir(), "data"),
			"--tls-cert-file", ca.Path("server.pem"), "--tls-key-file", ca.Path("server.key"), "--tls-ca-cert-file", ca.Path("ca.pem"), "--tls-auth-clients", auth)
		for i, certs := range [][]tls.Certificate{{good}, nil, {bad}} {
			conf := &tls.Config{RootCAs: ca.Pool, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				if certs == nil {
					return new(tls.Certificate), nil
				}
				return &certs[0], nil
			}}
			require.Equal(t, served[i], pingTLS(t, port, conf), "tls-auth-clients %s, client %d", auth, i)
		}
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		_, _ = io.Copy(io.Discard, log)
		require.NoError(t, cmd.Wait())
	}
}

// pingTLS reports whether a client is served; one that is not is shut out before the first reply.
func pingTLS(t *testing.T, port int, conf *tls.Config) bool {
	c, err := tls.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port), conf)
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }() // after a refusal it is closed already
	if _, err := io.WriteString(c, "PING\r\n"); err != nil {
		return false
	}
	reply := make([]byte, 7)
	if _, err := io.ReadFull(c, reply); err != nil {
		return false
	}
	require.Equal(t, "+PONG\r\n", string(reply))
	return true
}
