package rdb

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "record payloads of redis-server in testdata")

// sample is a key that a real server is filled with.
type sample struct {
	name     string
	encoding string // what OBJECT ENCODING must say, so that each form is met
	commands [][]any
}

func cmd(args ...any) []any { return args }

// many gives a command with n arguments made by part.
func many(n int, head []any, part func(i int) []any) []any {
	for i := range n {
		head = append(head, part(i)...)
	}
	return head
}

func samples() []sample {
	long := strings.Repeat("long enough to be alone ", 20)
	return slices.Concat(stringSamples(long), []sample{
		{"list-small", "quicklist", [][]any{cmd("RPUSH", "k", "a", "", 1, -2, 300, 70000, "5000000000", long)}},
		{"list-ints", "quicklist", [][]any{cmd("RPUSH", "k", 0, 127, 128, -1, -4096, 4095, 4096, -4097, -32768, 32767, 32768,
			-8388608, 8388607, 8388608, -2147483648, 2147483647, 2147483648, "-9223372036854775808", "9223372036854775807",
			"9223372036854775808", "007", "-0", "+1", "1e3")}},
		{"list-sizes", "quicklist", [][]any{many(30, cmd("RPUSH", "k"), func(i int) []any {
			return []any{strings.Repeat("s", []int{1, 62, 63, 64, 65, 124, 125, 126, 127, 128, 4094, 4095, 4096, 16382, 16384}[i%15])}
		})}},
		{"list-large", "quicklist", [][]any{many(5000, cmd("RPUSH", "k"), func(i int) []any { return []any{fmt.Sprint("element-", i*i)} })}},
		{"list-plain", "quicklist", [][]any{cmd("DEBUG", "QUICKLIST-PACKED-THRESHOLD", "100b"), cmd("RPUSH", "k", "x", long, "y"),
			cmd("DEBUG", "QUICKLIST-PACKED-THRESHOLD", "0")}},
		{"set-int16", "intset", [][]any{cmd("SADD", "k", 3, 1, -2)}},
		{"set-int32", "intset", [][]any{cmd("SADD", "k", 70000, 1, -70000)}},
		{"set-int64", "intset", [][]any{cmd("SADD", "k", "5000000000", "-9223372036854775808", 7)}},
		{"set-text", "hashtable", [][]any{cmd("SADD", "k", "a", "", 12, long)}},
		{"set-many-ints", "hashtable", [][]any{many(2000, cmd("SADD", "k"), func(i int) []any { return []any{i * 3} })}},
		{"hash-small", "listpack", [][]any{cmd("HSET", "k", "f", "v", "", "", 1, 2)}},
		{"hash-long", "hashtable", [][]any{cmd("HSET", "k", "f", long, long, "v", "n", -129)}},
		{"hash-large", "hashtable", [][]any{many(1000, cmd("HSET", "k"), func(i int) []any { return []any{i, fmt.Sprint("v", i)} })}},
		{"zset-small", "listpack", [][]any{cmd("ZADD", "k", 1, "a", "1.5", "b", "-inf", "c", "inf", "d", "0.1", "", "1e300", 12, "-0.0", "z")}},
		{"zset-long", "skiplist", [][]any{cmd("ZADD", "k", "3.14159", long, "-inf", "a", "inf", "b", 0, 12)}},
		{"zset-large", "skiplist", [][]any{many(1000, cmd("ZADD", "k"), func(i int) []any { return []any{float64(i) / 7, i} })}},
	}, streamSamples(long))
}

func stringSamples(long string) []sample {
	var out []sample
	for _, s := range []string{"", "0", "-1", "127", "128", "-128", "-129", "32767", "32768", "-32769", "2147483647",
		"-2147483648", "2147483648", "9223372036854775807", "12345678901234567890123", "01", "+1", "-0", " 1",
		"short", "exactly twenty bytes", "one above twenty bytes", strings.Repeat("a", 21), strings.Repeat("ab", 9000),
		long, strings.Repeat("a", 63), strings.Repeat("\x00\xff", 200), strings.Repeat("x", 100_000)} {
		out = append(out, sample{fmt.Sprintf("string-%d", len(out)), "", [][]any{cmd("SET", "k", s)}})
	}
	return out
}

func streamSamples(long string) []sample {
	add := func(n int) (out [][]any) {
		for i := range n {
			c := cmd("XADD", "k", fmt.Sprintf("%d-%d", 1000+i/3, i%3), "job", i, "state", "waiting")
			if i%10 == 9 {
				c = append(c, "more", long)
			}
			out = append(out, c)
		}
		return out
	}
	grouped := [][]any{
		cmd("XGROUP", "CREATE", "k", "g1", 0), cmd("XGROUP", "CREATE", "k", "g2", "1002-1"),
		cmd("XGROUP", "CREATECONSUMER", "k", "g1", "idle"),
		cmd("XREADGROUP", "GROUP", "g1", "one", "COUNT", 7, "STREAMS", "k", ">"),
		cmd("XREADGROUP", "GROUP", "g1", "two", "COUNT", 5, "STREAMS", "k", ">"),
		cmd("XREADGROUP", "GROUP", "g1", "one", "COUNT", 3, "STREAMS", "k", ">"),
		cmd("XREADGROUP", "GROUP", "g1", "one", "STREAMS", "k", 0),
		cmd("XACK", "k", "g1", "1000-0"), cmd("XDEL", "k", "1000-1", "1001-2"),
	}
	return []sample{
		{"stream-one", "stream", add(1)},
		{"stream-many", "stream", add(350)},
		{"stream-wrap", "stream", [][]any{cmd("XADD", "k", "5-18446744073709551615", "f", "v"),
			cmd("XADD", "k", "6-0", "f", "v"), cmd("XADD", "k", "18446744073709551615-1", "f", "v", "f", "w")}},
		{"stream-deleted", "stream", append(add(120), cmd("XDEL", "k", "1000-0", "1005-1"), cmd("XTRIM", "k", "MAXLEN", 60))},
		{"stream-empty", "stream", append(add(2), cmd("XDEL", "k", "1000-0", "1000-1"))},
		{"stream-bare", "stream", [][]any{cmd("XGROUP", "CREATE", "k", "g", "$", "MKSTREAM")}},
		{"stream-groups", "stream", append(add(40), grouped...)},
	}
}

// fill makes the sample on the server, under key.
func (s sample) fill(t *testing.T, srv *server, key string) {
	for _, c := range s.commands {
		c = slices.Clone(c)
		for i, a := range c {
			if a == "k" {
				c[i] = key
			}
		}
		srv.do(c...)
	}
	if s.encoding != "" {
		require.Equal(t, s.encoding, srv.do("OBJECT", "ENCODING", key), s.name)
	}
}

// TestServerPayloads sends each sample both ways.
func TestServerPayloads(t *testing.T) {
	srv := startServer(t, shortDir(t), "--enable-debug-command", "yes")
	var golden bytes.Buffer
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			s.fill(t, srv, "k")
			want := describe(srv.read("k"))
			payload := []byte(srv.do("DUMP", "k").(string))
			var got Value
			require.NoError(t, Restore(payload, &got))
			require.Equal(t, want, describe(&got))

			ours, err := Dump(&got)
			require.NoError(t, err)
			srv.do("RESTORE", "k", 0, ours, "REPLACE")
			require.Equal(t, want, describe(srv.read("k")))
			if s.encoding != "" {
				require.Equal(t, s.encoding, srv.do("OBJECT", "ENCODING", "k"))
			}
			srv.do("DEL", "k")
			if len(payload) < 700 {
				fmt.Fprintf(&golden, "%s\n%s\n%x\n%x\n", s.name, want, payload, ours)
			}
		})
	}
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(goldenFile, golden.Bytes(), 0o644))
	}
}

const goldenFile = "testdata/payloads.txt"

// TestRecordedPayloads compares with payloads that redis-server 7.0.15 wrote.
// Each is four lines: name, contents, its payload, our payload.
func TestRecordedPayloads(t *testing.T) {
	f, err := os.Open(goldenFile)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	next := func() string { lines.Scan(); return lines.Text() }
	for lines.Scan() {
		name, want := lines.Text(), next()
		theirs, err := hex.DecodeString(next())
		require.NoError(t, err)
		ours, err := hex.DecodeString(next())
		require.NoError(t, err)
		var v Value
		require.NoError(t, Restore(theirs, &v), name)
		require.Equal(t, want, describe(&v), name)
		again, err := Dump(&v)
		require.NoError(t, err)
		require.Equal(t, ours, again, name)
	}
	require.NoError(t, lines.Err())
}

// TestServerRestoresAnything has a server restore values that no command made.
func TestServerRestoresAnything(t *testing.T) {
	srv := startServer(t, shortDir(t))
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		v := anyValue(Version10).Draw(rt, "value")
		payload, err := Dump(v)
		require.NoError(rt, err)
		key := fmt.Sprint("k", n)
		n++
		_, err = srv.try("RESTORE", key, 0, payload, "REPLACE")
		require.NoError(rt, err)
		want := describe(v)
		require.Equal(rt, want, describe(srv.read(key)))
		var back Value
		require.NoError(rt, Restore([]byte(srv.do("DUMP", key).(string)), &back))
		require.Equal(rt, want, describe(&back))
	})
}

// TestServerFile reads the file that a server has saved.
func TestServerFile(t *testing.T) {
	for _, compress := range []string{"yes", "no"} {
		srv := startServer(t, shortDir(t), "--rdbcompression", compress, "--enable-debug-command", "yes")
		want := map[string]string{}
		for i, s := range samples() {
			srv.do("SELECT", i%3)
			s.fill(t, srv, s.name)
			at := int64(0)
			if i%2 == 0 {
				at = 4102444800000 + int64(i)
				srv.do("PEXPIREAT", s.name, at)
			}
			want[fmt.Sprintf("%d %s %d", i%3, s.name, at)] = describe(srv.read(s.name))
		}
		srv.do("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 1 end)")
		srv.do("SAVE")
		raw, err := os.ReadFile(filepath.Join(srv.dir, "dump.rdb"))
		require.NoError(t, err)
		got, aux, skipped := readFile(t, raw)
		require.Equal(t, want, got)
		require.Equal(t, "7.0.15", aux["redis-ver"])
		require.Equal(t, Skipped{Functions: 1}, skipped)
	}
}

// readFile gives the keys of a file, with database and deadline, and its
// auxiliary fields. It also checks that every truncation is an error.
func readFile(t *testing.T, raw []byte) (keys, aux map[string]string, skipped Skipped) {
	r, err := NewReader(bytes.NewReader(raw))
	require.NoError(t, err)
	keys, aux = map[string]string{}, map[string]string{}
	r.OnAux = func(key, value []byte) { aux[string(key)] = string(value) }
	require.NoError(t, r.Each(func(e *Entry) error {
		keys[fmt.Sprintf("%d %s %d", e.DB, e.Key, e.ExpireAt)] = describe(&e.Value)
		return nil
	}))
	require.Equal(t, int64(len(raw)), r.Offset())
	return keys, aux, r.Skipped()
}

// TestServerLoadsFile starts a server on a file that a Writer wrote.
func TestServerLoadsFile(t *testing.T) {
	src := startServer(t, shortDir(t), "--enable-debug-command", "yes")
	dir := shortDir(t)
	f, err := os.Create(filepath.Join(dir, "dump.rdb"))
	require.NoError(t, err)
	w, err := NewWriter(f, Version10)
	require.NoError(t, err)
	require.NoError(t, w.Aux("redis-ver", "7.0.15"))
	want := map[string]string{}
	for i, s := range samples() {
		if i%20 == 0 {
			require.NoError(t, w.SelectDB(i/20, 20, 10))
		}
		s.fill(t, src, s.name)
		v := src.read(s.name)
		want[s.name] = describe(v)
		require.NoError(t, w.Key([]byte(s.name), int64(i%2)*4102444800000, v))
	}
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())

	dst := startServer(t, dir)
	for i, s := range samples() {
		if i%20 == 0 {
			dst.do("SELECT", i/20)
		}
		require.Equal(t, want[s.name], describe(dst.read(s.name)), s.name)
		if i%2 == 1 {
			require.Equal(t, int64(4102444800000), dst.do("PEXPIRETIME", s.name))
		} else {
			require.Equal(t, int64(-1), dst.do("PEXPIRETIME", s.name))
		}
	}
}
