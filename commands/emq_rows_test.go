package commands_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
)

// TestEMQRows spells the facts of every row out: clients rely on them, so a changed one is changed here too, on purpose.
func TestEMQRows(t *testing.T) {
	want := []struct {
		name   string
		arity  int
		flags  string
		keys   string // the rests of the keys behind the base
		tokens string
	}{
		{"emq.version", 1, "readonly fast", "", ""},
		{"emq.install", 1, "write denyoom admin noscript", "", "install"},
		{"emq.enqueue", 6, "write denyoom fast movablekeys", "job:<id> pending", "enqueue"},
		{"emq.schedule", 8, "write denyoom fast movablekeys", "job:<id> schedule", "schedule"},
		{"emq.claim", 6, "write denyoom fast movablekeys", "pending active <base>", "claim claim.pause"},
		{"emq.extend", 7, "write fast movablekeys", "active job:<id>", "extend"},
		{"emq.extends", -5, "write movablekeys", "active <base>", "extends"},
		{"emq.complete", 7, "write fast movablekeys", "active job:<id> <base>", "complete"},
		{"emq.promote", 6, "write denyoom movablekeys", "schedule pending <base>", "promote"},
		{"emq.reschedule", 7, "write denyoom fast movablekeys", "schedule job:<id>", "reschedule"},
		{"emq.delay", 9, "write fast movablekeys", "job:<id> active schedule", "delay"},
		{"emq.fail", 12, "write fast movablekeys", "active schedule dead job:<id> <base>", "fail fail.budget"},
		{"emq.reprocess", 6, "write denyoom fast movablekeys", "job:<id> dead pending", "reprocess"},
		{"emq.requeue", 7, "write fast movablekeys", "active pending job:<id>", "requeue"},
		{"emq.stalled.check", 8, "write denyoom movablekeys", "active pending dead <base>", "stalled stalled.restart"},
		{"emq.flow.add", -7, "write denyoom movablekeys", "<row> ...", "flow.add"},
		{"emq.flow.hold", -7, "write denyoom fast movablekeys", "job:<id> <base>", "flow.hold"},
		{"emq.flow.child", 9, "write denyoom fast movablekeys", "job:<id> <base> <row>", "flow.child"},
		{"emq.flow.complete", 9, "write fast movablekeys", "active job:<id> <base> <row>", "flow.complete"},
		{"emq.flow.fail", -13, "write fast movablekeys", "active schedule dead job:<id> <base> <row> ...", "flow.fail"},
		{"emq.flow.deliver", 6, "write fast movablekeys", "job:<id> <base>", "flow.deliver"},
		{"emq.flow.faildeliver", 7, "write fast movablekeys", "job:<id> <base>", "flow.faildeliver"},
		{"emq.pause", 3, "write fast movablekeys", "meta", "pause"},
		{"emq.resume", 3, "write fast movablekeys", "meta", "resume"},
		{"emq.drain", -4, "write movablekeys", "<base> pending [schedule]", "drain"},
		{"emq.obliterate", 6, "write admin movablekeys", "meta <base>", "obliterate"},
		{"emq.remove", 10, "write fast movablekeys", "job:<id> pending active schedule dead de:<dedup>", "remove"},
		{"emq.update", 4, "write denyoom fast movablekeys", "job:<id>", "update"},
		{"emq.progress", 6, "write denyoom pubsub fast movablekeys", "job:<id> events", "progress"},
		{"emq.log", 6, "write denyoom fast movablekeys", "job:<id> job:<id>:logs", "log"},
		{"emq.counts", -4, "readonly fast movablekeys", "<base>", "counts"},
		{"emq.state", 8, "readonly fast movablekeys", "job:<id> pending active schedule dead", "state"},
		{"emq.explain", 4, "readonly movablekeys", "<base>", "explain"},
		{"emq.rate", 5, "readonly fast movablekeys", "limiter meta", "rate"},
		{"emq.maxed", 4, "readonly fast movablekeys", "meta active", "maxed"},
		{"emq.repeat.register", 8, "write denyoom fast movablekeys", "repeat repeat:<name>", "repeat.register"},
		{"emq.repeat.cancel", 5, "write fast movablekeys", "repeat repeat:<name>", "repeat.cancel"},
		{"emq.repeat.advance", 6, "write fast movablekeys", "repeat repeat:<name>", "repeat.advance"},
		{"emq.append", -6, "write denyoom fast movablekeys", "stream:<name>", "bus.append"},
		{"emq.failures.incr", 4, "write denyoom fast movablekeys", "stream:<name>:failures:<group>", "bus.failures"},
		{"emq.publish", -5, "write pubsub fast movablekeys", "events", "bus.publish"},
		{"emq.claims", 7, "write denyoom movablekeys", "pending active <base>", "claims"},
		{"emq.bclaim", 7, "write denyoom blocking movablekeys", "pending active <base>", "bclaim"},
		{"emq.group.enqueue", 8, "write denyoom fast movablekeys", "job:<id> g:<group>:pending <base>", "group.enqueue"},
		{"emq.group.claim", 6, "write denyoom fast movablekeys", "ring active <base>", "group.claim"},
		{"emq.group.wclaim", 6, "write denyoom movablekeys", "ring active <base>", "group.wclaim"},
		{"emq.group.claims", 6, "write denyoom movablekeys", "ring active <base>", "group.claims"},
		{"emq.group.bclaim", 7, "write denyoom blocking movablekeys", "ring active <base>", "group.bclaim"},
		{"emq.group.pause", 6, "write fast movablekeys", "paused ring <base>", "group.pause"},
		{"emq.group.resume", 6, "write fast movablekeys", "paused ring <base>", "group.resume"},
		{"emq.group.limit", 5, "write fast movablekeys", "<base>", "group.limit"},
		{"emq.group.weight", 5, "write fast movablekeys", "<base>", "group.weight"},
		{"emq.group.reassign", 7, "write denyoom fast movablekeys", "job:<id> g:<group>:pending <base>", "group.reassign"},
		{"emq.group.complete", 7, "write fast movablekeys", "active job:<id> <base>", "group.complete"},
		{"emq.group.fail", 12, "write fast movablekeys", "active schedule dead job:<id> <base>", "group.fail"},
		{"emq.group.delay", 10, "write fast movablekeys", "job:<id> active schedule <base>", "group.delay"},
		{"emq.group.requeue", 8, "write fast movablekeys", "active pending job:<id> <base>", "group.requeue"},
		{"emq.group.reprocess", 7, "write denyoom fast movablekeys", "job:<id> dead pending <base>", "group.reprocess"},
		{"emq.group.promote", 6, "write denyoom movablekeys", "schedule pending <base>", "group.promote"},
		{"emq.reap", 6, "write denyoom movablekeys", "active pending <base>", "reap"},
		{"emq.group.reap", 6, "write denyoom movablekeys", "active <base>", "group.reap"},
		{"emq.group.stalled.check", 8, "write denyoom movablekeys", "active pending dead <base>", "group.stalled"},
		{"emq.group.drain", 6, "write movablekeys", "g:<group>:pending ring <base>", "group.drain"},
		{"emq.group.depths", -4, "readonly movablekeys", "<base>", "group.depths"},
	}
	table := commands.New(commands.All()...)
	for _, w := range want {
		row := table.Lookup([]byte(w.name))
		require.NotNil(t, row, w.name)
		require.Equal(t, w.arity, row.Arity, w.name)
		require.Equal(t, w.flags, strings.Join(row.Flags.Words(), " "), w.name)
		require.Equal(t, w.tokens, strings.Join(row.Tokens, " "), w.name)
		var keys []string
		for _, kind := range row.Layout {
			rest := strings.TrimPrefix(kind.Pattern(), "emq:{q}:")
			if rest == "" {
				rest = "<base>"
			}
			if i := len(keys); i >= len(row.Layout)-row.Optional {
				rest = "[" + rest + "]"
			}
			keys = append(keys, rest)
		}
		for range row.Rows {
			keys = append(keys, "<row>")
		}
		if row.OpenRows {
			keys = append(keys, "...")
		}
		require.Equal(t, w.keys, strings.Join(keys, " "), w.name)
	}
}

// optional is a part of a syntax that may be left out, without another inside.
var optional = regexp.MustCompile(` \[[^\[\]]*\]`)

// TestEMQRowsAgreeWithThemselves holds what the rows say twice against each other: arity and syntax, layout and keys.
func TestEMQRowsAgreeWithThemselves(t *testing.T) {
	table := commands.New(commands.All()...)
	n := newNode(t)
	seen := 0
	for _, row := range table.Rows() {
		if !strings.HasPrefix(row.Name, "emq.") {
			continue
		}
		seen++
		require.Contains(t, row.ACLCategories(), "emq", row.Name)
		require.Equal(t, "1.0.0", row.Since, row.Name)
		if row.Has(commands.Write) {
			require.True(t, row.Has(commands.OwnGuard|commands.KeyEvents), row.Name)
			require.Equal(t, row.Family == "admission", row.Has(commands.Admission), row.Name)
		}
		if len(row.Layout)+row.Rows == 0 {
			continue
		}
		fixed := row.Syntax
		for optional.MatchString(fixed) {
			fixed = optional.ReplaceAllString(fixed, "")
		}
		open := fixed != row.Syntax
		words := strings.Fields(strings.ReplaceAll(fixed, " | ", "|"))
		require.Equal(t, "numkeys", words[0], row.Name)
		arity := 1 + len(words)
		if open {
			arity = -arity
		}
		require.Equal(t, row.Arity, arity, "%s %s", row.Name, row.Syntax)

		call := [][]byte{[]byte(row.Name), []byte{byte('0' + len(row.Layout) + row.Rows)}}
		for _, kind := range row.Layout {
			call = append(call, []byte(kind.Pattern()))
		}
		for range row.Rows {
			call = append(call, []byte("emq:{p}:job:<parent>"))
		}
		var keys []commands.KeyAt
		for i := range call[2:] {
			flags := commands.KeyRW | commands.KeyAccess | commands.KeyUpdate
			if row.Has(commands.ReadOnly) {
				flags = commands.KeyRO | commands.KeyAccess
			}
			keys = append(keys, commands.KeyAt{Pos: 2 + i, Flags: flags})
		}
		for len(call) < max(row.Arity, -row.Arity) {
			call = append(call, []byte("1"))
		}
		require.Equal(t, keys, row.AppendKeys(nil, call), row.Name)
		n.run(call)
		require.NotContains(t, string(n.reply.Bytes()), "EMQLAYOUT this verb takes", row.Name)
		n.call.Tx.Commit()
	}
	require.Positive(t, seen)
}

func TestEMQVersionTellsTheTableAndTheBuild(t *testing.T) {
	n := newNode(t)
	n.table.Build = commands.Build{Version: "12.3.4", Commit: "abc", Date: "2026-01-02", Started: 77}
	reply := n.do("EMQ.VERSION")
	for _, part := range []string{`$"wire" $"echomq:6.0.0"`, `$"epoch" :6`, `$"version" $"12.3.4"`, `$"major" :12`, `$"build" $"abc 2026-01-02"`} {
		require.Contains(t, strings.Join(strings.Fields(reply), " "), part)
	}
	require.True(t, slices.IsSorted(n.table.Tokens()))
	for _, row := range n.table.Every() {
		for _, token := range row.Tokens {
			require.Contains(t, reply, `$"`+token+`"`)
		}
	}
	info := strings.Join(strings.Fields(n.do("TRA.INFO")), " ")
	for _, part := range []string{`$"server" $"emqd"`, `$"fence" $"echomq:6.0.0"`, `$"epoch" :1`, `$"started_at" :77`} {
		require.Contains(t, info, part)
	}
}

func TestTRACommandsTellsEveryRow(t *testing.T) {
	n := newNode(t)
	reply := n.do("TRA.COMMANDS")
	require.Equal(t, len(n.table.Every()), strings.Count(reply, `$"complexity"`))
	for _, row := range n.table.Every() {
		require.Contains(t, reply, `$"`+row.FullName()+`"`)
	}
	require.Equal(t, 6, strings.Count(n.do("TRA.COMMANDS", "family", "TRA"), `$"complexity"`))
}
