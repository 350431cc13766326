package resp_test

import (
	"strings"

	"github.com/echomq/emqd/server/resp"
)

// readCase is a stream and what a server reads in it: the requests, then an
// error or, with rest bytes left, the wait for more.
type readCase struct {
	name   string
	in     string
	unauth bool
	want   [][]string
	err    error
	rest   int
	// local says why a real server is not asked.
	local string
}

// words is one expected request.
func words(args ...string) []string { return args }

// reqs lists expected requests.
func reqs(r ...[]string) [][]string { return r }

var (
	ping     = words("PING")
	none     = []string{}
	pingWire = "*1\r\n$4\r\nPING\r\n"
)

// argv builds the request that makes a real server return its arguments.
func argv(args ...string) []string {
	return append(words("EVAL", "return ARGV", "0"), args...)
}

// inlineArgv is an inline request of the same kind; text is read as words.
func inlineArgv(text string) string { return `EVAL "return ARGV" 0 ` + text }

var multibulkCases = []readCase{
	{name: "one", in: pingWire, want: reqs(ping)},
	{name: "pipeline", in: pingWire + "*2\r\n$4\r\nECHO\r\n$3\r\na\r\n\r\n" + pingWire, want: reqs(ping, words("ECHO", "a\r\n"), ping)},
	{name: "empty argument", in: "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", want: reqs(words("ECHO", ""))},
	{name: "NUL in argument", in: "*2\r\n$4\r\nECHO\r\n$3\r\na\x00b\r\n", want: reqs(words("ECHO", "a\x00b"))},
	{name: "two digits", in: "*2\r\n$4\r\nECHO\r\n$12\r\n123456789012\r\n", want: reqs(words("ECHO", "123456789012"))},
	{name: "five digits", in: "*2\r\n$4\r\nECHO\r\n$27000\r\n" + strings.Repeat("x", 27000) + "\r\n", want: reqs(words("ECHO", strings.Repeat("x", 27000)))},
	{name: "zero and negative counts", in: "*0\r\n*-1\r\n*-5\r\n*-9223372036854775808\r\n" + pingWire, want: reqs(none, none, none, none, ping)},
	{name: "bytes behind payload unchecked", in: "*1\r\n$4\r\nPINGxy" + pingWire, want: reqs(ping, ping)},
	{name: "byte behind CR unchecked", in: "*1\rx$4\ryPING\r\n", want: reqs(ping)},
	{name: "payload too long for its length", in: "*1\r\n$4\r\nPINGER\r\n" + pingWire, want: reqs(ping, none, ping)},
	{name: "error behind requests", in: pingWire + "*1\r\n+OK\r\n" + pingWire, want: reqs(ping), err: resp.Error("ERR Protocol error: expected '$', got '+'")},
}

var countCases = []readCase{
	{name: "nothing", in: ""},
	{name: "star", in: "*", rest: 1},
	{name: "count cut", in: "*12", rest: 3},
	{name: "CR without LF", in: "*1\r", rest: 3},
	{name: "LF alone never ends a count", in: "*1\n$4\nPING\n", rest: 11},
	{name: "LF alone swallows the next line", in: "*1\n$4\r\nPING\r\n", err: resp.ErrMultibulkLength},
	{name: "over a million waits", in: "*1048577\r\n", rest: 10},
	{name: "largest count waits", in: "*2147483647\r\n", rest: 13},
	{name: "count too large", in: "*2147483648\r\n", err: resp.ErrMultibulkLength},
	{name: "count overflows", in: "*9223372036854775808\r\n", err: resp.ErrMultibulkLength},
	{name: "count of 20 digits", in: "*18446744073709551617\r\n", err: resp.ErrMultibulkLength},
	{name: "count below 64 bits", in: "*-9223372036854775809\r\n", err: resp.ErrMultibulkLength},
	{name: "no count", in: "*\r\n", err: resp.ErrMultibulkLength},
	{name: "plus", in: "*+1\r\n", err: resp.ErrMultibulkLength},
	{name: "leading zero", in: "*01\r\n", err: resp.ErrMultibulkLength},
	{name: "minus zero", in: "*-0\r\n", err: resp.ErrMultibulkLength},
	{name: "minus alone", in: "*-\r\n", err: resp.ErrMultibulkLength},
	{name: "space before", in: "* 1\r\n", err: resp.ErrMultibulkLength},
	{name: "space behind", in: "*1 \r\n", err: resp.ErrMultibulkLength},
	{name: "letters", in: "*abc\r\n", err: resp.ErrMultibulkLength},
	{name: "NUL hides the end", in: "*1\x00\r\n$4\r\nPING\r\n", rest: 15},
	{name: "unterminated at the limit", in: "*" + strings.Repeat("1", 65535), rest: 65536},
	{name: "unterminated over the limit", in: "*" + strings.Repeat("1", 65536), err: resp.ErrMultibulkLine},
	{name: "NUL over the limit", in: "*\x00\r\n" + strings.Repeat("1", 65533), err: resp.ErrMultibulkLine},
	{name: "terminated at the limit", in: "*" + strings.Repeat("1", 65535) + "\r\n", err: resp.ErrMultibulkLength},
	{name: "terminated over the limit", in: "*" + strings.Repeat("1", 65536) + "\r\n", err: resp.ErrMultibulkLine,
		local: "a real server answers by how the bytes are cut into reads"},
}

var bulkCases = []readCase{
	{name: "null argument", in: "*2\r\n$3\r\nGET\r\n$-1\r\n", err: resp.ErrBulkLength},
	{name: "nested array", in: "*1\r\n*2000000000\r\n", err: resp.Error("ERR Protocol error: expected '$', got '*'")},
	{name: "no dollar", in: "*1\r\nfoo\r\n", err: resp.Error("ERR Protocol error: expected '$', got 'f'")},
	{name: "no dollar, line cut", in: "*1\r\nfoo", rest: 7},
	{name: "no dollar, CR only", in: "*1\r\nfoo\r", rest: 8},
	{name: "empty line", in: "*1\r\n\r\n", err: resp.Error("ERR Protocol error: expected '$', got ' '")},
	{name: "LF", in: "*1\r\n\n\r\n", err: resp.Error("ERR Protocol error: expected '$', got ' '")},
	{name: "high byte", in: "*1\r\n\xff\r\n", err: resp.Error("ERR Protocol error: expected '$', got '\xff'")},
	{name: "NUL hides the end", in: "*1\r\n\x00\r\n", rest: 7},
	{name: "over proto-max-bulk-len", in: "*1\r\n$2000000000\r\n", err: resp.ErrBulkLength},
	{name: "at proto-max-bulk-len", in: "*2\r\n$3\r\nGET\r\n$536870912\r\n", rest: 25},
	{name: "one over proto-max-bulk-len", in: "*2\r\n$3\r\nGET\r\n$536870913\r\n", err: resp.ErrBulkLength},
	{name: "overflow", in: "*1\r\n$99999999999999999999\r\n", err: resp.ErrBulkLength},
	{name: "largest integer", in: "*1\r\n$9223372036854775807\r\n", err: resp.ErrBulkLength},
	{name: "no length", in: "*1\r\n$\r\n", err: resp.ErrBulkLength},
	{name: "plus", in: "*1\r\n$+4\r\nPING\r\n", err: resp.ErrBulkLength},
	{name: "leading zero", in: "*1\r\n$04\r\nPING\r\n", err: resp.ErrBulkLength},
	{name: "zeros", in: "*1\r\n$00\r\n\r\n", err: resp.ErrBulkLength},
	{name: "minus zero", in: "*1\r\n$-0\r\n\r\n", err: resp.ErrBulkLength},
	{name: "space", in: "*1\r\n$4 \r\nPING\r\n", err: resp.ErrBulkLength},
	{name: "letter behind digit", in: "*1\r\n$4a\r\nPING\r\n", err: resp.ErrBulkLength},
	{name: "unterminated at the limit", in: "*1\r\n$" + strings.Repeat("1", 65535), rest: 65540},
	{name: "unterminated over the limit", in: "*1\r\n$" + strings.Repeat("1", 65536), err: resp.ErrBulkLine},
	{name: "payload cut", in: "*1\r\n$4\r\nPIN", rest: 11},
	{name: "payload end cut", in: "*1\r\n$4\r\nPING\r", rest: 13},
	{name: "second argument missing", in: "*2\r\n$4\r\nECHO\r\n", rest: 14},
}

var unauthCases = []readCase{
	{name: "ten arguments", in: "*10\r\n" + strings.Repeat("$4\r\nPING\r\n", 10), want: reqs(words(strings.Fields(strings.Repeat("PING ", 10))...))},
	{name: "eleven arguments", in: "*11\r\n", err: resp.ErrMultibulkUnauth},
	{name: "count too large for anyone", in: "*2147483648\r\n", err: resp.ErrMultibulkLength},
	{name: "negative count", in: "*-11\r\n", want: reqs(none)},
	{name: "longest argument", in: "*1\r\n$16384\r\n" + strings.Repeat("x", 16384) + "\r\n", want: reqs(words(strings.Repeat("x", 16384)))},
	{name: "one byte more", in: "*1\r\n$16385\r\n", err: resp.ErrBulkUnauth},
	{name: "length too large for anyone", in: "*1\r\n$536870913\r\n", err: resp.ErrBulkLength},
	{name: "inline has its own limit", in: "PING " + strings.Repeat("x", 20000) + "\r\n", want: reqs(words("PING", strings.Repeat("x", 20000)))},
	{name: "inline with many words", in: strings.Repeat("PING ", 20) + "\r\n", want: reqs(words(strings.Fields(strings.Repeat("PING ", 20))...))},
}

var inlineCases = []readCase{
	{name: "CRLF", in: "PING\r\n", want: reqs(ping)},
	{name: "LF", in: "PING\nPING\n", want: reqs(ping, ping)},
	{name: "empty lines", in: "\r\n\n  \r\n\t\nPING\r\n", want: reqs(none, none, none, none, ping)},
	{name: "between multibulk", in: pingWire + "ECHO hi\r\n" + pingWire, want: reqs(ping, words("ECHO", "hi"), ping)},
	{name: "dollar first", in: "$4\r\n", want: reqs(words("$4"))},
	{name: "blanks around", in: " \t\v\f PING \t\r\n", want: reqs(ping)},
	{name: "two CR", in: "PING\r\r\n", want: reqs(ping)},
	{name: "CR between words", in: "ECHO\rhi\r\n", want: reqs(words("ECHO", "hi"))},
	{name: "CR only", in: "\r\n\r\r\nPING\n", want: reqs(none, none, ping)},
	{name: "not complete", in: "PING", rest: 4},
	{name: "not complete with CR", in: "PING\r", rest: 5},
	{name: "NUL hides the end", in: "PING\x00\r\nPING\r\n", rest: 13},
	{name: "at the limit", in: strings.Repeat("A", 65536), rest: 65536},
	{name: "over the limit", in: strings.Repeat("A", 65537), err: resp.ErrInlineLine},
	{name: "NUL over the limit", in: "\x00\r\n" + strings.Repeat("A", 65534), err: resp.ErrInlineLine},
	{name: "longest line", in: "ECHO " + strings.Repeat("A", 65530) + "\r\n", want: reqs(words("ECHO", strings.Repeat("A", 65530)))},
	{name: "ended over the limit", in: strings.Repeat("A", 65537) + "\n", err: resp.ErrInlineLine,
		local: "a real server answers by how the bytes are cut into reads"},
	{name: "quote left open", in: "SET a \"b\r\n", err: resp.ErrInlineQuotes},
	{name: "error behind requests", in: "PING\r\nPING '\r\nPING\r\n", want: reqs(ping), err: resp.ErrInlineQuotes},
}

// quoteCases are the words of a line; a nil want is an unbalanced quote.
var quoteCases = []struct {
	text string
	want []string
}{
	{`a b  c`, words("a", "b", "c")},
	{`"a b" 'c d'`, words("a b", "c d")},
	{`"" ''`, words("", "")},
	{`foo"bar baz"`, words("foobar baz")},
	{`foo'bar baz' x`, words("foobar baz", "x")},
	{`"a"b`, nil},
	{`'a'b`, nil},
	{`"a""b"`, nil},
	{`"a" "b`, nil},
	{`'a`, nil},
	{`"`, nil},
	{`"a\"`, nil},
	{`'a\'`, nil},
	{`"a\`, nil},
	{`'a\`, nil},
	{`"\n\r\t\b\a\\\"\q\'"`, words("\n\r\t\b\a\\\"q'")},
	{`'\n\x41\\ '`, words(`\n\x41\\ `)},
	{`'a\\'`, nil},
	{`'it\'s'`, words("it's")},
	{`"\x00\xfF\x4a"`, words("\x00\xffJ")},
	{`"\x4"`, words("x4")},
	{`"\x4g\xg4\x"`, words("x4gxg4x")},
	{`"\x41`, nil},
	{`"\x4`, nil},
	{`\n a\ b`, words(`\n`, `a\`, "b")},
	{`it's`, nil},
	{"a\vb\fc", words("a\vb\fc")},
	{"\"a\"\v'b'\fc", words("a", "b", "c")},
	{"'a\tb'\t\"c\rd\"", words("a\tb", "c\rd")},
	{"\xff\x80 \xa0", words("\xff\x80", "\xa0")},
	{"'\"' \"'\"", words(`"`, "'")},
}

// allCases joins the tables.
func allCases() []readCase {
	groups := []struct {
		name  string
		cases []readCase
	}{{"multibulk", multibulkCases}, {"count", countCases}, {"bulk", bulkCases}, {"unauth", unauthCases}, {"inline", inlineCases}}
	var all []readCase
	for _, g := range groups {
		for _, c := range g.cases {
			c.name = g.name + "/" + c.name
			c.unauth = g.name == "unauth"
			all = append(all, c)
		}
	}
	for _, q := range quoteCases {
		c := readCase{name: "quotes/" + q.text, in: inlineArgv(q.text) + "\r\n"}
		if c.want = reqs(argv(q.want...)); q.want == nil {
			c.want, c.err = nil, resp.ErrInlineQuotes
		}
		all = append(all, c)
	}
	return all
}
