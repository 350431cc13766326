package resp_test

import (
	"bytes"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/echomq/emqd/server/resp"
)

// startReal starts a redis-server on a Unix socket for the test and returns a
// function that connects to it.
func startReal(t *testing.T, options ...string) func(require.TestingT) *net.UnixConn {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not installed: the reader cannot be compared with a real server here")
	}
	dir := t.TempDir()
	address := &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"}
	cmd := exec.Command(path, append([]string{
		"--port", "0", "--unixsocket", address.Name, "--dir", dir, "--save", "", "--daemonize", "no",
	}, options...)...)
	log, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait(), "killed")
	})
	awaitLog(t, log, "The server is now ready to accept connections at")
	go func() { _, _ = io.Copy(io.Discard, log) }()
	return func(t require.TestingT) *net.UnixConn {
		conn, err := net.DialUnix("unix", nil, address)
		require.NoError(t, err)
		return conn
	}
}

// awaitLog reads a server's log up to a line that contains text.
func awaitLog(t *testing.T, log io.Reader, text string) {
	var seen []byte
	piece := make([]byte, 1024)
	for !bytes.Contains(seen, []byte(text)) {
		n, err := log.Read(piece)
		require.NoError(t, err, "the server ended: %s", seen)
		seen = append(seen, piece[:n]...)
	}
}

// askReal sends a stream and its end, and returns all that comes back.
func askReal(t require.TestingT, conn *net.UnixConn, stream string) string {
	defer func() { require.NoError(t, conn.Close()) }()
	_, err := conn.Write([]byte(stream))
	require.NoError(t, err)
	require.NoError(t, conn.CloseWrite())
	replies, err := io.ReadAll(conn)
	require.NoError(t, err)
	return string(replies)
}

// expectedReplies is what a real server writes for what was read.
func expectedReplies(out outcome, unauth bool) string {
	var b strings.Builder
	for _, req := range out.reqs {
		if len(req) > 0 {
			b.WriteString(modelReply(req, unauth))
		}
	}
	if out.err != nil {
		b.WriteString("-" + out.err.Error() + "\r\n")
	}
	return b.String()
}

// modelReply answers the few commands that the streams contain.
func modelReply(req []string, unauth bool) string {
	name := strings.ToLower(req[0])
	switch {
	case name != "ping" && name != "echo" && name != "eval":
		return unknownCommand(req)
	case name == "echo" && len(req) != 2:
		return "-ERR wrong number of arguments for 'echo' command\r\n"
	case unauth:
		return "-NOAUTH Authentication required.\r\n"
	case name == "ping" && len(req) > 2:
		// PING takes any number as far as its arity goes and looks itself.
		return "-ERR wrong number of arguments for 'ping' command\r\n"
	case name == "ping" && len(req) == 1:
		return "+PONG\r\n"
	case name == "eval":
		return encode(req[3:]...)
	}
	return "$" + strconv.Itoa(len(req[1])) + "\r\n" + req[1] + "\r\n"
}

// unknownCommand is the error that shows the arguments, up to 128 bytes.
func unknownCommand(req []string) string {
	cString := func(s string) string {
		s, _, _ = strings.Cut(s, "\x00")
		return s
	}
	name := cString(req[0])
	text := "ERR unknown command '" + name[:min(len(name), 128)] + "', with args beginning with: "
	var args string
	for _, arg := range req[1:] {
		if len(args) >= 128 {
			break
		}
		arg = cString(arg)
		args += "'" + arg[:min(len(arg), 128-len(args))] + "' "
	}
	return "-" + strings.NewReplacer("\r", " ", "\n", " ").Replace(text+args) + "\r\n"
}

func TestRealServerReadsTheSame(t *testing.T) {
	plain := startReal(t)
	locked := startReal(t, "--requirepass", "secret")
	for _, c := range allCases() {
		t.Run(c.name, func(t *testing.T) {
			if c.local != "" {
				t.Skip(c.local)
			}
			connect := plain
			if c.unauth {
				connect = locked
			}
			want := expectedReplies(outcome{reqs: c.want, err: c.err}, c.unauth)
			require.Equal(t, want, askReal(t, connect(t), c.in))
		})
	}
}

func TestRealServerReadsBrokenStreamsTheSame(t *testing.T) {
	connect := startReal(t)
	rapid.Check(t, func(t *rapid.T) {
		stream := brokenStream(t, echoes(t))
		want := expectedReplies(feed(t, stream, drawCuts(t, stream), limits(false)), false)
		require.Equal(t, want, askReal(t, connect(t), stream))
	})
}

// echoes draws a pipeline of requests that modelReply can answer, in both
// syntaxes.
func echoes(t *rapid.T) string {
	var stream strings.Builder
	for range rapid.IntRange(1, 4).Draw(t, "requests") {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			stream.WriteString(rapid.SampledFrom([]string{"\r\n", "\n", "*0\r\n", "*-1\r\n", pingWire, "PING\n"}).Draw(t, "fixed"))
		case 1:
			stream.WriteString("ECHO " + rapid.StringMatching(`["' \\xna0-9\t]{0,12}`).Draw(t, "text") + "\r\n")
		default:
			text := rapid.SliceOfN(rapid.SampledFrom([]byte("a \"'\r\n\x00\xff\\*$1")), 0, 30).Draw(t, "bytes")
			if rapid.Bool().Draw(t, "inline") {
				stream.WriteString("ECHO " + resp.Quote(text) + "\n")
			} else {
				stream.WriteString(encode("ECHO", string(text)))
			}
		}
	}
	return stream.String()
}
