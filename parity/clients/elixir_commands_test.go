package clients

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/script"
)

// exchange is one request with its reply in the notation of the scripts. {n} stands for a number, {t} for any text.
type exchange struct{ request, reply string }

// plainExchanges are the plain commands that the Elixir client uses, with RESP3 replies.
var plainExchanges = []exchange{
	{"HSET h a 1 b 2", ":2"}, {"HGET h a", `$"1"`}, {"HGET h z", "_"}, {"HMGET h a z", `*[$"1" _]`},
	{"HGETALL h", `%{$"a" $"1" $"b" $"2"}`}, {"HGETALL none", "%{}"}, {"HLEN h", ":2"}, {"HKEYS h", `*[$"a" $"b"]`},
	{"HEXISTS h a", ":1"}, {"HEXISTS h z", ":0"}, {"HDEL h b z", ":1"}, {"HINCRBY h a 41", ":42"},
	{"HSETNX h a 0", ":0"}, {"HSETNX h c 3", ":1"}, {"HKEYS none", "*[]"},

	{"HEXPIRE h 100 FIELDS 2 a z", "*[:1 :-2]"}, {"HTTL h FIELDS 3 a c z", "*[:100 :-1 :-2]"},
	{"HPTTL h FIELDS 1 a", "*[:{n}]"}, {"HSET h a 1", ":0"}, {"HTTL h FIELDS 1 a", "*[:-1]"},
	{"HPEXPIRE h 100000 FIELDS 1 a", "*[:1]"}, {"HPEXPIREAT h 1 FIELDS 1 a", "*[:2]"}, {"HEXISTS h a", ":0"},
	{"HEXPIRE h 0 FIELDS 1 c", "*[:2]"}, {"EXISTS h", ":0"}, {"HPTTL h FIELDS 1 c", "*[:-2]"},

	{"ZADD z 0 a 0 b 0 c", ":3"}, {"ZRANGE z + - BYLEX REV", `*[$"c" $"b" $"a"]`},
	{"ZRANGE z + - BYLEX REV LIMIT 0 2", `*[$"c" $"b"]`}, {"ZRANGE z 0 1", `*[$"a" $"b"]`},
	{"ZADD s 1795976225495 a 0 b -5 c 0.5 d 1e17 e", ":5"}, {"ZSCORE s a", ",1795976225495"}, {"ZSCORE s b", ",0"},
	{"ZSCORE s c", ",-5"}, {"ZSCORE s d", ",0.5"}, {"ZSCORE s e", ",100000000000000000"}, {"ZSCORE s z", "_"},
	{"ZRANGEBYSCORE s -inf 1 LIMIT 0 2", `*[$"c" $"b"]`}, {"ZREVRANGE s 0 0", `*[$"e"]`}, {"ZREVRANK s e", ":0"},
	{"ZREVRANK s z", "_"}, {"ZCARD s", ":5"}, {"ZREM s a z", ":1"}, {"ZRANGE s 0 0 WITHSCORES", `*[*[$"c" ,-5]]`},
	{"ZADD s INCR 2 b", ",2"}, {"ZINCRBY s 1 b", ",3"}, {"ZPOPMIN s", `*[$"c" ,-5]`}, {"ZPOPMAX s 1", `*[*[$"e" ,100000000000000000]]`},
	{"ZCOUNT s -inf +inf", ":2"}, {"ZSCAN s 0", `*[$"0" *[$"d" $"0.5" $"b" $"3"]]`},

	{"RPUSH l a b c", ":3"}, {"LPUSH l z", ":4"}, {"LRANGE l 0 -1", `*[$"z" $"a" $"b" $"c"]`}, {"LLEN l", ":4"},
	{"LPOS l b", ":2"}, {"LPOS l x", "_"}, {"LTRIM l 0 2", "+OK"}, {"RPOP l", `$"b"`}, {"RPOP none", "_"},
	{"LMOVE l l LEFT RIGHT", `$"z"`}, {"LINSERT l BEFORE z y", ":3"}, {"LSET l 0 b", "+OK"}, {"LREM l 0 y", ":1"}, {"RPOPLPUSH l l2", `$"z"`},

	{"SADD set a b", ":2"}, {"SCARD set", ":2"}, {"SISMEMBER set a", ":1"}, {"SISMEMBER set z", ":0"}, {"SMEMBERS none", "~[]"},

	{"SET k v", "+OK"}, {"GET k", `$"v"`}, {"GET none", "_"}, {"SET k w NX", "_"}, {"SET k w EX 100", "+OK"}, {"TTL k", ":100"},
	{"SET k w PX 100000", "+OK"}, {"PTTL k", ":{n}"}, {"SET lock me NX EX 30", "+OK"}, {"SET lock me NX EX 30", "_"},
	{"EXISTS k lock none", ":2"}, {"APPEND k x", ":2"}, {"PEXPIRE k 5000", ":1"}, {"PEXPIRE none 5000", ":0"}, {"TTL none", ":-2"},
	{"INCR n", ":1"}, {"INCRBY n 41", ":42"}, {"INCRBYFLOAT n 0.5", `$"42.5"`}, {"DEL k lock none", ":2"},
	{"GETSET n 1", `$"42.5"`}, {"GETDEL n", `$"1"`}, {"MSET a 1 b 2", "+OK"}, {"MGET a z", `*[$"1" _]`}, {"STRLEN a", ":1"},
	{"SETEX a 10 x", "+OK"}, {"SETNX a y", ":0"}, {"GETRANGE a 0 0", `$"x"`}, {"SETRANGE a 1 yz", ":3"}, {"DECRBY b 3", ":-1"}, {"UNLINK a b", ":2"},

	{"SET emq:{q}:one 1", "+OK"}, {"KEYS emq:{q}:*", `*[$"emq:{q}:one"]`}, {"SCAN 0 MATCH emq:* COUNT 500", `*[$"0" *[$"emq:{q}:one"]]`},
	{"SCAN 0 TYPE string", `*[$"0" *[{t}]]`}, {"HSET h f v", ":1"}, {"HSCAN h 0 NOVALUES", `*[$"0" *[$"f"]]`}, {"TYPE h", "+hash"},
	{"RENAME h h2", "+OK"}, {"RENAMENX h2 set", ":0"}, {"COPY h2 h", ":1"}, {"TOUCH h h2", ":2"}, {"PERSIST h", ":0"}, {"EXPIREAT h 99999999999", ":1"},

	{"PUBLISH nobody x", ":0"}, {"CLIENT ID", ":{n}"}, {"TIME", `*[$"{n}" $"{n}"]`}, {"PING", "+PONG"},
	{"SUBSCRIBE c", `>[$"subscribe" $"c" :2]`}, {"UNSUBSCRIBE c", `>[$"unsubscribe" $"c" :1]`},
	{"CLIENT TRACKING ON BCAST PREFIX p", "+OK"}, {"CLIENT TRACKING OFF", "+OK"},
	{"SELECT 15", "+OK"}, {"FLUSHDB", "+OK"}, {"EXISTS s", ":0"},
}

// streamExchanges are those for streams.
var streamExchanges = []exchange{
	{"XGROUP CREATE st g $", `-ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.`},
	{"XGROUP CREATE st g 0 MKSTREAM", "+OK"}, {"XGROUP CREATE st g 0 MKSTREAM", `-BUSYGROUP Consumer Group name already exists`},
	{"XREADGROUP GROUP g c STREAMS st >", "_"}, {"XREADGROUP GROUP g c STREAMS st 0", `%{$"st" *[]}`},
	{"XREADGROUP GROUP g c BLOCK 10 STREAMS st >", "_"},
	{"XADD st 5-1 a 1", `$"5-1"`}, {"XADD st 5-2 a 2", `$"5-2"`}, {"XADD st 6-0 a 3 b 4", `$"6-0"`},
	{"XADD st 6-0 a 3", `-ERR The ID specified in XADD is equal or smaller than the target stream top item`},
	{"XLEN st", ":3"}, {"XRANGE st - + COUNT 1", `*[*[$"5-1" *[$"a" $"1"]]]`}, {"XRANGE st 6 +", `*[*[$"6-0" *[$"a" $"3" $"b" $"4"]]]`},
	{"XREADGROUP GROUP g c COUNT 2 STREAMS st >", `%{$"st" *[*[$"5-1" *[$"a" $"1"]] *[$"5-2" *[$"a" $"2"]]]}`},
	{"XPENDING st g", `*[:2 $"5-1" $"5-2" *[*[$"c" $"2"]]]`}, {"XPENDING st g - + 1", `*[*[$"5-1" $"c" :{n} :1]]`},
	{"XREADGROUP GROUP g c COUNT 1 STREAMS st 0", `%{$"st" *[*[$"5-1" *[$"a" $"1"]]]}`}, // delivered once more
	{"XPENDING st g - + 1", `*[*[$"5-1" $"c" :{n} :2]]`},
	{"XAUTOCLAIM st g c 0 0 COUNT 1", `*[$"5-2" *[*[$"5-1" *[$"a" $"1"]]] *[]]`},
	{"XPENDING st g - + 1", `*[*[$"5-1" $"c" :{n} :3]]`},
	{"XTRIM st MINID = 5-2", ":1"}, {"XREADGROUP GROUP g c STREAMS st 0", `%{$"st" *[*[$"5-1" _] *[$"5-2" *[$"a" $"2"]]]}`},
	{"XAUTOCLAIM st g d 0 0", `*[$"0-0" *[*[$"5-2" *[$"a" $"2"]]] *[$"5-1"]]`},
	{"XACK st g 5-1 5-2", ":1"}, {"XTRIM st MAXLEN ~ 1000", ":0"}, {"XTRIM st MAXLEN = 1", ":1"},
	{"XINFO GROUPS st", `*[%{$"name" $"g" $"consumers" :2 $"pending" :0 $"last-delivered-id" $"5-2" $"entries-read" :2 $"lag" :1}]`},
}

// runExchanges boots as the Elixir client and holds each reply to its form, and to the types that its parser knows.
func runExchanges(t *testing.T, list []exchange) {
	c := bootElixir(t, startElixir(t), "")
	for _, x := range list {
		got := c.Do(x.request)
		want := regexp.QuoteMeta(x.reply)
		want = strings.ReplaceAll(want, `\{n\}`, `[0-9]+`)
		want = strings.ReplaceAll(want, `\{t\}`, `.*`)
		require.Regexp(t, "^"+want+"$", got, x.request)
	}
}

func TestElixirPlainCommands(t *testing.T) { runExchanges(t, plainExchanges) }

func TestElixirStreams(t *testing.T) { runExchanges(t, streamExchanges) }

// TestNoReplyHasATypeOutsideTheElixirClients looks into the replies of everything that is asked about the node.
func TestNoReplyHasATypeOutsideTheElixirClients(t *testing.T) {
	c := bootElixir(t, startElixir(t), "")
	var look func(v script.Value, request string)
	look = func(v script.Value, request string) {
		require.Contains(t, "+-:$*%~>,#_(=", string(v.Kind), request)
		if v.Kind == ',' {
			require.Regexp(t, `^-?[0-9]+(\.[0-9]+)?$`, v.Text, request)
		}
		for _, e := range v.Elems {
			look(e, request)
		}
	}
	for _, request := range []string{
		"COMMAND", "COMMAND DOCS", "COMMAND LIST", "INFO everything", "CONFIG GET *", "CLIENT LIST", "CLIENT INFO", "CLIENT TRACKINGINFO",
		"ACL LIST", "ACL GETUSER default", "ACL LOG", "SLOWLOG GET", "LATENCY LATEST", "LATENCY HISTOGRAM", "LATENCY DOCTOR", "LOLWUT",
		"EMQ.VERSION", "TRA.INFO", "TRA.COMMANDS", "MEMORY STATS", "MEMORY DOCTOR", "PUBSUB CHANNELS", "PUBSUB NUMSUB a", "ROLE", "TIME",
		"HELLO 3", "RESET", "HELLO 3", "OBJECT HELP", "DEBUG HELP", "COMMAND GETKEYSANDFLAGS SET a b", "ACL CAT", "ACL WHOAMI", "MODULE LIST",
	} {
		c.Send(request)
		v, _, err := script.Decode([]byte(c.Bytes()))
		require.NoError(t, err, request)
		look(v, request)
	}
}
