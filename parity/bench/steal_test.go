package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStealIsReadAndAdded(t *testing.T) {
	require.Equal(t, 150*time.Millisecond, stealOf("cpu  1 2 3 4 5 6 7 15 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n"))
	require.Zero(t, stealOf("cpu 1 2"))
	base := time.Unix(100, 0)
	var all []steal
	for i := range 20 {
		all = append(all, steal{base.Add(time.Duration(i) * stealEvery), time.Duration(i) * time.Millisecond})
	}
	require.Equal(t, 3*time.Millisecond, stolenIn(all, base.Add(5*stealEvery), base.Add(6*stealEvery))) // from 4 to 7, two looks around
	require.Zero(t, stolenIn(all, base.Add(time.Hour), base.Add(2*time.Hour)))
	require.Zero(t, stolenIn(nil, base, base))
}
