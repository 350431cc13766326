package commands

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseSyntax(t *testing.T) {
	for syntax, want := range map[string][]argument{
		"key field value [field value ...]": {
			{name: "key", kind: "key"},
			{name: "field", kind: "block", multiple: true, parts: []argument{{name: "field", kind: "string"}, {name: "value", kind: "string"}}},
		},
		"key [key ...]": {{name: "key", kind: "key", multiple: true}},
		"key value [NX | XX] [EX seconds | KEEPTTL]": {
			{name: "key", kind: "key"},
			{name: "value", kind: "string"},
			{name: "option", kind: "oneof", optional: true, parts: []argument{
				{name: "nx", kind: "pure-token", token: "NX"}, {name: "xx", kind: "pure-token", token: "XX"},
			}},
			{name: "option", kind: "oneof", optional: true, parts: []argument{
				{name: "seconds", kind: "integer", token: "EX"}, {name: "keepttl", kind: "pure-token", token: "KEEPTTL"},
			}},
		},
		"[protover [AUTH username password]]": {{name: "protover", kind: "block", optional: true, parts: []argument{
			{name: "protover", kind: "string"},
			{name: "auth", kind: "block", token: "AUTH", optional: true, parts: []argument{
				{name: "username", kind: "string"}, {name: "password", kind: "string"},
			}},
		}}},
		"key [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN>] [LIMIT offset count:string]": {
			{name: "key", kind: "key"},
			{name: "weight", kind: "double", token: "WEIGHTS", optional: true, multiple: true},
			{name: "option", kind: "oneof", token: "AGGREGATE", optional: true, parts: []argument{
				{name: "sum", kind: "pure-token", token: "SUM"}, {name: "min", kind: "pure-token", token: "MIN"},
			}},
			{name: "limit", kind: "block", token: "LIMIT", optional: true, parts: []argument{
				{name: "offset", kind: "integer"}, {name: "count", kind: "string"},
			}},
		},
		"<ON | OFF> [PREFIX prefix [PREFIX prefix ...]]": {
			{name: "option", kind: "oneof", parts: []argument{
				{name: "on", kind: "pure-token", token: "ON"}, {name: "off", kind: "pure-token", token: "OFF"},
			}},
			{name: "prefix", kind: "string", token: "PREFIX", optional: true, multiple: true, repeat: true},
		},
	} {
		require.Equal(t, want, parseSyntax(syntax), syntax)
	}
}

func TestReadSyntax(t *testing.T) {
	plain, args := readSyntax("<a:key | ip:port> [destination key [key ...] [count:integer]] x:double", 2)
	require.Equal(t, "<a | ip:port> [destination key [key ...] [count]] x", plain)
	require.Equal(t, []int{0, 1, 1}, []int{args[0].parts[0].spec, args[1].parts[0].spec, args[1].parts[1].spec})
}
