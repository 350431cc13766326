package parity

var genericFamily = family{
	name: "generic",
	templates: []string{
		"!SADD <key> <200:m>", "!RPUSH <key> <300:v>", "!HSET <key> <300:v f>",
		"SET <key> <value> [PXAT <msat>]", "SADD <key> {<member>}", "RPUSH <key> {<value>}", "HSET <key> <field> <value>", "ZADD <key> {1 <member>}",
		"DEL {<key>}", "UNLINK {<key>}", "EXISTS {<key>}", "TYPE <key>", "TOUCH {<key>}", "KEYS <pattern>", "DBSIZE",
		"RENAME <key> <key>", "RENAMENX <key> <key>", "COPY <key> <key> [DB (0|1|x|100)] [REPLACE]", "MOVE <key> (1|0|100|x)",
		"EXPIRE <key> <seconds> [NX|XX|X]", "PEXPIRE <key> <ms> [NX|XX]", "EXPIREAT <key> <at> [NX|XX|GT|LT]",
		"PEXPIREAT <key> <msat> {(NX|XX|GT|LT)}", "PERSIST <key>", "TTL <key>", "PTTL <key>", "EXPIRETIME <key>", "PEXPIRETIME <key>",
		"OBJECT ENCODING <key>", "OBJECT REFCOUNT <key>", "OBJECT FREQ <key>", "OBJECT X <key>", "!SCAN 0 [MATCH <pattern>] [TYPE (string|hash|x)] COUNT 9000",
		"SORT <key> [BY (nosort|w_*|*)] [LIMIT <index> <index>] [GET (#|w_*)] [ASC|DESC] [ALPHA] [STORE <key>]", "SORT <key> [ALPHA|DESC]",
		"SORT_RO <key> [ALPHA] [DESC]",
	},
	final: []string{"GET KEY", "SMEMBERS KEY", "LRANGE KEY 0 -1", "HGETALL KEY", "ZRANGE KEY 0 -1 WITHSCORES"},
}
