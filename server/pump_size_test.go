package server

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// fill puts count jobs with lapsed leases, or due ones, into a queue of the selected database.
func (n *pumped) fill(queue, set, state string, count int, at int64) {
	tx := n.srv.store.Begin(0, n.now, false)
	defer tx.Commit()
	z, err := tx.ZSet([]byte("emq:{" + queue + "}:" + set))
	require.NoError(n.t, err)
	for i := range count {
		id := fmt.Sprintf("JOB%07d", i)
		z.Add([]byte(id), float64(at))
		row, err := tx.Hash([]byte("emq:{" + queue + "}:job:" + id))
		require.NoError(n.t, err)
		row.Set([]byte("state"), []byte(state))
		row.Set([]byte("attempts"), []byte("1"))
		row.Set([]byte("payload"), []byte("p"))
	}
	n.srv.pump.noteEffects(n.srv, tx.Effects())
}

func TestPumpSpendsNothingOnIdleQueues(t *testing.T) {
	n := newPumped(t)
	for i := range 10_000 {
		n.fill(fmt.Sprint(i), "schedule", "scheduled", 1, n.now+3_600_000)
	}
	n.pass(0)
	st := &n.srv.pump.stats
	found := st.looks
	require.LessOrEqual(t, found, int64(20_000), "each is looked at when it changes and when the keys are gone through")
	for range 100 {
		n.pass(pumpTick)
	}
	require.Equal(t, found, st.looks)
	require.Zero(t, testing.AllocsPerRun(100, func() { n.turn() }))
	n.schedule("JOB1", 10)
	before := st.looks
	n.pass(pumpTick)
	n.pass(pumpTick)
	require.LessOrEqual(t, st.looks-before, int64(3), "only that with something due")
	require.EqualValues(t, 1, st.promoted)
}

func TestPumpRecoversManyLeasesInBoundedTurns(t *testing.T) {
	const count = 20_000
	n := newPumped(t)
	n.fill("big", "active", "active", count, n.now-10_000)
	n.pass(0)
	require.EqualValues(t, count, n.srv.pump.stats.recovered)

	n = newPumped(t)
	n.turn() // the keys are gone through
	n.fill("big", "active", "active", count, n.now-10_000)
	n.schedule("JOB1", 0)
	last, turns := int64(0), 0
	for n.turn() {
		moved := n.srv.pump.stats.moved()
		require.LessOrEqual(t, moved-last, int64(pumpBudget+4*n.srv.cfg.PumpBatch))
		last = moved
		if turns++; turns == 1 {
			require.EqualValues(t, 1, n.srv.pump.stats.promoted, "the others have their turn meanwhile")
		}
	}
	require.EqualValues(t, count, n.srv.pump.stats.recovered)
	require.GreaterOrEqual(t, turns, count/(pumpBudget+n.srv.cfg.PumpBatch)-1)
}

// TestPumpFindsWhatIsDueHoweverItCame changes queues by every kind of command and compares what the pump knows with
// what is there.
func TestPumpFindsWhatIsDueHoweverItCame(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	n := newPumped(t, func(c *Config) { c.Databases = 2 })
	for db := range 2 {
		n.do(fmt.Sprintf("SELECT %d", db))
		n.do("DEL {emq}:version") // nothing moves: the order is looked at
	}
	key := func() string {
		kinds := []string{"schedule", "active", "repeat", "flow:outbox", "pending"}
		return fmt.Sprintf("emq:{%d}:%s", rng.IntN(4), kinds[rng.IntN(len(kinds))])
	}
	calls := []func() string{
		func() string { return fmt.Sprintf("ZADD %s %d m%d", key(), n.now+rng.Int64N(10_000), rng.IntN(3)) },
		func() string { return fmt.Sprintf("ZREM %s m%d", key(), rng.IntN(3)) },
		func() string { return "RPUSH " + key() + " s" },
		func() string { return "LPOP " + key() },
		func() string { return "DEL " + key() },
		func() string { return "RENAME " + key() + " " + key() },
		func() string { return "COPY " + key() + " " + key() + " REPLACE" },
		func() string { return fmt.Sprintf("MOVE %s %d", key(), rng.IntN(2)) },
		func() string { return "SET " + key() + " x" },
		func() string { return fmt.Sprintf("SELECT %d", rng.IntN(2)) },
	}
	rare := []string{"FLUSHDB", "SWAPDB 0 1", "FLUSHALL"}
	for range 2_000 {
		if rng.IntN(100) == 0 {
			n.do(rare[rng.IntN(len(rare))])
		} else {
			n.do(calls[rng.IntN(len(calls))]())
		}
		if rng.IntN(5) > 0 {
			continue
		}
		for n.turn() {
		}
		for i, d := range n.srv.pump.dbs {
			known := 0
			for q := range 4 {
				base := fmt.Sprintf("emq:{%d}:", q)
				tx := n.srv.store.Begin(i, n.now, true)
				due, _ := dueOf(tx, base, everDue, nil)
				tx.Commit()
				if due.first() == never {
					require.NotContains(t, d.queues, base)
					continue
				}
				known++
				require.Contains(t, d.queues, base)
				require.Equal(t, max(due.first(), 1), d.queues[base].due)
			}
			require.Equal(t, known, d.order.Len())
		}
	}
}

func BenchmarkPumpRecover(b *testing.B) {
	n := newPumped(b)
	n.fill("big", "active", "active", b.N, n.now-10_000)
	b.ResetTimer()
	for n.turn() {
	}
}

var pumpLeases = flag.Int("pump-leases", 60_000, "lapsed leases of TestPumpWorkOfATurnIsBounded; a million with make pump")

// TestPumpWorkOfATurnIsBounded counts the work of every turn over a queue of lapsed leases, every third without a row and every
// fifth of a lane that nobody can have: no turn does more than its part, and all that can be recovered is.
func TestPumpWorkOfATurnIsBounded(t *testing.T) {
	count := *pumpLeases
	n := newPumped(t)
	n.turn() // the keys are gone through
	n.fill("big", "active", "active", count, n.now-10_000)
	tx := n.srv.store.Begin(0, n.now, false)
	odd, orphans := 0, 0
	for i := range count {
		row := fmt.Appendf(nil, "emq:{big}:job:JOB%07d", i)
		switch {
		case i%3 == 0:
			tx.Delete(row)
			orphans++
		case i%5 == 0:
			h, err := tx.Hash(row)
			require.NoError(t, err)
			h.Set([]byte("group"), []byte("no\x00group"))
			odd++
		}
	}
	tx.Commit()
	st := &n.srv.pump.stats
	work := func() int64 { return st.moved() + st.passed }
	turns := 0
	for last := work(); st.recovered < int64(count-odd-orphans); last = work() {
		n.turn()
		require.LessOrEqual(t, work()-last, int64(pumpBudget+n.srv.cfg.PumpBatch+1000), "of turn %d", turns)
		require.Positive(t, work()-last, "turn %d does nothing while leases are left", turns)
		turns++
	}
	require.EqualValues(t, orphans, n.srv.store.Stats.OrphansDropped)
	require.Equal(t, fmt.Sprintf(":%d", odd), n.do("ZCARD emq:{big}:active"))
	t.Logf("%d leases in %d turns", count, turns)
	before := st.looks
	n.turn() // the last ones: nobody can move them
	for range 10 {
		n.turn()
	}
	require.LessOrEqual(t, st.looks-before, int64(2+2*odd/1000), "and they are not looked at again and again")
}

// TestPumpLeavesTheNodeToItsClients has clients busy while much is due: the pump takes its share of their commands,
// and all that a turn may do when they are still.
func TestPumpLeavesTheNodeToItsClients(t *testing.T) {
	n := newPumped(t)
	srv := n.srv
	srv.pump.known = srv.stats.commands
	require.Equal(t, pumpBudget, srv.pumpAllowance())
	given := 0
	for range 1000 {
		srv.stats.commands += 10
		given += srv.pumpAllowance()
	}
	require.InDelta(t, 10*1000/pumpShare, given, pumpLeast)
	srv.stats.commands += 1 << 20
	require.Equal(t, pumpBudget, srv.pumpAllowance())
	srv.stats.commands++
	require.Zero(t, srv.pumpAllowance())
	require.Equal(t, pumpBudget, srv.pumpAllowance())
}
