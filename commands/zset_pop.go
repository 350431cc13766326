package commands

import (
	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

const (
	errNumKeys  Error = "ERR numkeys should be greater than 0"
	errPopCount Error = "ERR count should be greater than 0"
)

var zsetPopRows = []Row{
	{
		Name: "zpopmin", Family: "zset", Arity: -2, Flags: Write | Fast, Do: cmdZPopMin,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyDelete}},
		Syntax: "key [count]", Since: "5.0.0",
		Summary:    "Removes and returns the members with the lowest scores.",
		Complexity: "O(log(N)+M) where N is the size of the set and M the number of members removed",
	},
	{
		Name: "zpopmax", Family: "zset", Arity: -2, Flags: Write | Fast, Do: cmdZPopMax,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyDelete}},
		Syntax: "key [count]", Since: "5.0.0",
		Summary:    "Removes and returns the members with the highest scores.",
		Complexity: "O(log(N)+M) where N is the size of the set and M the number of members removed",
	},
	{
		Name: "zmpop", Family: "zset", Arity: -4, Flags: Write | MovableKeys, Do: cmdZMPop,
		Keys:   []KeySpec{{Index: 1, Numbered: true, FirstKey: 1, Step: 1, Flags: KeyRW | KeyAccess | KeyDelete}},
		Syntax: "numkeys key [key ...] <MIN | MAX> [COUNT count]", Since: "7.0.0",
		Summary:    "Removes and returns members of the first of several sorted sets that has any.",
		Complexity: "O(K)+O(log(N)+M) where K is the number of keys, N the size of the set and M the number of members removed",
	},
	{
		Name: "bzpopmin", Family: "zset", Arity: -3, Flags: Write | NoScript | Blocking | Fast, Do: cmdBZPopMin,
		Keys:   []KeySpec{{Index: 1, Last: -2, Step: 1, Flags: KeyRW | KeyAccess | KeyDelete}},
		Syntax: "key [key ...] timeout", Since: "5.0.0",
		Summary:    "Removes and returns the member with the lowest score, or waits for one.",
		Complexity: "O(log(N)) where N is the size of the set",
	},
	{
		Name: "bzpopmax", Family: "zset", Arity: -3, Flags: Write | NoScript | Blocking | Fast, Do: cmdBZPopMax,
		Keys:   []KeySpec{{Index: 1, Last: -2, Step: 1, Flags: KeyRW | KeyAccess | KeyDelete}},
		Syntax: "key [key ...] timeout", Since: "5.0.0",
		Summary:    "Removes and returns the member with the highest score, or waits for one.",
		Complexity: "O(log(N)) where N is the size of the set",
	},
	{
		Name: "bzmpop", Family: "zset", Arity: -5, Flags: Write | Blocking | MovableKeys, Do: cmdBZMPop,
		Keys:   []KeySpec{{Index: 2, Numbered: true, FirstKey: 1, Step: 1, Flags: KeyRW | KeyAccess | KeyDelete}},
		Syntax: "timeout numkeys key [key ...] <MIN | MAX> [COUNT count]", Since: "7.0.0",
		Summary:    "Removes and returns members of the first of several sorted sets that has any, or waits for one.",
		Complexity: "O(K)+O(log(N)+M) where K is the number of keys, N the size of the set and M the number of members removed",
	},
}

// cmdZPopMin handles ZPOPMIN key [count].
//
// Keys:    zset
// Reply:   array of member and score, empty when the key is absent; with a count in RESP3 of such pairs
// Errors:  syntax, a count below 0 or no integer, WRONGTYPE
// Effects: ZREM
func cmdZPopMin(c *Call) error { return zpop(c, false) }

// cmdZPopMax handles ZPOPMAX key [count].
//
// Keys:    zset
// Reply:   array of member and score, empty when the key is absent; with a count in RESP3 of such pairs
// Errors:  syntax, a count below 0 or no integer, WRONGTYPE
// Effects: ZREM
func cmdZPopMax(c *Call) error { return zpop(c, true) }

func zpop(c *Call, highest bool) error {
	if len(c.Args) > 3 {
		return ErrSyntax
	}
	counted := len(c.Args) == 3
	count := int64(1)
	if counted {
		var ok bool
		if count, ok = num.Int(c.Args[2]); !ok || count < 0 {
			return ErrPositive
		}
	}
	z, err := c.Tx.ZSet(c.Args[1])
	if err != nil {
		return err
	}
	n := int(min(count, int64(z.Len())))
	switch {
	case n == 0:
		c.Reply.Array(0)
		return nil
	case !counted:
		c.Reply.Array(2)
	default:
		c.Reply.Pairs(n)
	}
	popMembers(c, &z, c.Args[1], n, highest, func(member []byte, score float64) {
		if counted {
			c.Reply.Pair()
		}
		c.Reply.Bulk(member)
		c.Reply.Double(score)
	})
	return nil
}

// popMembers calls reply with the n lowest or highest members, removes them and announces that. z has that many.
func popMembers(c *Call, z *store.ZSet, key []byte, n int, highest bool, reply func(member []byte, score float64)) {
	from, event := 0, "zpopmin"
	if highest {
		from, event = z.Len()-n, "zpopmax"
	}
	z.Range(from, from+n, highest, func(member []byte, score float64) bool {
		reply(member, score)
		return true
	})
	z.RemoveRange(from, from+n)
	c.Tx.Notify('z', event, key)
}

// firstZSet opens the first of keys that holds a sorted set; key is nil when none does. A key of another type is
// refused on the call's first run and passed over later.
func firstZSet(c *Call, keys [][]byte) (z store.ZSet, key []byte, err error) {
	for _, k := range keys {
		z, err = c.Tx.ZSet(k)
		switch {
		case err != nil && !c.Again:
			return z, nil, err
		case err == nil && z.Len() > 0:
			return z, k, nil
		}
	}
	return z, nil, nil
}

// cmdBZPopMin handles BZPOPMIN key [key ...] timeout.
//
// Keys:    zsets
// Reply:   array of key, member and score; null when the time is up
// Errors:  a timeout that is no number or out of range, WRONGTYPE
// Effects: ZREM
func cmdBZPopMin(c *Call) error { return bzpop(c, false) }

// cmdBZPopMax handles BZPOPMAX key [key ...] timeout.
//
// Keys:    zsets
// Reply:   array of key, member and score; null when the time is up
// Errors:  a timeout that is no number or out of range, WRONGTYPE
// Effects: ZREM
func cmdBZPopMax(c *Call) error { return bzpop(c, true) }

func bzpop(c *Call, highest bool) error {
	last := len(c.Args) - 1
	until, err := c.Deadline(c.Args[last])
	if err != nil {
		return err
	}
	keys := c.Args[1:last]
	z, key, err := firstZSet(c, keys)
	switch {
	case err != nil:
		return err
	case key == nil && c.MayBlock:
		return c.Wait(until, keys...)
	case key == nil:
		c.Reply.NullArray()
		return nil
	}
	c.Reply.Array(3)
	c.Reply.Bulk(key)
	popMembers(c, &z, key, 1, highest, func(member []byte, score float64) {
		c.Reply.Bulk(member)
		c.Reply.Double(score)
	})
	return nil
}

// zmpop is what a ZMPOP or BZMPOP asks for.
type zmpop struct {
	keys    [][]byte
	highest bool
	count   int64
}

// cmdZMPop handles ZMPOP numkeys key [key ...] <MIN | MAX> [COUNT count].
//
// Keys:    zsets
// Reply:   array of the key and an array of pairs of member and score; null when all keys are absent
// Errors:  numkeys or count not above 0, syntax, WRONGTYPE
// Effects: ZREM
func cmdZMPop(c *Call) error {
	o, err := parseZMPop(c.Args[1:])
	if err != nil {
		return err
	}
	found, err := o.run(c)
	if err == nil && !found {
		c.Reply.NullArray()
	}
	return err
}

// cmdBZMPop handles BZMPOP timeout numkeys key [key ...] <MIN | MAX> [COUNT count].
//
// Keys:    zsets
// Reply:   array of the key and an array of pairs of member and score; null when the time is up
// Errors:  a timeout that is no number or out of range, numkeys or count not above 0, syntax, WRONGTYPE
// Effects: ZREM
func cmdBZMPop(c *Call) error {
	until, err := c.Deadline(c.Args[1])
	if err != nil {
		return err
	}
	o, err := parseZMPop(c.Args[2:])
	if err != nil {
		return err
	}
	found, err := o.run(c)
	switch {
	case err != nil || found:
		return err
	case c.MayBlock:
		return c.Wait(until, o.keys...)
	}
	c.Reply.NullArray()
	return nil
}

// parseZMPop reads the arguments from numkeys on. The keys alias args.
func parseZMPop(args [][]byte) (o zmpop, err error) {
	n, ok := num.Int(args[0])
	if !ok || n < 1 {
		return o, errNumKeys
	}
	args = args[1:]
	if n >= int64(len(args)) {
		return o, ErrSyntax
	}
	o.keys, args = args[:n], args[n:]
	switch {
	case Is(args[0], "min"):
	case Is(args[0], "max"):
		o.highest = true
	default:
		return o, ErrSyntax
	}
	o.count = 1
	switch args = args[1:]; {
	case len(args) == 0:
		return o, nil
	case len(args) == 1 || !Is(args[0], "count"):
		return o, ErrSyntax
	}
	if o.count, ok = num.Int(args[1]); !ok || o.count < 1 {
		return o, errPopCount
	}
	if len(args) > 2 {
		return o, ErrSyntax
	}
	return o, nil
}

// run pops from the first key that has members and reports whether there was one.
func (o *zmpop) run(c *Call) (found bool, err error) {
	z, key, err := firstZSet(c, o.keys)
	if err != nil || key == nil {
		return false, err
	}
	n := int(min(o.count, int64(z.Len())))
	c.Reply.Array(2)
	c.Reply.Bulk(key)
	c.Reply.Array(n)
	popMembers(c, &z, key, n, o.highest, func(member []byte, score float64) {
		c.Reply.Array(2)
		c.Reply.Bulk(member)
		c.Reply.Double(score)
	})
	return true, nil
}
