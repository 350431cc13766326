package commands

import (
	"math"

	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

var listRows = []Row{
	{
		Name: "lpush", Family: "list", Arity: -3, Flags: Write | DenyOOM | Fast, Do: cmdLPush,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyInsert}},
		Syntax: "key element [element ...]", Since: "1.0.0",
		Summary: "Adds elements at the left end of a list, one after the other. The list is created when it is absent.", Complexity: "O(1) for each element added",
	},
	{
		Name: "rpush", Family: "list", Arity: -3, Flags: Write | DenyOOM | Fast, Do: cmdRPush,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyInsert}},
		Syntax: "key element [element ...]", Since: "1.0.0",
		Summary: "Adds elements at the right end of a list. The list is created when it is absent.", Complexity: "O(1) for each element added",
	},
	{
		Name: "lpushx", Family: "list", Arity: -3, Flags: Write | DenyOOM | Fast, Do: cmdLPushX,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyInsert}},
		Syntax: "key element [element ...]", Since: "2.2.0",
		Summary: "Adds elements at the left end of a list that exists.", Complexity: "O(1) for each element added",
	},
	{
		Name: "rpushx", Family: "list", Arity: -3, Flags: Write | DenyOOM | Fast, Do: cmdRPushX,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyInsert}},
		Syntax: "key element [element ...]", Since: "2.2.0",
		Summary: "Adds elements at the right end of a list that exists.", Complexity: "O(1) for each element added",
	},
	{
		Name: "lpop", Family: "list", Arity: -2, Flags: Write | Fast, Do: cmdLPop,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyDelete}},
		Syntax: "key [count]", Since: "1.0.0",
		Summary: "Takes elements off the left end of a list and returns them.", Complexity: "O(N), N being the elements in the reply",
	},
	{
		Name: "rpop", Family: "list", Arity: -2, Flags: Write | Fast, Do: cmdRPop,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyDelete}},
		Syntax: "key [count]", Since: "1.0.0",
		Summary: "Takes elements off the right end of a list and returns them.", Complexity: "O(N), N being the elements in the reply",
	},
	{
		Name: "llen", Family: "list", Arity: 2, Flags: ReadOnly | Fast, Do: cmdLLen,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO}},
		Syntax: "key", Since: "1.0.0",
		Summary: "Tells how many elements a list has.", Complexity: "O(1)",
	},
}

// listEnd is an end of a list, as the words LEFT and RIGHT name it.
type listEnd bool

const (
	leftEnd  listEnd = true
	rightEnd listEnd = false
)

// parseEnd reads LEFT or RIGHT.
func parseEnd(arg []byte) (listEnd, error) {
	switch {
	case Is(arg, "left"):
		return leftEnd, nil
	case Is(arg, "right"):
		return rightEnd, nil
	}
	return false, ErrSyntax
}

// pushEvent returns the name of the keyspace event of a push at this end.
func (end listEnd) pushEvent() string {
	if end == leftEnd {
		return "lpush"
	}
	return "rpush"
}

// popEvent returns the name of the keyspace event of a pop at this end.
func (end listEnd) popEvent() string {
	if end == leftEnd {
		return "lpop"
	}
	return "rpop"
}

func (end listEnd) push(l *store.List, value []byte) {
	if end == leftEnd {
		l.PushLeft(value)
		return
	}
	l.PushRight(value)
}

func (end listEnd) pop(l *store.List) ([]byte, bool) {
	if end == leftEnd {
		return l.PopLeft()
	}
	return l.PopRight()
}

// popMany replies an array of up to n elements taken off this end, and announces it.
func (end listEnd) popMany(c *Call, l *store.List, key []byte, n int) {
	c.Reply.Array(min(n, l.Len()))
	if end == leftEnd {
		l.PopLeftN(n, c.Reply.Bulk)
	} else {
		l.PopRightN(n, c.Reply.Bulk)
	}
	c.Tx.Notify('l', end.popEvent(), key)
}

// cmdLPush handles LPUSH key element [element ...].
//
// Keys:    list
// Reply:   the length of the list
// Errors:  WRONGTYPE
// Effects: LPUSH
func cmdLPush(c *Call) error { return pushAll(c, leftEnd, false) }

// cmdRPush handles RPUSH key element [element ...].
//
// Keys:    list
// Reply:   the length of the list
// Errors:  WRONGTYPE
// Effects: RPUSH
func cmdRPush(c *Call) error { return pushAll(c, rightEnd, false) }

// cmdLPushX handles LPUSHX key element [element ...].
//
// Keys:    list
// Reply:   the length of the list, 0 when the key is absent
// Errors:  WRONGTYPE
// Effects: LPUSH
func cmdLPushX(c *Call) error { return pushAll(c, leftEnd, true) }

// cmdRPushX handles RPUSHX key element [element ...].
//
// Keys:    list
// Reply:   the length of the list, 0 when the key is absent
// Errors:  WRONGTYPE
// Effects: RPUSH
func cmdRPushX(c *Call) error { return pushAll(c, rightEnd, true) }

func pushAll(c *Call, end listEnd, mustExist bool) error {
	l, err := c.Tx.List(c.Args[1])
	if err != nil {
		return err
	}
	if mustExist && !l.Exists() {
		c.Reply.Int(0)
		return nil
	}
	for _, value := range c.Args[2:] {
		end.push(&l, value)
	}
	c.Tx.Notify('l', end.pushEvent(), c.Args[1])
	c.Reply.Int(int64(l.Len()))
	return nil
}

// cmdLPop handles LPOP key [count].
//
// Keys:    list
// Reply:   the element, with count an array of elements; null when the key is absent
// Errors:  ERR when count is no integer or negative, WRONGTYPE
// Effects: LPOP
func cmdLPop(c *Call) error { return popEnd(c, leftEnd) }

// cmdRPop handles RPOP key [count].
//
// Keys:    list
// Reply:   the element, with count an array of elements; null when the key is absent
// Errors:  ERR when count is no integer or negative, WRONGTYPE
// Effects: RPOP
func cmdRPop(c *Call) error { return popEnd(c, rightEnd) }

func popEnd(c *Call, end listEnd) error {
	if len(c.Args) > 3 {
		return ErrArity(c.Row.FullName())
	}
	count := int64(-1)
	if len(c.Args) == 3 {
		n, ok := num.Int(c.Args[2])
		if !ok || n < 0 {
			return ErrPositive
		}
		count = n
	}
	l, err := c.Tx.List(c.Args[1])
	if err != nil {
		return err
	}
	switch {
	case count < 0:
		value, ok := end.pop(&l)
		if !ok {
			c.Reply.Null()
			return nil
		}
		c.Reply.Bulk(value)
		c.Tx.Notify('l', end.popEvent(), c.Args[1])
	case !l.Exists():
		c.Reply.NullArray()
	case count == 0:
		c.Reply.Array(0)
	default:
		end.popMany(c, &l, c.Args[1], int(min(count, math.MaxInt32)))
	}
	return nil
}

// cmdLLen handles LLEN key.
//
// Keys:    list
// Reply:   the length of the list
// Errors:  WRONGTYPE
// Effects: none
func cmdLLen(c *Call) error {
	l, err := c.Tx.List(c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Int(int64(l.Len()))
	return nil
}
