package parity

// The scores are such as every server spells alike. Lexicographic ranges are asked for on keys of their own, whose scores
// are all equal: elsewhere they mean nothing.
var zsetFamily = family{
	name: "zset",
	templates: []string{
		"ZADD <key> {<score> <member>}", "ZADD <key> {<score> <member>}", "ZADD <key> {<score> <member>}",
		"ZADD <key> [NX|XX] [GT|LT] [CH] {<score> <member>}", "ZADD <key> {(NX|XX|GT|LT|CH|INCR)} <score> <member>",
		"ZINCRBY <key> <score> <member>", "ZREM <key> {<member>}", "ZCARD <key>", "ZSCORE <key> <member>", "ZMSCORE <key> {<member>}",
		"ZCOUNT <key> <bound> <bound>", "ZRANK <key> <member>", "ZREVRANK <key> <member>",
		"ZRANGE <key> <index> <index> [REV] [WITHSCORES]", "ZRANGE <key> <bound> <bound> BYSCORE [REV] [WITHSCORES] [LIMIT <index> <index>]",
		"ZRANGE <key> <index> <index> {(REV|WITHSCORES|BYSCORE|BYLEX|LIMIT 0 1)}",
		"ZREVRANGE <key> <index> <index> [WITHSCORES]", "ZRANGEBYSCORE <key> <bound> <bound> [WITHSCORES] [LIMIT <index> <index>]",
		"ZREVRANGEBYSCORE <key> <bound> <bound> [LIMIT <index> <index>] [WITHSCORES]",
		"ZRANGESTORE <key> <key> <index> <index> [REV]", "ZRANGESTORE <key> <key> <bound> <bound> BYSCORE [REV] [LIMIT <index> <index>]",
		"ZREMRANGEBYRANK <key> <index> <index>", "ZREMRANGEBYSCORE <key> <bound> <bound>",
		"ZPOPMIN <key> [<count>]", "ZPOPMAX <key> [<count>]", "ZPOPMIN <key>", "ZMPOP (1|2|0|x) <key> [<key>] (MIN|MAX|x) [COUNT <count>]",
		"ZMPOP 2 <key> <key> (MIN|MAX) [COUNT <count>]", "!BZMPOP 0.001 2 <key> <key> (MIN|MAX) [COUNT <count>]",
		"ZUNION (1|2|3) <key> <key> [<key>] [WEIGHTS <score> <score>] [AGGREGATE (SUM|MIN|MAX|x)] [WITHSCORES]",
		"ZINTER (1|2|3) <key> <key> [<key>] [WEIGHTS <score> <score>] [AGGREGATE (SUM|MIN|MAX)] [WITHSCORES]",
		"ZDIFF (1|2|3) <key> <key> [<key>] [WITHSCORES] [WEIGHTS 1 2]", "ZINTERCARD (1|2|0) <key> <key> [LIMIT <count>]",
		"ZUNIONSTORE <key> 2 <key> <key> [WEIGHTS <score> <score>] [AGGREGATE (SUM|MIN|MAX)] [WITHSCORES]",
		"ZINTERSTORE <key> 2 <key> <key> [WEIGHTS <score> <score>] [AGGREGATE (SUM|MIN|MAX)]",
		"ZDIFFSTORE <key> (2|3|0) <key> <key>", "!ZRANDMEMBER <key> 1000 [WITHSCORES]", "!ZRANDMEMBER <key> 0 [WITHSCORES]",
		"SADD <key> {<member>}", "ZADD <key> <300:1 m>", "ZADD <key> <200:2.5 m>", "!ZADD <lexkey> <300:0 m>",
		"!ZADD <lexkey> {0 <member>}", "!ZADD <lexkey> {0 <member>}", "ZREM <lexkey> <member>", "ZLEXCOUNT <lexkey> <lex> <lex>",
		"ZRANGEBYLEX <lexkey> <lex> <lex> [LIMIT <index> <index>]", "ZREVRANGEBYLEX <lexkey> <lex> <lex> [LIMIT <index> <index>]",
		"ZRANGE <lexkey> <lex> <lex> BYLEX [REV] [LIMIT <index> <index>]", "ZREMRANGEBYLEX <lexkey> <lex> <lex>",
		"ZRANGESTORE <key> <lexkey> <lex> <lex> BYLEX [REV] [LIMIT <index> <index>]",
	},
	final: []string{"ZRANGE KEY 0 -1 WITHSCORES", "ZCARD KEY"},
}
