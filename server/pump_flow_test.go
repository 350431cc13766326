package server

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// flow adds a root in queue a, its child in queue b, and the child of that in the queue q, each of the policy.
func (n *pumped) flow(policy string) {
	n.t.Helper()
	require.Equal(n.t, ":2", n.do("EMQ.FLOW.ADD 3 emq:{a}:job:JOBroot emq:{b}:job:JOBmid ~job:JOBleaf "+
		`JOBroot p "" "" JOBmid p JOBroot `+policy+" JOBleaf p JOBmid "+policy))
}

func TestPumpTellsTheParentsOfAChildThatStalledToDeath(t *testing.T) {
	n := newPumped(t, func(c *Config) { c.PumpMaxStalled = 1 })
	n.flow("fp")
	require.Contains(t, n.do("EMQ.CLAIM 3 ~pending ~active ~ 100"), "JOBleaf")
	n.pass(pumpTick)
	require.Equal(t, `$"dead"`, n.do("HGET emq:{b}:job:JOBmid state"))
	require.Equal(t, `$"dead"`, n.do("HGET emq:{a}:job:JOBroot state"))
	require.Equal(t, ":0", n.do("EXISTS ~flow:outbox emq:{b}:flow:outbox emq:{a}:flow:outbox"))
	require.Equal(t, `*[$"JOBmid" $"stalled"]`, n.do("HGETALL emq:{a}:job:JOBroot:failed"))
	require.Contains(t, n.do("INFO emq"), `pump_delivered:2\r\n`)
}

func TestPumpReleasesTheParentThatIgnoresItsChild(t *testing.T) {
	n := newPumped(t, func(c *Config) { c.PumpMaxStalled = 1 })
	n.flow("id")
	require.Contains(t, n.do("EMQ.CLAIM 3 ~pending ~active ~ 100"), "JOBleaf")
	n.pass(pumpTick)
	require.Equal(t, `$"pending"`, n.do("HGET emq:{b}:job:JOBmid state"))
	require.Equal(t, `$"awaiting_children"`, n.do("HGET emq:{a}:job:JOBroot state"))
}

func TestPumpDeliversACompletionOnce(t *testing.T) {
	n := newPumped(t)
	n.flow("fp")
	for range 2 {
		require.Equal(t, ":1", n.do(`RPUSH ~flow:outbox "b\x00JOBmid\x00JOBleaf\x00a\x00b"`))
		n.pass(pumpTick)
		require.Equal(t, ":0", n.do("EXISTS ~flow:outbox"))
		require.Equal(t, ":1", n.do("ZCARD emq:{b}:pending"))
		require.Equal(t, `$"0"`, n.do("GET emq:{b}:job:JOBmid:dependencies"))
	}
	require.Equal(t, `$"a\x00b"`, n.do("HGET emq:{b}:job:JOBmid:processed JOBleaf"))
}

func TestPumpGoesOnBehindASignalThatCannotBeApplied(t *testing.T) {
	n := newPumped(t)
	n.flow("fp")
	require.Equal(t, "+OK", n.do("SET emq:{a}:job:JOBodd x"))
	odd := `"a\x00JOBodd\x00JOBx\x00r"`
	require.Equal(t, ":5", n.do(`RPUSH ~flow:outbox nonsense `+odd+` "{\x00JOBx\x00JOBx\x00r" "gone\x00JOBx\x00JOBx\x00r" "b\x00JOBmid\x00JOBleaf\x00r"`))
	n.pass(pumpTick)
	require.Equal(t, "*[$"+odd+"]", n.do("LRANGE ~flow:outbox 0 -1"))
	require.Equal(t, ":1", n.do("ZCARD emq:{b}:pending"))
	info := n.do("INFO emq")
	require.Contains(t, info, `pump_delivered:2\r\npump_dropped:2\r\n`, "a parent that is gone is told nothing")
	n.pass(pumpBackoff)
	looks, refused := n.srv.pump.stats.looks, n.srv.pump.stats.refused
	for range 20 {
		n.pass(pumpTick)
	}
	require.Equal(t, looks, n.srv.pump.stats.looks, "what cannot be applied is tried seldom")
	require.Equal(t, ":1", n.do("DEL emq:{a}:job:JOBodd"))
	n.pass(pumpPoison)
	require.Equal(t, ":0", n.do("EXISTS ~flow:outbox"))
	require.Equal(t, refused, n.srv.pump.stats.refused)
}

func TestPumpDoesAsTheVerbsDo(t *testing.T) {
	fill := func(n *pumped) {
		n.flow("fp")
		require.Contains(t, n.do("EMQ.CLAIM 3 ~pending ~active ~ 100"), "JOBleaf")
		for i := range 20 {
			n.enqueue(fmt.Sprintf("JOBa%d", i))
			n.schedule(fmt.Sprintf("JOBs%d", i), int64(i))
			n.do(fmt.Sprintf("EMQ.GROUP.ENQUEUE 3 ~job:JOBg%d ~g:a:pending ~ JOBg%d p a", i, i))
			n.do("EMQ.CLAIM 3 ~pending ~active ~ 100")
			n.do("EMQ.GROUP.CLAIM 3 ~ring ~active ~ 100")
		}
	}
	a := newPumped(t, func(c *Config) { c.PumpMaxStalled = 1 })
	b := newPumped(t, func(c *Config) { c.Pump, c.PumpMaxStalled = 0, 1 })
	fill(a)
	fill(b)
	a.pass(1_000)
	b.now += 1_000
	require.NotEqual(t, a.srv.store.Digest(a.now), b.srv.store.Digest(b.now))
	b.do("EMQ.GROUP.PROMOTE 3 ~schedule ~pending ~ 100")
	b.do("EMQ.GROUP.STALLED.CHECK 4 ~active ~pending ~dead ~ 1 100")
	require.Equal(t, ":1", b.do("LLEN ~flow:outbox"))
	b.do("DEL ~flow:outbox")
	b.do("EMQ.FLOW.FAILDELIVER 2 emq:{b}:job:JOBmid emq:{b}: JOBleaf stalled fp")
	b.do("DEL emq:{b}:flow:outbox")
	b.do("EMQ.FLOW.FAILDELIVER 2 emq:{a}:job:JOBroot emq:{a}: JOBmid stalled fp")
	require.Equal(t, b.srv.store.Digest(b.now), a.srv.store.Digest(a.now))
}
