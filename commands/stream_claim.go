package commands

import (
	"math"

	"github.com/echomq/emqd/store"
)

var streamClaimRows = []Row{
	{
		Name: "xclaim", Tips: []string{TipVaries}, Family: "stream", Arity: -6, Flags: Write | Fast, Do: cmdXClaim,
		Keys: []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key group consumer min-idle-time id [id ...] [IDLE milliseconds] [TIME unix-time-milliseconds] " +
			"[RETRYCOUNT count] [FORCE] [JUSTID] [LASTID lastid]", Since: "5.0.0",
		Summary:    "Makes a consumer the owner of pending entries, as if they had been delivered to it.",
		Complexity: "O(log P) for each id where P is the number of pending entries",
	},
	{
		Name: "xautoclaim", Tips: []string{TipVaries}, Family: "stream", Arity: -6, Flags: Write | Fast, Do: cmdXAutoClaim,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyDelete}},
		Syntax: "key group consumer min-idle-time start:string [COUNT count] [JUSTID]", Since: "6.2.0",
		Summary:    "Makes a consumer the owner of entries that are pending for long.",
		Complexity: "O(C log P) where C is COUNT and P the number of pending entries",
	},
}

// Refusals of claims.
const (
	errClaimIdle      Error = "ERR Invalid min-idle-time argument for XCLAIM"
	errClaimIdleTime  Error = "ERR Invalid IDLE option argument for XCLAIM"
	errClaimTime      Error = "ERR Invalid TIME option argument for XCLAIM"
	errClaimRetry     Error = "ERR Invalid RETRYCOUNT option argument for XCLAIM"
	errAutoClaimIdle  Error = "ERR Invalid min-idle-time argument for XAUTOCLAIM"
	errAutoClaimCount Error = "ERR COUNT must be > 0"
)

// autoClaimCount is how many entries XAUTOCLAIM claims unless COUNT says otherwise; it looks at up to ten times as
// many.
const (
	autoClaimCount   = 100
	autoClaimLooks   = 10
	autoClaimHighest = math.MaxInt64 / 16
)

// claimOptions are what XCLAIM is asked for.
type claimOptions struct {
	ids     [][]byte
	minIdle int64
	at      int64 // Unix ms that count as the time of the delivery
	retry   int64 // deliveries so far, -1 to count them on
	force   bool
	justID  bool
	last    store.StreamID
}

// parseClaim reads the arguments behind the consumer.
func parseClaim(c *Call) (o claimOptions, err error) {
	o.retry, o.at = -1, -1
	if o.minIdle, err = integer(c.Args[4]); err != nil {
		return o, errClaimIdle
	}
	i := 5
	for i < len(c.Args) && checkStreamIDs(c.Args[i:i+1]) == nil {
		i++
	}
	o.ids = c.Args[5:i]
	for ; i < len(c.Args); i++ {
		used, err := o.parseOption(c.Args[i:], c.Now())
		if err != nil {
			return o, err
		}
		i += used
	}
	if o.at < 0 || o.at > c.Now() && !c.Replay {
		o.at = c.Now()
	}
	return o, nil
}

// parseOption reads the option that options begin with and returns how many arguments of its own it has.
func (o *claimOptions) parseOption(options [][]byte, now int64) (used int, err error) {
	word := options[0]
	switch {
	case Is(word, "force"):
		o.force = true
		return 0, nil
	case Is(word, "justid"):
		o.justID = true
		return 0, nil
	case len(options) < 2:
	case Is(word, "idle"):
		if o.at, err = integer(options[1]); err != nil {
			return 0, errClaimIdleTime
		}
		o.at = now - o.at
		return 1, nil
	case Is(word, "time"):
		if o.at, err = integer(options[1]); err != nil {
			return 0, errClaimTime
		}
		return 1, nil
	case Is(word, "retrycount"):
		if o.retry, err = integer(options[1]); err != nil {
			return 0, errClaimRetry
		}
		return 1, nil
	case Is(word, "lastid"):
		o.last, err = streamID(options[1], 0)
		return 1, err
	}
	return 0, Error("ERR Unrecognized XCLAIM option '" + Echo(word) + "'")
}

// cmdXClaim handles XCLAIM key group consumer min-idle-time id [id ...] [IDLE milliseconds] [TIME
// unix-time-milliseconds] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID lastid].
//
// Keys:    stream
// Reply:   array of the entries claimed, of their ids alone with JUSTID
// Errors:  NOGROUP, ERR on a bad option, number or id, WRONGTYPE
// Effects: XGROUP SETID, XGROUP CREATECONSUMER, XCLAIM for each entry, XACK for those that are gone
func cmdXClaim(c *Call) error {
	x, err := c.Tx.Stream(c.Args[1])
	if err != nil {
		return err
	}
	g, ok := x.Group(c.Args[2])
	if !ok {
		return noGroup(c.Args[1], c.Args[2], "")
	}
	o, err := parseClaim(c)
	if err != nil {
		return err
	}
	if g.Last().Less(o.last) {
		g.SetLast(o.last, g.Read())
	}
	consumer := claimant(c, &g)
	n, mark := 0, c.Reply.Later()
	for _, text := range o.ids {
		id, _ := streamID(text, 0)
		e, there := x.Entry(id)
		if !there {
			g.Ack(id)
			continue
		}
		pending, ok := g.Delivery(id)
		if !ok && !o.force || ok && o.minIdle > 0 && c.Now()-pending.At < o.minIdle {
			continue
		}
		count := pending.Count
		switch {
		case o.retry >= 0:
			count = uint64(o.retry)
		case !ok && o.justID:
			count = 1
		case !ok:
			count = 2
		case !o.justID:
			count++
		}
		consumer.Claim(id, o.at, count)
		writeClaimed(c.Reply, e, o.justID)
		n++
	}
	c.Reply.Fill(mark, func() { c.Reply.Array(n) })
	return nil
}

// claimant opens the consumer of the third argument, which is made when it is not there.
func claimant(c *Call, g *store.StreamGroup) store.StreamConsumer {
	consumer, created := g.CreateConsumer(c.Args[3])
	if created {
		c.Tx.Notify('t', "xgroup-createconsumer", c.Args[1])
	}
	consumer.See()
	return consumer
}

func writeClaimed(r *Reply, e store.StreamEntry, justID bool) {
	if justID {
		writeStreamID(r, e.ID)
		return
	}
	writeEntry(r, e)
}

// autoClaim is what XAUTOCLAIM is asked for.
type autoClaim struct {
	minIdle int64
	from    store.StreamID
	count   int64
	justID  bool
}

func parseAutoClaim(args [][]byte) (o autoClaim, err error) {
	o.count = autoClaimCount
	if o.minIdle, err = integer(args[4]); err != nil {
		return o, errAutoClaimIdle
	}
	if o.from, err = streamStart(args[5]); err != nil {
		return o, err
	}
	for options := args[6:]; len(options) > 0; options = options[1:] {
		switch {
		case len(options) > 1 && Is(options[0], "count"):
			if o.count, err = integer(options[1]); err != nil || o.count < 1 || o.count > autoClaimHighest {
				return o, errAutoClaimCount
			}
			options = options[1:]
		case Is(options[0], "justid"):
			o.justID = true
		default:
			return o, ErrSyntax
		}
	}
	return o, nil
}

// cmdXAutoClaim handles XAUTOCLAIM key group consumer min-idle-time start [COUNT count] [JUSTID].
//
// Keys:    stream
// Reply:   array of the id to go on from, 0-0 at the end, the entries claimed, and the ids of those that are gone
// Errors:  NOGROUP, ERR on a bad option, number or id, WRONGTYPE
// Effects: XGROUP CREATECONSUMER, XCLAIM for each entry, XACK for those that are gone
func cmdXAutoClaim(c *Call) error {
	o, err := parseAutoClaim(c.Args)
	if err != nil {
		return err
	}
	x, err := c.Tx.Stream(c.Args[1])
	if err != nil {
		return err
	}
	g, ok := x.Group(c.Args[2])
	if !ok {
		return noGroup(c.Args[1], c.Args[2], "")
	}
	consumer := claimant(c, &g)
	mark := c.Reply.Later()
	next, n, gone := o.run(c, &x, &g, &consumer)
	c.Reply.Fill(mark, func() {
		c.Reply.Array(3)
		writeStreamID(c.Reply, next)
		c.Reply.Array(n)
	})
	c.Reply.Array(len(gone))
	for _, id := range gone {
		writeStreamID(c.Reply, id)
	}
	return nil
}

// run claims and replies the n entries, and returns the id to go on from and the ids of the entries that are gone.
func (o *autoClaim) run(c *Call, x *store.Stream, g *store.StreamGroup, to *store.StreamConsumer) (next store.StreamID, n int, gone []store.StreamID) {
	count, from, more := o.count, o.from, true
	for looks := count * autoClaimLooks; looks > 0 && count > 0 && more; looks-- {
		pending, ok := g.NextPending(from)
		if !ok {
			return store.StreamID{}, n, gone
		}
		from, more = pending.ID.Next()
		e, there := x.Entry(pending.ID)
		switch {
		case !there:
			g.Ack(pending.ID)
			gone = append(gone, pending.ID)
			count--
			continue
		case o.minIdle > 0 && c.Now()-pending.At < o.minIdle:
			continue
		case !o.justID:
			pending.Count++
		}
		to.Claim(pending.ID, c.Now(), pending.Count)
		writeClaimed(c.Reply, e, o.justID)
		n++
		count--
	}
	if more {
		if pending, ok := g.NextPending(from); ok {
			next = pending.ID
		}
	}
	return next, n, gone
}
