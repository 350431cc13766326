package parity

import (
	"errors"
	"flag"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/parity/local"
	"github.com/echomq/emqd/parity/script"
	"github.com/echomq/emqd/parity/wire"
	"github.com/echomq/emqd/server"
)

var updateSignals = flag.Bool("update-signals", false, "rewrite testdata/signals_queues.txt")

// TestSignalsOfQueues runs the corpus of the verbs of queues and tensors with a watcher of every key that a call names or
// touches: those of the keys that its effects touch are told and no others. testdata/signals_queues.txt states for each verb
// which kinds of keys these are; a verb that writes and tells nobody in the whole corpus is missing there.
func TestSignalsOfQueues(t *testing.T) {
	files, err := script.Load("../commands/testdata/[et][mr][qa]*.txt")
	require.NoError(t, err)
	more, err := script.Parse("queues", queueCalls)
	require.NoError(t, err)
	files = append(files, more)
	table := server.Table()
	w := &watchedQueues{
		Target: signalNode(t), t: t, table: table, told: map[string]map[string]bool{},
		twin: local.New(commands.New(commands.All()...), 1),
	}
	for _, f := range files {
		for _, c := range f.Cases {
			err := f.Run(c, w, 2, script.Options{Knows: w.twin.Knows}, nil)
			var skip script.Skip
			var m *script.Mismatch
			if !errors.As(err, &skip) && !errors.As(err, &m) { // random ids and clocks may differ from what the case expects
				require.NoError(t, err, c.Title)
			}
		}
	}
	require.Greater(t, w.compared, 500)
	var lines []string
	for _, row := range table.Every() {
		if row.Has(commands.Write) && !plain([]string{row.Name}) {
			lines = append(lines, row.Name+": "+strings.Join(slices.Sorted(maps.Keys(w.told[row.Name])), " "))
		}
	}
	slices.Sort(lines)
	text := strings.Join(lines, "\n") + "\n"
	if *updateSignals {
		require.NoError(t, os.WriteFile("testdata/signals_queues.txt", []byte(text), 0o644))
	}
	want, err := os.ReadFile("testdata/signals_queues.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), text)
	require.NotRegexp(t, `(?m)^([^ep]|emq\.[^p]|emq\.p[^u]).*: $`, text, "a verb tells nobody; EMQ.PUBLISH alone touches no key")
}

// queueCalls are calls that the corpus makes only at instants of its own.
const queueCalls = `
== delay
> EMQ.INSTALL
> EMQ.ENQUEUE 2 emq:{q}:job:JOB1 emq:{q}:pending JOB1 p
> EMQ.CLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 100000
> EMQ.DELAY 3 emq:{q}:job:JOB1 emq:{q}:active emq:{q}:schedule JOB1 1 in 100000

== group reprocess
> EMQ.INSTALL
> EMQ.GROUP.ENQUEUE 3 emq:{q}:job:JOB1 emq:{q}:g:a:pending emq:{q}: JOB1 p a
> EMQ.GROUP.CLAIM 3 emq:{q}:ring emq:{q}:active emq:{q}: 60000
> EMQ.GROUP.FAIL 5 emq:{q}:active emq:{q}:schedule emq:{q}:dead emq:{q}:job:JOB1 emq:{q}: JOB1 1 1 1 boom
> EMQ.GROUP.REPROCESS 4 emq:{q}:job:JOB1 emq:{q}:dead emq:{q}:pending emq:{q}: JOB1
`

// watchedQueues is a node and, for the effects of each call, a twin in process.
type watchedQueues struct {
	*wire.Target
	t        *testing.T
	table    *commands.Table
	twin     *local.Target
	told     map[string]map[string]bool // kinds of keys by verb
	compared int
}

// Reset is script.Target's.
func (w *watchedQueues) Reset(proto int) error {
	if err := w.twin.Reset(proto); err != nil {
		return err
	}
	w.twin.Advance(w.Target.Now() - w.twin.Now())
	return w.Target.Reset(proto)
}

// Do sends a request to both. When it is a write of a queue, its keys are watched.
func (w *watchedQueues) Do(args []string) ([]byte, error) {
	// A lease that is renewed within a millisecond does not change, and the node's milliseconds begin at other instants.
	for w.Target.Now() < w.twin.Now()+2 {
	}
	w.twin.Advance(w.Target.Now() - w.twin.Now())
	before := len(w.twin.Log())
	reply, err := w.twin.Do(args)
	if err != nil {
		return nil, err
	}
	request := requestOf("")
	for _, a := range args {
		request = append(request, []byte(a))
	}
	row, err := w.table.Find(request)
	if err != nil || !row.Has(commands.Write) || plain(args) {
		return w.Target.Do(args)
	}
	touched := map[string]bool{}
	for _, e := range w.twin.Log()[before:] {
		touched[e.Args[1]] = true
	}
	keys := maps.Clone(touched)
	for _, k := range row.AppendKeys(nil, request) {
		keys[args[k.Pos]] = true
	}
	names := slices.Sorted(maps.Keys(keys))
	for i, key := range names {
		w.ask("w"+strconv.Itoa(i), "WATCH", key)
	}
	got, err := w.Target.Do(args)
	if err != nil {
		return nil, err
	}
	for i, key := range names {
		conn := "w" + strconv.Itoa(i)
		w.ask(conn, "MULTI")
		told := w.ask(conn, "EXEC") == "*-1\r\n"
		if string(got) != string(reply) {
			continue // such as another instant in it
		}
		require.Equal(w.t, touched[key], told, "%s: %s", script.Words(args), key)
		if told {
			if w.told[row.Name] == nil {
				w.told[row.Name] = map[string]bool{}
			}
			w.told[row.Name][keyKind(key)] = true
		}
		w.compared++
	}
	return got, nil
}

func (w *watchedQueues) ask(conn string, args ...string) string {
	require.NoError(w.t, w.Send(conn, args))
	reply, err := w.Receive(conn)
	require.NoError(w.t, err)
	return string(reply)
}

var (
	keyBase = regexp.MustCompile(`^emq:\{[^}]*\}:`)
	keyName = regexp.MustCompile(`^(job|g|repeat):[^:]+`)
)

// keyKind names the kind of a key: without its queue, and with <> for the name of a job, a lane or a repeatable.
func keyKind(key string) string {
	return keyName.ReplaceAllString(keyBase.ReplaceAllString(key, ""), "$1:<>")
}
