// Package oracle runs a real Redis or Valkey server for differential tests of
// the packages under store. Nothing but tests imports it.
package oracle

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Server is a running server with an empty keyspace. Its methods fail the test
// on anything but a well-formed reply.
type Server struct {
	t    testing.TB
	conn net.Conn
	r    *bufio.Reader
}

// Start runs valkey-server or redis-server on a Unix socket of its own, until
// the test ends. It skips the test when neither is installed.
func Start(t testing.TB) *Server {
	t.Helper()
	path, err := exec.LookPath("valkey-server")
	if err != nil {
		path, err = exec.LookPath("redis-server")
	}
	if err != nil {
		t.Skip("compares with a real server, and neither valkey-server nor redis-server is installed")
	}
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	cmd := exec.Command(path, "--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "", "--daemonize", "no")
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	log := bufio.NewScanner(out)
	for ready := false; !ready; {
		if !log.Scan() {
			t.Fatalf("%s ended before it was ready", path)
		}
		ready = strings.Contains(log.Text(), "ready to accept connections")
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	conn, err := net.Dial("unix", socket)
	check(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &Server{t: t, conn: conn, r: bufio.NewReader(conn)}
}

// Do sends one command and returns its reply: the text of a string, the decimal
// text of an integer, an error with "-" before it, and the elements of an array,
// nested ones laid flat. A nil is no element.
func (s *Server) Do(args ...string) []string {
	s.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	_, err := io.WriteString(s.conn, b.String())
	check(s.t, err)
	return s.reply(nil)
}

func (s *Server) reply(to []string) []string {
	s.t.Helper()
	line, err := s.r.ReadString('\n')
	check(s.t, err)
	line = strings.TrimSuffix(line, "\r\n")
	switch line[0] {
	case '+', ':':
		return append(to, line[1:])
	case '-':
		return append(to, line)
	}
	n, err := strconv.Atoi(line[1:])
	check(s.t, err)
	if line[0] == '*' {
		for ; n > 0; n-- {
			to = s.reply(to)
		}
		return to
	}
	if n < 0 {
		return to
	}
	text := make([]byte, n+2)
	_, err = io.ReadFull(s.r, text)
	check(s.t, err)
	return append(to, string(text[:n]))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
