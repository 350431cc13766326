package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/server"
)

// asCommand, when set in the environment, makes the test binary be emqd itself.
const asCommand = "TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestJoinWords(t *testing.T) {
	for _, tt := range []struct{ in, want []string }{
		{[]string{"--port", "1", "f"}, []string{"--port=1", "f"}},
		{[]string{"f", "--save", "900", "1", "300", "10", "--port", "1"}, []string{"f", "--save=900 1 300 10", "--port=1"}},
		{[]string{"--save", "", "--bind", "127.0.0.1", "-::1"}, []string{"--save=", "--bind=127.0.0.1 -::1"}},
		{[]string{"--install", "--appendonly", "no", "f"}, []string{"--install=yes", "--appendonly=no", "f"}},
		{[]string{"--install", "f"}, []string{"--install=yes", "f"}},
		{[]string{"--install=no", "--", "--save", "1"}, []string{"--install=no", "--", "--save", "1"}},
		{[]string{"version", "--timeout", "-1", "-h"}, []string{"version", "--timeout=-1", "-h"}},
	} {
		got, err := joinWords(tt.in)
		require.NoError(t, err)
		require.Equal(t, tt.want, got)
	}
}

func TestParseLine(t *testing.T) {
	for _, tt := range []struct {
		args string
		want line
	}{
		{"", line{command: "serve"}},
		{"emqd.conf", line{command: "serve", file: "emqd.conf"}},
		{"serve emqd.conf --port 1", line{command: "serve", file: "emqd.conf", flags: []server.Pair{{Name: "port", Value: "1"}}}},
		{"--port=1 emqd.conf", line{command: "serve", file: "emqd.conf", flags: []server.Pair{{Name: "port", Value: "1"}}}},
		{"--slowlog-log-slower-than -1 --install", line{command: "serve", flags: []server.Pair{
			{Name: "slowlog-log-slower-than", Value: "-1"}, {Name: "install", Value: "yes"}}}},
		{"--hash-max-ziplist-entries 3 --notify-keyspace-events g$KE", line{command: "serve", flags: []server.Pair{
			{Name: "notify-keyspace-events", Value: "g$KE"}, {Name: "hash-max-listpack-entries", Value: "3"}}}},
		{"healthcheck --port 9 f", line{command: "healthcheck", file: "f", flags: []server.Pair{{Name: "port", Value: "9"}}}},
		{"version", line{command: "version"}},
		{"check d", line{command: "check", dirs: []string{"d"}}},
		{"repair d out", line{command: "repair", dirs: []string{"d", "out"}}},
	} {
		got, err := parseLine(strings.Fields(tt.args), io.Discard)
		require.NoError(t, err, tt.args)
		require.Equal(t, &tt.want, got, tt.args)
	}
}

func TestRunRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"--nosuch 1":             "unknown flag --nosuch",
		"--port x":               "--port: argument couldn't be parsed into an integer",
		"--user root":            "unknown flag --user",
		"--bind 0.0.0.0":         "protected mode",
		"a.conf b.conf":          "unexpected argument b.conf",
		"/nonexistent.conf":      "no such file",
		"--port":                 "--port: a value is missing",
		"--requirepass --port 1": "--requirepass: a value is missing",
		"--port 1 --bind":        "--bind: a value is missing",
		"healthcheck --port x":   "--port: argument",
	} {
		var out, errs bytes.Buffer
		require.Equal(t, exitUsage, run(strings.Fields(args), nil, &out, &errs), args)
		require.Contains(t, errs.String(), want, args)
		require.Empty(t, out.String(), args)
	}
}

func TestHelpAndVersion(t *testing.T) {
	var out bytes.Buffer
	require.Zero(t, run([]string{"--help"}, nil, &out, io.Discard))
	for s := range server.Settings() {
		if s.Hidden || s.File {
			require.NotContains(t, out.String(), "--"+s.Name+"=")
			continue
		}
		require.Contains(t, out.String(), "--"+s.Name+"=")
	}
	for _, g := range server.Groups() {
		if g[0] != "accepted" {
			require.Contains(t, out.String(), "\n"+g[1]+":\n")
		}
	}
	require.True(t, strings.HasPrefix(out.String(), "Usage: emqd [FILE] [--setting value ...]\n"))
	out.Reset()
	require.Zero(t, run([]string{"version"}, nil, &out, io.Discard))
	require.Regexp(t, `^emqd \d+\.\d+\.\d+.*, wire echomq:\d+\.\d+\.\d+, go`, out.String())
}

// answer serves one connection with the replies, one for each request line that starts with '*'.
func answer(t *testing.T, replies ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		in := bufio.NewReader(conn)
		if len(replies) == 0 {
			_, _ = in.ReadString('\n') // closed only once there is a request, or writing that would fail
		}
		for len(replies) > 0 {
			text, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if strings.HasPrefix(text, "*") {
				_, _ = io.WriteString(conn, replies[0]+"\r\n")
				replies = replies[1:]
			}
		}
	}()
	return path
}

func TestHealthcheck(t *testing.T) {
	for _, tt := range []struct {
		pass    string
		replies []string
		want    string
	}{
		{"", []string{"+PONG"}, ""},
		{"", []string{"-NOAUTH Authentication required."}, ""},
		{"", []string{"-LOADING"}, "PING was answered -LOADING"},
		{"", nil, "no reply to PING"},
		{"p", []string{"+OK", "+PONG"}, ""},
		{"p", []string{"-WRONGPASS x"}, "AUTH was answered -WRONGPASS x"},
	} {
		cfg := server.NewConfig()
		cfg.Port, cfg.UnixSocket, cfg.RequirePass = 0, answer(t, tt.replies...), tt.pass
		err := healthcheck(cfg)
		if tt.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, tt.want)
	}
}

func TestLocalAddress(t *testing.T) {
	for bind, want := range map[string]string{
		"": "127.0.0.1", "*": "127.0.0.1", "-::*": "::1", "0.0.0.0": "127.0.0.1", "10.1.1.1 ::1": "10.1.1.1", "-::1": "::1",
	} {
		require.Equal(t, want, localAddress(strings.Fields(bind)), bind)
	}
}

func TestLogger(t *testing.T) {
	cfg := server.NewConfig()
	cfg.LogFile, cfg.LogFormat, cfg.LogLevel = filepath.Join(t.TempDir(), "log"), "json", "warning"
	log, closer, err := newLogger(cfg)
	require.NoError(t, err)
	log.Info("one")
	log.Warn("two")
	require.NoError(t, cfg.Set(server.Pair{Name: "loglevel", Value: "verbose"}))
	log.Debug("three")
	log.Log(t.Context(), server.LevelVerbose, "four")
	log.Info("five", slog.String("level", "kept"))
	require.NoError(t, closer.Close())
	text, err := os.ReadFile(cfg.LogFile)
	require.NoError(t, err)
	var got []string
	for _, l := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var m map[string]any
		require.NoError(t, json.Unmarshal([]byte(l), &m))
		got = append(got, m["msg"].(string))
	}
	require.Equal(t, []string{"two", "four", "five"}, got)
	require.Contains(t, string(text), `"level":"warning","msg":"two"`)
	require.Contains(t, string(text), `"level":"verbose"`)
}

// node starts the command itself and returns it once it listens, with the rest of its log.
func node(t *testing.T, args ...string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	log := bufio.NewReader(stderr)
	for said := ""; ; {
		text, err := log.ReadString('\n')
		said += text
		if err != nil {
			require.NoError(t, err, "emqd ended before it listened: %v, %s", cmd.Wait(), said)
		}
		if strings.Contains(text, "msg=listening") {
			return cmd, log
		}
	}
}

func TestServeAndStop(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		socket := filepath.Join(t.TempDir(), "s")
		settings := []string{"--port", "0", "--unixsocket", socket, "--dir", filepath.Join(t.TempDir(), "data"), "--install"}
		cmd, log := node(t, settings...)
		require.Zero(t, run(append([]string{"healthcheck"}, settings...), nil, io.Discard, io.Discard))
		require.NoError(t, cmd.Process.Signal(signal))
		_, err := io.Copy(io.Discard, log)
		require.NoError(t, err)
		require.NoError(t, cmd.Wait(), "a clean stop exits with 0")
		require.Equal(t, exitFailure, run(append([]string{"healthcheck"}, settings...), nil, io.Discard, io.Discard))
	}
}

// TestCheckAndRepair damages what a node has written.
func TestCheckAndRepair(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	settings := []string{"--port", "0", "--unixsocket", filepath.Join(t.TempDir(), "s"), "--dir", dir, "--install"}
	cmd, _ := node(t, settings...)
	var busy bytes.Buffer
	require.Equal(t, exitFailure, run(settings, nil, io.Discard, &busy))
	require.Contains(t, busy.String(), "is used by another emqd")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // says that it was killed
	var out, errs bytes.Buffer
	require.Zero(t, run([]string{"check", dir}, nil, &out, &errs))
	require.Contains(t, out.String(), "appendonly.aof.1.incr.aof: increment, ")
	require.Contains(t, out.String(), "1 records (1 to 1), epoch 1")

	name := filepath.Join(dir, "appendonlydir", "appendonly.aof.1.incr.aof")
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	data[bytes.Index(data, []byte("echomq:"))] = 'X'
	require.NoError(t, os.WriteFile(name, data, 0o600))
	out.Reset()
	require.Equal(t, exitFailure, run([]string{"check", dir}, nil, &out, &errs))
	require.Contains(t, out.String(), "damaged: appendonly.aof.1.incr.aof: a wrong checksum at byte ")
	require.Equal(t, exitFailure, run(settings, nil, io.Discard, &errs))
	require.Contains(t, errs.String(), "the log is damaged and emqd does not start on it")

	copied := filepath.Join(t.TempDir(), "copy")
	require.Zero(t, run([]string{"repair", dir, copied}, nil, &out, &errs))
	require.Zero(t, run([]string{"check", copied}, nil, &out, &errs))
	require.Equal(t, exitFailure, run([]string{"repair", dir, copied}, nil, &out, &errs), "a copy is not written twice")
	node(t, "--port", "0", "--unixsocket", filepath.Join(t.TempDir(), "s"), "--dir", copied)
}

func TestPortInUse(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = ln.Close() }()
	_, port, err := net.SplitHostPort(ln.Addr().String())
	require.NoError(t, err)
	var errs bytes.Buffer
	require.Equal(t, exitFailure, run([]string{"--bind", "127.0.0.1", "--port", port, "--dir", t.TempDir()}, nil, io.Discard, &errs))
	require.Contains(t, errs.String(), "address already in use")
}

func TestSecondSignal(t *testing.T) {
	codes := make(chan int, 1)
	ctx, stop := untilSignal(slog.New(slog.DiscardHandler), func(code int) { codes <- code })
	defer stop()
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
	<-ctx.Done()
	require.Empty(t, codes)
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
	require.Equal(t, 143, <-codes)
}
