package parity

var listFamily = family{
	name: "list",
	templates: []string{
		"!RPUSH <key> <300:v>", "!LPUSH <key> <2000:longer-value-number->", "!LTRIM <key> 2 -2", "!LPOP <key> 100",
		"RPUSH <key> {<value>}", "LPUSH <key> {<value>}", "RPUSH <key> <value>", "RPUSHX <key> {<value>}", "LPUSHX <key> {<value>}",
		"LPOP <key> [<count>]", "RPOP <key> [<count>]", "LLEN <key>", "LRANGE <key> <index> <index>", "LINDEX <key> <index>",
		"LSET <key> <index> <value>", "LINSERT <key> (BEFORE|AFTER|X) <value> <value>", "LREM <key> <index> <value>", "LTRIM <key> <index> <index>",
		"LPOS <key> <value> [RANK <index>] [COUNT <count>] [MAXLEN <count>]", "LPOS <key> <value> {(RANK <index>|COUNT <count>|MAXLEN <count>)}",
		"LMOVE <key> <key> (LEFT|RIGHT) (LEFT|RIGHT|X)", "RPOPLPUSH <key> <key>", "LMPOP (1 <key>|2 <key> <key>|0 <key>) (LEFT|RIGHT|X) [COUNT <count>]",
		"BLPOP {<key>} (0.01|1|x|-1)", "BRPOP {<key>} 0.01", "BLMOVE <key> <key> (LEFT|RIGHT) (LEFT|RIGHT) 1", "BRPOPLPUSH <key> <key> 1",
		"BLMPOP 1 (1 <key>|2 <key> <key>|0 <key>) (LEFT|RIGHT) [COUNT <count>]",
	},
	final: []string{"LRANGE KEY 0 -1", "LLEN KEY"},
}
