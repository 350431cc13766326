package commands_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/parity/script"
	"github.com/echomq/emqd/store"
)

// node runs EchoMQ verbs over a table and a store, with a clock, an ACL and a write guard that a test sets.
type node struct {
	t     testing.TB
	table *commands.Table
	s     *store.Store
	now   int64
	call  commands.Call
	reply commands.Reply

	denied    map[string]commands.KeyFlags // what the caller's ACL does not let it do with a key
	guard     error
	published []string   // channel and message
	effects   []string   // of the last call
	log       [][]string // the same, word by word
}

// wholeTable is the table of all commands of the package. Nothing in it changes but Build, which a test may set.
var wholeTable = sync.OnceValue(func() *commands.Table { return commands.New(commands.All()...) })

// newNode returns a node with the fence installed.
func newNode(t testing.TB) *node {
	n := &node{
		t: t, table: wholeTable(), s: commands.NewStore(2, 1), now: 2_000_000_000_000,
		denied: map[string]commands.KeyFlags{},
	}
	n.s.Poison()
	require.Equal(t, "+OK", n.do("EMQ.INSTALL"))
	return n
}

func (n *node) Allows(key []byte, access commands.KeyFlags) bool {
	return n.denied[string(key)]&access == 0
}

func (n *node) Guard(*commands.Row) error { return n.guard }

func (n *node) Publish(channel, message []byte) int64 {
	n.published = append(n.published, string(channel), string(message))
	return int64(len(n.published) / 2)
}

// run runs a call and returns the reply's bytes, which the next call overwrites.
func (n *node) run(args [][]byte) []byte {
	row := n.table.Lookup(args[0])
	n.reply.Reset(n.reply.Bytes()[:0], 2)
	tx := n.s.Begin(0, n.now, row.Has(commands.ReadOnly))
	c := &n.call
	c.Tx, c.Args, c.Reply, c.Row, c.Table, c.Host = tx, args, &n.reply, row, n.table, n
	_ = c.Run() // the refusal is in the reply
	return n.reply.Bytes()
}

// do runs a command and returns the reply as scripts write it. Keys may be short: "~x" is emq:{q}:x.
func (n *node) do(args ...string) string {
	n.t.Helper()
	request := make([][]byte, len(args))
	for i, a := range args {
		if rest, ok := strings.CutPrefix(a, "~"); ok {
			a = "emq:{q}:" + rest
		}
		request[i] = []byte(a)
	}
	v, _, err := script.Decode(n.run(request))
	require.NoError(n.t, err)
	f := n.call.Tx.Effects()
	n.effects, n.log = n.effects[:0], nil
	for i := range f.Len() {
		words := []string{f.Name(i)}
		for j := range f.Args(i) {
			words = append(words, string(f.Arg(i, j)))
		}
		n.log = append(n.log, words)
		n.effects = append(n.effects, strings.Join(words, " "))
	}
	n.call.Tx.Commit()
	n.s.Reclaim(64)
	if v.Kind == '-' {
		require.Empty(n.t, n.effects, "%v was refused", args)
		return v.Text
	}
	return v.String()
}

// line splits a call at spaces and runs it.
func (n *node) line(call string) string { return n.do(strings.Fields(call)...) }

// words cuts a call into its arguments.
func words(call string) (args [][]byte) {
	for _, w := range strings.Fields(call) {
		args = append(args, []byte(w))
	}
	return args
}

// members returns a sorted set of the queue.
func (n *node) members(kind fence.Kind) map[string]int64 {
	tx := n.s.Begin(0, n.now, true)
	defer tx.Commit()
	z, err := tx.ZSet(fence.AppendKey(nil, []byte("emq:{q}:"), kind))
	require.NoError(n.t, err)
	out := map[string]int64{}
	z.Range(0, z.Len(), false, func(member []byte, score float64) bool {
		out[string(member)] = int64(score)
		return true
	})
	return out
}

// row returns the fields of a job's row; none when it is gone.
func (n *node) row(id string) map[string]string {
	return n.hash("job:" + id)
}

func (n *node) hash(rest string) map[string]string {
	tx := n.s.Begin(0, n.now, true)
	defer tx.Commit()
	h, err := tx.Hash([]byte("emq:{q}:" + rest))
	require.NoError(n.t, err)
	out := map[string]string{}
	h.Each(func(field, value []byte) bool {
		out[string(field)] = string(value)
		return true
	})
	return out
}

// The verbs, with the keys of queue q.

func (n *node) enqueue(id string) string {
	return n.do("EMQ.ENQUEUE", "2", "~job:"+id, "~pending", id, "p")
}

func (n *node) schedule(id string, in int64) string {
	return n.do("EMQ.SCHEDULE", "2", "~job:"+id, "~schedule", id, "p", "in", fmt.Sprint(in))
}

// claim returns the id and the token, both empty when there is nothing.
func (n *node) claim(lease int64) (id, token string) {
	n.t.Helper()
	v, err := script.ParseValue(n.do("EMQ.CLAIM", "3", "~pending", "~active", "~", fmt.Sprint(lease)))
	require.NoError(n.t, err)
	if len(v.Elems) == 0 {
		return "", ""
	}
	return v.Elems[0].Text, v.Elems[2].Text
}

func (n *node) complete(id, token string) string {
	return n.do("EMQ.COMPLETE", "3", "~active", "~job:"+id, "~", id, token)
}

func (n *node) fail(id, token string, delay, budget int64) string {
	return n.do("EMQ.FAIL", "5", "~active", "~schedule", "~dead", "~job:"+id, "~", id, token,
		fmt.Sprint(delay), fmt.Sprint(budget), "boom")
}

func (n *node) extend(id, token string, lease int64) string {
	return n.do("EMQ.EXTEND", "2", "~active", "~job:"+id, id, token, fmt.Sprint(lease))
}

func (n *node) delay(id, token string, in int64) string {
	return n.do("EMQ.DELAY", "3", "~job:"+id, "~active", "~schedule", id, token, "in", fmt.Sprint(in))
}

func (n *node) requeue(id, token string) string {
	return n.do("EMQ.REQUEUE", "3", "~active", "~pending", "~job:"+id, id, token)
}

func (n *node) reprocess(id string) string {
	return n.do("EMQ.REPROCESS", "3", "~job:"+id, "~dead", "~pending", id)
}

func (n *node) reschedule(id string, in int64) string {
	return n.do("EMQ.RESCHEDULE", "2", "~schedule", "~job:"+id, id, "in", fmt.Sprint(in))
}

func (n *node) promote(batch int64) string {
	return n.do("EMQ.PROMOTE", "3", "~schedule", "~pending", "~", fmt.Sprint(batch))
}

// stalledCheck returns the recovered and the dead ids.
func (n *node) stalledCheck(maxStalled, limit int64) (recovered, dead []string) {
	n.t.Helper()
	v, err := script.ParseValue(n.do("EMQ.STALLED.CHECK", "4", "~active", "~pending", "~dead", "~",
		fmt.Sprint(maxStalled), fmt.Sprint(limit)))
	require.NoError(n.t, err)
	require.Len(n.t, v.Elems, 2)
	ids := func(v script.Value) (out []string) {
		for _, e := range v.Elems {
			out = append(out, e.Text)
		}
		return out
	}
	return ids(v.Elems[0]), ids(v.Elems[1])
}
