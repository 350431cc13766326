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
		"XGROUP CREATE <key> <group> (<id>|$) [MKSTREAM] [ENTRIESREAD (0|2|5|-1|-2|x)]", "XGROUP DESTROY <key> <group>", "XGROUP SETID <key> <group> (<id>|$)",
		"XREADGROUP GROUP <group> c1 [COUNT <count>] [NOACK] STREAMS <key> (>|<id>)", "XACK <key> <group> {<id>}", "XPENDING <key> <group>",
		"!XGROUP CREATE <key> <group> 0 MKSTREAM", "!XREADGROUP GROUP <group> <consumer> STREAMS <key> >", "XREADGROUP GROUP <group> <consumer> STREAMS <key> <id>",
		"XREADGROUP GROUP <group> <consumer> STREAMS <key> <key> > >", "XGROUP (CREATECONSUMER|DELCONSUMER) <key> <group> <consumer>",
		"XGROUP SETID <key> <group> <range> [ENTRIESREAD (0|2|5|-1|-2|x)]", "XPENDING <key> <group> [IDLE (0|1000000)] <range> <range> <count> [<consumer>]",
		"XCLAIM <key> <group> <consumer> (0|1000000|-1|x) {<id>} [JUSTID]",
		"XCLAIM <key> <group> <consumer> 0 {<id>} {(JUSTID|FORCE|IDLE 1000|TIME 1000|RETRYCOUNT <count>|LASTID <id>|X)}",
		"XAUTOCLAIM <key> <group> <consumer> (0|0|1000000|-1|x) <range> [COUNT <count>] [JUSTID]", "XINFO GROUPS <key>",
		"COPY <key> <key> REPLACE", "XDEL <key> <id>",
	},
	final: []string{
		"XRANGE KEY - +", "XREVRANGE KEY + -", "XLEN KEY", "XINFO STREAM KEY", "XINFO GROUPS KEY", "XPENDING KEY g1", "XPENDING KEY g2",
		"XPENDING KEY g1 - + 100", "XPENDING KEY g2 - + 100",
	},
}
