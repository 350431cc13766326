package server

import "time"

// clock tells Unix time in a way that a step of the system clock cannot shake: it runs on the monotonic
// clock from the wall time at start and is led back to the wall clock at one twentieth of real speed. So leases do not
// lapse when the system clock jumps forward, and due jobs do not wait when it jumps back.
type clock struct {
	base time.Time     // with a monotonic reading
	wall time.Duration // Unix time at base
	skew time.Duration // added so far to follow the system clock
	counter
}

// slewInterval is how often follow may be called; a call corrects at most a twentieth of it.
const slewInterval = 100 * time.Millisecond

func newClock() *clock {
	now := time.Now()
	return &clock{base: now, wall: time.Duration(now.UnixNano()), counter: counter{usable: haveTicks()}}
}

// nano returns Unix time in nanoseconds.
func (c *clock) nano() int64 { return c.after(time.Since(c.base)) }

// after returns the Unix time, in nanoseconds, of so long after base.
func (c *clock) after(mono time.Duration) int64 { return int64(c.wall + c.skew + mono) }

// milli returns Unix time in milliseconds.
func (c *clock) milli() int64 { return c.nano() / int64(time.Millisecond) }

// left returns how many whole milliseconds to sleep until the Unix ms next, rounded up: after them it has come, and not a
// millisecond more has passed. It is 0 or less when it has come already.
func left(next, nano int64) int64 { return next - nano/int64(time.Millisecond) }

// follow leads the clock a little towards system, the system's idea of Unix time.
func (c *clock) follow(system time.Time) {
	off := time.Duration(system.UnixNano() - c.nano())
	limit := slewInterval / 20
	c.skew += max(-limit, min(limit, off))
}
