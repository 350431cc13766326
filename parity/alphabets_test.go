package parity

import "strings"

// alphabets are small, so that calls meet; every one has words that are wrong or at a border.
var alphabets = map[string]alphabet{
	"key":    {"k1", "k2", "k3", "k4", "{k}5"},
	"field":  {"f1", "f2", "f3", "f4", "", "12", strings.Repeat("f", 70)},
	"member": {"m1", "m2", "m3", "m4", "", "7", "-12", strings.Repeat("m", 70)},
	"value":  {"v1", "v2", "10", "", "-5", "3.14", " 1", "9223372036854775807", "a\r\nb\x00", strings.Repeat("v", 70)},
	"int":    {"1", "2", "-1", "0", "5", "-3", "9223372036854775807", "-9223372036854775808", "10", "007", "+1", "1x", "3.0"},
	"float":  {"1.5", "2", "-0.5", "0.1", "1e3", "inf", "-inf", "nan", "0x10", "1e400", "abc", "", "3.0", " 1"},
	"score":  {"1", "2", "0", "-1", "2.5", "inf", "-inf", "1e3", "0x10", "nan", "1e400", "abc", "", " 1", "1048577"},
	"bound":  {"1", "2", "(1", "-inf", "+inf", "0", "(2.5", "(-inf", "5", "-5", "nan", "x", "(", "", "[1"},
	"lexkey": {"l1", "l2"},
	"lex":    {"-", "+", "[m1", "(m2", "[m3", "[", "(", "(m", "[zz", "m1", "", "--"},
	"index":  {"0", "-1", "1", "2", "-2", "3", "-100", "100", "x"},
	"count":  {"1", "2", "3", "0", "-1", "10", "-5", "x", "9223372036854775807"},
	"id":     {"1-1", "2-1", "1-2", "3", "5-5", "0-0", "4-*", "0", "18446744073709551615-18446744073709551615", "x", "1-x", "0-1", "2"},
	"range":  {"-", "+", "1", "2", "(1-1", "(3", "5-5", "(-", "x", "0", "2-1", "("},
	"group":  {"g1", "g2", "none"},

	"consumer": {"c1", ""},
	// Deadlines are either long past or so far away that no clock comes near them. Those from now on are not compared
	// with each other (GT, LT): the clock decides between equal ones.
	"seconds":   {"1000", "5000", "100000", "0", "-1", "9223372036854775807", "9223372036854775", "x"},
	"ms":        {"1000000", "5000000", "100000000", "0", "-1", "9223372036854775807", "x"},
	"at":        {"4000000000", "5000000000", "1", "0", "-1", "9223372036854775807", "x"},
	"msat":      {"4000000000000", "5000000000000", "1", "0", "-1", "9223372036854775807", "x"},
	"offset":    {"0", "1", "5", "100", "-1", "536870912", "x"},
	"bit":       {"0", "1", "7", "8", "100", "5", "-1", "4294967296", "x"},
	"bittype":   {"u8", "i8", "u4", "i16", "u1", "i64", "u63", "u64", "i65", "i5", "x", "u0", "i"},
	"bitoffset": {"0", "#1", "3", "#0", "100", "-1", "#-1", "#x", "x"},
	"pattern":   {"*", "f*", "m?", "k[1-3]", "[^a]*", "\\*", "", "*1"},
}

// sharedTemplates put other kinds and deadlines in the way of every family.
var sharedTemplates = []string{
	"SET <key> <value>", "HSET <key> <field> <value>", "RPUSH <key> <value>", "SADD <key> <member>", "ZADD <key> 1 <member>",
	"DEL <key>", "DEL <key>", "EXPIRE <key> <seconds> [NX|XX]", "EXPIREAT <key> <at> [NX|XX|GT|LT]", "PTTL <key>", "TYPE <key>",
}

// sharedFinal reads what every key has.
var sharedFinal = []string{"TYPE KEY", "EXPIRETIME KEY", "OBJECT ENCODING KEY"}

// orders holds the commands whose replies are not compared to the byte.
var orders = map[string]order{
	"HGETALL": {group: 2}, "HKEYS": {group: 1}, "HVALS": {group: 1}, "HSCAN": {group: 2},
	"SMEMBERS": {group: 1}, "SINTER": {group: 1}, "SUNION": {group: 1}, "SDIFF": {group: 1}, "SPOP": {group: 1}, "SRANDMEMBER": {group: 1}, "SSCAN": {group: 1},
	"KEYS": {group: 1}, "SCAN": {group: 1}, "ZSCAN": {group: 2},
	"TTL": {near: 10}, "EXPIRETIME": {near: 10}, "PTTL": {near: 10_000}, "PEXPIRETIME": {near: 10_000},
	"HRANDFIELD": {group: 1}, "ZRANDMEMBER": {group: 1},
	"XPENDING": {near: 1000},
}
