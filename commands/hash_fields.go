package commands

import "github.com/echomq/emqd/store"

var hashFieldRows = []Row{
	{
		Name: "hgetex", Family: "hash", Arity: -5, Flags: Write | Fast, Do: cmdHGetEX,
		Keys: []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess}},
		Syntax: "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST] " +
			"FIELDS numfields field [field ...]",
		Since:   "9.0.0",
		Summary: "Returns the values of fields of a hash after setting or clearing their expiry times.", Complexity: "O(N), N being the fields named",
	},
	{
		Name: "hsetex", Family: "hash", Arity: -6, Flags: Write | DenyOOM | Fast, Do: cmdHSetEX,
		Keys: []KeySpec{{Index: 1, Flags: KeyRW | KeyInsert}},
		Syntax: "key [NX | XX] [FNX | FXX] [EX seconds | PX milliseconds | EXAT unix-time-seconds | " +
			"PXAT unix-time-milliseconds | KEEPTTL] FIELDS numfields field value [field value ...]",
		Since:   "9.0.0",
		Summary: "Sets the values of fields of a hash and their expiry time.", Complexity: "O(N), N being the fields named",
	},
	{
		Name: "hgetdel", Family: "hash", Arity: -5, Flags: Write | Fast, Do: cmdHGetDel,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyDelete}},
		Syntax: "key FIELDS numfields field [field ...]", Since: "9.1.0",
		Summary: "Returns the values of fields of a hash after deleting them.", Complexity: "O(N), N being the fields named",
	},
}

// cmdHGetEX handles HGETEX key [EX | PX | EXAT | PXAT time | PERSIST] FIELDS n field [field ...].
//
// Keys:    hash
// Reply:   array of values and nulls
// Errors:  syntax, number of fields, WRONGTYPE, invalid expire time
// Effects: HPEXPIREAT or HPERSIST for each field; HDEL when the time is past
func cmdHGetEX(c *Call) error {
	options, fields, refusal := fieldArgs(c.Args[2:], 1)
	o, err := parseGetEX(options)
	if err != nil {
		return err
	}
	if refusal != nil {
		return refusal
	}
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	at := int64(0)
	if o.word != timeNone {
		if at, err = c.fieldTime(o.word, o.time); err != nil {
			return err
		}
	}
	changed := false
	c.Reply.Array(len(fields))
	for _, field := range fields {
		replyField(c, &h, field)
		switch {
		case o.persist:
			changed = h.PersistField(field) || changed
		case o.word != timeNone:
			changed = h.ExpireField(field, at) || changed
		}
	}
	switch {
	case changed && o.persist:
		c.Tx.Notify('h', "hpersist", c.Args[1])
	case changed:
		tellFields(c, true, at)
	}
	return nil
}

// hsetexOptions are the words between the key and FIELDS of HSETEX.
type hsetexOptions struct {
	setOptions
	fnx, fxx bool
}

func parseHSetEX(args [][]byte) (o hsetexOptions, err error) {
	for i := 0; i < len(args); i++ {
		word := timeWordOf(args[i])
		switch {
		case word != timeNone && i+1 < len(args) && !o.timed(word):
			i++
			o.word, o.time = word, args[i]
		case Is(args[i], "keepttl") && o.word == timeNone:
			o.keep = true
		case Is(args[i], "nx") && !o.xx:
			o.nx = true
		case Is(args[i], "xx") && !o.nx:
			o.xx = true
		case Is(args[i], "fnx") && !o.fxx:
			o.fnx = true
		case Is(args[i], "fxx") && !o.fnx:
			o.fxx = true
		default:
			return o, ErrSyntax
		}
	}
	return o, nil
}

// holds reports whether the conditions on the fields hold.
func (o *hsetexOptions) holds(h *store.Hash, pairs [][]byte) bool {
	if !o.fnx && !o.fxx {
		return true
	}
	for i := 0; i < len(pairs); i += 2 {
		if _, ok := h.Get(pairs[i]); ok != o.fxx {
			return false
		}
	}
	return true
}

// cmdHSetEX handles HSETEX key [NX | XX] [FNX | FXX] [EX | PX | EXAT | PXAT time | KEEPTTL] FIELDS n field value [...].
//
// Keys:    hash
// Reply:   1 when all fields were set, 0 when a condition does not hold; when the time is past 1 when all fields were
// there and are removed, else 0
// Errors:  syntax, number of fields, WRONGTYPE, invalid expire time
// Effects: HSET, then HPEXPIREAT for each field; HDEL when the time is past
func cmdHSetEX(c *Call) error {
	options, pairs, refusal := fieldArgs(c.Args[2:], 2)
	o, err := parseHSetEX(options)
	if err != nil {
		return err
	}
	if refusal != nil {
		return refusal
	}
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	if o.nx && h.Exists() || o.xx && !h.Exists() {
		c.Reply.Int(0)
		return nil
	}
	at := int64(0)
	if o.word != timeNone {
		if at, err = c.fieldTime(o.word, o.time); err != nil {
			return err
		}
	}
	switch {
	case !o.holds(&h, pairs):
		c.Reply.Int(0)
	case o.word != timeNone && at <= c.Now():
		removed := 0
		for i := 0; i < len(pairs); i += 2 {
			if h.ExpireField(pairs[i], at) {
				removed++
			}
		}
		tellFields(c, removed > 0, at)
		c.Reply.Flag(removed == len(pairs)/2)
	default:
		o.set(&h, pairs, at)
		c.Tx.Notify('h', "hset", c.Args[1])
		tellFields(c, o.word != timeNone, at)
		c.Reply.Int(1)
	}
	return nil
}

// set sets the pairs with the time at, 0 for none.
func (o *hsetexOptions) set(h *store.Hash, pairs [][]byte, at int64) {
	for i := 0; i < len(pairs); i += 2 {
		if o.keep {
			setKeepingTime(h, pairs[i], pairs[i+1])
		} else {
			h.Set(pairs[i], pairs[i+1])
		}
	}
	for i := 0; i < len(pairs) && at != 0; i += 2 {
		h.ExpireField(pairs[i], at)
	}
}

// cmdHGetDel handles HGETDEL key FIELDS n field [field ...].
//
// Keys:    hash
// Reply:   array of values and nulls
// Errors:  syntax, number of fields, WRONGTYPE
// Effects: HDEL
func cmdHGetDel(c *Call) error {
	fields, err := fieldList(c.Args[2:])
	if err != nil {
		return err
	}
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	removed := false
	c.Reply.Array(len(fields))
	for _, field := range fields {
		replyField(c, &h, field)
		removed = h.Delete(field) || removed
	}
	if removed {
		c.Tx.Notify('h', "hdel", c.Args[1])
	}
	return nil
}
