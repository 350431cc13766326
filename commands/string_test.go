package commands

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store"
)

// allocations returns what the calls allocate on average in one transaction, after one run for warming up.
func allocations(t *testing.T, s *store.Store, calls ...[]string) float64 {
	t.Helper()
	table := New(All()...)
	var reply Reply
	var buf []byte
	all := make([]Call, len(calls))
	for i, words := range calls {
		args := make([][]byte, len(words))
		for j, w := range words {
			args[j] = []byte(w)
		}
		row, err := table.Find(args)
		require.NoError(t, err)
		all[i] = Call{Args: args, Reply: &reply, Row: row, Table: table}
	}
	return testing.AllocsPerRun(200, func() {
		reply.Reset(buf[:0], 2)
		for i := range all {
			c := &all[i]
			c.Tx = s.Begin(0, 1_000_000, c.Row.Has(ReadOnly))
			if err := c.Run(); err != nil {
				panic(err)
			}
			c.Tx.Commit()
		}
		buf = reply.Bytes()
	})
}

func TestStringsAllocateNothing(t *testing.T) {
	s := store.New(1, 1)
	for _, call := range [][]string{
		{"SET", "k", "value"}, {"SET", "k", "another, longer value"}, {"SET", "k", "1", "PX", "1000"}, {"SET", "k", "1", "KEEPTTL", "XX"},
		{"GET", "k"}, {"GET", "none"}, {"MGET", "k", "none"}, {"MSET", "a", "1", "b", "2"}, {"INCR", "n"}, {"INCRBY", "n", "7"},
		{"APPEND", "ap", "x"}, {"SETRANGE", "ap", "3", "x"}, {"GETRANGE", "ap", "0", "1"}, {"STRLEN", "ap"}, {"SETBIT", "bits", "100", "1"},
		{"GETBIT", "bits", "100"}, {"BITCOUNT", "bits"}, {"BITPOS", "bits", "1"},
	} {
		require.Zero(t, allocations(t, s, call), call)
	}
}
