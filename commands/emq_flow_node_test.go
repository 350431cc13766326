package commands_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/script"
	"github.com/echomq/emqd/store"
)

// forest is a node with a second one beside it that knows the effects alone: after every call both must hold the same.
type forest struct {
	*node
	copy   *node
	queues []string
	last   string // the last call
}

func newForest(t testing.TB, queues ...string) *forest {
	return &forest{node: newNode(t), copy: newNode(t), queues: queues}
}

// call runs a call written in one line, as script.QueueWords has it.
func (f *forest) call(format string, args ...any) string {
	f.t.Helper()
	f.last = fmt.Sprintf(format, args...)
	reply := f.do(script.QueueWords(f.last)...)
	f.follow()
	return reply
}

// follow gives the copy the effects of the last call.
func (f *forest) follow() {
	f.t.Helper()
	f.copy.now = f.now
	log := f.log
	for _, effect := range log {
		f.copy.do(effect...)
	}
	if len(log) > 0 {
		require.Equal(f.t, f.s.Digest(f.now), f.copy.s.Digest(f.now), "effects of %s", f.last)
	}
}

// strings parses a reply that is an array of texts.
func (f *forest) strings(reply string) (out []string) {
	v, err := script.ParseValue(reply)
	require.NoError(f.t, err)
	for _, e := range v.Elems {
		out = append(out, e.Text)
	}
	return out
}

// keys lists the keyspace.
func (f *forest) keys() (keys []string) {
	tx := f.s.Begin(0, f.now, true)
	defer tx.Commit()
	tx.EachKey(func(key []byte, _ store.Kind) bool {
		keys = append(keys, string(key))
		return true
	})
	slices.Sort(keys)
	return keys
}

// jobs lists the rows of a queue.
func (f *forest) jobs(q string) (ids []string) {
	for _, key := range f.keys() {
		if id, ok := strings.CutPrefix(key, "emq:{"+q+"}:job:"); ok && !strings.Contains(id, ":") {
			ids = append(ids, id)
		}
	}
	return ids
}

// field returns a field of a hash of a queue, "" when it is absent.
func (f *forest) field(key, field string) string {
	reply := f.call("HGET %s %s", key, field)
	if reply == "$-1" {
		return ""
	}
	v, err := script.ParseValue(reply)
	require.NoError(f.t, err)
	return v.Text
}

// parent returns the key of the row that a job names as its parent, in the short form, and its policy.
func (f *forest) parent(q, id string) (key, policy string) {
	row := q + "/job:" + id
	parent := f.field(row, "parent")
	if parent == "" {
		return "", ""
	}
	if other := f.field(row, "parent_queue"); other != "" {
		q = other
	}
	return q + "/job:" + parent, f.field(row, "parent_policy")
}

// check holds what must be true after every step: each job is in exactly one place, no counter of children is negative or
// differs from those that have not ended, and no idempotency key is left without its job.
func (f *forest) check() {
	f.t.Helper()
	for _, q := range f.queues {
		members := map[string]int{}
		for _, set := range []string{"pending", "active", "schedule", "dead"} {
			for _, id := range f.strings(f.call("ZRANGE %s/%s 0 -1", q, set)) {
				members[id]++
			}
		}
		for _, id := range f.jobs(q) {
			want := 1
			if f.field(q+"/job:"+id, "state") == "awaiting_children" {
				want = 0
			}
			require.Equal(f.t, want, members[id], "sets that %s of queue %s is in, after %s", id, q, f.last)
			delete(members, id)
		}
		require.Empty(f.t, members, "members without a row in queue %s, after %s", q, f.last)
	}
	for _, key := range f.keys() {
		base, rest, _ := strings.Cut(key, "}:")
		if id, ok := strings.CutPrefix(rest, "de:"); ok {
			require.Equal(f.t, ":1", f.do("EXISTS", base+"}:job:"+id), "%s outlived its job, after %s", key, f.last)
		}
	}
}

// checkCount compares a parent's counter with its notes, unless the parent is gone.
func (f *forest) checkCount(parent string, announced int) {
	f.t.Helper()
	if f.call("EXISTS %s", parent) == ":0" {
		return
	}
	told := 0
	for _, sub := range []string{"processed", "unsuccessful"} {
		told += len(f.strings(f.call("HKEYS %s:%s", parent, sub)))
	}
	require.Equal(f.t, fmt.Sprintf("$%q", fmt.Sprint(announced-told)), f.call("GET %s:dependencies", parent), "after %s", f.last)
}

// deliver applies every signal of every outbox, and those that this leaves, each twice.
func (f *forest) deliver() {
	for again := true; again; {
		again = false
		for _, q := range f.queues {
			signal := f.call("LPOP %s/flow:outbox", q)
			if signal == "$-1" {
				continue
			}
			again = true
			v, err := script.ParseValue(signal)
			require.NoError(f.t, err)
			parts := strings.SplitN(v.Text, "\x00", 7)
			require.Len(f.t, parts, 7)
			require.Equal(f.t, []string{"", "fail"}, parts[:2])
			for range 2 {
				require.Equal(f.t, ":1", f.do("EMQ.FLOW.FAILDELIVER", "2", "emq:{"+parts[2]+"}:job:"+parts[3], "emq:{"+parts[2]+"}:",
					parts[4], parts[6], parts[5]))
				f.follow()
			}
			f.check()
		}
	}
}

// settle completes whatever can be claimed until nothing can.
func (f *forest) settle() {
	for again := true; again; {
		again = false
		f.deliver()
		for _, q := range f.queues {
			f.call("EMQ.RESUME 1 %s/meta", q)
			f.call("EMQ.PROMOTE 3 %s/schedule %s/pending %s/ 100", q, q, q)
			job := f.strings(f.call("EMQ.CLAIM 3 %s/pending %s/active %s/ 1000000", q, q, q))
			if len(job) > 0 {
				again = true
				f.complete(q, job[0])
			}
		}
	}
}

// complete completes a held job with the token of its row.
func (f *forest) complete(q, id string) string {
	token := f.field(q+"/job:"+id, "attempts")
	if token == "" {
		token = "0"
	}
	parent, _ := f.parent(q, id)
	if parent == "" {
		return f.call("EMQ.COMPLETE 3 %s/active %s/job:%s %s/ %s %s", q, q, id, q, id, token)
	}
	return f.call("EMQ.FLOW.COMPLETE 4 %s/active %s/job:%s %s/ %s %s %s done", q, q, id, q, parent, id, token)
}

// fail fails a held job for good; up is how many ancestors' keys are declared at most.
func (f *forest) fail(q, id string, up int) string {
	token := f.field(q+"/job:"+id, "attempts")
	keys := fmt.Sprintf("%s/active %s/schedule %s/dead %s/job:%s %s/", q, q, q, q, id, q)
	n := 5
	for parent, _ := f.parent(q, id); parent != "" && n < 5+up; n++ {
		keys += " " + parent
		pq, row, _ := strings.Cut(parent, "/job:")
		parent, _ = f.parent(pq, row)
	}
	verb := "EMQ.FLOW.FAIL"
	if n == 5 {
		verb = "EMQ.FAIL"
	}
	if token == "" {
		token = "0"
	}
	return f.call("%s %d %s %s %s 0 1 boom", verb, n, keys, id, token)
}

// obliterate obliterates a queue in small steps.
func (f *forest) obliterate(q string) {
	f.call("EMQ.PAUSE 1 %s/meta", q)
	for step := 0; f.call("EMQ.OBLITERATE 2 %s/meta %s/ force 3", q, q) == ":1"; step++ {
		require.Less(f.t, step, 1000)
		f.check()
	}
	for _, key := range f.keys() {
		if strings.HasPrefix(key, "emq:{"+q+"}:") {
			require.Equal(f.t, "emq:{"+q+"}:flow:outbox", key)
		}
	}
}

// ends are the ways in which a child that a worker holds can end.
var ends = map[string]func(f *forest, q, id string){
	"complete": func(f *forest, q, id string) { f.complete(q, id) },
	"fail":     func(f *forest, q, id string) { f.fail(q, id, 1) },
	"fail up":  func(f *forest, q, id string) { f.fail(q, id, 9) },
	"stall": func(f *forest, q, id string) {
		f.call("EMQ.EXTEND 2 %s/active %s/job:%s %s 1 1", q, q, id, id)
		f.now++
		f.call("EMQ.STALLED.CHECK 4 %s/active %s/pending %s/dead %s/ 1 10", q, q, q, q)
	},
	"remove": func(f *forest, q, id string) { f.remove(q, id) },
	"fail, remove": func(f *forest, q, id string) {
		f.fail(q, id, 1)
		f.remove(q, id)
	},
	"drain": func(f *forest, q, id string) {
		f.call("EMQ.REQUEUE 3 %s/active %s/pending %s/job:%s %s 1", q, q, q, id, id)
		f.call("EMQ.DRAIN 2 %s/ %s/pending", q, q)
	},
	"obliterate": func(f *forest, q, _ string) { f.obliterate(q) },
}

func (f *forest) remove(q, id string) {
	f.call("EMQ.REMOVE 6 %s/job:%s %s/pending %s/active %s/schedule %s/dead %s/de: %s %q", q, id, q, q, q, q, q, id, "")
}

var endNames = slices.Sorted(maps.Keys(ends))
