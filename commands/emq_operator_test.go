package commands_test

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/fence"
)

// TestEMQObliterateLeavesNothing fills a queue with all that it can have and obliterates it, with bounded work in every
// step, beside another queue that keeps all it has.
func TestEMQObliterateLeavesNothing(t *testing.T) {
	f := newForest(t, "q", "qq")
	for _, q := range f.queues {
		f.call("EMQ.FLOW.ADD 3 %s/job:JOBf %s/job:JOBg %s/job:JOBh JOBf p %q %q JOBg p JOBf fp JOBh p JOBf id", q, q, q, "", "")
		f.call("EMQ.FLOW.ADD 2 other/job:JOBp%s %s/job:JOBc JOBp%s p %q %q JOBc p JOBp%s fp", q, q, q, "", "", q)
		f.call("EMQ.FLOW.HOLD 2 %s/job:JOBo %s/ JOBo p 3", q, q)
		for i := range 40 {
			f.call("EMQ.ENQUEUE 2 %s/job:JOB%d %s/pending JOB%d p", q, i, q, i)
			f.call("EMQ.LOG 2 %s/job:JOB%d %s/job:JOB%d:logs line 0", q, i, q, i)
			f.call("EMQ.SCHEDULE 2 %s/job:JOBs%d %s/schedule JOBs%d p in 50", q, i, q, i)
			f.call("EMQ.GROUP.ENQUEUE 3 %s/job:JOBl%d %s/g:g%d:pending %s/ JOBl%d p g%d", q, i, q, i%7, q, i, i%7)
			f.call("SET %s/de:d%d JOB%d", q, i, i)
			f.call("XADD %s/stream:s%d * f v", q, i)
			f.call("EMQ.FAILURES.INCR 1 %s/stream:s%d:failures:g e", q, i)
			f.call("EMQ.REPEAT.REGISTER 2 %s/repeat %s/repeat:r%d r%d 1000 t 5", q, q, i, i)
		}
		f.call("EMQ.CLAIMS 3 %s/pending %s/active %s/ 1000 5", q, q, q)
		f.call("EMQ.FAIL 5 %s/active %s/schedule %s/dead %s/job:JOB0 %s/ JOB0 1 0 1 boom", q, q, q, q, q)
		f.call("EMQ.GROUP.CLAIM 3 %s/ring %s/active %s/ 1000", q, q, q)
		f.call("EMQ.GROUP.LIMIT 1 %s/ g1 5", q)
		f.call("EMQ.GROUP.PAUSE 3 %s/paused %s/ring %s/ g2", q, q, q)
		f.call("SET %s/limiter 1", q)
		f.call("SET %s/something:else 1", q)
		f.call("SET %s/job:JOBx:lock me", q)
	}
	other := len(f.keys())
	f.call("EMQ.PAUSE 1 q/meta")
	require.Equal(t, "EMQSTATE active jobs present", f.call(`EMQ.OBLITERATE 2 q/meta q/ "" 10`))
	const budget = 10
	steps := 0
	for more := ":1"; more == ":1"; steps++ {
		more = f.call("EMQ.OBLITERATE 2 q/meta q/ force %d", budget)
		// A unit is a job with its sub-keys, its place in a set, its lane's count and a signal.
		require.LessOrEqual(t, len(f.log), 7*budget+20)
		require.Less(t, steps, 1000)
	}
	require.Greater(t, steps, 20)
	left := 0
	for _, key := range f.keys() {
		parsed, ok := fence.Parse([]byte(key))
		if ok && string(parsed.Queue()) == "q" {
			require.Equal(t, fence.Outbox, parsed.Kind, key)
			left++
		}
	}
	require.Equal(t, 1, left)
	require.Equal(t, `*[$"\x00fail\x00other\x00JOBpq\x00JOBc\x00fp\x00removed"]`, f.call("LRANGE q/flow:outbox 0 -1"))
	require.Equal(t, other/2, (len(f.keys())-5)+1, "the other queue lost something: %d keys were there", other)
}

func TestEMQObliterateOfAMillionJobsInSteps(t *testing.T) {
	jobs := 1_000_000
	if testing.Short() {
		jobs = 50_000
	}
	n := newNode(t)
	add := words("EMQ.ENQUEUE 2 emq:{q}:job:JOB0000000 emq:{q}:pending JOB0000000 payload")
	for i := range jobs {
		for at := len("emq:{q}:job:JOB0000000") - 1; ; at-- { // count up in place
			add[2][at]++
			if add[2][at] <= '9' {
				break
			}
			add[2][at] = '0'
		}
		copy(add[4], add[2][len("emq:{q}:job:"):])
		n.run(add)
		n.call.Tx.Commit()
		if i%100_000 == 0 {
			n.s.Reclaim(1)
		}
	}
	require.Equal(t, fmt.Sprintf("*[:%d]", jobs), n.do("EMQ.COUNTS", "1", "~", "pending"))
	require.Equal(t, ":1", n.do("EMQ.PAUSE", "1", "~meta"))
	const budget = 1000
	call := words(`EMQ.OBLITERATE 2 emq:{q}:meta emq:{q}: force 1000`)
	for step := 0; ; step++ {
		n.run(call)
		require.LessOrEqual(t, n.call.Tx.Effects().Len(), 2*budget+10)
		n.call.Tx.Commit()
		n.s.Reclaim(64)
		if string(n.reply.Bytes()) == ":0\r\n" {
			break
		}
		require.LessOrEqual(t, step, 4*jobs/budget+100)
	}
	require.Equal(t, 1, n.s.Len(0), "the fence alone is left")
}

func TestEMQDrainGoesInBoundedSteps(t *testing.T) {
	n := newNode(t)
	const jobs = 12_000
	for i := range jobs {
		n.enqueue(fmt.Sprintf("JOB%05d", i))
	}
	n.schedule("JOBs", 5)
	for _, want := range []string{":2000", ":2000", ":2000", ":2000", ":2000", ":2000", ":1", ":0"} {
		require.Equal(t, want, n.do("EMQ.DRAIN", "3", "~", "~pending", "~schedule"))
	}
	require.Equal(t, 1, n.s.Len(0))
}

// TestEMQEveryDeadJobCanBeRemoved: what an operator sees in the list of the dead he can also take away, and nothing is left.
func TestEMQEveryDeadJobCanBeRemoved(t *testing.T) {
	n := newNode(t)
	const jobs = 10_001
	for i := range jobs {
		n.enqueue(fmt.Sprintf("JOB%05d", i))
		id, token := n.claim(10)
		n.fail(id, token, 0, 1)
	}
	require.Equal(t, fmt.Sprintf("*[:%d :%d]", jobs, jobs), n.do("EMQ.COUNTS", "1", "~", "dead", "failed"))
	for id := range n.members(fence.Dead) {
		require.Equal(t, ":1", n.do("EMQ.REMOVE", "6", "~job:"+id, "~pending", "~active", "~schedule", "~dead", "~de:", id, ""))
	}
	require.Equal(t, 2, n.s.Len(0), "the fence and the metric are left")
}

// series is a scheduler of repeatable jobs as a client has it: what is due is moved on by multiples of its interval and
// then enqueued under an id that the slot gives.
type series struct {
	*node
	fired map[int64]int // slot to how often its job was added
}

// tick does what a scheduler does that believes it is the instant now.
func (s *series) tick(t *testing.T, name string, now int64) {
	every, err := strconv.ParseInt(s.hash("repeat:" + name)["every_ms"], 10, 64)
	require.NoError(t, err)
	slot, ok := s.members(fence.Repeat)[name]
	if !ok || slot > now {
		return
	}
	next := slot + every
	if next <= now {
		next = slot + every*int64(math.Ceil(float64(now-slot+1)/float64(every)))
	}
	if s.do("EMQ.REPEAT.ADVANCE", "2", "~repeat", "~repeat:"+name, name, fmt.Sprint(next)) == ":1" {
		if s.enqueue(fmt.Sprintf("JOB%d", slot)) == ":1" {
			s.fired[slot]++
		}
	}
	require.Len(t, s.members(fence.Repeat), 1, "exactly one next occurrence")
}

func (s *series) register(name string, every, first int64) string {
	return s.do("EMQ.REPEAT.REGISTER", "2", "~repeat", "~repeat:"+name, name, fmt.Sprint(every), "t", fmt.Sprint(first))
}

func TestEMQRepeatableNeverStopsWhateverTheClockSays(t *testing.T) {
	s := &series{node: newNode(t), fired: map[int64]int{}}
	const every = 10_000
	start := s.now
	s.register("r", every, start)
	for k := int64(0); k < 50; k++ {
		slot := start + k*every
		before := s.members(fence.Repeat)["r"]
		// A timer that is early, exact, late, and one whose clock stepped back by a second.
		for _, at := range []int64{slot - 13, slot, slot + 9_990, slot + 9_990 - 1000, slot} {
			s.tick(t, "r", at)
		}
		require.Equal(t, before+every, s.members(fence.Repeat)["r"], "the next slot follows from the slot before")
		require.Equal(t, 1, s.fired[slot])
	}
	require.Len(t, s.fired, 50)
}

func TestEMQRepeatableIsRegisteredOnceByManyWorkers(t *testing.T) {
	s := &series{node: newNode(t), fired: map[int64]int{}}
	start := s.now
	for restart := range 5 {
		for worker := range 20 {
			want := ":0"
			if restart+worker == 0 {
				want = ":1"
			}
			require.Equal(t, want, s.register("r", 1000, start+int64(worker)))
		}
		now := start + int64(restart)*1000
		for range 20 {
			s.tick(t, "r", now)
		}
		s.s.Epoch++
	}
	require.Len(t, s.fired, 5)
	for slot, times := range s.fired {
		require.Equal(t, 1, times, slot)
		require.Zero(t, (slot-start)%1000)
	}
}

func TestEMQRepeatableDoesNotDrift(t *testing.T) {
	s := &series{node: newNode(t), fired: map[int64]int{}}
	const every = 60_000
	start := s.now
	s.register("r", every, start)
	for now, n := start, int64(0); n < 24*60; n++ {
		s.tick(t, "r", now)
		require.Equal(t, 1, s.fired[start+n*every], "slot %d", n)
		now += every + n%1000 // the handler takes up to a second longer each time
		now -= (now - start) % every
		now += 700
	}
}

// TestEMQOperatorGuardComesAfterTheDomain holds the write guard's place in the verbs of flows and operators.
func TestEMQOperatorGuardComesAfterTheDomain(t *testing.T) {
	n := newNode(t)
	n.line("EMQ.FLOW.HOLD 2 ~job:JOB0 ~ JOB0 p 1")
	n.line("EMQ.FLOW.CHILD 3 ~job:JOB1 ~ ~job:JOB0 JOB1 p fp planned")
	n.line("EMQ.REPEAT.REGISTER 2 ~repeat ~repeat:r r 5 t 5")
	n.line("EMQ.PAUSE 1 ~meta")
	n.guard = commands.ErrOOM
	oom := string(commands.ErrOOM)
	for call, want := range map[string]string{
		"EMQ.FLOW.HOLD 2 ~job:JOB0 ~ JOB0 p 1":                                       ":0",
		"EMQ.FLOW.HOLD 2 ~job:JOB9 ~ JOB9 p 1":                                       oom,
		"EMQ.FLOW.CHILD 3 ~job:JOB1 ~ ~job:JOB0 JOB1 p fp planned":                   ":0",
		"EMQ.FLOW.CHILD 3 ~job:JOB9 ~ ~job:JOB8 JOB9 p fp planned":                   "EMQSTATE not awaiting children",
		"EMQ.FLOW.CHILD 3 ~job:JOB9 ~ ~job:JOB0 JOB9 p fp planned":                   oom,
		"EMQ.FLOW.COMPLETE 4 ~active ~job:JOB1 ~ ~job:JOB0 JOB1 9 r":                 "EMQSTALE complete token mismatch",
		"EMQ.FLOW.COMPLETE 4 ~active ~job:JOB1 ~ ~job:JOB0 JOB1 0 r":                 oom,
		"EMQ.FLOW.FAIL 6 ~active ~schedule ~dead ~job:JOB1 ~ ~job:JOB8 JOB1 0 0 1 e": "EMQFLOW job has another parent",
		"EMQ.FLOW.FAIL 6 ~active ~schedule ~dead ~job:JOB1 ~ ~job:JOB0 JOB1 0 0 1 e": oom,
		"EMQ.FLOW.FAIL 6 ~active ~schedule ~dead ~job:JOB1 ~ ~job:JOB0 JOB1 0 0 2 e": oom,
		"EMQ.FLOW.DELIVER 2 ~job:JOB8 ~ JOB1 r":                                      ":1",
		"EMQ.FLOW.DELIVER 2 ~job:JOB0 ~ JOB1 r":                                      oom,
		"EMQ.FLOW.FAILDELIVER 2 ~job:JOB8 ~ JOB1 r fp":                               ":1",
		"EMQ.FLOW.FAILDELIVER 2 ~job:JOB0 ~ JOB1 r fp":                               oom,
		"EMQ.PAUSE 1 ~meta":                               ":1",
		"EMQ.RESUME 1 ~meta":                              oom,
		"EMQ.UPDATE 1 ~job:JOB8 p":                        ":-1",
		"EMQ.UPDATE 1 ~job:JOB1 p":                        oom,
		"EMQ.PROGRESS 2 ~job:JOB8 ~events JOB8 p":         ":-1",
		"EMQ.PROGRESS 2 ~job:JOB1 ~events JOB1 p":         oom,
		"EMQ.LOG 2 ~job:JOB8 ~job:JOB8:logs l 0":          ":-1",
		"EMQ.LOG 2 ~job:JOB1 ~job:JOB1:logs l 0":          oom,
		"EMQ.DRAIN 3 ~ ~pending ~schedule":                oom,
		"EMQ.OBLITERATE 2 ~meta ~ force 5":                oom,
		"EMQ.REPEAT.REGISTER 2 ~repeat ~repeat:r r 5 t 5": ":0",
		"EMQ.REPEAT.REGISTER 2 ~repeat ~repeat:r r 6 t 5": oom,
		"EMQ.REPEAT.ADVANCE 2 ~repeat ~repeat:r r 5":      ":0",
		"EMQ.REPEAT.ADVANCE 2 ~repeat ~repeat:r r 6":      oom,
		"EMQ.REPEAT.CANCEL 2 ~repeat ~repeat:s s":         ":0",
		"EMQ.REPEAT.CANCEL 2 ~repeat ~repeat:r r":         oom,
	} {
		require.Equal(t, want, n.line(call), call)
	}
	require.Equal(t, ":-1", n.do("EMQ.REMOVE", "6", "~job:JOB8", "~pending", "~active", "~schedule", "~dead", "~de:", "JOB8", ""))
	require.Equal(t, oom, n.do("EMQ.REMOVE", "6", "~job:JOB1", "~pending", "~active", "~schedule", "~dead", "~de:", "JOB1", ""))
	require.Empty(t, n.published)
	require.Equal(t, oom, n.do("EMQ.FLOW.ADD", "1", "~job:JOB9", "JOB9", "p", "", ""))
	require.Equal(t, ":0", n.do("EMQ.FLOW.ADD", "1", "~job:JOB1", "JOB1", "p", "", ""))
	n.guard = nil
	require.Equal(t, ":1", n.line("EMQ.PROGRESS 2 ~job:JOB1 ~events JOB1 50%"))
	require.Equal(t, []string{"emq:{q}:events", `{"event":"progress","job":"JOB1","progress":"50%"}`}, n.published)
}

func TestEMQFlowVerbsAllocateNothing(t *testing.T) {
	n := newNode(t)
	calls := [][][]byte{
		words("EMQ.FLOW.HOLD 2 emq:{q}:job:JOB0 emq:{q}: JOB0 p 1"),
		words("EMQ.FLOW.CHILD 3 emq:{r}:job:JOB1 emq:{r}: emq:{q}:job:JOB0 JOB1 p fp planned"),
		words("EMQ.CLAIM 3 emq:{r}:pending emq:{r}:active emq:{r}: 1000"),
		words("EMQ.PROGRESS 2 emq:{r}:job:JOB1 emq:{r}:events JOB1 50"),
		words("EMQ.FLOW.COMPLETE 4 emq:{r}:active emq:{r}:job:JOB1 emq:{r}: emq:{q}:job:JOB0 JOB1 1 r"),
		words("EMQ.CLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 1000"),
		words("EMQ.COMPLETE 3 emq:{q}:active emq:{q}:job:JOB0 emq:{q}: JOB0 1"),
	}
	cycle := func() {
		n.published = n.published[:0]
		for _, call := range calls {
			n.run(call)
			n.call.Tx.Commit()
		}
	}
	cycle()
	require.Equal(t, ":1\r\n", string(n.reply.Bytes()))
	require.LessOrEqual(t, testing.AllocsPerRun(200, cycle), 2.0, "the texts that the test keeps of what is published")
}
