package store

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAverageTTL(t *testing.T) {
	s := New(1, 1)
	set := func(n, at int64) {
		tx := s.Begin(0, 0, false)
		tx.SetValue(fmt.Appendf(nil, "k%d", n), []byte("v"), at)
		tx.Commit()
	}
	require.Zero(t, s.AverageTTL(0, 0))
	set(0, 0)
	require.Zero(t, s.AverageTTL(0, 0), "no key has a time")
	for i := int64(1); i <= 10; i++ {
		set(i, i*100)
	}
	require.Equal(t, int64(550), s.AverageTTL(0, 0))
	require.Equal(t, int64(300), s.AverageTTL(0, 500), "those whose time has come do not count")
	past, timed := s.Past(500)
	require.Equal(t, []int{5, 10}, []int{past, timed})
	require.Zero(t, s.AverageTTL(0, 1000))
	for i := int64(1); i <= 10_000; i++ {
		set(i, i)
	}
	require.InDelta(t, 5000, s.AverageTTL(0, 0), 1)
	require.InDelta(t, 2500, s.AverageTTL(0, 5000), 1)
}

func TestArenaFactsAddUp(t *testing.T) {
	s := New(1, 1)
	for i := range 1000 {
		tx := s.Begin(0, 0, false)
		tx.SetValue(fmt.Appendf(nil, "k%d", i), make([]byte, 200), 0)
		tx.Commit()
	}
	f := s.Arena()
	require.Greater(t, f.Live, int64(200*1000))
	require.GreaterOrEqual(t, f.Active, f.Live)
	require.Less(t, f.Active, f.Live+2*pageSize)
	require.GreaterOrEqual(t, f.Resident, f.Active)
	require.Equal(t, s.Memory(), f.Live+s.Tables(0).Keys)

	tx := s.Begin(0, 0, false)
	tx.Flush()
	tx.Commit()
	require.Zero(t, s.Arena().Live)
	require.Positive(t, s.Arena().Resident, "the old arena is not unmapped yet")
	for s.Reclaim(1 << 16) {
	}
	require.Zero(t, s.Arena().Resident)
	require.Equal(t, int64(1), s.Stats.Reclaimed)
}
