package commands

var hashRows = []Row{
	{
		Name: "hset", Family: "hash", Arity: -4, Flags: Write | DenyOOM | Fast, Do: cmdHSet,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key field value [field value ...]", Since: "2.0.0",
		Summary: "Creates or modifies the value of a field in a hash.", Complexity: "O(1) for each field/value pair added",
	},
	{
		Name: "hget", Family: "hash", Arity: 3, Flags: ReadOnly | Fast, Do: cmdHGet,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key field", Since: "2.0.0",
		Summary: "Returns the value of a field in a hash.", Complexity: "O(1)",
	},
	{
		Name: "hdel", Family: "hash", Arity: -3, Flags: Write | Fast, Do: cmdHDel,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyDelete}},
		Syntax: "key field [field ...]", Since: "2.0.0",
		Summary: "Deletes one or more fields and their values from a hash.", Complexity: "O(N) where N is the number of fields",
	},
	{
		Name: "hgetall", Family: "hash", Arity: 2, Flags: ReadOnly, Do: cmdHGetAll,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key", Since: "2.0.0",
		Summary: "Returns all fields and values in a hash.", Complexity: "O(N) where N is the size of the hash",
	},
}

// cmdHSet handles HSET key field value [field value ...].
//
// Keys:    hash
// Reply:   number of fields that are new
// Errors:  arity when a value is missing, WRONGTYPE
// Effects: HSET
func cmdHSet(c *Call) error {
	pairs := c.Args[2:]
	if len(pairs)%2 != 0 {
		return ErrArity(c.Row.FullName())
	}
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	created := 0
	for ; len(pairs) > 0; pairs = pairs[2:] {
		if h.Set(pairs[0], pairs[1]) {
			created++
		}
	}
	c.Tx.Notify('h', "hset", c.Args[1])
	c.Reply.Int(int64(created))
	return nil
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
	if v, ok := h.Get(c.Args[2]); ok {
		c.Reply.Bulk(v)
	} else {
		c.Reply.Null()
	}
	return nil
}

// cmdHDel handles HDEL key field [field ...].
//
// Keys:    hash
// Reply:   number of fields removed
// Errors:  WRONGTYPE
// Effects: HDEL
func cmdHDel(c *Call) error {
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	removed := 0
	for _, field := range c.Args[2:] {
		if h.Delete(field) {
			removed++
		}
	}
	if removed > 0 {
		c.Tx.Notify('h', "hdel", c.Args[1])
	}
	c.Reply.Int(int64(removed))
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
