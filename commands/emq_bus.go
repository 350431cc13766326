package commands

import (
	"unicode/utf8"

	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

var emqBusRows = []Row{
	{
		Name: "emq.append", Family: "bus", Arity: -6, Flags: emqWrite | DenyOOM | Fast, Do: emqAppend,
		Keys: emqKeys, Layout: fence.Layout{fence.Stream}, Tokens: []string{"bus.append"},
		Syntax: "numkeys stream id field value [field value ...]", Since: "1.0.0", Complexity: "O(log N) where N is the number of entries",
		Summary: "Appends a record to a stream under the time and number in its branded id.",
	},
	{
		Name: "emq.failures.incr", Family: "bus", Arity: 4, Flags: emqWrite | DenyOOM | Fast, Do: emqFailuresIncr,
		Keys: emqKeys, Layout: fence.Layout{fence.Failures}, Tokens: []string{"bus.failures"},
		Syntax: "numkeys failures entry", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Counts a failure to handle an entry of a stream.",
	},
	{
		Name: "emq.publish", Family: "bus", Arity: -5, Flags: emqWrite | PubSub | Fast, Do: emqPublish,
		Keys:   []KeySpec{emqKeys[0], {Index: 2, Flags: KeyChannel}}, // the key is a channel's name
		Layout: fence.Layout{fence.Events}, Tokens: []string{"bus.publish"},
		Syntax: "numkeys events event id [field value [field value ...]]", Since: "1.0.0",
		Complexity: "O(S) where S is the number of subscribers",
		Summary:    "Publishes a lifecycle event of a job on the queue's channel.",
	},
}

// fieldRecordID is the first field of every stream record: its branded id.
var fieldRecordID = []byte("id")

// emqAppend handles EMQ.APPEND numkeys stream | id field value [field value ...].
//
// Keys:    stream of the bus
// Reply:   the branded id
// Errors:  arity when a field has no value, EMQKIND, ERR when the id is not above the stream's last one, WRONGTYPE
// Effects: XADD
func emqAppend(c *Call) error {
	if (len(c.Args)+c.Row.Arity)%2 != 0 {
		return ErrArity(c.Row.FullName())
	}
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	if err := v.open(); err != nil {
		return err
	}
	record, ok := fence.ParseEvent(v.args[0])
	if !ok {
		return fence.KindEvent
	}
	x, err := c.Tx.Stream(v.keys[0])
	if err != nil {
		return err
	}
	id := store.StreamID{Ms: uint64(record.UnixMilli()), Seq: uint64(record.Low22())}
	if !x.State().Last.Less(id) {
		return errXAddTop
	}
	if entryBytes(v.args) > maxEntryBytes {
		return errXAddLarge
	}
	if err := c.Guard(); err != nil {
		return err
	}
	// The stream's name stands right before the id: with the first field's name in its place for as long as it takes,
	// the arguments are the fields.
	fields := c.Args[2:]
	key := fields[0]
	fields[0] = fieldRecordID
	x.Add(id, fields)
	fields[0] = key
	c.Reply.Bulk(v.args[0])
	return nil
}

// emqFailuresIncr handles EMQ.FAILURES.INCR numkeys failures | entry.
//
// Keys:    hash of failure counters of a stream's group
// Reply:   the entry's new count
// Errors:  WRONGTYPE, ERR when the count is no integer or would overflow
// Effects: HSET
func emqFailuresIncr(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	if err := v.open(); err != nil {
		return err
	}
	if err := c.Guard(); err != nil {
		return err
	}
	failures, err := v.counter(v.keys[0], v.args[0], 1)
	if err != nil {
		return err
	}
	failures.write()
	c.Reply.Int(failures.n)
	return nil
}

// emqPublish handles EMQ.PUBLISH numkeys events | event id [field value ...].
//
// Keys:    the name of the events channel
// Reply:   how many clients received the event
// Errors:  arity when a field has no value
// Effects: none
func emqPublish(c *Call) error {
	if (len(c.Args)+c.Row.Arity)%2 != 0 {
		return ErrArity(c.Row.FullName())
	}
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	event, id, fields := v.args[0], v.args[1], v.args[2:]
	if err := v.open(); err != nil {
		return err
	}
	if err := c.Guard(); err != nil {
		return err
	}
	c.emq.buf = appendEvent(c.emq.buf, event, id, fields)
	c.Reply.Int(c.Host.Publish(v.keys[0], c.emq.buf))
	return nil
}

// appendEvent appends the JSON object of a lifecycle event, whose members are strings and stand in the order given.
func appendEvent(dst, event, id []byte, fields [][]byte) []byte {
	dst = append(dst, `{"event":`...)
	dst = appendJSON(dst, event)
	dst = append(dst, `,"job":`...)
	dst = appendJSON(dst, id)
	for ; len(fields) > 0; fields = fields[2:] {
		dst = append(dst, ',')
		dst = appendJSON(dst, fields[0])
		dst = append(dst, ':')
		dst = appendJSON(dst, fields[1])
	}
	return append(dst, '}')
}

// appendJSON appends text as a JSON string. What is not UTF-8 becomes the replacement character, since no
// JSON reader would take it.
func appendJSON(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for len(text) > 0 {
		c := text[0]
		size := 1
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ' || c == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			dst = append(dst, c)
		default:
			var r rune
			r, size = utf8.DecodeRune(text)
			dst = utf8.AppendRune(dst, r)
		}
		text = text[size:]
	}
	return append(dst, '"')
}
