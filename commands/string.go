package commands

import "bytes"

var stringRows = []Row{
	{
		Name: "set", Family: "string", Arity: -3, Flags: Write | DenyOOM, Do: cmdSet, FindKeys: setKeys,
		Keys: []KeySpec{{
			Index: 1, Flags: KeyRW | KeyAccess | KeyUpdate | KeyVariable,
			Notes: "reads the old value only with GET",
		}},
		Syntax: "key value [NX | XX | IFEQ comparison-value] [GET] " +
			"[EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]",
		Since:   "1.0.0",
		Summary: "Gives a key a string value, whatever it held before. The key is created when it is absent.", Complexity: "O(1)",
	},
	{
		Name: "setnx", Family: "string", Arity: 3, Flags: Write | DenyOOM | Fast, Do: cmdSetNX,
		Keys:   []KeySpec{{Index: 1, Flags: KeyOW | KeyInsert}},
		Syntax: "key value", Since: "1.0.0",
		Summary: "Gives a key a string value only when the key is absent.", Complexity: "O(1)",
	},
	{
		Name: "setex", Family: "string", Arity: 4, Flags: Write | DenyOOM, Do: cmdSetEX,
		Keys:   []KeySpec{{Index: 1, Flags: KeyOW | KeyUpdate}},
		Syntax: "key seconds value", Since: "2.0.0",
		Summary: "Gives a key a string value and a time to live in seconds.", Complexity: "O(1)",
	},
	{
		Name: "psetex", Family: "string", Arity: 4, Flags: Write | DenyOOM, Do: cmdPSetEX,
		Keys:   []KeySpec{{Index: 1, Flags: KeyOW | KeyUpdate}},
		Syntax: "key milliseconds value", Since: "2.6.0",
		Summary: "Gives a key a string value and a time to live in milliseconds.", Complexity: "O(1)",
	},
	{
		Name: "getset", Family: "string", Arity: 3, Flags: Write | DenyOOM | Fast, Do: cmdGetSet,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyUpdate}},
		Syntax: "key value", Since: "1.0.0",
		Summary: "Returns the string value of a key after giving it a new one.", Complexity: "O(1)",
	},
	{
		Name: "getdel", Family: "string", Arity: 2, Flags: Write | Fast, Do: cmdGetDel,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyDelete}},
		Syntax: "key", Since: "6.2.0",
		Summary: "Reads a string and removes its key.", Complexity: "O(1)",
	},
	{
		Name: "getex", Family: "string", Arity: -2, Flags: Write | Fast, Do: cmdGetEX,
		Keys: []KeySpec{{
			Index: 1, Flags: KeyRW | KeyAccess | KeyUpdate,
			Notes: "writes the expiry time",
		}},
		Syntax: "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST]",
		Since:  "6.2.0", Summary: "Returns the string value of a key after setting or clearing its expiry time.", Complexity: "O(1)",
	},
	{
		Name: "delifeq", Family: "string", Arity: 3, Flags: Write | Fast, Do: cmdDelIfEq,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyDelete}},
		Syntax: "key value", Since: "9.0.0",
		Summary: "Deletes a key when its string value is the given one.", Complexity: "O(1)",
	},
	{
		Name: "mset", Tips: []string{"request_policy:multi_shard", "response_policy:all_succeeded"}, Family: "string", Arity: -3, Flags: Write | DenyOOM, Do: cmdMSet,
		Keys:   []KeySpec{{Index: 1, Last: -1, Step: 2, Flags: KeyOW | KeyUpdate}},
		Syntax: "key value [key value ...]", Since: "1.0.1",
		Summary: "Gives several keys string values in one step.", Complexity: "O(N), N being the keys written",
	},
	{
		Name: "msetnx", Family: "string", Arity: -3, Flags: Write | DenyOOM, Do: cmdMSetNX,
		Keys:   []KeySpec{{Index: 1, Last: -1, Step: 2, Flags: KeyOW | KeyInsert}},
		Syntax: "key value [key value ...]", Since: "1.0.1",
		Summary: "Gives several keys string values in one step, only when all of them are absent.", Complexity: "O(N), N being the keys written",
	},
}

// setOptions are the words behind the value of SET, or behind the key of GETEX.
type setOptions struct {
	word    timeWord
	time    []byte
	nx, xx  bool
	get     bool
	keep    bool // KEEPTTL
	persist bool
	ifeq    bool
	expect  []byte // of IFEQ
}

// timed reports whether another word than allowed has said already what becomes of the expiry time.
func (o *setOptions) timed(allowed timeWord) bool {
	return o.keep || o.persist || o.word != timeNone && o.word != allowed
}

// parseSet reads the options of SET.
func parseSet(args [][]byte) (o setOptions, err error) {
	for i := 0; i < len(args); i++ {
		more := i+1 < len(args)
		word := timeWordOf(args[i])
		switch {
		case word != timeNone && more && !o.timed(word):
			i++
			o.word, o.time = word, args[i]
		case Is(args[i], "nx") && !o.xx && !o.ifeq:
			o.nx = true
		case Is(args[i], "xx") && !o.nx && !o.ifeq:
			o.xx = true
		case Is(args[i], "ifeq") && more && !o.nx && !o.xx && !o.ifeq:
			i++
			o.ifeq, o.expect = true, args[i]
		case Is(args[i], "get"):
			o.get = true
		case Is(args[i], "keepttl") && o.word == timeNone:
			o.keep = true
		default:
			return o, ErrSyntax
		}
	}
	return o, nil
}

// parseGetEX reads the options of GETEX.
func parseGetEX(args [][]byte) (o setOptions, err error) {
	for i := 0; i < len(args); i++ {
		word := timeWordOf(args[i])
		switch {
		case word != timeNone && i+1 < len(args) && !o.timed(word):
			i++
			o.word, o.time = word, args[i]
		case Is(args[i], "persist") && o.word == timeNone:
			o.persist = true
		default:
			return o, ErrSyntax
		}
	}
	return o, nil
}

// cmdSet handles SET key value [NX | XX | IFEQ comparison-value] [GET] [EX | PX | EXAT | PXAT time | KEEPTTL].
//
// Keys:    any kind; a string when GET or IFEQ is given
// Reply:   OK, or null when the condition does not hold; with GET the old value or null
// Errors:  syntax, invalid expire time, WRONGTYPE
// Effects: SET; when the time has come DEL, or none when there was no key
func cmdSet(c *Call) error {
	key, value := c.Args[1], c.Args[2]
	if len(c.Args) == 3 {
		c.Tx.SetValue(key, value, 0)
		c.Tx.Notify('$', "set", key)
		c.Reply.OK()
		return nil
	}
	o, err := parseSet(c.Args[3:])
	if err != nil {
		return err
	}
	at, err := c.expireTime(o.word, o.time)
	if err != nil {
		return err
	}
	var old []byte
	var found bool
	if o.get || o.ifeq {
		if old, found, err = c.Tx.Value(key); err != nil {
			return err
		}
	} else if o.nx || o.xx || o.word != timeNone {
		found = c.Tx.Exists(key)
	}
	do := !(o.nx && found || o.xx && !found || o.ifeq && !(found && bytes.Equal(old, o.expect)))
	switch {
	case o.get && found:
		c.Reply.Bulk(old)
	case o.get || !do:
		c.Reply.Null()
	default:
		c.Reply.OK()
	}
	if !do {
		return nil
	}
	if o.word != timeNone && at <= c.Now() {
		if found {
			c.Tx.Delete(key)
			c.Tx.Notify('g', "del", key)
		}
		return nil
	}
	if o.keep {
		at, _ = c.Tx.Expiry(key)
	}
	c.Tx.SetValue(key, value, at)
	c.Tx.Notify('$', "set", key)
	if o.word != timeNone {
		c.Tx.Notify('g', "expire", key)
	}
	return nil
}

// cmdSetNX handles SETNX key value.
//
// Keys:    any kind
// Reply:   1, or 0 when the key is there
// Errors:  none
// Effects: SET
func cmdSetNX(c *Call) error {
	key := c.Args[1]
	if c.Tx.Exists(key) {
		c.Reply.Int(0)
		return nil
	}
	c.Tx.SetValue(key, c.Args[2], 0)
	c.Tx.Notify('$', "set", key)
	c.Reply.Int(1)
	return nil
}

// cmdSetEX handles SETEX key seconds value.
//
// Keys:    any kind
// Reply:   OK
// Errors:  not an integer, invalid expire time
// Effects: SET
func cmdSetEX(c *Call) error { return setUntil(c, timeEX) }

// cmdPSetEX handles PSETEX key milliseconds value.
//
// Keys:    any kind
// Reply:   OK
// Errors:  not an integer, invalid expire time
// Effects: SET
func cmdPSetEX(c *Call) error { return setUntil(c, timePX) }

func setUntil(c *Call, word timeWord) error {
	at, err := c.expireTime(word, c.Args[2])
	if err != nil {
		return err
	}
	key := c.Args[1]
	c.Tx.SetValue(key, c.Args[3], at)
	c.Tx.Notify('$', "set", key)
	c.Tx.Notify('g', "expire", key)
	c.Reply.OK()
	return nil
}

// cmdGetSet handles GETSET key value.
//
// Keys:    string
// Reply:   the old value, or null
// Errors:  WRONGTYPE
// Effects: SET
func cmdGetSet(c *Call) error {
	key := c.Args[1]
	if err := replyValue(c, key); err != nil {
		return err
	}
	c.Tx.SetValue(key, c.Args[2], 0)
	c.Tx.Notify('$', "set", key)
	return nil
}

// cmdGetDel handles GETDEL key.
//
// Keys:    string
// Reply:   the value, or null
// Errors:  WRONGTYPE
// Effects: DEL
func cmdGetDel(c *Call) error {
	key := c.Args[1]
	if err := replyValue(c, key); err != nil {
		return err
	}
	if c.Tx.Delete(key) {
		c.Tx.Notify('g', "del", key)
	}
	return nil
}

// cmdGetEX handles GETEX key [EX | PX | EXAT | PXAT time | PERSIST].
//
// Keys:    string
// Reply:   the value, or null
// Errors:  syntax, WRONGTYPE, and when the key is there: not an integer, invalid expire time
// Effects: PEXPIREAT, PERSIST, or DEL when the time is past
func cmdGetEX(c *Call) error {
	o, err := parseGetEX(c.Args[2:])
	if err != nil {
		return err
	}
	key := c.Args[1]
	value, ok, err := c.Tx.Value(key)
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Null()
		return nil
	}
	at, err := c.expireTime(o.word, o.time)
	if err != nil {
		return err
	}
	c.Reply.Bulk(value)
	switch {
	case o.persist:
		if c.Tx.Persist(key) {
			c.Tx.Notify('g', "persist", key)
		}
	case o.word != timeNone && at <= c.Now():
		c.Tx.Delete(key)
		c.Tx.Notify('g', "del", key)
	case o.word != timeNone:
		c.Tx.ExpireAt(key, at)
		c.Tx.Notify('g', "expire", key)
	}
	return nil
}

// cmdDelIfEq handles DELIFEQ key value.
//
// Keys:    string
// Reply:   1, or 0 when the key is absent or holds another value
// Errors:  WRONGTYPE
// Effects: DEL
func cmdDelIfEq(c *Call) error {
	key := c.Args[1]
	value, ok, err := c.Tx.Value(key)
	if err != nil {
		return err
	}
	if !ok || !bytes.Equal(value, c.Args[2]) {
		c.Reply.Int(0)
		return nil
	}
	c.Tx.Delete(key)
	c.Tx.Notify('g', "del", key)
	c.Reply.Int(1)
	return nil
}

// cmdMSet handles MSET key value [key value ...].
//
// Keys:    any kind
// Reply:   OK
// Errors:  arity when a value is missing
// Effects: SET for each key
func cmdMSet(c *Call) error {
	if len(c.Args)%2 == 0 {
		return ErrArity(c.Row.FullName())
	}
	setAll(c)
	c.Reply.OK()
	return nil
}

// cmdMSetNX handles MSETNX key value [key value ...].
//
// Keys:    any kind
// Reply:   1, or 0 when any of the keys is there
// Errors:  arity when a value is missing
// Effects: SET for each key
func cmdMSetNX(c *Call) error {
	if len(c.Args)%2 == 0 {
		return ErrArity(c.Row.FullName())
	}
	for i := 1; i < len(c.Args); i += 2 {
		if c.Tx.Exists(c.Args[i]) {
			c.Reply.Int(0)
			return nil
		}
	}
	setAll(c)
	c.Reply.Int(1)
	return nil
}

func setAll(c *Call) {
	for i := 1; i < len(c.Args); i += 2 {
		c.Tx.SetValue(c.Args[i], c.Args[i+1], 0)
		c.Tx.Notify('$', "set", c.Args[i])
	}
}
