package commands

import (
	"math"

	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

var setRandomRows = []Row{
	{
		Name: "spop", Tips: []string{TipVaries}, Family: "set", Arity: -2, Flags: Write | Fast, Do: cmdSPop,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyDelete}},
		Syntax: "key [count]", Since: "1.0.0", Summary: "Takes random members out of a set and returns them.",
		Complexity: "O(1) without count, otherwise O(N) where N is count",
	},
	{
		Name: "srandmember", Tips: []string{TipVaries}, Family: "set", Arity: -2, Flags: ReadOnly, Do: cmdSRandMember,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key [count]", Since: "1.0.0", Summary: "Returns random members of a set.",
		Complexity: "O(1) without count, otherwise O(N) where N is the absolute value of count",
	},
}

// mostRepeats bounds how many members a negative count of SRANDMEMBER may ask for, since a reply is made in memory.
const mostRepeats = 1 << 24

// errRepeats refuses to make such a reply.
const errRepeats Error = "ERR value is out of range"

// cmdSPop handles SPOP key [count].
//
// Keys:    set
// Reply:   the member or null; with count a set of members
// Errors:  ERR when count is no integer or negative, WRONGTYPE
// Effects: SREM, DEL when all are taken
func cmdSPop(c *Call) error {
	if len(c.Args) > 3 {
		return ErrSyntax
	}
	if len(c.Args) == 3 {
		return popRandom(c)
	}
	s, err := c.Tx.Set(c.Args[1])
	if err != nil {
		return err
	}
	member, ok := s.Random()
	if !ok {
		c.Reply.Null()
		return nil
	}
	c.Reply.Bulk(member)
	s.Remove(member)
	c.Tx.Notify('s', "spop", c.Args[1])
	return nil
}

func popRandom(c *Call) error {
	count, ok := num.Int(c.Args[2])
	if !ok || count < 0 {
		return ErrPositive
	}
	s, err := c.Tx.Set(c.Args[1])
	if err != nil {
		return err
	}
	n := int64(s.Len())
	switch {
	case n == 0 || count == 0:
		c.Reply.Set(0)
	case count >= n:
		replyMembersOf(c, &s)
		c.Tx.Notify('s', "spop", c.Args[1])
		c.Tx.Delete(c.Args[1])
		c.Tx.Notify('g', "del", c.Args[1])
	default:
		c.Reply.Set(int(count))
		for range count {
			member, _ := s.Random()
			c.Reply.Bulk(member)
			s.Remove(member)
		}
		c.Tx.Notify('s', "spop", c.Args[1])
	}
	return nil
}

// cmdSRandMember handles SRANDMEMBER key [count].
//
// Keys:    set
// Reply:   a member or null; with count an array of that many different members, when it is negative of members
// that may repeat
// Errors:  ERR when count is no integer or out of range, syntax, WRONGTYPE
// Effects: none
func cmdSRandMember(c *Call) error {
	if len(c.Args) > 3 {
		return ErrSyntax
	}
	if len(c.Args) == 3 {
		return sampleMembers(c)
	}
	s, err := c.Tx.Set(c.Args[1])
	if err != nil {
		return err
	}
	if member, ok := s.Random(); ok {
		c.Reply.Bulk(member)
	} else {
		c.Reply.Null()
	}
	return nil
}

func sampleMembers(c *Call) error {
	count, err := parseSigned(c.Args[2])
	if err != nil {
		return err
	}
	s, err := c.Tx.Set(c.Args[1])
	if err != nil {
		return err
	}
	if count >= 0 {
		n := int(min(count, int64(s.Len()), math.MaxInt32))
		c.Reply.Array(n)
		s.Sample(n, c.Reply.Bulk)
		return nil
	}
	return repeatMembers(c, &s, -count)
}

func repeatMembers(c *Call, s *store.Set, n int64) error {
	if !s.Exists() {
		c.Reply.Array(0)
		return nil
	}
	if n > mostRepeats {
		return errRepeats
	}
	c.Reply.Array(int(n))
	for range n {
		member, _ := s.Random()
		c.Reply.Bulk(member)
	}
	return nil
}
