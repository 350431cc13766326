package rdb

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// server is a real redis-server on a socket of its own, with one connection.
type server struct {
	t    *testing.T
	dir  string
	conn net.Conn
	rd   *bufio.Reader
}

// startServer starts redis-server in dir, where it loads dump.rdb if that is
// there. The test is skipped when no server is installed.
func startServer(t *testing.T, dir string, args ...string) *server {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not installed: only the recorded payloads are compared")
	}
	sock := filepath.Join(dir, "s")
	cmd := exec.Command(path, append([]string{"--port", "0", "--unixsocket", sock, "--save", "",
		"--dir", dir, "--daemonize", "no"}, args...)...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var log strings.Builder
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		fmt.Fprintln(&log, lines.Text())
		if strings.Contains(lines.Text(), "ready to accept connections at") {
			break
		}
	}
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, out)
		close(done)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-done
		_ = cmd.Wait()
	})
	conn, err := net.Dial("unix", sock)
	require.NoError(t, err, "server log:\n%s", &log)
	t.Cleanup(func() { _ = conn.Close() })
	return &server{t, dir, conn, bufio.NewReader(conn)}
}

// shortDir gives a directory whose path leaves room for a socket's name.
func shortDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "rdb")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// try sends a command and gives its reply: string, int64, nil, or []any.
func (s *server) try(args ...any) (any, error) {
	s.t.Helper()
	req := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		b, ok := a.([]byte)
		if !ok {
			b = fmt.Append(nil, a)
		}
		req = fmt.Appendf(req, "$%d\r\n%s\r\n", len(b), b)
	}
	_, err := s.conn.Write(req)
	require.NoError(s.t, err)
	return s.reply()
}

func (s *server) reply() (any, error) {
	line, err := s.rd.ReadString('\n')
	require.NoError(s.t, err)
	line = strings.TrimSuffix(line, "\r\n")
	n, _ := strconv.ParseInt(line[1:], 10, 64)
	switch line[0] {
	case '+':
		return line[1:], nil
	case '-':
		return nil, errors.New(line[1:])
	case ':':
		return n, nil
	case '$':
		if n < 0 {
			return nil, nil
		}
		p := make([]byte, n+2)
		_, err := io.ReadFull(s.rd, p)
		require.NoError(s.t, err)
		return string(p[:n]), nil
	}
	list := make([]any, 0, max(n, 0))
	for range n {
		item, err := s.reply()
		require.NoError(s.t, err)
		list = append(list, item)
	}
	return list, nil
}

// do is try for commands that must succeed.
func (s *server) do(args ...any) any {
	s.t.Helper()
	reply, err := s.try(args...)
	require.NoError(s.t, err, "%.80q", args)
	return reply
}

// strs gives a reply of strings.
func (s *server) strs(args ...any) [][]byte {
	var out [][]byte
	for _, item := range s.do(args...).([]any) {
		out = append(out, []byte(item.(string)))
	}
	return out
}

// read gives the value of key as the commands of its type tell it.
func (s *server) read(key string) *Value {
	s.t.Helper()
	v := new(Value)
	switch typ := s.do("TYPE", key); typ {
	case "string":
		v.Str = []byte(s.do("GET", key).(string))
	case "list":
		v.Kind, v.Items = KindList, s.strs("LRANGE", key, 0, -1)
	case "set":
		v.Kind, v.Items = KindSet, s.strs("SMEMBERS", key)
	case "hash":
		v.Kind = KindHash
		for p := s.strs("HGETALL", key); len(p) > 0; p = p[2:] {
			v.Fields = append(v.Fields, Field{Name: p[0], Value: p[1]})
		}
	case "zset":
		v.Kind = KindZSet
		for p := s.strs("ZRANGE", key, 0, -1, "WITHSCORES"); len(p) > 0; p = p[2:] {
			f, err := strconv.ParseFloat(string(p[1]), 64)
			require.NoError(s.t, err)
			v.Scored = append(v.Scored, Scored{p[0], f})
		}
	case "stream":
		v.Kind, v.Stream = KindStream, s.readStream(key)
	default:
		require.FailNow(s.t, "no such key", "%s is %v", key, typ)
	}
	return v
}

// props gives a reply of names and values as a map.
func props(reply any) map[string]any {
	list, m := reply.([]any), make(map[string]any)
	for ; len(list) > 1; list = list[2:] {
		m[list[0].(string)] = list[1]
	}
	return m
}

func parseID(s any) (id StreamID) {
	_, _ = fmt.Sscanf(s.(string), "%d-%d", &id.Ms, &id.Seq)
	return id
}

func (s *server) readStream(key string) *Stream {
	info := props(s.do("XINFO", "STREAM", key, "FULL", "COUNT", 0))
	out := &Stream{
		LastID:       parseID(info["last-generated-id"]),
		MaxDeletedID: parseID(info["max-deleted-entry-id"]),
		EntriesAdded: uint64(info["entries-added"].(int64)),
	}
	for _, item := range info["entries"].([]any) {
		pair := item.([]any)
		e := StreamEntry{ID: parseID(pair[0])}
		for _, f := range pair[1].([]any) {
			e.Fields = append(e.Fields, []byte(f.(string)))
		}
		out.Entries = append(out.Entries, e)
	}
	for _, item := range info["groups"].([]any) {
		p := props(item)
		g := StreamGroup{Name: []byte(p["name"].(string)), LastID: parseID(p["last-delivered-id"]), EntriesRead: -1}
		if n, ok := p["entries-read"].(int64); ok {
			g.EntriesRead = n
		}
		for _, item := range p["consumers"].([]any) {
			p := props(item)
			c := StreamConsumer{Name: []byte(p["name"].(string)), SeenTime: p["seen-time"].(int64)}
			c.ActiveTime = c.SeenTime // this server keeps no active-time
			for _, item := range p["pending"].([]any) {
				e := item.([]any)
				c.Pending = append(c.Pending, StreamPending{parseID(e[0]), e[1].(int64), uint64(e[2].(int64))})
			}
			g.Consumers = append(g.Consumers, c)
		}
		out.Groups = append(out.Groups, g)
	}
	return out
}
