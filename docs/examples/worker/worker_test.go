package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/node"
)

var (
	jobs = flag.Int("jobs", 2000, "jobs of TestWorkersLoseNoJob")
	seed = flag.Uint64("seed", 1, "seed of TestWorkersLoseNoJob")
)

// fleet are workers of which some crash, and what is known about their jobs.
type fleet struct {
	t    *testing.T
	addr string

	mu        sync.Mutex
	rand      *rand.Rand
	mishaps   map[string]int // by job
	completed map[string]int // replies 1 to EMQ.COMPLETE, by job
	stale     int            // refusals of workers that were too slow
}

// The ways in which the handling of a job may go wrong.
const (
	well    = iota
	cutOff  // the connection ends, and the worker with it
	fails   // the handler returns an error
	sleepy  // the lease is not extended and lapses
	mishaps // how many there are
)

// fate draws what happens to a job, at most two mishaps.
func (f *fleet) fate(id string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mishaps[id] >= 2 || f.rand.IntN(100) >= 6 {
		return well
	}
	f.mishaps[id]++
	return 1 + f.rand.IntN(mishaps-1)
}

// watcher sees the commands of one worker.
type watcher struct {
	*fleet
	mu     sync.Mutex
	asleep bool
}

func (w *watcher) DialHook(next redis.DialHook) redis.DialHook { return next }

func (w *watcher) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook keeps a sleepy worker from extending, and counts completions.
func (w *watcher) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		name := cmd.Name()
		w.mu.Lock()
		asleep := w.asleep
		w.mu.Unlock()
		if name == "emq.extend" && asleep {
			return nil
		}
		err := next(ctx, cmd)
		if name != "emq.complete" {
			return err
		}
		w.fleet.mu.Lock()
		defer w.fleet.mu.Unlock()
		if n, failure := cmd.(*redis.Cmd).Int(); failure == nil && n == 1 {
			w.completed[cmd.Args()[5].(string)]++
		} else if err == nil || strings.HasPrefix(err.Error(), "EMQSTALE") {
			w.stale++ // another has the job, or has completed it
		}
		return err
	}
}

// run works until ctx is done, with a new connection after each crash.
func (f *fleet) run(ctx context.Context) {
	for ctx.Err() == nil {
		c := redis.NewClient(&redis.Options{Addr: f.addr, MaxRetries: -1})
		see := &watcher{fleet: f}
		c.AddHook(see)
		crashed := false
		w := &worker{redis: c, queue: "q", lease: 300 * time.Millisecond, retry: 10 * time.Millisecond}
		w.handle = func(id, payload string) error {
			if payload != "payload of "+id {
				f.t.Errorf("%s has %q", id, payload)
			}
			fate := f.fate(id)
			see.mu.Lock()
			see.asleep = fate == sleepy
			see.mu.Unlock()
			switch fate {
			case cutOff:
				crashed = true
				return c.Close()
			case fails:
				return errors.New("failed")
			case sleepy:
				f.oversleep(ctx, id)
			}
			return nil
		}
		err := w.work(ctx)
		if err != nil && ctx.Err() == nil && !crashed {
			f.t.Error(err)
			return
		}
		if !crashed {
			if err := c.Close(); err != nil {
				f.t.Error(err)
			}
		}
	}
}

// oversleep returns when the lease of a job has lapsed.
func (f *fleet) oversleep(ctx context.Context, id string) {
	c := redis.NewClient(&redis.Options{Addr: f.addr})
	defer func() { _ = c.Close() }() // nothing is left to be sent
	row := "emq:{q}:job:" + id
	for ctx.Err() == nil {
		state, err := c.HGet(ctx, row, "state").Result()
		if err == redis.Nil || err == nil && state != "active" {
			return
		}
	}
}

// TestWorkersLoseNoJob crashes, fails and delays workers at random: every job is completed exactly once.
func TestWorkersLoseNoJob(t *testing.T) {
	t.Logf("-seed %d", *seed)
	n := node.Start(t)
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute)
	defer stop()
	c := redis.NewClient(&redis.Options{Addr: n.Addr})
	defer func() { require.NoError(t, c.Close()) }()
	require.NoError(t, c.Do(ctx, "EMQ.INSTALL").Err())
	f := &fleet{t: t, addr: n.Addr, rand: rand.New(rand.NewPCG(*seed, 0)), mishaps: map[string]int{}, completed: map[string]int{}}
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for range 32 {
		all.Go(func() { f.run(ctx) })
	}
	all.Go(func() {
		w := &worker{redis: c, queue: "q", lease: 300 * time.Millisecond}
		if err := w.mend(ctx); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	for first := 0; first < *jobs; first += 1000 {
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := first; i < min(first+1000, *jobs); i++ {
				id := fmt.Sprintf("JOB%011d", i)
				p.Do(ctx, "EMQ.ENQUEUE", 2, "emq:{q}:job:"+id, "emq:{q}:pending", id, "payload of "+id)
			}
			return nil
		})
		require.NoError(t, err)
	}
	for {
		done, err := c.HGet(ctx, "emq:{q}:metrics:completed", "count").Int()
		if err != redis.Nil {
			require.NoError(t, err)
		}
		if done >= *jobs {
			break
		}
	}
	require.EqualValues(t, 2, c.DBSize(ctx).Val(), "the fence and the count of completed jobs")
	stop()
	all.Wait()
	require.Len(t, f.completed, *jobs)
	for id, times := range f.completed {
		require.Equal(t, 1, times, id)
	}
	total := 0
	for _, times := range f.mishaps {
		total += times
	}
	t.Logf("%d mishaps, %d completions came too late", total, f.stale)
	require.Positive(t, total)
}

// TestWorkerRuns builds the command, gives it a job, and interrupts it.
func TestWorkerRuns(t *testing.T) {
	n := node.Start(t)
	c := n.Dial()
	c.Want("EMQ.INSTALL", "+OK")
	c.Want("EMQ.ENQUEUE 2 emq:{q}:job:JOB1 emq:{q}:pending JOB1 hello", ":1")
	bin := filepath.Join(t.TempDir(), "worker")
	out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd := exec.Command(bin, n.Addr, "q")
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "JOB1 hello\n", line)
	for c.Do("EXISTS emq:{q}:job:JOB1") == ":1" {
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait())
	c.Want("HGET emq:{q}:metrics:completed count", `$"1"`)
}
