package server

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// write puts text in a file of its own directory and returns the path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestConfigDefaults(t *testing.T) {
	c, err := LoadConfig("", nil, nil)
	require.NoError(t, err)
	require.Equal(t, 6390, c.Port)
	require.Equal(t, []string{"127.0.0.1", "-::1"}, c.Bind)
	require.Equal(t, int64(10000), c.MaxClients)
	require.Equal(t, int64(512<<20), c.ProtoMaxBulkLen)
	require.Equal(t, OutputLimit{Hard: 32 << 20, Soft: 8 << 20, Seconds: 60}, c.ClientOutputLimits[ClassPubSub])
	require.Equal(t, int64(50), c.AdmissionReserve.Bytes(1000))
	require.True(t, filepath.IsAbs(c.Dir))
	require.Empty(t, c.Warnings())
}

func TestConfigTags(t *testing.T) {
	groups := map[string]bool{}
	for _, g := range Groups() {
		groups[g[0]] = true
	}
	for s := range Settings() {
		require.NotEmpty(t, s.Help, s.Name)
		require.False(t, strings.HasSuffix(s.Help, "."), s.Name)
		require.True(t, groups[s.Group], s.Name)
		require.Equal(t, strings.ToLower(s.Name), s.Name)
		require.Regexp(t, `^EMQD_[A-Z_]+$`, s.EnvName())
	}
}

func TestConfigPrecedence(t *testing.T) {
	file := write(t, "emqd.conf", "port 1001\nmaxclients 11\ntimeout 5\nsave 1 1\nsave 2 2\n")
	c, err := LoadConfig(file, []string{"EMQD_PORT=1002", "EMQD_MAXCLIENTS=12", "HOME=/"},
		[]Pair{{"port", "1003"}, {"client-output-buffer-limit", "normal 1kb 2 3"}})
	require.NoError(t, err)
	require.Equal(t, 1003, c.Port)
	require.Equal(t, int64(12), c.MaxClients)
	require.Equal(t, 5, c.Timeout)
	require.Equal(t, 511, c.TCPBacklog)
	require.Equal(t, savePoints{{1, 1}, {2, 2}}, c.Save)
	require.Equal(t, OutputLimit{1024, 2, 3}, c.ClientOutputLimits[ClassNormal])
	require.Equal(t, OutputLimit{256 << 20, 64 << 20, 60}, c.ClientOutputLimits[ClassReplica])
}

func TestConfigEnvironment(t *testing.T) {
	// What Kubernetes and Docker set for a service of that name is no setting.
	c, err := LoadConfig("", []string{
		"EMQD_PORT=tcp://10.0.0.7:6390", "EMQD_SERVICE_HOST=10.0.0.7", "EMQD_PORT_6390_TCP_ADDR=10.0.0.7",
		"EMQD_BIND=127.0.0.1  ::1", "EMQD_INSTALL=yes", "EMQD_HASH_MAX_LISTPACK_ENTRIES=7",
	}, nil)
	require.NoError(t, err)
	require.Equal(t, 6390, c.Port)
	require.Equal(t, []string{"127.0.0.1", "::1"}, c.Bind)
	require.True(t, c.Install)
	require.Equal(t, int64(7), c.HashMaxListpackEntries)
}

// TestConfigFileLists has lists without words, and with all of them quoted as one.
func TestConfigFileLists(t *testing.T) {
	c, err := LoadConfig(write(t, "emqd.conf", "save 60 1\nsave\nclient-output-buffer-limit \"pubsub 1 2 3\"\n"), nil, nil)
	require.NoError(t, err)
	require.Empty(t, c.Save)
	require.Equal(t, OutputLimit{Hard: 1, Soft: 2, Seconds: 3}, c.ClientOutputLimits[ClassPubSub])
}

func TestConfigRefusals(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		env        []string
		flags      []Pair
		want       string
	}{
		{"unknown line", "port 1\n\n# x\nnosuch 1\n", nil, nil, `emqd.conf:4: unknown setting "nosuch"`},
		{"bad value", "port 70000", nil, nil, "emqd.conf:1: port: argument must be between 0 and 65535 inclusive"},
		{"no value", "port", nil, nil, "emqd.conf:1: port: wrong number of arguments"},
		{"two values", "port 1 2", nil, nil, "emqd.conf:1: port: wrong number of arguments"},
		{"quotes", `requirepass "abc`, nil, nil, "emqd.conf:1: unbalanced quotes"},
		{"text after quotes", `requirepass "abc"d`, nil, nil, "emqd.conf:1: unbalanced quotes"},
		{"eviction", "maxmemory-policy allkeys-lru", nil, nil, "emqd.conf:1: maxmemory-policy: argument(s) must be one of the following: noeviction"},
		{"daemon", "daemonize yes", nil, nil, "emqd.conf:1: daemonize: argument(s) must be one of the following: no"},
		{"user", "user", nil, nil, "emqd.conf:1: user: wrong number of arguments"},
		{"variable", "", []string{"EMQD_NOSUCH=1"}, nil, "EMQD_NOSUCH: unknown setting"},
		{"variable's value", "", []string{"EMQD_HZ=x"}, nil, "EMQD_HZ: argument couldn't be parsed into an integer"},
		{"variable of the file only", "", []string{"EMQD_USER=root"}, nil, "EMQD_USER: unknown setting"},
		{"flag", "", nil, []Pair{{"nosuch", ""}}, "--nosuch: unknown setting"},
		{"flag's value", "", nil, []Pair{{"appendonly", "true"}}, "--appendonly: argument must be 'yes' or 'no'"},
		{"nowhere", "", nil, []Pair{{"port", "0"}}, "nothing to listen on: port and tls-port are 0 and there is no unixsocket"},
		{"both users", "aclfile a\nuser b on", nil, nil, "aclfile and user lines are both given: keep the users in one place"},
		{"tls", "", nil, []Pair{{"tls-port", "1"}}, "tls-port needs tls-cert-file and tls-key-file"},
		{"tls clients", "", nil, []Pair{{"tls-port", "1"}, {"tls-cert-file", "c"}, {"tls-key-file", "k"}},
			"tls-auth-clients yes needs tls-ca-cert-file; without client certificates set tls-auth-clients no"},
		{"tls version", "", nil, []Pair{{"tls-protocols", "TLSv1.3 TLSv1.1"}}, `tls-protocols: "TLSv1.1" is not TLSv1.2 or TLSv1.3`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := LoadConfig(write(t, "emqd.conf", tt.file), tt.env, tt.flags)
			require.Error(t, err)
			text := err.Error()
			if i := strings.Index(text, "emqd.conf:"); i > 0 {
				text = text[i:]
			}
			require.Equal(t, tt.want, text)
		})
	}
	_, err := LoadConfig(filepath.Join(t.TempDir(), "none"), nil, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestConfigProtectedMode(t *testing.T) {
	for _, tt := range []struct {
		bind  string
		more  Pair
		serve bool
	}{
		{"127.0.0.1", Pair{"hz", "1"}, true},
		{"localhost -::1 127.9.9.9 ::ffff:127.0.0.1", Pair{"hz", "1"}, true},
		{"", Pair{"hz", "1"}, true},
		{"*", Pair{"hz", "1"}, false},
		{"127.0.0.1 -::*", Pair{"hz", "1"}, false},
		{"10.0.0.1", Pair{"hz", "1"}, false},
		{"queue.example", Pair{"hz", "1"}, false},
		{"*", Pair{"requirepass", "x"}, true},
		{"*", Pair{"aclfile", "x"}, true},
		{"*", Pair{"protected-mode", "no"}, true},
	} {
		_, err := LoadConfig("", nil, []Pair{{"bind", tt.bind}, tt.more})
		if tt.serve {
			require.NoError(t, err, tt)
			continue
		}
		require.ErrorContains(t, err, "protected mode: bind ", tt)
		require.ErrorContains(t, err, "Set requirepass", tt)
	}
	_, err := LoadConfig(write(t, "f", "bind *\nuser default on >x ~* +@all\n"), nil, nil)
	require.NoError(t, err)
}

func TestConfigBindAuto(t *testing.T) {
	c, err := LoadConfig("", nil, []Pair{{"bind", "auto"}})
	require.NoError(t, err)
	require.Equal(t, []string{"127.0.0.1", "-::1"}, c.Bind)
	require.Len(t, c.Warnings(), 1)
	c, err = LoadConfig("", []string{"EMQD_REQUIREPASS=x"}, []Pair{{"bind", "auto"}})
	require.NoError(t, err)
	require.Equal(t, []string{"*", "-::*"}, c.Bind)
	require.Empty(t, c.Warnings())
}

func TestConfigWarnings(t *testing.T) {
	c, err := LoadConfig("", nil, []Pair{{"appendonly", "no"}, {"save", "60 1"}})
	require.NoError(t, err)
	require.Len(t, c.Warnings(), 1)
	require.Contains(t, c.Warnings()[0], "newer than the last snapshot")
	c, err = LoadConfig("", nil, []Pair{{"appendonly", "no"}})
	require.NoError(t, err)
	require.Contains(t, c.Warnings()[0], "data is lost when the process ends")
}

func TestConfigInclude(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	put("b.inc", "port 2\nhz 20\n")
	put("a.inc", "port 1\n")
	put("deep.conf", "include deep.conf\n")
	put("bad.conf", "include wrong.conf\n")
	put("wrong.conf", "hz 1\nfoo bar\n")

	c, err := LoadConfig(put("emqd.conf", "port 9\ninclude '*.inc'\ninclude none*.inc\ntimeout 3\n"), nil, nil)
	require.NoError(t, err)
	require.Equal(t, []int{2, 20, 3}, []int{c.Port, c.Hz, c.Timeout})

	_, err = LoadConfig(filepath.Join(dir, "deep.conf"), nil, nil)
	require.ErrorContains(t, err, "more than 16 files deep")
	_, err = LoadConfig(filepath.Join(dir, "bad.conf"), nil, nil)
	require.ErrorContains(t, err, `wrong.conf:2: unknown setting "foo"`)
	_, err = LoadConfig(put("missing.conf", "\ninclude absent.conf"), nil, nil)
	require.ErrorContains(t, err, "missing.conf:2: include: open ")
}

func TestSplitLine(t *testing.T) {
	for line, want := range map[string][]string{
		"":                           nil,
		"  # port 1":                 nil,
		" port\t1 \r":                {"port", "1"},
		`a "b c" 'd e' f#g`:          {"a", "b c", "d e", "f#g"},
		`"\x41\xzz\n\r\t\b\a\q\"\\"`: {"Axzz\n\r\t\b\aq\"\\"},
		`'\x41\'"'`:                  {`\x41'"`},
		`"" ''`:                      {"", ""},
		`ab"c d"`:                    {"abc d"},
	} {
		got, err := splitLine(line)
		require.NoError(t, err, line)
		require.Equal(t, want, got, line)
	}
	for _, line := range []string{`"`, `'`, `"a`, `"a\"`, `"a"b`, `'a'"b"`, `"\`} {
		_, err := splitLine(line)
		require.Error(t, err, line)
	}
}

func TestParseMemory(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0, "0": 0, "100": 100, "1b": 1, "2k": 2000, "2KB": 2048, "3m": 3000000, "3mb": 3 << 20, "1g": 1e9, "1Gb": 1 << 30,
		"9223372036854775807": 9223372036854775807,
	} {
		got, ok := parseMemory(text)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"-1", "+1", "1.5gb", "kb", "1x", "1tb", "1bb", " 1", "9223372036854775808", "9007199254740992kb"} {
		_, ok := parseMemory(text)
		require.False(t, ok, text)
	}
}

func TestKeyEvents(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "KEA": "AKE", "AKEm": "AKEm", "AKEn": "AKE", "gn": "gn", "Elg$": "g$lE", "g$lshzxetdK": "AK",
	} {
		var e KeyEvents
		require.NoError(t, e.parse([]string{text}))
		require.Equal(t, []string{want}, e.words(), text)
	}
	var e KeyEvents
	require.False(t, e.Any())
	require.NoError(t, e.parse([]string{"K"}))
	require.False(t, e.Any())
	require.NoError(t, e.parse([]string{"Kx"}))
	require.True(t, e.Any() && e.Has('x') && e.Has('K'))
	require.False(t, e.Has('E') || e.Has('q'))
}

func TestReserve(t *testing.T) {
	for text, want := range map[string]int64{"0%": 0, "5%": 50, "100%": 1000, "64": 64, "1kb": 1000} {
		var r Reserve
		require.NoError(t, r.parse([]string{text}))
		require.Equal(t, want, r.Bytes(1000), text)
	}
	var r Reserve
	for _, text := range []string{"", "%", "101%", "-1%", "x"} {
		require.Error(t, r.parse([]string{text}), text)
	}
	require.NoError(t, r.parse([]string{"99%"}))
	require.Positive(t, r.Bytes(1<<62), "no overflow")
}

func FuzzConfigFile(f *testing.F) {
	for _, seed := range []string{
		"port 1\n", "# c\nbind 127.0.0.1 ::1\nsave \"\"\n", "client-output-buffer-limit normal 1gb 2 3\n",
		"requirepass \"\\x00\\\"\"\n", "user a on >b ~* +@all\nuser c off\n", "include\n", "notify-keyspace-events KEA", "emq-admission-reserve 7%",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(strings.ToLower(text), "include") {
			return
		}
		c := NewConfig()
		err := (&fileReader{c: c, seen: map[string]bool{}}).lines("f", text)
		if err != nil {
			var line *lineError
			require.True(t, errors.As(err, &line), "no line in %v", err)
			return
		}
		// What was read can be written and read again.
		again := NewConfig()
		out := c.rewritten(text)
		require.NoError(t, (&fileReader{c: again, seen: map[string]bool{}}).lines("f", out), out)
		require.Equal(t, c.Get("*"), again.Get("*"), out)
		if c.ACLFile == "" {
			require.Equal(t, c.Users, again.Users, out)
		}
		require.Equal(t, out, again.rewritten(out))
	})
}
