package parity

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/parity/local"
	"github.com/echomq/emqd/parity/real"
	"github.com/echomq/emqd/parity/script"
)

// TestWrongTypes puts a value of another kind under each key of every request of the corpus, one at a time, and
// compares what the request then gets with a real server's answer: the same refusal, or none.
func TestWrongTypes(t *testing.T) {
	files, err := script.Load("../commands/testdata/*.txt")
	require.NoError(t, err)
	table := commands.New(commands.All()...)
	w := wrongTypes{
		t: t, table: table, known: loadDifferences(t, "call", 3), refused: map[string]bool{},
		pair: pair{emqd: local.New(table, 1), real: real.Start(t), table: table},
	}
	for _, f := range files {
		for _, c := range f.Cases {
			w.compare(f, c)
		}
	}
	for _, row := range table.Rows() {
		if typed(row) && !w.refused[row.Name] {
			t.Errorf("%s was never refused for a key of another kind", row.Name)
		}
	}
}

// typed reports whether some key of the command must hold one kind: it is of a kind's family and looks at a
// key's value. What has no such key even so is listed with its reason.
func typed(row *commands.Row) bool {
	untyped := map[string]string{
		"set": "overwrites", "setex": "overwrites", "psetex": "overwrites", "mset": "overwrites",
		"lcs": "has a refusal of its own", "msetnx": "looks for any kind", "setnx": "looks for any kind", "mget": "answers null for another kind",
	}
	if untyped[row.Name] != "" {
		return false
	}
	switch row.Family {
	case "string", "bitmap", "hash", "list", "set", "zset", "stream":
		return len(row.Keys) > 0
	}
	return false
}

type wrongTypes struct {
	t       *testing.T
	table   *commands.Table
	pair    pair
	known   differences
	refused map[string]bool // commands that were answered WRONGTYPE
}

// runs reports whether a step is a request that can be sent by itself.
func (w *wrongTypes) runs(s *script.Step) bool {
	return s.Op == script.Request && s.Conn == "" && !s.Pending && s.Times == 0 && w.table.Lookup([]byte(s.Args[0])) != nil &&
		!strings.Contains(script.Words(s.Args), "{now") && !strings.Contains(script.Words(s.Args), "{sec")
}

func (w *wrongTypes) compare(f *script.File, c *script.Case) {
	var before [][]string
	for _, s := range c.Steps {
		if !w.runs(s) {
			continue
		}
		both := c.OnlyEmqd == "" && s.OnlyEmqd == "" && s.Differs == "" && plain(s.Args)
		for _, other := range w.spoilt(s.Args) {
			calls := append(append([][]string{}, before...), other...)
			got := w.emqd(f, s, calls)
			if both {
				w.ask(f, s, calls, got)
			}
		}
		before = append(before, s.Args)
	}
}

// spoilt returns the request behind a change of one of its keys to another kind, for every key.
func (w *wrongTypes) spoilt(args []string) [][][]string {
	request := make([][]byte, len(args))
	for i, a := range args {
		request[i] = []byte(a)
	}
	row, err := w.table.Find(request)
	if err != nil || !row.ArityOK(len(args)) {
		return nil
	}
	other := []string{"HSET", "", "f", "v"}
	if row.Family == "hash" {
		other = []string{"SET", "", "v"}
	}
	var all [][][]string
	for _, key := range row.AppendKeys(nil, request) {
		change := append([]string{}, other...)
		change[1] = args[key.Pos]
		all = append(all, [][]string{{"DEL", args[key.Pos]}, change, args})
	}
	return all
}

// emqd runs calls in process and returns the last reply.
func (w *wrongTypes) emqd(f *script.File, s *script.Step, calls [][]string) (got []byte) {
	require.NoError(w.t, w.pair.emqd.Reset(2))
	w.pair.emqd.Advance(w.pair.real.Now() - w.pair.emqd.Now())
	for _, args := range calls {
		var err error
		got, err = w.pair.emqd.Do(args)
		require.NoError(w.t, err, "%s:%d", f.Path, s.Line)
	}
	if strings.HasPrefix(string(got), "-WRONGTYPE") {
		w.refused[strings.ToLower(s.Args[0])] = true
	}
	return got
}

// ask runs calls on the real server and compares the last reply with emqd's, as far as one is a refusal.
func (w *wrongTypes) ask(f *script.File, s *script.Step, calls [][]string, got []byte) {
	require.NoError(w.t, w.pair.real.Reset(2))
	replies, err := w.pair.ask(calls)
	require.NoError(w.t, err)
	want := replies[len(replies)-1]
	if want[0] != '-' && got[0] != '-' || string(want) == string(got) {
		return
	}
	x, _, err := script.Decode(want)
	require.NoError(w.t, err)
	y, _, err := script.Decode(got)
	require.NoError(w.t, err)
	if !w.known.allow(script.Words(s.Args), x.String(), y.String()) {
		w.t.Errorf("%s:%d, with another kind under a key:\n%s  real %s\n  emqd %s", f.Path, s.Line, text(calls), x, y)
	}
}
