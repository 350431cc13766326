package commands

var keyRows = []Row{
	{
		Name: "del", Tips: []string{"request_policy:multi_shard", "response_policy:agg_sum"}, Family: "generic", Arity: -2, Flags: Write, Do: cmdDel,
		Keys:   []KeySpec{{Index: 1, Last: -1, Step: 1, Flags: KeyRM | KeyDelete}},
		Syntax: "key [key ...]", Since: "1.0.0",
		Summary: "Deletes keys.", Complexity: "O(N) where N is the number of keys; large values are reclaimed step by step",
	},
	{
		Name: "unlink", Tips: []string{"request_policy:multi_shard", "response_policy:agg_sum"}, Family: "generic", Arity: -2, Flags: Write | Fast, Do: cmdDel,
		Keys:   []KeySpec{{Index: 1, Last: -1, Step: 1, Flags: KeyRM | KeyDelete}},
		Syntax: "key [key ...]", Since: "4.0.0",
		Summary: "Deletes keys, reclaiming their memory later.", Complexity: "O(N) where N is the number of keys",
	},
	{
		Name: "exists", Tips: []string{"request_policy:multi_shard", "response_policy:agg_sum"}, Family: "generic", Arity: -2, Flags: ReadOnly | Fast, Do: cmdExists,
		Keys:   []KeySpec{{Index: 1, Last: -1, Step: 1, Flags: KeyRO}},
		Syntax: "key [key ...]", Since: "1.0.0",
		Summary: "Counts how many of the keys exist.", Complexity: "O(N) where N is the number of keys",
	},
	{
		Name: "touch", Tips: []string{"request_policy:multi_shard", "response_policy:agg_sum"}, Family: "generic", Arity: -2, Flags: ReadOnly | Fast, Do: cmdTouch,
		Keys:   []KeySpec{{Index: 1, Last: -1, Step: 1, Flags: KeyRO}},
		Syntax: "key [key ...]", Since: "3.2.1",
		Summary: "Renews the access time of keys and counts those that exist.", Complexity: "O(N) where N is the number of keys",
	},
	{
		Name: "type", Family: "generic", Arity: 2, Flags: ReadOnly | Fast, Do: cmdType,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO}},
		Syntax: "key", Since: "1.0.0",
		Summary: "Tells the type of the value at a key.", Complexity: "O(1)",
	},
	{
		Name: "randomkey", Tips: []string{"request_policy:all_shards", "response_policy:special", TipVaries}, Family: "generic", Arity: 1, Flags: ReadOnly, Do: cmdRandomKey, Since: "1.0.0",
		Summary: "Returns a key of the database chosen at random.", Complexity: "O(1)",
	},
	{
		Name: "dump", Tips: []string{TipVaries}, Family: "generic", Arity: 2, Flags: ReadOnly, Do: cmdDump,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key", Since: "2.6.0",
		Summary: "Returns the value at a key in its serialized form.", Complexity: "O(N) where N is the size of the value",
	},
	{
		Name: "restore", Family: "generic", Arity: -4, Flags: Write | DenyOOM, Do: cmdRestore, Categories: []string{"dangerous"},
		Keys:   []KeySpec{{Index: 1, Flags: KeyOW | KeyUpdate}},
		Syntax: "key ttl:integer serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency:integer]", Since: "2.6.0",
		Summary:    "Creates a key from a value in its serialized form.",
		Complexity: "O(N) where N is the size of the value, O(N*log(N)) for sorted sets",
	},
}

// cmdDel handles DEL key [key ...] and UNLINK key [key ...].
//
// Keys:    any
// Reply:   number of keys removed
// Effects: DEL
func cmdDel(c *Call) error {
	removed := 0
	for _, key := range c.Args[1:] {
		if c.Tx.Delete(key) {
			c.Tx.Notify('g', "del", key)
			removed++
		}
	}
	c.Reply.Int(int64(removed))
	return nil
}

// cmdExists handles EXISTS key [key ...].
//
// Keys:    any
// Reply:   number of arguments that name a key, repeated ones counted again
// Effects: none
func cmdExists(c *Call) error {
	there := 0
	for _, key := range c.Args[1:] {
		if c.Tx.Exists(key) {
			there++
		}
	}
	c.Reply.Int(int64(there))
	return nil
}

// cmdTouch handles TOUCH key [key ...].
//
// Keys:    any
// Reply:   number of arguments that name a key
// Effects: none
func cmdTouch(c *Call) error {
	there := 0
	for _, key := range c.Args[1:] {
		if c.Tx.Touch(key) {
			there++
		}
	}
	c.Reply.Int(int64(there))
	return nil
}

// cmdType handles TYPE key.
//
// Keys:    any
// Reply:   simple string: the type, none when the key is absent
// Effects: none
func cmdType(c *Call) error {
	c.Reply.Simple(c.Tx.Kind(c.Args[1]).String())
	return nil
}

// cmdRandomKey handles RANDOMKEY.
//
// Reply:   a key, or null when there is none
// Effects: none
func cmdRandomKey(c *Call) error {
	key, ok := c.Tx.RandomKey()
	if !ok {
		c.Reply.Null()
		return nil
	}
	c.Reply.Bulk(key)
	return nil
}
