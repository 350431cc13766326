package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGapsAreAdded(t *testing.T) {
	base := time.Unix(100, 0)
	at := func(ms int) time.Time { return base.Add(time.Duration(ms) * time.Millisecond) }
	gaps := []gap{{0, at(10), 5 * time.Millisecond}, {1, at(12), 2 * time.Millisecond}, {0, at(40), 3 * time.Millisecond}}
	require.Equal(t, map[int]time.Duration{0: 5 * time.Millisecond, 1: 2 * time.Millisecond}, gapsIn(gaps, at(13), at(20)))
	require.Equal(t, map[int]time.Duration{0: 8 * time.Millisecond, 1: 2 * time.Millisecond}, gapsIn(gaps, at(0), at(50)))
	require.Empty(t, gapsIn(gaps, at(20), at(40)))
	o := &outcome{}
	o.gapTable(gaps, "", time.Second)
	o.gapTable(nil, "not measured: no", time.Second)
	require.Equal(t, [][]string{{"0", "2", "0", "0", "5.00", "0.80%"}, {"1", "1", "0", "0", "2.00", "0.20%"}}, o.Tables[0].Rows)
	require.Equal(t, "not measured: no", o.Tables[1].Rows[0][0])
}
