package commands

import (
	"bytes"

	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/glob"
)

var scanRows = []Row{
	{
		Name: "scan", Tips: []string{TipVaries, "request_policy:special", "response_policy:special"}, Family: "generic", Arity: -2, Flags: ReadOnly, Do: cmdScan,
		Syntax: "cursor [MATCH pattern] [COUNT count] [TYPE type]", Since: "2.8.0",
		Summary:    "Goes through the keys of the database a few at a time.",
		Complexity: "O(1) for every call, O(N) for a whole pass over N keys",
	},
	{
		Name: "keys", Tips: []string{"request_policy:all_shards", TipAnyOrder}, Family: "generic", Arity: 2, Flags: ReadOnly, Do: cmdKeys, Categories: []string{"dangerous"},
		Syntax: "pattern", Since: "1.0.0",
		Summary: "Returns all keys that match a pattern.", Complexity: "O(N) where N is the number of keys in the database",
	},
}

// cmdScan handles SCAN cursor [MATCH pattern] [COUNT count] [TYPE type].
//
// Reply:   array of the next cursor and an array of keys; a word that is no type matches nothing
// Errors:  invalid cursor, syntax, no integer
// Effects: none
func cmdScan(c *Call) error {
	cursor, err := scanCursor(c.Args[1])
	if err != nil {
		return err
	}
	s, err := parseScan(cursor, c.Args[2:], store.KindNone)
	if err != nil {
		return err
	}
	s.walk(c, func(cursor uint64) uint64 {
		return c.Tx.Scan(cursor, func(key []byte, kind store.Kind) {
			if s.wants(key) && (s.typ == nil || Is(s.typ, kind.String())) {
				c.Reply.Bulk(key)
				s.put(1)
			}
		})
	})
	return nil
}

// cmdKeys handles KEYS pattern.
//
// Reply:   array of keys in any order
// Effects: none
func cmdKeys(c *Call) error {
	pattern := c.Args[1]
	all, prefix := glob.All(pattern), glob.Prefix(pattern)
	mark, n := c.Reply.Later(), 0
	c.Tx.EachKey(func(key []byte, _ store.Kind) bool {
		if all || bytes.HasPrefix(key, prefix) && glob.Match(pattern, key, false) {
			c.Reply.Bulk(key)
			n++
		}
		return true
	})
	c.Reply.Fill(mark, func() { c.Reply.Array(n) })
	return nil
}
