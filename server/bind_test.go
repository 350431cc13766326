package server

import (
	"io"
	"log/slog"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListenTCP(t *testing.T) {
	cfg := NewConfig()
	cfg.AppendOnly = false // what is about the log says so
	cfg.Dir = t.TempDir()
	srv, err := New(cfg, slog.New(slog.NewTextHandler(io.Discard, nil)))
	require.NoError(t, err)
	open := func(port int, bind ...string) ([]net.Listener, error) {
		cfg.Bind = bind
		all, err := srv.listenTCP(port)
		for _, ln := range all {
			t.Cleanup(func() { _ = ln.Close() })
		}
		return all, err
	}

	all, err := open(0, "127.0.0.1", "-192.0.2.1", "-nosuch.invalid")
	require.NoError(t, err)
	require.Len(t, all, 1)
	used := all[0].Addr().(*net.TCPAddr).Port

	_, err = open(used, "127.0.0.1")
	require.Error(t, err)
	_, err = open(used, "-127.0.0.1")
	require.Error(t, err, "an optional address is not one whose port may be taken")
	_, err = open(0, "192.0.2.1")
	require.Error(t, err)
	_, err = open(0, "-192.0.2.1")
	require.ErrorContains(t, err, "no address")
	all, err = open(0)
	require.NoError(t, err)
	require.Empty(t, all)

	all, err = open(0, "*", "-::*")
	require.NoError(t, err)
	require.Equal(t, "0.0.0.0", all[0].Addr().(*net.TCPAddr).IP.String())
}
