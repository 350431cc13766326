package commands_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/script"
)

// laneEnqueue adds a job to a lane.
func (n *node) laneEnqueue(id, group string) string {
	return n.do("EMQ.GROUP.ENQUEUE", "3", "~job:"+id, "~g:"+group+":pending", "~", id, "p", group)
}

// laneJobs claims from the ring with a verb and returns the ids, tokens and groups.
func (n *node) laneClaims(verb string) (jobs [][3]string) {
	n.t.Helper()
	v, err := script.ParseValue(n.do("EMQ.GROUP."+verb, "3", "~ring", "~active", "~", "1000"))
	require.NoError(n.t, err)
	if verb == "CLAIM" && len(v.Elems) > 0 {
		v.Elems = []script.Value{v}
	}
	for _, e := range v.Elems {
		jobs = append(jobs, [3]string{e.Elems[0].Text, e.Elems[2].Text, e.Elems[3].Text})
	}
	return jobs
}

// laneClaim claims one job from the ring.
func (n *node) laneClaim() (id, token, group string) {
	n.t.Helper()
	jobs := n.laneClaims("CLAIM")
	if len(jobs) == 0 {
		return "", "", ""
	}
	return jobs[0][0], jobs[0][1], jobs[0][2]
}

func (n *node) laneComplete(id, token string) string {
	return n.do("EMQ.GROUP.COMPLETE", "3", "~active", "~job:"+id, "~", id, token)
}

func (n *node) laneFail(id, token string, delay int) string {
	return n.do("EMQ.GROUP.FAIL", "5", "~active", "~schedule", "~dead", "~job:"+id, "~", id, token, fmt.Sprint(delay), "9", "boom")
}

// Lanes in order: a retry goes back to the place that its id has in its lane, and a lane that takes one job at a time
// gives out nothing behind it.
func TestEMQRetriedJobOfALaneKeepsItsPlace(t *testing.T) {
	n := newNode(t)
	n.line("EMQ.GROUP.LIMIT 1 emq:{q}: x 1")
	for _, id := range []string{"JOBa", "JOBb", "JOBc"} {
		n.laneEnqueue(id, "x")
	}
	id, token, _ := n.laneClaim()
	require.Equal(t, "JOBa", id)
	require.Equal(t, `$"scheduled"`, n.laneFail(id, token, 0))
	require.Equal(t, ":1", n.line("EMQ.GROUP.PROMOTE 3 emq:{q}:schedule emq:{q}:pending emq:{q}: 10"))
	for _, want := range []string{"JOBa", "JOBb", "JOBc"} {
		id, token, _ = n.laneClaim()
		require.Equal(t, want, id)
		none, _, _ := n.laneClaim()
		require.Empty(t, none, "one at a time")
		require.Equal(t, ":1", n.laneComplete(id, token))
	}
	id, _, _ = n.laneClaim()
	require.Empty(t, id)
}

// A job that is put off far into the future holds nothing up: neither another job of its lane nor another lane.
func TestEMQDelayedJobSlowsNoLane(t *testing.T) {
	n := newNode(t)
	n.line("EMQ.GROUP.LIMIT 1 emq:{q}: x 1")
	for i := range 4 {
		n.laneEnqueue(fmt.Sprintf("JOB%d", i), "x")
	}
	id, token, _ := n.laneClaim()
	require.Equal(t, ":1", n.do("EMQ.GROUP.DELAY", "4", "~job:"+id, "~active", "~schedule", "~", id, token, "in", "30000"))
	for i := 1; i < 4; i++ {
		id, token, _ = n.laneClaim()
		require.Equal(t, fmt.Sprintf("JOB%d", i), id)
		n.now += 2000
		require.Equal(t, ":0", n.line("EMQ.GROUP.PROMOTE 3 emq:{q}:schedule emq:{q}:pending emq:{q}: 10"))
		require.Equal(t, ":1", n.laneComplete(id, token))
	}
	n.now += 24000
	require.Equal(t, ":1", n.line("EMQ.GROUP.PROMOTE 3 emq:{q}:schedule emq:{q}:pending emq:{q}: 10"))
	id, _, _ = n.laneClaim()
	require.Equal(t, "JOB0", id)
}

// Ten workers on a lane with the limit 1, beside four others: never two jobs of it at once, and the others are not held up.
func TestEMQLimitOfOneLaneHoldsAndStopsNoOther(t *testing.T) {
	n := newNode(t)
	n.line("EMQ.GROUP.LIMIT 1 emq:{q}: a 1")
	for _, group := range []string{"a", "b", "c", "d", "e"} {
		for i := range 3 {
			require.Equal(t, ":1", n.laneEnqueue("JOB"+group+fmt.Sprint(i), group))
		}
	}
	require.Equal(t, "*[:3 :3 :3 :3 :3]", n.line("EMQ.GROUP.DEPTHS 1 emq:{q}: a b c d e"))
	held := map[string][][2]string{}
	for range 20 {
		if id, token, group := n.laneClaim(); id != "" {
			held[group] = append(held[group], [2]string{id, token})
		}
	}
	require.Len(t, held["a"], 1)
	for _, group := range []string{"b", "c", "d", "e"} {
		require.Len(t, held[group], 3, "a lane without a limit is given out whole")
	}
	require.Equal(t, map[string]string{"a": "1", "b": "3", "c": "3", "d": "3", "e": "3"}, n.hash("gactive"))
	for i := range 3 {
		job := held["a"][len(held["a"])-1]
		require.Equal(t, fmt.Sprintf("JOBa%d", i), job[0])
		require.Equal(t, ":1", n.laneComplete(job[0], job[1]))
		for range 10 {
			if id, token, group := n.laneClaim(); id != "" {
				held[group] = append(held[group], [2]string{id, token})
			}
		}
		require.LessOrEqual(t, len(held["a"]), i+2)
	}
	require.NotContains(t, n.hash("gactive"), "a")
}

// A paused queue gives no lane job out, whatever comes back or becomes due, and across a restart; a paused lane likewise.
func TestEMQPausedLanesGiveNothingOut(t *testing.T) {
	for _, pause := range [][2]string{
		{"HSET emq:{q}:meta paused 1", "HDEL emq:{q}:meta paused"},
		{"EMQ.GROUP.PAUSE 3 emq:{q}:paused emq:{q}:ring emq:{q}: x", "EMQ.GROUP.RESUME 3 emq:{q}:paused emq:{q}:ring emq:{q}: x"},
	} {
		n := newNode(t)
		n.laneEnqueue("JOB1", "x")
		n.laneEnqueue("JOB2", "x")
		first, token, _ := n.laneClaim()
		second, other, _ := n.laneClaim()
		n.line(pause[0])
		n.laneEnqueue("JOB3", "x")
		n.laneFail(first, token, 0)
		n.line("EMQ.GROUP.PROMOTE 3 emq:{q}:schedule emq:{q}:pending emq:{q}: 10")
		n.now += 1000
		n.s.Epoch++
		n.line("EMQ.GROUP.STALLED.CHECK 4 emq:{q}:active emq:{q}:pending emq:{q}:dead emq:{q}: 3 10")
		require.Equal(t, "*[:3]", n.line("EMQ.GROUP.DEPTHS 1 emq:{q}: x"))
		for _, verb := range []string{"CLAIM", "WCLAIM", "CLAIMS"} {
			require.Empty(t, n.laneClaims(verb), pause[0])
		}
		require.Equal(t, "*[]", n.line("EMQ.GROUP.BCLAIM 3 emq:{q}:ring emq:{q}:active emq:{q}: 1000 1"))
		require.Equal(t, ":1", n.laneComplete(second, other), "what is held, or was recovered, can be settled")
		n.line(pause[1])
		id, _, _ := n.laneClaim()
		require.Equal(t, "JOB1", id)
	}
}

// Each lane's share of the jobs given out is its weight's, and every lane has its turn once in each round of the ring.
func TestEMQTurnsAreFairByWeight(t *testing.T) {
	n := newNode(t)
	weights := map[string]int{"one": 1, "two": 2, "five": 5}
	next := map[string]int{}
	add := func(group string) {
		n.laneEnqueue(fmt.Sprintf("JOB%s%07d", group, next[group]), group)
		next[group]++
	}
	for group, w := range weights {
		n.do("EMQ.GROUP.WEIGHT", "1", "~", group, fmt.Sprint(w))
		for range 20 {
			add(group)
		}
	}
	claims := 100_000
	if testing.Short() {
		claims = 8_000
	}
	got, turn, last := map[string]int{}, 0, map[string]int{}
	for total := 0; total < claims; turn++ {
		jobs := n.laneClaims("WCLAIM")
		group := jobs[0][2]
		require.Len(t, jobs, weights[group], "a turn takes what the lane weighs")
		if turn >= len(weights) {
			require.LessOrEqual(t, turn-last[group], len(weights), "a lane waited longer than one round")
		}
		last[group] = turn
		for _, job := range jobs {
			require.Equal(t, group, job[2])
			require.Equal(t, ":1", n.laneComplete(job[0], job[1]))
			got[group]++
			total++
			add(group)
		}
	}
	for group, w := range weights {
		share := float64(got[group]) / float64(claims)
		require.Less(t, math.Abs(share-float64(w)/8), 0.01*float64(w)/8, "%s has %.4f of the jobs", group, share)
	}
}

// With ten thousand lanes a turn costs what it costs with a few, and the ring stays exact: the effects tell that no step
// looks for a lane in the middle of the ring.
func TestEMQTenThousandLanes(t *testing.T) {
	n := newNode(t)
	const lanes = 10_000
	group := func(i int) string { return fmt.Sprintf("tenant-%05d", i) }
	for i := range lanes {
		n.laneEnqueue(fmt.Sprintf("JOB%05d-1", i), group(i))
		if i%2 == 0 {
			n.laneEnqueue(fmt.Sprintf("JOB%05d-2", i), group(i))
		}
	}
	require.Equal(t, ":10000", n.line("LLEN emq:{q}:ring"))
	require.Equal(t, ":64", n.line("LLEN emq:{q}:wake"))
	for round := range 2 {
		for i := 0; i < lanes; i += 1 + round {
			id, token, g := n.laneClaim()
			require.Equal(t, group(i), g, "in the order of the ring")
			require.NotContains(t, strings.Join(n.effects, "\n"), "LREM")
			require.LessOrEqual(t, len(n.effects), 6)
			require.Equal(t, ":1", n.laneComplete(id, token))
			require.NotContains(t, strings.Join(n.effects, "\n"), "ring")
		}
	}
	require.Equal(t, ":0", n.line("EXISTS emq:{q}:ring emq:{q}:gactive emq:{q}:active"))
}

func TestEMQLaneVerbsAllocateNothing(t *testing.T) {
	n := newNode(t)
	enqueue := words("EMQ.GROUP.ENQUEUE 3 emq:{q}:job:JOB1 emq:{q}:g:x:pending emq:{q}: JOB1 payload x")
	claim := words("EMQ.GROUP.CLAIM 3 emq:{q}:ring emq:{q}:active emq:{q}: 1000")
	wclaim := words("EMQ.GROUP.WCLAIM 3 emq:{q}:ring emq:{q}:active emq:{q}: 1000")
	requeue := words("EMQ.GROUP.REQUEUE 4 emq:{q}:active emq:{q}:pending emq:{q}:job:JOB1 emq:{q}: JOB1 1")
	complete := words("EMQ.GROUP.COMPLETE 3 emq:{q}:active emq:{q}:job:JOB1 emq:{q}: JOB1 2")
	for _, lanes := range []int{0, 5000} {
		for i := range lanes {
			n.laneEnqueue(fmt.Sprintf("JOBx%04d", i), fmt.Sprintf("lane-%04d", i))
		}
		// The lane goes off the ring and comes back, at its place in a ring where it is the only one or one of many.
		n.line("EMQ.GROUP.LIMIT 1 emq:{q}: x 1")
		cycle := func() {
			for _, call := range [][][]byte{enqueue, claim, requeue, wclaim, complete} {
				n.run(call)
				n.call.Tx.Commit()
			}
		}
		cycle()
		if lanes == 0 {
			require.Equal(t, ":1\r\n", string(n.reply.Bytes()))
		}
		require.Zero(t, testing.AllocsPerRun(200, cycle), "%d other lanes", lanes)
	}
}

// A count that somebody else has left at an end of int64 does not wrap around: at the top the lane is not served, at the
// bottom the next job that leaves active takes the field away.
func TestEMQGroupCountAtTheEndsOfInt64(t *testing.T) {
	n := newNode(t)
	for _, id := range []string{"JOBa", "JOBb"} {
		n.laneEnqueue(id, "x")
	}
	id, token, _ := n.laneClaim()
	require.Equal(t, "JOBa", id)
	n.do("HSET", "~gactive", "x", fmt.Sprint(math.MaxInt64))
	id, _, _ = n.laneClaim()
	require.Empty(t, id)
	n.do("HSET", "~gactive", "x", fmt.Sprint(math.MinInt64))
	require.Equal(t, ":1", n.laneComplete("JOBa", token))
	require.Equal(t, "$-1", n.do("HGET", "~gactive", "x"))
	id, _, _ = n.laneClaim()
	require.Equal(t, "JOBb", id)
	require.Equal(t, `$"1"`, n.do("HGET", "~gactive", "x"))
}
