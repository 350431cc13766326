package commands

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store"
)

func TestZSetsAllocateNothing(t *testing.T) {
	calls := [][]string{
		{"ZADD", "z", "1", "m"}, {"ZADD", "z", "XX", "CH", "2", "m"}, {"ZADD", "z", "1", "m", "2", "n"}, {"ZINCRBY", "z", "1", "m"},
		{"ZSCORE", "z", "m"}, {"ZMSCORE", "z", "m", "none"}, {"ZCARD", "z"}, {"ZRANK", "z", "m"}, {"ZREVRANK", "z", "m", "WITHSCORE"},
		{"ZCOUNT", "z", "1", "(5"}, {"ZLEXCOUNT", "z", "[m", "+"}, {"ZRANGE", "z", "0", "9", "WITHSCORES"}, {"ZREVRANGE", "z", "0", "9"},
		{"ZRANGEBYSCORE", "z", "-inf", "5", "LIMIT", "0", "3"}, {"ZRANGEBYLEX", "z", "-", "[n"}, {"ZREM", "z", "none"},
		{"ZPOPMIN", "z"}, {"ZPOPMAX", "z", "1"}, {"ZMPOP", "1", "z", "MIN"}, {"BZPOPMIN", "z", "0"}, {"ZREMRANGEBYRANK", "z", "0", "0"},
	}
	for _, size := range []int{100, 5000} {
		s := store.New(1, 1)
		tx := s.Begin(0, 1_000_000, false)
		z, err := tx.ZSet([]byte("z"))
		require.NoError(t, err)
		for i := range size {
			z.Add(fmt.Append(nil, "member", i), float64(i))
		}
		tx.Commit()
		for _, call := range calls {
			if size == 100 && strings.Contains(call[0], "POP") {
				continue // the runs of one test would empty it
			}
			require.Zero(t, allocations(t, s, call), "%d: %v", size, call)
		}
	}
}

func TestZSetEvents(t *testing.T) {
	s := store.New(1, 1)
	s.Listen(true)
	table := New(All()...)
	for _, c := range []struct {
		call   string
		events string
	}{
		{"ZADD z 1 a 2 b 3 c 4 d 5 e 6 f", "n:new:z z:zadd:z"},
		{"ZADD z 1 a", ""},
		{"ZADD z 2 a", "z:zadd:z"},
		{"ZADD z INCR 1 a", "z:zincr:z"},
		{"ZINCRBY z 0 a", ""},
		{"ZINCRBY z 1 a", "z:zincr:z"},
		{"ZREM z none", ""},
		{"ZREM z a", "z:zrem:z"},
		{"ZRANGESTORE d z 0 0", "n:new:d z:zrangestore:d"},
		{"ZPOPMIN d", "z:zpopmin:d g:del:d"},
		{"ZREMRANGEBYSCORE z 2 2", "z:zremrangebyscore:z"},
		{"ZREMRANGEBYSCORE z 2 2", ""},
		{"ZREMRANGEBYLEX z [c [c", "z:zremrangebylex:z"},
		{"ZUNIONSTORE u 1 z", "n:new:u z:zunionstore:u"},
		{"ZMPOP 1 u MAX", "z:zpopmax:u"},
		{"BZPOPMAX u 0", "z:zpopmax:u"},
		{"ZDIFFSTORE u 2 z z", "g:del:u"},
		{"ZINTERSTORE u 2 z z", "n:new:u z:zinterstore:u"},
		{"ZREMRANGEBYRANK z 0 -1", "z:zremrangebyrank:z g:del:z"},
		{"ZRANGESTORE u z 0 -1", "g:del:u"},
		{"ZRANGESTORE u z 0 -1", ""},
	} {
		tx := s.Begin(0, 1_000_000, false)
		call := Call{Tx: tx, Reply: &Reply{}}
		for _, word := range strings.Fields(c.call) {
			call.Args = append(call.Args, []byte(word))
		}
		call.Row = table.Lookup(call.Args[0])
		require.NoError(t, call.Run(), c.call)
		var got []string
		for _, e := range tx.Events() {
			got = append(got, fmt.Sprintf("%c:%s:%s", e.Class, e.Name, e.Key))
		}
		require.Equal(t, c.events, strings.Join(got, " "), c.call)
		tx.Commit()
	}
}

func TestDistinctRanksAreDrawnEvenly(t *testing.T) {
	s := store.New(1, 3)
	rng := s.Begin(0, 1, true).Rand()
	for _, k := range []int{1, 3, 9} {
		drawn := make([]int, 10)
		const rounds = 20000
		for range rounds {
			seen := map[int]bool{}
			for _, i := range distinct(rng, 10, k) {
				require.False(t, seen[i])
				seen[i] = true
				drawn[i]++
			}
			require.Len(t, seen, k)
		}
		for i, n := range drawn {
			require.InEpsilon(t, rounds*k/10, n, 0.1, "%d of %d", i, k)
		}
	}
}
