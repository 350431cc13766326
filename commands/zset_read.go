package commands

import (
	"math"
	"math/rand/v2"

	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

const (
	errRandomCount  Error = "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"
	errRandomScores Error = "ERR value is out of range"
)

var zsetReadRows = []Row{
	{
		Name: "zcard", Family: "zset", Arity: 2, Flags: ReadOnly | Fast, Do: cmdZCard,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO}},
		Syntax: "key", Since: "1.2.0",
		Summary: "Returns the number of members of a sorted set.", Complexity: "O(1)",
	},
	{
		Name: "zscore", Family: "zset", Arity: 3, Flags: ReadOnly | Fast, Do: cmdZScore,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key member", Since: "1.2.0",
		Summary: "Returns the score of a member.", Complexity: "O(1)",
	},
	{
		Name: "zmscore", Family: "zset", Arity: -3, Flags: ReadOnly | Fast, Do: cmdZMScore,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key member [member ...]", Since: "6.2.0",
		Summary: "Returns the scores of several members.", Complexity: "O(N) where N is the number of members asked for",
	},
	{
		Name: "zcount", Family: "zset", Arity: 4, Flags: ReadOnly | Fast, Do: cmdZCount,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key min:double max:double", Since: "2.0.0",
		Summary:    "Counts the members within a range of scores.",
		Complexity: "O(log(N)) where N is the size of the set",
	},
	{
		Name: "zlexcount", Family: "zset", Arity: 4, Flags: ReadOnly | Fast, Do: cmdZLexCount,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key min max", Since: "2.8.9",
		Summary:    "Counts the members within a lexicographic range, all scores being equal.",
		Complexity: "O(log(N)) where N is the size of the set",
	},
	{
		Name: "zrank", Family: "zset", Arity: -3, Flags: ReadOnly | Fast, Do: cmdZRank,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key member [WITHSCORE]", Since: "2.0.0",
		Summary:    "Returns the rank of a member, counted from the lowest score.",
		Complexity: "O(log(N)) where N is the size of the set",
	},
	{
		Name: "zrevrank", Family: "zset", Arity: -3, Flags: ReadOnly | Fast, Do: cmdZRevRank,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key member [WITHSCORE]", Since: "2.0.0",
		Summary:    "Returns the rank of a member, counted from the highest score.",
		Complexity: "O(log(N)) where N is the size of the set",
	},
	{
		Name: "zrandmember", Tips: []string{TipVaries}, Family: "zset", Arity: -2, Flags: ReadOnly, Do: cmdZRandMember,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key [count [WITHSCORES]]", Since: "6.2.0",
		Summary:    "Returns members chosen at random.",
		Complexity: "O(M*log(N)) where N is the size of the set and M the number of members returned",
	},
	{
		Name: "zscan", Tips: []string{TipVaries}, Family: "zset", Arity: -3, Flags: ReadOnly, Do: cmdZScan,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key cursor [MATCH pattern] [COUNT count] [NOSCORES]", Since: "2.8.0",
		Summary:    "Goes through the members of a sorted set part by part.",
		Complexity: "O(1) for a call, O(N) for the whole pass, where N is the size of the set",
	},
}

// cmdZCard handles ZCARD key.
//
// Keys:    zset
// Reply:   number of members, 0 when the key is absent
// Errors:  WRONGTYPE
// Effects: none
func cmdZCard(c *Call) error {
	z, err := c.Tx.ZSet(c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Int(int64(z.Len()))
	return nil
}

// cmdZScore handles ZSCORE key member.
//
// Keys:    zset
// Reply:   the score, or null when the member or the key is absent
// Errors:  WRONGTYPE
// Effects: none
func cmdZScore(c *Call) error {
	z, err := c.Tx.ZSet(c.Args[1])
	if err != nil {
		return err
	}
	replyScore(c, &z, c.Args[2])
	return nil
}

// cmdZMScore handles ZMSCORE key member [member ...].
//
// Keys:    zset
// Reply:   array of scores, null for members that are absent
// Errors:  WRONGTYPE
// Effects: none
func cmdZMScore(c *Call) error {
	z, err := c.Tx.ZSet(c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Array(len(c.Args) - 2)
	for _, member := range c.Args[2:] {
		replyScore(c, &z, member)
	}
	return nil
}

func replyScore(c *Call, z *store.ZSet, member []byte) {
	if score, ok := z.Score(member); ok {
		c.Reply.Double(score)
	} else {
		c.Reply.Null()
	}
}

// cmdZCount handles ZCOUNT key min max.
//
// Keys:    zset
// Reply:   number of members within the range
// Errors:  a bound that is no number, WRONGTYPE
// Effects: none
func cmdZCount(c *Call) error { return zcount(c, byScore) }

// cmdZLexCount handles ZLEXCOUNT key min max.
//
// Keys:    zset
// Reply:   number of members within the range
// Errors:  a bound of no known form, WRONGTYPE
// Effects: none
func cmdZLexCount(c *Call) error { return zcount(c, byLex) }

func zcount(c *Call, by zsetOrder) error {
	r := zsetRange{by: by}
	if err := r.parseEnds(c.Args[2], c.Args[3]); err != nil {
		return err
	}
	z, err := c.Tx.ZSet(c.Args[1])
	if err != nil {
		return err
	}
	from, to := r.ranks(&z)
	c.Reply.Int(int64(to - from))
	return nil
}

// cmdZRank handles ZRANK key member [WITHSCORE].
//
// Keys:    zset
// Reply:   the rank, with WITHSCORE an array of rank and score; null when the member or the key is absent
// Errors:  syntax, arity, WRONGTYPE
// Effects: none
func cmdZRank(c *Call) error { return zrank(c, false) }

// cmdZRevRank handles ZREVRANK key member [WITHSCORE].
//
// Keys:    zset
// Reply:   the rank from the highest score, with WITHSCORE an array of rank and score; null when the member or
// the key is absent
// Errors:  syntax, arity, WRONGTYPE
// Effects: none
func cmdZRevRank(c *Call) error { return zrank(c, true) }

func zrank(c *Call, rev bool) error {
	if len(c.Args) > 4 {
		return ErrArity(c.Row.FullName())
	}
	withScore := len(c.Args) == 4
	if withScore && !Is(c.Args[3], "withscore") {
		return ErrSyntax
	}
	z, err := c.Tx.ZSet(c.Args[1])
	if err != nil {
		return err
	}
	rank, score, ok := z.Rank(c.Args[2])
	if rev {
		rank = z.Len() - 1 - rank
	}
	switch {
	case !ok && withScore:
		c.Reply.NullArray()
	case !ok:
		c.Reply.Null()
	case withScore:
		c.Reply.Array(2)
		c.Reply.Int(int64(rank))
		c.Reply.Double(score)
	default:
		c.Reply.Int(int64(rank))
	}
	return nil
}

// cmdZRandMember handles ZRANDMEMBER key [count [WITHSCORES]].
//
// Keys:    zset
// Reply:   one member, or null when the key is absent; with a count an array of that many different members, or
// of -count that may repeat
// Errors:  syntax, a count that is no integer or out of range, WRONGTYPE
// Effects: none
func cmdZRandMember(c *Call) error {
	if len(c.Args) == 2 {
		return zrandOne(c)
	}
	count, ok := num.Int(c.Args[2])
	withScores := len(c.Args) == 4
	switch {
	case !ok:
		return ErrNotInteger
	case count == math.MinInt64:
		return errRandomCount
	case len(c.Args) > 4 || withScores && !Is(c.Args[3], "withscores"):
		return ErrSyntax
	case withScores && (count < -math.MaxInt64/2 || count > math.MaxInt64/2):
		return errRandomScores
	}
	z, err := c.Tx.ZSet(c.Args[1])
	if err != nil {
		return err
	}
	n := z.Len()
	rng := c.Tx.Rand()
	switch {
	case n == 0 || count == 0:
		c.Reply.Array(0)
	case count >= int64(n):
		replyMembers(c, &z, 0, n, false, withScores)
	case count < 0:
		replyRanks(c, &z, -count, withScores, func(int) int { return rng.IntN(n) })
	default:
		ranks := distinct(rng, n, int(count))
		replyRanks(c, &z, count, withScores, func(i int) int { return ranks[i] })
	}
	return nil
}

func zrandOne(c *Call) error {
	z, err := c.Tx.ZSet(c.Args[1])
	if err != nil {
		return err
	}
	n := z.Len()
	if n == 0 {
		c.Reply.Null()
		return nil
	}
	member, _, _ := z.At(c.Tx.Rand().IntN(n))
	c.Reply.Bulk(member)
	return nil
}

// replyRanks replies count members, whose ranks rank tells.
func replyRanks(c *Call, z *store.ZSet, count int64, withScores bool, rank func(i int) int) {
	if withScores {
		c.Reply.Pairs(int(count))
	} else {
		c.Reply.Array(int(count))
	}
	for i := range int(count) {
		member, score, _ := z.At(rank(i))
		if withScores {
			c.Reply.Pair()
		}
		c.Reply.Bulk(member)
		if withScores {
			c.Reply.Double(score)
		}
	}
}

// distinct returns k different numbers below n, in random order.
func distinct(rng *rand.Rand, n, k int) []int {
	chosen := make([]int, 0, k)
	if k > n/3 {
		all := rng.Perm(n)
		return all[:k]
	}
	seen := make(map[int]bool, k)
	for len(chosen) < k {
		if i := rng.IntN(n); !seen[i] {
			seen[i] = true
			chosen = append(chosen, i)
		}
	}
	return chosen
}

// cmdZScan handles ZSCAN key cursor [MATCH pattern] [COUNT count] [NOSCORES].
//
// Keys:    zset
// Reply:   array of the next cursor and an array of members and scores
// Errors:  a cursor that is no number, syntax, WRONGTYPE
// Effects: none
func cmdZScan(c *Call) error {
	cursor, err := scanCursor(c.Args[2])
	if err != nil {
		return err
	}
	z, err := c.Tx.ZSet(c.Args[1])
	if err != nil {
		return err
	}
	if !z.Exists() {
		emptyScan(c)
		return nil
	}
	s, err := parseScan(cursor, c.Args[3:], store.KindZSet)
	if err != nil {
		return err
	}
	s.walk(c, func(cursor uint64) uint64 {
		return z.Scan(cursor, func(member []byte, score float64) {
			if !s.wants(member) {
				return
			}
			c.Reply.Bulk(member)
			if s.nameOnly {
				s.put(1)
				return
			}
			// A bulk string in RESP3 too: the array mixes members and scores.
			var text [40]byte
			c.Reply.Bulk(num.AppendFloat(text[:0], score))
			s.put(2)
		})
	})
	return nil
}
