package commands

import (
	"slices"

	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

var setAlgebraRows = []Row{
	{
		Name: "sinter", Tips: []string{TipAnyOrder}, Family: "set", Arity: -2, Flags: ReadOnly, Do: cmdSInter,
		Keys:   []KeySpec{{Index: 1, Last: -1, Step: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key [key ...]", Since: "1.0.0", Summary: "Returns the members that several sets have in common.",
		Complexity: "O(N*M) where N is the size of the smallest set and M is the number of sets",
	},
	{
		Name: "sintercard", Family: "set", Arity: -3, Flags: ReadOnly | MovableKeys, Do: cmdSInterCard,
		Keys:   []KeySpec{{Index: 1, Numbered: true, FirstKey: 1, Step: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "numkeys key [key ...] [LIMIT limit]", Since: "7.0.0", Summary: "Counts the members that several sets have in common.",
		Complexity: "O(N*M) where N is the size of the smallest set and M is the number of sets",
	},
	{
		Name: "sinterstore", Family: "set", Arity: -3, Flags: Write | DenyOOM, Do: cmdSInterStore,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}, {Index: 2, Last: -1, Step: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "destination key [key ...]", Since: "1.0.0", Summary: "Makes a key the set of the members that several sets have in common.",
		Complexity: "O(N*M) where N is the size of the smallest set and M is the number of sets",
	},
	{
		Name: "sunion", Tips: []string{TipAnyOrder}, Family: "set", Arity: -2, Flags: ReadOnly, Do: cmdSUnion,
		Keys:   []KeySpec{{Index: 1, Last: -1, Step: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key [key ...]", Since: "1.0.0", Summary: "Returns the members of all of several sets.",
		Complexity: "O(N) where N is the number of members of all sets",
	},
	{
		Name: "sunionstore", Family: "set", Arity: -3, Flags: Write | DenyOOM, Do: cmdSUnionStore,
		Keys:   []KeySpec{{Index: 1, Flags: KeyOW | KeyUpdate}, {Index: 2, Last: -1, Step: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "destination key [key ...]", Since: "1.0.0", Summary: "Makes a key the set of the members of all of several sets.",
		Complexity: "O(N) where N is the number of members of all sets",
	},
	{
		Name: "sdiff", Tips: []string{TipAnyOrder}, Family: "set", Arity: -2, Flags: ReadOnly, Do: cmdSDiff,
		Keys:   []KeySpec{{Index: 1, Last: -1, Step: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key [key ...]", Since: "1.0.0", Summary: "Returns the members of the first set that no other one has.",
		Complexity: "O(N*M) where N is the size of the first set and M is the number of sets",
	},
	{
		Name: "sdiffstore", Family: "set", Arity: -3, Flags: Write | DenyOOM, Do: cmdSDiffStore,
		Keys:   []KeySpec{{Index: 1, Flags: KeyOW | KeyUpdate}, {Index: 2, Last: -1, Step: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "destination key [key ...]", Since: "1.0.0", Summary: "Makes a key the set of the members of the first set that no other one has.",
		Complexity: "O(N*M) where N is the size of the first set and M is the number of sets",
	},
}

// Refusals of SINTERCARD.
const (
	errTooManyKeys   Error = "ERR Number of keys can't be greater than number of args"
	errLimitNegative Error = "ERR LIMIT can't be negative"
)

// setOp calls f with the members of a result, each once, until it returns false. f may change other keys than those of the
// sets.
type setOp func(sets []store.Set, f func(member []byte) bool)

// openSets opens keys as sets. All kinds are checked before anything else.
func openSets(c *Call, keys [][]byte) ([]store.Set, error) {
	sets := make([]store.Set, len(keys))
	for i, key := range keys {
		s, err := c.Tx.Set(key)
		if err != nil {
			return nil, err
		}
		sets[i] = s
	}
	return sets, nil
}

// intersect goes through the smallest set and asks the others, small ones first.
func intersect(sets []store.Set, f func(member []byte) bool) {
	slices.SortFunc(sets, func(x, y store.Set) int { return x.Len() - y.Len() })
	sets[0].Each(func(member []byte) bool {
		for i := range sets[1:] {
			if !sets[i+1].Has(member) {
				return true
			}
		}
		return f(member)
	})
}

// unite goes through all sets and passes over what an earlier one had. Asking every earlier set costs less than
// remembering the members, as long as the sets are few.
func unite(sets []store.Set, f func(member []byte) bool) {
	const few = 4
	var seen map[string]struct{}
	if len(sets) > few {
		seen = map[string]struct{}{}
	}
	more := true
	for i := range sets {
		sets[i].Each(func(member []byte) bool {
			if seen != nil {
				if _, had := seen[string(member)]; had {
					return true
				}
				seen[string(member)] = struct{}{}
			} else if inAny(sets[:i], member) {
				return true
			}
			more = f(member)
			return more
		})
		if !more {
			return
		}
	}
}

// subtract goes through the first set and asks the others, large ones first.
func subtract(sets []store.Set, f func(member []byte) bool) {
	rest := sets[1:]
	slices.SortFunc(rest, func(x, y store.Set) int { return y.Len() - x.Len() })
	for len(rest) > 0 && !rest[len(rest)-1].Exists() {
		rest = rest[:len(rest)-1]
	}
	sets[0].Each(func(member []byte) bool {
		return inAny(rest, member) || f(member)
	})
}

func inAny(sets []store.Set, member []byte) bool {
	for i := range sets {
		if sets[i].Has(member) {
			return true
		}
	}
	return false
}

// cmdSInter handles SINTER key [key ...].
//
// Keys:    sets
// Reply:   set of members
// Errors:  WRONGTYPE
// Effects: none
func cmdSInter(c *Call) error { return replyResult(c, intersect) }

// cmdSUnion handles SUNION key [key ...].
//
// Keys:    sets
// Reply:   set of members
// Errors:  WRONGTYPE
// Effects: none
func cmdSUnion(c *Call) error { return replyResult(c, unite) }

// cmdSDiff handles SDIFF key [key ...].
//
// Keys:    sets
// Reply:   set of members
// Errors:  WRONGTYPE
// Effects: none
func cmdSDiff(c *Call) error { return replyResult(c, subtract) }

func replyResult(c *Call, op setOp) error {
	sets, err := openSets(c, c.Args[1:])
	if err != nil {
		return err
	}
	mark := c.Reply.Later()
	n := 0
	op(sets, func(member []byte) bool {
		c.Reply.Bulk(member)
		n++
		return true
	})
	c.Reply.Fill(mark, func() { c.Reply.Set(n) })
	return nil
}

// cmdSInterCard handles SINTERCARD numkeys key [key ...] [LIMIT limit].
//
// Keys:    sets
// Reply:   number of common members, no more than limit unless it is 0
// Errors:  ERR on a bad number or word, WRONGTYPE
// Effects: none
func cmdSInterCard(c *Call) error {
	keys, limit, err := parseInterCard(c.Args[1:])
	if err != nil {
		return err
	}
	sets, err := openSets(c, keys)
	if err != nil {
		return err
	}
	n := int64(0)
	intersect(sets, func([]byte) bool {
		n++
		return n != limit
	})
	c.Reply.Int(n)
	return nil
}

func parseInterCard(args [][]byte) (keys [][]byte, limit int64, err error) {
	n, ok := num.Int(args[0])
	switch {
	case !ok || n < 1:
		return nil, 0, errNumKeys
	case n > int64(len(args)-1):
		return nil, 0, errTooManyKeys
	}
	keys, args = args[1:n+1], args[n+1:]
	for ; len(args) > 0; args = args[2:] {
		if len(args) < 2 || !Is(args[0], "limit") {
			return nil, 0, ErrSyntax
		}
		if limit, ok = num.Int(args[1]); !ok || limit < 0 {
			return nil, 0, errLimitNegative
		}
	}
	return keys, limit, nil
}

// cmdSInterStore handles SINTERSTORE destination key [key ...].
//
// Keys:    any destination, sets
// Reply:   number of members of the result
// Errors:  WRONGTYPE
// Effects: DEL, SADD
func cmdSInterStore(c *Call) error { return storeResult(c, intersect, "sinterstore") }

// cmdSUnionStore handles SUNIONSTORE destination key [key ...].
//
// Keys:    any destination, sets
// Reply:   number of members of the result
// Errors:  WRONGTYPE
// Effects: DEL, SADD
func cmdSUnionStore(c *Call) error { return storeResult(c, unite, "sunionstore") }

// cmdSDiffStore handles SDIFFSTORE destination key [key ...].
//
// Keys:    any destination, sets
// Reply:   number of members of the result
// Errors:  WRONGTYPE
// Effects: DEL, SADD
func cmdSDiffStore(c *Call) error { return storeResult(c, subtract, "sdiffstore") }

func storeResult(c *Call, op setOp, event string) error {
	key := c.Args[1]
	sets, err := openSets(c, c.Args[2:])
	if err != nil {
		return err
	}
	if slices.ContainsFunc(c.Args[2:], func(k []byte) bool { return string(k) == string(key) }) {
		op = kept(op)
	}
	var dst store.Set
	n := int64(0)
	op(sets, func(member []byte) bool {
		if n == 0 {
			c.Tx.Delete(key)
			dst, _ = c.Tx.Set(key) // the key is absent now, so of no wrong kind
		}
		dst.Add(member)
		n++
		return true
	})
	switch {
	case n > 0:
		c.Tx.Notify('s', event, key)
	case c.Tx.Delete(key):
		c.Tx.Notify('g', "del", key)
	}
	c.Reply.Int(n)
	return nil
}

// kept is op with the whole result copied before any of it is given, for a destination that is one of the sets.
func kept(op setOp) setOp {
	return func(sets []store.Set, f func(member []byte) bool) {
		var all []byte
		var ends []int
		op(sets, func(member []byte) bool {
			all = append(all, member...)
			ends = append(ends, len(all))
			return true
		})
		start := 0
		for _, end := range ends {
			if !f(all[start:end]) {
				return
			}
			start = end
		}
	}
}
