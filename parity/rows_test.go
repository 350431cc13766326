package parity

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/local"
	"github.com/echomq/emqd/parity/real"
	"github.com/echomq/emqd/parity/script"
	"github.com/echomq/emqd/server"
)

// fact is one thing that COMMAND INFO says of a command.
type fact struct{ name, value string }

// TestRows compares COMMAND INFO of every command and sub-command with a real server's. Commands that it has
// not, such as EchoMQ's, are left out; what differs is in differences.txt with its reason.
func TestRows(t *testing.T) {
	target := real.Start(t)
	require.NoError(t, target.Reset(3))
	allowed := loadDifferences(t, "row", 4)
	table := server.Table()
	emqd := local.New(table, 1)
	require.NoError(t, emqd.Reset(3))
	for _, row := range table.Every() {
		name := strings.ReplaceAll(row.FullName(), "|", "/")
		theirs, ok := facts(t, target, row.FullName())
		if !ok {
			if plain([]string{name}) && !allowed.allow(name, "presence", "absent", "present") {
				t.Errorf("%s: presence: real \"absent\", emqd \"present\"", name)
			}
			continue
		}
		mine, ok := facts(t, emqd, row.FullName())
		require.True(t, ok, "emqd's COMMAND has no %s", row.FullName())
		for i, ours := range mine {
			if ours != theirs[i] && !allowed.allow(name, ours.name, theirs[i].value, ours.value) {
				t.Errorf("%s: %s: real %q, emqd %q", name, ours.name, theirs[i].value, ours.value)
			}
		}
	}
	require.Empty(t, allowed.unused(), "lines of differences.txt that allow nothing")
}

// foreignFlags are about modules, clusters, sentinels and asynchronous loading: emqd has none of these. may_replicate
// is shown by some versions and not by others.
var foreignFlags = []string{
	"no_async_loading", "touches_arbitrary_keys", "asking", "module", "protected", "sentinel", "may_replicate",
}

func sorted(words []string) string {
	slices.Sort(words)
	return strings.Join(words, " ")
}

// facts asks a target about a command, or a sub-command "container|name".
func facts(t *testing.T, target script.Target, name string) ([]fact, bool) {
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
		{"range", info[3].Text + " " + info[4].Text + " " + info[5].Text},
		{"flags", sorted(flags)},
		{"categories", sorted(categories)},
		{"keys", specs(info[8])},
	}, true
}

func texts(v script.Value) (out []string) {
	for _, e := range v.Elems {
		out = append(out, e.Text)
	}
	return out
}

// specs prints key-specs without their notes.
func specs(v script.Value) string {
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
