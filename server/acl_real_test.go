package server

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/echomq/emqd/parity/real"
	"github.com/echomq/emqd/parity/wire"
)

// aclTwins are emqd and a real server, asked the same.
type aclTwins struct{ ours, theirs *wire.Target }

func startTwins(t *testing.T) aclTwins {
	theirs := real.Start(t)
	ours, err := wire.Dial("tcp", startServer(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ours.Close()) })
	return aclTwins{ours, theirs}
}

func (w aclTwins) ask(t require.TestingT, args ...string) (ours, theirs string) {
	a, err := w.ours.Control(args...)
	require.NoError(t, err)
	b, err := w.theirs.Control(args...)
	require.NoError(t, err)
	return string(a), string(b)
}

func (w aclTwins) same(t require.TestingT, args ...string) {
	ours, theirs := w.ask(t, args...)
	require.Equal(t, theirs, ours, "%q", args)
}

var (
	aclSanitize = regexp.MustCompile(` sanitize-payload`)
	aclCommands = regexp.MustCompile(` [+-][^ )]+`)
	aclBulkHead = regexp.MustCompile(`\$\d+\r\n`)
)

// aclListed returns ACL LIST without what Redis 7.0 shows otherwise than Valkey 8: the flag sanitize-payload, which it
// shows only when it was set, and the commands, for which it works out a list of its own. What commands are
// allowed is compared by ACL DRYRUN.
func aclListed(reply string) string {
	return aclBulkHead.ReplaceAllString(aclCommands.ReplaceAllString(aclSanitize.ReplaceAllString(reply, ""), ""), "")
}

// TestACLRulesOnARealServer compares random rules: the replies, what is shown of them and what they allow.
func TestACLRulesOnARealServer(t *testing.T) {
	twins := startTwins(t)
	// Left out are %, +cmd|arg with a space, and quotes left open in a selector: the first two end a real server when
	// the user is shown, the third one makes it take an empty selector.
	word := rapid.SampledFrom(strings.Fields(`on OFF nopass resetpass reset skip-sanitize-payload sanitize-payload >a >b <a <b
		#abc !abc #9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 !9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
		~a ~a* ~* allkeys resetkeys %R~a %W~a %rw~b %R~* %RR~a %X~a %R ~ ~[a &a &a* &* allchannels resetchannels &
		+hget +HSET -hget -hset +get +set -set +@read -@read +@write -@write +@hash -@hash +@all -@all allcommands nocommands
		+@dangerous -@dangerous +@scripting -@geo +@nosuch +@ + - +nosuch -nosuch +acl +acl|list -acl|list -acl +acl|nosuch +acl|
		+acl|list|x -acl|list|x +select|0 +select|1 -select|0 -select +select +get|x +get|x|y +get| x () ( ) (~a (~b %R~c +hget) +hset)
		(+@all (-@all) (on) clearselectors`))
	calls := strings.Split("get a|get ab|set a v|set b v|hget a f|hset a f v|hset b f v|acl list|acl whoami|select 0|select 1|ping|"+
		"publish a m|subscribe a|subscribe ab|psubscribe a*|psubscribe a|unsubscribe b|strlen a|getdel a|auth x|multi", "|")
	// Redis 7.0 begins anew at a second open parenthesis; Valkey 8 goes on to the closing one.
	oneOpen := func(rules []string) bool {
		open := 0
		for _, r := range rules {
			if strings.HasPrefix(r, "(") && !strings.HasSuffix(r, ")") {
				open++
			}
		}
		return open < 2
	}
	rapid.Check(t, func(t *rapid.T) {
		twins.ask(t, "ACL", "DELUSER", "u")
		for range rapid.IntRange(1, 3).Draw(t, "turns") {
			rules := rapid.SliceOfN(word, 0, 6).Filter(oneOpen).Draw(t, "rules")
			twins.same(t, append([]string{"ACL", "SETUSER", "u"}, rules...)...)
		}
		ours, theirs := twins.ask(t, "ACL", "LIST")
		require.Equal(t, aclListed(theirs), aclListed(ours))
		if !strings.Contains(ours, "user u ") {
			return
		}
		for _, call := range calls {
			ours, theirs := twins.ask(t, append([]string{"ACL", "DRYRUN", "u"}, strings.Fields(call)...)...)
			require.Equal(t, theirs == "+OK\r\n", ours == "+OK\r\n", "%s: %s %s", call, ours, theirs)
		}
	})
}

// TestACLCommandsOnARealServer compares replies byte by byte.
func TestACLCommandsOnARealServer(t *testing.T) {
	twins := startTwins(t)
	for _, call := range []string{
		"ACL SETUSER u on nopass skip-sanitize-payload ~a %R~b &c +hget (~d +hset) (&* allkeys +@all)", "ACL GETUSER u", "ACL GETUSER nosuch",
		"ACL SETUSER v skip-sanitize-payload >x +@hash", "ACL GETUSER v", "ACL USERS", "ACL WHOAMI", "ACL DELUSER default", "ACL DELUSER default v",
		"ACL DELUSER u nosuch v v", "ACL GETUSER v", "ACL DRYRUN nosuch get a", "ACL DRYRUN default nosuch", "ACL DRYRUN default get",
		"ACL DRYRUN default acl nosuch", "ACL DRYRUN default get a", "ACL GENPASS 0", "ACL GENPASS 4097", "ACL GENPASS x", "ACL GENPASS 1 2", "ACL CAT nosuch",
		"ACL cat a b", "ACL LOG x", "ACL LOG RESET", "ACL LOG", "ACL LOG 1 2", "ACL nosuch", "ACL", "ACL WHOAMI x", "ACL SETUSER",
		"ACL SETUSER u (~a +get", "ACL SETUSER u ~* ~a", "ACL SETUSER u &* &a", "AUTH x", "AUTH default x", "AUTH nosuch x", "AUTH a b c", "AUTH",
		"ACL LOG 0", "HELLO 2 AUTH nosuch x", "HELLO 2 AUTH x", "HELLO 2 SETNAME", "HELLO 4", "HELLO x", "ACL DELUSER", "ACL GETUSER",
		"ACL SETUSER a\x00b", "ACL DRYRUN u", "ACL LIST x", "ACL USERS x", "ACL HELP x", "ACL SAVE x", "ACL LOAD x",
	} {
		twins.same(t, strings.Fields(call)...)
	}
}
