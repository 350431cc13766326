package commands

import "github.com/echomq/emqd/store/num"

var stringReadRows = []Row{
	{
		Name: "get", Family: "string", Arity: 2, Flags: ReadOnly | Fast, Do: cmdGet,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key", Since: "1.0.0",
		Summary: "Reads a string.", Complexity: "O(1)",
	},
	{
		Name: "mget", Tips: []string{"request_policy:multi_shard"}, Family: "string", Arity: -2, Flags: ReadOnly | Fast, Do: cmdMGet,
		Keys:   []KeySpec{{Index: 1, Last: -1, Step: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key [key ...]", Since: "1.0.0",
		Summary: "Returns the string values of several keys.", Complexity: "O(N) where N is the number of keys",
	},
	{
		Name: "strlen", Family: "string", Arity: 2, Flags: ReadOnly | Fast, Do: cmdStrLen,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO}},
		Syntax: "key", Since: "2.2.0",
		Summary: "Returns the length of a string value in bytes.", Complexity: "O(1)",
	},
	{
		Name: "getrange", Family: "string", Arity: 4, Flags: ReadOnly, Do: cmdGetRange,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key start end:integer", Since: "2.4.0",
		Summary: "Returns a part of a string value.", Complexity: "O(N) where N is the length of the part",
	},
	{
		Name: "substr", Family: "string", Arity: 4, Flags: ReadOnly, Do: cmdGetRange,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key start end:integer", Since: "1.0.0",
		Summary: "Returns a part of a string value; the old name of GETRANGE.", Complexity: "O(N) where N is the length of the part",
	},
	{
		Name: "lcs", Family: "string", Arity: -3, Flags: ReadOnly, Do: cmdLCS,
		Keys:   []KeySpec{{Index: 1, Last: 1, Step: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key1:key key2:key [LEN] [IDX] [MINMATCHLEN min-match-len:integer] [WITHMATCHLEN]", Since: "7.0.0",
		Summary: "Returns the longest common subsequence of two string values.", Complexity: "O(N*M) where N and M are the lengths of the values",
	},
}

// replyValue appends the string at key, or null.
func replyValue(c *Call, key []byte) error {
	value, ok, err := c.Tx.Value(key)
	if err != nil {
		return err
	}
	if ok {
		c.Reply.Bulk(value)
	} else {
		c.Reply.Null()
	}
	return nil
}

// cmdGet handles GET key.
//
// Keys:    string
// Reply:   the value, or null
// Errors:  WRONGTYPE
// Effects: none
func cmdGet(c *Call) error { return replyValue(c, c.Args[1]) }

// cmdMGet handles MGET key [key ...].
//
// Keys:    any kind; one that holds no string counts as absent
// Reply:   array of values and nulls
// Errors:  none
// Effects: none
func cmdMGet(c *Call) error {
	c.Reply.Array(len(c.Args) - 1)
	for _, key := range c.Args[1:] {
		if value, ok, err := c.Tx.Value(key); ok && err == nil {
			c.Reply.Bulk(value)
		} else {
			c.Reply.Null()
		}
	}
	return nil
}

// cmdStrLen handles STRLEN key.
//
// Keys:    string
// Reply:   length in bytes, 0 when the key is absent
// Errors:  WRONGTYPE
// Effects: none
func cmdStrLen(c *Call) error {
	value, _, err := c.Tx.Value(c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Int(int64(len(value)))
	return nil
}

// cmdGetRange handles GETRANGE key start end and SUBSTR.
//
// Keys:    string
// Reply:   the bytes from start to end, both included; negative positions count from the end
// Errors:  not an integer, WRONGTYPE
// Effects: none
func cmdGetRange(c *Call) error {
	start, ok1 := num.Int(c.Args[2])
	end, ok2 := num.Int(c.Args[3])
	if !ok1 || !ok2 {
		return ErrNotInteger
	}
	value, _, err := c.Tx.Value(c.Args[1])
	if err != nil {
		return err
	}
	from, to := span(start, end, int64(len(value)))
	c.Reply.Bulk(value[from:to])
	return nil
}

// span turns the positions start and end, both included and negative ones counted from the end, into a half-open
// range of n elements. An empty range is 0, 0.
func span(start, end, n int64) (from, to int64) {
	if start < 0 && end < 0 && start > end {
		return 0, 0
	}
	return clampedSpan(start, end, n)
}

// clampedSpan is span, except that positions before the beginning count as the beginning even when they are in
// the wrong order.
func clampedSpan(start, end, n int64) (from, to int64) {
	if start < 0 {
		start = max(start+n, 0)
	}
	if end < 0 {
		end = max(end+n, 0)
	}
	end = min(end, n-1)
	if start > end {
		return 0, 0
	}
	return start, end + 1
}
