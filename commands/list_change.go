package commands

import "github.com/echomq/emqd/store/num"

var listChangeRows = []Row{
	{
		Name: "linsert", Family: "list", Arity: 5, Flags: Write | DenyOOM, Do: cmdLInsert,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyInsert}},
		Syntax: "key <BEFORE | AFTER> pivot element", Since: "2.2.0", Summary: "Inserts an element before or after another one of a list.",
		Complexity: "O(N) where N is the number of elements before the pivot",
	},
	{
		Name: "lset", Family: "list", Arity: 4, Flags: Write | DenyOOM, Do: cmdLSet,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key index element", Since: "1.0.0", Summary: "Replaces an element of a list by its index.",
		Complexity: "O(N) where N is the number of elements between the index and the nearer end",
	},
	{
		Name: "lrem", Family: "list", Arity: 4, Flags: Write, Do: cmdLRem,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyDelete}},
		Syntax: "key count element", Since: "1.0.0",
		Summary: "Removes elements that are equal to the given one from a list.", Complexity: "O(N) where N is the length of the list",
	},
	{
		Name: "ltrim", Family: "list", Arity: 4, Flags: Write, Do: cmdLTrim,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyDelete}},
		Syntax: "key start stop", Since: "1.0.0",
		Summary: "Removes the elements of a list on either side of a range.", Complexity: "O(N) where N is the number of elements removed",
	},
}

// cmdLInsert handles LINSERT key BEFORE|AFTER pivot element.
//
// Keys:    list
// Reply:   the length of the list, -1 when there is no pivot, 0 when the key is absent
// Errors:  ERR syntax error, WRONGTYPE
// Effects: LINSERT
func cmdLInsert(c *Call) error {
	after := Is(c.Args[2], "after")
	if !after && !Is(c.Args[2], "before") {
		return ErrSyntax
	}
	l, err := c.Tx.List(c.Args[1])
	if err != nil {
		return err
	}
	switch {
	case !l.Exists():
		c.Reply.Int(0)
	case !l.Insert(c.Args[3], c.Args[4], after):
		c.Reply.Int(-1)
	default:
		c.Tx.Notify('l', "linsert", c.Args[1])
		c.Reply.Int(int64(l.Len()))
	}
	return nil
}

// cmdLSet handles LSET key index element.
//
// Keys:    list
// Reply:   OK
// Errors:  ERR no such key, WRONGTYPE, ERR when index is no integer or out of range
// Effects: LSET
func cmdLSet(c *Call) error {
	l, err := c.Tx.List(c.Args[1])
	if err != nil {
		return err
	}
	if !l.Exists() {
		return ErrNoSuchKey
	}
	i, ok := num.Int(c.Args[2])
	if !ok {
		return ErrNotInteger
	}
	if !l.Set(listIndex(&l, i), c.Args[3]) {
		return ErrOutOfRange
	}
	c.Tx.Notify('l', "lset", c.Args[1])
	c.Reply.OK()
	return nil
}

// cmdLRem handles LREM key count element.
//
// Keys:    list
// Reply:   number of elements removed
// Errors:  ERR when count is no integer, WRONGTYPE
// Effects: LREM
func cmdLRem(c *Call) error {
	count, err := parseSigned(c.Args[2])
	if err != nil {
		return err
	}
	l, err := c.Tx.List(c.Args[1])
	if err != nil {
		return err
	}
	removed := l.Remove(c.Args[3], int(count))
	if removed > 0 {
		c.Tx.Notify('l', "lrem", c.Args[1])
	}
	c.Reply.Int(int64(removed))
	return nil
}

// cmdLTrim handles LTRIM key start stop.
//
// Keys:    list
// Reply:   OK
// Errors:  ERR when start or stop is no integer, WRONGTYPE
// Effects: LTRIM
func cmdLTrim(c *Call) error {
	start, ok1 := num.Int(c.Args[2])
	stop, ok2 := num.Int(c.Args[3])
	if !ok1 || !ok2 {
		return ErrNotInteger
	}
	l, err := c.Tx.List(c.Args[1])
	if err != nil {
		return err
	}
	if l.Exists() {
		from, to := listRange(start, stop, l.Len())
		if from == 0 && to == l.Len() {
			c.Tx.Signal(c.Args[1])
		}
		l.Trim(from, to)
		c.Tx.Notify('l', "ltrim", c.Args[1])
	}
	c.Reply.OK()
	return nil
}
