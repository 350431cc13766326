package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPace(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct{ took, used, rest time.Duration }{
		{ms, ms, 0}, {16 * ms, 15*ms + ms/2, 0}, // a processor of its own
		{ms, ms / 2, 9 * ms / 2}, {ms, ms / 10, 9 * ms / 10}, {ms, 0, 0},
		{10 * ms, 8 * ms, longestPace},
	} {
		require.Equal(t, c.rest, restAfter(c.took, c.used), "%v of %v", c.used, c.took)
	}
	var none *pace
	none.step()

	var naps []time.Duration
	p := &pace{nap: func(d time.Duration) { naps = append(naps, d) }}
	for range paceSteps {
		p.step()
	}
	require.Empty(t, naps, "the clocks are set first")
	p.began = time.Now().Add(-time.Hour) // nearly all of it was waited
	for range paceSteps {
		p.step()
	}
	require.Len(t, naps, 1)
	require.WithinDuration(t, time.Now(), p.began, time.Minute)
}
