package server

import (
	"flag"
	"math/rand/v2"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

var faultStep = flag.Int("fault-step", 8, "TestFaultEverywhere lets one of so many operations fail")

// rewriteNow writes the log anew and waits until that is done.
func (b *bare) rewriteNow() {
	b.srv.mu.Lock()
	b.srv.rewrite()
	b.srv.mu.Unlock()
	b.srv.works.running.Wait()
}

// heal lets the node try to get well, as its timer does.
func (b *bare) heal() {
	l := b.srv.aof
	idle := false // what the last step began is done
	for steps := 0; steps < 4 || !idle; runtime.Gosched() {
		b.srv.mu.Lock()
		if idle = l.filling == nil && !l.reserving && b.srv.works.now == nil; idle && steps < 4 {
			steps, idle = steps+1, false
			l.retryAt = 0
			l.cron()
		}
		b.srv.mu.Unlock()
	}
	b.srv.mu.Lock()
	defer b.srv.mu.Unlock()
	b.note()
}

// faulty is one run in which an operation fails.
type faulty struct {
	*bare
	r      *rand.Rand
	where  string // of the fault
	points int
}

// crash plays crashes at the present moment.
func (f *faulty) crash() {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	p := newPlatter()
	for _, op := range f.d.ops {
		p.apply(op)
	}
	for _, fate := range []fate{dropped, kept, shuffled(f.r), shuffled(f.r)} {
		f.points++
		got, err := inspect(p.after(fate))
		require.NoError(f.t, err, f.where)
		f.explains(got, f.d.mark(), f.where)
	}
}

// life starts the node, again when the fault was in the start, and works.
func (f *faulty) life() {
	if err := f.start(); err != nil {
		f.crash()
		require.NoError(f.t, f.start(), f.where)
	}
	for range 3 {
		f.work()
	}
	f.crash()
	if f.r.IntN(2) == 0 { // killed: what the system has in its cache is there for the next start, durable or not
		if f.start() != nil {
			f.crash()
			require.NoError(f.t, f.start(), f.where)
		}
		f.work()
		f.crash()
	}
	f.rewriteNow()
	for range 2 {
		f.work()
	}
	f.crash()
	f.heal()
	l := f.srv.aof
	require.True(f.t, l.broken == nil && !l.tight, "%s: not well again: %v", f.where, l.broken)
	if f.turn("SET well again") == "" { // the fault was in it
		f.heal()
		require.Equal(f.t, "+OK\r\n", f.turn("SET well again"), f.where)
	}
	require.Equal(f.t, f.written.Load(), f.acked.Load(), f.where)
	f.crash()
}

// run is the whole of it, with the fault at operation at.
func (f *faulty) run() {
	f.life()
	err := f.srv.closeLog()
	if err == nil {
		f.acked.Store(f.written.Load())
	}
	f.crash()
	f.life()
}

// TestFaultEverywhere lets operations on the files fail, one in each run, in each way: what was acknowledged before and
// after is there, and the node gets well again by itself.
func TestFaultEverywhere(t *testing.T) {
	seed := proofSeed(t)
	faults := map[string]error{"EIO": syscall.EIO, "ENOSPC": syscall.ENOSPC, "short EIO": short{syscall.EIO}, "short ENOSPC": short{syscall.ENOSPC}}
	count, points, runs := 0, 0, 0
	step := *faultStep
	if testing.Short() {
		step *= 4
	}
	for at := 0; at == 0 || at <= count; at += step {
		for name, fault := range faults {
			d := newDisk()
			f := &faulty{bare: newBare(t, d, seed), r: rand.New(rand.NewPCG(seed, uint64(at)))}
			n := 0
			d.fail = func(op *diskOp) error {
				if n++; n != at || strings.HasPrefix(name, "short") && op.kind != "write" {
					return nil
				}
				f.where = name + " at " + op.kind + " " + op.name
				return fault
			}
			f.run()
			points += f.points
			runs++
			if at == 0 {
				count = n
				at = 1 - step + int(seed%uint64(step))
				break
			}
		}
	}
	t.Logf("%d operations, %d runs with a fault in one of them, %d crashes afterwards", count, runs-1, points)
}

// TestFaultBeside lets a sync in the background fail, which was also for what is written meanwhile: the next sync does not take
// that for durable.
func TestFaultBeside(t *testing.T) {
	d := newDisk()
	f := &faulty{bare: newBare(t, d, proofSeed(t)), r: rand.New(rand.NewPCG(1, 1))}
	require.NoError(t, f.start())
	require.Equal(t, "+OK\r\n", f.turn("SET before 1"))
	d.fail = func(op *diskOp) error {
		if op.kind == "sync" {
			return syscall.EIO
		}
		return nil
	}
	require.Error(t, f.srv.aof.w.Side().Sync())
	d.fail = nil
	require.Empty(t, f.turn("SET lost 1"))
	require.Error(t, f.srv.aof.broken)
	f.crash()
	f.heal()
	require.Equal(t, "+OK\r\n", f.turn("SET after 1"))
	f.crash()
}

// TestFaultStays lets everything on the disk fail from some operation on: reads are served, writes are refused.
func TestFaultStays(t *testing.T) {
	seed := proofSeed(t)
	for _, fault := range []error{syscall.EIO, syscall.ENOSPC} {
		for at := range 12 {
			d := newDisk()
			f := &faulty{bare: newBare(t, d, seed), r: rand.New(rand.NewPCG(seed, uint64(at)))}
			require.NoError(t, f.start())
			require.Equal(t, "+OK\r\n", f.turn("SET before 1"))
			n := 0
			d.fail = func(*diskOp) error {
				if n++; n > at {
					return fault
				}
				return nil
			}
			for range 20 {
				f.work()
				f.heal()
			}
			for f.srv.aof.broken == nil && !f.srv.aof.tight {
				f.turn("SET fill " + strings.Repeat("x", 50_000))
			}
			require.Contains(t, f.turn("SET later 1"), "MISCONF Errors writing to the AOF file: ")
			require.Equal(t, "$1\r\n1\r\n", f.turn("GET before"))
			f.crash()
			d.fail = nil
			f.heal()
			require.Equal(t, "+OK\r\n", f.turn("SET later 1"), fault.Error())
			f.crash()
		}
	}
}
