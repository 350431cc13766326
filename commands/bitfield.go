package commands

import (
	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

const (
	errBitfieldType Error = "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is."
	errOverflowType Error = "ERR Invalid OVERFLOW type specified"
	errBitfieldRO   Error = "ERR BITFIELD_RO only supports the GET subcommand"
)

var bitfieldRows = []Row{
	{
		Name: "bitfield", Family: "bitmap", Arity: -2, Flags: Write | DenyOOM, Do: cmdBitfield, FindKeys: bitfieldKeys,
		Keys: []KeySpec{{
			Index: 1, Flags: KeyRW | KeyAccess | KeyUpdate | KeyVariable,
			Notes: "reads or writes, as its operations do",
		}},
		Syntax: "key [<GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>] <SET encoding offset value:integer | " +
			"INCRBY encoding offset increment:integer>> ...]",
		Since:   "3.2.0",
		Summary: "Reads and changes integers of any width inside a string value.", Complexity: "O(1) for each operation",
	},
	{
		Name: "bitfield_ro", Family: "bitmap", Arity: -2, Flags: ReadOnly | Fast, Do: cmdBitfieldRO,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key [GET encoding offset [GET encoding offset ...]]", Since: "6.0.0",
		Summary: "Reads integers of any width inside a string value.", Complexity: "O(1) for each operation",
	},
}

type overflowMode uint8

const (
	overflowWrap overflowMode = iota
	overflowSat
	overflowFail
)

type bitfieldVerb uint8

const (
	bitfieldGet bitfieldVerb = iota
	bitfieldSet
	bitfieldIncr
)

// bitfieldOp is one operation of BITFIELD.
type bitfieldOp struct {
	verb     bitfieldVerb
	signed   bool
	width    int64
	off      int64
	operand  int64
	overflow overflowMode
}

// parseBitfield reads the operations. end is how many bits the string must have for those that write, 0 when none does.
func parseBitfield(c *Call, args [][]byte) (ops []bitfieldOp, end int64, err error) {
	mode := overflowWrap
	for len(args) > 0 {
		op := bitfieldOp{overflow: mode}
		n := 3
		switch word := args[0]; {
		case Is(word, "get") && len(args) > 2:
		case Is(word, "set") && len(args) > 3:
			op.verb, n = bitfieldSet, 4
		case Is(word, "incrby") && len(args) > 3:
			op.verb, n = bitfieldIncr, 4
		case Is(word, "overflow") && len(args) > 1:
			if mode, err = parseOverflow(args[1]); err != nil {
				return nil, 0, err
			}
			args = args[2:]
			continue
		default:
			return nil, 0, ErrSyntax
		}
		if err := op.parseType(args[1]); err != nil {
			return nil, 0, err
		}
		if op.off, err = bitOffset(c, args[2], op.width); err != nil {
			return nil, 0, err
		}
		if op.verb != bitfieldGet {
			end = max(end, op.off+op.width)
			var ok bool
			if op.operand, ok = num.Int(args[3]); !ok {
				return nil, 0, ErrNotInteger
			}
		}
		ops = append(ops, op)
		args = args[n:]
	}
	return ops, end, nil
}

func parseOverflow(word []byte) (overflowMode, error) {
	switch {
	case Is(word, "wrap"):
		return overflowWrap, nil
	case Is(word, "sat"):
		return overflowSat, nil
	case Is(word, "fail"):
		return overflowFail, nil
	}
	return 0, errOverflowType
}

// parseType reads an encoding such as u8 or i64.
func (op *bitfieldOp) parseType(arg []byte) error {
	if len(arg) < 2 || arg[0] != 'i' && arg[0] != 'u' {
		return errBitfieldType
	}
	width, ok := num.Int(arg[1:])
	op.signed = arg[0] == 'i'
	if !ok || width < 1 || width > 64 || width == 64 && !op.signed {
		return errBitfieldType
	}
	op.width = width
	return nil
}

// cmdBitfield handles BITFIELD key [GET type offset | [OVERFLOW mode] SET type offset value | INCRBY type offset n ...].
//
// Keys:    string
// Reply:   array with one integer for each operation: the value, the old value of SET, the new one of
// INCRBY; null where OVERFLOW FAIL held a write back
// Errors:  syntax, type, offset, overflow mode, not an integer, WRONGTYPE
// Effects: SETRANGE for each write that changes something
func cmdBitfield(c *Call) error {
	ops, end, err := parseBitfield(c, c.Args[2:])
	if err != nil {
		return err
	}
	v, err := c.Tx.String(c.Args[1])
	if err != nil {
		return err
	}
	grown := false
	if end > 0 {
		grown = v.Len() < int((end+7)/8)
		v.Grow(int((end + 7) / 8))
		v.MarkRaw()
	}
	changed := false
	c.Reply.Array(len(ops))
	for i := range ops {
		changed = ops[i].run(c.Reply, &v, grown) || changed
	}
	if changed {
		c.Tx.Notify('$', "setbit", c.Args[1])
	}
	return nil
}

// cmdBitfieldRO handles BITFIELD_RO key [GET type offset ...].
//
// Keys:    string
// Reply:   array of integers
// Errors:  as BITFIELD, and any operation but GET
// Effects: none
func cmdBitfieldRO(c *Call) error {
	ops, end, err := parseBitfield(c, c.Args[2:])
	if err != nil {
		return err
	}
	if end > 0 {
		return errBitfieldRO
	}
	b, _, err := c.Tx.Value(c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Array(len(ops))
	for i := range ops {
		c.Reply.Int(ops[i].load(b))
	}
	return nil
}

// run does one operation and reports whether it counts as a change: it wrote another value or, when the string has grown
// for the operations, any.
func (op *bitfieldOp) run(r *Reply, v *store.String, grown bool) (changed bool) {
	old := op.load(v.Bytes())
	if op.verb == bitfieldGet {
		r.Int(old)
		return false
	}
	base, reply := old, int64(0)
	if op.verb == bitfieldSet {
		base = 0
	}
	value, over := op.add(base, op.operand)
	if over && op.overflow == overflowFail {
		r.Null()
		return false
	}
	if reply = value; op.verb == bitfieldSet {
		reply = old
	}
	if value != old {
		op.store(v, uint64(value))
	}
	r.Int(reply)
	return grown || value != old
}

// load returns the integer in b, which counts as followed by zeros.
func (op *bitfieldOp) load(b []byte) int64 {
	var window [9]byte
	if at := op.off >> 3; at < int64(len(b)) {
		copy(window[:], b[at:])
	}
	x := uint64(0)
	for _, c := range window[:8] {
		x = x<<8 | uint64(c)
	}
	shift := uint(op.off & 7)
	x = x<<shift | uint64(window[8])>>(8-shift)
	if op.signed {
		return int64(x) >> (64 - op.width)
	}
	return int64(x >> (64 - op.width))
}

// store writes the low bits of x; the string is long enough.
func (op *bitfieldOp) store(v *store.String, x uint64) {
	at, last := op.off>>3, (op.off+op.width-1)>>3
	var window [9]byte
	w := window[:last-at+1]
	copy(w, v.Bytes()[at:])
	// Shift the value and its mask to the bits behind the end of the window that stay.
	low := uint(len(w))*8 - uint(op.off&7) - uint(op.width)
	mask := ^uint64(0) >> (64 - op.width)
	x &= mask
	for i := len(w) - 1; i >= 0; i-- {
		w[i] = w[i]&^byte(mask<<low) | byte(x<<low)
		if low > 0 {
			mask, x = mask>>(8-low), x>>(8-low)
			low = 0
		} else {
			mask, x = mask>>8, x>>8
		}
	}
	v.Patch(int(at), w)
}

// add returns a+b as the type holds it, wrapped or at the bound it went over, and whether it went over. As a
// value to set, b alone may be beyond the type.
func (op *bitfieldOp) add(a, b int64) (sum int64, over bool) {
	lo, hi := op.bounds()
	sum = a + b
	up := b > 0 && (sum < a || sum > hi)
	down := b < 0 && (sum > a || sum < lo)
	if !up && !down {
		return sum, false
	}
	if op.verb == bitfieldSet && (!op.signed || hi-b < 0) {
		// A negative number is a large one to an unsigned field; so is one to a signed field that is less than
		// the bound by more than an integer holds, as in Valkey.
		up = true
	}
	if op.overflow == overflowSat {
		if up {
			return hi, true
		}
		return lo, true
	}
	spare := 64 - int(op.width)
	if op.signed {
		return sum << spare >> spare, true
	}
	return sum & hi, true
}

func (op *bitfieldOp) bounds() (lo, hi int64) {
	if op.signed {
		hi = int64(1)<<(op.width-1) - 1
		return -hi - 1, hi
	}
	return 0, int64(1)<<op.width - 1
}
