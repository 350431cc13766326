package commands

import "github.com/echomq/emqd/store"

var streamGroupRows = []Row{
	{
		Name: "xgroup", Family: "stream", Arity: -2, Since: "5.0.0",
		Summary: "A container for commands about consumer groups.", Complexity: "Depends on subcommand.",
		Subs: []Row{
			{
				Name: "create", Arity: -5, Flags: Write | DenyOOM, Do: cmdXGroupCreate,
				Keys:   []KeySpec{{Index: 2, Flags: KeyRW | KeyInsert}},
				Syntax: "key group <id | $> [MKSTREAM] [ENTRIESREAD entries-read:integer]", Since: "5.0.0",
				Summary: "Creates a consumer group.", Complexity: "O(1)",
			},
			{
				Name: "setid", Arity: -5, Flags: Write, Do: cmdXGroupSetID,
				Keys:   []KeySpec{{Index: 2, Flags: KeyRW | KeyUpdate}},
				Syntax: "key group <id | $> [ENTRIESREAD entries-read:integer]", Since: "5.0.0",
				Summary: "Sets up to which id a group has read.", Complexity: "O(1)",
			},
			{
				Name: "destroy", Arity: 4, Flags: Write, Do: cmdXGroupDestroy,
				Keys:   []KeySpec{{Index: 2, Flags: KeyRW | KeyDelete}},
				Syntax: "key group", Since: "5.0.0", Summary: "Removes a consumer group.", Complexity: "O(1)",
			},
			{
				Name: "createconsumer", Arity: 5, Flags: Write | DenyOOM, Do: cmdXGroupCreateConsumer,
				Keys:   []KeySpec{{Index: 2, Flags: KeyRW | KeyInsert}},
				Syntax: "key group consumer", Since: "6.2.0", Summary: "Creates a consumer in a group.", Complexity: "O(1)",
			},
			{
				Name: "delconsumer", Arity: 5, Flags: Write, Do: cmdXGroupDelConsumer,
				Keys:   []KeySpec{{Index: 2, Flags: KeyRW | KeyDelete}},
				Syntax: "key group consumer", Since: "5.0.0",
				Summary:    "Removes a consumer from a group, with the entries it has pending.",
				Complexity: "O(N log P) where N is the number of its pending entries and P of the group's",
			},
			HelpRow("5.0.0"),
		},
	},
	{
		Name: "xack", Family: "stream", Arity: -4, Flags: Write | Fast, Do: cmdXAck,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key group id [id ...]", Since: "5.0.0",
		Summary:    "Acknowledges entries that were delivered to a group and returns how many were pending.",
		Complexity: "O(log P) for each id where P is the number of pending entries",
	},
}

// Refusals of groups.
const (
	errGroupKey  Error = "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically."
	errGroupBusy Error = "BUSYGROUP Consumer Group name already exists"
	errGroupRead Error = "ERR value for ENTRIESREAD must be positive or -1"
)

// noGroupOf is the refusal of a group that the stream at key has not.
func noGroupOf(key, group []byte) Error {
	return Error("NOGROUP No such consumer group '" + Echo(group) + "' for key name '" + Echo(key) + "'")
}

// groupOptions are the options of XGROUP CREATE and SETID.
type groupOptions struct {
	make bool
	read int64
}

// parseGroupOptions reads the options behind the id. Only CREATE knows MKSTREAM.
func parseGroupOptions(c *Call, create bool) (o groupOptions, err error) {
	o.read = -1
	for options := c.Args[5:]; len(options) > 0; {
		switch {
		case create && Is(options[0], "mkstream"):
			o.make = true
			options = options[1:]
		case len(options) > 1 && Is(options[0], "entriesread"):
			if o.read, err = integer(options[1]); err != nil {
				return o, err
			}
			if o.read < -1 {
				return o, errGroupRead
			}
			options = options[2:]
		default:
			return o, ErrSubSyntax(c.Args)
		}
	}
	return o, nil
}

// openGroup opens the stream and the group of an XGROUP call whose group must be there.
func openGroup(c *Call) (x store.Stream, err error) {
	if x, err = c.Tx.Stream(c.Args[2]); err != nil {
		return x, err
	}
	if !x.Exists() {
		return x, errGroupKey
	}
	if _, ok := x.Group(c.Args[3]); !ok {
		return x, noGroupOf(c.Args[2], c.Args[3])
	}
	return x, nil
}

// cmdXGroupCreate handles XGROUP CREATE key group id|$ [MKSTREAM] [ENTRIESREAD entries-read].
//
// Keys:    stream
// Reply:   OK
// Errors:  ERR when the key is absent, on a bad id or number, BUSYGROUP, WRONGTYPE
// Effects: XGROUP CREATE with MKSTREAM and ENTRIESREAD
func cmdXGroupCreate(c *Call) error {
	o, err := parseGroupOptions(c, true)
	if err != nil {
		return err
	}
	x, err := c.Tx.Stream(c.Args[2])
	switch {
	case err != nil:
		return err
	case !o.make && !x.Exists():
		return errGroupKey
	case len(c.Args) > 8:
		return ErrSubSyntax(c.Args)
	}
	last := x.State().Last
	if string(c.Args[4]) != "$" {
		if last, err = streamID(c.Args[4], 0); err != nil {
			return err
		}
	}
	if _, ok := x.Group(c.Args[3]); ok {
		return errGroupBusy
	}
	x.CreateGroup(c.Args[3], last, o.read)
	c.Tx.Notify('t', "xgroup-create", c.Args[2])
	c.Reply.OK()
	return nil
}

// cmdXGroupSetID handles XGROUP SETID key group id|$ [ENTRIESREAD entries-read].
//
// Keys:    stream
// Reply:   OK
// Errors:  ERR when the key is absent, on a bad id or number, NOGROUP, WRONGTYPE
// Effects: XGROUP SETID with ENTRIESREAD
func cmdXGroupSetID(c *Call) error {
	o, err := parseGroupOptions(c, false)
	if err != nil {
		return err
	}
	x, err := openGroup(c)
	if err != nil {
		return err
	}
	if len(c.Args) != 5 && len(c.Args) != 7 {
		return ErrSubSyntax(c.Args)
	}
	last := x.State().Last
	if string(c.Args[4]) != "$" {
		if last, err = streamIDOrEdge(c.Args[4], 0); err != nil {
			return err
		}
	}
	g, _ := x.Group(c.Args[3])
	g.SetLast(last, o.read)
	c.Tx.Notify('t', "xgroup-setid", c.Args[2])
	c.Reply.OK()
	return nil
}

// cmdXGroupDestroy handles XGROUP DESTROY key group.
//
// Keys:    stream
// Reply:   1, or 0 when there is no such group
// Errors:  ERR when the key is absent, WRONGTYPE
// Effects: XGROUP DESTROY
func cmdXGroupDestroy(c *Call) error {
	x, err := c.Tx.Stream(c.Args[2])
	if err != nil {
		return err
	}
	if !x.Exists() {
		return errGroupKey
	}
	destroyed := x.DestroyGroup(c.Args[3])
	if destroyed {
		c.Tx.Notify('t', "xgroup-destroy", c.Args[2])
	}
	c.Reply.Flag(destroyed)
	return nil
}

// cmdXGroupCreateConsumer handles XGROUP CREATECONSUMER key group consumer.
//
// Keys:    stream
// Reply:   1, or 0 when the consumer is there already
// Errors:  ERR when the key is absent, NOGROUP, WRONGTYPE
// Effects: XGROUP CREATECONSUMER
func cmdXGroupCreateConsumer(c *Call) error {
	x, err := openGroup(c)
	if err != nil {
		return err
	}
	g, _ := x.Group(c.Args[3])
	_, created := g.CreateConsumer(c.Args[4])
	if created {
		c.Tx.Notify('t', "xgroup-createconsumer", c.Args[2])
	}
	c.Reply.Flag(created)
	return nil
}

// cmdXGroupDelConsumer handles XGROUP DELCONSUMER key group consumer.
//
// Keys:    stream
// Reply:   how many entries the consumer had pending
// Errors:  ERR when the key is absent, NOGROUP, WRONGTYPE
// Effects: XGROUP DELCONSUMER
func cmdXGroupDelConsumer(c *Call) error {
	x, err := openGroup(c)
	if err != nil {
		return err
	}
	g, _ := x.Group(c.Args[3])
	pending, ok := g.DeleteConsumer(c.Args[4])
	if ok {
		c.Tx.Notify('t', "xgroup-delconsumer", c.Args[2])
	}
	c.Reply.Int(int64(pending))
	return nil
}

// cmdXAck handles XACK key group id [id ...].
//
// Keys:    stream
// Reply:   how many of the entries were pending
// Errors:  ERR on a bad id, WRONGTYPE
// Effects: XACK
func cmdXAck(c *Call) error {
	x, err := c.Tx.Stream(c.Args[1])
	if err != nil {
		return err
	}
	g, ok := x.Group(c.Args[2])
	if !ok {
		c.Reply.Int(0)
		return nil
	}
	ids := c.Args[3:]
	if err := checkStreamIDs(ids); err != nil {
		return err
	}
	acked := 0
	for _, text := range ids {
		if id, _ := streamID(text, 0); g.Ack(id) {
			acked++
		}
	}
	c.Reply.Int(int64(acked))
	return nil
}
