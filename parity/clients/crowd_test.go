package clients

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/echomq/emqd/parity/node"
	"github.com/echomq/emqd/server"
)

// TestLongPipelineLetsOthersIn sends 100 MB of requests and asks on another connection meanwhile.
func TestLongPipelineLetsOthersIn(t *testing.T) {
	n := node.Start(t)
	long, other := n.Dial(), n.Dial()
	other.Want("PING", "+PONG")
	before := resident(t)
	line := []byte("*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$100\r\n" + strings.Repeat("v", 100) + "\r\n")
	requests := 100 << 20 / len(line)
	piece := bytes.Repeat(line, 5000)
	sent := make(chan error, 1)
	go func() {
		for left := requests; left > 0; left -= 5000 {
			if _, err := long.Write(piece[:len(line)*min(left, 5000)]); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	read := make(chan error, 1)
	go func() {
		_, err := io.CopyN(io.Discard, long.Conn, int64(requests)*int64(len("+OK\r\n")))
		read <- err
	}()
	answered, slowest, peak := 0, time.Duration(0), int64(0)
	for done := false; !done; {
		select {
		case err := <-read:
			require.NoError(t, err)
			done = true
		default:
			start := time.Now()
			other.Want("PING", "+PONG")
			slowest = max(slowest, time.Since(start))
			answered++
			if answered%64 == 0 {
				peak = max(peak, resident(t))
			}
		}
	}
	require.NoError(t, <-sent)
	t.Logf("%d requests; %d of another client meanwhile, the slowest in %v; %d MB more memory", requests, answered, slowest, (peak-before)>>20)
	require.Greater(t, answered, 100)
	require.Less(t, slowest, 2*time.Second)
	require.Less(t, peak-before, int64(64<<20))
}

// TestOneBulkOf100MBArrivesInLinearTime reads what it wrote.
func TestOneBulkOf100MBArrivesInLinearTime(t *testing.T) {
	n := node.Start(t)
	c, other := n.Dial(), n.Dial()
	const size = 100 << 20
	value := bytes.Repeat([]byte("0123456789"), size/10)
	sent := make(chan error, 1)
	go func() {
		_, err := c.Write(append(append([]byte("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$"+strconv.Itoa(len(value))+"\r\n"), value...), "\r\n"...))
		sent <- err
	}()
	reply := make(chan string, 1)
	go func() { reply <- c.Next() }()
	slowest := time.Duration(0)
	for got := ""; got == ""; {
		start := time.Now()
		other.Want("PING", "+PONG")
		slowest = max(slowest, time.Since(start))
		select {
		case got = <-reply:
			require.Equal(t, "+OK", got)
		default:
		}
	}
	require.NoError(t, <-sent)
	other.Want("STRLEN k", ":"+strconv.Itoa(len(value)))
	t.Logf("the slowest request of another client meanwhile took %v", slowest)
	require.Less(t, slowest, 10*time.Second)
	other.Want("GETRANGE k -5 -1", `$"56789"`)
}

// idleConnections is how many connections TestIdleConnectionsAreSmall opens if the limit of open files permits.
const idleConnections = 10_000

// TestIdleConnectionsAreSmall counts the memory of a server in a process of its own.
func TestIdleConnectionsAreSmall(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("memory is measured with /proc")
	}
	var files syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files))
	count := min(idleConnections, int(files.Cur)-500)
	if count < 500 {
		t.Skipf("only %d open files are permitted", files.Cur)
	}
	addr, pid := startProcess(t, "--maxclients", strconv.Itoa(count+100))
	memory := func() int64 {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		require.NoError(t, err)
		_, tail, ok := strings.Cut(string(text), "VmRSS:")
		require.True(t, ok)
		kb, err := strconv.ParseInt(strings.Fields(tail)[0], 10, 64)
		require.NoError(t, err)
		return kb << 10
	}
	conns := make([]*node.Conn, 0, count)
	dial := func() {
		c, err := net.Dial("tcp", addr)
		require.NoError(t, err)
		conns = append(conns, node.Wrap(t, c))
	}
	for range 100 {
		dial()
		conns[len(conns)-1].Want("PING", "+PONG")
	}
	before := memory()
	for len(conns) < count {
		dial()
		c := conns[len(conns)-1]
		c.Send("HELLO 3", "CLIENT SETNAME worker", "GET nothing")
		c.Bytes()
		require.Equal(t, "+OK", c.Next())
		require.Equal(t, "_", c.Next())
	}
	each := (memory() - before) / int64(count-100)
	t.Logf("%d bytes for each of %d idle connections", each, count)
	require.LessOrEqual(t, each, int64(20<<10))
	require.Contains(t, conns[0].Do("INFO clients"), "connected_clients:"+strconv.Itoa(count))
}

// startProcess builds emqd and runs it on a free port until the test ends.
func startProcess(t testing.TB, args ...string) (addr string, pid int) {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "emqd")
	out, err := exec.Command("go", "build", "-o", bin, "github.com/echomq/emqd/cmd/emqd").CombinedOutput()
	require.NoError(t, err, "%s", out)
	port := strconv.Itoa(node.FreePort(t))
	cmd := exec.Command(bin, append([]string{"--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir()}, args...)...)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		require.NoError(t, cmd.Wait())
	})
	addr = net.JoinHostPort("127.0.0.1", port)
	for until := time.Now().Add(20 * time.Second); ; {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			require.NoError(t, c.Close())
			return addr, cmd.Process.Pid
		}
		require.True(t, time.Now().Before(until), "%v", err)
	}
}

// TestStoppedServersLeaveNothingBehind stops nodes under every kind of connection.
func TestStoppedServersLeaveNothingBehind(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	files := openFiles(t)
	for range 3 {
		runAndStop(t)
	}
	goleak.VerifyNone(t, ignore)
	require.Equal(t, files, openFiles(t))
}

func openFiles(t testing.TB) int {
	t.Helper()
	runtime.GC() // closes what only a finalizer would
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// runAndStop has clients that wait, listen, stall and talk when the node ends.
func runAndStop(t *testing.T) {
	dir, err := os.MkdirTemp("", "emqd")
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "s")
	n := node.Start(t, func(c *server.Config) { c.UnixSocket = path })
	var conns []net.Conn
	dial := func(network, address string) *node.Conn {
		nc, err := new(net.Dialer).DialContext(context.Background(), network, address)
		require.NoError(t, err)
		conns = append(conns, nc)
		return node.Wrap(t, nc)
	}
	dial("tcp", n.Addr).Want("PING", "+PONG") // and so all listeners are open
	for _, where := range [][2]string{{"tcp", n.Addr}, {"unix", path}} {
		dial(where[0], where[1]).Send("BLPOP nothing 0")
		dial(where[0], where[1]).Send("SUBSCRIBE c")
		dial(where[0], where[1]).Send("MONITOR")
		dial(where[0], where[1]).Raw("*2\r\n$4\r\nECHO\r\n$100\r\nabc")
		dial(where[0], where[1])
		dial(where[0], where[1]).Want("SET k v", "+OK")
	}
	n.Stop()
	for _, c := range conns {
		ended(t, c)
		require.NoError(t, c.Close())
	}
}
