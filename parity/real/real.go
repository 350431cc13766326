// Package real starts the server that emqd is compared with: Valkey or Redis, as installed on this machine.
package real

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/wire"
)

// ErrNotInstalled is returned where neither valkey-server nor redis-server is found.
var ErrNotInstalled = errors.New("neither valkey-server nor redis-server is installed")

// Start runs a server on a Unix socket of its own until the test ends, and connects. Where none is installed
// the test is skipped, unless the environment has CI=true: then it fails.
func Start(t testing.TB, options ...string) *wire.Target {
	t.Helper()
	path, err := find()
	if err != nil && os.Getenv("CI") != "true" {
		t.Skipf("compares with a real server: %v", err)
	}
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "real") // a Unix socket's path must be short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	socket := filepath.Join(dir, "s")
	cmd := exec.Command(path, append([]string{
		"--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "", "--daemonize", "no",
	}, options...)...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait() // says that it was killed
	})
	require.NoError(t, ready(out))
	target, err := wire.Dial("unix", socket)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, target.Close()) })
	return target
}

func find() (string, error) {
	for _, name := range []string{"valkey-server", "redis-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNotInstalled
}

// ready reads the log until the server accepts connections, and goes on reading it in the background.
func ready(log io.Reader) error {
	var seen strings.Builder
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		seen.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "eady to accept connections") {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return nil
		}
	}
	return fmt.Errorf("the server ended before it was ready: %s", seen.String())
}
