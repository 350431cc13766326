package commands

import "github.com/echomq/emqd/store"

var streamInfoRows = []Row{
	{
		Name: "xinfo", Family: "stream", Arity: -2, Since: "5.0.0",
		Summary: "A container for commands that look into streams.", Complexity: "Depends on subcommand.",
		Subs: []Row{
			{
				Name: "stream", Arity: -3, Flags: ReadOnly, Do: cmdXInfoStream,
				Keys:   []KeySpec{{Index: 2, Flags: KeyRO | KeyAccess}},
				Syntax: "key [FULL [COUNT count]]", Since: "5.0.0",
				Summary: "Tells about a stream.", Complexity: "O(1), and O(N) with FULL where N is what is returned",
			},
			{
				Name: "groups", Arity: 3, Flags: ReadOnly, Do: cmdXInfoGroups,
				Keys:   []KeySpec{{Index: 2, Flags: KeyRO | KeyAccess}},
				Syntax: "key", Since: "5.0.0", Summary: "Lists the consumer groups of a stream.", Complexity: "O(N) where N is the number of groups",
			},
			{
				Name: "consumers", Tips: []string{TipVaries}, Arity: 4, Flags: ReadOnly, Do: cmdXInfoConsumers,
				Keys:   []KeySpec{{Index: 2, Flags: KeyRO | KeyAccess}},
				Syntax: "key group", Since: "5.0.0", Summary: "Lists the consumers of a group.", Complexity: "O(N) where N is the number of consumers",
			},
			HelpRow("5.0.0"),
		},
	},
}

// infoCount is how many entries of each kind XINFO STREAM FULL shows unless COUNT says otherwise.
const infoCount = 10

// cmdXInfoStream handles XINFO STREAM key [FULL [COUNT count]].
//
// Keys:    stream
// Reply:   map of facts; with FULL also the entries, groups, consumers and pending entries, the first COUNT of each
// Errors:  ERR no such key, ERR on a bad option or number, WRONGTYPE
// Effects: none
func cmdXInfoStream(c *Call) error {
	x, err := openInfo(c)
	if err != nil {
		return err
	}
	options := c.Args[3:]
	count := infoCount
	switch {
	case len(options) == 0:
		writeStreamFacts(c.Reply, &x, 10)
		writeStreamEnds(c.Reply, &x)
		return nil
	case len(options) != 1 && len(options) != 3, !Is(options[0], "full"):
		return ErrSubSyntax(c.Args)
	case len(options) == 3:
		if !Is(options[1], "count") {
			return ErrSubSyntax(c.Args)
		}
		n, err := integer(options[2])
		if err != nil {
			return err
		}
		if n >= 0 {
			count, _ = countOf(options[2])
		}
	}
	r := c.Reply
	writeStreamFacts(r, &x, 9)
	r.Text("entries")
	writeRange(r, &x, store.StreamID{}, store.MaxStreamID, count, false)
	r.Text("groups")
	r.Array(x.Groups())
	for _, name := range x.GroupNames() {
		g, _ := x.Group([]byte(name))
		writeFullGroup(r, &g, name, count)
	}
	return nil
}

// openInfo opens the stream of an XINFO call.
func openInfo(c *Call) (store.Stream, error) {
	x, err := c.Tx.Stream(c.Args[2])
	if err == nil && !x.Exists() {
		err = ErrNoSuchKey
	}
	return x, err
}

// writeStreamFacts begins a map of n pairs with the seven facts that both forms of XINFO STREAM have.
func writeStreamFacts(r *Reply, x *store.Stream, n int) {
	state := x.State()
	r.Map(n)
	r.Text("length")
	r.Int(int64(x.Len()))
	r.Text("radix-tree-keys")
	r.Int(int64(state.Chunks))
	r.Text("radix-tree-nodes")
	r.Int(int64(state.Chunks + 1))
	r.Text("last-generated-id")
	writeStreamID(r, state.Last)
	r.Text("max-deleted-entry-id")
	writeStreamID(r, state.MaxDeleted)
	r.Text("entries-added")
	r.Int(int64(state.Added))
	r.Text("recorded-first-entry-id")
	writeStreamID(r, state.First)
}

// writeStreamEnds writes the number of groups and the first and the last entry.
func writeStreamEnds(r *Reply, x *store.Stream) {
	r.Text("groups")
	r.Int(int64(x.Groups()))
	end := func(name string, id store.StreamID) {
		r.Text(name)
		if e, ok := x.Entry(id); ok {
			writeEntry(r, e)
		} else {
			r.Null()
		}
	}
	end("first-entry", x.State().First)
	end("last-entry", x.Top())
}

// writeReadCount writes how many entries a group has read and has yet to read, null for what is not known.
func writeReadCount(r *Reply, g *store.StreamGroup) {
	maybe := func(name string, n int64, known bool) {
		r.Text(name)
		if known {
			r.Int(n)
		} else {
			r.Null()
		}
	}
	lag, ok := g.Lag()
	maybe("entries-read", g.Read(), g.Read() >= 0)
	maybe("lag", lag, ok)
}

func writeFullGroup(r *Reply, g *store.StreamGroup, name string, count int) {
	r.Map(7)
	r.Text("name")
	r.Text(name)
	r.Text("last-delivered-id")
	writeStreamID(r, g.Last())
	writeReadCount(r, g)
	r.Text("pel-count")
	r.Int(int64(g.Pending()))
	r.Text("pending")
	n, mark := 0, r.Later()
	g.EachPending(store.StreamID{}, store.MaxStreamID, func(p store.Pending) bool {
		r.Array(4)
		writeStreamID(r, p.ID)
		r.Bulk(p.Consumer)
		r.Int(p.At)
		r.Int(int64(p.Count))
		n++
		return n != count
	})
	r.Fill(mark, func() { r.Array(n) })
	r.Text("consumers")
	r.Array(g.Consumers())
	for _, name := range g.ConsumerNames() {
		consumer, _ := g.Consumer([]byte(name))
		writeFullConsumer(r, &consumer, name, count)
	}
}

func writeFullConsumer(r *Reply, consumer *store.StreamConsumer, name string, count int) {
	r.Map(5)
	r.Text("name")
	r.Text(name)
	r.Text("seen-time")
	r.Int(consumer.Seen())
	r.Text("active-time")
	r.Int(consumer.Active())
	r.Text("pel-count")
	r.Int(int64(consumer.Pending()))
	r.Text("pending")
	n, mark := 0, r.Later()
	consumer.EachPending(store.StreamID{}, store.MaxStreamID, func(p store.Pending) bool {
		r.Array(3)
		writeStreamID(r, p.ID)
		r.Int(p.At)
		r.Int(int64(p.Count))
		n++
		return n != count
	})
	r.Fill(mark, func() { r.Array(n) })
}

// cmdXInfoGroups handles XINFO GROUPS key.
//
// Keys:    stream
// Reply:   array of a map for each group
// Errors:  ERR no such key, WRONGTYPE
// Effects: none
func cmdXInfoGroups(c *Call) error {
	x, err := openInfo(c)
	if err != nil {
		return err
	}
	r := c.Reply
	r.Array(x.Groups())
	for _, name := range x.GroupNames() {
		g, _ := x.Group([]byte(name))
		r.Map(6)
		r.Text("name")
		r.Text(name)
		r.Text("consumers")
		r.Int(int64(g.Consumers()))
		r.Text("pending")
		r.Int(int64(g.Pending()))
		r.Text("last-delivered-id")
		writeStreamID(r, g.Last())
		writeReadCount(r, &g)
	}
	return nil
}

// cmdXInfoConsumers handles XINFO CONSUMERS key group.
//
// Keys:    stream
// Reply:   array of a map for each consumer
// Errors:  ERR no such key, NOGROUP, WRONGTYPE
// Effects: none
func cmdXInfoConsumers(c *Call) error {
	x, err := openInfo(c)
	if err != nil {
		return err
	}
	g, ok := x.Group(c.Args[3])
	if !ok {
		return noGroupOf(c.Args[2], c.Args[3])
	}
	r := c.Reply
	r.Array(g.Consumers())
	for _, name := range g.ConsumerNames() {
		consumer, _ := g.Consumer([]byte(name))
		inactive := consumer.Active()
		if inactive >= 0 {
			inactive = c.Now() - inactive
		}
		r.Map(4)
		r.Text("name")
		r.Text(name)
		r.Text("pending")
		r.Int(int64(consumer.Pending()))
		r.Text("idle")
		r.Int(max(c.Now()-consumer.Seen(), 0))
		r.Text("inactive")
		r.Int(inactive)
	}
	return nil
}
