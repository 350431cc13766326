package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/aof/memfs"
)

// filled returns the file system of a stopped node whose log is too long to be read before listening, with n keys.
func filled(t *testing.T) (fsys *memfs.FS, n int) {
	fsys = memfs.New()
	l := startLogged(t, fsys, func(c *Config) { c.AppendFsync = "no" })
	c := dial(t, l.addr)
	value := strings.Repeat("v", 2000)
	const batch = 100
	for len(fsys.Bytes("/data/appendonlydir/appendonly.aof.1.incr.aof")) < 2*quietLoad {
		lines := make([]string, batch)
		for i := range lines {
			lines[i] = fmt.Sprintf("SET k%d %s", n+i, value)
		}
		c.send(lines...)
		for range lines {
			require.Equal(t, "+OK\r\n", c.next())
		}
		n += batch
	}
	require.NoError(t, l.stop())
	return fsys, n
}

// TestLoading talks to a node while it reads its log.
func TestLoading(t *testing.T) {
	fsys, n := filled(t)
	// The test holds the keyspace lock's turn by asking; what it sees depends on how fast the log is read.
	node := startLogged(t, fsys)
	c := dial(t, node.addr)
	seen := false
	for {
		info := c.do("INFO persistence")
		if field(info, "loading") == "0" {
			break
		}
		seen = true
		require.NotEmpty(t, field(info, "loading_loaded_perc"))
		require.NotEmpty(t, field(info, "loading_eta_seconds"))
		if reply := c.do("GET k0"); reply[0] == '-' {
			require.Equal(t, "-LOADING emqd is loading the dataset in memory\r\n", reply)
		}
	}
	require.Equal(t, fmt.Sprintf(":%d\r\n", n), c.do("DBSIZE"))
	require.Equal(t, "2", field(c.do("INFO persistence"), "node_epoch"))
	t.Log("seen while loading:", seen)
}

// TestStopWhileLoading stops a node before it has read its log; the next one reads all of it.
func TestStopWhileLoading(t *testing.T) {
	fsys, n := filled(t)
	cfg := NewConfig()
	cfg.Dir = "/data"
	srv, err := New(cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	srv.fsys = fsys
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	srv.Listen(ln)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.NoError(t, srv.Run(ctx))
	require.Nil(t, srv.aof)
	c := dial(t, startLogged(t, fsys).addr)
	for field(c.do("INFO persistence"), "loading") == "1" {
	}
	require.Equal(t, fmt.Sprintf(":%d\r\n", n), c.do("DBSIZE"))
}

// TestLoadingGate refuses what needs the data and serves the rest.
func TestLoadingGate(t *testing.T) {
	srv, err := New(NewConfig(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	srv.loading = &loading{total: 200, done: 50}
	for name, refused := range map[string]bool{"get": true, "set": true, "info": false, "ping": true, "emq.claim": true, "config|get": false} {
		err := gateLoading(srv, nil, srv.table.Named([]byte(name)), nil)
		require.Equal(t, refused, err != nil, name)
	}
	require.InDelta(t, 25, srv.loading.percent(), 0)
	require.EqualValues(t, 3, srv.loading.left(1000))
}
