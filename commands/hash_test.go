package commands

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store"
)

func TestHashesAllocateNothing(t *testing.T) {
	calls := [][]string{
		{"HSET", "h", "f", "value"}, {"HSET", "h", "f", "1", "g", "2"}, {"HMSET", "h", "f", "1"}, {"HGET", "h", "f"}, {"HGET", "h", "none"},
		{"HMGET", "h", "f", "none"}, {"HEXISTS", "h", "f"}, {"HLEN", "h"}, {"HSTRLEN", "h", "f"}, {"HSETNX", "h", "f", "1"},
		{"HINCRBY", "h", "n", "1"}, {"HDEL", "h", "none"}, {"HPTTL", "h", "FIELDS", "1", "f"}, {"HGETALL", "h"},
	}
	s := store.New(1, 1)
	for _, call := range calls {
		require.Zero(t, allocations(t, s, call), call)
	}
	tx := s.Begin(0, 1_000_000, false)
	h, err := tx.Hash([]byte("h"))
	require.NoError(t, err)
	for i := range 1000 {
		h.Set(fmt.Append(nil, i), []byte("v"))
	}
	tx.Commit()
	for _, call := range append(calls, []string{"HPEXPIRE", "h", "1000", "FIELDS", "1", "f"}) {
		require.Zero(t, allocations(t, s, call), call)
	}
}

func TestRandomFieldsAreDrawnEvenly(t *testing.T) {
	for _, size := range []int{5, 300} {
		s := store.New(1, 7)
		tx := s.Begin(0, 1_000_000, false)
		h, err := tx.Hash([]byte("h"))
		require.NoError(t, err)
		for i := range size {
			h.Set(fmt.Append(nil, i), []byte("v"))
		}
		c := Call{Tx: tx, Reply: &Reply{}}
		for _, count := range []int64{1, 3, -3, int64(size) - 1, int64(size), int64(size) + 5, -2 * int64(size)} {
			drawn := map[string]int{}
			rounds := 200 * size / int(max(count, -count))
			for range rounds {
				in := map[string]bool{}
				n := int64(0)
				pickFields(&c, &h, count, func(x fieldPair) {
					n++
					drawn[string(x.field)]++
					in[string(x.field)] = true
				})
				if count > 0 {
					require.Len(t, in, int(n), "fields repeat")
					require.Equal(t, min(count, int64(size)), n)
				} else {
					require.Equal(t, -count, n)
				}
			}
			require.Len(t, drawn, size)
			for field, n := range drawn {
				require.InDelta(t, 200, n, 110, "count %d, field %s", count, field)
			}
		}
		tx.Commit()
	}
}
