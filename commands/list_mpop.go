package commands

import (
	"math"

	"github.com/echomq/emqd/store/num"
)

var listPopRows = []Row{
	{
		Name: "lmpop", Family: "list", Arity: -4, Flags: Write | MovableKeys, Do: cmdLMPop,
		Keys:   []KeySpec{{Index: 1, Numbered: true, FirstKey: 1, Step: 1, Flags: KeyRW | KeyAccess | KeyDelete}},
		Syntax: "numkeys key [key ...] <LEFT | RIGHT> [COUNT count]", Since: "7.0.0",
		Summary:    "Takes elements off an end of the first list that has some and returns them.",
		Complexity: "O(N+M) where N is the number of keys and M is the number of elements returned",
	},
	{
		Name: "blpop", Family: "list", Arity: -3, Flags: Write | NoScript | Blocking, Do: cmdBLPop,
		Keys:   []KeySpec{{Index: 1, Last: -2, Step: 1, Flags: KeyRW | KeyAccess | KeyDelete}},
		Syntax: "key [key ...] timeout", Since: "2.0.0",
		Summary:    "Takes the first element off the first list that has one, waiting for one while all are empty.",
		Complexity: "O(N) where N is the number of keys",
	},
	{
		Name: "brpop", Family: "list", Arity: -3, Flags: Write | NoScript | Blocking, Do: cmdBRPop,
		Keys:   []KeySpec{{Index: 1, Last: -2, Step: 1, Flags: KeyRW | KeyAccess | KeyDelete}},
		Syntax: "key [key ...] timeout", Since: "2.0.0",
		Summary:    "Takes the last element off the first list that has one, waiting for one while all are empty.",
		Complexity: "O(N) where N is the number of keys",
	},
	{
		Name: "blmpop", Family: "list", Arity: -5, Flags: Write | Blocking | MovableKeys, Do: cmdBLMPop,
		Keys:   []KeySpec{{Index: 2, Numbered: true, FirstKey: 1, Step: 1, Flags: KeyRW | KeyAccess | KeyDelete}},
		Syntax: "timeout numkeys key [key ...] <LEFT | RIGHT> [COUNT count]", Since: "7.0.0",
		Summary:    "Takes elements off lists like LMPOP, waiting for one while all are empty.",
		Complexity: "O(N+M) where N is the number of keys and M is the number of elements returned",
	},
}

// cmdBLPop handles BLPOP key [key ...] timeout.
//
// Keys:    lists
// Reply:   array of key and element, null when the time is up
// Errors:  ERR on a bad timeout, WRONGTYPE
// Effects: LPOP
func cmdBLPop(c *Call) error { return popOrWait(c, leftEnd) }

// cmdBRPop handles BRPOP key [key ...] timeout.
//
// Keys:    lists
// Reply:   array of key and element, null when the time is up
// Errors:  ERR on a bad timeout, WRONGTYPE
// Effects: RPOP
func cmdBRPop(c *Call) error { return popOrWait(c, rightEnd) }

func popOrWait(c *Call, end listEnd) error {
	last := len(c.Args) - 1
	until, err := c.Deadline(c.Args[last])
	if err != nil {
		return err
	}
	keys := c.Args[1:last]
	l, key, ok, err := firstList(c, keys)
	switch {
	case err != nil:
		return err
	case !ok && c.MayBlock:
		return c.Wait(until, keys...)
	case !ok:
		c.Reply.NullArray()
		return nil
	}
	value, _ := end.pop(&l)
	c.Reply.Array(2)
	c.Reply.Bulk(key)
	c.Reply.Bulk(value)
	c.Tx.Notify('l', end.popEvent(), key)
	return nil
}

// listPops is what LMPOP and BLMPOP are asked for.
type listPops struct {
	keys  [][]byte
	end   listEnd
	count int
}

// parsePops reads numkeys key [key ...] LEFT|RIGHT [COUNT count].
func parsePops(args [][]byte) (p listPops, err error) {
	n, ok := num.Int(args[0])
	if !ok || n < 1 {
		return p, errNumKeys
	}
	if n >= int64(len(args)-1) {
		return p, ErrSyntax
	}
	p.keys, args = args[1:n+1], args[n+1:]
	if p.end, err = parseEnd(args[0]); err != nil {
		return p, err
	}
	for args = args[1:]; len(args) > 0; args = args[2:] {
		if p.count > 0 || len(args) < 2 || !Is(args[0], "count") {
			return p, ErrSyntax
		}
		n, ok := num.Int(args[1])
		if !ok || n < 1 {
			return p, errPopCount
		}
		p.count = int(min(n, math.MaxInt32))
	}
	p.count = max(p.count, 1)
	return p, nil
}

// pop replies the key and the elements of the first list that has some, and reports false when none has.
func (p *listPops) pop(c *Call) (bool, error) {
	l, key, ok, err := firstList(c, p.keys)
	if !ok {
		return false, err
	}
	c.Reply.Array(2)
	c.Reply.Bulk(key)
	p.end.popMany(c, &l, key, p.count)
	return true, nil
}

// cmdLMPop handles LMPOP numkeys key [key ...] LEFT|RIGHT [COUNT count].
//
// Keys:    lists
// Reply:   array of key and array of elements, null when all lists are absent
// Errors:  ERR on a bad number or word, WRONGTYPE
// Effects: LPOP or RPOP
func cmdLMPop(c *Call) error {
	p, err := parsePops(c.Args[1:])
	if err != nil {
		return err
	}
	ok, err := p.pop(c)
	if err == nil && !ok {
		c.Reply.NullArray()
	}
	return err
}

// cmdBLMPop handles BLMPOP timeout numkeys key [key ...] LEFT|RIGHT [COUNT count].
//
// Keys:    lists
// Reply:   array of key and array of elements, null when the time is up
// Errors:  ERR on a bad number, word or timeout, WRONGTYPE
// Effects: LPOP or RPOP
func cmdBLMPop(c *Call) error {
	p, err := parsePops(c.Args[2:])
	if err != nil {
		return err
	}
	until, err := c.Deadline(c.Args[1])
	if err != nil {
		return err
	}
	ok, err := p.pop(c)
	switch {
	case err != nil || ok:
		return err
	case c.MayBlock:
		return c.Wait(until, p.keys...)
	}
	c.Reply.NullArray()
	return nil
}
