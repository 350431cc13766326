package clients

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/node"
)

// patience is how long a tool may take before the test fails.
const patience = 30 * time.Second

// cli returns redis-cli (or valkey-cli) with arguments for n. Without one the test is skipped, unless CI is set.
func cli(t testing.TB, n *node.Node, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("redis-cli")
	if err != nil {
		path, err = exec.LookPath("valkey-cli")
	}
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip("neither redis-cli nor valkey-cli is installed")
	}
	require.NoError(t, err)
	host, port, err := net.SplitHostPort(n.Addr)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, path, append([]string{"-h", host, "-p", port}, args...)...)
	cmd.Env = append(os.Environ(), "REDISCLI_HISTFILE=/dev/null", "TERM=xterm", "HOME="+t.TempDir())
	return cmd
}

// runCLI runs it with input and returns what it prints, without carriage returns.
func runCLI(t testing.TB, n *node.Node, input string, args ...string) string {
	t.Helper()
	cmd := cli(t, n, args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return strings.ReplaceAll(string(out), "\r", "")
}

func TestRedisCLISession(t *testing.T) {
	n := node.Start(t)
	session := "SET k v\nGET k\nHSET h f 1\nHGETALL h\nINCR h\nSELECT 1\nGET k\nMULTI\nINCR n\nEXEC\n"
	require.Equal(t, "OK\nv\n1\nf\n1\nWRONGTYPE Operation against a key holding the wrong kind of value\n\nOK\n\nOK\nQUEUED\n1\n", runCLI(t, n, session))
	require.Equal(t, "f 1\n", runCLI(t, n, "HGETALL h\n", "-3"))
	require.Equal(t, "1# \"f\" => \"1\"\n", runCLI(t, n, "", "-3", "--no-raw", "HGETALL", "h"))
	require.Equal(t, "1) \"f\"\n2) \"1\"\n", runCLI(t, n, "", "-2", "--no-raw", "HGETALL", "h"))
	require.Equal(t, "(double) 1.5\n", runCLI(t, n, "", "-3", "--no-raw", "ZADD", "z", "INCR", "1.5", "m"))
	require.Equal(t, "OK\n", runCLI(t, n, "from stdin", "-x", "SET", "x"))
	require.Equal(t, "from stdin\n", runCLI(t, n, "", "GET", "x"))
	require.Equal(t, "PONG\nPONG\nPONG\n", runCLI(t, n, "", "-r", "3", "PING"))
	require.Contains(t, runCLI(t, n, "", "INFO", "server"), "redis_version:")
	require.Equal(t, "maxmemory\n0\n", runCLI(t, n, "", "CONFIG", "GET", "maxmemory"))
}

func TestRedisCLIBulkLoad(t *testing.T) {
	n := node.Start(t)
	var in bytes.Buffer
	const commands = 100_000
	for i := range commands {
		key := "key:" + strconv.Itoa(i)
		in.WriteString("*3\r\n$3\r\nSET\r\n$" + strconv.Itoa(len(key)) + "\r\n" + key + "\r\n$1\r\nv\r\n")
	}
	out := runCLI(t, n, in.String(), "--pipe")
	require.Contains(t, out, "Last reply received from server.")
	require.Contains(t, out, "errors: 0, replies: 100000\n")
	c := n.Dial()
	c.Want("DBSIZE", ":100000")
	c.Want("GET key:99999", `$"v"`)
	load := cli(t, n, "--pipe")
	load.Stdin = strings.NewReader("SET a 1\r\nINCR k\r\nNOSUCH\r\nLPUSH a x\r\n")
	text, err := load.CombinedOutput()
	require.Error(t, err) // its way of saying that there were errors
	require.Contains(t, string(text), "errors: 2, replies: 4\n")
}

// TestBulkLoadEnds sends what --pipe ends with: an empty line and an ECHO of 20 bytes of any kind.
func TestBulkLoadEnds(t *testing.T) {
	c := node.Start(t).Dial()
	token := "\x00\r\n\xff$*\x01abcdefghijkl\n"
	require.Len(t, token, 20)
	c.Raw("*1\r\n$4\r\nPING\r\n\r\n*2\r\n$4\r\nECHO\r\n$20\r\n" + token + "\r\n")
	require.Equal(t, "+PONG", c.Next())
	require.Equal(t, "$20\r\n"+token+"\r\n", c.Bytes())
}

func TestRedisCLIScans(t *testing.T) {
	n := node.Start(t)
	c := n.Dial()
	for i := range 500 {
		c.Want("SET user:"+strconv.Itoa(i)+" "+strings.Repeat("v", i+1), "+OK")
	}
	c.Want("SADD biggest:set a b c", ":3")
	c.Want("ZADD biggest:zset 1 a 2 b", ":2")
	c.Want("RPUSH biggest:list a b c d", ":4")
	c.Want("HSET biggest:hash f v", ":1")
	require.Len(t, strings.Fields(runCLI(t, n, "", "--scan")), 504)
	require.Len(t, strings.Fields(runCLI(t, n, "", "--scan", "--pattern", "user:4?")), 10)
	out := runCLI(t, n, "", "--bigkeys")
	require.Contains(t, out, "Sampled 504 keys in the keyspace!")
	require.Contains(t, out, `Biggest string found '"user:499"' has 500 bytes`)
	require.Contains(t, out, `Biggest   list found '"biggest:list"' has 4 items`)
	require.Contains(t, out, `Biggest    set found '"biggest:set"' has 3 members`)
	require.Contains(t, out, `Biggest   zset found '"biggest:zset"' has 2 members`)
	require.Contains(t, out, `Biggest   hash found '"biggest:hash"' has 1 fields`)
	out = runCLI(t, n, "", "--memkeys")
	require.Contains(t, out, "Sampled 504 keys in the keyspace!")
	require.Regexp(t, `Biggest string found '"user:\d+"' has \d+ bytes`, out)
}

// lines starts cmd and returns its output line by line; cmd is killed when the test ends.
func lines(t testing.TB, cmd *exec.Cmd) func() string {
	t.Helper()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // says that it was killed
	})
	r := bufio.NewReader(out)
	return func() string {
		t.Helper()
		line, err := r.ReadString('\n')
		require.NoError(t, err, "%s", line)
		return strings.TrimRight(line, "\r\n")
	}
}

func TestRedisCLIStat(t *testing.T) {
	n := node.Start(t)
	n.Dial().Want("SET k v", "+OK")
	next := lines(t, cli(t, n, "--stat", "-i", "0.01"))
	require.Contains(t, next(), "data")
	require.Contains(t, next(), "keys")
	for range 3 {
		require.Regexp(t, `^1 +\d+\.\d+[KM] +\d+ +\d+ +\d+ `, next())
	}
}

func TestRedisCLIWatches(t *testing.T) {
	n := node.Start(t)
	c := n.Dial()
	next := lines(t, cli(t, n, "MONITOR"))
	require.Equal(t, "OK", next())
	c.Want(`SET "a b" c`, "+OK")
	require.Regexp(t, `^\d+\.\d{6} \[0 127\.0\.0\.1:\d+\] "SET" "a b" "c"$`, next())
	next = lines(t, cli(t, n, "SUBSCRIBE", "news"))
	for _, want := range []string{"subscribe", "news", "1"} {
		require.Equal(t, want, next())
	}
	c.Want("PUBLISH news hi", ":1")
	for _, want := range []string{"message", "news", "hi"} {
		require.Equal(t, want, next())
	}
	next = lines(t, cli(t, n, "-3", "--no-raw", "PSUBSCRIBE", "n*"))
	require.Contains(t, next(), "Reading messages...")
	for _, want := range []string{`1) "psubscribe"`, `2) "n*"`, `3) (integer) 1`} {
		require.Equal(t, want, next())
	}
	require.Regexp(t, `^[\d. ]+\n$`, runCLI(t, n, "", "--latency", "-i", "0.1", "--raw"))
}

// terminal is a program on a pseudo-terminal.
type terminal struct {
	t    testing.TB
	file *os.File
	seen strings.Builder
}

func startTerminal(t testing.TB, cmd *exec.Cmd) *terminal {
	t.Helper()
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 160})
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // says that it was killed
		require.NoError(t, f.Close())
	})
	return &terminal{t: t, file: f}
}

// until reads until the screen shows text that matches, and forgets what was shown before.
func (s *terminal) until(pattern string) string {
	s.t.Helper()
	re := regexp.MustCompile(pattern)
	buf := make([]byte, 4096)
	for !re.MatchString(s.seen.String()) {
		n, err := s.file.Read(buf)
		s.seen.Write(buf[:n])
		require.NoError(s.t, err, "waiting for %s in %q", pattern, s.seen.String())
	}
	out := s.seen.String()
	s.seen.Reset()
	return out
}

func (s *terminal) enter(text string) {
	s.t.Helper()
	_, err := io.WriteString(s.file, text)
	require.NoError(s.t, err)
}

// TestRedisCLIInteractive types, reads the hints that come from COMMAND DOCS, and leaves.
func TestRedisCLIInteractive(t *testing.T) {
	n := node.Start(t)
	s := startTerminal(t, cli(t, n))
	prompt := regexp.QuoteMeta(n.Addr) + `> ` // nothing may be typed before it: the terminal would drop it
	s.until(prompt)
	s.enter("SET ")
	s.until(`key value`)
	s.enter("k v\r")
	s.until(`(?s)OK.*` + prompt)
	s.enter("EMQ.CLAIM ")
	s.until(`numkeys`)
	s.enter("\x15HELP EMQ.CLAIM\r") // after clearing the line
	s.until(`(?s)EMQ\.CLAIM.*summary:.*fencing token.*` + prompt)
	s.enter("GET k\r")
	s.until(`(?s)"v".*` + prompt)
	s.enter("HELLO 3\r")
	s.until(`(?s)"proto" => \(integer\) 3.*` + prompt)
	s.enter("SUBSCRIBE news\r")
	s.until(`1\) "subscribe"`)
	n.Dial().Want("PUBLISH news hi", ":1")
	s.until(`3\) "hi"`)
	n.Dial().Want("CLIENT KILL TYPE pubsub", ":1")
}
