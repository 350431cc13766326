package commands

import "bytes"

var hashRows = []Row{
	{
		Name: "hset", Family: "hash", Arity: -4, Flags: Write | DenyOOM | Fast, Do: cmdHSet,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key field value [field value ...]", Since: "2.0.0",
		Summary: "Writes fields of a hash, making those that are new.", Complexity: "O(N), N being the pairs given",
	},
	{
		Name: "hmset", Family: "hash", Arity: -4, Flags: Write | DenyOOM | Fast, Do: cmdHMSet,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key field value [field value ...]", Since: "2.0.0",
		Summary: "Sets the values of several fields of a hash; the old form of HSET.", Complexity: "O(N), N being the fields named",
	},
	{
		Name: "hsetnx", Family: "hash", Arity: 4, Flags: Write | DenyOOM | Fast, Do: cmdHSetNX,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyInsert}},
		Syntax: "key field value", Since: "2.0.0",
		Summary: "Sets the value of a field of a hash only when the field is absent.", Complexity: "O(1)",
	},
	{
		Name: "hdel", Family: "hash", Arity: -3, Flags: Write | Fast, Do: cmdHDel,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyDelete}},
		Syntax: "key field [field ...]", Since: "2.0.0",
		Summary: "Takes fields out of a hash.", Complexity: "O(N), N being the fields named",
	},
	{
		Name: "hincrby", Family: "hash", Arity: 4, Flags: Write | DenyOOM | Fast, Do: cmdHIncrBy,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyUpdate}},
		Syntax: "key field increment:integer", Since: "2.0.0",
		Summary: "Adds to the integer value of a field of a hash. An absent field counts as 0.", Complexity: "O(1)",
	},
	{
		Name: "hincrbyfloat", Family: "hash", Arity: 4, Flags: Write | DenyOOM | Fast, Do: cmdHIncrByFloat,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyUpdate}},
		Syntax: "key field increment:double", Since: "2.6.0",
		Summary: "Adds to the floating-point value of a field of a hash. An absent field counts as 0.", Complexity: "O(1)",
	},
}

// setFields sets the pairs of HSET and HMSET and returns how many fields are new.
func setFields(c *Call) (created int, err error) {
	pairs := c.Args[2:]
	if len(pairs)%2 != 0 {
		return 0, ErrArity(c.Row.FullName())
	}
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return 0, err
	}
	if !h.Exists() && fewAndDifferent(pairs) {
		h.SetAll(pairs...)
		created, pairs = len(pairs)/2, nil
	}
	for ; len(pairs) > 0; pairs = pairs[2:] {
		if h.Set(pairs[0], pairs[1]) {
			created++
		}
	}
	c.Tx.Notify('h', "hset", c.Args[1])
	return created, nil
}

// fewAndDifferent reports whether pairs are few and no field is there twice.
func fewAndDifferent(pairs [][]byte) bool {
	if len(pairs) > 16 {
		return false
	}
	for i := 2; i < len(pairs); i += 2 {
		for j := 0; j < i; j += 2 {
			if bytes.Equal(pairs[i], pairs[j]) {
				return false
			}
		}
	}
	return true
}

// cmdHSet handles HSET key field value [field value ...].
//
// Keys:    hash
// Reply:   number of fields that are new
// Errors:  arity when a value is missing, WRONGTYPE
// Effects: HSET
func cmdHSet(c *Call) error {
	created, err := setFields(c)
	if err != nil {
		return err
	}
	c.Reply.Int(int64(created))
	return nil
}

// cmdHMSet handles HMSET key field value [field value ...].
//
// Keys:    hash
// Reply:   OK
// Errors:  arity when a value is missing, WRONGTYPE
// Effects: HSET
func cmdHMSet(c *Call) error {
	if _, err := setFields(c); err != nil {
		return err
	}
	c.Reply.OK()
	return nil
}

// cmdHSetNX handles HSETNX key field value.
//
// Keys:    hash
// Reply:   1, or 0 when the field is there
// Errors:  WRONGTYPE
// Effects: HSET
func cmdHSetNX(c *Call) error {
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	if _, ok := h.Get(c.Args[2]); ok {
		c.Reply.Int(0)
		return nil
	}
	h.Set(c.Args[2], c.Args[3])
	c.Tx.Notify('h', "hset", c.Args[1])
	c.Reply.Int(1)
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
