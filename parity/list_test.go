package parity

var listFamily = family{
	name: "list",
	templates: []string{
		"LPUSH <key> {<value>}", "RPUSH <key> {<value>}", "LPUSH <key> {<value>}", "RPUSH <key> {<value>}", "LPUSHX <key> {<value>}", "RPUSHX <key> {<value>}",
		"LPOP <key> [<count>]", "RPOP <key> [<count>]", "LLEN <key>", "LINDEX <key> <index>", "LRANGE <key> <index> <index>", "LTRIM <key> <index> <index>",
		"LSET <key> <index> <value>", "LINSERT <key> (BEFORE|AFTER|AT) <value> <value>", "LREM <key> <index> <value>",
		"LPOS <key> <value> [RANK <index>] [COUNT <count>] [MAXLEN <count>]", "LPOS <key> <value> {(RANK <index>|COUNT <count>|MAXLEN <count>)}",
		"LMOVE <key> <key> (LEFT|RIGHT|UP) (LEFT|RIGHT)", "RPOPLPUSH <key> <key>", "LMPOP 1 <key> (LEFT|RIGHT) [COUNT <count>]",
		"LMPOP <count> {<key>} (LEFT|RIGHT) [COUNT <count>]",
	},
	final: []string{"LRANGE KEY 0 -1", "LLEN KEY"},
}
