package commands_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/echomq/emqd/fence"
)

// fleet is a model of one queue and its workers: what every job must be, by the calls that succeeded so far.
type fleet struct {
	*node
	jobs      map[string]*modelJob
	paused    bool
	completed int
	buried    int
	stale     [][2]string // id and token of leases that ended
}

// modelJob is one job with a row.
type modelJob struct {
	where    string // the set that it is in, which is its state's
	at       int64  // score there
	attempts int
	failures int
	stalled  int
	epoch    int64 // of the last lease
}

var modelKinds = map[string]fence.Kind{
	"pending": fence.Pending, "active": fence.Active, "scheduled": fence.Schedule, "dead": fence.Dead,
}

// TestEMQModel drives a queue with workers that hold right and wrong tokens while the clock and the node epoch
// move on, and compares every reply and the whole queue with the model after every step.
func TestEMQModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := &fleet{node: newNode(t), jobs: map[string]*modelJob{}}
		rt.Repeat(map[string]func(*rapid.T){
			"enqueue": f.stepEnqueue, "schedule": f.stepSchedule, "claim": f.stepClaim, "complete": f.stepComplete,
			"fail": f.stepFail, "extend": f.stepExtend, "extends": f.stepExtends, "delay": f.stepDelay,
			"requeue": f.stepRequeue, "promote": f.stepPromote, "reschedule": f.stepReschedule,
			"reprocess": f.stepReprocess, "stalled": f.stepStalled,
			"clock":   func(rt *rapid.T) { f.now += rapid.Int64Range(0, 30).Draw(rt, "ms") },
			"restart": func(*rapid.T) { f.s.Epoch++ },
			"pause":   f.stepPause,
			"orphan":  f.stepOrphan,
			"":        f.check,
		})
	})
}

func drawID(rt *rapid.T) string {
	return fmt.Sprintf("JOB%d", rapid.IntRange(0, 7).Draw(rt, "id"))
}

// lease draws an id and a token: of a job as it is, of a lease that ended, or any.
func (f *fleet) lease(rt *rapid.T) (id, token string) {
	ids := slices.Sorted(maps.Keys(f.jobs))
	switch kind := rapid.IntRange(0, 9).Draw(rt, "lease"); {
	case kind < 7 && len(ids) > 0:
		id = rapid.SampledFrom(ids).Draw(rt, "job")
		return id, strconv.Itoa(f.jobs[id].attempts)
	case kind < 9 && len(f.stale) > 0:
		old := rapid.SampledFrom(f.stale).Draw(rt, "stale")
		return old[0], old[1]
	}
	return drawID(rt), strconv.Itoa(rapid.IntRange(0, 3).Draw(rt, "token"))
}

// sorted returns the ids in one set by score and id, up to the score.
func (f *fleet) sorted(where string, upTo int64) []string {
	var ids []string
	for id, j := range f.jobs {
		if j.where == where && j.at <= upTo {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		if x, y := f.jobs[a].at, f.jobs[b].at; x != y {
			return int(x - y)
		}
		return strings.Compare(a, b)
	})
	return ids
}

func (f *fleet) move(j *modelJob, where string, at int64) { j.where, j.at = where, at }

// gone is the reply when a verb that needs a lease finds none, "" when the lease is held in one of the sets.
func (f *fleet) gone(id, token, verb, absent string, sets ...string) string {
	j := f.jobs[id]
	switch {
	case j == nil:
		return absent
	case strconv.Itoa(j.attempts) != token:
		return "EMQSTALE " + verb + " token mismatch"
	case !slices.Contains(sets, j.where):
		return "EMQSTALE " + verb + " lease not held"
	}
	return ""
}

func (f *fleet) stepEnqueue(rt *rapid.T) { f.admit(rt, "pending", 0) }

func (f *fleet) stepSchedule(rt *rapid.T) {
	f.admit(rt, "scheduled", rapid.Int64Range(-5, 40).Draw(rt, "in"))
}

func (f *fleet) admit(rt *rapid.T, where string, in int64) {
	id := drawID(rt)
	want := ":0"
	if f.jobs[id] == nil {
		want = ":1"
		f.jobs[id] = &modelJob{where: where}
		if where == "scheduled" {
			f.jobs[id].at = f.now + in
		}
	}
	if where == "pending" {
		require.Equal(rt, want, f.enqueue(id))
		return
	}
	require.Equal(rt, want, f.schedule(id, in))
}

func (f *fleet) stepClaim(rt *rapid.T) {
	lease := rapid.Int64Range(1, 40).Draw(rt, "lease_ms")
	id, token := f.claim(lease)
	pending := f.sorted("pending", 0)
	if f.paused || len(pending) == 0 {
		require.Empty(rt, id)
		return
	}
	require.Equal(rt, pending[0], id)
	j := f.jobs[id]
	j.attempts++
	require.Equal(rt, strconv.Itoa(j.attempts), token, "the token grows by one")
	j.epoch = f.s.Epoch
	f.move(j, "active", f.now+lease)
	f.stale = append(f.stale, [2]string{id, token})
}

func (f *fleet) stepComplete(rt *rapid.T) {
	id, token := f.lease(rt)
	want := f.gone(id, token, "complete", ":0", "active", "pending")
	if want == "" {
		want = ":1"
		delete(f.jobs, id)
		f.completed++
	}
	require.Equal(rt, want, f.complete(id, token))
}

func (f *fleet) stepFail(rt *rapid.T) {
	id, token := f.lease(rt)
	delay, budget := rapid.Int64Range(-5, 20).Draw(rt, "delay"), rapid.Int64Range(0, 4).Draw(rt, "budget")
	want := f.gone(id, token, "retry", "EMQSTALE job gone", "active", "pending")
	if want == "" {
		j := f.jobs[id]
		j.failures++
		if int64(j.failures) >= budget {
			want = `$"dead"`
			f.move(j, "dead", 0)
			f.buried++
		} else {
			want = `$"scheduled"`
			f.move(j, "scheduled", f.now+delay)
		}
	}
	require.Equal(rt, want, f.fail(id, token, delay, budget))
}

func (f *fleet) stepExtend(rt *rapid.T) {
	id, token := f.lease(rt)
	lease := rapid.Int64Range(1, 40).Draw(rt, "lease_ms")
	want := f.gone(id, token, "extend", ":-1", "active")
	if want == "" {
		want = ":1"
		f.jobs[id].at = f.now + lease
	}
	require.Equal(rt, want, f.extend(id, token, lease))
}

func (f *fleet) stepExtends(rt *rapid.T) {
	lease := rapid.Int64Range(1, 40).Draw(rt, "lease_ms")
	call := []string{"EMQ.EXTENDS", "2", "~active", "~", fmt.Sprint(lease)}
	lost := []string{}
	for range rapid.IntRange(0, 4).Draw(rt, "pairs") {
		id, token := f.lease(rt)
		call = append(call, id, token)
		if f.gone(id, token, "", "gone", "active") != "" {
			lost = append(lost, fmt.Sprintf("$%q", id))
		} else {
			f.jobs[id].at = f.now + lease
		}
	}
	require.Equal(rt, "*["+strings.Join(lost, " ")+"]", f.do(call...))
}

func (f *fleet) stepDelay(rt *rapid.T) {
	id, token := f.lease(rt)
	in := rapid.Int64Range(-5, 40).Draw(rt, "in")
	want := f.gone(id, token, "delay", "EMQSTALE job gone", "active")
	if want == "" {
		want = ":1"
		f.move(f.jobs[id], "scheduled", f.now+in)
	}
	require.Equal(rt, want, f.delay(id, token, in))
}

func (f *fleet) stepRequeue(rt *rapid.T) {
	id, token := f.lease(rt)
	want := f.gone(id, token, "requeue", "EMQSTALE job gone", "active")
	if want == "" {
		want = ":1"
		f.move(f.jobs[id], "pending", 0)
	}
	require.Equal(rt, want, f.requeue(id, token))
}

func (f *fleet) stepPromote(rt *rapid.T) {
	batch := rapid.Int64Range(0, 4).Draw(rt, "batch")
	due := f.sorted("scheduled", f.now)
	due = due[:min(int(batch), len(due))]
	for _, id := range due {
		f.move(f.jobs[id], "pending", 0)
	}
	require.Equal(rt, fmt.Sprintf(":%d", len(due)), f.promote(batch))
}

func (f *fleet) stepReschedule(rt *rapid.T) {
	id, in := drawID(rt), rapid.Int64Range(-5, 40).Draw(rt, "in")
	want := ":1"
	switch j := f.jobs[id]; {
	case j == nil:
		want = ":-1"
	case j.where != "scheduled":
		want = "EMQSTATE not scheduled"
	default:
		j.at = f.now + in
	}
	require.Equal(rt, want, f.reschedule(id, in))
}

func (f *fleet) stepReprocess(rt *rapid.T) {
	id := drawID(rt)
	want := ":1"
	switch j := f.jobs[id]; {
	case j == nil:
		want = ":-1"
	case j.where != "dead":
		want = "EMQSTATE not dead"
	default:
		j.failures, j.stalled = 0, 0
		f.move(j, "pending", 0)
	}
	require.Equal(rt, want, f.reprocess(id))
}

func (f *fleet) stepStalled(rt *rapid.T) {
	maxStalled, limit := rapid.Int64Range(0, 3).Draw(rt, "max_stalled"), rapid.Int64Range(0, 4).Draw(rt, "limit")
	lapsed := f.sorted("active", f.now)
	var recovered, dead []string
	for _, id := range lapsed[:min(int(limit), len(lapsed))] {
		j := f.jobs[id]
		if j.epoch == f.s.Epoch {
			j.stalled++
			if int64(j.stalled) >= maxStalled {
				f.move(j, "dead", 0)
				f.buried++
				dead = append(dead, id)
				continue
			}
		}
		f.move(j, "pending", 0)
		recovered = append(recovered, id)
	}
	gotRecovered, gotDead := f.stalledCheck(maxStalled, limit)
	require.Equal(rt, recovered, gotRecovered)
	require.Equal(rt, dead, gotDead)
}

func (f *fleet) stepPause(rt *rapid.T) {
	if f.paused {
		f.do("HDEL", "~meta", "paused")
	} else {
		f.do("HSET", "~meta", "paused", "1")
	}
	f.paused = !f.paused
}

// stepOrphan puts an id without a row into a set. It comes first there, and no check may see it afterwards, so
// what drops it is called at once.
func (f *fleet) stepOrphan(rt *rapid.T) {
	before := f.s.Stats.OrphansDropped
	switch rapid.IntRange(0, 2).Draw(rt, "set") {
	case 0:
		if f.paused {
			return
		}
		f.do("ZADD", "~pending", "0", "JOB")
		f.stepClaim(rt)
	case 1:
		f.do("ZADD", "~schedule", "-1", "JOB")
		require.Equal(rt, ":0", f.promote(0))
		due := f.sorted("scheduled", f.now)
		want := ":0"
		if len(due) > 0 {
			f.move(f.jobs[due[0]], "pending", 0)
			want = ":1"
		}
		require.Equal(rt, want, f.promote(1))
	case 2:
		f.do("ZADD", "~active", "-1", "JOB")
		f.stepStalled(rt)
		f.do("ZREM", "~active", "JOB") // the limit may have been 0
		return
	}
	require.Equal(rt, before+1, f.s.Stats.OrphansDropped)
}

// check compares the queue with the model: each job is in the one set of its state and nowhere else, its row says the
// same, and the counters add up.
func (f *fleet) check(rt *rapid.T) {
	for where, kind := range modelKinds {
		want := map[string]int64{}
		for id, j := range f.jobs {
			if j.where == where {
				want[id] = j.at
			}
		}
		require.Equal(rt, want, f.members(kind), where)
	}
	for i := range 8 {
		id := fmt.Sprintf("JOB%d", i)
		row, j := f.row(id), f.jobs[id]
		if j == nil {
			require.Empty(rt, row, id)
			continue
		}
		require.Equal(rt, j.where, row["state"], id)
		require.Equal(rt, strconv.Itoa(j.attempts), row["attempts"], id)
		require.Equal(rt, "p", row["payload"], id)
		require.Equal(rt, j.failures, count(row["failures"]), id)
		require.Equal(rt, j.stalled, count(row["stalled"]), id)
	}
	require.Equal(rt, f.completed, count(f.hash("metrics:completed")["count"]))
	require.Equal(rt, f.buried, count(f.hash("metrics:failed")["count"]))
}

func count(text string) int {
	n, _ := strconv.Atoi(text) // an absent field counts 0
	return n
}
