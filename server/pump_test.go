package server

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/aof/memfs"
)

func TestPumpPromotesWhatIsDueWithNoClientConnected(t *testing.T) {
	n := newPumped(t)
	n.schedule("JOB1", 10_000)
	n.pass(5_000)
	n.pass(4_999)
	require.Equal(t, `$"scheduled"`, n.do("HGET ~job:JOB1 state"))
	n.pass(pumpTick)
	require.Equal(t, `$"pending"`, n.do("HGET ~job:JOB1 state"))
	require.Equal(t, ":1", n.do("ZCARD ~pending"))
	require.Equal(t, ":0", n.do("ZCARD ~schedule"))
	require.Contains(t, n.do("INFO emq"), `pump_promoted:1\r\n`)
	require.Empty(t, n.srv.pump.dbs[0].queues, "nothing is due any more")
}

func TestPumpPromotesAfterARestartAtTheTimeThatWasSet(t *testing.T) {
	fsys := memfs.New()
	on := func(c *Config) { c.Pump = 5 }
	first := startLogged(t, fsys, on)
	c := dial(t, first.addr)
	require.Equal(t, "+OK\r\n", c.do("EMQ.INSTALL"))
	require.Equal(t, ":1\r\n", c.do("EMQ.SCHEDULE 2 emq:{q}:job:JOB1 emq:{q}:schedule JOB1 p in 150"))
	due := c.do("ZSCORE emq:{q}:schedule JOB1")
	require.NoError(t, first.stop())

	c = dial(t, startLogged(t, fsys, on).addr)
	if left := c.do("ZSCORE emq:{q}:schedule JOB1"); left != "$-1\r\n" {
		require.Equal(t, due, left)
	}
	require.Contains(t, c.do("EMQ.BCLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 1000 15"), "JOB1")
}

func TestPumpRecoversTheJobOfAWorkerThatIsGone(t *testing.T) {
	n := newPumped(t)
	n.enqueue("JOB1")
	require.Equal(t, `*[$"JOB1" $"p" :1]`, n.do("EMQ.CLAIM 3 ~pending ~active ~ 10000"))
	n.srv.sessions[n.s.id].gone()
	n.s = n.srv.open(silent{}, "test:3", "test:2")
	n.pass(9_999)
	require.Equal(t, ":1", n.do("ZCARD ~active"), "the lease holds")
	n.pass(pumpTick)
	require.Equal(t, `*[$"JOB1" $"0"]`, n.do("ZRANGE ~pending 0 -1 WITHSCORES"), "within the lease and one interval")
	require.Contains(t, n.do("INFO emq"), `pump_recovered:1\r\n`)
}

func TestPumpBuriesWhatStallsTooOften(t *testing.T) {
	n := newPumped(t, func(c *Config) { c.PumpMaxStalled = 2 })
	n.enqueue("JOB1")
	for range 2 {
		require.Contains(t, n.do("EMQ.CLAIM 3 ~pending ~active ~ 100"), "JOB1")
		n.pass(pumpTick)
	}
	require.Equal(t, ":1", n.do("ZCARD ~dead"))
	require.Equal(t, `$"stalled"`, n.do("HGET ~job:JOB1 last_error"))
	info := n.do("INFO emq")
	require.Contains(t, info, `pump_recovered:1\r\npump_dead:1\r\n`)
	require.Contains(t, info, fmt.Sprintf(`pump_last_run:%d\r\n`, n.now))
}

func TestPumpServesLanesByTheirRing(t *testing.T) {
	n := newPumped(t)
	require.Equal(t, ":1", n.do("EMQ.GROUP.ENQUEUE 3 ~job:JOB1 ~g:a:pending ~ JOB1 p a"))
	require.Equal(t, ":1", n.do("EMQ.GROUP.LIMIT 1 ~ a 1"))
	require.Contains(t, n.do("EMQ.GROUP.CLAIM 3 ~ring ~active ~ 100"), "JOB1")
	require.Equal(t, ":1", n.do("EMQ.GROUP.ENQUEUE 3 ~job:JOB2 ~g:a:pending ~ JOB2 p a"))
	require.Equal(t, ":0", n.do("LLEN ~ring"), "the lane is at its limit")
	n.pass(pumpTick)
	require.Equal(t, `*[$"a"]`, n.do("LRANGE ~ring 0 -1"))
	require.Equal(t, `*[$"JOB1" $"JOB2"]`, n.do("ZRANGE ~g:a:pending 0 -1"))
	require.Equal(t, ":0", n.do("EXISTS ~gactive"))
}

func TestPumpSlotsNeverDrift(t *testing.T) {
	n := newPumped(t)
	const every = 60_000
	start := n.now + 7
	n.repeat("r", every, start)
	n.pass(0)
	require.Equal(t, ":0", n.do("ZCARD ~pending"), "not before its time")
	for slot := range int64(24 * 60) {
		n.pass(start + slot*every - n.now + pumpTick + slot%100) // always late, and never by the same
		require.Equal(t, start+(slot+1)*every, n.next("r"))
		require.Equal(t, start+slot*every, n.slot())
	}
	require.Contains(t, n.do("INFO emq"), `pump_fired:1440\r\n`)
}

func TestPumpNextSlotIsLaterWhateverTheClockDoes(t *testing.T) {
	n := newPumped(t)
	const every = 10_000
	start := n.now + every
	n.repeat("r", every, start)
	last := start
	for i, step := range []int64{every - 13, 13, 9_990, -1_000, 1_010, 0, every, -every, every - 13, 13} {
		n.pass(step)
		n.srv.pump.at = 0 // also when the clock went back behind the last turn
		n.pass(0)
		require.Equal(t, ":1", n.do("ZCARD ~repeat"), "one next time at all times")
		next := n.next("r")
		require.GreaterOrEqual(t, next, last, "step %d", i)
		require.Zero(t, (next-start)%every)
		require.Greater(t, next, n.now)
		if next > last {
			require.Equal(t, next-every, n.slot())
		} else {
			require.Equal(t, ":0", n.do("ZCARD ~pending"))
		}
		last = next
	}
}

func TestPumpKeepsOnePendingJobOfASchedule(t *testing.T) {
	n := newPumped(t)
	n.repeat("r", 1_000, n.now)
	for range 10 {
		n.pass(1_000)
	}
	require.Equal(t, ":1", n.do("ZCARD ~pending"), "nobody claims")
	const claim = "EMQ.CLAIM 3 ~pending ~active ~ 7200000"
	require.Contains(t, n.do(claim), "JOB")
	n.pass(1_000)
	require.Equal(t, ":1", n.do("ZCARD ~pending"))
	require.Contains(t, n.do(claim), "JOB")
	n.pass(3_600_000 + 17)
	require.Equal(t, ":1", n.do("ZCARD ~pending"), "missed slots are not made up for")
	require.Greater(t, n.next("r"), n.now)
	require.LessOrEqual(t, n.next("r"), n.now+1_000)
}

func TestPumpFiresBesideARepeatableThatIsDamaged(t *testing.T) {
	n := newPumped(t)
	require.Equal(t, ":1", n.do("HSET ~repeat:a every_ms often"))
	require.Equal(t, ":2", n.do(fmt.Sprintf("ZADD ~repeat %d a %d gone", n.now-2, n.now-1)))
	n.repeat("r", 1_000, n.now)
	n.pass(0)
	require.Equal(t, ":1", n.do("ZCARD ~pending"))
	require.Equal(t, `*[$"a" $"r"]`, n.do("ZRANGE ~repeat 0 -1"), "an entry without a record goes")
	looks := n.srv.pump.stats.looks
	n.pass(100)
	require.Equal(t, looks, n.srv.pump.stats.looks, "it is not tried again and again")
}

func TestPumpWakesAtTheFirstOfAllTimes(t *testing.T) {
	n := newPumped(t)
	n.schedule("JOBlate", 30_000)
	n.repeat("r", 2_000, n.now+2_000)
	for range 10 {
		at := n.next("r")
		n.pass(2_000)
		require.Equal(t, at, n.slot())
	}
	n.pass(10_000)
	require.Equal(t, `$"pending"`, n.do("HGET ~job:JOBlate state"))
}

func TestPumpClaimsNothingForAPausedQueue(t *testing.T) {
	n := newPumped(t)
	n.now = n.srv.clock.milli() - 10_000 // who waits is served at the node's own time
	n.enqueue("JOB1")
	require.Contains(t, n.do("EMQ.CLAIM 3 ~pending ~active ~ 100"), "JOB1")
	n.schedule("JOB2", 100)
	n.repeat("r", 1_000, n.now+100)
	require.Equal(t, ":1", n.do("HSET ~meta paused 1"))
	waiting := n.s
	waiting.out = nil
	n.srv.dispatch(waiting, splitArgs("EMQ.BCLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 60000 0"))
	require.NotNil(t, waiting.waiting)
	n.s = n.srv.open(silent{}, "test:3", "test:2")
	n.pass(pumpTick)
	require.Equal(t, ":3", n.do("ZCARD ~pending"), "recovered, promoted and fired as the verbs do")
	require.Equal(t, ":0", n.do("ZCARD ~active"), "and none claimed")
	require.NotNil(t, waiting.waiting)
	require.Empty(t, waiting.out)
	require.Equal(t, ":1", n.do("HDEL ~meta paused"))
	require.Nil(t, waiting.waiting)
	require.Contains(t, string(waiting.out), "JOB")
}

func TestPumpServesWhoWaitsForAClaim(t *testing.T) {
	n := newPumped(t)
	n.now = n.srv.clock.milli() - 10_000
	n.schedule("JOB1", 100)
	waiting := n.s
	n.srv.dispatch(waiting, splitArgs("EMQ.BCLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 60000 0"))
	require.NotNil(t, waiting.waiting)
	waiting.out = nil
	n.pass(pumpTick)
	require.Nil(t, waiting.waiting)
	require.Contains(t, string(waiting.out), "JOB1")
}

func TestPumpIsHeldToTheServersClock(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, -time.Hour} {
		n := newPumped(t)
		n.now = n.srv.clock.milli()
		n.enqueue("JOB1")
		require.Contains(t, n.do(claimMinute), "JOB1")
		n.schedule("JOB2", 60_000)
		n.srv.clock.follow(time.Now().Add(step)) // the system's clock is set: this node's goes on
		moved := n.srv.clock.milli() - n.now
		require.Less(t, max(moved, -moved), int64(30_000))
		n.pass(moved)
		require.Equal(t, ":1", n.do("ZCARD ~active"), "no lease lapses by it")
		require.Equal(t, ":1", n.do("ZCARD ~schedule"), "nothing is due by it")
		n.pass(60_000 + pumpTick + slewInterval.Milliseconds())
		require.Equal(t, ":0", n.do("ZCARD ~active"))
		require.Equal(t, ":0", n.do("ZCARD ~schedule"), "nor is anything frozen")
	}
}

func TestPumpDoesNothingWithoutTheFence(t *testing.T) {
	n := newPumped(t)
	n.schedule("JOB1", 100)
	require.Equal(t, "+OK", n.do("SET {emq}:version echomq:5.0.0"))
	n.pass(1_000)
	require.Equal(t, ":1", n.do("ZCARD ~schedule"))
	require.Equal(t, ":1", n.do("DEL {emq}:version"))
	n.pass(1_000)
	require.Equal(t, ":1", n.do("ZCARD ~schedule"))
	require.Equal(t, "+OK", n.do("EMQ.INSTALL"))
	n.pass(pumpTick)
	require.Equal(t, ":0", n.do("ZCARD ~schedule"))
}

func TestPumpWaitsForMemory(t *testing.T) {
	n := newPumped(t)
	n.schedule("JOB1", 100)
	n.do("CONFIG SET maxmemory 1")
	n.pass(pumpTick)
	require.Equal(t, ":1", n.do("ZCARD ~schedule"))
	looks := n.srv.pump.stats.looks
	n.pass(pumpTick)
	require.Equal(t, looks, n.srv.pump.stats.looks, "a queue that was refused rests")
	n.do("CONFIG SET maxmemory 0")
	n.pass(pumpBackoff)
	require.Equal(t, ":0", n.do("ZCARD ~schedule"))
}

func TestPumpIsOffByDefaultAndCanBeTurnedOn(t *testing.T) {
	require.Zero(t, NewConfig().Pump)
	n := newPumped(t, func(c *Config) { c.Pump = 0 })
	n.schedule("JOB1", 100)
	n.now += 1_000
	require.Empty(t, n.srv.pump.dbs)
	require.Contains(t, n.do("CONFIG SET pump 1ns"), "argument must be between 1ms and 1h, or 0")
	require.Contains(t, n.do("CONFIG SET pump often"), "argument must be a time")
	require.Equal(t, "+OK", n.do("CONFIG SET pump 1s"))
	require.Equal(t, `*[$"pump" $"1000ms"]`, n.do("CONFIG GET pump"))
	n.pass(0)
	require.Equal(t, ":1", n.do("ZCARD ~pending"), "what was there before is found")
	require.Equal(t, "+OK", n.do("CONFIG SET pump 0"))
	require.Empty(t, n.srv.pump.dbs)
}

func TestPumpRunsOnASocketNode(t *testing.T) {
	addr := startServer(t, func(c *Config) { c.Pump = 5 })
	a, b := dial(t, addr), dial(t, addr)
	require.Equal(t, "+OK\r\n", a.do("EMQ.INSTALL"))
	a.send("EMQ.BCLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 20 15")
	require.Equal(t, ":1\r\n", b.do("EMQ.SCHEDULE 2 emq:{q}:job:JOB1 emq:{q}:schedule JOB1 p in 20"))
	for attempt := 1; attempt <= 3; attempt++ {
		require.Contains(t, a.next(), "$4\r\nJOB1\r\n$1\r\np\r\n:"+strconv.Itoa(attempt), "promoted, then recovered")
		a.send("EMQ.BCLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 20 15")
	}
}

// A pause is kept by a restart, with the pump on: what it makes pending nobody claims until the queue is resumed.
func TestPumpKeepsAPauseAcrossARestart(t *testing.T) {
	fsys := memfs.New()
	on := func(c *Config) { c.Pump = 5 }
	first := startLogged(t, fsys, on)
	c := dial(t, first.addr)
	require.Equal(t, "+OK\r\n", c.do("EMQ.INSTALL"))
	require.Equal(t, ":1\r\n", c.do("EMQ.ENQUEUE 2 emq:{q}:job:JOB1 emq:{q}:pending JOB1 p"))
	require.Contains(t, c.do("EMQ.CLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 60000"), "JOB1")
	require.Equal(t, ":1\r\n", c.do("EMQ.SCHEDULE 2 emq:{q}:job:JOB2 emq:{q}:schedule JOB2 p in 60000"))
	require.Equal(t, ":1\r\n", c.do("EMQ.GROUP.ENQUEUE 3 emq:{q}:job:JOB3 emq:{q}:g:g:pending emq:{q}: JOB3 p g"))
	require.Equal(t, ":1\r\n", c.do("EMQ.PAUSE 1 emq:{q}:meta"))
	require.NoError(t, first.stop())

	second := startLogged(t, fsys, on)
	flat, lane, c := dial(t, second.addr), dial(t, second.addr), dial(t, second.addr)
	flat.send("EMQ.BCLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 60000 0")
	lane.send("EMQ.GROUP.BCLAIM 3 emq:{q}:ring emq:{q}:active emq:{q}: 60000 0")
	for !strings.Contains(c.do("INFO clients"), "blocked_clients:2\r\n") {
	}
	due := c.do("ZADD emq:{q}:schedule XX CH 1 JOB2") + c.do("ZADD emq:{q}:active XX CH 1 JOB1")
	require.Equal(t, ":1\r\n:1\r\n", due)
	for c.do("ZCARD emq:{q}:pending") != ":2\r\n" {
	}
	require.Equal(t, ":0\r\n", c.do("ZCARD emq:{q}:active"), "promoted and recovered by the pump, and none claimed")
	require.Equal(t, "*0\r\n", c.do("EMQ.CLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 1000"))
	require.Equal(t, "*0\r\n", c.do("EMQ.GROUP.CLAIM 3 emq:{q}:ring emq:{q}:active emq:{q}: 1000"))
	require.Contains(t, c.do("INFO clients"), "blocked_clients:2\r\n")
	require.Equal(t, ":1\r\n", c.do("EMQ.RESUME 1 emq:{q}:meta"))
	require.Contains(t, flat.next(), "JOB1")
	require.Contains(t, lane.next(), "JOB3")
}

// The job of a slot is an ordinary pending one: promoting changes neither it nor the series, and many schedulers that move
// the series on by hand move it once.
func TestPumpSeriesIsNotDoubledByPromoting(t *testing.T) {
	n := newPumped(t)
	n.repeat("r", 1_000, n.now)
	n.pass(0)
	next := n.next("r")
	for range 20 {
		require.Equal(t, ":0", n.do("EMQ.PROMOTE 3 ~schedule ~pending ~ 10"))
		require.Equal(t, ":0", n.do(fmt.Sprintf("EMQ.REPEAT.REGISTER 2 ~repeat ~repeat:r r 1000 t %d", n.now+77)))
	}
	require.Equal(t, ":1", n.do("ZCARD ~pending"))
	require.Equal(t, next, n.next("r"))
	moved := 0
	for range 20 {
		if n.do(fmt.Sprintf("EMQ.REPEAT.ADVANCE 2 ~repeat ~repeat:r r %d", next+1_000)) == ":1" {
			moved++
		}
	}
	require.Positive(t, moved)
	require.Equal(t, next+1_000, n.next("r"))
	require.Equal(t, ":1", n.do("ZCARD ~repeat"))
}
