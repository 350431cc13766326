package store

import (
	"github.com/stretchr/testify/require"
)

// redoHash applies effect i, one on a hash.
func redoHash(t require.TestingT, tx *Tx, f *Effects, i int) {
	h, err := tx.Hash(f.Arg(i, 0))
	require.NoError(t, err)
	switch f.Name(i) {
	case "HSET":
		for j := 1; j < f.Args(i); j += 2 {
			h.Set(f.Arg(i, j), f.Arg(i, j+1))
		}
	case "HDEL":
		for j := 1; j < f.Args(i); j++ {
			require.True(t, h.Delete(f.Arg(i, j)))
		}
	default:
		require.Fail(t, "unknown effect", f.Name(i))
	}
}
