package commands

import "github.com/echomq/emqd/store"

var streamRangeRows = []Row{
	{
		Name: "xlen", Family: "stream", Arity: 2, Flags: ReadOnly | Fast, Do: cmdXLen,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO}},
		Syntax: "key", Since: "5.0.0", Summary: "Returns the number of entries of a stream.", Complexity: "O(1)",
	},
	{
		Name: "xrange", Family: "stream", Arity: -4, Flags: ReadOnly, Do: cmdXRange,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key start:string end [COUNT count]", Since: "5.0.0",
		Summary:    "Returns the entries of a stream whose ids are within a range.",
		Complexity: "O(log N + M) where M is the number of entries returned",
	},
	{
		Name: "xrevrange", Family: "stream", Arity: -4, Flags: ReadOnly, Do: cmdXRevRange,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key end start:string [COUNT count]", Since: "5.0.0",
		Summary:    "Returns the entries of a stream whose ids are within a range, the newest first.",
		Complexity: "O(log N + M) where M is the number of entries returned",
	},
}

// cmdXLen handles XLEN key.
//
// Keys:    stream
// Reply:   number of entries
// Errors:  WRONGTYPE
// Effects: none
func cmdXLen(c *Call) error {
	x, err := c.Tx.Stream(c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Int(int64(x.Len()))
	return nil
}

// cmdXRange handles XRANGE key start end [COUNT count].
//
// Keys:    stream
// Reply:   array of entries; null with COUNT 0
// Errors:  ERR on a bad id or number, WRONGTYPE
// Effects: none
func cmdXRange(c *Call) error { return rangeStream(c, c.Args[2], c.Args[3], false) }

// cmdXRevRange handles XREVRANGE key end start [COUNT count].
//
// Keys:    stream
// Reply:   array of entries, from the last to the first; null with COUNT 0
// Errors:  ERR on a bad id or number, WRONGTYPE
// Effects: none
func cmdXRevRange(c *Call) error { return rangeStream(c, c.Args[3], c.Args[2], true) }

func rangeStream(c *Call, start, end []byte, back bool) error {
	from, err := streamStart(start)
	if err != nil {
		return err
	}
	to, err := streamEnd(end)
	if err != nil {
		return err
	}
	count, limited := 0, false
	for options := c.Args[4:]; len(options) > 0; options = options[2:] {
		if len(options) < 2 || !Is(options[0], "count") {
			return ErrSyntax
		}
		limited = true
		if count, err = countOf(options[1]); err != nil {
			return err
		}
	}
	x, err := c.Tx.Stream(c.Args[1])
	if err != nil {
		return err
	}
	switch {
	case !x.Exists():
		c.Reply.Array(0)
	case limited && count == 0:
		c.Reply.NullArray()
	default:
		writeRange(c.Reply, &x, from, to, count, back)
	}
	return nil
}

// writeRange appends an array of up to count entries, 0 for all.
func writeRange(r *Reply, x *store.Stream, from, to store.StreamID, count int, back bool) {
	n := 0
	mark := r.Later()
	write := func(e store.StreamEntry) bool {
		writeEntry(r, e)
		n++
		return n != count
	}
	if back {
		x.EachBack(from, to, write)
	} else {
		x.Each(from, to, write)
	}
	r.Fill(mark, func() { r.Array(n) })
}
