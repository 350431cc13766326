package commands

import "github.com/echomq/emqd/store"

var setRows = []Row{
	{
		Name: "sadd", Family: "set", Arity: -3, Flags: Write | DenyOOM | Fast, Do: cmdSAdd,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyInsert}},
		Syntax: "key member [member ...]", Since: "1.0.0",
		Summary: "Adds members to a set. The set is created when it is absent.", Complexity: "O(1) for each member added",
	},
	{
		Name: "srem", Family: "set", Arity: -3, Flags: Write | Fast, Do: cmdSRem,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyDelete}},
		Syntax: "key member [member ...]", Since: "1.0.0",
		Summary: "Removes members from a set. The key goes with the last one.", Complexity: "O(N) where N is the number of members given",
	},
	{
		Name: "smove", Family: "set", Arity: 4, Flags: Write | Fast, Do: cmdSMove,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyDelete}, {Index: 2, Flags: KeyRW | KeyInsert}},
		Syntax: "source destination member", Since: "1.0.0",
		Summary: "Takes a member out of one set and puts it into another.", Complexity: "O(1)",
	},
	{
		Name: "scard", Family: "set", Arity: 2, Flags: ReadOnly | Fast, Do: cmdSCard,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO}},
		Syntax: "key", Since: "1.0.0",
		Summary: "Returns the number of members of a set.", Complexity: "O(1)",
	},
	{
		Name: "sismember", Family: "set", Arity: 3, Flags: ReadOnly | Fast, Do: cmdSIsMember,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO}},
		Syntax: "key member", Since: "1.0.0",
		Summary: "Tells whether something is a member of a set.", Complexity: "O(1)",
	},
	{
		Name: "smismember", Family: "set", Arity: -3, Flags: ReadOnly | Fast, Do: cmdSMIsMember,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key member [member ...]", Since: "6.2.0",
		Summary: "Tells of several things whether they are members of a set.", Complexity: "O(N) where N is the number of members asked for",
	},
	{
		Name: "smembers", Tips: []string{TipAnyOrder}, Family: "set", Arity: 2, Flags: ReadOnly, Do: cmdSMembers,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key", Since: "1.0.0",
		Summary: "Lists every member of a set.", Complexity: "O(N) where N is the number of members",
	},
	{
		Name: "sscan", Tips: []string{TipVaries}, Family: "set", Arity: -3, Flags: ReadOnly, Do: cmdSScan,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key cursor [MATCH pattern] [COUNT count]", Since: "2.8.0",
		Summary: "Goes through the members of a set step by step.", Complexity: "O(1) for every call, O(N) for a complete pass",
	},
}

// cmdSAdd handles SADD key member [member ...].
//
// Keys:    set
// Reply:   number of members that are new
// Errors:  WRONGTYPE
// Effects: SADD
func cmdSAdd(c *Call) error {
	s, err := c.Tx.Set(c.Args[1])
	if err != nil {
		return err
	}
	added := 0
	for _, member := range c.Args[2:] {
		if s.Add(member) {
			added++
		}
	}
	if added > 0 {
		c.Tx.Notify('s', "sadd", c.Args[1])
	}
	c.Reply.Int(int64(added))
	return nil
}

// cmdSRem handles SREM key member [member ...].
//
// Keys:    set
// Reply:   number of members removed
// Errors:  WRONGTYPE
// Effects: SREM
func cmdSRem(c *Call) error {
	s, err := c.Tx.Set(c.Args[1])
	if err != nil {
		return err
	}
	removed := 0
	for _, member := range c.Args[2:] {
		if s.Remove(member) {
			removed++
		}
	}
	if removed > 0 {
		c.Tx.Notify('s', "srem", c.Args[1])
	}
	c.Reply.Int(int64(removed))
	return nil
}

// cmdSMove handles SMOVE source destination member.
//
// Keys:    two sets, which may be the same
// Reply:   1, or 0 when member is not in source
// Errors:  WRONGTYPE
// Effects: SREM, SADD
func cmdSMove(c *Call) error {
	src, err := c.Tx.Set(c.Args[1])
	if err != nil {
		return err
	}
	if !src.Exists() { // destination may be anything then
		c.Reply.Int(0)
		return nil
	}
	dst, err := c.Tx.Set(c.Args[2])
	if err != nil {
		return err
	}
	member := c.Args[3]
	if string(c.Args[1]) == string(c.Args[2]) {
		c.Reply.Flag(src.Has(member))
		return nil
	}
	if !src.Remove(member) {
		c.Reply.Int(0)
		return nil
	}
	c.Tx.Notify('s', "srem", c.Args[1])
	if dst.Add(member) {
		c.Tx.Notify('s', "sadd", c.Args[2])
	}
	c.Reply.Int(1)
	return nil
}

// cmdSCard handles SCARD key.
//
// Keys:    set
// Reply:   number of members
// Errors:  WRONGTYPE
// Effects: none
func cmdSCard(c *Call) error {
	s, err := c.Tx.Set(c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Int(int64(s.Len()))
	return nil
}

// cmdSIsMember handles SISMEMBER key member.
//
// Keys:    set
// Reply:   1 or 0
// Errors:  WRONGTYPE
// Effects: none
func cmdSIsMember(c *Call) error {
	s, err := c.Tx.Set(c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Flag(s.Has(c.Args[2]))
	return nil
}

// cmdSMIsMember handles SMISMEMBER key member [member ...].
//
// Keys:    set
// Reply:   array of 1 and 0
// Errors:  WRONGTYPE
// Effects: none
func cmdSMIsMember(c *Call) error {
	s, err := c.Tx.Set(c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Array(len(c.Args) - 2)
	for _, member := range c.Args[2:] {
		c.Reply.Flag(s.Has(member))
	}
	return nil
}

// cmdSMembers handles SMEMBERS key.
//
// Keys:    set
// Reply:   set of members
// Errors:  WRONGTYPE
// Effects: none
func cmdSMembers(c *Call) error {
	s, err := c.Tx.Set(c.Args[1])
	if err != nil {
		return err
	}
	replyMembersOf(c, &s)
	return nil
}

// replyMembersOf replies all members of s as a set.
func replyMembersOf(c *Call, s *store.Set) {
	c.Reply.Set(s.Len())
	s.Each(func(member []byte) bool {
		c.Reply.Bulk(member)
		return true
	})
}

// cmdSScan handles SSCAN key cursor [MATCH pattern] [COUNT count].
//
// Keys:    set
// Reply:   array of the next cursor and an array of members
// Errors:  ERR invalid cursor, WRONGTYPE, ERR on a bad option
// Effects: none
func cmdSScan(c *Call) error {
	cursor, err := scanCursor(c.Args[2])
	if err != nil {
		return err
	}
	s, err := c.Tx.Set(c.Args[1])
	if err != nil {
		return err
	}
	if !s.Exists() { // options are not looked at then
		emptyScan(c)
		return nil
	}
	o, err := parseScan(cursor, c.Args[3:], store.KindSet)
	if err != nil {
		return err
	}
	o.walk(c, func(cursor uint64) uint64 {
		return s.Scan(cursor, func(member []byte) {
			if o.wants(member) {
				c.Reply.Bulk(member)
				o.put(1)
			}
		})
	})
	return nil
}
