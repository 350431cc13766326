package commands

import "github.com/echomq/emqd/store/num"

// expireSyntax is what the setters of an expiry time take behind key and time.
const expireSyntax = " [NX | XX | GT | LT]"

var expireRows = []Row{
	{
		Name: "expire", Family: "generic", Arity: -3, Flags: Write | Fast, Do: cmdExpire,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key seconds" + expireSyntax, Since: "1.0.0",
		Summary: "Gives a key a time to live in seconds.", Complexity: "O(1)",
	},
	{
		Name: "pexpire", Family: "generic", Arity: -3, Flags: Write | Fast, Do: cmdPExpire,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key milliseconds" + expireSyntax, Since: "2.6.0",
		Summary: "Gives a key a time to live in milliseconds.", Complexity: "O(1)",
	},
	{
		Name: "expireat", Family: "generic", Arity: -3, Flags: Write | Fast, Do: cmdExpireAt,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key unix-time-seconds" + expireSyntax, Since: "1.2.0",
		Summary: "Gives a key the Unix time in seconds at which it goes.", Complexity: "O(1)",
	},
	{
		Name: "pexpireat", Family: "generic", Arity: -3, Flags: Write | Fast, Do: cmdPExpireAt,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key unix-time-milliseconds" + expireSyntax, Since: "2.6.0",
		Summary: "Gives a key the Unix time in milliseconds at which it goes.", Complexity: "O(1)",
	},
	{
		Name: "persist", Family: "generic", Arity: 2, Flags: Write | Fast, Do: cmdPersist,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key", Since: "2.2.0",
		Summary: "Clears the expiry time of a key.", Complexity: "O(1)",
	},
	{
		Name: "ttl", Tips: []string{TipVaries}, Family: "generic", Arity: 2, Flags: ReadOnly | Fast, Do: cmdTTL,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key", Since: "1.0.0",
		Summary: "Tells the time to live of a key in seconds.", Complexity: "O(1)",
	},
	{
		Name: "pttl", Tips: []string{TipVaries}, Family: "generic", Arity: 2, Flags: ReadOnly | Fast, Do: cmdPTTL,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key", Since: "2.6.0",
		Summary: "Tells the time to live of a key in milliseconds.", Complexity: "O(1)",
	},
	{
		Name: "expiretime", Family: "generic", Arity: 2, Flags: ReadOnly | Fast, Do: cmdExpireTime,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key", Since: "7.0.0",
		Summary: "Tells the Unix time in seconds at which a key goes.", Complexity: "O(1)",
	},
	{
		Name: "pexpiretime", Family: "generic", Arity: 2, Flags: ReadOnly | Fast, Do: cmdPExpireTime,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key", Since: "7.0.0",
		Summary: "Tells the Unix time in milliseconds at which a key goes.", Complexity: "O(1)",
	},
}

// cmdExpire handles EXPIRE key seconds [NX | XX | GT | LT].
//
// Keys:    any
// Reply:   1, or 0 when the key is absent or a condition does not hold
// Errors:  conditions that exclude each other or are unknown; no integer; beyond what milliseconds can say
// Effects: PEXPIREAT, or DEL when the time has come
func cmdExpire(c *Call) error { return c.expire(timeEX) }

// cmdPExpire handles PEXPIRE key milliseconds [NX | XX | GT | LT], otherwise as EXPIRE.
func cmdPExpire(c *Call) error { return c.expire(timePX) }

// cmdExpireAt handles EXPIREAT key unix-time-seconds [NX | XX | GT | LT], otherwise as EXPIRE.
func cmdExpireAt(c *Call) error { return c.expire(timeEXAT) }

// cmdPExpireAt handles PEXPIREAT key unix-time-milliseconds [NX | XX | GT | LT], otherwise as EXPIRE.
func cmdPExpireAt(c *Call) error { return c.expire(timePXAT) }

func (c *Call) expire(word timeWord) error {
	key := c.Args[1]
	when, err := parseExpireIf(c.Args[3:])
	if err != nil {
		return err
	}
	n, ok := num.Int(c.Args[2])
	if !ok {
		return ErrNotInteger
	}
	at, ok := word.unixMilli(n, c.Now())
	if !ok {
		return ErrExpireTime(c.Row.FullName())
	}
	old, there := c.Tx.Expiry(key)
	if !there || !when.allows(old, at) {
		c.Reply.Int(0)
		return nil
	}
	c.Tx.ExpireAt(key, at)
	if at <= c.Now() {
		c.Tx.Notify('g', "del", key)
	} else {
		c.Tx.Notify('g', "expire", key)
	}
	c.Reply.Int(1)
	return nil
}

// cmdPersist handles PERSIST key.
//
// Keys:    any
// Reply:   1, or 0 when the key is absent or has no expiry time
// Effects: PERSIST
func cmdPersist(c *Call) error {
	done := c.Tx.Persist(c.Args[1])
	if done {
		c.Tx.Notify('g', "persist", c.Args[1])
	}
	c.Reply.Flag(done)
	return nil
}

// cmdTTL handles TTL key.
//
// Keys:    any
// Reply:   seconds to live, rounded; -1 without an expiry time, -2 when the key is absent
// Effects: none
func cmdTTL(c *Call) error { return c.lifetime(c.Now(), 1000) }

// cmdPTTL handles PTTL key, in milliseconds, otherwise as TTL.
func cmdPTTL(c *Call) error { return c.lifetime(c.Now(), 1) }

// cmdExpireTime handles EXPIRETIME key.
//
// Keys:    any
// Reply:   Unix seconds, rounded; -1 without an expiry time, -2 when the key is absent
// Effects: none
func cmdExpireTime(c *Call) error { return c.lifetime(0, 1000) }

// cmdPExpireTime handles PEXPIRETIME key, in milliseconds, otherwise as EXPIRETIME.
func cmdPExpireTime(c *Call) error { return c.lifetime(0, 1) }

// lifetime replies the expiry time of the key as a distance from since, in units of so many milliseconds.
func (c *Call) lifetime(since, unit int64) error {
	at, ok := c.Tx.Expiry(c.Args[1])
	switch {
	case !ok:
		c.Reply.Int(-2)
	case at == 0:
		c.Reply.Int(-1)
	default:
		// Halves are rounded up without an overflow near the largest time.
		left := at - since
		n := left / unit
		if left%unit*2 >= unit && unit > 1 {
			n++
		}
		c.Reply.Int(n)
	}
	return nil
}
