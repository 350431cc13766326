package commands

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store"
)

func TestKeysAllocateNothing(t *testing.T) {
	s := store.New(2, 1)
	allocations(t, s, []string{"SET", "k", "v", "PX", "100000"}, []string{"HSET", "h", "f", "v"}, []string{"RPUSH", "l", "x"})
	for _, calls := range [][][]string{
		{{"EXISTS", "k", "none", "h"}}, {{"TOUCH", "k", "none"}}, {{"TYPE", "k"}}, {{"TYPE", "none"}}, {{"TTL", "k"}}, {{"PTTL", "h"}},
		{{"EXPIRETIME", "none"}}, {{"EXPIRE", "k", "100"}}, {{"PEXPIRE", "k", "100000", "GT"}}, {{"DEL", "none"}}, {{"PERSIST", "none"}},
		{{"SET", "a", "v"}, {"DEL", "a"}}, {{"SET", "a", "v"}, {"RENAME", "a", "b"}, {"UNLINK", "b"}}, {{"DBSIZE"}}, {{"RANDOMKEY"}},
		{{"OBJECT", "ENCODING", "k"}}, {{"OBJECT", "IDLETIME", "k"}}, {{"COPY", "k", "c", "REPLACE"}, {"MOVE", "c", "1"}},
	} {
		require.Zero(t, allocations(t, s, calls...), calls)
	}
}
