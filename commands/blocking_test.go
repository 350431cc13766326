package commands

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store"
)

func TestDeadline(t *testing.T) {
	const now = 1_700_000_000_000
	c := Call{Tx: store.New(1, 1).Begin(0, now, true)}
	for text, want := range map[string]int64{
		"0": 0, "0.0": 0, "-0": 0, "-0.0001": 0, "1": now + 1000, "0.001": now + 1, "0.0001": now + 1,
		"0.07": now + 70, "2.3": now + 2300, "1.0005": now + 1001, "1e-400": now + 1, "0x1p1": now + 2000,
		"9000000000": now + 9000000000000,
	} {
		until, err := c.Deadline([]byte(text))
		require.NoError(t, err, text)
		require.Equal(t, want, until, text)
	}
	for text, want := range map[string]error{
		"abc": ErrTimeoutFloat, "": ErrTimeoutFloat, " 1": ErrTimeoutFloat, "1s": ErrTimeoutFloat, "nan": ErrTimeoutFloat,
		"-1": ErrTimeoutNeg, "-0.5": ErrTimeoutNeg, "-inf": ErrTimeoutNeg, "-1e400": ErrTimeoutNeg, "-1e30": ErrTimeoutNeg,
		"1e20": ErrTimeoutRange, "inf": ErrTimeoutRange, "1e400": ErrTimeoutRange, "9223372036854775": ErrTimeoutRange, "9223372035154775": ErrTimeoutRange,
		"9223372036854775807": ErrTimeoutRange,
	} {
		_, err := c.Deadline([]byte(text))
		require.Equal(t, want, err, text)
	}
	until, err := c.DeadlineMillis([]byte("1500"))
	require.NoError(t, err)
	require.EqualValues(t, now+1500, until)
	for text, want := range map[string]error{
		"1.5": ErrTimeoutInteger, "-1": ErrTimeoutNeg, "9223372036854775807": ErrTimeoutRange,
	} {
		_, err := c.DeadlineMillis([]byte(text))
		require.Equal(t, want, err, text)
	}
	quarter := []byte("0.25")
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = c.Deadline(quarter) }))
}
