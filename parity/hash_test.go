package parity

var hashFamily = family{
	name: "hash",
	templates: []string{
		"HSET <key> {<field> <value>}", "HSET <key> {<field> <value>}", "HSETNX <key> <field> <value>", "HMSET <key> {<field> <value>}",
		"HGET <key> <field>", "HMGET <key> {<field>}", "HDEL <key> {<field>}", "HDEL <key> <field>", "HGETALL <key>", "HKEYS <key>", "HVALS <key>",
		"HLEN <key>", "HEXISTS <key> <field>", "HSTRLEN <key> <field>", "HINCRBY <key> <field> <int>",
		"HINCRBYFLOAT <key> <field> <float>", "HSCAN <key> 0 [MATCH <pattern>] [COUNT <count>]", "HRANDFIELD <key> 100 [WITHVALUES]",
	},
	final: []string{"HGETALL KEY"},
}
