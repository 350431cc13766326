package commands

import "github.com/echomq/emqd/store/num"

const (
	errBitOffset   Error = "ERR bit offset is not an integer or out of range"
	errBitValue    Error = "ERR bit is not an integer or out of range"
	errBitArgument Error = "ERR The bit argument must be 1 or 0."
	errBitOpNot    Error = "ERR BITOP NOT must be called with a single source key."
)

var bitmapRows = []Row{
	{
		Name: "setbit", Family: "bitmap", Arity: 4, Flags: Write | DenyOOM, Do: cmdSetBit,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyUpdate}},
		Syntax: "key offset value:integer", Since: "2.2.0",
		Summary: "Sets or clears one bit of a string value. The key is created when it is absent.", Complexity: "O(1)",
	},
	{
		Name: "getbit", Family: "bitmap", Arity: 3, Flags: ReadOnly | Fast, Do: cmdGetBit,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key offset", Since: "2.2.0",
		Summary: "Returns one bit of a string value.", Complexity: "O(1)",
	},
	{
		Name: "bitcount", Family: "bitmap", Arity: -2, Flags: ReadOnly, Do: cmdBitCount,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key [start [end:integer [BYTE | BIT]]]", Since: "2.6.0",
		Summary: "Counts the set bits in a string value or a part of it.", Complexity: "O(N)",
	},
	{
		Name: "bitpos", Family: "bitmap", Arity: -3, Flags: ReadOnly, Do: cmdBitPos,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key bit [start [end:integer [BYTE | BIT]]]", Since: "2.8.7",
		Summary: "Finds the first set or clear bit in a string value.", Complexity: "O(N)",
	},
	{
		Name: "bitop", Family: "bitmap", Arity: -4, Flags: Write | DenyOOM, Do: cmdBitOp,
		Keys: []KeySpec{
			{Index: 2, Flags: KeyOW | KeyUpdate},
			{Index: 3, Last: -1, Step: 1, Flags: KeyRO | KeyAccess},
		},
		Syntax: "<AND | OR | XOR | NOT> destkey key [key ...]", Since: "2.6.0",
		Summary: "Combines string values bit by bit and stores the result.", Complexity: "O(N)",
	},
}

// bitOffset reads a bit offset. One with a leading # counts in fields of width bits, when width is not 0.
func bitOffset(c *Call, arg []byte, width int64) (int64, error) {
	scale := int64(1)
	if width > 0 && len(arg) > 0 && arg[0] == '#' {
		arg, scale = arg[1:], width
	}
	off, ok := num.Int(arg)
	limit := int64(c.Tx.Store().Limits.StringMax) * 8
	if !ok || off < 0 || off >= limit || off*scale >= limit {
		return 0, errBitOffset
	}
	return off * scale, nil
}

// cmdSetBit handles SETBIT key offset value.
//
// Keys:    string
// Reply:   the old bit
// Errors:  offset or bit out of range, WRONGTYPE
// Effects: SETBIT, when the bit changes or the string grows
func cmdSetBit(c *Call) error {
	off, err := bitOffset(c, c.Args[2], 0)
	if err != nil {
		return err
	}
	bit, ok := num.Int(c.Args[3])
	if !ok || bit&^1 != 0 {
		return errBitValue
	}
	v, err := c.Tx.String(c.Args[1])
	if err != nil {
		return err
	}
	b := v.Bytes()
	old := bitAt(b, off)
	if off>>3 >= int64(len(b)) || old != bit {
		v.SetBit(int(off), bit == 1)
		c.Tx.Notify('$', "setbit", c.Args[1])
	}
	v.MarkRaw()
	c.Reply.Int(old)
	return nil
}

// bitAt returns the bit at off, 0 behind the end.
func bitAt(b []byte, off int64) int64 {
	if off>>3 >= int64(len(b)) {
		return 0
	}
	return int64(b[off>>3]>>(7-off&7)) & 1
}

// cmdGetBit handles GETBIT key offset.
//
// Keys:    string
// Reply:   the bit, 0 behind the end
// Errors:  offset out of range, WRONGTYPE
// Effects: none
func cmdGetBit(c *Call) error {
	off, err := bitOffset(c, c.Args[2], 0)
	if err != nil {
		return err
	}
	b, _, err := c.Tx.Value(c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Int(bitAt(b, off))
	return nil
}

// bitRange is the part of a string that BITCOUNT and BITPOS look at.
type bitRange struct {
	start, end   int64
	given, ended bool // start and end were given
	bits         bool // they count bits
}

func parseBitRange(args [][]byte, unitFirst bool) (r bitRange, err error) {
	r.end = -1
	if len(args) == 0 {
		return r, nil
	}
	if len(args) > 3 {
		return r, ErrSyntax
	}
	var ok bool
	r.given = true
	if r.start, ok = num.Int(args[0]); !ok {
		return r, ErrNotInteger
	}
	if len(args) == 1 {
		return r, nil
	}
	r.ended = true
	end, isInt := num.Int(args[1])
	if !isInt && !unitFirst {
		return r, ErrNotInteger
	}
	if len(args) == 3 {
		r.bits = Is(args[2], "bit")
		if !r.bits && !Is(args[2], "byte") {
			return r, ErrSyntax
		}
	}
	if !isInt {
		return r, ErrNotInteger
	}
	r.end = end
	return r, nil
}

// of returns the half-open range of bits within a string of n bytes, as clamp finds it; both 0 when it is empty.
func (r *bitRange) of(n int64, clamp func(start, end, n int64) (from, to int64)) (from, to int64) {
	if r.bits {
		return clamp(r.start, r.end, n*8)
	}
	from, to = clamp(r.start, r.end, n)
	return from * 8, to * 8
}

// cmdBitCount handles BITCOUNT key [start [end [BYTE | BIT]]].
//
// Keys:    string
// Reply:   number of set bits
// Errors:  not an integer, syntax, WRONGTYPE
// Effects: none
func cmdBitCount(c *Call) error {
	r, err := parseBitRange(c.Args[2:], false)
	if err != nil {
		return err
	}
	b, _, err := c.Tx.Value(c.Args[1])
	if err != nil {
		return err
	}
	from, to := r.of(int64(len(b)), span)
	c.Reply.Int(countBits(b, from, to))
	return nil
}

// cmdBitPos handles BITPOS key bit [start [end [BYTE | BIT]]].
//
// Keys:    string
// Reply:   offset of the first such bit, or -1. A clear bit is found behind the end unless an end was given.
// Errors:  not an integer, bit not 0 or 1, syntax, WRONGTYPE
// Effects: none
func cmdBitPos(c *Call) error {
	bit, ok := num.Int(c.Args[2])
	if !ok {
		return ErrNotInteger
	}
	if bit != 0 && bit != 1 {
		return errBitArgument
	}
	r, err := parseBitRange(c.Args[3:], true)
	if err != nil {
		return err
	}
	b, found, err := c.Tx.Value(c.Args[1])
	if err != nil {
		return err
	}
	if !found {
		c.Reply.Int(-bit) // an endless row of clear bits
		return nil
	}
	from, to := r.of(int64(len(b)), clampedSpan)
	pos := int64(-1)
	if from < to {
		pos = findBit(b, from, to, bit == 1)
		if pos < 0 && bit == 0 && !r.ended {
			pos = to
		}
	}
	c.Reply.Int(pos)
	return nil
}
