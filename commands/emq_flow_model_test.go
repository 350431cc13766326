package commands_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var everyTree = flag.Bool("every-tree", false, "run all trees of TestEMQEveryFlowOfThreeChildrenEnds instead of every fifth")

// permutations calls f with every order of 0 to n-1.
func permutations(n int, f func([]int)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var rec func(k int)
	rec = func(k int) {
		if k == n {
			f(order)
			return
		}
		for i := k; i < n; i++ {
			order[k], order[i] = order[i], order[k]
			rec(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	rec(0)
}

// leaf is a child in the enumerations: its queue and id.
type leaf struct{ q, id string }

// plantTree adds the tree of a call, has a worker hold every leaf, and gives each an idempotency key.
func plantTree(t *testing.T, add string, leaves []leaf, queues ...string) *forest {
	f := newForest(t, queues...)
	require.NotEqual(t, ":0", f.call("%s", add))
	for _, l := range leaves {
		f.call("SET %s/de:%s %s", l.q, l.id, l.id)
		f.call("HSET %s/job:%s dedup %s", l.q, l.id, l.id)
		require.Len(t, f.strings(f.call("EMQ.CLAIM 3 %s/pending %s/active %s/ 1000000", l.q, l.q, l.q)), 3)
	}
	f.check()
	return f
}

// ended requires that nobody waits for children any more once all signals are delivered and all jobs that can be
// claimed are completed.
func (f *forest) ended(what string) {
	f.settle()
	for _, q := range f.queues {
		for _, id := range f.jobs(q) {
			require.Equal(f.t, "dead", f.field(q+"/job:"+id, "state"), "%s of queue %s never ends: %s", id, q, what)
		}
	}
}

// TestEMQEveryFlowOfThreeChildrenEnds lets three children of one parent, in two queues, one of them the parent's, end in
// every way, in every order, under every policy, with signals delivered at once or at the end.
func TestEMQEveryFlowOfThreeChildrenEnds(t *testing.T) {
	leaves := []leaf{{"a", "JOB1"}, {"b", "JOB2"}, {"b", "JOB3"}}
	stride := 5
	switch {
	case *everyTree:
		stride = 1
	case testing.Short():
		stride = 37
	}
	run := 0
	for policies := range 8 {
		word := func(i int) string { return []string{"fp", "id"}[policies>>i&1] }
		add := fmt.Sprintf(`EMQ.FLOW.ADD 4 a/job:JOB0 a/job:JOB1 b/job:JOB2 b/job:JOB3 JOB0 p "" "" JOB1 p JOB0 %s JOB2 p JOB0 %s JOB3 p JOB0 %s`,
			word(0), word(1), word(2))
		for ways := range len(endNames) * len(endNames) * len(endNames) {
			permutations(3, func(order []int) {
				if run++; run%stride != 0 {
					return
				}
				f := plantTree(t, add, leaves, "a", "b")
				what := fmt.Sprintf("policies %03b", policies)
				for step, i := range order {
					end := endNames[[]int{ways, ways / len(endNames), ways / len(endNames) / len(endNames)}[i]%len(endNames)]
					what += fmt.Sprintf(", %s %s", leaves[i].id, end)
					ends[end](f, leaves[i].q, leaves[i].id)
					f.check()
					f.checkCount("a/job:JOB0", 3)
					if (run+step)%2 == 0 {
						f.deliver()
						f.checkCount("a/job:JOB0", 3)
					}
				}
				f.ended(what)
			})
		}
	}
	t.Logf("%d trees of %d", run/stride, run)
}

// TestEMQEveryFlowOfTwoLevelsEnds does so for a root, a parent below it and leaves below both, where the middle one may be
// taken away too.
func TestEMQEveryFlowOfTwoLevelsEnds(t *testing.T) {
	leaves := []leaf{{"c", "JOB3"}, {"a", "JOB4"}, {"c", "JOB5"}}
	middle := []string{"stays", "remove", "obliterate"}
	trees := 400
	if testing.Short() {
		trees = 60
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for run := range trees {
		policies := rng.IntN(16)
		word := func(i int) string { return []string{"fp", "id"}[policies>>i&1] }
		add := fmt.Sprintf(`EMQ.FLOW.ADD 5 a/job:JOB1 b/job:JOB2 c/job:JOB3 a/job:JOB4 c/job:JOB5 `+
			`JOB1 p "" "" JOB2 p JOB1 %s JOB3 p JOB2 %s JOB4 p JOB2 %s JOB5 p JOB1 %s`, word(0), word(1), word(2), word(3))
		f := plantTree(t, add, leaves, "a", "b", "c")
		what := fmt.Sprintf("tree %d, policies %04b", run, policies)
		for _, i := range rng.Perm(4) {
			if i == 3 {
				end := middle[rng.IntN(len(middle))]
				what += ", JOB2 " + end
				switch end {
				case "remove":
					f.remove("b", "JOB2")
				case "obliterate":
					f.obliterate("b")
				}
			} else {
				end := endNames[rng.IntN(len(endNames))]
				what += fmt.Sprintf(", %s %s", leaves[i].id, end)
				ends[end](f, leaves[i].q, leaves[i].id)
			}
			f.check()
			if rng.IntN(2) == 0 {
				f.deliver()
			}
		}
		f.ended(what)
	}
}

// TestEMQFlowsUnderRandomCalls mixes trees, workers, failures, reprocessing and removals at random; at the end every flow ends.
func TestEMQFlowsUnderRandomCalls(t *testing.T) {
	seed, rounds := uint64(7), 40
	if testing.Short() {
		rounds = 8
	}
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range rounds {
		f := newForest(t, "a", "b")
		pick := func(words ...string) string { return words[rng.IntN(len(words))] }
		for range 150 {
			q := pick("a", "b")
			set := pick("active", "active", "active", "dead", "pending")
			id := pick("JOB0", "JOB1", "JOB2", "JOB3", "JOB4", "JOB5")
			if ids := f.strings(f.call("ZRANGE %s/%s 0 -1", q, set)); len(ids) > 0 {
				id = ids[rng.IntN(len(ids))]
			}
			switch rng.IntN(12) {
			case 0, 1:
				f.randomTree(rng)
			case 2, 3, 4:
				f.call("EMQ.CLAIM 3 %s/pending %s/active %s/ 1000000", q, q, q)
			case 5, 6:
				f.complete(q, id)
			case 7:
				f.fail(q, id, 1+rng.IntN(3))
			case 8:
				f.call("EMQ.REPROCESS 3 %s/job:%s %s/dead %s/pending %s", q, id, q, q, id)
			case 9:
				ends[pick(endNames...)](f, q, id)
			case 10:
				f.deliver()
			case 11:
				f.call("EMQ.REQUEUE 3 %s/active %s/pending %s/job:%s %s %s", q, q, q, id, id, pick("1", "2"))
			}
			f.check()
		}
		for _, q := range f.queues { // whoever holds a job finishes it
			for _, id := range f.strings(f.call("ZRANGE %s/active 0 -1", q)) {
				f.complete(q, id)
			}
		}
		f.ended("random calls")
	}
}

// randomTree adds a tree of up to five nodes with ids that may exist.
func (f *forest) randomTree(rng *rand.Rand) {
	ids := rng.Perm(6)[:1+rng.IntN(5)]
	keys, args := []string{}, []string{}
	for i, id := range ids {
		keys = append(keys, fmt.Sprintf("%s/job:JOB%d", f.queues[rng.IntN(2)], id))
		if i == 0 {
			args = append(args, fmt.Sprintf(`JOB%d p "" ""`, id))
		} else {
			args = append(args, fmt.Sprintf("JOB%d p JOB%d %s", id, ids[rng.IntN(i)], []string{"fp", "id"}[rng.IntN(2)]))
		}
	}
	f.call("EMQ.FLOW.ADD %d %s %s", len(keys), strings.Join(keys, " "), strings.Join(args, " "))
}

func TestEMQFlowOfTenThousandChildren(t *testing.T) {
	const children = 10_000
	n := newNode(t)
	keys, args := []string{"~job:JOBroot"}, []string{"JOBroot", "p", "", ""}
	for i := range children {
		id := fmt.Sprintf("JOB%05d", i)
		keys = append(keys, "~job:"+id)
		args = append(args, id, "p", "JOBroot", "id")
	}
	call := append([]string{"EMQ.FLOW.ADD", fmt.Sprint(len(keys))}, keys...)
	require.Equal(t, fmt.Sprintf(":%d", children), n.do(append(call, args...)...))
	require.Equal(t, ":0", n.do(append(call, args...)...))
	for i := range children {
		id, token := n.claim(1000)
		require.Equal(t, fmt.Sprintf("JOB%05d", i), id)
		require.Equal(t, "awaiting_children", n.row("JOBroot")["state"])
		if i%2 == 0 {
			require.Equal(t, ":1", n.do("EMQ.FLOW.COMPLETE", "4", "~active", "~job:"+id, "~", "~job:JOBroot", id, token, "r"))
		} else {
			require.Equal(t, `$"dead"`, n.do("EMQ.FLOW.FAIL", "6", "~active", "~schedule", "~dead", "~job:"+id, "~", "~job:JOBroot", id, token, "0", "1", "e"))
		}
		require.LessOrEqual(t, len(n.log), 8, "the work of a child does not grow with its siblings")
	}
	id, token := n.claim(1000)
	require.Equal(t, "JOBroot", id)
	require.Len(t, n.hash("job:JOBroot:processed"), children/2)
	require.Len(t, n.hash("job:JOBroot:unsuccessful"), children/2)
	require.Equal(t, ":1", n.complete(id, token))
}

func TestEMQTreeHasAtMost64Levels(t *testing.T) {
	for _, levels := range []int{64, 65} {
		n := newNode(t)
		keys, args := []string{}, []string{}
		for i := range levels {
			id := fmt.Sprintf("JOB%d", i)
			keys = append(keys, "~job:"+id)
			if i == 0 {
				args = append(args, id, "p", "", "")
			} else {
				args = append(args, id, "p", fmt.Sprintf("JOB%d", i-1), "fp")
			}
		}
		reply := n.do(slices.Concat([]string{"EMQ.FLOW.ADD", fmt.Sprint(levels)}, keys, args)...)
		if levels == 65 {
			require.Equal(t, "EMQLAYOUT a tree has at most 64 levels", reply)
			continue
		}
		require.Equal(t, ":63", reply)
		_, token := n.claim(10)
		slices.Reverse(keys)
		call := slices.Concat([]string{"EMQ.FLOW.FAIL", "68", "~active", "~schedule", "~dead", "~job:JOB63", "~"}, keys[1:],
			[]string{"JOB63", token, "0", "1", "boom"})
		require.Equal(t, `$"dead"`, n.do(call...))
		require.Equal(t, "dead", n.row("JOB0")["state"])
	}
}
