package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/node"
)

// tenants and how many jobs of each may run at once.
var tenants = map[string]int{"ant": 1, "bee": 2, "cat": 9}

// yard starts a node with the limits set, and jobs of every tenant.
func yard(t *testing.T, jobs int) (*node.Node, *redis.Client) {
	n, ctx := node.Start(t), t.Context()
	c := redis.NewClient(&redis.Options{Addr: n.Addr})
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, c.Do(ctx, "EMQ.INSTALL").Err())
	for tenant, limit := range tenants {
		require.NoError(t, c.Do(ctx, "EMQ.GROUP.LIMIT", 1, "emq:{q}:", tenant, limit).Err())
		for i := range jobs {
			id := fmt.Sprintf("JOB%s%04d", tenant, i)
			added, err := c.Do(ctx, "EMQ.GROUP.ENQUEUE", 3, "emq:{q}:job:"+id, "emq:{q}:g:"+tenant+":pending", "emq:{q}:",
				id, "letter "+id, tenant).Int()
			require.NoError(t, err)
			require.Equal(t, 1, added)
		}
	}
	return n, c
}

// settled requires that nothing is left of the jobs but their count.
func settled(t *testing.T, c *redis.Client, jobs int) {
	done, err := c.HGet(t.Context(), "emq:{q}:metrics:completed", "count").Int()
	require.NoError(t, err)
	require.Equal(t, jobs, done)
	keys, err := c.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	slices.Sort(keys)
	require.Equal(t, []string{"emq:{q}:glimit", "emq:{q}:metrics:completed", "emq:{q}:wake", "{emq}:version"}, keys)
}

// TestLaneWorkers lets eight workers compete. No tenant has more jobs running than it may, each job is done once, and
// what failed is done again.
func TestLaneWorkers(t *testing.T) {
	const jobs = 60
	n, c := yard(t, jobs)
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	var mu sync.Mutex
	running, done, failed := map[string]int{}, map[string]int{}, map[string]bool{}
	handle := func(tenant, id, payload string) error {
		mu.Lock()
		defer mu.Unlock()
		if payload != "letter "+id || !strings.Contains(id, tenant) {
			t.Errorf("%s of %s has %q", id, tenant, payload)
		}
		if running[tenant]++; running[tenant] > tenants[tenant] {
			t.Errorf("%d jobs of %s run", running[tenant], tenant)
		}
		mu.Unlock()
		err := c.Ping(ctx).Err() // the others get on meanwhile
		mu.Lock()
		running[tenant]--
		if strings.HasSuffix(id, "7") && !failed[id] {
			failed[id] = true
			return errors.New("not yet")
		}
		if done[id]++; len(done) == jobs*len(tenants) {
			stop()
		}
		return err
	}
	var all sync.WaitGroup
	w := &worker{queue: "q", lease: time.Minute, retry: time.Millisecond, handle: handle}
	for range 8 {
		own := *w
		own.redis = redis.NewClient(&redis.Options{Addr: n.Addr})
		t.Cleanup(func() { require.NoError(t, own.redis.Close()) })
		all.Go(func() {
			if err := own.work(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		})
	}
	w.redis = c
	all.Go(func() {
		if err := w.mend(ctx, 10*time.Millisecond); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	all.Wait()
	require.Len(t, done, jobs*len(tenants))
	for id, times := range done {
		require.Equal(t, 1, times, id)
	}
	require.Len(t, failed, len(tenants)*jobs/10)
	settled(t, c, jobs*len(tenants))
}

// TestJobWithoutPayload takes the payload from a row, which is then worked as an empty one.
func TestJobWithoutPayload(t *testing.T) {
	_, c := yard(t, 1)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	require.EqualValues(t, 1, c.HDel(ctx, "emq:{q}:job:JOBbee0000", "payload").Val())
	got := map[string]string{}
	w := &worker{redis: c, queue: "q", lease: time.Minute, handle: func(tenant, id, payload string) error {
		if got[tenant] = payload; len(got) == len(tenants) {
			stop()
		}
		return nil
	}}
	if err := w.work(ctx); err != nil {
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Equal(t, map[string]string{"ant": "letter JOBant0000", "bee": "", "cat": "letter JOBcat0000"}, got)
	settled(t, c, len(tenants))
}

// TestShell runs lanes.sh, of which the jobs of one tenant fail at first.
func TestShell(t *testing.T) {
	if _, err := exec.LookPath("redis-cli"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("redis-cli is not installed")
		}
		t.Skip("redis-cli is not installed")
	}
	n, c := yard(t, 2)
	_, port, err := net.SplitHostPort(n.Addr)
	require.NoError(t, err)
	const handler = `echo "$*"; [ "$1" != bee ] || [ -e "$0/$2" ] || ! : >"$0/$2"`
	run := exec.CommandContext(t.Context(), "./lanes.sh", port, "q", "sh", "-c", handler, t.TempDir())
	run.Env = append(os.Environ(), "RETRY=0", "WAIT=0.2")
	run.Stderr = os.Stderr
	out, err := run.Output()
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(lines)
	require.Equal(t, []string{
		"ant JOBant0000 letter JOBant0000", "ant JOBant0001 letter JOBant0001",
		"bee JOBbee0000 letter JOBbee0000", "bee JOBbee0000 letter JOBbee0000",
		"bee JOBbee0001 letter JOBbee0001", "bee JOBbee0001 letter JOBbee0001",
		"cat JOBcat0000 letter JOBcat0000", "cat JOBcat0001 letter JOBcat0001",
	}, lines)
	settled(t, c, 6)
}
