package commands_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEMQCountersAtTheEnds has somebody else leave the least and the greatest integer in every counter that the verbs read. A call
// that would count beyond the end is refused and has written nothing; nothing wraps around, and what is negative counts as what it is
// or as none, never as much.
func TestEMQCountersAtTheEnds(t *testing.T) {
	const (
		refused  = "ERR increment or decrement would overflow"
		claimed  = "EMQ.ENQUEUE 2 ~job:JOB1 ~pending JOB1 p\nEMQ.CLAIM 3 ~pending ~active ~ 1000"
		inLane   = "EMQ.GROUP.ENQUEUE 3 ~job:JOB1 ~g:x:pending ~ JOB1 p x"
		held     = "EMQ.FLOW.HOLD 2 ~job:JOB0 ~ JOB0 p 2"
		flowing  = held + "\nEMQ.FLOW.CHILD 3 ~job:JOB1 ~ ~job:JOB0 JOB1 p fp planned\nEMQ.CLAIM 3 ~pending ~active ~ 1000"
		fail     = "EMQ.FAIL 5 ~active ~schedule ~dead ~job:JOB1 ~ JOB1 1 10 5 boom"
		bury     = "EMQ.FAIL 5 ~active ~schedule ~dead ~job:JOB1 ~ JOB1 1 10 1 boom"
		stalled  = "ZADD ~active 1 JOB1\nEMQ.STALLED.CHECK 4 ~active ~pending ~dead ~ "
		laneHeld = inLane + "\nEMQ.GROUP.CLAIM 3 ~ring ~active ~ 1000"
		second   = "\nEMQ.GROUP.ENQUEUE 3 ~job:JOB2 ~g:x:pending ~ JOB2 p x"
		job      = `*[$"JOB1" $"p" :1 $"x"]`
	)
	for _, c := range []struct {
		name, before, set, call string // % in set is the end; of call the last line counts
		least, most             string // the reply
		check, after, afterMost string // a reading call, and its reply after the calls
	}{
		{"attempts", "EMQ.ENQUEUE 2 ~job:JOB1 ~pending JOB1 p", "HSET ~job:JOB1 attempts %", "EMQ.CLAIM 3 ~pending ~active ~ 1000",
			`*[$"JOB1" $"p" :-9223372036854775807]`, refused, "ZCARD ~active", ":1", ":0"},
		{"failures", claimed, "HSET ~job:JOB1 failures %", fail, `$"scheduled"`, refused, "HGET ~job:JOB1 failures", `$"-9223372036854775807"`, `$"9223372036854775807"`},
		{"failures from attempts", claimed + "\nHDEL ~job:JOB1 lease_epoch failures", "HSET ~job:JOB1 attempts %",
			"EMQ.FAIL 5 ~active ~schedule ~dead ~job:JOB1 ~ JOB1 % 10 5 boom", `$"scheduled"`, `$"dead"`,
			"HGET ~job:JOB1 failures", `$"1"`, `$"9223372036854775807"`},
		{"stalled", claimed, "HSET ~job:JOB1 stalled %", stalled + "3 10", `*[*[$"JOB1"] *[]]`, refused, "ZCARD ~active", ":0", ":1"},
		{"stalled, by the lanes' verb", laneHeld, "HSET ~job:JOB1 stalled %", "ZADD ~active 1 JOB1\nEMQ.GROUP.STALLED.CHECK 4 ~active ~pending ~dead ~ 3 10",
			`*[*[$"JOB1"] *[]]`, refused, "ZCARD ~active", ":0", ":1"},
		{"max_stalled", claimed, "SET other %", stalled + "9223372036854775807 10", `*[*[$"JOB1"] *[]]`, `*[*[$"JOB1"] *[]]`, "ZCARD ~dead", ":0", ":0"},
		{"max_failures", claimed, "SET other %", "EMQ.FAIL 5 ~active ~schedule ~dead ~job:JOB1 ~ JOB1 1 10 % boom", `$"dead"`, `$"scheduled"`,
			"HGET ~job:JOB1 failures", `$"1"`, `$"1"`},
		{"lease_epoch", claimed, "HSET ~job:JOB1 lease_epoch %", stalled + "1 10", `*[*[$"JOB1"] *[]]`, `*[*[] *[$"JOB1"]]`, "ZCARD ~dead", ":0", ":1"},
		{"completed", claimed, "HSET ~metrics:completed count %", "EMQ.COMPLETE 3 ~active ~job:JOB1 ~ JOB1 1", ":1", refused,
			"ZCARD ~active", ":0", ":1"},
		{"completed, of a lane", laneHeld, "HSET ~metrics:completed count %", "EMQ.GROUP.COMPLETE 3 ~active ~job:JOB1 ~ JOB1 1", ":1", refused,
			"HGET ~gactive x", "$-1", `$"1"`},
		{"completed, of a flow", flowing, "HSET ~metrics:completed count %", "EMQ.FLOW.COMPLETE 4 ~active ~job:JOB1 ~ ~job:JOB0 JOB1 1 r", ":1", refused,
			"GET ~job:JOB0:dependencies", `$"1"`, `$"2"`},
		{"failed", claimed, "HSET ~metrics:failed count %", bury, `$"dead"`, refused, "ZCARD ~dead", ":1", ":0"},
		{"failed, by stalls", claimed, "HSET ~metrics:failed count %", stalled + "1 10", `*[*[] *[$"JOB1"]]`, refused, "ZCARD ~dead", ":1", ":0"},
		{"failed, of a flow", flowing, "HSET ~metrics:failed count %", "EMQ.FLOW.FAIL 6 ~active ~schedule ~dead ~job:JOB1 ~ ~job:JOB0 JOB1 1 10 1 boom", `$"dead"`, refused,
			"ZCARD ~dead", ":2", ":0"},
		{"failed, counted", claimed, "HSET ~metrics:failed count %", "EMQ.COUNTS 1 ~ failed", "*[:-9223372036854775808]", "*[:9223372036854775807]", "ZCARD ~dead", ":0", ":0"},
		{"dependencies, one more", held, "SET ~job:JOB0:dependencies %", "EMQ.FLOW.CHILD 3 ~job:JOB1 ~ ~job:JOB0 JOB1 p fp extra", ":1", refused,
			"GET ~job:JOB0:dependencies", `$"1"`, `$"9223372036854775807"`},
		{"dependencies, one less", flowing, "SET ~job:JOB0:dependencies %", "EMQ.FLOW.COMPLETE 4 ~active ~job:JOB1 ~ ~job:JOB0 JOB1 1 r", ":1", ":1",
			"HGET ~job:JOB0 state", `$"pending"`, `$"awaiting_children"`},
		{"dependencies, one failed less", held, "SET ~job:JOB0:dependencies %", "EMQ.FLOW.FAILDELIVER 2 ~job:JOB0 ~ JOB1 e id", ":1", ":1",
			"HGET ~job:JOB0 state", `$"pending"`, `$"awaiting_children"`},
		{"children to come", "", "SET other %", "EMQ.FLOW.HOLD 2 ~job:JOB0 ~ JOB0 p %", "ERR value is not an integer or out of range", ":1",
			"GET ~job:JOB0:dependencies", "$-1", `$"9223372036854775807"`},
		{"failures of an entry", "", "HSET ~stream:s:failures:g 1-1 %", "EMQ.FAILURES.INCR 1 ~stream:s:failures:g 1-1", ":-9223372036854775807", refused,
			"HGET ~stream:s:failures:g 1-1", `$"-9223372036854775807"`, `$"9223372036854775807"`},
		{"limiter", "", "SET ~limiter % PX 500", "EMQ.RATE 2 ~limiter ~meta 3", ":0", ":500", "ZCARD ~active", ":0", ":0"},
		{"limiter, against max", "SET ~limiter 3 PX 500", "HSET ~meta max %", "EMQ.RATE 2 ~limiter ~meta 0", ":500", ":0", "ZCARD ~active", ":0", ":0"},
		{"limiter, against the argument", "SET ~limiter 3 PX 500", "SET other %", "EMQ.RATE 2 ~limiter ~meta %", "ERR value is not an integer or out of range", ":0",
			"ZCARD ~active", ":0", ":0"},
		{"concurrency", claimed, "HSET ~meta concurrency %", "EMQ.MAXED 2 ~meta ~active", "EMQRATE at concurrency ceiling", ":0", "ZCARD ~active", ":1", ":1"},
		{"gactive, one more", inLane, "HSET ~gactive x %", "EMQ.GROUP.CLAIM 3 ~ring ~active ~ 1000", job, "*[]", "HGET ~gactive x", `$"1"`, `$"9223372036854775807"`},
		{"gactive, one less", laneHeld, "HSET ~gactive x %", "EMQ.GROUP.COMPLETE 3 ~active ~job:JOB1 ~ JOB1 1", ":1", ":1", "HGET ~gactive x", "$-1", `$"9223372036854775806"`},
		{"glimit", inLane, "HSET ~glimit x %", "EMQ.GROUP.CLAIMS 3 ~ring ~active ~ 1000", "*[]", "*[" + job + "]", "LLEN ~ring", ":0", ":0"},
		{"gweight", inLane + second, "HSET ~gweight x %", "EMQ.GROUP.WCLAIM 3 ~ring ~active ~ 1000", "*[" + job + "]", "*[" + job + ` *[$"JOB2" $"p" :1 $"x"]]`,
			"ZCARD ~active", ":1", ":2"},
		{"glimit against gactive", inLane + second + "\nHSET ~glimit x 9223372036854775807", "HSET ~gactive x %", "EMQ.GROUP.CLAIMS 3 ~ring ~active ~ 1000",
			"*[" + job + ` *[$"JOB2" $"p" :1 $"x"]]`, "*[]", "ZCARD ~active", ":2", ":0"},
	} {
		for _, most := range []bool{false, true} {
			end, reply, after := int64(math.MinInt64), c.least, c.after
			if most {
				end, reply, after = math.MaxInt64, c.most, c.afterMost
			}
			n := newNode(t)
			run := func(lines string) (last string) {
				for line := range strings.Lines(lines) {
					last = n.line(strings.TrimSpace(strings.ReplaceAll(line, "%", strconv.FormatInt(end, 10))))
				}
				return last
			}
			run(c.before)
			run(c.set)
			require.Equal(t, reply, run(c.call), "%s at %d", c.name, end)
			require.Equal(t, after, run(c.check), "%s at %d", c.name, end)
		}
	}
}

// A score that somebody else has left, beyond every instant, is explained and moved as what it is: long past, or never due.
func TestEMQScoresBeyondAllTime(t *testing.T) {
	for score, why := range map[string]string{
		"-inf": `"due since 2501999792 h, waits to be promoted"`, "-1e300": `"due since 2501999792 h, waits to be promoted"`,
		"1e300": `"due in 2501999792 h"`, "inf": `"due in 2501999792 h"`,
	} {
		n := newNode(t)
		require.Equal(t, ":1", n.schedule("JOB1", 10))
		n.line("ZADD ~schedule " + score + " JOB1")
		require.Contains(t, n.line("EMQ.EXPLAIN 1 ~ JOB1"), why, score)
		due := strings.Contains(why, "since")
		require.Equal(t, map[bool]string{true: ":1", false: ":0"}[due], n.line("EMQ.PROMOTE 3 ~schedule ~pending ~ 10"), score)
		require.Equal(t, map[bool]string{true: ":1", false: "EMQSTATE not scheduled"}[!due], n.line("EMQ.RESCHEDULE 2 ~schedule ~job:JOB1 JOB1 in 5"), score)
	}
}
