package parity

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/parity/real"
	"github.com/echomq/emqd/parity/script"
	"github.com/echomq/emqd/server"
)

// fact is one thing that COMMAND INFO says of a command.
type fact struct{ name, value string }

// TestRows compares what the rows say of each command with COMMAND INFO of a real server. Commands that it has
// not, such as EchoMQ's, are left out; what differs is in differences.txt with its reason.
func TestRows(t *testing.T) {
	target := real.Start(t)
	require.NoError(t, target.Reset(3))
	allowed := loadDifferences(t, "row", 4)
	for _, row := range server.Table().Every() {
		name := strings.ReplaceAll(row.FullName(), "|", "/")
		theirs, ok := realFacts(t, target, row.FullName())
		if !ok {
			if plain([]string{name}) && !allowed.allow(name, "presence", "absent", "present") {
				t.Errorf("%s: presence: real \"absent\", emqd \"present\"", name)
			}
			continue
		}
		for i, ours := range rowFacts(row) {
			if ours != theirs[i] && !allowed.allow(name, ours.name, theirs[i].value, ours.value) {
				t.Errorf("%s: %s: real %q, emqd %q", name, ours.name, theirs[i].value, ours.value)
			}
		}
	}
	require.Empty(t, allowed.unused(), "lines of differences.txt that allow nothing")
}

// flagNames are the flags that COMMAND shows. A real server has more, which say nothing here: see foreignFlags.
var flagNames = map[commands.Flags]string{
	commands.Write: "write", commands.ReadOnly: "readonly", commands.DenyOOM: "denyoom", commands.Admin: "admin",
	commands.PubSub: "pubsub", commands.NoScript: "noscript", commands.Blocking: "blocking", commands.Loading: "loading",
	commands.Stale: "stale", commands.Fast: "fast", commands.NoAuth: "no_auth",
	commands.NoMandatoryKeys: "no_mandatory_keys", commands.NoMulti: "no_multi", commands.MovableKeys: "movablekeys", commands.AllowBusy: "allow_busy",
	commands.SkipMonitor: "skip_monitor", commands.SkipSlowlog: "skip_slowlog",
}

// foreignFlags are about modules, clusters, sentinels and asynchronous loading: emqd has none of these. may_replicate
// is shown by some versions and not by others.
var foreignFlags = []string{
	"no_async_loading", "touches_arbitrary_keys", "asking", "module", "protected", "sentinel", "may_replicate",
}

var keyFlagNames = []struct {
	flag commands.KeyFlags
	name string
}{
	{commands.KeyRO, "RO"}, {commands.KeyRW, "RW"}, {commands.KeyOW, "OW"}, {commands.KeyRM, "RM"}, {commands.KeyAccess, "access"},
	{commands.KeyUpdate, "update"}, {commands.KeyInsert, "insert"}, {commands.KeyDelete, "delete"}, {commands.KeyNotKey, "not_key"},
	{commands.KeyIncomplete, "incomplete"}, {commands.KeyVariable, "variable_flags"},
}

// rowFacts are a row's facts, in the order of realFacts.
func rowFacts(row *commands.Row) []fact {
	var flags []string
	for flag, name := range flagNames {
		if row.Has(flag) {
			flags = append(flags, name)
		}
	}
	return []fact{
		{"arity", fmt.Sprint(row.Arity)},
		{"flags", sorted(flags)},
		{"categories", sorted(row.ACLCategories())},
		{"keys", specs(row)},
	}
}

func specs(row *commands.Row) string {
	var all []string
	for _, k := range row.Keys {
		if k.Flags&commands.KeyChannel != 0 {
			continue // channels are no keys to COMMAND
		}
		var flags []string
		for _, f := range keyFlagNames {
			if k.Flags&f.flag != 0 {
				flags = append(flags, f.name)
			}
		}
		find := fmt.Sprintf("range %d %d %d", k.Last, max(k.Step, 1), k.Limit)
		if k.Numbered {
			find = fmt.Sprintf("keynum %d %d %d", k.NumIndex, k.FirstKey, max(k.Step, 1))
		}
		begin := fmt.Sprintf("index %d", k.Index)
		if k.Keyword != "" {
			begin = fmt.Sprintf("keyword %s %d", strings.ToUpper(k.Keyword), k.From)
		}
		if k.Unknown {
			begin, find = "unknown", "unknown"
		}
		all = append(all, fmt.Sprintf("[%s: %s, %s]", sorted(flags), begin, find))
	}
	return strings.Join(all, " ")
}

func sorted(words []string) string {
	slices.Sort(words)
	return strings.Join(words, " ")
}

// realFacts asks a server about a command, or a sub-command "container|name".
func realFacts(t *testing.T, target script.Target, name string) ([]fact, bool) {
	reply, err := target.Do([]string{"COMMAND", "INFO", name})
	require.NoError(t, err)
	v, _, err := script.Decode(reply)
	require.NoError(t, err)
	require.Len(t, v.Elems, 1)
	info := v.Elems[0].Elems
	if len(info) == 0 {
		return nil, false
	}
	var categories []string
	for _, e := range info[6].Elems {
		categories = append(categories, strings.TrimPrefix(e.Text, "@"))
	}
	flags := slices.DeleteFunc(texts(info[2]), func(f string) bool { return slices.Contains(foreignFlags, f) })
	return []fact{
		{"arity", info[1].Text},
		{"flags", sorted(flags)},
		{"categories", sorted(categories)},
		{"keys", realSpecs(info[8])},
	}, true
}

func texts(v script.Value) (out []string) {
	for _, e := range v.Elems {
		out = append(out, e.Text)
	}
	return out
}

// realSpecs prints key-specs as specs does.
func realSpecs(v script.Value) string {
	var all []string
	for _, e := range v.Elems {
		begin, find := member(e, "begin_search"), member(e, "find_keys")
		text := func(part script.Value, keys ...string) string {
			out := member(part, "type").Text
			for _, k := range keys {
				if m := member(member(part, "spec"), k); m.Kind != 0 {
					out += " " + m.Text
				}
			}
			return out
		}
		all = append(all, fmt.Sprintf("[%s: %s, %s]", sorted(texts(member(e, "flags"))),
			text(begin, "index", "keyword", "startfrom"),
			text(find, "lastkey", "keynumidx", "firstkey", "keystep", "limit")))
	}
	return strings.Join(all, " ")
}

// member returns the value of a key of a map.
func member(v script.Value, key string) script.Value {
	for i := 0; i+1 < len(v.Elems); i += 2 {
		if v.Elems[i].Text == key {
			return v.Elems[i+1]
		}
	}
	return script.Value{}
}
