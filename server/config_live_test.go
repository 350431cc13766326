package server

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// pairs makes Pairs of names and values.
func pairs(words ...string) []Pair {
	var all []Pair
	for ; len(words) > 0; words = words[2:] {
		all = append(all, Pair{words[0], words[1]})
	}
	return all
}

func TestConfigGet(t *testing.T) {
	c := NewConfig()
	require.Equal(t, pairs("maxmemory", "0", "HZ", "10"), c.Get("maxmemory", "HZ", "maxmemory", "nosuch"))
	require.Equal(t, pairs("timeout", "0"), c.Get("TIME?UT"))
	require.Equal(t, pairs("hash-max-listpack-entries", "512", "hash-max-ziplist-entries", "512"), c.Get("hash*entries"))
	require.Equal(t, pairs("client-output-buffer-limit", "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60"),
		c.Get("client-output-buffer-limit"))
	require.Equal(t, pairs("bind", "127.0.0.1 -::1"), c.Get("bind"))
	require.Equal(t, pairs("unixsocketperm", "0"), c.Get("unixsocketperm"))
	require.Empty(t, c.Get("user"))
	require.Greater(t, len(c.Get("*")), 70)
}

func TestConfigSet(t *testing.T) {
	c := NewConfig()
	require.NoError(t, c.Set(pairs("MAXMEMORY", "1GB", "timeout", "5", "notify-keyspace-events", "KEA", "save", "900 1 300 10",
		"latency-tracking-info-percentiles", "50.5 100 0", "hz", "1000", "hash-max-listpack-entries", "1", "hash-max-ziplist-entries", "2")...))
	require.Equal(t, pairs("maxmemory", "1073741824", "timeout", "5", "notify-keyspace-events", "AKE", "save", "900 1 300 10",
		"latency-tracking-info-percentiles", "50.5 100 0", "hz", "500", "hash-max-listpack-entries", "2"),
		c.Get("maxmemory", "timeout", "notify-keyspace-events", "save", "latency-tracking-info-percentiles", "hz", "hash-max-listpack-entries"))
	require.NoError(t, c.Set(pairs("client-output-buffer-limit", "pubsub 1mb 2kb 3 replica 1 2 3", "save", "", "maxmemory", "")...))
	require.Equal(t, pairs("client-output-buffer-limit", "normal 0 0 0 slave 1 2 3 pubsub 1048576 2048 3", "save", "", "maxmemory", "0"),
		c.Get("client-output-buffer-limit", "save", "maxmemory"))
}

// The texts are those of a real server.
func TestConfigSetRefusals(t *testing.T) {
	failed := func(name, why string) string {
		return "ERR CONFIG SET failed (possibly related to argument '" + name + "') - " + why
	}
	const unknown = "ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'"
	for _, tt := range []struct {
		pairs []Pair
		want  string
	}{
		{pairs("nosuch", "1"), unknown},
		{pairs("maxmemory", "1", "nosuch", "2"), unknown},
		{pairs("nosuch", "1", "databases", "2"), unknown},
		{pairs("databases", "5", "nosuch", "1"), failed("databases", "can't set immutable config")},
		{pairs("user", "x"), "ERR Unknown option or number of arguments for CONFIG SET - 'user'"},
		{pairs("aclfile", "x"), failed("aclfile", "can't set immutable config")},
		{pairs("dir", "/"), failed("dir", "can't set protected config")},
		{pairs("maxclients", "5", "maxclients", "6"), failed("maxclients", "duplicate parameter")},
		{pairs("maxmemory", "abc"), failed("maxmemory", "argument must be a memory value")},
		{pairs("maxmemory", "-5"), failed("maxmemory", "argument must be a memory value")},
		{pairs("latency-tracking", "maybe"), failed("latency-tracking", "argument must be 'yes' or 'no'")},
		{pairs("loglevel", "x"), failed("loglevel", "argument(s) must be one of the following: debug, verbose, notice, warning")},
		{pairs("maxclients", "0"), failed("maxclients", "argument must be between 1 and 4294967295 inclusive")},
		{pairs("timeout", "99999999999999"), failed("timeout", "argument must be between 0 and 2147483647 inclusive")},
		{pairs("timeout", "abc"), failed("timeout", "argument couldn't be parsed into an integer")},
		{pairs("timeout", "+1"), failed("timeout", "argument couldn't be parsed into an integer")},
		{pairs("timeout", " 1"), failed("timeout", "argument couldn't be parsed into an integer")},
		{pairs("proto-max-bulk-len", "5"), failed("proto-max-bulk-len", "argument must be between 1048576 and 9223372036854775807 inclusive")},
		{pairs("slowlog-log-slower-than", "-2"), failed("slowlog-log-slower-than", "argument must be between -1 and 9223372036854775807 inclusive")},
		{pairs("client-output-buffer-limit", "foo"), failed("client-output-buffer-limit", "Wrong number of arguments in buffer limit configuration.")},
		{pairs("client-output-buffer-limit", "master 1 1 1"), failed("client-output-buffer-limit", "Invalid client class specified in buffer limit configuration.")},
		{pairs("client-output-buffer-limit", "normal 1 1 -1"), failed("client-output-buffer-limit", "Error in hard, soft or soft_seconds setting in buffer limit configuration.")},
		{pairs("notify-keyspace-events", "Q"), failed("notify-keyspace-events", "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")},
		{pairs("save", "900"), failed("save", "Invalid save parameters")},
		{pairs("save", "0 1"), failed("save", "Invalid save parameters")},
		{pairs("latency-tracking-info-percentiles", "50 101"), failed("latency-tracking-info-percentiles", "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]")},
		{pairs("latency-tracking-info-percentiles", "50 a"), failed("latency-tracking-info-percentiles", "Invalid latency-tracking-info-percentiles parameters")},
		{pairs("requirepass", "x"), failed("requirepass", "can't set immutable config")}, // nobody registered for it
		{pairs("a\r\nb", "x"), "ERR Unknown option or number of arguments for CONFIG SET - 'a  b'"},
	} {
		c := NewConfig()
		before := c.Get("*")
		require.EqualError(t, c.Set(tt.pairs...), tt.want)
		require.Equal(t, before, c.Get("*"), "%v changed something", tt.pairs)
	}
}

func TestConfigSetHooks(t *testing.T) {
	c := NewConfig()
	var applied []string
	watch := func(name string) {
		c.OnSet(name, func(c *Config) error {
			applied = append(applied, name+"="+c.Get(name)[0].Value)
			return nil
		})
	}
	watch("requirepass")
	watch("timeout")
	watch("hash-max-ziplist-entries")
	c.OnSet("maxclients", func(c *Config) error {
		if c.MaxClients > 100 {
			return errors.New("too many")
		}
		return nil
	})
	require.NoError(t, c.Set(pairs("requirepass", "s", "timeout", "0", "hash-max-listpack-entries", "3")...))
	require.Equal(t, []string{"requirepass=s", "hash-max-ziplist-entries=3"}, applied, "an unchanged value is not applied")

	applied = nil
	require.EqualError(t, c.Set(pairs("timeout", "9", "maxclients", "101")...),
		"ERR CONFIG SET failed (possibly related to argument 'maxclients') - too many")
	require.Equal(t, []string{"timeout=9", "timeout=0"}, applied, "what was applied is undone")
	require.Equal(t, pairs("timeout", "0", "maxclients", "10000"), c.Get("timeout", "maxclients"))

	// Values that were refused half way leave no trace.
	require.Error(t, c.Set(pairs("timeout", "9", "maxclients", "x")...))
	require.Zero(t, c.Timeout)
}

func TestConfigRewrite(t *testing.T) {
	const old = `# the node
port 7000

include none*.inc
# how long
TIMEOUT   5
maxclients 10
save 900 1
save 300 10
hash-max-ziplist-entries 4
user a on >b
user c off
loglevel notice
`
	const want = "# the node\nport 7000\n\ninclude none*.inc\n# how long\ntimeout 6\nmaxclients 20\n" +
		"save 60 1\nhash-max-listpack-entries 4\nuser a on \">x y\"\nloglevel notice\n" +
		"# Generated by CONFIG REWRITE\nrequirepass \"p \\\"\\x09\"\nmaxmemory 2gb\n"
	path := write(t, "emqd.conf", old)
	c, err := LoadConfig(path, nil, nil)
	require.NoError(t, err)
	c.Dir = "." // made absolute, it would be written
	c.OnSet("requirepass", func(*Config) error { return nil })
	c.Users = users{{"a", "on", ">x y"}}
	require.NoError(t, c.Set(pairs("timeout", "6", "maxclients", "20", "save", "60 1", "maxmemory", "2147483648", "requirepass", "p \"\t")...))
	require.NoError(t, os.Chmod(path, 0o640))
	require.NoError(t, c.Rewrite())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode())
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	require.NoError(t, err)
	require.Equal(t, []string{path}, left, "no temporary file stays")

	again, err := LoadConfig(path, nil, nil)
	require.NoError(t, err)
	again.Dir = "."
	require.Equal(t, c.Get("*"), again.Get("*"))
	require.NoError(t, again.Rewrite())
	twice, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(twice), "a second rewrite changes nothing")
}

func TestConfigRewriteIncluded(t *testing.T) {
	path := write(t, "emqd.conf", "include more.inc\n")
	more := filepath.Join(filepath.Dir(path), "more.inc")
	require.NoError(t, os.WriteFile(more, []byte("timeout 9\n"), 0o600))
	c, err := LoadConfig(path, nil, nil)
	require.NoError(t, err)
	c.Dir = "."
	require.NoError(t, c.Set(pairs("timeout", "0")...))
	require.NoError(t, c.Rewrite())
	// Back at its default the setting still needs a line: the included file says otherwise.
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "include more.inc\n# Generated by CONFIG REWRITE\ntimeout 0\n", string(text))
}

func TestConfigRewriteLink(t *testing.T) {
	path := write(t, "real.conf", "timeout 1\n")
	link := filepath.Join(t.TempDir(), "emqd.conf")
	require.NoError(t, os.Symlink(path, link))
	c, err := LoadConfig(link, nil, nil)
	require.NoError(t, err)
	c.Dir = "."
	require.NoError(t, c.Set(pairs("timeout", "2")...))
	require.NoError(t, c.Rewrite())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "timeout 2\n", string(text))
}

func TestConfigRewriteWithoutFile(t *testing.T) {
	require.EqualError(t, NewConfig().Rewrite(), "ERR The server is running without a config file")
	c, err := LoadConfig(write(t, "f", ""), nil, nil)
	require.NoError(t, err)
	c.file += "/nowhere/f"
	require.ErrorContains(t, c.Rewrite(), "ERR Rewriting CONFIG file: ")
	_, err = os.Stat(c.file)
	require.Error(t, err)
}
