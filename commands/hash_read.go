package commands

import "github.com/echomq/emqd/store"

var hashReadRows = []Row{
	{
		Name: "hget", Family: "hash", Arity: 3, Flags: ReadOnly | Fast, Do: cmdHGet,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key field", Since: "2.0.0",
		Summary: "Reads one field of a hash.", Complexity: "O(1)",
	},
	{
		Name: "hmget", Family: "hash", Arity: -3, Flags: ReadOnly | Fast, Do: cmdHMGet,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key field [field ...]", Since: "2.0.0",
		Summary: "Returns the values of several fields of a hash.", Complexity: "O(N), N being the fields named",
	},
	{
		Name: "hexists", Family: "hash", Arity: 3, Flags: ReadOnly | Fast, Do: cmdHExists,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO}},
		Syntax: "key field", Since: "2.0.0",
		Summary: "Tells whether a field is in a hash.", Complexity: "O(1)",
	},
	{
		Name: "hlen", Family: "hash", Arity: 2, Flags: ReadOnly | Fast, Do: cmdHLen,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO}},
		Syntax: "key", Since: "2.0.0",
		Summary: "Returns the number of fields of a hash.", Complexity: "O(1)",
	},
	{
		Name: "hstrlen", Family: "hash", Arity: 3, Flags: ReadOnly | Fast, Do: cmdHStrLen,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO}},
		Syntax: "key field", Since: "3.2.0",
		Summary: "Returns the length in bytes of the value of a field of a hash.", Complexity: "O(1)",
	},
	{
		Name: "hgetall", Tips: []string{TipAnyOrder}, Family: "hash", Arity: 2, Flags: ReadOnly, Do: cmdHGetAll,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key", Since: "2.0.0",
		Summary: "Reads a whole hash.", Complexity: "O(N), N being the fields of the hash",
	},
	{
		Name: "hkeys", Tips: []string{TipAnyOrder}, Family: "hash", Arity: 2, Flags: ReadOnly, Do: cmdHKeys,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key", Since: "2.0.0",
		Summary: "Returns all fields of a hash.", Complexity: "O(N), N being the fields of the hash",
	},
	{
		Name: "hvals", Tips: []string{TipAnyOrder}, Family: "hash", Arity: 2, Flags: ReadOnly, Do: cmdHVals,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key", Since: "2.0.0",
		Summary: "Returns all values of a hash.", Complexity: "O(N), N being the fields of the hash",
	},
	{
		Name: "hscan", Tips: []string{TipVaries}, Family: "hash", Arity: -3, Flags: ReadOnly, Do: cmdHScan,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key cursor [MATCH pattern] [COUNT count] [NOVALUES]", Since: "2.8.0",
		Summary:    "Returns the fields and values of a hash part by part.",
		Complexity: "O(1) for every call, O(N) for a complete pass, where N is the size of the hash",
	},
	{
		Name: "hrandfield", Tips: []string{TipVaries}, Family: "hash", Arity: -2, Flags: ReadOnly, Do: cmdHRandField,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key [count [WITHVALUES]]", Since: "6.2.0",
		Summary: "Returns fields of a hash chosen at random.", Complexity: "O(N), N being the fields in the reply",
	},
}

// cmdHGet handles HGET key field.
//
// Keys:    hash
// Reply:   the value, or null when the field or the key is absent
// Errors:  WRONGTYPE
// Effects: none
func cmdHGet(c *Call) error {
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	replyField(c, &h, c.Args[2])
	return nil
}

// replyField appends the value of a field, or null.
func replyField(c *Call, h *store.Hash, field []byte) {
	if value, ok := h.Get(field); ok {
		c.Reply.Bulk(value)
	} else {
		c.Reply.Null()
	}
}

// cmdHMGet handles HMGET key field [field ...].
//
// Keys:    hash
// Reply:   array of values and nulls
// Errors:  WRONGTYPE
// Effects: none
func cmdHMGet(c *Call) error {
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Array(len(c.Args) - 2)
	for _, field := range c.Args[2:] {
		replyField(c, &h, field)
	}
	return nil
}

// cmdHExists handles HEXISTS key field.
//
// Keys:    hash
// Reply:   1 or 0
// Errors:  WRONGTYPE
// Effects: none
func cmdHExists(c *Call) error {
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	_, ok := h.Get(c.Args[2])
	c.Reply.Flag(ok)
	return nil
}

// cmdHLen handles HLEN key.
//
// Keys:    hash
// Reply:   number of fields, 0 when the key is absent
// Errors:  WRONGTYPE
// Effects: none
func cmdHLen(c *Call) error {
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Int(int64(h.Len()))
	return nil
}

// cmdHStrLen handles HSTRLEN key field.
//
// Keys:    hash
// Reply:   length of the value in bytes, 0 when the field is absent
// Errors:  WRONGTYPE
// Effects: none
func cmdHStrLen(c *Call) error {
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	value, _ := h.Get(c.Args[2])
	c.Reply.Int(int64(len(value)))
	return nil
}

// cmdHGetAll handles HGETALL key.
//
// Keys:    hash
// Reply:   map of fields to values
// Errors:  WRONGTYPE
// Effects: none
func cmdHGetAll(c *Call) error {
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Map(h.Len())
	h.Each(func(field, value []byte) bool {
		c.Reply.Bulk(field)
		c.Reply.Bulk(value)
		return true
	})
	return nil
}

// cmdHKeys handles HKEYS key.
//
// Keys:    hash
// Reply:   array of fields
// Errors:  WRONGTYPE
// Effects: none
func cmdHKeys(c *Call) error {
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Array(h.Len())
	h.Each(func(field, _ []byte) bool {
		c.Reply.Bulk(field)
		return true
	})
	return nil
}

// cmdHVals handles HVALS key.
//
// Keys:    hash
// Reply:   array of values
// Errors:  WRONGTYPE
// Effects: none
func cmdHVals(c *Call) error {
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Array(h.Len())
	h.Each(func(_, value []byte) bool {
		c.Reply.Bulk(value)
		return true
	})
	return nil
}
