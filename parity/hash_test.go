package parity

// hashFamily has neither HSCAN nor HRANDFIELD, whose replies are each server's own choice; the scripts have them.
var hashFamily = family{
	name: "hash",
	templates: []string{
		"!HSET <key> <300:v f>", "!HSET <key> <600:f>", "!HDEL <key> <100:f>", "HSET <key> f1 <value>",
		"HSET <key> {<field> <value>}", "HSET <key> {<field> <value>}", "HSETNX <key> <field> <value>", "HMSET <key> {<field> <value>}",
		"HGET <key> <field>", "HMGET <key> {<field>}", "HDEL <key> {<field>}", "HDEL <key> <field>", "HGETALL <key>", "HKEYS <key>", "HVALS <key>",
		"HLEN <key>", "HEXISTS <key> <field>", "HSTRLEN <key> <field>", "HINCRBY <key> <field> <int>",
		"HINCRBYFLOAT <key> <field> <float>",
	},
	final: []string{"HGETALL KEY"},
}
