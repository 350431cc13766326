package commands

import "github.com/echomq/emqd/store"

var streamReadRows = []Row{
	{
		Name: "xread", Family: "stream", Arity: -4, Flags: ReadOnly | Blocking | MovableKeys, Do: cmdXRead,
		Keys:   []KeySpec{{Keyword: "STREAMS", From: 1, Last: -1, Step: 1, Limit: 2, Flags: KeyRO | KeyAccess}},
		Syntax: "[COUNT count] [BLOCK milliseconds] <STREAMS key [key ...] id [id ...]>", Since: "5.0.0",
		Summary:    "Returns the entries of streams above the ids given, waiting for one when told to.",
		Complexity: "O(log N + M) for each stream where M is the number of entries returned",
	},
	{
		Name: "xreadgroup", Family: "stream", Arity: -7, Flags: Write | Blocking | MovableKeys, Do: cmdXReadGroup,
		Keys:   []KeySpec{{Keyword: "STREAMS", From: 4, Last: -1, Step: 1, Limit: 2, Flags: KeyRO | KeyAccess}},
		Syntax: "<GROUP group consumer> [COUNT count] [BLOCK milliseconds] [NOACK] <STREAMS key [key ...] id [id ...]>", Since: "5.0.0",
		Summary:    "Delivers entries of streams that a group has not read to one of its consumers, or returns the consumer's pending ones.",
		Complexity: "O(log N + M log P) for each stream where M is the number of entries returned and P of those pending",
	},
}

// Refusals of reads.
const (
	errReadNoGroup    Error = "ERR Missing GROUP option for XREADGROUP"
	errReadGroup      Error = "ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead."
	errReadNoAck      Error = "ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead."
	errReadNew        Error = "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option."
	errReadLastGroup  Error = "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set."
	errReadFinalGroup Error = "ERR The + ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The + ID would just return an empty result set."
	errReadEmpty      Error = "ERR the stream last element ID is 0-0"
)

// streamReads is what XREAD or XREADGROUP is asked for.
type streamReads struct {
	group, consumer []byte
	noAck           bool
	count           int
	block           bool
	until           int64
	keys, ids       [][]byte
	from            int // the argument that the first id is
}

// parseReads reads the arguments of XREAD, or of XREADGROUP.
func parseReads(c *Call, grouped bool) (r streamReads, err error) {
	for i := 1; i < len(c.Args); i++ {
		word, more := c.Args[i], len(c.Args)-i-1
		switch {
		case more > 0 && Is(word, "block"):
			i++
			r.block = true
			r.until, err = c.DeadlineMillis(c.Args[i])
		case more > 0 && Is(word, "count"):
			i++
			r.count, err = countOf(c.Args[i])
		case more > 0 && Is(word, "streams"):
			return r, r.takeStreams(c, i+1, grouped)
		case more > 1 && Is(word, "group"):
			if !grouped {
				return r, errReadGroup
			}
			r.group, r.consumer = c.Args[i+1], c.Args[i+2]
			i += 2
		case Is(word, "noack"):
			if !grouped {
				return r, errReadNoAck
			}
			r.noAck = true
		default:
			return r, ErrSyntax
		}
		if err != nil {
			return r, err
		}
	}
	return r, ErrSyntax
}

// takeStreams takes the arguments behind STREAMS, keys and then as many ids.
func (r *streamReads) takeStreams(c *Call, first int, grouped bool) error {
	n := len(c.Args) - first
	if n%2 != 0 {
		symbol := "$"
		if grouped {
			symbol = ">"
		}
		return Error("ERR Unbalanced '" + c.Row.FullName() + "' list of streams: for each stream key an ID or '" + symbol +
			"' must be specified.")
	}
	r.from = first + n/2
	r.keys, r.ids = c.Args[first:r.from], c.Args[r.from:]
	if grouped && r.group == nil {
		return errReadNoGroup
	}
	return nil
}

// cmdXRead handles XREAD [COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...].
//
// Keys:    streams
// Reply:   the streams that have entries above their ids, each with these entries: a map by key; null when none has
// Errors:  ERR on a bad option, number or id, WRONGTYPE
// Effects: none
func cmdXRead(c *Call) error {
	r, err := parseReads(c, false)
	if err != nil {
		return err
	}
	for i := range r.keys {
		if _, _, err := r.after(c, i); err != nil && !(c.Again && err == error(store.ErrWrongType)) {
			return err
		}
	}
	served, mark := 0, c.Reply.Later()
	for i, key := range r.keys {
		x, after, err := r.after(c, i)
		if err != nil || !after.Less(x.Top()) {
			continue
		}
		served++
		writeStreamKey(c.Reply, key)
		from, _ := after.Next()
		writeRange(c.Reply, &x, from, store.MaxStreamID, r.count, false)
	}
	return r.finish(c, served, mark)
}

// after opens stream i and reads the id above which entries are wanted: $ is the last one, + the one before the
// last.
func (r *streamReads) after(c *Call, i int) (x store.Stream, id store.StreamID, err error) {
	if x, err = c.Tx.Stream(r.keys[i]); err != nil {
		return x, id, err
	}
	switch text := r.ids[i]; string(text) {
	case "$":
		id = x.State().Last
	case "+":
		if !x.Exists() {
			break
		}
		var ok bool
		if id, ok = x.State().Last.Prev(); !ok {
			err = errReadEmpty
		}
	case ">":
		err = errReadNew
	default:
		id, err = streamID(text, 0)
	}
	return x, id, err
}

// writeStreamKey begins the reply about one stream.
func writeStreamKey(r *Reply, key []byte) {
	if !r.RESP3() {
		r.Array(2)
	}
	r.Bulk(key)
}

// finish heads the reply about the streams that were served. When there is none the call waits, or answers null.
func (r *streamReads) finish(c *Call, served, mark int) error {
	switch {
	case served > 0 && c.Reply.RESP3():
		c.Reply.Fill(mark, func() { c.Reply.Map(served) })
	case served > 0:
		c.Reply.Fill(mark, func() { c.Reply.Array(served) })
	case r.block && c.MayBlock:
		r.pin(c)
		return c.Wait(r.until, r.keys...)
	default:
		c.Reply.NullArray()
	}
	return nil
}

// pin puts the id that $ stands for now into the arguments, with which the call runs again.
func (r *streamReads) pin(c *Call) {
	for i, text := range r.ids {
		if string(text) != "$" {
			continue
		}
		if x, err := c.Tx.Stream(r.keys[i]); err == nil {
			c.Args[r.from+i] = x.State().Last.Append(nil)
		}
	}
}

// cmdXReadGroup handles XREADGROUP GROUP group consumer [COUNT count] [BLOCK milliseconds] [NOACK] STREAMS key [key
// ...] id [id ...].
//
// Keys:    streams
// Reply:   as XREAD; a stream whose id is not > is always there, with the consumer's pending entries above the id, null in
// place of the fields of one that is gone
// Errors:  ERR on a bad option, number or id, NOGROUP, WRONGTYPE
// Effects: XGROUP CREATECONSUMER, XCLAIM for each entry, XGROUP SETID
func cmdXReadGroup(c *Call) error {
	r, err := parseReads(c, true)
	if err != nil {
		return err
	}
	for i := range r.keys {
		if err := r.checkGroup(c, i); err != nil {
			return err
		}
	}
	served, mark := 0, c.Reply.Later()
	for i, key := range r.keys {
		x, err := c.Tx.Stream(key)
		if err != nil {
			return err
		}
		g, _ := x.Group(r.group)
		consumer, created := g.CreateConsumer(r.consumer)
		if created {
			c.Tx.Notify('t', "xgroup-createconsumer", key)
		}
		isNew := isNewID(r.ids[i])
		if isNew && !g.Last().Less(x.Top()) {
			if !c.Again {
				consumer.See()
			}
			continue
		}
		consumer.See()
		served++
		writeStreamKey(c.Reply, key)
		if isNew {
			r.deliver(c, &consumer)
		} else {
			r.history(c, &consumer, r.ids[i])
		}
	}
	return r.finish(c, served, mark)
}

// isNewID reports whether an id of XREADGROUP asks for what the group has not read: > and, since Valkey spells that so
// inside, the highest id.
func isNewID(text []byte) bool {
	if string(text) == ">" {
		return true
	}
	id, err := streamID(text, 0)
	return err == nil && id == store.MaxStreamID
}

// checkGroup refuses stream i unless it has the group and its id makes sense.
func (r *streamReads) checkGroup(c *Call, i int) error {
	key := r.keys[i]
	x, err := c.Tx.Stream(key)
	if err != nil {
		return err
	}
	if _, ok := x.Group(r.group); !ok {
		return noGroup(key, r.group, " in XREADGROUP with GROUP option")
	}
	switch string(r.ids[i]) {
	case "$":
		return errReadLastGroup
	case "+":
		return errReadFinalGroup
	case ">":
		return nil
	}
	_, err = streamID(r.ids[i], 0)
	return err
}

// deliver replies entries that the group has not read.
func (r *streamReads) deliver(c *Call, consumer *store.StreamConsumer) {
	mark := c.Reply.Later()
	n := consumer.Next(r.count, r.noAck, func(e store.StreamEntry) { writeEntry(c.Reply, e) })
	c.Reply.Fill(mark, func() { c.Reply.Array(n) })
}

// history replies the consumer's pending entries above an id.
func (r *streamReads) history(c *Call, consumer *store.StreamConsumer, after []byte) {
	id, _ := streamID(after, 0)
	from, _ := id.Next()
	mark := c.Reply.Later()
	n := consumer.History(from, r.count, func(id store.StreamID, e store.StreamEntry, there bool) {
		if there {
			writeEntry(c.Reply, e)
			return
		}
		c.Reply.Array(2)
		writeStreamID(c.Reply, id)
		c.Reply.NullArray()
	})
	c.Reply.Fill(mark, func() { c.Reply.Array(n) })
}
