package store

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func setMembers(s *Set) []string {
	members := []string{}
	s.Each(func(m []byte) bool {
		members = append(members, string(m))
		return true
	})
	return members
}

// setModel drives one set and a map that must stay equal to it.
type setModel struct {
	s, other *Store
	key      []byte
	members  map[string]bool
}

func (m *setModel) member(t *rapid.T) string {
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0, 1:
		return strings.Repeat("m", rapid.SampledFrom([]int{0, 1, 5, 64, 65, 130, 3000}).Draw(t, "size"))
	case 2:
		return strconv.FormatInt(rapid.SampledFrom([]int64{
			math.MinInt64, math.MaxInt64, math.MinInt32, math.MaxInt32 + 1, math.MinInt16, math.MaxInt16 + 1, -1,
		}).Draw(t, "wide"), 10)
	case 3:
		return "0" + strconv.Itoa(rapid.IntRange(0, 20).Draw(t, "text"))
	}
	return strconv.Itoa(rapid.IntRange(-20, 400).Draw(t, "n"))
}

func (m *setModel) step(t *rapid.T, s *Set) {
	op := rapid.IntRange(0, 9).Draw(t, "op")
	switch {
	case op < 4:
		x := m.member(t)
		require.Equal(t, !m.members[x], s.Add([]byte(x)))
		m.members[x] = true
	case op == 4:
		prefix := rapid.SampledFrom([]string{"", "t"}).Draw(t, "prefix")
		base := rapid.IntRange(-100, 1000).Draw(t, "base")
		for i := range rapid.IntRange(1, 600).Draw(t, "many") {
			x := prefix + strconv.Itoa(base+i)
			require.Equal(t, !m.members[x], s.Add([]byte(x)))
			m.members[x] = true
		}
	case op < 7:
		x := m.member(t)
		require.Equal(t, m.members[x], s.Remove([]byte(x)))
		delete(m.members, x)
	case op == 7:
		for range rapid.IntRange(0, 700).Draw(t, "pops") {
			x, ok := s.Random()
			require.Equal(t, len(m.members) > 0, ok)
			if !ok {
				break
			}
			was := string(x)
			require.True(t, m.members[was])
			require.True(t, s.Remove(x))
			delete(m.members, was)
		}
	case op == 8:
		n := rapid.IntRange(0, len(m.members)+2).Draw(t, "sample")
		got := map[string]bool{}
		s.Sample(n, func(x []byte) {
			require.True(t, m.members[string(x)])
			got[string(x)] = true
		})
		require.Equal(t, min(n, len(m.members)), len(got))
	case op == 9:
		seen := map[string]bool{}
		for cursor := uint64(0); ; {
			cursor = s.Scan(cursor, func(x []byte) { seen[string(x)] = true })
			if cursor == 0 {
				break
			}
		}
		require.Equal(t, m.members, seen)
	}
}

func (m *setModel) run(t *rapid.T) {
	tx := m.s.Begin(0, 1000, false)
	s, err := tx.Set(m.key)
	require.NoError(t, err)
	m.step(t, &s)
	require.Equal(t, len(m.members), s.Len())
	require.Equal(t, len(m.members) > 0, tx.Exists(m.key))
	require.Equal(t, s.Len() > 0, s.Exists())
	got := setMembers(&s)
	if s.Encoding() == "intset" {
		require.True(t, sort.SliceIsSorted(got, func(i, j int) bool { return effectInt(t, []byte(got[i])) < effectInt(t, []byte(got[j])) }))
	}
	for _, x := range got {
		require.True(t, m.members[x])
		require.True(t, s.Has([]byte(x)))
	}
	require.False(t, s.Has([]byte("none")))
	f := tx.Effects()
	txo := m.other.Begin(0, 1000, false)
	for i := range f.Len() {
		o, err := txo.Set(f.Arg(i, 0))
		require.NoError(t, err)
		for j := 1; j < f.Args(i); j++ {
			switch f.Name(i) {
			case "SADD":
				require.True(t, o.Add(f.Arg(i, j)))
			case "SREM":
				require.True(t, o.Remove(f.Arg(i, j)))
			default:
				require.Fail(t, "unexpected effect", f.Name(i))
			}
		}
	}
	txo.Commit()
	tx.Commit()
}

func TestSetModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &setModel{s: New(1, 1), other: New(1, 2), key: []byte("set"), members: map[string]bool{}}
		m.s.a.poison, m.other.a.poison = true, true
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			m.run(t)
		}
		require.Equal(t, m.s.Digest(1000), m.other.Digest(1000))
		tx := m.s.Begin(0, 1000, false)
		tx.Delete(m.key)
		tx.Commit()
		for m.s.Reclaim(1) {
		}
		require.Zero(t, m.s.a.live, "all blocks are given back")
		require.Zero(t, m.s.objMem, "all object memory is given back")
	})
}

func TestSetEncoding(t *testing.T) {
	fill := func(name string, n int, member func(int) string) *Set {
		tx := New(1, 1).Begin(0, 1, false)
		s, err := tx.Set([]byte(name))
		require.NoError(t, err)
		for i := range n {
			s.Add([]byte(member(i)))
		}
		return &s
	}
	text := func(i int) string { return "t" + strconv.Itoa(i) }
	require.Equal(t, "intset", fill("ints", 512, strconv.Itoa).Encoding())
	require.Equal(t, "hashtable", fill("many ints", 513, strconv.Itoa).Encoding())
	require.Equal(t, "listpack", fill("texts", 128, text).Encoding())
	require.Equal(t, "hashtable", fill("many texts", 129, text).Encoding())
	s := fill("mixed", 127, strconv.Itoa)
	s.Add([]byte("text"))
	require.Equal(t, "listpack", s.Encoding())
	require.Equal(t, append(func() (all []string) {
		for i := range 127 {
			all = append(all, strconv.Itoa(i))
		}
		return all
	}(), "text"), setMembers(s))
	s = fill("mixed large", 128, strconv.Itoa)
	s.Add([]byte("text"))
	require.Equal(t, "hashtable", s.Encoding())
	s = fill("long", 1, func(int) string { return strings.Repeat("x", 64) })
	require.Equal(t, "listpack", s.Encoding())
	s.Add([]byte(strings.Repeat("x", 65)))
	require.Equal(t, "hashtable", s.Encoding())
}

// Every member is given equally often, whichever form the set has and after it shrank.
func TestSetRandomIsFair(t *testing.T) {
	for _, n := range []int{10, 100, 3000} {
		s := New(1, 42)
		tx := s.Begin(0, 1, false)
		set, err := tx.Set([]byte("s"))
		require.NoError(t, err)
		prefix := "m"
		if n == 10 {
			prefix = ""
		}
		for i := range 4 * n {
			set.Add([]byte(prefix + strconv.Itoa(i)))
		}
		for i := n; i < 4*n; i++ {
			set.Remove([]byte(prefix + strconv.Itoa(i)))
		}
		hits := map[string]int{}
		const each = 200
		for range n * each {
			m, ok := set.Random()
			require.True(t, ok)
			hits[string(m)]++
		}
		require.Len(t, hits, n)
		for m, k := range hits {
			require.InDelta(t, each, k, each*0.5, "%d members: %s", n, m)
		}
		sampled := map[string]int{}
		for range 1000 {
			set.Sample(n/2, func(m []byte) { sampled[string(m)]++ })
		}
		require.Len(t, sampled, n)
		for m, k := range sampled {
			require.InDelta(t, 500, k, 120, "%d members: %s", n, m)
		}
		tx.Commit()
	}
}

func TestSetDoesNotAllocate(t *testing.T) {
	for _, n := range []int{20, 400, 5000} {
		s := New(1, 1)
		tx := s.Begin(0, 1, false)
		key := []byte("s")
		set, _ := tx.Set(key)
		members := make([][]byte, n)
		for i := range members {
			members[i] = strconv.AppendInt(nil, int64(i), 10)
			set.Add(members[i])
		}
		tx.Commit()
		rng := rand.New(rand.NewPCG(1, 1))
		turn := func() {
			tx := s.Begin(0, 1, false)
			set, _ := tx.Set(key)
			m := members[rng.IntN(n)]
			set.Remove(m)
			set.Has(m)
			set.Add(m)
			set.Random()
			tx.Commit()
		}
		turn()
		require.Zero(t, testing.AllocsPerRun(1000, turn), "%d members", n)
	}
}

func TestIntSetWidths(t *testing.T) {
	tx := New(1, 1).Begin(0, 1, false)
	s, err := tx.Set([]byte("s"))
	require.NoError(t, err)
	want := []int64{math.MinInt64, math.MinInt32 - 1, math.MinInt32, math.MinInt16 - 1, math.MinInt16, -1, 0, 1, math.MaxInt16,
		math.MaxInt16 + 1, math.MaxInt32, math.MaxInt32 + 1, math.MaxInt64}
	for _, i := range []int{6, 4, 8, 7, 3, 9, 2, 10, 0, 12, 11, 1, 5} {
		require.True(t, s.Add(strconv.AppendInt(nil, want[i], 10)))
	}
	var got []int64
	s.Each(func(m []byte) bool {
		n, err := strconv.ParseInt(string(m), 10, 64)
		require.NoError(t, err)
		got = append(got, n)
		return true
	})
	require.Equal(t, want, got)
	require.True(t, slices.IsSorted(got))
	require.False(t, s.Has([]byte("01")))
}
