package commands

var traBitmapRows = []Row{
	{
		Name: "tra.bset", Family: "tra", Arity: -3, Flags: Write | DenyOOM | Fast, Do: traBSet,
		Keys: []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyUpdate}}, Categories: []string{"bitmap"},
		Syntax: "key offset [offset ...]", Since: "1.0.0", Complexity: "O(M) where M is the number of offsets",
		Summary: "Sets bits of a string value and counts those that were clear.",
	},
	{
		Name: "tra.bget", Family: "tra", Arity: -3, Flags: ReadOnly | Fast, Do: traBGet,
		Keys: []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}}, Categories: []string{"bitmap"},
		Syntax: "key offset [offset ...]", Since: "1.0.0", Complexity: "O(M) where M is the number of offsets",
		Summary: "Returns bits of a string value.",
	},
	{
		Name: "tra.bcount", Family: "tra", Arity: -2, Flags: ReadOnly, Do: traBCount,
		Keys: []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}}, Categories: []string{"bitmap"},
		Syntax: "key [first last]", Since: "1.0.0", Complexity: "O(N) where N is the length of the string",
		Summary: "Counts the set bits of a string value or of a range of its bits.",
	},
	{
		Name: "tra.bop", Family: "tra", Arity: -4, Flags: Write | DenyOOM, Do: traBOp,
		Keys: []KeySpec{
			{Index: 2, Flags: KeyOW | KeyUpdate},
			{Index: 3, Last: -1, Step: 1, Flags: KeyRO | KeyAccess},
		},
		Categories: []string{"bitmap"},
		Syntax:     "<AND | OR | XOR | ANDNOT> destkey key [key ...]", Since: "1.0.0",
		Complexity: "O(N) where N is the length of the longest string",
		Summary:    "Combines string values bit by bit, stores the result and counts its set bits.",
	},
}

// traBSet handles TRA.BSET key offset [offset ...].
//
// Keys:    string
// Reply:   how many bits were clear
// Errors:  an offset out of range, WRONGTYPE
// Effects: SETBIT for each bit that changes
func traBSet(c *Call) error {
	for _, arg := range c.Args[2:] {
		if _, err := bitOffset(c, arg, 0); err != nil {
			return err
		}
	}
	v, err := c.Tx.String(c.Args[1])
	if err != nil {
		return err
	}
	changed := int64(0)
	for _, arg := range c.Args[2:] {
		off, err := bitOffset(c, arg, 0)
		if err != nil {
			return err
		}
		if bitAt(v.Bytes(), off) == 0 {
			v.SetBit(int(off), true)
			changed++
		}
	}
	if changed > 0 {
		c.Tx.Notify('$', "setbit", c.Args[1])
	}
	c.Reply.Int(changed)
	return nil
}

// traBGet handles TRA.BGET key offset [offset ...].
//
// Keys:    string
// Reply:   array of the bits, 0 behind the end
// Errors:  an offset out of range, WRONGTYPE
// Effects: none
func traBGet(c *Call) error {
	b, _, err := c.Tx.Value(c.Args[1])
	if err != nil {
		return err
	}
	offsets := c.Args[2:]
	c.Reply.Array(len(offsets))
	for _, arg := range offsets {
		off, err := bitOffset(c, arg, 0)
		if err != nil {
			return err
		}
		c.Reply.Int(bitAt(b, off))
	}
	return nil
}

// traBCount handles TRA.BCOUNT key [first last].
//
// Keys:    string
// Reply:   number of set bits from first to last, both included; negative offsets count from the end
// Errors:  syntax when one offset is given, not an integer, WRONGTYPE
// Effects: none
func traBCount(c *Call) error {
	r := bitRange{end: -1}
	if n := len(c.Args); n > 2 {
		if n != 4 {
			return ErrSyntax
		}
		var err error
		if r, err = parseBitRange(c.Args[2:], false); err != nil {
			return err
		}
		r.bits = true
	}
	b, _, err := c.Tx.Value(c.Args[1])
	if err != nil {
		return err
	}
	from, to := r.of(int64(len(b)), span)
	c.Reply.Int(countBits(b, from, to))
	return nil
}

// traBOp handles TRA.BOP and|or|xor|andnot destkey key [key ...].
//
// Keys:    destkey of any kind; strings
// Reply:   number of set bits of the result; a shorter string counts as followed by zeros
// Errors:  syntax, WRONGTYPE
// Effects: SET destkey, or DEL when there is nothing to combine
func traBOp(c *Call) error {
	var op bitOp
	switch word := c.Args[1]; {
	case Is(word, "and"):
		op = bitAnd
	case Is(word, "or"):
		op = bitOr
	case Is(word, "xor"):
		op = bitXor
	case Is(word, "andnot"):
		op = bitAndNot
	default:
		return ErrSyntax
	}
	result, err := storeBitOp(c, op, c.Args[2], c.Args[3:])
	if err != nil {
		return err
	}
	c.Reply.Int(countBits(result, 0, int64(len(result))*8))
	return nil
}
