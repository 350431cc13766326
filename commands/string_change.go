package commands

import (
	"errors"
	"math"

	"github.com/echomq/emqd/store/num"
)

const (
	errStringMax    Error = "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
	errOffsetRange  Error = "ERR offset is out of range"
	errDecrOverflow Error = "ERR decrement would overflow"
)

var stringChangeRows = []Row{
	{
		Name: "append", Family: "string", Arity: 3, Flags: Write | DenyOOM | Fast, Do: cmdAppend,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyInsert}},
		Syntax: "key value", Since: "2.0.0",
		Summary: "Adds bytes behind a string value. The key is created when it is absent.", Complexity: "O(N) where N is the length of the added bytes",
	},
	{
		Name: "setrange", Family: "string", Arity: 4, Flags: Write | DenyOOM, Do: cmdSetRange,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key offset value", Since: "2.2.0",
		Summary: "Writes over a part of a string value. The key is created when it is absent.", Complexity: "O(N) where N is the length of the written bytes",
	},
	{
		Name: "incr", Family: "string", Arity: 2, Flags: Write | DenyOOM | Fast, Do: cmdIncr,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyUpdate}},
		Syntax: "key", Since: "1.0.0",
		Summary: "Adds one to the integer value of a key. An absent key counts as 0.", Complexity: "O(1)",
	},
	{
		Name: "decr", Family: "string", Arity: 2, Flags: Write | DenyOOM | Fast, Do: cmdDecr,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyUpdate}},
		Syntax: "key", Since: "1.0.0",
		Summary: "Takes one from the integer value of a key. An absent key counts as 0.", Complexity: "O(1)",
	},
	{
		Name: "incrby", Family: "string", Arity: 3, Flags: Write | DenyOOM | Fast, Do: cmdIncrBy,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyUpdate}},
		Syntax: "key increment:integer", Since: "1.0.0",
		Summary: "Adds to the integer value of a key. An absent key counts as 0.", Complexity: "O(1)",
	},
	{
		Name: "decrby", Family: "string", Arity: 3, Flags: Write | DenyOOM | Fast, Do: cmdDecrBy,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyUpdate}},
		Syntax: "key decrement:integer", Since: "1.0.0",
		Summary: "Takes from the integer value of a key. An absent key counts as 0.", Complexity: "O(1)",
	},
	{
		Name: "incrbyfloat", Family: "string", Arity: 3, Flags: Write | DenyOOM | Fast, Do: cmdIncrByFloat,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyUpdate}},
		Syntax: "key increment:double", Since: "2.6.0",
		Summary: "Adds to the floating-point value of a key. An absent key counts as 0.", Complexity: "O(1)",
	},
}

// fitsString refuses a string of n bytes more than off when that is beyond the limit.
func fitsString(c *Call, off int64, n int) error {
	limit := int64(c.Tx.Store().Limits.StringMax)
	if off > limit || int64(n) > limit-off {
		return errStringMax
	}
	return nil
}

// cmdAppend handles APPEND key value.
//
// Keys:    string
// Reply:   the new length
// Errors:  WRONGTYPE, the string would be too long
// Effects: SETRANGE, or SET when the key is created
func cmdAppend(c *Call) error {
	v, err := c.Tx.String(c.Args[1])
	if err != nil {
		return err
	}
	data := c.Args[2]
	if err := fitsString(c, int64(v.Len()), len(data)); err != nil {
		return err
	}
	if len(data) > 0 || !v.Exists() {
		v.Append(data)
	} else {
		v.MarkRaw()
		c.Tx.Signal(c.Args[1])
	}
	c.Tx.Notify('$', "append", c.Args[1])
	c.Reply.Int(int64(v.Len()))
	return nil
}

// cmdSetRange handles SETRANGE key offset value.
//
// Keys:    string
// Reply:   the length afterwards
// Errors:  not an integer, offset out of range, WRONGTYPE, the string would be too long
// Effects: SETRANGE
func cmdSetRange(c *Call) error {
	off, ok := num.Int(c.Args[2])
	if !ok {
		return ErrNotInteger
	}
	if off < 0 {
		return errOffsetRange
	}
	v, err := c.Tx.String(c.Args[1])
	if err != nil {
		return err
	}
	data := c.Args[3]
	if len(data) == 0 {
		c.Reply.Int(int64(v.Len()))
		return nil
	}
	if err := fitsString(c, off, len(data)); err != nil {
		return err
	}
	v.Patch(int(off), data)
	c.Tx.Notify('$', "setrange", c.Args[1])
	c.Reply.Int(int64(v.Len()))
	return nil
}

// cmdIncr handles INCR key.
//
// Keys:    string
// Reply:   the new value
// Errors:  WRONGTYPE, not an integer, overflow
// Effects: SET
func cmdIncr(c *Call) error { return increase(c, 1) }

// cmdDecr handles DECR key.
//
// Keys:    string
// Reply:   the new value
// Errors:  WRONGTYPE, not an integer, overflow
// Effects: SET
func cmdDecr(c *Call) error { return increase(c, -1) }

// cmdIncrBy handles INCRBY key increment.
//
// Keys:    string
// Reply:   the new value
// Errors:  not an integer, WRONGTYPE, overflow
// Effects: SET
func cmdIncrBy(c *Call) error {
	by, ok := num.Int(c.Args[2])
	if !ok {
		return ErrNotInteger
	}
	return increase(c, by)
}

// cmdDecrBy handles DECRBY key decrement.
//
// Keys:    string
// Reply:   the new value
// Errors:  not an integer, WRONGTYPE, overflow
// Effects: SET
func cmdDecrBy(c *Call) error {
	by, ok := num.Int(c.Args[2])
	if !ok {
		return ErrNotInteger
	}
	if by == math.MinInt64 {
		return errDecrOverflow
	}
	return increase(c, -by)
}

func increase(c *Call, by int64) error {
	v, err := c.Tx.String(c.Args[1])
	if err != nil {
		return err
	}
	n := int64(0)
	if v.Exists() {
		var ok bool
		if n, ok = num.Int(v.Bytes()); !ok {
			return ErrNotInteger
		}
	}
	sum, ok := addInt(n, by)
	if !ok {
		return ErrOverflow
	}
	v.SetInt(sum)
	c.Tx.Notify('$', "incrby", c.Args[1])
	c.Reply.Int(sum)
	return nil
}

// addInt returns a+b; ok is false when it does not fit.
func addInt(a, b int64) (sum int64, ok bool) {
	sum = a + b
	return sum, (sum > a) == (b > 0)
}

// cmdIncrByFloat handles INCRBYFLOAT key increment.
//
// Keys:    string
// Reply:   the new value, as a bulk string
// Errors:  WRONGTYPE, not a float, the sum is not finite
// Effects: SET
func cmdIncrByFloat(c *Call) error {
	v, err := c.Tx.String(c.Args[1])
	if err != nil {
		return err
	}
	old := zeroText
	if v.Exists() {
		old = v.Bytes()
	}
	sum, err := addFloats(old, c.Args[2])
	if err != nil {
		return err
	}
	v.Replace(sum)
	v.MarkText()
	c.Tx.Notify('$', "incrbyfloat", c.Args[1])
	c.Reply.Bulk(sum)
	return nil
}

var zeroText = []byte("0")

// addFloats returns the text of a + b in extended precision, or the refusal.
func addFloats(a, b []byte) ([]byte, error) {
	sum, err := num.AddLong(nil, a, b)
	switch {
	case errors.Is(err, num.ErrNotFloat):
		return nil, ErrNotFloat
	case err != nil:
		return nil, ErrNaNOrInf
	}
	return sum, nil
}
