package commands

import (
	"math"

	"github.com/echomq/emqd/store/num"
)

// Deadline reads the timeout of a blocking command, seconds with an optional fraction, and returns the
// Unix ms until which the call may wait, as Wait takes it: 0 seconds wait for ever. A positive timeout
// is rounded up to whole milliseconds, so it never turns into 0.
func (c *Call) Deadline(timeout []byte) (until int64, err error) {
	ms, err := timeoutMillis(timeout)
	if err != nil {
		return 0, err
	}
	return c.deadline(ms)
}

// DeadlineMillis is Deadline for the commands whose timeout is a whole number of milliseconds.
func (c *Call) DeadlineMillis(timeout []byte) (until int64, err error) {
	ms, ok := num.Int(timeout)
	if !ok {
		return 0, ErrTimeoutInteger
	}
	return c.deadline(ms)
}

func (c *Call) deadline(ms int64) (int64, error) {
	switch {
	case ms < 0:
		return 0, ErrTimeoutNeg
	case ms == 0:
		return 0, nil
	case ms > math.MaxInt64-c.Now():
		return 0, ErrTimeoutRange
	}
	return c.Now() + ms, nil
}

// timeoutMillis reads seconds and returns milliseconds, rounded up.
func timeoutMillis(text []byte) (int64, error) {
	if n, ok := num.Int(text); ok && n < math.MaxInt64/1000 && n > math.MinInt64/1000 {
		return n * 1000, nil
	}
	seconds, ok := num.Float(text)
	if !ok {
		return extremeMillis(text)
	}
	ms := seconds * 1000
	switch {
	case ms >= math.MaxInt64:
		return 0, ErrTimeoutRange
	case ms <= math.MinInt64:
		return 0, ErrTimeoutNeg
	}
	// 0.07 is a little more than that as a double: what is a whole number but for the last bits is meant as one.
	if whole := math.Round(ms); math.Abs(ms-whole) < 1e-12*whole {
		return int64(whole), nil
	}
	return int64(math.Ceil(ms)), nil
}

// extremeMillis reads the seconds that a double cannot hold and Valkey's wider type can: far out of range, or
// nearly nothing.
func extremeMillis(text []byte) (int64, error) {
	long, ok := num.ParseLong(text)
	if !ok {
		return 0, ErrTimeoutFloat
	}
	var tmp [64]byte
	digits := long.Append(tmp[:0])
	switch {
	case digits[0] == '-':
		return 0, ErrTimeoutNeg
	case string(digits) != "0":
		return 0, ErrTimeoutRange
	case text[0] == '-':
		return 0, nil
	}
	return 1, nil
}
