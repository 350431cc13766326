package commands_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/fence"
)

// The most that one call does beside the jobs that it is asked for.
const (
	stepPasses = 1_000 // members passed over or dropped by a verb that looks for what is due
	stepDrops  = 128   // orphans dropped by a claim
	stepTakes  = 2_000 // jobs that a draining verb deletes
)

// crowd puts members into a set of the queue, with rows that have these fields, or without any.
func (n *node) crowd(kind fence.Kind, count int, score float64, fields ...string) {
	n.t.Helper()
	tx := n.s.Begin(0, n.now, false)
	defer tx.Commit()
	z, err := tx.ZSet(fence.AppendKey(nil, []byte("emq:{q}:"), kind))
	require.NoError(n.t, err)
	for i := range count {
		id := fmt.Appendf(nil, "JOB%07d", i)
		z.Add(id, score)
		if len(fields) == 0 {
			continue
		}
		row, err := tx.Hash(fence.AppendRow(nil, []byte("emq:{q}:"), id))
		require.NoError(n.t, err)
		for j := 0; j < len(fields); j += 2 {
			row.Set([]byte(fields[j]), []byte(fields[j+1]))
		}
	}
}

// TestEMQSearchesGoOnBehindWhatTheyPass puts more members that a verb passes over or drops before one that it moves: no call looks
// at more than its part, the next one goes on behind it, and the one that stands last has its turn.
func TestEMQSearchesGoOnBehindWhatTheyPass(t *testing.T) {
	const crowd = 3*stepPasses + 500
	lane, odd, orphan := []string{"group", "g"}, []string{"group", "a\x00b"}, []string(nil)
	active, schedule := fence.Active, fence.Schedule
	for verb, c := range map[string]struct {
		set     fence.Kind
		passed  []string // fields of the rows that it does not move
		dropped bool
		call    string
	}{
		"promote, lane jobs":               {schedule, lane, false, "EMQ.PROMOTE 3 ~schedule ~pending ~ 10"},
		"promote, orphans":                 {schedule, orphan, true, "EMQ.PROMOTE 3 ~schedule ~pending ~ 10"},
		"group.promote, odd groups":        {schedule, odd, false, "EMQ.GROUP.PROMOTE 3 ~schedule ~pending ~ 10"},
		"group.promote, orphans":           {schedule, orphan, true, "EMQ.GROUP.PROMOTE 3 ~schedule ~pending ~ 10"},
		"stalled.check, lane jobs":         {active, lane, false, "EMQ.STALLED.CHECK 4 ~active ~pending ~dead ~ 3 10"},
		"stalled.check, orphans":           {active, orphan, true, "EMQ.STALLED.CHECK 4 ~active ~pending ~dead ~ 3 10"},
		"group.stalled.check, odd groups":  {active, odd, false, "EMQ.GROUP.STALLED.CHECK 4 ~active ~pending ~dead ~ 3 10"},
		"group.stalled.check, orphans":     {active, orphan, true, "EMQ.GROUP.STALLED.CHECK 4 ~active ~pending ~dead ~ 3 10"},
		"reap, odd groups":                 {active, odd, false, "EMQ.REAP 3 ~active ~pending ~ 10"},
		"reap, orphans":                    {active, orphan, true, "EMQ.REAP 3 ~active ~pending ~ 10"},
		"group.reap, jobs of another lane": {active, lane, false, "EMQ.GROUP.REAP 2 ~active ~ last 10"},
		"group.reap, orphans":              {active, orphan, true, "EMQ.GROUP.REAP 2 ~active ~ last 10"},
	} {
		n := newNode(t)
		n.crowd(c.set, crowd, 1, c.passed...)
		last := []string{"state", "scheduled", "attempts", "1"}
		to := "pending"
		if strings.HasPrefix(verb, "group.reap") {
			last, to = append(last, "group", "last"), "g:last:pending"
		}
		n.do(append([]string{"HSET", "~job:JOBz"}, last...)...)
		key := "~" + string(fence.AppendKey(nil, nil, c.set))
		n.do("ZADD", key, "2", "JOBz")
		calls := 0
		for there := ":0"; there == ":0"; calls++ {
			require.Less(t, calls, crowd/stepPasses+1, verb)
			n.line(strings.ReplaceAll(c.call, "~", "emq:{q}:"))
			passed, more := n.call.Looked()
			require.LessOrEqual(t, passed, stepPasses, verb)
			require.LessOrEqual(t, len(n.log), stepPasses+10, verb)
			there = n.do("ZCARD", "~"+to)
			require.Equal(t, there == ":0", more, verb)
		}
		require.Equal(t, crowd/stepPasses+1, calls, verb)
		require.Equal(t, `*[$"JOBz"]`, n.do("ZRANGE", "~"+to, "0", "-1"), verb)
		left := crowd
		if c.dropped {
			left = 0
		}
		require.Equal(t, fmt.Sprintf(":%d", left), n.do("ZCARD", key), verb)

		// Each search is its own, and begins anew after the last that is due.
		n.do(append([]string{"HSET", "~job:JOB"}, last...)...)
		n.do("ZADD", key, "0", "JOB")
		n.line(strings.ReplaceAll(c.call, "~", "emq:{q}:"))
		require.Equal(t, ":2", n.do("ZCARD", "~"+to), verb)
	}
}

// TestEMQNoClaimDropsMoreThanItsPart holds the claims to the orphans of one call, also over many lanes, and those that wait to
// going on with them when others had their turn.
func TestEMQNoClaimDropsMoreThanItsPart(t *testing.T) {
	const crowd = 1_000
	for _, call := range []string{"EMQ.CLAIM 3 ~pending ~active ~ 10", "EMQ.CLAIMS 3 ~pending ~active ~ 10 50", "EMQ.BCLAIM 3 ~pending ~active ~ 10 0"} {
		n := newNode(t)
		n.crowd(fence.Pending, crowd, 0)
		n.enqueue("JOBz")
		n.claimBehind(call, crowd, stepDrops)
	}
	for _, verb := range []string{"CLAIM", "WCLAIM", "CLAIMS", "BCLAIM"} {
		n := newNode(t)
		for i := range crowd {
			n.do("ZADD", fmt.Sprintf("~g:g%d:pending", i), "0", "JOBx")
			n.do("RPUSH", "~ring", fmt.Sprintf("g%d", i))
		}
		n.do("EMQ.GROUP.ENQUEUE", "3", "~job:JOBz", "~g:z:pending", "~", "JOBz", "p", "z")
		n.claimBehind("EMQ.GROUP."+verb+" 3 ~ring ~active ~ 10", crowd, stepDrops)

		n = newNode(t) // a damaged ring, whose lanes are empty
		for i := range crowd {
			n.do("RPUSH", "~ring", fmt.Sprintf("g%d", i))
		}
		n.do("EMQ.GROUP.ENQUEUE", "3", "~job:JOBz", "~g:z:pending", "~", "JOBz", "p", "z")
		n.claimBehind("EMQ.GROUP."+verb+" 3 ~ring ~active ~ 10", crowd, stepDrops)
	}
}

// claimBehind repeats a claim until it has the job that stands behind a crowd.
func (n *node) claimBehind(call string, crowd, part int) {
	n.t.Helper()
	request := words(strings.ReplaceAll(call, "~", "emq:{q}:"))
	if strings.HasPrefix(call, "EMQ.GROUP.BCLAIM") {
		request = append(request, []byte("0"))
	}
	n.call.MayBlock = true
	defer func() { n.call.MayBlock = false }()
	calls := 0
	for ; !strings.Contains(string(n.run(request)), "JOBz"); calls++ {
		f := n.call.Tx.Effects()
		require.LessOrEqual(n.t, f.Len(), 3*part, call)
		require.Positive(n.t, f.Len(), "%s does nothing", call)
		if strings.Contains(call, "BCLAIM") {
			require.NotNil(n.t, n.call.Soon(), "%s waits to be woken with orphans before a job", call)
		}
		n.call.Tx.Commit()
		require.Less(n.t, calls, crowd/part+1, call)
	}
	n.call.Tx.Commit()
	require.GreaterOrEqual(n.t, calls, crowd/part-1, call)
}

// TestEMQNoStepDeletesMoreThanItsPart holds the verbs that delete to a bounded number of jobs in one call, whatever is asked for.
func TestEMQNoStepDeletesMoreThanItsPart(t *testing.T) {
	const jobs = 2*stepTakes + 1000
	for call, kind := range map[string]fence.Kind{
		"EMQ.DRAIN 2 ~ ~pending":                       fence.Pending,
		"EMQ.DRAIN 3 ~ ~pending ~schedule":             fence.Schedule,
		"EMQ.GROUP.DRAIN 3 ~g:g:pending ~ring ~ g":     fence.Lane,
		"EMQ.OBLITERATE 2 ~meta ~ force 1000000000000": fence.Active,
	} {
		n := newNode(t)
		if kind == fence.Lane {
			n.crowd(fence.Pending, jobs, 0, "state", "pending", "group", "g")
			n.do("RENAME", "~pending", "~g:g:pending")
			n.do("EMQ.GROUP.LIMIT", "1", "~", "g", "5")
		} else {
			n.crowd(kind, jobs, 0, "state", "pending")
		}
		n.do("EMQ.PAUSE", "1", "~meta")
		before, calls := n.s.Len(0), 0
		for more := true; more; calls++ {
			reply := n.line(strings.ReplaceAll(call, "~", "emq:{q}:"))
			rows := 0
			for _, effect := range n.log {
				rows += strings.Count(strings.Join(effect, " "), "job:JOB")
			}
			require.LessOrEqual(t, rows, stepTakes, call)
			more = reply != ":0"
		}
		require.GreaterOrEqual(t, calls, 3, call)
		require.LessOrEqual(t, n.s.Len(0), before-jobs, call)
	}
}
