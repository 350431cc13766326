package parity

import (
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/parity/local"
	"github.com/echomq/emqd/parity/real"
	"github.com/echomq/emqd/parity/script"
	"github.com/echomq/emqd/store"
)

// TestRealServerReplays sends the effects of every case of the corpus, EchoMQ's too, to a real server, which must take
// each of them and then hold the same values.
func TestRealServerReplays(t *testing.T) {
	server := real.Start(t)
	files, err := script.Load("../commands/testdata/*.txt")
	require.NoError(t, err)
	emqd := local.New(commands.New(commands.All()...), 1)
	for _, f := range files {
		for _, c := range f.Cases {
			t.Run(f.Name(c, 2), func(t *testing.T) {
				err := f.Run(c, emqd, 2, script.Options{Knows: emqd.Knows}, nil)
				var skip script.Skip
				if errors.As(err, &skip) {
					t.Skip(skip)
				}
				require.NoError(t, err)
				require.NoError(t, server.Reset(2))
				var requests [][]string
				for _, e := range emqd.Log() {
					if newer(e.Args) {
						t.Skipf("the real server has no %s", e.Args[0])
					}
					requests = append(requests, []string{"SELECT", strconv.Itoa(e.DB)}, e.Args)
				}
				replies, err := server.Pipeline(requests)
				require.NoError(t, err)
				for i, reply := range replies {
					require.NotEqual(t, byte('-'), reply[0], "%s is refused: %s", script.Words(requests[i]), reply)
				}
				sameValues(t, emqd, server)
			})
		}
	}
}

// newer reports whether an effect is a command that Redis 7.0 has not: an expiry time of a hash field.
func newer(args []string) bool {
	switch args[0] {
	case "HPEXPIREAT", "HPERSIST", "HSETEX", "HGETEX", "HGETDEL":
		return true
	}
	return false
}

// sameValues compares every key of both targets; keys whose time has come at emqd's clock do not count.
func sameValues(t *testing.T, emqd *local.Target, server script.Target) {
	reads := map[string][]string{
		"string": {"GET"}, "hash": {"HGETALL"}, "set": {"SMEMBERS"}, "list": {"LRANGE", "0", "-1"},
		"zset": {"ZRANGE", "0", "-1", "WITHSCORES"}, "stream": {"XRANGE", "-", "+"},
	}
	for db := range local.Databases {
		keys := map[string]string{}
		tx := emqd.Store().Begin(db, emqd.Now(), true)
		tx.EachKey(func(key []byte, kind store.Kind) bool {
			keys[string(key)] = kind.String()
			return true
		})
		tx.Commit()
		emqd.Select(db)
		_, err := server.Do([]string{"SELECT", strconv.Itoa(db)})
		require.NoError(t, err)
		for key, kind := range keys {
			read := append([]string{reads[kind][0], key}, reads[kind][1:]...)
			for _, args := range [][]string{read, {"PEXPIRETIME", key}} {
				want, err := emqd.Do(args)
				require.NoError(t, err)
				got, err := server.Do(args)
				require.NoError(t, err)
				require.Equal(t, plainText(t, kind, args, want), plainText(t, kind, args, got), script.Words(args))
			}
		}
	}
}

// plainText returns a reply's text with its elements in order and scores as numbers, which Redis 7.0 spells at length.
func plainText(t *testing.T, kind string, args []string, reply []byte) string {
	v, _, err := script.Decode(reply)
	require.NoError(t, err)
	if group := orders[args[0]].group; group > 0 {
		v = v.Sorted(group)
	}
	if kind == "zset" {
		for i := 1; i < len(v.Elems); i += 2 {
			score, err := strconv.ParseFloat(v.Elems[i].Text, 64)
			require.NoError(t, err)
			v.Elems[i].Text = strconv.FormatFloat(score, 'g', -1, 64)
		}
	}
	return v.String()
}
