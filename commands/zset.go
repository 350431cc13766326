package commands

import (
	"math"

	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

// Refusals of the sorted-set commands.
const (
	errZAddXXNX   Error = "ERR XX and NX options at the same time are not compatible"
	errZAddGTLTNX Error = "ERR GT, LT, and/or NX options at the same time are not compatible"
	errZAddIncr   Error = "ERR INCR option supports a single increment-element pair"
	errScoreRange Error = "ERR min or max is not a float"
	errLexRange   Error = "ERR min or max not valid string range item"
)

var zsetRows = []Row{
	{
		Name: "zadd", Family: "zset", Arity: -4, Flags: Write | DenyOOM | Fast, Do: cmdZAdd,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...]", Since: "1.2.0",
		Summary:    "Adds members to a sorted set, or gives them another score.",
		Complexity: "O(log(N)) for each member, where N is the size of the set",
	},
	{
		Name: "zincrby", Family: "zset", Arity: 4, Flags: Write | DenyOOM | Fast, Do: cmdZIncrBy,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyUpdate}},
		Syntax: "key increment:double member", Since: "1.2.0",
		Summary:    "Adds to the score of a member, which is 0 for an absent one.",
		Complexity: "O(log(N)) where N is the size of the set",
	},
	{
		Name: "zrem", Family: "zset", Arity: -3, Flags: Write | Fast, Do: cmdZRem,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyDelete}},
		Syntax: "key member [member ...]", Since: "1.2.0",
		Summary:    "Removes members from a sorted set.",
		Complexity: "O(M*log(N)) where N is the size of the set and M the number of members removed",
	},
	{
		Name: "zremrangebyrank", Family: "zset", Arity: 4, Flags: Write, Do: cmdZRemRangeByRank,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyDelete}},
		Syntax: "key start stop", Since: "2.0.0",
		Summary:    "Removes the members within a range of ranks.",
		Complexity: "O(log(N)+M) where N is the size of the set and M the number of members removed",
	},
	{
		Name: "zremrangebyscore", Family: "zset", Arity: 4, Flags: Write, Do: cmdZRemRangeByScore,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyDelete}},
		Syntax: "key min:double max:double", Since: "1.2.0",
		Summary:    "Removes the members within a range of scores.",
		Complexity: "O(log(N)+M) where N is the size of the set and M the number of members removed",
	},
	{
		Name: "zremrangebylex", Family: "zset", Arity: 4, Flags: Write, Do: cmdZRemRangeByLex,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyDelete}},
		Syntax: "key min max", Since: "2.8.9",
		Summary:    "Removes the members within a lexicographic range, all scores being equal.",
		Complexity: "O(log(N)+M) where N is the size of the set and M the number of members removed",
	},
}

// zadd is what a ZADD or ZINCRBY asks for.
type zadd struct {
	nx, xx, gt, lt, ch, incr bool

	pairs [][]byte // score and member in turns
}

// cmdZAdd handles ZADD key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...].
//
// Keys:    zset
// Reply:   number of members that are new, with CH also of those changed; with INCR the new score, or null
// when a condition kept it
// Errors:  syntax, conflicting options, a score that is no number, WRONGTYPE, NaN with INCR
// Effects: ZADD
func cmdZAdd(c *Call) error {
	var o zadd
	if err := o.parse(c.Args[2:]); err != nil {
		return err
	}
	return o.run(c)
}

// cmdZIncrBy handles ZINCRBY key increment member.
//
// Keys:    zset
// Reply:   the new score
// Errors:  syntax, an increment that is no number, WRONGTYPE, NaN
// Effects: ZADD
func cmdZIncrBy(c *Call) error {
	o := zadd{incr: true}
	// The words of ZADD's options are no increments.
	if err := o.parse(c.Args[2:]); err != nil {
		return err
	}
	return o.run(c)
}

// parse reads the options and takes the rest as pairs.
func (o *zadd) parse(args [][]byte) error {
options:
	for ; len(args) > 0; args = args[1:] {
		switch {
		case Is(args[0], "nx"):
			o.nx = true
		case Is(args[0], "xx"):
			o.xx = true
		case Is(args[0], "gt"):
			o.gt = true
		case Is(args[0], "lt"):
			o.lt = true
		case Is(args[0], "ch"):
			o.ch = true
		case Is(args[0], "incr"):
			o.incr = true
		default:
			break options
		}
	}
	o.pairs = args
	switch {
	case len(args) == 0 || len(args)%2 != 0:
		return ErrSyntax
	case o.nx && o.xx:
		return errZAddXXNX
	case o.gt && o.nx || o.lt && o.nx || o.gt && o.lt:
		return errZAddGTLTNX
	case o.incr && len(args) > 2:
		return errZAddIncr
	}
	return nil
}

func (o *zadd) run(c *Call) error {
	// All scores are read before anything is written; the first ones are kept.
	var scores [8]float64
	for i := 0; i < len(o.pairs); i += 2 {
		score, ok := num.Float(o.pairs[i])
		if !ok {
			return ErrNotFloat
		}
		if i/2 < len(scores) {
			scores[i/2] = score
		}
	}
	z, err := c.Tx.ZSet(c.Args[1])
	if err != nil {
		return err
	}
	var added, changed int
	var result float64
	done := false
	for i := 0; i < len(o.pairs); i += 2 {
		var score float64
		if i/2 < len(scores) {
			score = scores[i/2]
		} else {
			score, _ = num.Float(o.pairs[i])
		}
		result, done, err = o.resulting(&z, o.pairs[i+1], score)
		if err != nil {
			return err
		}
		if !done {
			continue
		}
		isNew, isChanged := z.Add(o.pairs[i+1], result)
		if isNew {
			added++
		}
		if isChanged {
			changed++
		}
	}
	if added+changed > 0 {
		event := "zadd"
		if o.incr {
			event = "zincr"
		}
		c.Tx.Notify('z', event, c.Args[1])
	}
	switch {
	case o.incr && done:
		c.Reply.Double(result)
	case o.incr:
		c.Reply.Null()
	case o.ch:
		c.Reply.Int(int64(added + changed))
	default:
		c.Reply.Int(int64(added))
	}
	return nil
}

// resulting returns the score that member is to have, or that a condition keeps it as it is.
func (o *zadd) resulting(z *store.ZSet, member []byte, score float64) (result float64, done bool, err error) {
	if !o.nx && !o.xx && !o.gt && !o.lt && !o.incr {
		return score, true, nil
	}
	old, exists := z.Score(member)
	switch {
	case exists && o.nx, !exists && o.xx:
		return 0, false, nil
	case !exists:
		return score, true, nil
	}
	if o.incr {
		if score += old; math.IsNaN(score) {
			return 0, false, ErrScoreNaN
		}
	}
	if o.gt && score <= old || o.lt && score >= old {
		return 0, false, nil
	}
	return score, true, nil
}

// cmdZRem handles ZREM key member [member ...].
//
// Keys:    zset
// Reply:   number of members removed
// Errors:  WRONGTYPE
// Effects: ZREM
func cmdZRem(c *Call) error {
	z, err := c.Tx.ZSet(c.Args[1])
	if err != nil {
		return err
	}
	removed := 0
	for _, member := range c.Args[2:] {
		if z.Remove(member) {
			removed++
		}
	}
	if removed > 0 {
		c.Tx.Notify('z', "zrem", c.Args[1])
	}
	c.Reply.Int(int64(removed))
	return nil
}

// cmdZRemRangeByRank handles ZREMRANGEBYRANK key start stop.
//
// Keys:    zset
// Reply:   number of members removed
// Errors:  a rank that is no integer, WRONGTYPE
// Effects: ZREM
func cmdZRemRangeByRank(c *Call) error {
	return zremRange(c, byRank, "zremrangebyrank")
}

// cmdZRemRangeByScore handles ZREMRANGEBYSCORE key min max.
//
// Keys:    zset
// Reply:   number of members removed
// Errors:  a bound that is no number, WRONGTYPE
// Effects: ZREM
func cmdZRemRangeByScore(c *Call) error {
	return zremRange(c, byScore, "zremrangebyscore")
}

// cmdZRemRangeByLex handles ZREMRANGEBYLEX key min max.
//
// Keys:    zset
// Reply:   number of members removed
// Errors:  a bound of no known form, WRONGTYPE
// Effects: ZREM
func cmdZRemRangeByLex(c *Call) error {
	return zremRange(c, byLex, "zremrangebylex")
}

func zremRange(c *Call, by zsetOrder, event string) error {
	r := zsetRange{by: by}
	if err := r.parseEnds(c.Args[2], c.Args[3]); err != nil {
		return err
	}
	z, err := c.Tx.ZSet(c.Args[1])
	if err != nil {
		return err
	}
	from, to := r.ranks(&z)
	removed := z.RemoveRange(from, to)
	if removed > 0 {
		c.Tx.Notify('z', event, c.Args[1])
	}
	c.Reply.Int(int64(removed))
	return nil
}
