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

const (
	errExpireNX   Error = "ERR NX and XX, GT or LT options at the same time are not compatible"
	errExpireGTLT Error = "ERR GT and LT options at the same time are not compatible"
)

// expireIf is the condition under which EXPIRE and its siblings, for keys and for hash fields, set a time.
type expireIf struct {
	nx, xx, gt, lt bool
}

// parseExpireIf reads the words NX, XX, GT and LT, of which all of args must be.
func parseExpireIf(args [][]byte) (cond expireIf, err error) {
	for _, word := range args {
		switch {
		case Is(word, "nx"):
			cond.nx = true
		case Is(word, "xx"):
			cond.xx = true
		case Is(word, "gt"):
			cond.gt = true
		case Is(word, "lt"):
			cond.lt = true
		default:
			return cond, Error("ERR Unsupported option " + Echo(word))
		}
	}
	if cond.nx && (cond.xx || cond.gt || cond.lt) {
		return cond, errExpireNX
	}
	if cond.gt && cond.lt {
		return cond, errExpireGTLT
	}
	return cond, nil
}

// allows reports whether the time at may take the place of old, 0 for none, which counts as later than any.
func (cond expireIf) allows(old, at int64) bool {
	switch {
	case cond.nx && old != 0, cond.xx && old == 0:
		return false
	case cond.gt && (old == 0 || at <= old):
		return false
	case cond.lt && old != 0 && at >= old:
		return false
	}
	return true
}
