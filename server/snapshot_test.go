package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/aof"
	"github.com/echomq/emqd/store/aof/memfs"
)

// noDump lets snapshots fail.
func noDump(op, name string) error {
	if op == "rename" && strings.HasSuffix(name, "dump.rdb") {
		return errors.New("no")
	}
	return nil
}

// TestStopWritesOnBgsaveError lets snapshots fail where save points are to keep the data: nothing is written until one
// succeeds, there are no save points any more, or that is allowed.
func TestStopWritesOnBgsaveError(t *testing.T) {
	for _, logging := range []bool{false, true} {
		fsys := memfs.New()
		n := startLogged(t, fsys, func(c *Config) { c.AppendOnly, c.Install, c.Save = logging, true, savePoints{{3600, 1}} })
		c := dial(t, n.addr)
		jobs := 0
		refused := func(refused bool) {
			t.Helper()
			jobs++
			for _, write := range []string{"SET k v", fmt.Sprintf("EMQ.ENQUEUE 2 emq:{q}:job:JOB%[1]d emq:{q}:pending JOB%[1]d p", jobs)} {
				require.Equal(t, refused, strings.HasPrefix(c.do(write), "-MISCONF Valkey is configured to save RDB snapshots"), write)
			}
			require.Equal(t, refused, strings.HasPrefix(c.do("MULTI")+c.do("GET k")+c.do("SET k v")+c.do("EXEC"), "+OK\r\n+QUEUED\r\n-MISCONF"))
			require.Contains(t, c.do("GET k"), "v")
		}
		fails := func() {
			t.Helper()
			fsys.SetFail(noDump)
			c.do("BGSAVE")
			require.Equal(t, "err", field(c.settled(), "rdb_last_bgsave_status"))
			fsys.SetFail(nil)
			refused(true)
		}
		refused(false)
		fsys.SetFail(noDump)
		require.Equal(t, "-ERR\r\n", c.do("SAVE"))
		refused(false) // its client was told
		fails()
		require.Equal(t, "+OK\r\n", c.do("SAVE"))
		refused(false)
		fails()
		c.do("BGSAVE")
		require.Equal(t, "ok", field(c.settled(), "rdb_last_bgsave_status"))
		refused(false)
		fails()
		c.do("CONFIG SET stop-writes-on-bgsave-error no")
		refused(false)
		c.do("CONFIG SET stop-writes-on-bgsave-error yes")
		refused(true)
		c.do("CONFIG SET save ''")
		refused(false)
		require.NoError(t, n.stop())
	}
}

// TestProgressOfWork asks how far a snapshot and a rewrite are.
func TestProgressOfWork(t *testing.T) {
	n := startLogged(t, memfs.New())
	c := dial(t, n.addr)
	for i := range 500 {
		c.do(fmt.Sprintf("SET k%d v", i))
	}
	part, goOn := make(chan int64), make(chan bool)
	n.srv.mu.Lock()
	n.srv.works.build = func(ctx context.Context, o *buildOrder, out aof.File) (built, error) {
		told := o.told
		o.told = func(keys int64) {
			told(keys)
			part <- keys
			<-goOn
		}
		return n.srv.here(ctx, o, out)
	}
	n.srv.mu.Unlock()
	for _, command := range []string{"BGSAVE", "BGREWRITEAOF"} {
		require.Contains(t, c.do(command), "started")
		last := int64(0)
		for {
			select {
			case keys := <-part:
				require.Greater(t, keys, last)
				last = keys
				info := c.do("INFO persistence")
				require.Equal(t, fmt.Sprint(keys), field(info, "current_save_keys_processed"))
				require.Equal(t, "500", field(info, "current_save_keys_total"))
				require.Equal(t, fmt.Sprintf("%.2f", float64(keys)/5), field(info, "current_fork_perc"))
				goOn <- true
				continue
			default:
			}
			if info := c.do("INFO persistence"); field(info, "rdb_bgsave_in_progress")+field(info, "aof_rewrite_in_progress") == "00" {
				require.Equal(t, "0", field(info, "current_save_keys_total"))
				break
			}
		}
		require.Positive(t, last)
	}
}

// TestAnswersOfChild reads what a child process says in pieces.
func TestAnswersOfChild(t *testing.T) {
	var told []int64
	a := answers{told: func(keys int64) { told = append(told, keys) }}
	for _, b := range []byte("{\"Keys\":5,\"Bytes\":0,\"More\":true}\n{\"Keys\":9,\"Bytes\":0,\"More\":true}\n{\"Keys\":10,\"Bytes\":100}\n") {
		n, err := a.Write([]byte{b})
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
	require.NoError(t, a.err)
	require.Equal(t, built{Keys: 10, Bytes: 100}, a.last)
	require.Equal(t, []int64{5, 9}, told)
	_, _ = a.Write([]byte("panic\n"))
	require.Error(t, a.err)
}
