package server

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
)

func testACL(change ...func(*Config)) *acl {
	cfg := NewConfig()
	for _, f := range change {
		f(cfg)
	}
	return newACL(commands.New(append(families(), aclTestRows)...), cfg)
}

func nothing(*commands.Call) error { return nil }

// aclTestRows stand for data commands with every kind of need.
var aclTestRows = []commands.Row{
	aclTestRow("get", commands.ReadOnly|commands.Fast, commands.KeyRO|commands.KeyAccess),
	aclTestRow("set", commands.Write, commands.KeyOW|commands.KeyUpdate),
	aclTestRow("getset", commands.Write, commands.KeyRW|commands.KeyAccess|commands.KeyUpdate),
	aclTestRow("exists", commands.ReadOnly|commands.Fast, commands.KeyRO),
	aclTestRow("del", commands.Write, commands.KeyRM|commands.KeyDelete),
	aclTestRow("append", commands.Write, commands.KeyRW|commands.KeyInsert),
}

func aclTestRow(name string, flags commands.Flags, keys commands.KeyFlags) commands.Row {
	return commands.Row{
		Name: name, Family: "string", Arity: -2, Flags: flags, Do: nothing, Since: "1.0.0", Summary: "-", Complexity: "O(1)",
		Keys: []commands.KeySpec{{Index: 1, Last: -1, Flags: keys}},
	}
}

func splitArgs(line string) [][]byte {
	var args [][]byte
	for _, w := range strings.Split(line, " ") {
		args = append(args, []byte(w))
	}
	return args
}

func (a *acl) mustSet(t testing.TB, line string) *aclUser {
	t.Helper()
	name, rules, _ := strings.Cut(line, " ")
	change, err := a.setUser([]byte(name), splitArgs(rules))
	require.NoError(t, err, line)
	return change.user
}

// TestACLPrint sets rules on a new user and reads them back.
func TestACLPrint(t *testing.T) {
	const hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	for _, c := range []struct{ rules, want string }{
		{"", "off sanitize-payload resetchannels -@all"},
		{"on nopass", "on nopass sanitize-payload resetchannels -@all"},
		{"ON >test", "on sanitize-payload #" + hash + " resetchannels -@all"},
		{"#" + hash + " >test", "off sanitize-payload #" + hash + " resetchannels -@all"},
		{">test nopass", "off nopass sanitize-payload resetchannels -@all"},
		{"nopass >test", "off sanitize-payload #" + hash + " resetchannels -@all"},
		{">test <test", "off sanitize-payload resetchannels -@all"},
		{">test !" + hash, "off sanitize-payload resetchannels -@all"},
		{">test resetpass", "off sanitize-payload resetchannels -@all"},
		{"skip-sanitize-payload", "off skip-sanitize-payload resetchannels -@all"},
		{"~a %R~b %W~c %rw~d", "off sanitize-payload ~a %R~b %W~c ~d resetchannels -@all"},
		{"%R~a %W~a", "off sanitize-payload ~a resetchannels -@all"},
		{"%R", "off sanitize-payload %R~ resetchannels -@all"},
		{"~a allkeys", "off sanitize-payload ~* resetchannels -@all"},
		{"~* resetkeys ~a", "off sanitize-payload ~a resetchannels -@all"},
		{"%R~*", "off sanitize-payload %R~* resetchannels -@all"},
		{"&a &b &a", "off sanitize-payload resetchannels &a &b -@all"},
		{"&a &*", "off sanitize-payload &* -@all"},
		{"allchannels resetchannels &a", "off sanitize-payload resetchannels &a -@all"},
		{"+GET +acl|list -acl|list -acl", "off sanitize-payload resetchannels -@all +get -acl"},
		{"+get -@string +@Read +get", "off sanitize-payload resetchannels -@all -@string +@read +get"},
		{"+@all -get", "off sanitize-payload resetchannels +@all -get"},
		{"-get allcommands", "off sanitize-payload resetchannels +@all"},
		{"+get nocommands", "off sanitize-payload resetchannels -@all"},
		{"+select|0 +SELECT|Foo", "off sanitize-payload resetchannels -@all +select|0 +select|foo"},
		{"+select|0 -select", "off sanitize-payload resetchannels -@all -select"},
		{"+@emq -@scripting", "off sanitize-payload resetchannels -@all +@emq -@scripting"},
		{"~a (%R~b +get) (~* &* +@all)", "off sanitize-payload ~a resetchannels -@all (%R~b resetchannels -@all +get) (~* &* +@all)"},
		{"(  )", "off sanitize-payload resetchannels -@all (resetchannels -@all)"},
		{"(~a\" b", ""},
		{"(~a clearselectors)", ""},
		{"(~a) clearselectors", "off sanitize-payload resetchannels -@all"},
		{"(\"~\\x61\" +get)", "off sanitize-payload resetchannels -@all (~a resetchannels -@all +get)"},
		{"on >a ~a &a +get (~b) skip-sanitize-payload reset", "off sanitize-payload resetchannels -@all"},
	} {
		a := testACL()
		change, err := a.setUser([]byte("u"), splitArgs(c.rules))
		if c.want == "" {
			require.Error(t, err, c.rules)
			continue
		}
		require.NoError(t, err, c.rules)
		require.Equal(t, "user u "+c.want, change.user.line(), c.rules)
	}
	require.Equal(t, "user default on nopass sanitize-payload ~* &* +@all", testACL().users["default"].line())
	open := testACL(func(c *Config) { c.ACLPubSubDefault = "allchannels" })
	require.Equal(t, "user u off sanitize-payload &* -@all (&* -@all)", open.mustSet(t, "u ()").line())
}

func TestACLRuleErrors(t *testing.T) {
	for _, c := range []struct {
		rules string
		want  error
	}{
		{"x", errACLSyntax}, {"%~a", errACLSyntax}, {"%", errACLSyntax}, {"%RR~a", errACLSyntax}, {"%X~a", errACLSyntax},
		{"~a\tb", errACLSyntax}, {"&a\x00", errACLSyntax}, {"+nosuch", errACLUnknown}, {"-nosuch", errACLUnknown},
		{"+@nosuch", errACLUnknown}, {"+@", errACLUnknown}, {"+", errACLUnknown}, {"+acl|nosuch", errACLUnknown},
		{"-get|a", errACLUnknown}, {"+get|a|b", errACLUnknown}, {"+acl|list|x", errACLFirstArg}, {"+select|", errACLSyntax},
		{"+acl|", errACLSyntax}, {"+select|a\nb", errACLSyntax}, {"<nosuch", errACLNoPassword},
		{"!" + strings.Repeat("a", 64), errACLNoPassword}, {"#abc", errACLHash}, {"#" + strings.Repeat("A", 64), errACLHash},
		{"!" + strings.Repeat("g", 64), errACLHash}, {"(on)", errACLSyntax}, {"((~a))", errACLSyntax}, {"(~a \"b)", errACLSyntax},
		{"~*\x00", errACLSyntax}, {")", errACLSyntax}, {"(>a)", errACLSyntax},
	} {
		_, err := testACL().setUser([]byte("u"), [][]byte{[]byte(c.rules)})
		want := "ERR Error in ACL SETUSER modifier '" + commands.EchoLong([]byte(c.rules)) + "': " + c.want.Error()
		require.EqualError(t, err, want, c.rules)
	}
	a := testACL()
	before := a.mustSet(t, "u ~* &*").line()
	for rules, want := range map[string]error{"on ~a": errACLAllKeys, "on &a": errACLAllChannels} {
		_, err := a.setUser([]byte("u"), splitArgs(rules))
		require.ErrorContains(t, err, want.Error())
		require.Equal(t, before, a.users["u"].line(), "all or nothing")
	}
	_, err := a.setUser([]byte("u"), splitArgs("on (~a +get"))
	require.EqualError(t, err, "ERR Unmatched parenthesis in acl selector starting at '(~a'.")
	_, err = a.setUser([]byte("u v"), nil)
	require.EqualError(t, err, "ERR Usernames can't contain spaces or null characters")
	_, err = a.delUsers(splitArgs("u default"))
	require.EqualError(t, err, "ERR The 'default' user cannot be removed")
	require.NotNil(t, a.users["u"])
}

// TestACLCheck checks calls against rules.
func TestACLCheck(t *testing.T) {
	for _, c := range []struct {
		rules, call string
		want        aclDenial
	}{
		{"", "get a", aclDenial{aclDeniedCommand, 0}},
		{"", "auth a", aclDenial{}},
		{"+get", "get a", aclDenial{aclDeniedKey, 1}},
		{"+get ~a", "get a", aclDenial{}},
		{"+get ~a", "get a b", aclDenial{aclDeniedKey, 2}},
		{"+get ~a*", "get a ab abc", aclDenial{}},
		{"+get ~*", "get x", aclDenial{}},
		{"+get ~?b[cd]", "get abc abd", aclDenial{}},
		{"+get ~?b[cd]", "get abe", aclDenial{aclDeniedKey, 1}},
		{"+@all %R~a", "get a", aclDenial{}},
		{"+@all %R~a", "set a", aclDenial{aclDeniedKey, 1}},
		{"+@all %R~a", "exists a", aclDenial{}},
		{"+@all %W~a", "exists a", aclDenial{}},
		{"+@all %W~a", "exists b", aclDenial{aclDeniedKey, 1}},
		{"+@all %W~a", "get a", aclDenial{aclDeniedKey, 1}},
		{"+@all %W~a", "set a", aclDenial{}},
		{"+@all %W~a", "del a", aclDenial{}},
		{"+@all %W~a", "append a", aclDenial{}},
		{"+@all %W~a", "getset a", aclDenial{aclDeniedKey, 1}},
		{"+@all %W~a %R~?", "getset a", aclDenial{aclDeniedKey, 1}},
		{"+@all %W~a %R~a", "getset a", aclDenial{}},
		{"+@all %R~*", "get a", aclDenial{}},
		{"+@read ~*", "set a", aclDenial{aclDeniedCommand, 0}},
		{"+@all -@write ~*", "set a", aclDenial{aclDeniedCommand, 0}},
		{"+@all -@write +set ~*", "set a", aclDenial{}},
		{"+@all -acl", "acl list", aclDenial{aclDeniedCommand, 0}},
		{"+@all -acl +acl|whoami", "acl whoami", aclDenial{}},
		{"+@all -@dangerous", "acl list", aclDenial{aclDeniedCommand, 0}},
		{"+@all -@dangerous", "acl whoami", aclDenial{}},
		{"+acl", "acl list", aclDenial{}},
		{"+select|0", "select 0", aclDenial{}},
		{"+select|0", "select 1", aclDenial{aclDeniedCommand, 0}},
		{"+get|A ~*", "get a", aclDenial{}},
		{"+@pubsub", "subscribe a", aclDenial{aclDeniedChannel, 1}},
		{"+@pubsub &a*", "subscribe ab a", aclDenial{}},
		{"+@pubsub &a*", "psubscribe a* ab", aclDenial{aclDeniedChannel, 2}},
		{"+@pubsub &a*", "psubscribe a*", aclDenial{}},
		{"+@pubsub &a*", "publish ab m", aclDenial{}},
		{"+@pubsub &a*", "spublish b m", aclDenial{aclDeniedChannel, 1}},
		{"+@pubsub &a*", "ssubscribe ab", aclDenial{}},
		{"+@pubsub", "unsubscribe b", aclDenial{}},
		{"+@pubsub", "sunsubscribe b", aclDenial{}},
		{"+@pubsub", "punsubscribe b", aclDenial{}},
		{"(+get ~a) (+set ~b)", "get a", aclDenial{}},
		{"(+get ~a) (+set ~b)", "set a", aclDenial{aclDeniedKey, 1}},
		{"(+get ~a) (+get ~b)", "get a b", aclDenial{aclDeniedKey, 2}},
		{"+get (+@all ~* &*)", "set a", aclDenial{}},
		{"+get (+set ~*)", "get a", aclDenial{aclDeniedKey, 1}},
	} {
		a := testACL()
		u, call := a.mustSet(t, "u "+c.rules), splitArgs(c.call)
		row, err := a.table.Find(call)
		require.NoError(t, err, c.call)
		var scratch aclScratch
		require.Equal(t, c.want, u.check(row, call, &scratch), "%s: %s", c.rules, c.call)
		allocs := testing.AllocsPerRun(20, func() { u.check(row, call, &scratch) })
		require.Zero(t, allocs, "%s: %s", c.rules, c.call)
	}
}

func TestACLRefusalTexts(t *testing.T) {
	a := testACL()
	u := a.mustSet(t, "bob +get")
	row := a.table.Lookup([]byte("acl")).Sub([]byte("list"))
	args := splitArgs("acl list")
	for d, want := range map[aclDenial][3]string{
		{aclDeniedCommand, 0}: {
			"NOPERM User bob has no permissions to run the 'acl|list' command",
			"User bob has no permissions to run the 'acl|list' command", "acl|list",
		},
		{aclDeniedKey, 1}:     {"NOPERM No permissions to access a key", "User bob has no permissions to access the 'list' key", "list"},
		{aclDeniedChannel, 1}: {"NOPERM No permissions to access a channel", "User bob has no permissions to access the 'list' channel", "list"},
	} {
		require.EqualError(t, d.refusal(u, row), want[0])
		require.Equal(t, want[1], d.dryRun(u, row, args))
		require.Equal(t, want[2], d.object(row, args))
	}
}

func TestACLAllowsKey(t *testing.T) {
	a := testACL()
	u := a.mustSet(t, "u %W~w %R~r (~s)")
	for key, want := range map[string][2]bool{"w": {false, true}, "r": {true, false}, "s": {true, true}, "x": {}} {
		require.Equal(t, want, [2]bool{u.allowsKey([]byte(key), aclRead), u.allowsKey([]byte(key), aclWrite)}, key)
	}
	require.True(t, a.users["default"].allowsKey([]byte("x"), aclWrite))
	require.Zero(t, testing.AllocsPerRun(20, func() { u.allowsKey([]byte("s"), aclRead) }))
}

func TestACLPasswords(t *testing.T) {
	a := testACL()
	a.mustSet(t, "u on >one >two")
	a.mustSet(t, "off >one")
	a.mustSet(t, "any on nopass")
	for _, c := range []struct {
		name, password string
		want           bool
	}{
		{"u", "one", true}, {"u", "two", true}, {"u", "three", false}, {"u", "", false}, {"off", "one", false},
		{"any", "", true}, {"any", "x", true}, {"nosuch", "one", false}, {"default", "x", true},
	} {
		require.Equal(t, c.want, a.authenticate([]byte(c.name), []byte(c.password)) != nil, "%v", c)
	}
	require.True(t, a.open())
	a.setDefaultPassword("secret")
	require.False(t, a.open())
	require.Nil(t, a.authenticate([]byte("default"), []byte("x")))
	require.NotNil(t, a.authenticate([]byte("default"), []byte("secret")))
	a.setDefaultPassword("")
	require.True(t, a.open())
	a.mustSet(t, "default off")
	require.False(t, a.open())
}

// TestACLChannelsLost tells which subscriptions a change of rules ends.
func TestACLChannelsLost(t *testing.T) {
	for _, c := range []struct {
		before, after  string
		drop, dropGlob bool // a subscription to ab, and to the pattern a*
	}{
		{"&a*", "&b", false, false}, // only adds
		{"&a*", "resetchannels", true, true},
		{"&a*", "resetchannels &ab", false, true},
		{"&*", "resetchannels &a*", false, false},
		{"&*", "resetchannels &b", true, true},
		{"&a*", "&*", false, false},
		{"(&a*)", "clearselectors &a*", false, false},
		{"(&a*)", "clearselectors", true, true},
		{"(&*)", "clearselectors &a*", false, false},
	} {
		a := testACL()
		a.mustSet(t, "u "+c.before)
		change, err := a.setUser([]byte("u"), splitArgs(c.after))
		require.NoError(t, err)
		require.Equal(t, c.drop, change.dropsChannel([]byte("ab")), "%v", c)
		require.Equal(t, c.dropGlob, change.dropsPattern("a*"), "%v", c)
	}
}

func TestACLLog(t *testing.T) {
	var log aclLog
	key := aclRefused{reason: aclDeniedKey, object: "k", username: "u", client: "one"}
	log.add(key, 1000, 3)
	key.client = "two"
	log.add(key, 61000, 3)
	require.Equal(t, []aclLogEntry{{key, 0, 2, 1000, 61000}}, log.latest(10), "grouped")
	log.add(key, 121001, 3)
	require.Len(t, log.latest(10), 2, "a minute is over")
	multi := key
	multi.inMulti = true
	log.add(multi, 121002, 3)
	auth := aclRefused{reason: aclDeniedAuth, object: "AUTH", username: "x"}
	log.add(auth, 121003, 3)
	got := log.latest(10)
	require.Len(t, got, 3, "the oldest is gone")
	require.Equal(t, []int64{3, 2, 1}, []int64{got[0].id, got[1].id, got[2].id})
	log.add(key, 121004, 3)
	require.Equal(t, aclLogEntry{key, 1, 2, 121001, 121004}, log.latest(1)[0], "moved to the front")
	log.reset()
	require.Empty(t, log.latest(10))
	require.Equal(t, [aclDeniedChannel + 1]int64{0, 0, 5, 1, 0}, log.denied)
	log.add(key, 0, 3)
	log.add(key, 0, 0)
	require.Empty(t, log.latest(10), "no log is kept")
	require.Empty(t, log.latest(-1))
}

// FuzzACLRules checks that rules which are accepted are printed as rules that mean the same.
func FuzzACLRules(f *testing.F) {
	for _, seed := range []string{
		"on >a ~a &b +get", "+@all -@read -acl|list", "(~a +get) (%R~\"b)", "+select|0 +get|x", "%R~a %W~a", "(\"~ a\")", "(~a' '",
	} {
		f.Add(seed)
	}
	a := testACL()
	f.Fuzz(func(t *testing.T, rules string) {
		change, err := a.setUser([]byte("u"), splitArgs("reset "+rules))
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		words := change.user.rules.words()
		again := a.mustSet(t, "v reset "+strings.Join(words, " "))
		require.Equal(t, words, again.rules.words())
		for i, s := range change.user.rules.selectors {
			twin := again.rules.selectors[i]
			require.Equal(t, s.allowed, twin.allowed)
			require.Equal(t, s.keys, twin.keys)
			require.Equal(t, s.channels, twin.channels)
			require.Equal(t, s.flags&^aclAllCommands, twin.flags&^aclAllCommands)
		}
		var scratch aclScratch
		for _, line := range []string{"get a", "select 0", "acl list", "subscribe x"} {
			call := splitArgs(line)
			row, err := a.table.Find(call)
			require.NoError(t, err)
			require.Equal(t, change.user.check(row, call, &scratch), again.check(row, call, &scratch))
		}
	})
}
