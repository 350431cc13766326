package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestQuickClock(t *testing.T) {
	for name, usable := range map[string]bool{"counter": haveTicks(), "none": false} {
		t.Run(name, func(t *testing.T) {
			c := newClock()
			c.counter.usable = usable
			for last := int64(0); time.Since(c.base) < 5*firstStudy; {
				before := c.nano()
				now := c.quick()
				after := c.nano()
				require.GreaterOrEqual(t, now, last)
				last = now
				require.Greater(t, now, before-int64(quickSpan))
				require.Less(t, now, after+int64(quickSpan))
			}
			require.Equal(t, usable, c.span > 0, "the counter is in use")
		})
	}
}

func TestQuickClockStudies(t *testing.T) {
	var q counter
	look := func(mono time.Duration, tick uint64) (perTick float64, span uint64) {
		q.tick = tick
		q.study(mono)
		return q.perTick, q.span
	}
	for _, step := range []struct {
		mono    time.Duration
		tick    uint64
		perTick float64
	}{
		{time.Second, 5_000_000, 0},                 // where it begins
		{1005 * time.Millisecond, 15_000_000, 0},    // too short to tell
		{1010 * time.Millisecond, 25_000_000, 0.5},  // two ticks a nanosecond
		{1500 * time.Millisecond, 35_000_000, 0.5},  // not looked at again yet
		{2010 * time.Millisecond, 1_025_000_000, 1}, // one
		{3010 * time.Millisecond, 1_025_000_000 + 4e9, 0.25},
	} {
		perTick, span := look(step.mono, step.tick)
		require.InDelta(t, step.perTick, perTick, 1e-9, step.mono)
		if perTick > 0 {
			require.InDelta(t, float64(quickSpan), float64(span)*perTick, 1)
		}
	}
}
