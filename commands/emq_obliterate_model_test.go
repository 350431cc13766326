package commands_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/echomq/emqd/fence"
)

// stepObliterate takes one step of an obliteration and then calls it off, so that the other steps of the model claim and
// settle what is left. Which jobs went is read from the node; all else must be as it was for those that stayed.
func (y *yard) stepObliterate(rt *rapid.T) {
	budget := rapid.IntRange(1, 6).Draw(rt, "budget")
	require.Equal(rt, ":1", y.do("EMQ.PAUSE", "1", "~meta"))
	more := y.do("EMQ.OBLITERATE", "2", "~meta", "~", "force", fmt.Sprint(budget))
	require.Len(rt, y.hash("meta"), map[string]int{":1": len(y.hash("meta")), ":0": 0}[more])
	if more == ":0" {
		require.Equal(rt, 1, y.s.Len(0), "the fence alone is left")
	}
	if rapid.Bool().Draw(rt, "by hand") { // the next step goes on where this one ended
		y.do("HDEL", "~meta", "paused")
	} else {
		require.Equal(rt, ":1", y.do("EMQ.RESUME", "1", "~meta"))
	}
	gone := 0
	for id := range y.jobs {
		if len(y.row(id)) == 0 {
			delete(y.jobs, id)
			gone++
		}
	}
	require.LessOrEqual(rt, gone, budget)
	limits, weights := y.hash("glimit"), y.hash("gweight")
	for group, l := range y.lanes {
		l.paused = l.paused && y.do("SISMEMBER", "~paused", group) == ":1"
		if _, ok := limits[group]; !ok {
			l.limit = 0
		}
		if _, ok := weights[group]; !ok {
			l.weight = 1
		}
	}
	// Those that were on the ring and can still be served keep their order; a lane at its limit may have joined behind them.
	kept := slices.DeleteFunc(append([]string{}, y.ring...), func(g string) bool { return !y.serviceable(g) })
	ring := y.list(fence.Ring)
	require.Equal(rt, kept, ring[:min(len(kept), len(ring))])
	y.ring, y.wake = ring, len(y.list(fence.Wake))
	require.LessOrEqual(rt, y.wake, 64)
	if len(y.hash("metrics:completed")) == 0 {
		y.settled = 0
	}
}

// TestEMQObliterationOfFlowsStepByStep obliterates a queue of flows, lanes and flat jobs step by step with claims and new
// jobs between the steps: after each the ring holds exactly the lanes that can be served, each once, the counts are those of
// the active jobs, and what was added meanwhile goes too.
func TestEMQObliterationOfFlowsStepByStep(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		f := newForest(t, "q", "other")
		add := func(i int) {
			switch rng.IntN(3) {
			case 0:
				f.call("EMQ.GROUP.ENQUEUE 3 q/job:JOBl%d q/g:g%d:pending q/ JOBl%d p g%[2]d", i, rng.IntN(4), i)
			case 1:
				f.call("EMQ.ENQUEUE 2 q/job:JOB%d q/pending JOB%d p", i, i)
			default:
				f.call("EMQ.FLOW.ADD 3 %s/job:JOBp%d q/job:JOBc%d q/job:JOBd%d JOBp%d p %q %q JOBc%d p JOBp%d fp JOBd%d p JOBp%d id",
					[]string{"q", "other"}[rng.IntN(2)], i, i, i, i, "", "", i, i, i, i)
			}
		}
		for i := range 25 {
			add(i)
		}
		for g := range 2 {
			f.call("EMQ.GROUP.LIMIT 1 q/ g%d %d", g, 1+rng.IntN(2))
		}
		f.call("EMQ.GROUP.PAUSE 3 q/paused q/ring q/ g3")
		for step, more := 0, ":1"; more == ":1"; step++ {
			require.Less(t, step, 2000)
			if step < 40 {
				add(100 + step)
			}
			f.call("EMQ.CLAIM 3 q/pending q/active q/ 1000")
			f.call("EMQ.GROUP.CLAIM 3 q/ring q/active q/ 1000")
			f.lanesHold("q", "g0", "g1", "g2", "g3")
			f.call("HSET q/meta paused 1")
			more = f.call("EMQ.OBLITERATE 2 q/meta q/ force %d", 1+rng.IntN(4))
			f.call("HDEL q/meta paused")
			f.lanesHold("q", "g0", "g1", "g2", "g3")
		}
		for _, key := range f.keys() {
			require.NotRegexp(t, `^emq:\{q\}:(g:|ring|gactive|active|pending|paused|meta|wake)`, key)
		}
		f.settle()
	}
}

// lanesHold holds the invariants of the lanes of a queue: the ring is exactly those that can be served, each once, and gactive
// counts their active jobs.
func (f *forest) lanesHold(q string, groups ...string) {
	f.t.Helper()
	counts, can := map[string]string{}, []string{}
	active := map[string]int{}
	for _, id := range f.strings(f.call("ZRANGE %s/active 0 -1", q)) {
		active[f.field(q+"/job:"+id, "group")]++
	}
	for _, g := range groups {
		if n := active[g]; n > 0 {
			counts[g] = fmt.Sprint(n)
		}
		limit := f.field(q+"/glimit", g)
		depth := f.call("ZCARD %s/g:%s:pending", q, g)
		if depth != ":0" && f.call("SISMEMBER %s/paused %s", q, g) == ":0" && (limit == "" || active[g] < atoi(limit)) {
			can = append(can, g)
		}
	}
	ring := f.strings(f.call("LRANGE %s/ring 0 -1", q))
	require.ElementsMatch(f.t, can, ring, "the ring after %s", f.last)
	held := map[string]string{}
	for _, g := range groups {
		if n := f.field(q+"/gactive", g); n != "" {
			held[g] = n
		}
	}
	require.Equal(f.t, counts, held)
}

func atoi(text string) (n int) {
	_, _ = fmt.Sscan(text, &n) // 0 when it is no number
	return n
}
