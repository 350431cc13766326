// Package crash kills a real emqd again and again while clients work, and compares what it then holds with what it had
// acknowledged.
package crash

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	rounds  = flag.Int("rounds", 10, "how often TestKill kills")
	ballast = flag.Int("ballast", 20_000, "jobs that wait in another queue all the time")
	seed    = flag.Uint64("seed", 1, "seed of TestKill, 0 for a new one")
)

// killed is an emqd that is killed, and what is known of it.
type killed struct {
	t      *testing.T
	bin    string
	dir    string
	socket string
	args   []string // of its own, beside the common ones
	log    *os.File
	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process has ended
	exit   error         // how it ended

	mu   sync.Mutex
	cond *sync.Cond
	life int  // grows with every start that got as far as serving
	up   bool // and is serving
	over bool // clients are to end
}

// begin starts the process.
func (k *killed) begin() {
	k.cmd = exec.Command(k.bin, append([]string{"--port", "0", "--unixsocket", k.socket, "--dir", k.dir, "--install",
		"--auto-aof-rewrite-percentage", "50", "--auto-aof-rewrite-min-size", "16mb"}, k.args...)...)
	k.cmd.Stdout, k.cmd.Stderr = k.log, k.log
	require.NoError(k.t, k.cmd.Start())
	cmd, ended := k.cmd, make(chan struct{})
	k.ended = ended
	go func() {
		k.exit = cmd.Wait() // says that it was killed
		close(ended)
	}()
}

// ready waits until it serves.
func (k *killed) ready() {
	for every := time.Tick(time.Millisecond); ; {
		select {
		case <-k.ended:
			text, _ := os.ReadFile(k.log.Name()) // for the message alone
			require.Fail(k.t, "emqd does not start", "%v\n%s", k.exit, text[max(len(text)-1000, 0):])
		case <-every:
		}
		c, err := net.Dial("unix", k.socket)
		if err != nil {
			continue
		}
		probe := newClient(c)
		reply, err := probe.do("PING")
		probe.leave()
		if err == nil && reply == "+PONG" {
			break
		}
	}
	k.mu.Lock()
	k.life++
	k.up = true
	k.cond.Broadcast()
	k.mu.Unlock()
}

// kill ends the process at once.
func (k *killed) kill() {
	k.mu.Lock()
	k.up = false
	k.mu.Unlock()
	require.NoError(k.t, k.cmd.Process.Kill())
	<-k.ended
}

// dial connects to the next life after last; nil when clients are to end.
func (k *killed) dial(last int) (*client, int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for !k.over && (!k.up || k.life == last) {
		k.cond.Wait()
	}
	if k.over {
		return nil, 0
	}
	c, err := net.Dial("unix", k.socket)
	if err != nil {
		return newClient(nil), k.life // it has been killed just now
	}
	return newClient(c), k.life
}

// end lets the clients end.
func (k *killed) end() {
	k.mu.Lock()
	k.over = true
	k.cond.Broadcast()
	k.mu.Unlock()
}

// ending reports whether clients are to end.
func (k *killed) ending() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.over
}

// seeded returns a generator with the seed of a flag, with a new one for 0, and logs it.
func seeded(t *testing.T, flag string, s uint64) *rand.Rand {
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("-%s %d", flag, s)
	return rand.New(rand.NewPCG(s, 0))
}

// begun asks the node for a work that goes on beside serving. One may be running by itself.
func (k *killed) begun(command string) {
	c, _ := k.dial(0)
	_, _ = c.do(command)
	c.leave()
}

// TestKill kills emqd at random moments, also while it starts, while it writes its log anew or a snapshot, and while it is
// backed up, under producers and workers that keep account of what was acknowledged: no job is lost, none is completed
// twice, no token is given twice; a snapshot or backup is whole or not there.
func TestKill(t *testing.T) {
	r := seeded(t, "seed", *seed)
	n := *rounds
	if testing.Short() {
		n = min(n, 4)
	}
	dir, err := os.MkdirTemp("", "kill") // a Unix socket's path must be short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	k := &killed{t: t, bin: filepath.Join(dir, "emqd"), dir: filepath.Join(dir, "data"), socket: filepath.Join(dir, "s")}
	k.cond = sync.NewCond(&k.mu)
	out, err := exec.Command("go", "build", "-o", k.bin, "../../cmd/emqd").CombinedOutput()
	require.NoError(t, err, "%s", out)
	k.log, err = os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	defer func() { require.NoError(t, k.log.Close()) }()

	l := newLedger(t)
	var all sync.WaitGroup
	defer all.Wait()
	defer k.end()
	k.begin()
	defer func() { // of the last life, which is killed twice when all is well
		_ = k.cmd.Process.Kill()
		<-k.ended
	}()
	k.ready()
	c, _ := k.dial(0)
	l.load(c, *ballast)
	for i := range 2 {
		all.Go(func() { l.produce(k, i) })
	}
	for i := range 6 {
		all.Go(func() { l.work(k, i) })
	}
	all.Go(func() { l.mend(k) })
	var starts []time.Duration
	early, rewrites := 0, 0
	copies := &copies{t: t, k: k, dest: filepath.Join(dir, "backup")}
	for range n {
		wait := 60 * time.Millisecond
		what := r.IntN(8)
		switch what {
		case 0, 1:
			rewrites++
			k.begun("BGREWRITEAOF")
		case 2, 3:
			copies.snapshots++
			k.begun("BGSAVE")
			wait = 300 * time.Millisecond
		case 4, 5:
			copies.begin()
			wait = 120 * time.Millisecond
		default:
			wait = 500 * time.Millisecond
		}
		<-time.After(time.Duration(r.Int64N(int64(wait))))
		k.kill()
		if what == 4 || what == 5 {
			copies.end(r.IntN(2) == 0)
		}
		copies.look()
		for r.IntN(4) == 0 {
			early++
			k.begin()
			<-time.After(time.Duration(r.Int64N(int64(80 * time.Millisecond))))
			k.kill()
		}
		began := time.Now()
		k.begin()
		k.ready()
		starts = append(starts, time.Since(began))
		require.False(t, t.Failed())
	}
	l.stop()
	l.drain(k)
	k.end()
	all.Wait()
	c, err = connect(k.socket)
	require.NoError(t, err)
	l.check(c, *ballast)
	size, _ := exec.Command("du", "-sk", k.dir).Output() // for the report alone
	slices.Sort(starts)
	t.Logf("%d kills, %d more while it started, %d while the log was written anew", n, early, rewrites)
	t.Log(copies.report())
	t.Logf("start until it serves: min %v, median %v, max %v; %d kB on the disk", starts[0].Round(time.Millisecond),
		starts[len(starts)/2].Round(time.Millisecond), starts[len(starts)-1].Round(time.Millisecond), kilobytes(size))
	t.Log(l.report())
	require.NoError(t, k.cmd.Process.Kill())
}

func kilobytes(du []byte) (n int) {
	_, _ = fmt.Sscan(string(du), &n) // 0 when there is no du
	return n
}
