package commands_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/parity/script"
)

// yard is a model of one queue with lanes: where every job must be, and the ring.
type yard struct {
	*node
	jobs    map[string]*laneJob
	lanes   map[string]*modelLane
	ring    []string
	wake    int
	settled int
}

// laneJob is one job with a row; a flat one has no group.
type laneJob struct {
	group    string
	where    string // pending (in its lane when it has one), active, scheduled or dead
	at       int64
	attempts int
	failures int
	stalled  int
}

type modelLane struct {
	paused bool
	limit  int // 0 for none
	weight int
}

var yardGroups = []string{"a", "b", "c", "d"}

// TestEMQLaneModel drives a queue with lanes and compares every reply and the whole queue with the model after every step.
func TestEMQLaneModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		y := &yard{node: newNode(t), jobs: map[string]*laneJob{}, lanes: map[string]*modelLane{}}
		for _, g := range yardGroups {
			y.lanes[g] = &modelLane{weight: 1}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"enqueue": y.stepEnqueue, "enqueue again": y.stepEnqueue, "claim": y.stepClaim, "claim again": y.stepClaim,
			"settle": y.stepSettle, "settle again": y.stepSettle, "reprocess": y.stepReprocess, "promote": y.stepPromote,
			"reap": y.stepReap, "stalled": y.stepStalled, "pause": y.stepPause, "limit": y.stepLimit, "weight": y.stepWeight,
			"reassign": y.stepReassign, "drain": y.stepDrain, "flat claims": y.stepFlatClaims, "obliterate": y.stepObliterate,
			"clock": func(rt *rapid.T) { y.now += rapid.Int64Range(0, 30).Draw(rt, "ms") },
			"":      y.check,
		})
	})
}

func drawGroup(rt *rapid.T) string { return rapid.SampledFrom(yardGroups).Draw(rt, "group") }

// ids returns the ids in one place by score and id, of one group or, with "*", of all.
func (y *yard) ids(where, group string, upTo int64) []string {
	var ids []string
	for id, j := range y.jobs {
		if j.where == where && j.at <= upTo && (group == "*" || j.group == group) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(y.jobs[a].at, y.jobs[b].at), strings.Compare(a, b))
	})
	return ids
}

func (y *yard) active(group string) int { return len(y.ids("active", group, y.now+1000)) }

func (y *yard) serviceable(group string) bool {
	l := y.lanes[group]
	return len(y.ids("pending", group, 0)) > 0 && !l.paused && (l.limit == 0 || y.active(group) < l.limit)
}

// turn is the ring rule.
func (y *yard) turn(group string) {
	if group == "" {
		return
	}
	switch on := slices.Contains(y.ring, group); {
	case y.serviceable(group) && !on:
		y.ring = append(y.ring, group)
		y.wake = min(y.wake+1, 64)
	case on && !y.serviceable(group):
		y.ring = slices.DeleteFunc(y.ring, func(g string) bool { return g == group })
	}
}

func (y *yard) move(id, where string, at int64) {
	j := y.jobs[id]
	j.where, j.at = where, at
	y.turn(j.group)
}

func (y *yard) stepEnqueue(rt *rapid.T) {
	id, group := drawID(rt), drawGroup(rt)
	if rapid.IntRange(0, 4).Draw(rt, "flat") == 0 {
		group = ""
	}
	want := ":0"
	if y.jobs[id] == nil {
		want = ":1"
		y.jobs[id] = &laneJob{group: group, where: "pending"}
		y.turn(group)
	}
	if group == "" {
		require.Equal(rt, want, y.enqueue(id))
	} else {
		require.Equal(rt, want, y.do("EMQ.GROUP.ENQUEUE", "3", "~job:"+id, "~g:"+group+":pending", "~", id, "p", group))
	}
	y.do("HSET", "~job:"+id, "dedup", "k"+id)
	y.do("SET", "~de:k"+id, id)
}

// claimed is the reply for ids that were claimed, which the model notes.
func (y *yard) claimed(ids []string, lease int64) []string {
	var out []string
	for _, id := range ids {
		j := y.jobs[id]
		j.attempts++
		j.where, j.at = "active", y.now+lease
		text := fmt.Sprintf(`*[$%q $"p" :%d`, id, j.attempts)
		if j.group != "" {
			text += fmt.Sprintf(" $%q", j.group)
		}
		out = append(out, text+"]")
	}
	return out
}

func (y *yard) stepClaim(rt *rapid.T) {
	verb, lease := rapid.SampledFrom([]string{"CLAIM", "WCLAIM", "CLAIMS", "BCLAIM"}).Draw(rt, "verb"), rapid.Int64Range(1, 40).Draw(rt, "lease")
	want := "*[]"
	if len(y.ring) > 0 {
		group := y.ring[0]
		ids, l := y.ids("pending", group, 0), y.lanes[group]
		if l.limit > 0 {
			ids = ids[:min(len(ids), l.limit-y.active(group))]
		}
		switch verb {
		case "CLAIM", "BCLAIM":
			ids = ids[:1]
		case "WCLAIM":
			ids = ids[:min(len(ids), l.weight)]
		}
		replies := y.claimed(ids, lease)
		if want = replies[0]; strings.HasSuffix(verb, "CLAIMS") || verb == "WCLAIM" {
			want = "*[" + strings.Join(replies, " ") + "]"
		}
		require.True(rt, l.limit == 0 || y.active(group) <= l.limit, "a claim went over the limit")
		y.ring = append(y.ring[1:], group)
		y.turn(group)
	}
	call := []string{"EMQ.GROUP." + verb, "3", "~ring", "~active", "~", fmt.Sprint(lease)}
	if verb == "BCLAIM" {
		call = append(call, "0")
	}
	require.Equal(rt, want, y.flatten(y.do(call...)))
}

// flatten takes the line breaks out of a reply.
func (y *yard) flatten(reply string) string {
	return strings.NewReplacer("[ ", "[", " ]", "]").Replace(strings.Join(strings.Fields(reply), " "))
}

func (y *yard) stepFlatClaims(rt *rapid.T) {
	n := rapid.IntRange(0, 3).Draw(rt, "size")
	ids := y.ids("pending", "", 0)
	replies := y.claimed(ids[:min(n, len(ids))], 20)
	require.Equal(rt, "*["+strings.Join(replies, " ")+"]", y.flatten(y.do("EMQ.CLAIMS", "3", "~pending", "~active", "~", "20", fmt.Sprint(n))))
}

// stepSettle ends a lease by any of the four verbs, of either family.
func (y *yard) stepSettle(rt *rapid.T) {
	id := drawID(rt)
	verb := rapid.SampledFrom([]string{"complete", "fail", "delay", "requeue"}).Draw(rt, "verb")
	lanes := rapid.IntRange(0, 5).Draw(rt, "wrong family") != 0
	j := y.jobs[id]
	if j == nil {
		return
	}
	lanes = lanes == (j.group != "")
	token := strconv.Itoa(j.attempts)
	from := j.where
	got := y.settle(verb, id, token, lanes)
	switch {
	case lanes && j.group == "":
		require.Equal(rt, "EMQLANE job has no lane", got)
	case !lanes && j.group != "":
		require.Equal(rt, "EMQLANE job belongs to a lane", got)
	case from == "active", from == "pending" && (verb == "complete" || verb == "fail"):
		require.Equal(rt, y.settleModel(verb, id), got)
	default:
		require.Contains(rt, got, "lease not held")
	}
}

// settleModel notes what a settling verb does and returns its reply.
func (y *yard) settleModel(verb, id string) string {
	j := y.jobs[id]
	switch verb {
	case "complete":
		delete(y.jobs, id)
		y.settled++
		y.turn(j.group)
	case "fail":
		if j.failures++; j.failures >= 2 {
			y.move(id, "dead", 0)
			return `$"dead"`
		}
		y.move(id, "scheduled", y.now+5)
		return `$"scheduled"`
	case "delay":
		y.move(id, "scheduled", y.now+7)
	case "requeue":
		y.move(id, "pending", 0)
	}
	return ":1"
}

func (y *yard) settle(verb, id, token string, lanes bool) string {
	row := "~job:" + id
	if !lanes {
		switch verb {
		case "complete":
			return y.complete(id, token)
		case "fail":
			return y.fail(id, token, 5, 2)
		case "delay":
			return y.delay(id, token, 7)
		}
		return y.requeue(id, token)
	}
	switch verb {
	case "complete":
		return y.do("EMQ.GROUP.COMPLETE", "3", "~active", row, "~", id, token)
	case "fail":
		return y.do("EMQ.GROUP.FAIL", "5", "~active", "~schedule", "~dead", row, "~", id, token, "5", "2", "boom")
	case "delay":
		return y.do("EMQ.GROUP.DELAY", "4", row, "~active", "~schedule", "~", id, token, "in", "7")
	}
	return y.do("EMQ.GROUP.REQUEUE", "4", "~active", "~pending", row, "~", id, token)
}

func (y *yard) stepReprocess(rt *rapid.T) {
	dead := y.ids("dead", "*", 0)
	if len(dead) == 0 {
		return
	}
	id := rapid.SampledFrom(dead).Draw(rt, "id")
	j := y.jobs[id]
	j.failures, j.stalled = 0, 0
	y.move(id, "pending", 0)
	if j.group == "" {
		require.Equal(rt, ":1", y.reprocess(id))
		return
	}
	require.Equal(rt, ":1", y.do("EMQ.GROUP.REPROCESS", "4", "~job:"+id, "~dead", "~pending", "~", id))
}

// free makes the first ids pending and returns how many they are.
func (y *yard) free(ids []string, limit int64) string {
	ids = ids[:min(int(limit), len(ids))]
	for _, id := range ids {
		y.move(id, "pending", 0)
	}
	return fmt.Sprintf(":%d", len(ids))
}

func (y *yard) stepPromote(rt *rapid.T) {
	batch := rapid.Int64Range(0, 4).Draw(rt, "batch")
	if rapid.Bool().Draw(rt, "flat") {
		require.Equal(rt, y.free(y.ids("scheduled", "", y.now), batch), y.promote(batch))
		return
	}
	want := y.free(y.ids("scheduled", "*", y.now), batch)
	require.Equal(rt, want, y.do("EMQ.GROUP.PROMOTE", "3", "~schedule", "~pending", "~", fmt.Sprint(batch)))
}

func (y *yard) stepReap(rt *rapid.T) {
	limit, group := rapid.Int64Range(0, 4).Draw(rt, "limit"), drawGroup(rt)
	if rapid.Bool().Draw(rt, "one group") {
		want := y.free(y.ids("active", group, y.now), limit)
		require.Equal(rt, want, y.do("EMQ.GROUP.REAP", "2", "~active", "~", group, fmt.Sprint(limit)))
		return
	}
	want := y.free(y.ids("active", "*", y.now), limit)
	require.Equal(rt, want, y.do("EMQ.REAP", "3", "~active", "~pending", "~", fmt.Sprint(limit)))
}

func (y *yard) stepStalled(rt *rapid.T) {
	limit := rapid.IntRange(0, 4).Draw(rt, "limit")
	group, verb := "*", "EMQ.GROUP.STALLED.CHECK"
	if rapid.Bool().Draw(rt, "flat") {
		group, verb = "", "EMQ.STALLED.CHECK"
	}
	ids := y.ids("active", group, y.now)
	var lists [2][]string
	for _, id := range ids[:min(limit, len(ids))] {
		j := y.jobs[id]
		if j.stalled++; j.stalled >= 2 {
			lists[1] = append(lists[1], fmt.Sprintf("$%q", id))
			y.move(id, "dead", 0)
			continue
		}
		lists[0] = append(lists[0], fmt.Sprintf("$%q", id))
		y.move(id, "pending", 0)
	}
	want := "*[*[" + strings.Join(lists[0], " ") + "] *[" + strings.Join(lists[1], " ") + "]]"
	require.Equal(rt, want, y.flatten(y.do(verb, "4", "~active", "~pending", "~dead", "~", "2", fmt.Sprint(limit))))
}

func (y *yard) stepPause(rt *rapid.T) {
	group := drawGroup(rt)
	l, verb := y.lanes[group], "PAUSE"
	if l.paused {
		verb = "RESUME"
	}
	l.paused = !l.paused
	y.turn(group)
	require.Equal(rt, ":1", y.do("EMQ.GROUP."+verb, "3", "~paused", "~ring", "~", group))
}

func (y *yard) stepLimit(rt *rapid.T) {
	group, n := drawGroup(rt), rapid.IntRange(1, 3).Draw(rt, "n")
	y.lanes[group].limit = n
	y.turn(group)
	require.Equal(rt, ":1", y.do("EMQ.GROUP.LIMIT", "1", "~", group, fmt.Sprint(n)))
}

func (y *yard) stepWeight(rt *rapid.T) {
	group, n := drawGroup(rt), rapid.IntRange(1, 3).Draw(rt, "n")
	y.lanes[group].weight = n
	require.Equal(rt, ":1", y.do("EMQ.GROUP.WEIGHT", "1", "~", group, fmt.Sprint(n)))
}

func (y *yard) stepReassign(rt *rapid.T) {
	id, group := drawID(rt), drawGroup(rt)
	want, j := ":1", y.jobs[id]
	switch {
	case j == nil, j.group == "":
		want = ":-1"
	case j.group == group:
		want = ":0"
	case j.where != "pending":
		want = ":-2"
	default:
		old := j.group
		j.group = group
		y.turn(old)
		y.turn(group)
	}
	require.Equal(rt, want, y.do("EMQ.GROUP.REASSIGN", "3", "~job:"+id, "~g:"+group+":pending", "~", id, group))
}

func (y *yard) stepDrain(rt *rapid.T) {
	group := drawGroup(rt)
	ids := y.ids("pending", group, 0)
	for _, id := range ids {
		delete(y.jobs, id)
	}
	y.turn(group)
	require.Equal(rt, fmt.Sprintf(":%d", len(ids)), y.do("EMQ.GROUP.DRAIN", "3", "~g:"+group+":pending", "~ring", "~", group))
}

// list returns a list of the queue.
func (y *yard) list(kind fence.Kind) []string {
	v, err := script.ParseValue(y.do("LRANGE", string(fence.AppendKey(nil, []byte("emq:{q}:"), kind)), "0", "-1"))
	require.NoError(y.t, err)
	out := []string{}
	for _, e := range v.Elems {
		out = append(out, e.Text)
	}
	return out
}

// check compares the queue with the model and holds the invariants of lanes.
func (y *yard) check(rt *rapid.T) {
	places := map[string]int{}
	for where, kind := range modelKinds {
		want := map[string]int64{}
		for _, id := range y.ids(where, "*", y.now+1000) {
			if j := y.jobs[id]; where != "pending" || j.group == "" {
				want[id] = j.at
				places[id]++
			}
		}
		require.Equal(rt, want, y.members(kind), where)
	}
	counts, serviceable := map[string]string{}, []string{}
	for _, group := range yardGroups {
		for _, id := range y.ids("pending", group, 0) {
			places[id]++
		}
		want := fmt.Sprintf("*[:%d]", len(y.ids("pending", group, 0)))
		require.Equal(rt, want, y.do("EMQ.GROUP.DEPTHS", "1", "~", group))
		if n := y.active(group); n > 0 {
			counts[group] = strconv.Itoa(n)
		}
		if y.serviceable(group) {
			serviceable = append(serviceable, group)
		}
	}
	require.Equal(rt, counts, y.hash("gactive"))
	ring := y.list(fence.Ring)
	require.Equal(rt, append([]string{}, y.ring...), ring)
	require.ElementsMatch(rt, serviceable, ring, "exactly the serviceable lanes, each once")
	require.Len(rt, y.list(fence.Wake), y.wake)
	for id, j := range y.jobs {
		require.Equal(rt, 1, places[id], "%s is in one place", id)
		require.Equal(rt, j.where, y.row(id)["state"], id)
		require.Equal(rt, j.group, y.row(id)["group"], id)
		require.Equal(rt, strconv.Itoa(j.attempts), y.row(id)["attempts"], id)
	}
	for i := range 8 {
		if id := fmt.Sprintf("JOB%d", i); y.jobs[id] == nil {
			require.Equal(rt, ":0", y.do("EXISTS", "~de:k"+id, "~job:"+id), "the idempotency key of %s outlived it", id)
		}
	}
	require.Equal(rt, y.settled, count(y.hash("metrics:completed")["count"]))
}
