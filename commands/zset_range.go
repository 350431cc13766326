package commands

import (
	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

const (
	errRangeLimit  Error = "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"
	errRangeScores Error = "ERR syntax error, WITHSCORES not supported in combination with BYLEX"
)

var zsetRangeRows = []Row{
	{
		Name: "zrange", Family: "zset", Arity: -4, Flags: ReadOnly, Do: cmdZRange,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key start:string stop:string [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES]", Since: "1.2.0",
		Summary:    "Returns the members within a range of ranks, scores or texts.",
		Complexity: "O(log(N)+M) where N is the size of the set and M the number of members returned",
	},
	{
		Name: "zrangestore", Family: "zset", Arity: -5, Flags: Write | DenyOOM, Do: cmdZRangeStore,
		Keys:   []KeySpec{{Index: 1, Flags: KeyOW | KeyUpdate}, {Index: 2, Flags: KeyRO | KeyAccess}},
		Syntax: "dst:key src:key min max [BYSCORE | BYLEX] [REV] [LIMIT offset count]", Since: "6.2.0",
		Summary:    "Stores the members within a range of a sorted set in another key.",
		Complexity: "O(log(N)+M) where N is the size of the source and M the number of members stored",
	},
	{
		Name: "zrevrange", Family: "zset", Arity: -4, Flags: ReadOnly, Do: cmdZRevRange,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key start stop [WITHSCORES]", Since: "1.2.0",
		Summary:    "Returns the members within a range of ranks, counted from the highest score.",
		Complexity: "O(log(N)+M) where N is the size of the set and M the number of members returned",
	},
	{
		Name: "zrangebyscore", Family: "zset", Arity: -4, Flags: ReadOnly, Do: cmdZRangeByScore,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key min:double max:double [WITHSCORES] [LIMIT offset count]", Since: "1.0.5",
		Summary:    "Returns the members within a range of scores.",
		Complexity: "O(log(N)+M) where N is the size of the set and M the number of members returned",
	},
	{
		Name: "zrevrangebyscore", Family: "zset", Arity: -4, Flags: ReadOnly, Do: cmdZRevRangeByScore,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key max:double min:double [WITHSCORES] [LIMIT offset count]", Since: "2.2.0",
		Summary:    "Returns the members within a range of scores, highest first.",
		Complexity: "O(log(N)+M) where N is the size of the set and M the number of members returned",
	},
	{
		Name: "zrangebylex", Family: "zset", Arity: -4, Flags: ReadOnly, Do: cmdZRangeByLex,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key min max [LIMIT offset count]", Since: "2.8.9",
		Summary:    "Returns the members within a lexicographic range, all scores being equal.",
		Complexity: "O(log(N)+M) where N is the size of the set and M the number of members returned",
	},
	{
		Name: "zrevrangebylex", Family: "zset", Arity: -4, Flags: ReadOnly, Do: cmdZRevRangeByLex,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key max min [LIMIT offset count]", Since: "2.8.9",
		Summary:    "Returns the members within a lexicographic range, last first.",
		Complexity: "O(log(N)+M) where N is the size of the set and M the number of members returned",
	},
}

// zsetOrder is what the ends of a range are.
type zsetOrder uint8

const (
	byRank zsetOrder = iota
	byScore
	byLex
)

// zsetRange is a range of a sorted set as a command asks for it.
type zsetRange struct {
	by         zsetOrder
	rev        bool
	withScores bool
	offset     int64
	limit      int64 // members at most; negative for all

	start, stop  int64 // of byRank
	min, max     float64
	minEx, maxEx bool
	lexMin       num.Lex
	lexMax       num.Lex
}

// parse reads the ends and what follows them. With fixed the command itself has chosen order and direction. Ends
// of scores and texts come highest first when the direction is reversed. The range aliases args.
func (r *zsetRange) parse(args [][]byte, fixed, storing bool) error {
	r.limit = -1
	ordered, directed := fixed, fixed // each may be said once
	for rest := args[2:]; len(rest) > 0; rest = rest[1:] {
		word := rest[0]
		switch {
		case !storing && Is(word, "withscores"):
			r.withScores = true
		case len(rest) > 2 && Is(word, "limit"):
			var ok, ok2 bool
			r.offset, ok = num.Int(rest[1])
			r.limit, ok2 = num.Int(rest[2])
			if !ok || !ok2 {
				return ErrNotInteger
			}
			rest = rest[2:]
		case !directed && Is(word, "rev"):
			r.rev, directed = true, true
		case !ordered && Is(word, "bylex"):
			r.by, ordered = byLex, true
		case !ordered && Is(word, "byscore"):
			r.by, ordered = byScore, true
		default:
			return ErrSyntax
		}
	}
	switch {
	case r.limit != -1 && r.by == byRank:
		return errRangeLimit
	case r.withScores && r.by == byLex:
		return errRangeScores
	case r.rev && r.by != byRank:
		return r.parseEnds(args[1], args[0])
	}
	return r.parseEnds(args[0], args[1])
}

// parseEnds reads the lower and the upper end.
func (r *zsetRange) parseEnds(lo, hi []byte) error {
	var ok, ok2 bool
	switch r.by {
	case byRank:
		r.start, ok = num.Int(lo)
		r.stop, ok2 = num.Int(hi)
		if !ok || !ok2 {
			return ErrNotInteger
		}
	case byScore:
		r.min, r.minEx, ok = num.ScoreBound(lo)
		r.max, r.maxEx, ok2 = num.ScoreBound(hi)
		if !ok || !ok2 {
			return errScoreRange
		}
	case byLex:
		r.lexMin, ok = num.LexBound(lo)
		r.lexMax, ok2 = num.LexBound(hi)
		if !ok || !ok2 {
			return errLexRange
		}
	}
	return nil
}

// ranks returns the ranks from up to but without to of the range in z, LIMIT not applied.
func (r *zsetRange) ranks(z *store.ZSet) (from, to int) {
	switch r.by {
	case byScore:
		return z.Scores(r.min, r.minEx, r.max, r.maxEx)
	case byLex:
		return z.Lexes(r.lexMin, r.lexMax)
	}
	n := int64(z.Len())
	start, stop := r.start, r.stop
	if start < 0 {
		start = max(start+n, 0)
	}
	if stop < 0 {
		stop += n
	}
	stop = min(stop, n-1)
	if start > stop {
		return 0, 0
	}
	if r.rev {
		start, stop = n-1-stop, n-1-start
	}
	return int(start), int(stop + 1)
}

// window returns the ranks of the range in z with LIMIT applied.
func (r *zsetRange) window(z *store.ZSet) (from, to int) {
	from, to = r.ranks(z)
	n := int64(to - from)
	if r.offset < 0 || r.offset >= n {
		return 0, 0
	}
	n -= r.offset
	if r.limit >= 0 {
		n = min(n, r.limit)
	}
	if r.rev {
		to -= int(r.offset)
		return to - int(n), to
	}
	from += int(r.offset)
	return from, from + int(n)
}

// cmdZRange handles ZRANGE key start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES].
//
// Keys:    zset
// Reply:   array of members, with WITHSCORES of members and scores
// Errors:  syntax, ends that are not what the order needs, WRONGTYPE
// Effects: none
func cmdZRange(c *Call) error {
	return zrange(c, zsetRange{}, false)
}

// cmdZRevRange handles ZREVRANGE key start stop [WITHSCORES].
//
// Keys:    zset
// Reply:   array of members, with WITHSCORES of members and scores
// Errors:  syntax, a rank that is no integer, WRONGTYPE
// Effects: none
func cmdZRevRange(c *Call) error {
	return zrange(c, zsetRange{rev: true}, true)
}

// cmdZRangeByScore handles ZRANGEBYSCORE key min max [WITHSCORES] [LIMIT offset count].
//
// Keys:    zset
// Reply:   array of members, with WITHSCORES of members and scores
// Errors:  syntax, a bound that is no number, WRONGTYPE
// Effects: none
func cmdZRangeByScore(c *Call) error {
	return zrange(c, zsetRange{by: byScore}, true)
}

// cmdZRevRangeByScore handles ZREVRANGEBYSCORE key max min [WITHSCORES] [LIMIT offset count].
//
// Keys:    zset
// Reply:   array of members, with WITHSCORES of members and scores
// Errors:  syntax, a bound that is no number, WRONGTYPE
// Effects: none
func cmdZRevRangeByScore(c *Call) error {
	return zrange(c, zsetRange{by: byScore, rev: true}, true)
}

// cmdZRangeByLex handles ZRANGEBYLEX key min max [LIMIT offset count].
//
// Keys:    zset
// Reply:   array of members
// Errors:  syntax, a bound of no known form, WRONGTYPE
// Effects: none
func cmdZRangeByLex(c *Call) error {
	return zrange(c, zsetRange{by: byLex}, true)
}

// cmdZRevRangeByLex handles ZREVRANGEBYLEX key max min [LIMIT offset count].
//
// Keys:    zset
// Reply:   array of members
// Errors:  syntax, a bound of no known form, WRONGTYPE
// Effects: none
func cmdZRevRangeByLex(c *Call) error {
	return zrange(c, zsetRange{by: byLex, rev: true}, true)
}

func zrange(c *Call, r zsetRange, fixed bool) error {
	if err := r.parse(c.Args[2:], fixed, false); err != nil {
		return err
	}
	z, err := c.Tx.ZSet(c.Args[1])
	if err != nil {
		return err
	}
	from, to := r.window(&z)
	replyMembers(c, &z, from, to, r.rev, r.withScores)
	return nil
}

// replyMembers replies the members of the ranks from up to but without to, which z has.
func replyMembers(c *Call, z *store.ZSet, from, to int, rev, withScores bool) {
	if !withScores {
		c.Reply.Array(to - from)
		z.Range(from, to, rev, func(member []byte, _ float64) bool {
			c.Reply.Bulk(member)
			return true
		})
		return
	}
	c.Reply.Pairs(to - from)
	z.Range(from, to, rev, func(member []byte, score float64) bool {
		c.Reply.Pair()
		c.Reply.Bulk(member)
		c.Reply.Double(score)
		return true
	})
}

// cmdZRangeStore handles ZRANGESTORE dst src min max [BYSCORE | BYLEX] [REV] [LIMIT offset count].
//
// Keys:    dst of any type, src zset
// Reply:   number of members stored
// Errors:  syntax, ends that are not what the order needs, WRONGTYPE of src
// Effects: DEL dst when it was there, ZADD dst
func cmdZRangeStore(c *Call) error {
	var r zsetRange
	if err := r.parse(c.Args[3:], false, true); err != nil {
		return err
	}
	z, err := c.Tx.ZSet(c.Args[2])
	if err != nil {
		return err
	}
	from, to := r.window(&z)
	found := make([]scoredMember, 0, to-from)
	z.Range(from, to, false, func(member []byte, score float64) bool {
		found = append(found, scoredMember{member, score})
		return true
	})
	return storeMembers(c, c.Args[1], found, "zrangestore")
}

// scoredMember is one member of a result that is not yet a key.
type scoredMember struct {
	member []byte
	score  float64
}

// storeMembers makes key a sorted set of the members, or removes it without any, announces the event and
// replies their number.
func storeMembers(c *Call, key []byte, found []scoredMember, event string) error {
	// The members may stand in key itself: what Delete frees stays readable until the transaction ends.
	had := c.Tx.Delete(key)
	switch {
	case len(found) > 0:
		z, err := c.Tx.ZSet(key)
		if err != nil {
			return err
		}
		for _, x := range found {
			z.Add(x.member, x.score)
		}
		c.Tx.Notify('z', event, key)
	case had:
		c.Tx.Notify('g', "del", key)
	}
	c.Reply.Int(int64(len(found)))
	return nil
}
