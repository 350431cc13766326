package parity

// SPOP, SRANDMEMBER and SSCAN choose as each server likes, so they are in the scripts alone.
var setFamily = family{
	name: "set",
	templates: []string{
		"SADD <key> {<member>}", "SADD <key> {<member>}", "SADD <key> {<int>}", "SADD <key> {<int>}", "SREM <key> {<member>}", "SREM <key> {<int>}",
		"SCARD <key>", "SISMEMBER <key> <member>", "SMISMEMBER <key> {<member>}", "SMEMBERS <key>", "SMOVE <key> <key> <member>",
		"SINTER {<key>}", "SUNION {<key>}", "SDIFF {<key>}", "SINTERCARD <count> {<key>} [LIMIT <count>]",
		"SINTERCARD 2 <key> <key> [LIMIT <count>]", "SINTERSTORE <key> {<key>}", "SUNIONSTORE <key> {<key>}", "SDIFFSTORE <key> {<key>}",
	},
	final: []string{"SMEMBERS KEY", "SCARD KEY"},
}
