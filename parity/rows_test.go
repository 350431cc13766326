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
		{"tips", strings.Join(texts(info[7]), " ")},
		{"keys", specs(info[8])},
	}, true
}

// TestDocs likewise compares COMMAND DOCS: what is a fact of it, and of the arguments all but their names. The words are ours.
func TestDocs(t *testing.T) {
	target := real.Start(t)
	require.NoError(t, target.Reset(3))
	allowed := loadDifferences(t, "docs", 4)
	emqd := local.New(server.Table(), 1)
	require.NoError(t, emqd.Reset(3))
	theirs := map[string]script.Value{}
	eachDocs(docs(t, target), func(name string, v script.Value) { theirs[name] = v })
	compared := 0
	eachDocs(docs(t, emqd), func(name string, ours script.Value) {
		its, ok := theirs[name]
		if !ok {
			return
		}
		compared++
		require.NotEmpty(t, member(ours, "summary").Text, name)
		name = strings.ReplaceAll(name, "|", "/")
		for _, f := range []struct{ name, its, ours string }{
			{"since", member(its, "since").Text, member(ours, "since").Text},
			{"group", member(its, "group").Text, member(ours, "group").Text},
			{"complexity", presence(its, "complexity"), presence(ours, "complexity")},
			{"arguments", argumentTree(member(its, "arguments")), argumentTree(member(ours, "arguments"))},
		} {
			if f.its != f.ours && !allowed.allow(name, f.name, f.its, f.ours) {
				t.Errorf("%s: %s: real %q, emqd %q", name, f.name, f.its, f.ours)
			}
		}
	})
	require.Greater(t, compared, 250)
	require.Empty(t, allowed.unused(), "lines of differences.txt that allow nothing")
}

func docs(t *testing.T, target script.Target) script.Value {
	reply, err := target.Do([]string{"COMMAND", "DOCS"})
	require.NoError(t, err)
	v, _, err := script.Decode(reply)
	require.NoError(t, err)
	return v
}

// eachDocs calls f for every command and sub-command.
func eachDocs(v script.Value, f func(name string, docs script.Value)) {
	for i := 0; i+1 < len(v.Elems); i += 2 {
		f(v.Elems[i].Text, v.Elems[i+1])
		eachDocs(member(v.Elems[i+1], "subcommands"), f)
	}
}

func presence(v script.Value, key string) string {
	if member(v, key).Text == "" {
		return "absent"
	}
	return "present"
}

// argumentTree prints arguments without their names: (type #key-spec "TOKEN" flags (part) ...).
func argumentTree(v script.Value) string {
	var all []string
	for _, a := range v.Elems {
		out := []string{member(a, "type").Text}
		if m := member(a, "key_spec_index"); m.Kind != 0 {
			out = append(out, "#"+m.Text)
		}
		if m := member(a, "token"); m.Text != "" {
			out = append(out, `"`+m.Text+`"`)
		}
		if m := member(a, "flags"); len(m.Elems) > 0 {
			out = append(out, strings.ReplaceAll(sorted(texts(m)), " ", ","))
		}
		if parts := argumentTree(member(a, "arguments")); parts != "" {
			out = append(out, parts)
		}
		all = append(all, "("+strings.Join(out, " ")+")")
	}
	return strings.Join(all, " ")
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
