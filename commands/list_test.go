package commands

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store"
)

func TestListCommandsDoNotAllocate(t *testing.T) {
	s := store.New(1, 1)
	long := strings.Repeat("x", 200)
	fill := make([][]string, 100)
	for i := range fill {
		fill[i] = []string{"RPUSH", "large", long}
	}
	allocations(t, s, fill...)
	require.Zero(t, allocations(t, s,
		[]string{"RPUSH", "small", "a", "b", "c"}, []string{"LPUSH", "small", "d"}, []string{"LPOP", "small"}, []string{"RPOP", "small"},
		[]string{"LLEN", "small"}, []string{"LINDEX", "small", "-1"}, []string{"LPOP", "small", "2"}, []string{"LPOP", "small"},
		[]string{"RPUSH", "large", long}, []string{"LPUSH", "large", long}, []string{"LPOP", "large"}, []string{"RPOP", "large"},
		[]string{"LRANGE", "large", "0", "20"}, []string{"LMOVE", "large", "large", "RIGHT", "LEFT"}, []string{"RPOPLPUSH", "large", "large"},
		[]string{"BLPOP", "nokey", "large", "0.5"}, []string{"RPUSH", "large", long}, []string{"LSET", "large", "3", long},
	))
}

func TestSetCommandsDoNotAllocate(t *testing.T) {
	s := store.New(1, 1)
	fill := make([][]string, 1000)
	for i := range fill {
		fill[i] = []string{"SADD", "large", "member" + strings.Repeat("x", i)}
	}
	allocations(t, s, fill...)
	require.Zero(t, allocations(t, s,
		[]string{"SADD", "ints", "3", "1", "70000"}, []string{"SISMEMBER", "ints", "3"}, []string{"SMEMBERS", "ints"}, []string{"SREM", "ints", "70000"},
		[]string{"SADD", "small", "a", "b"}, []string{"SISMEMBER", "small", "b"}, []string{"SREM", "small", "a"}, []string{"SMEMBERS", "small"},
		[]string{"SADD", "large", "new"}, []string{"SISMEMBER", "large", "new"}, []string{"SCARD", "large"}, []string{"SREM", "large", "new"},
		[]string{"SPOP", "large"}, []string{"SRANDMEMBER", "large"}, []string{"SMISMEMBER", "large", "new", "memberx"},
	))
}
