package server

import (
	"errors"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/aof"
)

var (
	crashTurns = flag.Int("crash-turns", 8, "turns of each life in TestCrashEverywhere")
	crashSeed  = flag.Uint64("crash-seed", 1, "seed of the crash tests, 0 for a new one")
)

func proofSeed(t *testing.T) uint64 {
	seed := *crashSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	return seed
}

// crashes plays the crashes of a recorded disk.
type crashes struct {
	b      *bare
	r      *rand.Rand
	points int
	every  int // of the cuts of a write, so many are left out
	starts int // whole starts among the points

	// strict is false when several writes may be without a sync, and sectors of a later one there before an earlier one's:
	// that may look like damage, and then it is refused and never passed over.
	strict  bool
	refused int
}

// at plays every crash that op, the last one of p, may end in.
func (c *crashes) at(p *platter, i int, op diskOp) {
	c.try(p, i, op, "dropped", dropped)
	c.try(p, i, op, "kept", kept)
	c.try(p, i, op, "zeroed", zeroed)
	for range 3 {
		c.try(p, i, op, "shuffled", shuffled(c.r))
	}
	if op.kind != "write" {
		return
	}
	n := p.files[op.file].pendingBytes()
	step := 1
	if n > 4096 {
		step = n / 16 // filler: every byte of it is like another
	}
	for cut := c.r.IntN(step); cut < n; cut += step {
		if c.every > 1 && cut%c.every != 0 {
			continue
		}
		c.try(p, i, op, "cut", fate{always, func(f *platterFile) []byte {
			if f == p.files[op.file] {
				return f.cut(cut)
			}
			return f.synced
		}})
	}
}

func (c *crashes) try(p *platter, i int, op diskOp, name string, f fate) {
	c.points++
	after := p.after(f)
	got, err := inspect(after)
	var damage *aof.Damage
	if !c.strict && name == "shuffled" && errors.As(err, &damage) {
		c.refused++
		return
	}
	require.NoError(c.b.t, err, "operation %d, %s %s, %s", i, op.kind, op.name, name)
	promised := op.span
	if name == "kept" { // as after the end of the process alone
		promised.acked = promised.answered
	}
	c.b.explains(got, promised, "operation %d, %s %s, %s", i, op.kind, op.name, name)
	if c.r.IntN(400) == 0 {
		c.starts++
		c.points += c.b.again(after, got, c.r)
	}
}

// play plays all of them.
func (c *crashes) play(ops []diskOp) {
	p := newPlatter()
	for i, op := range ops {
		p.apply(op)
		if !strings.HasSuffix(op.name, ".reserve") {
			c.at(p, i, op)
		}
	}
}

// TestCrashEverywhere records what a node writes over several lives that end in different ways, and plays a crash at
// every operation with every fate of what was not synced: what was acknowledged is there, without appendfsync always what the last
// sync was for, no transaction is there by half, and the keyspace is the one that there was after the last record that is there.
func TestCrashEverywhere(t *testing.T) {
	seed := proofSeed(t)
	for _, fsync := range []string{"always", "everysec", "no"} {
		d := newDisk()
		b := newBare(t, d, seed)
		turns := *crashTurns
		if testing.Short() {
			turns /= 3
		}
		for life := range 4 {
			require.NoError(t, b.start(func(c *Config) { c.AppendFsync = fsync }))
			require.EqualValues(t, life+1, b.srv.store.Epoch)
			for i := range turns {
				require.NotEmpty(t, b.work())
				switch {
				case fsync == "everysec" && i%3 == 2:
					b.second(i%2 == 0)
				case fsync != "always" && i%10 == 9:
					require.Contains(t, b.turn("WAITAOF 1 0 0"), "*2\r\n:1\r\n")
					require.Equal(t, b.written.Load(), b.acked.Load())
				}
				if life >= 2 && i == turns/2 {
					b.srv.mu.Lock()
					b.srv.rewrite()
					b.srv.mu.Unlock()
				}
			}
			b.srv.works.running.Wait() // a rewrite in the background; crashes in it are played below
			switch life {
			case 0, 2: // killed: the files are what the next life finds
			case 1:
				require.NoError(t, b.srv.closeLog())
				b.acked.Store(b.written.Load())
				b.answered.Store(b.written.Load())
			}
		}
		c := &crashes{b: b, r: rand.New(rand.NewPCG(seed, 2)), every: 1, strict: true}
		if testing.Short() {
			c.every = 5
		}
		if fsync != "always" {
			c.every, c.strict = 50, false
		}
		c.play(d.ops)
		t.Logf("appendfsync %s: %d operations, %d records, %d crashes; %d whole starts and crashes during them; %d refused",
			fsync, len(d.ops), b.written.Load(), c.points, c.starts, c.refused)
	}
}
