package parity

var stringFamily = family{
	name: "string",
	templates: []string{
		"SET <key> <value> [NX|XX] [GET] [EX <seconds>|PX <ms>|EXAT <at>|PXAT <msat>|KEEPTTL]",
		"SET <key> <value> [GET] [NX|XX]", "SET <key> <value> {(NX|XX|GET|KEEPTTL|EX <seconds>|PX <ms>|IDLE)}", "SET <key> <value>", "SET <key> <int>",
		"GET <key>", "GET <key>", "GETDEL <key>", "GETEX <key> [EX <seconds>|PX <ms>|EXAT <at>|PXAT <msat>|PERSIST]",
		"GETEX <key> {(EX <seconds>|PX <ms>|PERSIST|KEEPTTL)}", "GETSET <key> <value>", "SETNX <key> <value>", "SETEX <key> <seconds> <value>",
		"PSETEX <key> <ms> <value>", "MSET {<key> <value>}", "MSETNX {<key> <value>}", "MGET {<key>}", "STRLEN <key>",
		"APPEND <key> <value>", "APPEND <key> <value>", "SETRANGE <key> <offset> <value>", "GETRANGE <key> <index> <index>", "SUBSTR <key> <index> <index>",
		"INCR <key>", "DECR <key>", "INCRBY <key> <int>", "DECRBY <key> <int>", "INCRBYFLOAT <key> <float>", "INCRBYFLOAT <key> <float>",
		"LCS <key> <key> [LEN|IDX] [IDX] [MINMATCHLEN <index>] [WITHMATCHLEN]", "TTL <key>",
	},
	final: []string{"GET KEY", "STRLEN KEY"},
}

var bitmapFamily = family{
	name: "bitmap",
	templates: []string{
		"SETBIT <key> <bit> (0|1|2|x)", "SETBIT <key> <bit> 1", "SETBIT <key> <bit> 1", "GETBIT <key> <bit>", "BITCOUNT <key>",
		"BITCOUNT <key> <index> <index> [BYTE|BIT|X]", "BITPOS <key> (0|1|2)", "BITPOS <key> (0|1) <index>",
		"BITPOS <key> (0|1) <index> <index> [BYTE|BIT]", "BITOP (AND|OR|XOR) <key> {<key>}", "BITOP NOT <key> <key> [<key>]", "BITOP NAND <key> <key>",
		"BITFIELD <key> {(GET <bittype> <bitoffset>|SET <bittype> <bitoffset> <int>|INCRBY <bittype> <bitoffset> <int>)}",
		"BITFIELD <key> {(OVERFLOW (WRAP|SAT|FAIL|X) INCRBY <bittype> <bitoffset> <int>|SET <bittype> <bitoffset> <int>)}",
		"BITFIELD_RO <key> {GET <bittype> <bitoffset>}", "BITFIELD_RO <key> SET u8 0 1", "BITFIELD <key>", "SET <key> <value>", "APPEND <key> <value>",
	},
	final: []string{"GET KEY", "BITCOUNT KEY"},
}
