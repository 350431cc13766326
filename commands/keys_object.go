package commands

var objectRows = []Row{{
	Name: "object", Family: "generic", Arity: -2, Since: "2.2.3",
	Summary: "Groups the commands that look into the form of a value.", Complexity: "Depends on the subcommand",
	Subs: []Row{
		{
			Name: "encoding", Tips: []string{TipVaries}, Arity: 3, Flags: ReadOnly, Do: cmdObjectEncoding,
			Keys:   []KeySpec{{Index: 2, Flags: KeyRO}},
			Syntax: "key", Since: "2.2.3",
			Summary: "Tells the internal form of the value at a key.", Complexity: "O(1)",
		},
		{
			Name: "freq", Tips: []string{TipVaries}, Arity: 3, Flags: ReadOnly, Do: cmdObjectFreq,
			Keys:   []KeySpec{{Index: 2, Flags: KeyRO}},
			Syntax: "key", Since: "4.0.0",
			Summary: "Tells how often a key is used, under a policy that counts it.", Complexity: "O(1)",
		},
		HelpRow("6.2.0"),
		{
			Name: "idletime", Tips: []string{TipVaries}, Arity: 3, Flags: ReadOnly, Do: cmdObjectIdleTime,
			Keys:   []KeySpec{{Index: 2, Flags: KeyRO}},
			Syntax: "key", Since: "2.2.3",
			Summary: "Tells for how many seconds a key was not used.", Complexity: "O(1)",
		},
		{
			Name: "refcount", Tips: []string{TipVaries}, Arity: 3, Flags: ReadOnly, Do: cmdObjectRefCount,
			Keys:   []KeySpec{{Index: 2, Flags: KeyRO}},
			Syntax: "key", Since: "2.2.3",
			Summary: "Tells how many references the value at a key has: always one.", Complexity: "O(1)",
		},
	},
}}

const errNoLFU Error = "ERR An LFU maxmemory policy is not selected, access frequency not tracked. " +
	"Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust."

// cmdObjectEncoding handles OBJECT ENCODING key.
//
// Keys:    any
// Reply:   the word that Valkey has for the form, or null when the key is absent
// Effects: none
func cmdObjectEncoding(c *Call) error {
	if word := c.Tx.Encoding(c.Args[2]); word != "" {
		c.Reply.Text(word)
	} else {
		c.Reply.Null()
	}
	return nil
}

// cmdObjectIdleTime handles OBJECT IDLETIME key.
//
// Keys:    any
// Reply:   seconds, or null when the key is absent
// Effects: none
func cmdObjectIdleTime(c *Call) error {
	if seconds, ok := c.Tx.Idle(c.Args[2]); ok {
		c.Reply.Int(seconds)
	} else {
		c.Reply.Null()
	}
	return nil
}

// cmdObjectRefCount handles OBJECT REFCOUNT key.
//
// Keys:    any
// Reply:   1, or null when the key is absent
// Effects: none
func cmdObjectRefCount(c *Call) error {
	if _, ok := c.Tx.Idle(c.Args[2]); ok {
		c.Reply.Int(1)
	} else {
		c.Reply.Null()
	}
	return nil
}

// cmdObjectFreq handles OBJECT FREQ key.
//
// Keys:    any
// Reply:   null when the key is absent
// Errors:  there is no policy that counts uses
// Effects: none
func cmdObjectFreq(c *Call) error {
	if _, ok := c.Tx.Idle(c.Args[2]); ok {
		return errNoLFU
	}
	c.Reply.Null()
	return nil
}
