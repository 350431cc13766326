package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/rdb"
)

// TestCopiesHaveTheFormOfTheirOriginals makes collections element by element at the limits of the compact forms: a copy,
// which is made in one piece, encodes the same, holds the same, and leaves no memory behind.
func TestCopiesHaveTheFormOfTheirOriginals(t *testing.T) {
	long := []byte(strings.Repeat("x", 70))
	for _, n := range []int{1, 2, 127, 128, 129, 256, 257, 511, 512, 513, 3000} {
		for _, extra := range [][]byte{[]byte("y"), long} {
			s := New(1, 1)
			s.a.poison = true
			empty := s.Memory()
			tx := s.Begin(0, 1, false)
			hash, err := tx.Hash([]byte("hash"))
			require.NoError(t, err)
			set, err := tx.Set([]byte("set"))
			require.NoError(t, err)
			zset, err := tx.ZSet([]byte("zset"))
			require.NoError(t, err)
			for i := range n - 1 {
				name := fmt.Append(nil, "member ", i)
				hash.Set(name, name)
				set.Add(name)
				zset.Add(name, float64(i%10))
			}
			hash.Set(extra, extra)
			set.Add(extra)
			zset.Add(extra, 5)
			for _, key := range []string{"hash", "set", "zset"} {
				copied := []byte(key + " copy")
				require.True(t, tx.Copy([]byte(key), copied, 0, false))
				require.Equal(t, tx.Encoding([]byte(key)), tx.Encoding(copied), "%s of %d", key, n)
				v, _, _ := tx.Read([]byte(key))
				w, _, _ := tx.Read(copied)
				require.ElementsMatch(t, v.Items, w.Items)
				require.ElementsMatch(t, v.Fields, w.Fields)
				require.Equal(t, v.Scored, w.Scored)
				require.True(t, tx.Delete([]byte(key)))
				require.True(t, tx.Delete(copied))
			}
			tx.Commit()
			for s.Reclaim(1 << 16) {
			}
			require.LessOrEqual(t, s.Memory()-empty, int64(2048), "n = %d", n)
		}
	}
}

// TestLoadMakesNoKeyTwice loads a key that is there, past its time too, which stays as it is.
func TestLoadMakesNoKeyTwice(t *testing.T) {
	s := New(1, 1)
	one, other := rdb.Value{Kind: rdb.KindString, Str: []byte("one")}, rdb.Value{Kind: rdb.KindString, Str: []byte("other")}
	for _, at := range []int64{0, 5} {
		key := fmt.Append(nil, "key ", at)
		tx := s.BeginReplay(0, 1000)
		require.True(t, tx.Load(key, &one, at))
		require.False(t, tx.Load(key, &other, 0))
		v, expires, ok := tx.Read(key)
		require.True(t, ok)
		require.Equal(t, "one", string(v.Str))
		require.Equal(t, at, expires)
		tx.Commit()
	}
	require.Equal(t, 2, s.Len(0))
}

// TestTouchChangesNothing touches keys and members of every kind, there and not.
func TestTouchChangesNothing(t *testing.T) {
	s := New(1, 1)
	tx := s.Begin(0, 1, false)
	set, err := tx.Set([]byte("set"))
	require.NoError(t, err)
	zset, err := tx.ZSet([]byte("zset"))
	require.NoError(t, err)
	for i := range 3000 {
		set.Add(fmt.Append(nil, i))
		zset.Add(fmt.Append(nil, i), 1)
	}
	tx.SetValue([]byte("string"), []byte(strings.Repeat("v", 100_000)), 0)
	tx.Commit()
	memory := s.Memory()
	for _, key := range []string{"set", "zset", "string", "none", ""} {
		s.Touch(0, []byte(key))
		s.TouchMember(0, []byte(key), []byte("17"))
		s.TouchMember(0, []byte(key), nil)
	}
	require.Equal(t, memory, s.Memory())
	require.Equal(t, 3, s.Len(0))
}
