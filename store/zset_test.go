package store

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/echomq/emqd/store/num"
)

// scored is a member of the model.
type scored struct {
	member string
	score  float64
}

// zsetModel is a sorted set as plain data.
type zsetModel map[string]float64

func (m zsetModel) sorted() []scored {
	all := make([]scored, 0, len(m))
	for member, score := range m {
		all = append(all, scored{member, score})
	}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.member, b.member))
	})
	return all
}

// check panics through t when the tree's counts, separators or order are wrong. It returns the items in order.
func (s *scoreTree) check(t require.TestingT) []ref {
	var items []ref
	var walk func(r ref, depth int) (n int)
	walk = func(r ref, depth int) int {
		if depth == s.depth {
			l := s.leaf(r)
			require.Positive(t, l.n)
			items = append(items, l.item[:l.n]...)
			return int(l.n)
		}
		n := s.inner(r)
		require.Positive(t, n.n)
		total := 0
		for i := range int(n.n) {
			first := len(items)
			below := walk(n.child[i], depth+1)
			require.EqualValues(t, below, n.count[i])
			if i > 0 {
				require.Equal(t, items[first], n.item[i])
			}
			total += below
		}
		return total
	}
	if s.root == 0 {
		require.Zero(t, s.count)
		return nil
	}
	require.Equal(t, s.count, walk(s.root, 0))
	return items
}

func requireZSet(t require.TestingT, tx *Tx, key string, m zsetModel) {
	z, err := tx.ZSet([]byte(key))
	require.NoError(t, err)
	want := m.sorted()
	require.Equal(t, len(want), z.Len())
	require.Equal(t, len(want) > 0, z.Exists())
	var got []scored
	collect := func(member []byte, score float64) bool {
		got = append(got, scored{string(member), score})
		return true
	}
	z.Range(0, len(want)+5, false, collect)
	require.Equal(t, want, append([]scored{}, got...))
	got = nil
	z.Range(-5, len(want), true, collect)
	slices.Reverse(got)
	require.Equal(t, want, append([]scored{}, got...))
	if z.Exists() && z.table() != nil {
		for i, r := range z.table().t.check(t) {
			member, score := z.table().scored(r)
			require.Equal(t, want[i], scored{string(member), score})
		}
	}
}

func drawMember(t *rapid.T) string {
	return rapid.OneOf(
		rapid.Map(rapid.IntRange(0, 400), func(i int) string { return fmt.Sprintf("m%03d", i) }),
		rapid.StringMatching(`[a-c]{0,3}`),
		rapid.Map(rapid.IntRange(100, 3000), func(i int) string { return string(bytes.Repeat([]byte{'x'}, i)) }),
	).Draw(t, "member")
}

func drawScore(t *rapid.T) float64 {
	return rapid.SampledFrom([]float64{0, 0, 0, 1, -1, 2.5, math.Inf(1), math.Inf(-1), 1e300, 0.1}).Draw(t, "score")
}

// TestZSetAgreesWithModel runs random changes on two keys against maps, through both forms, and checks that
// the effects alone make an empty store the same.
func TestZSetAgreesWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, replica := New(1, 1), New(1, 1)
		s.a.poison, replica.a.poison = true, true
		defer s.a.drop()
		defer replica.a.drop()
		models := map[string]zsetModel{"a": {}, "b": {}}
		now := int64(1000)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			tx := s.Begin(0, now, false)
			key := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key")
			changeZSet(t, tx, key, models[key])
			requireZSet(t, tx, "a", models["a"])
			requireZSet(t, tx, "b", models["b"])
			queryZSet(t, tx, key, models[key])
			replayZSets(t, replica, tx.Effects(), now)
			tx.Commit()
		}
		tx := replica.Begin(0, now, false)
		requireZSet(t, tx, "a", models["a"])
		requireZSet(t, tx, "b", models["b"])
		tx.Commit()
		tx = s.Begin(0, now, false)
		tx.Delete([]byte("a"))
		tx.Delete([]byte("b"))
		tx.Commit()
		for s.Reclaim(100) {
		}
		require.Zero(t, s.a.live)
		require.Zero(t, s.objMem)
	})
}

func changeZSet(t *rapid.T, tx *Tx, key string, m zsetModel) {
	z, err := tx.ZSet([]byte(key))
	require.NoError(t, err)
	switch rapid.IntRange(0, 7).Draw(t, "op") {
	case 0, 1:
		member, score := drawMember(t), drawScore(t)
		old, had := m[member]
		added, changed := z.Add([]byte(member), score)
		require.Equal(t, !had, added)
		require.Equal(t, had && old != score, changed)
		m[member] = score
	case 2:
		first, n := rapid.IntRange(0, 1<<20).Draw(t, "first"), rapid.IntRange(1, 500).Draw(t, "n")
		score, down := drawScore(t), rapid.Bool().Draw(t, "down")
		for i := range n {
			member := fmt.Sprintf("%08d", first+i)
			if down {
				member = fmt.Sprintf("%08d", first-i)
			}
			z.Add([]byte(member), score)
			m[member] = score
		}
	case 3:
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for range rapid.IntRange(1, 500).Draw(t, "n") {
			member, score := fmt.Sprintf("r%d", rng.IntN(1000)), float64(rng.IntN(20))
			z.Add([]byte(member), score)
			m[member] = score
		}
	case 4:
		member := drawMember(t)
		_, had := m[member]
		require.Equal(t, had, z.Remove([]byte(member)))
		delete(m, member)
	case 5:
		from := rapid.IntRange(-2, len(m)).Draw(t, "from")
		to := rapid.IntRange(from, len(m)+2).Draw(t, "to")
		gone := m.sorted()[min(max(from, 0), len(m)):min(max(to, 0), len(m))]
		require.Equal(t, len(gone), z.RemoveRange(from, to))
		for _, x := range gone {
			delete(m, x.member)
		}
	case 6:
		all := m.sorted()
		for i := rapid.IntRange(0, 3).Draw(t, "i"); i < len(all); i += rapid.IntRange(1, 4).Draw(t, "step") {
			require.True(t, z.Remove([]byte(all[i].member)))
			delete(m, all[i].member)
		}
	case 7:
		for range rapid.IntRange(0, 300).Draw(t, "pops") {
			member, score, ok := z.First()
			require.Equal(t, len(m) > 0, ok)
			if !ok {
				break
			}
			require.Equal(t, m[string(member)], score)
			delete(m, string(member))
			require.True(t, z.Remove([]byte(string(member))))
		}
	}
}

func queryZSet(t *rapid.T, tx *Tx, key string, m zsetModel) {
	z, err := tx.ZSet([]byte(key))
	require.NoError(t, err)
	all := m.sorted()
	member := drawMember(t)
	want, had := m[member]
	score, ok := z.Score([]byte(member))
	require.Equal(t, had, ok)
	require.Equal(t, want, score)
	rank := rapid.IntRange(-1, len(all)).Draw(t, "rank")
	got, score, ok := z.At(rank)
	require.Equal(t, rank >= 0 && rank < len(all), ok)
	if ok {
		require.Equal(t, all[rank], scored{string(got), score})
		r, score, ok := z.Rank([]byte(string(got)))
		require.True(t, ok)
		require.Equal(t, rank, r)
		require.Equal(t, all[rank].score, score)
	}
	_, _, ok = z.Rank([]byte("no such member"))
	require.False(t, ok)
	lo, hi, loOut, hiOut := drawScore(t), drawScore(t), rapid.Bool().Draw(t, "lo"), rapid.Bool().Draw(t, "hi")
	count := 0
	for _, x := range all {
		if (x.score > lo || !loOut && x.score == lo) && (x.score < hi || !hiOut && x.score == hi) {
			count++
		}
	}
	from, to := z.Scores(lo, loOut, hi, hiOut)
	require.Equal(t, count, to-from)
	if count > 0 {
		require.True(t, all[from].score >= lo && all[to-1].score <= hi)
	}
	seen := zsetModel{}
	for cursor := uint64(0); ; {
		cursor = z.Scan(cursor, func(member []byte, score float64) { seen[string(member)] = score })
		if cursor == 0 {
			break
		}
	}
	require.Equal(t, m, seen)
}

// replayZSets applies what a transaction did to another store.
func replayZSets(t require.TestingT, s *Store, effects *Effects, now int64) {
	tx := s.Begin(0, now, false)
	for i := range effects.Len() {
		z, err := tx.ZSet(bytes.Clone(effects.Arg(i, 0)))
		require.NoError(t, err)
		switch effects.Name(i) {
		case "ZADD":
			for j := 1; j < effects.Args(i); j += 2 {
				score, ok := num.Float(effects.Arg(i, j))
				require.True(t, ok)
				z.Add(effects.Arg(i, j+1), score)
			}
		case "ZREM":
			for j := 1; j < effects.Args(i); j++ {
				require.True(t, z.Remove(effects.Arg(i, j)))
			}
		default:
			require.Fail(t, "unexpected effect", effects.Name(i))
		}
	}
	tx.Commit()
}

func TestZSetLexes(t *testing.T) {
	for _, n := range []int{5, 1000} {
		s := New(1, 1)
		tx := s.Begin(0, 1, false)
		z, err := tx.ZSet([]byte("z"))
		require.NoError(t, err)
		member := func(i int) []byte { return []byte(fmt.Sprintf("%04d", i*2)) }
		for i := range n {
			z.Add(member(i), 0)
		}
		bound := func(text string) num.Lex {
			x, ok := num.LexBound([]byte(text))
			require.True(t, ok)
			return x
		}
		for _, c := range []struct {
			lo, hi   string
			from, to int
		}{
			{"-", "+", 0, n}, {"+", "-", n, n}, {"[0002", "[0004", 1, 3}, {"(0002", "[0004", 2, 3},
			{"[0002", "(0004", 1, 2}, {"(0002", "(0004", 2, 2}, {"[0003", "+", 2, n}, {"(9999", "+", n, n}, {"-", "(", 0, 0},
		} {
			from, to := z.Lexes(bound(c.lo), bound(c.hi))
			require.Equal(t, []int{c.from, c.to}, []int{from, to}, "%s %s", c.lo, c.hi)
		}
		tx.Commit()
		s.a.drop()
	}
}

func TestZSetZeroHasOneSign(t *testing.T) {
	s := New(1, 1)
	defer s.a.drop()
	tx := s.Begin(0, 1, false)
	z, _ := tx.ZSet([]byte("z"))
	z.Add([]byte("a"), math.Copysign(0, -1))
	score, _ := z.Score([]byte("a"))
	require.False(t, math.Signbit(score))
	require.Panics(t, func() { z.Add([]byte("b"), math.NaN()) })
	tx.Commit()
}

func TestZSetEncodingFollowsLimits(t *testing.T) {
	s := New(1, 1)
	defer s.a.drop()
	s.Limits.ZSetEntries, s.Limits.ZSetValue = 2, 4
	tx := s.Begin(0, 1, false)
	for _, c := range []struct {
		members []string
		want    string
	}{
		{[]string{"a", "b"}, "listpack"}, {[]string{"a", "b", "c"}, "skiplist"}, {[]string{"abcde"}, "skiplist"},
	} {
		z, _ := tx.ZSet([]byte(c.members[0] + strconv.Itoa(len(c.members))))
		for _, m := range c.members {
			z.Add([]byte(m), 1)
		}
		require.Equal(t, c.want, z.Encoding())
		z.Remove([]byte("a"))
		if z.Exists() {
			z.Remove([]byte("b"))
			require.Equal(t, c.want, z.Encoding(), "the form is kept")
		}
	}
	tx.Commit()
}

// fillPending makes key a set of n members such as job ids are, with equal scores.
func fillPending(s *Store, key string, n int) {
	for i := 0; i < n; {
		tx := s.Begin(0, 1, false)
		z, _ := tx.ZSet([]byte(key))
		for end := min(i+1000, n); i < end; i++ {
			z.Add(pendingMember(i), 0)
		}
		tx.Commit()
	}
}

func pendingMember(i int) []byte { return fmt.Appendf(nil, "JOB%011d", i) }

func TestZSetMemory(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 200_000
	}
	s := New(1, 1)
	defer s.a.drop()
	fillPending(s, "z", n)
	perMember := float64(s.Memory()) / float64(n)
	t.Logf("%.1f bytes per member", perMember)
	require.LessOrEqual(t, perMember, 64.0)
	for i := range n / 2 {
		tx := s.Begin(0, 1, false)
		z, _ := tx.ZSet([]byte("z"))
		m, _, _ := z.First()
		z.Remove(m)
		tx.Commit()
		if i%1000 == 0 {
			s.Reclaim(1000)
		}
	}
	// The table of the members shrinks late.
	require.LessOrEqual(t, float64(s.Memory())/float64(n-n/2), 90.0)
}

func TestZSetAllocates(t *testing.T) {
	for _, n := range []int{50, 5000} {
		s := New(1, 1)
		fillPending(s, "z", n)
		key, i := []byte("z"), 0
		members := make([][]byte, 400)
		for i := range members {
			members[i] = pendingMember(n + i)
		}
		run := func() {
			tx := s.Begin(0, 1, false)
			z, _ := tx.ZSet(key)
			z.Add(members[i], 0)
			z.Add(members[i], 5)
			z.Score(members[i])
			z.Rank(members[i])
			from, to := z.Scores(0, false, 1, false)
			z.Range(from, min(to, 10), false, func([]byte, float64) bool { return true })
			m, _, _ := z.First()
			z.Remove(m)
			tx.Commit()
			i++
		}
		for range 100 {
			run()
		}
		require.Zero(t, testing.AllocsPerRun(200, run))
		s.a.drop()
	}
}

// BenchmarkZSetClaim takes the first member of a pending set, adds it to an active set and appends a new one.
func BenchmarkZSetClaim(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000, 10_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := New(1, 1)
			defer s.a.drop()
			fillPending(s, "pending", n)
			next := n
			member := make([]byte, 0, 32)
			for b.Loop() {
				tx := s.Begin(0, 1, false)
				z, _ := tx.ZSet([]byte("pending"))
				m, _, _ := z.First()
				member = append(member[:0], m...)
				z.Remove(member)
				active, _ := tx.ZSet([]byte("active"))
				active.Add(member, float64(next))
				if active.Len() > 1000 {
					active.RemoveRange(0, 1)
				}
				member = append(member[:0], "JOB"...)
				digits := strconv.AppendInt(member[3:3], int64(next)+1e10, 10)
				z.Add(member[:3+len(digits)], 0)
				next++
				tx.Commit()
			}
		})
	}
}
