package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/internal/oracle"
	"github.com/echomq/emqd/store/rdb"
)

// dumpCase is a key that a real server and a store are filled with alike.
type dumpCase struct {
	name     string
	encoding string // what the real server calls it; empty when that depends on its version
	commands [][]string
	read     []string // shows the whole value, in the same order on both sides
}

// many returns the words first and then n times those that word gives.
func many(n int, word func(i int) []string, first ...string) []string {
	for i := range n {
		first = append(first, word(i)...)
	}
	return first
}

func dumpCases() []dumpCase {
	wide := strings.Repeat("w", 80)
	member := func(prefix string) func(int) []string {
		return func(i int) []string { return []string{prefix + strconv.Itoa(i)} }
	}
	number := func(i int) []string { return []string{strconv.Itoa(i*i - 100)} }
	pair := func(prefix string) func(int) []string {
		return func(i int) []string { return []string{prefix + strconv.Itoa(i), "v" + strconv.Itoa(i)} }
	}
	scored := func(prefix string) func(int) []string {
		return func(i int) []string { return []string{fmt.Sprint(float64(i)/4 - 3), prefix + strconv.Itoa(i)} }
	}
	add := func(i int) []string {
		return []string{"XADD", "k", fmt.Sprintf("%d-%d", i+1, i%3), "f", "v" + strconv.Itoa(i), "g", wide}
	}
	stream := [][]string{{"XADD", "k", "1-0", "only", ""}, {"XGROUP", "CREATE", "k", "g", "0"}}
	for i := range 300 {
		stream = append(stream, add(i+1))
	}
	stream = append(stream, [][]string{
		{"XREADGROUP", "GROUP", "g", "a", "COUNT", "30", "STREAMS", "k", ">"}, {"XREADGROUP", "GROUP", "g", "b", "COUNT", "5", "STREAMS", "k", ">"},
		{"XACK", "k", "g", "2-1", "3-2"}, {"XDEL", "k", "5-1", "100-0"}, {"XGROUP", "CREATE", "k", "other", "$"},
	}...)
	get, items, fields := []string{"GET", "k"}, []string{"LRANGE", "k", "0", "-1"}, []string{"HGETALL", "k"}
	entries := []string{"XRANGE", "k", "-", "+"}
	members, ranks := []string{"SMEMBERS", "k"}, []string{"ZRANGE", "k", "0", "-1", "WITHSCORES"}
	return []dumpCase{
		{"int", "int", [][]string{{"SET", "k", "-12345"}}, get},
		{"largest int", "int", [][]string{{"SET", "k", "9223372036854775807"}}, get},
		{"empty string", "embstr", [][]string{{"SET", "k", ""}}, get},
		{"embstr", "embstr", [][]string{{"SET", "k", "some text"}}, get},
		{"raw", "raw", [][]string{{"SET", "k", strings.Repeat("abc", 50)}}, get},
		{"long string", "raw", [][]string{{"SET", "k", strings.Repeat("0123456789", 10_000)}}, get},
		{"list", "", [][]string{many(5, member("i"), "RPUSH", "k")}, items},
		{"list of numbers", "", [][]string{many(50, number, "RPUSH", "k")}, items},
		{"long list", "quicklist", [][]string{many(3000, member(wide), "RPUSH", "k")}, items},
		{"list of long items", "quicklist", [][]string{{"RPUSH", "k", strings.Repeat("x", 50_000), "small", ""}}, items},
		{"intset", "intset", [][]string{many(100, number, "SADD", "k")}, members},
		{"set", "", [][]string{many(20, member("m"), "SADD", "k", "")}, members},
		{"large set", "hashtable", [][]string{many(1000, member(wide), "SADD", "k")}, members},
		{"hash", "listpack", [][]string{many(100, pair("f"), "HSET", "k", "", "no name")}, fields},
		{"large hash", "hashtable", [][]string{many(1000, pair(wide), "HSET", "k")}, fields},
		{"zset", "listpack", [][]string{many(100, scored("m"), "ZADD", "k", "inf", "top", "-inf", "low")}, ranks},
		{"stream", "stream", [][]string{{"XADD", "k", "1-1", "f", "v"}}, entries},
		{"large stream", "stream", stream, []string{"XINFO", "STREAM", "k"}},
		{"pending entries", "stream", stream, []string{"XPENDING", "k", "g"}},
		{"consumer groups", "stream", stream, []string{"XINFO", "GROUPS", "k"}},
		{"entries", "stream", stream, entries},
		{"large zset", "skiplist", [][]string{many(1000, scored(wide), "ZADD", "k", "inf", "top", "-inf", "low")}, ranks},
	}
}

func TestDumpOnARealServer(t *testing.T) {
	server := oracle.Start(t)
	for _, c := range dumpCases() {
		t.Run(c.name, func(t *testing.T) {
			server.Do("FLUSHALL")
			for _, words := range c.commands {
				reply := server.Do(words...)
				require.False(t, strings.HasPrefix(reply[0], "-"), reply)
			}
			s := New(1, 1)
			s.a.poison = true
			k, again := []byte("k"), []byte("again")
			tx := s.Begin(0, 1000, false)

			theirs := server.Do("DUMP", "k")[0]
			there, err := tx.Restore(k, []byte(theirs), 5000, 0)
			require.NoError(t, err)
			require.True(t, there)
			require.Equal(t, []string{"RESTORE k 5000 " + theirs + " REPLACE ABSTTL"}, lines(tx.Effects()))
			at, _ := tx.Expiry(k)
			require.EqualValues(t, 5000, at)
			if c.encoding != "" {
				require.Equal(t, c.encoding, server.Do("OBJECT", "ENCODING", "k")[0])
				require.Equal(t, c.encoding, tx.Encoding(k))
			}
			tx.Commit()

			tx = s.Begin(0, 1000, false)
			ours := tx.Dump(k)
			there, err = tx.Restore(again, ours, 0, 0)
			require.NoError(t, err)
			require.True(t, there)
			require.Equal(t, tx.DigestKey(k), tx.DigestKey(again))
			require.Equal(t, tx.Encoding(k), tx.Encoding(again))
			tx.Commit()

			want := sorted(c, server.Do(c.read...))
			require.Equal(t, []string{"OK"}, server.Do("RESTORE", "k", "0", string(ours), "REPLACE"))
			require.Equal(t, want, sorted(c, server.Do(c.read...)))
			if c.encoding != "" {
				require.Equal(t, c.encoding, server.Do("OBJECT", "ENCODING", "k")[0])
			}
		})
	}
}

// sorted puts replies that come in any order into one, and leaves out what does not count.
func sorted(c dumpCase, reply []string) []string {
	switch c.read[0] {
	case "SMEMBERS":
		return sortedBy(reply, 1)
	case "HGETALL":
		return sortedBy(reply, 2)
	case "XINFO":
		if reply[2] == "radix-tree-keys" { // how the server happens to keep the entries
			return slices.Delete(reply, 2, 6)
		}
	}
	return reply
}

func TestDumpKeepsTimesOfFields(t *testing.T) {
	s := New(1, 1)
	s.a.poison = true
	h, c := []byte("h"), []byte("c")
	tx := s.Begin(0, 100, false)
	hash, err := tx.Hash(h)
	require.NoError(t, err)
	for i := range 300 {
		hash.Set(fmt.Appendf(nil, "f%d", i), []byte("v"))
	}
	hash.ExpireField([]byte("f1"), 200)
	hash.ExpireField([]byte("f2"), 300)
	payload := tx.Dump(h)
	require.True(t, tx.Copy(h, c, 0, false))
	tx.Commit()

	tx = s.Begin(0, 200, false)
	there, err := tx.Restore(h, payload, 0, 0)
	require.NoError(t, err)
	require.True(t, there)
	for _, key := range [][]byte{h, c} {
		hash, err := tx.Hash(key)
		require.NoError(t, err)
		require.Equal(t, 299, hash.Len())
		_, ok := hash.FieldExpiry([]byte("f1"))
		require.False(t, ok)
		at, ok := hash.FieldExpiry([]byte("f2"))
		require.True(t, ok)
		require.EqualValues(t, 300, at)
	}
	tx.Commit()

	only := rdb.Value{Kind: rdb.KindHash, Fields: []rdb.Field{{Name: []byte("f"), Value: []byte("v"), ExpireAt: 150}}}
	payload, err = rdb.Dump(&only)
	require.NoError(t, err)
	tx = s.Begin(0, 200, false)
	there, err = tx.Restore(h, payload, 0, 0)
	require.NoError(t, err)
	require.False(t, there, "no field is left")
	require.Equal(t, []string{"DEL h"}, lines(tx.Effects()))
	require.False(t, tx.Exists(h))
}

func TestRestoreRefusesAndChangesNothing(t *testing.T) {
	s := New(1, 1)
	k := []byte("k")
	tx := s.Begin(0, 1, false)
	tx.SetValue(k, []byte("v"), 0)
	payload := tx.Dump(k)
	n := tx.Effects().Len()
	flipped := append([]byte(nil), payload...)
	flipped[0] ^= 1
	for _, bad := range [][]byte{nil, payload[2:], payload[:len(payload)-1], flipped} {
		_, err := tx.Restore(k, bad, 0, 0)
		require.Equal(t, rdb.ErrBadPayload, err)
	}
	// The checksum begins at zero, so it does not see that the first byte, a zero, is missing.
	_, err := tx.Restore(k, payload[1:], 0, 0)
	require.Equal(t, rdb.ErrBadData, err)
	require.Equal(t, n, tx.Effects().Len())
	require.Nil(t, tx.Dump([]byte("none")))
}

// sortedBy sorts groups of n elements.
func sortedBy(reply []string, n int) []string {
	var groups [][]string
	for group := range slices.Chunk(reply, n) {
		groups = append(groups, group)
	}
	slices.SortFunc(groups, func(x, y []string) int { return strings.Compare(x[0], y[0]) })
	return slices.Concat(groups...)
}

// FuzzRestore restores hostile values with a checksum that fits. What is accepted must be a whole value: it can be
// read, copied and dumped again.
func FuzzRestore(f *testing.F) {
	for _, payload := range samples {
		if len(payload) < 400 {
			f.Add(payload[:len(payload)-10], payload[len(payload)-10])
		}
	}
	k, c, again := []byte("k"), []byte("c"), []byte("again")
	f.Fuzz(func(t *testing.T, value []byte, version byte) {
		payload := append(bytes.Clone(value), version, 0)
		payload = binary.LittleEndian.AppendUint64(payload, rdb.CRC64(0, payload))
		s := New(1, 1)
		s.a.poison = true
		defer s.a.drop()
		tx := s.Begin(0, 1000, false)
		there, err := tx.Restore(k, payload, 0, 0)
		require.Equal(t, err == nil && there, tx.Exists(k))
		if err != nil {
			require.Zero(t, tx.Effects().Len())
			return
		}
		if !there {
			return
		}
		want := tx.DigestKey(k)
		require.True(t, tx.Copy(k, c, 0, false))
		require.Equal(t, want, tx.DigestKey(c))
		there, err = tx.Restore(again, tx.Dump(k), 0, 0)
		require.NoError(t, err)
		require.True(t, there)
		require.NotEmpty(t, tx.Encoding(again))
		tx.FlushAll()
		tx.Commit()
	})
}
