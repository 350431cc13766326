package commands

import "github.com/echomq/emqd/store"

var streamPendingRows = []Row{
	{
		Name: "xpending", Tips: []string{TipVaries}, Family: "stream", Arity: -3, Flags: ReadOnly, Do: cmdXPending,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key group [[IDLE min-idle-time:integer] start:string end count [consumer]]", Since: "5.0.0",
		Summary:    "Returns how many entries a group has pending and for whom, or the pending entries of a range.",
		Complexity: "O(log P + N) where P is the number of pending entries and N of those looked at",
	},
}

// pendingRange is what XPENDING is asked for behind the group.
type pendingRange struct {
	minIdle  int64
	from, to store.StreamID
	count    int
	consumer []byte // nil for all
}

// parsePending reads the arguments behind the group.
func parsePending(args [][]byte) (p pendingRange, err error) {
	if len(args) < 3 || len(args) > 6 {
		return p, ErrSyntax
	}
	if Is(args[0], "idle") {
		if p.minIdle, err = integer(args[1]); err != nil {
			return p, err
		}
		if args = args[2:]; len(args) < 3 {
			return p, ErrSyntax
		}
	}
	if p.count, err = countOf(args[2]); err != nil {
		return p, err
	}
	if p.from, err = streamStart(args[0]); err != nil {
		return p, err
	}
	if p.to, err = streamEnd(args[1]); err != nil {
		return p, err
	}
	if len(args) > 3 {
		p.consumer = args[3]
	}
	return p, nil
}

// cmdXPending handles XPENDING key group [[IDLE min-idle-time] start end count [consumer]].
//
// Keys:    stream
// Reply:   array of the number of pending entries, the first id, the last one, and the consumers with how many each has;
// or with a range an array of entries: id, consumer, ms since the last delivery, deliveries
// Errors:  ERR on a bad option, number or id, NOGROUP, WRONGTYPE
// Effects: none
func cmdXPending(c *Call) error {
	var p pendingRange
	summary := len(c.Args) == 3
	if !summary {
		var err error
		if p, err = parsePending(c.Args[3:]); err != nil {
			return err
		}
	}
	x, err := c.Tx.Stream(c.Args[1])
	if err != nil {
		return err
	}
	g, ok := x.Group(c.Args[2])
	if !ok {
		return noGroup(c.Args[1], c.Args[2], "")
	}
	if summary {
		writePendingSummary(c.Reply, &g)
	} else {
		p.write(c, &g)
	}
	return nil
}

func writePendingSummary(r *Reply, g *store.StreamGroup) {
	r.Array(4)
	r.Int(int64(g.Pending()))
	last, ok := g.LastPending()
	if !ok {
		r.Null()
		r.Null()
		r.NullArray()
		return
	}
	first, _ := g.NextPending(store.StreamID{})
	writeStreamID(r, first.ID)
	writeStreamID(r, last)
	n, mark := 0, r.Later()
	for _, name := range g.ConsumerNames() {
		consumer, _ := g.Consumer([]byte(name))
		if consumer.Pending() == 0 {
			continue
		}
		r.Array(2)
		r.Text(name)
		r.IntText(int64(consumer.Pending()))
		n++
	}
	r.Fill(mark, func() { r.Array(n) })
}

// write replies the pending entries of the range.
func (p *pendingRange) write(c *Call, g *store.StreamGroup) {
	r, now := c.Reply, c.Now()
	n, mark := 0, r.Later()
	one := func(x store.Pending) bool {
		if n == p.count {
			return false
		}
		if p.minIdle != 0 && now-x.At < p.minIdle {
			return true
		}
		n++
		r.Array(4)
		writeStreamID(r, x.ID)
		r.Bulk(x.Consumer)
		r.Int(max(now-x.At, 0))
		r.Int(int64(x.Count))
		return true
	}
	if p.consumer == nil {
		g.EachPending(p.from, p.to, one)
	} else if consumer, ok := g.Consumer(p.consumer); ok {
		consumer.EachPending(p.from, p.to, one)
	}
	r.Fill(mark, func() { r.Array(n) })
}
