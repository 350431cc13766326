package commands

import (
	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

const errNumFields Error = "ERR numfields should be greater than 0 and match the provided number of fields"

var hashExpiryRows = []Row{
	{
		Name: "hexpire", Family: "hash", Arity: -6, Flags: Write | Fast, Do: cmdHExpire,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key seconds [NX | XX | GT | LT] FIELDS numfields field [field ...]", Since: "9.0.0",
		Summary: "Gives fields of a hash a time to live in seconds.", Complexity: "O(N), N being the fields named",
	},
	{
		Name: "hpexpire", Family: "hash", Arity: -6, Flags: Write | Fast, Do: cmdHPExpire,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key milliseconds [NX | XX | GT | LT] FIELDS numfields field [field ...]", Since: "9.0.0",
		Summary: "Gives fields of a hash a time to live in milliseconds.", Complexity: "O(N), N being the fields named",
	},
	{
		Name: "hexpireat", Family: "hash", Arity: -6, Flags: Write | Fast, Do: cmdHExpireAt,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key unix-time-seconds [NX | XX | GT | LT] FIELDS numfields field [field ...]", Since: "9.0.0",
		Summary: "Gives fields of a hash an expiry time in Unix seconds.", Complexity: "O(N), N being the fields named",
	},
	{
		Name: "hpexpireat", Family: "hash", Arity: -6, Flags: Write | Fast, Do: cmdHPExpireAt,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key unix-time-milliseconds [NX | XX | GT | LT] FIELDS numfields field [field ...]", Since: "9.0.0",
		Summary: "Gives fields of a hash an expiry time in Unix milliseconds.", Complexity: "O(N), N being the fields named",
	},
	{
		Name: "hpersist", Family: "hash", Arity: -5, Flags: Write | Fast, Do: cmdHPersist,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key FIELDS numfields field [field ...]", Since: "9.0.0",
		Summary: "Clears the expiry times of fields of a hash.", Complexity: "O(N), N being the fields named",
	},
	{
		Name: "httl", Family: "hash", Arity: -5, Flags: ReadOnly | Fast, Do: cmdHTTL,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key FIELDS numfields field [field ...]", Since: "9.0.0",
		Summary: "Returns the times to live of fields of a hash in seconds.", Complexity: "O(N), N being the fields named",
	},
	{
		Name: "hpttl", Family: "hash", Arity: -5, Flags: ReadOnly | Fast, Do: cmdHPTTL,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key FIELDS numfields field [field ...]", Since: "9.0.0",
		Summary: "Returns the times to live of fields of a hash in milliseconds.", Complexity: "O(N), N being the fields named",
	},
	{
		Name: "hexpiretime", Family: "hash", Arity: -5, Flags: ReadOnly | Fast, Do: cmdHExpireTime,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key FIELDS numfields field [field ...]", Since: "9.0.0",
		Summary: "Returns the expiry times of fields of a hash in Unix seconds.", Complexity: "O(N), N being the fields named",
	},
	{
		Name: "hpexpiretime", Family: "hash", Arity: -5, Flags: ReadOnly | Fast, Do: cmdHPExpireTime,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key FIELDS numfields field [field ...]", Since: "9.0.0",
		Summary: "Returns the expiry times of fields of a hash in Unix milliseconds.", Complexity: "O(N), N being the fields named",
	},
}

// fieldArgs splits args at the word FIELDS into the options before it and the arguments behind the count. Each
// field takes width arguments. A nil list comes with the refusal that follows the options' own.
func fieldArgs(args [][]byte, width int64) (options, fields [][]byte, err error) {
	for i := 0; i < len(args)-1; i++ {
		if !Is(args[i], "fields") {
			continue
		}
		n, ok := num.Int(args[i+1])
		fields = args[i+2:]
		switch {
		case !ok:
			return args[:i], nil, ErrNotInteger
		case n <= 0 || n > int64(len(fields)) || n*width != int64(len(fields)):
			return args[:i], nil, errNumFields
		}
		return args[:i], fields, nil
	}
	return nil, nil, errNumFields
}

// fieldTime reads a time for fields as Unix milliseconds. It may be past, but not negative.
func (c *Call) fieldTime(word timeWord, arg []byte) (int64, error) {
	n, ok := num.Int(arg)
	if !ok {
		return 0, ErrNotInteger
	}
	if n >= 0 {
		if at, ok := word.unixMilli(n, c.Now()); ok {
			return at, nil
		}
	}
	return 0, ErrExpireTime(c.Row.FullName())
}

// cmdHExpire handles HEXPIRE key seconds [NX | XX | GT | LT] FIELDS n field [field ...].
//
// Keys:    hash
// Reply:   array with 1 for each field that got the time, 2 removed since the time is past, 0 held back by the
// condition, -2 absent
// Errors:  options, number of fields, not an integer, invalid expire time, WRONGTYPE
// Effects: HPEXPIREAT for each field; HDEL when the time is past
func cmdHExpire(c *Call) error { return expireFields(c, timeEX) }

// cmdHPExpire handles HPEXPIRE as HEXPIRE, in milliseconds.
//
// Keys:    hash
// Reply:   as HEXPIRE
// Errors:  as HEXPIRE
// Effects: as HEXPIRE
func cmdHPExpire(c *Call) error { return expireFields(c, timePX) }

// cmdHExpireAt handles HEXPIREAT as HEXPIRE, with a Unix time in seconds.
//
// Keys:    hash
// Reply:   as HEXPIRE
// Errors:  as HEXPIRE
// Effects: as HEXPIRE
func cmdHExpireAt(c *Call) error { return expireFields(c, timeEXAT) }

// cmdHPExpireAt handles HPEXPIREAT as HEXPIRE, with a Unix time in milliseconds.
//
// Keys:    hash
// Reply:   as HEXPIRE
// Errors:  as HEXPIRE
// Effects: as HEXPIRE
func cmdHPExpireAt(c *Call) error { return expireFields(c, timePXAT) }

func expireFields(c *Call, word timeWord) error {
	options, fields, refusal := fieldArgs(c.Args[3:], 1)
	cond, err := parseExpireIf(options)
	if err != nil {
		return err
	}
	if refusal != nil {
		return refusal
	}
	at, err := c.fieldTime(word, c.Args[2])
	if err != nil {
		return err
	}
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	changed := false
	c.Reply.Array(len(fields))
	for _, field := range fields {
		code := expireField(c, &h, field, at, cond)
		changed = changed || code > 0
		c.Reply.Int(code)
	}
	tellFields(c, changed, at)
	return nil
}

// expireField gives one field the time at and returns the code that HEXPIRE replies. A time that is past takes the
// field whatever the condition says.
func expireField(c *Call, h *store.Hash, field []byte, at int64, cond expireIf) int64 {
	old, ok := h.FieldExpiry(field)
	past := at <= c.Now()
	switch {
	case !ok:
		return -2
	case !past && !cond.allows(old, at):
		return 0
	}
	h.ExpireField(field, at)
	if past {
		return 2
	}
	return 1
}

// tellFields announces that fields got the time at, or went because it is past.
func tellFields(c *Call, changed bool, at int64) {
	switch {
	case !changed:
	case at <= c.Now():
		c.Tx.Notify('h', "hexpired", c.Args[1])
	default:
		c.Tx.Notify('h', "hexpire", c.Args[1])
	}
}

// fieldList reads "FIELDS n field [field ...]", which is all of args.
func fieldList(args [][]byte) ([][]byte, error) {
	if !Is(args[0], "fields") {
		return nil, ErrSyntax
	}
	_, fields, err := fieldArgs(args, 1)
	return fields, err
}

// cmdHPersist handles HPERSIST key FIELDS n field [field ...].
//
// Keys:    hash
// Reply:   array with 1 for each field that had a time, -1 none, -2 absent
// Errors:  syntax, number of fields, WRONGTYPE
// Effects: HPERSIST for each field
func cmdHPersist(c *Call) error {
	fields, err := fieldList(c.Args[2:])
	if err != nil {
		return err
	}
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	changed := false
	c.Reply.Array(len(fields))
	for _, field := range fields {
		switch _, ok := h.FieldExpiry(field); {
		case !ok:
			c.Reply.Int(-2)
		case h.PersistField(field):
			changed = true
			c.Reply.Int(1)
		default:
			c.Reply.Int(-1)
		}
	}
	if changed {
		c.Tx.Notify('h', "hpersist", c.Args[1])
	}
	return nil
}

// cmdHTTL handles HTTL key FIELDS n field [field ...].
//
// Keys:    hash
// Reply:   array with the seconds left for each field, rounded; -1 no time, -2 absent
// Errors:  syntax, number of fields, WRONGTYPE
// Effects: none
func cmdHTTL(c *Call) error { return fieldTimes(c, c.Now(), 1000) }

// cmdHPTTL handles HPTTL as HTTL, in milliseconds.
//
// Keys:    hash
// Reply:   as HTTL
// Errors:  as HTTL
// Effects: none
func cmdHPTTL(c *Call) error { return fieldTimes(c, c.Now(), 1) }

// cmdHExpireTime handles HEXPIRETIME as HTTL, with Unix seconds.
//
// Keys:    hash
// Reply:   as HTTL
// Errors:  as HTTL
// Effects: none
func cmdHExpireTime(c *Call) error { return fieldTimes(c, 0, 1000) }

// cmdHPExpireTime handles HPEXPIRETIME as HTTL, with Unix milliseconds.
//
// Keys:    hash
// Reply:   as HTTL
// Errors:  as HTTL
// Effects: none
func cmdHPExpireTime(c *Call) error { return fieldTimes(c, 0, 1) }

// fieldTimes replies how long after since each field goes, in units of unit milliseconds.
func fieldTimes(c *Call, since, unit int64) error {
	fields, err := fieldList(c.Args[2:])
	if err == error(errNumFields) {
		return ErrSyntax
	}
	if err != nil {
		return err
	}
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Array(len(fields))
	for _, field := range fields {
		switch at, ok := h.FieldExpiry(field); {
		case !ok:
			c.Reply.Int(-2)
		case at == 0:
			c.Reply.Int(-1)
		default:
			left := at - since
			c.Reply.Int(left/unit + left%unit*2/unit) // the nearest
		}
	}
	return nil
}
