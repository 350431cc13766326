package parity

var setFamily = family{
	name: "set",
	templates: []string{
		"!SADD <key> <200:m>", "!SADD <key> <600:>", "!SREM <key> <100:m>",
		"SADD <key> {<member>}", "SADD <key> {<member>}", "SADD <key> {<int>}", "SREM <key> <int>", "SREM <key> {<member>}", "SREM <key> <member>", "SCARD <key>",
		"SISMEMBER <key> <member>", "SMISMEMBER <key> {<member>}", "SMEMBERS <key>", "SMOVE <key> <key> <member>",
		"!SPOP <key> (9000|0|-1|x)", "!SRANDMEMBER <key> (9000|0|x)", "SINTER {<key>}", "SUNION {<key>}", "SDIFF {<key>}", "SINTERSTORE <key> {<key>}",
		"SUNIONSTORE <key> {<key>}", "SDIFFSTORE <key> {<key>}", "SINTERCARD (1 <key>|2 <key> <key>|0 <key>|3 <key>) [LIMIT <count>]",
		"!SSCAN <key> 0 [MATCH <pattern>] COUNT (9000|0|x)",
	},
	final: []string{"SMEMBERS KEY", "SCARD KEY"},
}
