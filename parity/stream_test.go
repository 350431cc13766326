package parity

// Identifiers are given, since those that a server makes follow from its clock. XSETID takes the highest one: Redis 7.0 does not
// refuse one below an entry that was deleted.
var streamFamily = family{
	name: "stream",
	templates: []string{
		"!XADD <key> 1-* f v", "!XADD <key> 9-* f1 v1 f2 v2", "XADD <key> [NOMKSTREAM] <id> {<field> <value>}", "XADD <key> <id> {<field> <value>}",
		"XADD <key> [NOMKSTREAM] [(MAXLEN|MINID) [=] <int>] <id> <field> <value>", "XADD <key> MAXLEN [=|~] <int> [LIMIT <count>] <id> f v",
		"XADD <key> {(NOMKSTREAM|MAXLEN 2|MINID 1|LIMIT 1)} <id> f v",
		"XLEN <key>", "XRANGE <key> <range> <range> [COUNT <count>]", "XREVRANGE <key> <range> <range> [COUNT <count>]", "XDEL <key> {<id>}",
		"XTRIM <key> (MAXLEN|MINID|X) [=] <id>", "XTRIM <key> MAXLEN [=] <int>", "XTRIM <key> MINID [~] <id> [LIMIT <count>]",
		"XREAD [COUNT <count>] STREAMS <key> <id>", "XREAD [COUNT <count>] STREAMS <key> <key> <id> ($|<id>)", "XREAD {(COUNT 1|BLOCK 1|NOACK)} STREAMS <key> <id>",
		"!XSETID <key> (18446744073709551615-18446744073709551615|x) [ENTRIESADDED <int>] [MAXDELETEDID <id>]", "XINFO STREAM <key>",
		"XGROUP CREATE <key> <group> (<id>|$) [MKSTREAM] [ENTRIESREAD <int>]", "XGROUP DESTROY <key> <group>", "XGROUP SETID <key> <group> (<id>|$)",
		"XREADGROUP GROUP <group> c1 [COUNT <count>] [NOACK] STREAMS <key> (>|<id>)", "XACK <key> <group> {<id>}", "XPENDING <key> <group>",
	},
	final: []string{"XRANGE KEY - +", "XLEN KEY"},
}
