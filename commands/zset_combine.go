package commands

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/echomq/emqd/store/num"
)

const (
	errWeight    Error = "ERR weight value is not a float"
	errCardLimit Error = "ERR LIMIT can't be negative"
)

const combineComplexity = "O(N)+O(M*log(M)) where N is the number of members of all inputs and M of the result"

const intersectComplexity = "O(N*K)+O(M*log(M)) where N is the size of the smallest input, K the number of inputs and M the size of the result"

var zsetCombineRows = []Row{
	{
		Name: "zunion", Family: "zset", Arity: -3, Flags: ReadOnly | MovableKeys, Do: cmdZUnion,
		Keys:    []KeySpec{{Index: 1, Numbered: true, FirstKey: 1, Step: 1, Flags: KeyRO | KeyAccess}},
		Syntax:  "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]",
		Since:   "6.2.0",
		Summary: "Returns the union of several sorted sets.", Complexity: combineComplexity,
	},
	{
		Name: "zunionstore", Family: "zset", Arity: -4, Flags: Write | DenyOOM | MovableKeys, Do: cmdZUnionStore,
		Keys: []KeySpec{{Index: 1, Flags: KeyOW | KeyUpdate},
			{Index: 2, Numbered: true, FirstKey: 1, Step: 1, Flags: KeyRO | KeyAccess}},
		Syntax:  "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]",
		Since:   "2.0.0",
		Summary: "Stores the union of several sorted sets in a key.", Complexity: combineComplexity,
	},
	{
		Name: "zinter", Family: "zset", Arity: -3, Flags: ReadOnly | MovableKeys, Do: cmdZInter,
		Keys:    []KeySpec{{Index: 1, Numbered: true, FirstKey: 1, Step: 1, Flags: KeyRO | KeyAccess}},
		Syntax:  "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]",
		Since:   "6.2.0",
		Summary: "Returns the intersection of several sorted sets.", Complexity: intersectComplexity,
	},
	{
		Name: "zinterstore", Family: "zset", Arity: -4, Flags: Write | DenyOOM | MovableKeys, Do: cmdZInterStore,
		Keys: []KeySpec{{Index: 1, Flags: KeyOW | KeyUpdate},
			{Index: 2, Numbered: true, FirstKey: 1, Step: 1, Flags: KeyRO | KeyAccess}},
		Syntax:  "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]",
		Since:   "2.0.0",
		Summary: "Stores the intersection of several sorted sets in a key.", Complexity: intersectComplexity,
	},
	{
		Name: "zintercard", Family: "zset", Arity: -3, Flags: ReadOnly | MovableKeys, Do: cmdZInterCard,
		Keys:   []KeySpec{{Index: 1, Numbered: true, FirstKey: 1, Step: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "numkeys key [key ...] [LIMIT limit]", Since: "7.0.0",
		Summary:    "Counts the members of the intersection of several sorted sets.",
		Complexity: "O(N*K) where N is the size of the smallest input and K the number of inputs",
	},
	{
		Name: "zdiff", Family: "zset", Arity: -3, Flags: ReadOnly | MovableKeys, Do: cmdZDiff,
		Keys:   []KeySpec{{Index: 1, Numbered: true, FirstKey: 1, Step: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "numkeys key [key ...] [WITHSCORES]", Since: "6.2.0",
		Summary:    "Returns the members of the first sorted set that no other one has.",
		Complexity: "O(N*K) where N is the size of the first input and K the number of inputs",
	},
	{
		Name: "zdiffstore", Family: "zset", Arity: -4, Flags: Write | DenyOOM | MovableKeys, Do: cmdZDiffStore,
		Keys: []KeySpec{{Index: 1, Flags: KeyOW | KeyUpdate},
			{Index: 2, Numbered: true, FirstKey: 1, Step: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "destination numkeys key [key ...]", Since: "6.2.0",
		Summary:    "Stores the members of the first sorted set that no other one has in a key.",
		Complexity: "O(N*K) where N is the size of the first input and K the number of inputs",
	},
}

// combineOp is one of the three set operations.
type combineOp uint8

const (
	opUnion combineOp = iota
	opInter
	opDiff
)

// zcombine is what a call of the family asks for.
type zcombine struct {
	op         combineOp
	sources    []zsetSource
	aggregate  func(a, b float64) float64
	withScores bool
	limit      int64 // of ZINTERCARD, 0 for none
}

// combineForm tells the options of the three forms of the operations apart.
type combineForm uint8

const (
	formReply combineForm = iota
	formStore
	formCount
)

// cmdZUnion handles ZUNION numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]
// [WITHSCORES].
//
// Keys:    zsets or sets
// Reply:   array of members, with WITHSCORES of members and scores
// Errors:  numkeys no integer or below 1, syntax, a weight that is no number, WRONGTYPE
// Effects: none
func cmdZUnion(c *Call) error { return replyCombined(c, opUnion) }

// cmdZInter handles ZINTER numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]
// [WITHSCORES].
//
// Keys:    zsets or sets
// Reply:   array of members, with WITHSCORES of members and scores
// Errors:  numkeys no integer or below 1, syntax, a weight that is no number, WRONGTYPE
// Effects: none
func cmdZInter(c *Call) error { return replyCombined(c, opInter) }

// cmdZDiff handles ZDIFF numkeys key [key ...] [WITHSCORES].
//
// Keys:    zsets or sets
// Reply:   array of members, with WITHSCORES of members and scores
// Errors:  numkeys no integer or below 1, syntax, WRONGTYPE
// Effects: none
func cmdZDiff(c *Call) error { return replyCombined(c, opDiff) }

func replyCombined(c *Call, op combineOp) error {
	o, err := parseCombine(c, op, c.Args[1:], formReply)
	if err != nil {
		return err
	}
	found := o.run()
	if !o.withScores {
		c.Reply.Array(len(found))
		for _, x := range found {
			c.Reply.Bulk(x.member)
		}
		return nil
	}
	c.Reply.Pairs(len(found))
	for _, x := range found {
		c.Reply.Pair()
		c.Reply.Bulk(x.member)
		c.Reply.Double(x.score)
	}
	return nil
}

// cmdZUnionStore handles ZUNIONSTORE destination numkeys key [key ...] [WEIGHTS weight [weight ...]]
// [AGGREGATE <SUM | MIN | MAX>].
//
// Keys:    destination of any type, zsets or sets
// Reply:   number of members stored
// Errors:  numkeys no integer or below 1, syntax, a weight that is no number, WRONGTYPE of an input
// Effects: DEL destination when it was there, ZADD destination
func cmdZUnionStore(c *Call) error { return storeCombined(c, opUnion, "zunionstore") }

// cmdZInterStore handles ZINTERSTORE destination numkeys key [key ...] [WEIGHTS weight [weight ...]]
// [AGGREGATE <SUM | MIN | MAX>].
//
// Keys:    destination of any type, zsets or sets
// Reply:   number of members stored
// Errors:  numkeys no integer or below 1, syntax, a weight that is no number, WRONGTYPE of an input
// Effects: DEL destination when it was there, ZADD destination
func cmdZInterStore(c *Call) error { return storeCombined(c, opInter, "zinterstore") }

// cmdZDiffStore handles ZDIFFSTORE destination numkeys key [key ...].
//
// Keys:    destination of any type, zsets or sets
// Reply:   number of members stored
// Errors:  numkeys no integer or below 1, syntax, WRONGTYPE of an input
// Effects: DEL destination when it was there, ZADD destination
func cmdZDiffStore(c *Call) error { return storeCombined(c, opDiff, "zdiffstore") }

func storeCombined(c *Call, op combineOp, event string) error {
	o, err := parseCombine(c, op, c.Args[2:], formStore)
	if err != nil {
		return err
	}
	return storeMembers(c, c.Args[1], o.run(), event)
}

// cmdZInterCard handles ZINTERCARD numkeys key [key ...] [LIMIT limit].
//
// Keys:    zsets or sets
// Reply:   number of members of the intersection, at most the limit
// Errors:  numkeys no integer or below 1, syntax, a limit below 0 or no integer, WRONGTYPE
// Effects: none
func cmdZInterCard(c *Call) error {
	o, err := parseCombine(c, opInter, c.Args[1:], formCount)
	if err != nil {
		return err
	}
	n := int64(0)
	o.intersect(func([]byte, float64) bool {
		n++
		return n != o.limit
	})
	c.Reply.Int(n)
	return nil
}

// parseCombine reads the arguments from numkeys on and opens the inputs.
func parseCombine(c *Call, op combineOp, args [][]byte, form combineForm) (o zcombine, err error) {
	o = zcombine{op: op, aggregate: sumScores}
	n, ok := num.Int(args[0])
	switch {
	case !ok:
		return o, ErrNotInteger
	case n < 1:
		return o, Error("ERR at least 1 input key is needed for '" + c.Row.FullName() + "' command")
	case n > int64(len(args)-1):
		return o, ErrSyntax
	}
	o.sources = make([]zsetSource, n)
	for i := range o.sources {
		if o.sources[i], err = openSource(c, args[1+i]); err != nil {
			return o, err
		}
	}
	return o, o.parseOptions(args[1+n:], form)
}

func (o *zcombine) parseOptions(args [][]byte, form combineForm) error {
	weighted := o.op != opDiff && form != formCount
	for len(args) > 0 {
		switch {
		case weighted && len(args) > len(o.sources) && Is(args[0], "weights"):
			for i := range o.sources {
				w, ok := num.Float(args[1+i])
				if !ok {
					return errWeight
				}
				o.sources[i].weight = w
			}
			args = args[1+len(o.sources):]
		case weighted && len(args) > 1 && Is(args[0], "aggregate"):
			switch {
			case Is(args[1], "sum"):
				o.aggregate = sumScores
			case Is(args[1], "min"):
				o.aggregate = lesserScore
			case Is(args[1], "max"):
				o.aggregate = greaterScore
			default:
				return ErrSyntax
			}
			args = args[2:]
		case form == formReply && Is(args[0], "withscores"):
			o.withScores = true
			args = args[1:]
		case form == formCount && len(args) > 1 && Is(args[0], "limit"):
			var ok bool
			if o.limit, ok = num.Int(args[1]); !ok || o.limit < 0 {
				return errCardLimit
			}
			args = args[2:]
		default:
			return ErrSyntax
		}
	}
	return nil
}

// sumScores adds scores; opposite infinities make 0.
func sumScores(a, b float64) float64 {
	if a += b; math.IsNaN(a) {
		return 0
	}
	return a
}

func lesserScore(a, b float64) float64 {
	if b < a {
		return b
	}
	return a
}

func greaterScore(a, b float64) float64 {
	if b > a {
		return b
	}
	return a
}

// run returns the result in the order of a sorted set. Its members are copies.
func (o *zcombine) run() (found []scoredMember) {
	add := func(member []byte, score float64) bool {
		found = append(found, scoredMember{bytes.Clone(member), score})
		return true
	}
	switch o.op {
	case opUnion:
		found = o.union()
	case opInter:
		o.intersect(add)
	case opDiff:
		o.difference(add)
	}
	slices.SortFunc(found, func(a, b scoredMember) int {
		if c := cmp.Compare(a.score, b.score); c != 0 {
			return c
		}
		return bytes.Compare(a.member, b.member)
	})
	return found
}

// bySize puts the smallest inputs first, so that scores are added up in Valkey's order.
func (o *zcombine) bySize() {
	slices.SortStableFunc(o.sources, func(a, b zsetSource) int { return a.len() - b.len() })
}

func (o *zcombine) union() (found []scoredMember) {
	o.bySize()
	place := make(map[string]int, o.sources[len(o.sources)-1].len())
	for i := range o.sources {
		o.sources[i].each(func(member []byte, score float64) bool {
			if at, ok := place[string(member)]; ok {
				found[at].score = o.aggregate(found[at].score, score)
				return true
			}
			member = bytes.Clone(member)
			place[string(member)] = len(found)
			found = append(found, scoredMember{member, score})
			return true
		})
	}
	return found
}

// intersect calls f for the members of all inputs until it returns false.
func (o *zcombine) intersect(f func(member []byte, score float64) bool) {
	o.bySize()
	o.sources[0].each(func(member []byte, score float64) bool {
		for i := range o.sources[1:] {
			other, ok := o.sources[1+i].has(member)
			if !ok {
				return true
			}
			score = o.aggregate(score, other)
		}
		return f(member, score)
	})
}

// difference calls f for the members of the first input that no other one has.
func (o *zcombine) difference(f func(member []byte, score float64) bool) {
	o.sources[0].each(func(member []byte, score float64) bool {
		for i := range o.sources[1:] {
			if _, ok := o.sources[1+i].has(member); ok {
				return true
			}
		}
		return f(member, score)
	})
}
