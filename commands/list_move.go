package commands

import "github.com/echomq/emqd/store"

var listMoveRows = []Row{
	{
		Name: "lmove", Family: "list", Arity: 5, Flags: Write | DenyOOM, Do: cmdLMove,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyDelete}, {Index: 2, Flags: KeyRW | KeyInsert}},
		Syntax: "source destination <LEFT | RIGHT> <LEFT | RIGHT>", Since: "6.2.0",
		Summary: "Moves an element from an end of one list to an end of another and returns it.", Complexity: "O(1)",
	},
	{
		Name: "rpoplpush", Family: "list", Arity: 3, Flags: Write | DenyOOM, Do: cmdRPopLPush,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyDelete}, {Index: 2, Flags: KeyRW | KeyInsert}},
		Syntax: "source destination", Since: "1.2.0",
		Summary: "Moves the last element of one list to the left end of another and returns it.", Complexity: "O(1)",
	},
	{
		Name: "blmove", Family: "list", Arity: 6, Flags: Write | DenyOOM | NoScript | Blocking, Do: cmdBLMove,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyDelete}, {Index: 2, Flags: KeyRW | KeyInsert}},
		Syntax: "source destination <LEFT | RIGHT> <LEFT | RIGHT> timeout", Since: "6.2.0",
		Summary: "Moves an element like LMOVE, waiting for one while the list is empty.", Complexity: "O(1)",
	},
	{
		Name: "brpoplpush", Family: "list", Arity: 4, Flags: Write | DenyOOM | NoScript | Blocking, Do: cmdBRPopLPush,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyDelete}, {Index: 2, Flags: KeyRW | KeyInsert}},
		Syntax: "source destination timeout", Since: "2.2.0",
		Summary: "Moves an element like RPOPLPUSH, waiting for one while the list is empty.", Complexity: "O(1)",
	},
}

// cmdLMove handles LMOVE source destination LEFT|RIGHT LEFT|RIGHT.
//
// Keys:    two lists, which may be the same
// Reply:   the element, null when source is absent
// Errors:  ERR syntax error, WRONGTYPE
// Effects: LPUSH or RPUSH, then LPOP or RPOP
func cmdLMove(c *Call) error {
	from, err := parseEnd(c.Args[3])
	if err != nil {
		return err
	}
	to, err := parseEnd(c.Args[4])
	if err != nil {
		return err
	}
	return moveOrNull(c, from, to)
}

// cmdRPopLPush handles RPOPLPUSH source destination.
//
// Keys:    two lists, which may be the same
// Reply:   the element, null when source is absent
// Errors:  WRONGTYPE
// Effects: LPUSH, RPOP
func cmdRPopLPush(c *Call) error { return moveOrNull(c, rightEnd, leftEnd) }

func moveOrNull(c *Call, from, to listEnd) error {
	moved, err := moveElement(c, from, to)
	if err == nil && !moved {
		c.Reply.Null()
	}
	return err
}

// moveElement moves an element between the lists of the first two arguments and replies it. It reports false when
// there is none.
func moveElement(c *Call, from, to listEnd) (moved bool, err error) {
	src, err := c.Tx.List(c.Args[1])
	if err != nil {
		if c.Again { // the client waits for a list here
			return false, nil
		}
		return false, err
	}
	if !src.Exists() {
		return false, nil
	}
	dst, err := c.Tx.List(c.Args[2])
	if err != nil {
		return false, err
	}
	i := 0
	if from == rightEnd {
		i = src.Len() - 1
	}
	value, _ := src.At(i)
	c.Reply.Bulk(value)
	// The push comes first: a list that is moved round keeps its key and so its expiry time.
	to.push(&dst, value)
	c.Tx.Notify('l', to.pushEvent(), c.Args[2])
	from.pop(&src)
	c.Tx.Notify('l', from.popEvent(), c.Args[1])
	return true, nil
}

// cmdBLMove handles BLMOVE source destination LEFT|RIGHT LEFT|RIGHT timeout.
//
// Keys:    two lists, which may be the same
// Reply:   the element, null when the time is up
// Errors:  ERR syntax error, ERR on a bad timeout, WRONGTYPE
// Effects: as LMOVE
func cmdBLMove(c *Call) error {
	from, err := parseEnd(c.Args[3])
	if err != nil {
		return err
	}
	to, err := parseEnd(c.Args[4])
	if err != nil {
		return err
	}
	return moveOrWait(c, from, to, c.Args[5])
}

// cmdBRPopLPush handles BRPOPLPUSH source destination timeout.
//
// Keys:    two lists, which may be the same
// Reply:   the element, null when the time is up
// Errors:  ERR on a bad timeout, WRONGTYPE
// Effects: as LMOVE
func cmdBRPopLPush(c *Call) error { return moveOrWait(c, rightEnd, leftEnd, c.Args[3]) }

func moveOrWait(c *Call, from, to listEnd, timeout []byte) error {
	until, err := c.Deadline(timeout)
	if err != nil {
		return err
	}
	moved, err := moveElement(c, from, to)
	switch {
	case err != nil || moved:
		return err
	case c.MayBlock:
		return c.Wait(until, c.Args[1])
	case c.Again: // a client that has waited gets the null of the other blocking pops
		c.Reply.NullArray()
	default:
		c.Reply.Null()
	}
	return nil
}

// firstList opens the first list of keys that has an element. ok is false when there is none.
func firstList(c *Call, keys [][]byte) (l store.List, key []byte, ok bool, err error) {
	for _, key := range keys {
		l, err := c.Tx.List(key)
		if err != nil {
			if c.Again {
				continue
			}
			return l, nil, false, err
		}
		if l.Exists() {
			return l, key, true, nil
		}
	}
	return l, nil, false, nil
}
