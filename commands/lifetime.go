package commands

import (
	"math"

	"github.com/echomq/emqd/store/num"
)

// ErrExpireTime is the refusal of a time to live or deadline that is not positive or beyond what a millisecond clock
// can say; name is the row's full name.
func ErrExpireTime(name string) Error {
	return Error("ERR invalid expire time in '" + name + "' command")
}

// timeWord tells how the number behind it is to be read as a point in time.
type timeWord uint8

const (
	timeNone timeWord = iota
	timeEX            // seconds from now
	timePX            // milliseconds from now
	timeEXAT          // Unix seconds
	timePXAT          // Unix milliseconds
)

// timeWordOf returns which of the words EX, PX, EXAT and PXAT an argument is, in any case.
func timeWordOf(arg []byte) timeWord {
	switch {
	case Is(arg, "ex"):
		return timeEX
	case Is(arg, "px"):
		return timePX
	case Is(arg, "exat"):
		return timeEXAT
	case Is(arg, "pxat"):
		return timePXAT
	}
	return timeNone
}

func (w timeWord) relative() bool { return w == timeEX || w == timePX }

func (w timeWord) seconds() bool { return w == timeEX || w == timeEXAT }

// expireTime reads the positive number that stands behind w as Unix milliseconds; 0 for timeNone.
func (c *Call) expireTime(w timeWord, arg []byte) (int64, error) {
	if w == timeNone {
		return 0, nil
	}
	at, ok := num.Int(arg)
	if !ok {
		return 0, ErrNotInteger
	}
	if at <= 0 {
		return 0, ErrExpireTime(c.Row.FullName())
	}
	if at, ok = w.unixMilli(at, c.Now()); !ok {
		return 0, ErrExpireTime(c.Row.FullName())
	}
	return at, nil
}

// unixMilli converts n to Unix milliseconds; ok is false when the result is out of range.
func (w timeWord) unixMilli(n, now int64) (at int64, ok bool) {
	if w.seconds() {
		if n > math.MaxInt64/1000 || n < math.MinInt64/1000 {
			return 0, false
		}
		n *= 1000
	}
	if w.relative() {
		if n > math.MaxInt64-now {
			return 0, false
		}
		n += now
	}
	return n, true
}
