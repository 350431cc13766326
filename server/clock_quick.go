package server

import (
	"math"
	"time"
)

// counter is the processor's counter of ticks as a measure of time: a reading of it takes 10 ns, one of the system's
// monotonic clock 30, and each command ends with one (a tenth of a PING in a pipeline).
type counter struct {
	usable bool
	last   int64 // the latest reading

	at      int64   // a reading of the clock itself, Unix ns
	tick    uint64  // ticks then
	span    uint64  // ticks for which it holds
	perTick float64 // nanoseconds

	studied   time.Duration // on the monotonic clock, when perTick was looked at last
	studyTick uint64
}

const (
	quickSpan  = time.Millisecond
	firstStudy = 10 * time.Millisecond // the least time that tells how long a tick is
	laterStudy = time.Second
)

// quick is nano for one goroutine only, which reads the clock more often than anything else happens. It asks the
// clock itself after each millisecond, and its readings never go back.
func (c *clock) quick() int64 {
	q := &c.counter
	now := q.at
	if d := ticks() - q.tick; d < q.span {
		now += int64(float64(d) * q.perTick)
	} else {
		now = c.ask()
	}
	q.last = max(q.last, now)
	return q.last
}

// ask reads the clock itself, and the ticks at the same moment: of some attempts the one in which least came between the two.
func (c *clock) ask() int64 {
	q := &c.counter
	if !q.usable {
		return c.nano()
	}
	var mono time.Duration
	for best, tries := uint64(math.MaxUint64), 3; tries > 0 && best > q.span/100; tries-- {
		before := ticks()
		now := time.Since(c.base)
		if after := ticks(); after-before < best {
			best, mono, q.tick = after-before, now, after
		}
	}
	q.study(mono)
	q.at = c.after(mono)
	return q.at
}

// study learns how long a tick is.
func (q *counter) study(mono time.Duration) {
	took := mono - q.studied
	if took < laterStudy && (q.span > 0 || took < firstStudy && q.studyTick > 0) {
		return
	}
	if q.studyTick > 0 {
		q.perTick = float64(took) / float64(q.tick-q.studyTick)
		q.span = uint64(float64(quickSpan) / q.perTick)
	}
	q.studied, q.studyTick = mono, q.tick
}
