package commands_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/fence"
)

func TestEMQCompletedIsFinalWhateverTheStalledCheckDoes(t *testing.T) {
	for _, completeFirst := range []bool{true, false} {
		n := newNode(t)
		n.enqueue("JOB1")
		_, token := n.claim(10)
		n.now += 11
		if completeFirst {
			require.Equal(t, ":1", n.complete("JOB1", token))
			recovered, dead := n.stalledCheck(1, 10)
			require.Empty(t, recovered)
			require.Empty(t, dead)
		} else {
			recovered, _ := n.stalledCheck(2, 10)
			require.Equal(t, []string{"JOB1"}, recovered)
			require.Equal(t, ":1", n.complete("JOB1", token), "recovered, not claimed again: still the holder's")
		}
		require.Empty(t, n.row("JOB1"))
		for _, kind := range []fence.Kind{fence.Pending, fence.Active, fence.Dead} {
			require.Empty(t, n.members(kind), kind)
		}
		require.Equal(t, map[string]string{"count": "1"}, n.hash("metrics:completed"))
		require.Empty(t, n.hash("metrics:failed"))
		require.Equal(t, ":0", n.complete("JOB1", token))
	}
}

func TestEMQLateHolderIsStaleAndTheNewOneIsNot(t *testing.T) {
	n := newNode(t)
	n.enqueue("JOB1")
	_, old := n.claim(10)
	n.now += 11
	n.stalledCheck(3, 10)
	_, token := n.claim(10)
	require.NotEqual(t, old, token)
	before := n.s.Digest(n.now)
	require.Equal(t, "EMQSTALE complete token mismatch", n.complete("JOB1", old))
	require.Equal(t, "EMQSTALE extend token mismatch", n.extend("JOB1", old, 10))
	require.Equal(t, "EMQSTALE retry token mismatch", n.fail("JOB1", old, 0, 3))
	require.Equal(t, "EMQSTALE delay token mismatch", n.delay("JOB1", old, 5))
	require.Equal(t, "EMQSTALE requeue token mismatch", n.requeue("JOB1", old))
	require.Equal(t, before, n.s.Digest(n.now), "refused calls changed something")
	require.Equal(t, ":1", n.complete("JOB1", token))
	require.Equal(t, map[string]string{"count": "1"}, n.hash("metrics:completed"))
}

func TestEMQExtendedLeaseIsNeverRecovered(t *testing.T) {
	n := newNode(t)
	n.enqueue("JOB1")
	n.enqueue("JOB2")
	_, token := n.claim(10)
	n.claim(1000) // a lease is per job
	for tick := int64(1); tick <= 60; tick++ {
		n.now++
		if tick%5 == 0 {
			require.Equal(t, ":1", n.extend("JOB1", token, 10))
		}
		recovered, dead := n.stalledCheck(1, 10)
		require.Empty(t, recovered)
		require.Empty(t, dead)
	}
	require.Len(t, n.members(fence.Active), 2)
}

func TestEMQLapsedLeaseCostsNoAttemptOfTheBudget(t *testing.T) {
	n := newNode(t)
	n.enqueue("JOB1")
	n.claim(10)
	n.now += 10
	recovered, dead := n.stalledCheck(3, 10)
	require.Equal(t, []string{"JOB1"}, recovered)
	require.Empty(t, dead)
	for i := range 2 {
		_, token := n.claim(10)
		require.Equal(t, `$"scheduled"`, n.fail("JOB1", token, 0, 3), "failure %d of 3", i+1)
		require.Equal(t, ":1", n.promote(1))
	}
	_, token := n.claim(10)
	require.Equal(t, `$"dead"`, n.fail("JOB1", token, 0, 3))
}

func TestEMQFailuresAreAttemptsWhileNoLeaseIsLost(t *testing.T) {
	n := newNode(t)
	n.enqueue("JOB1")
	for range 5 {
		_, token := n.claim(10)
		n.fail("JOB1", token, 0, 5)
		row := n.row("JOB1")
		require.Equal(t, row["attempts"], row["failures"])
		n.promote(1)
	}
	require.Equal(t, "dead", n.row("JOB1")["state"])
}

func TestEMQDuplicateIsRefusedInEveryState(t *testing.T) {
	n := newNode(t)
	again := func(state string) {
		require.Equal(t, state, n.row("JOB1")["state"])
		require.Equal(t, ":0", n.enqueue("JOB1"), state)
		require.Equal(t, ":0", n.schedule("JOB1", 5), state)
	}
	n.schedule("JOB1", 5)
	again("scheduled")
	n.now += 5
	n.promote(1)
	again("pending")
	_, token := n.claim(10)
	again("active")
	n.fail("JOB1", token, 0, 1)
	again("dead")
	n.reprocess("JOB1")
	_, token = n.claim(10)
	require.Equal(t, ":1", n.complete("JOB1", token))
	require.Equal(t, ":1", n.enqueue("JOB1"), "a settled id is free")
}

func TestEMQPromotionLosesAndDoublesNothing(t *testing.T) {
	n := newNode(t)
	const jobs = 1000
	for i := range jobs {
		require.Equal(t, ":1", n.schedule(fmt.Sprintf("JOB%04d", i), int64(i%7)))
	}
	n.now += 6
	for left := jobs; left > 0; {
		moved := n.promote(300)
		count := min(left, 300)
		require.Equal(t, fmt.Sprintf(":%d", count), moved)
		left -= count
		require.Len(t, n.members(fence.Schedule), left)
		require.Len(t, n.members(fence.Pending), jobs-left)
	}
	require.Equal(t, ":0", n.promote(300))
}

func TestEMQPausedQueueGivesNothingOut(t *testing.T) {
	n := newNode(t)
	n.enqueue("JOB1")
	_, token := n.claim(10)
	n.enqueue("JOB2")
	n.line("HSET emq:{q}:meta paused 1")
	n.schedule("JOB3", 0)
	n.promote(10)
	n.now += 10
	n.stalledCheck(3, 10)
	n.s.Epoch++
	for range 3 {
		id, _ := n.claim(10)
		require.Empty(t, id)
	}
	require.Len(t, n.members(fence.Pending), 3)
	require.Equal(t, ":1", n.complete("JOB1", token), "what is held can still be settled")
	n.line("HDEL emq:{q}:meta paused")
	id, _ := n.claim(10)
	require.Equal(t, "JOB2", id)
}

func TestEMQOnlyTheLeaseDecidesAboutRecovery(t *testing.T) {
	n := newNode(t)
	n.enqueue("JOB1")
	n.claim(10)
	for range 9 {
		n.now++
		recovered, dead := n.stalledCheck(1, 10)
		require.Empty(t, recovered)
		require.Empty(t, dead)
	}
	n.now++
	n.enqueue("JOB2") // whoever asks and whatever else is in the queue
	recovered, _ := n.stalledCheck(2, 10)
	require.Equal(t, []string{"JOB1"}, recovered)
}

func TestEMQRestartCostsNoStall(t *testing.T) {
	n := newNode(t)
	n.enqueue("JOB1")
	n.claim(10)
	n.now += 1000
	n.s.Epoch++
	recovered, dead := n.stalledCheck(1, 10)
	require.Equal(t, []string{"JOB1"}, recovered)
	require.Empty(t, dead)
	require.NotContains(t, n.row("JOB1"), "stalled")
	n.claim(10)
	n.now += 10
	recovered, dead = n.stalledCheck(1, 10)
	require.Empty(t, recovered)
	require.Equal(t, []string{"JOB1"}, dead)
}

func TestEMQEveryDeadJobIsListed(t *testing.T) {
	n := newNode(t)
	const jobs = 10_001
	for i := range jobs {
		id := fmt.Sprintf("JOB%05d", i)
		n.enqueue(id)
		_, token := n.claim(10)
		require.Equal(t, `$"dead"`, n.fail(id, token, 0, 1))
	}
	dead := n.members(fence.Dead)
	require.Len(t, dead, jobs)
	for id := range dead {
		require.Equal(t, "dead", n.row(id)["state"])
	}
	require.Equal(t, map[string]string{"count": "10001"}, n.hash("metrics:failed"))
}

func TestEMQOrphansAreCounted(t *testing.T) {
	n := newNode(t)
	n.line("ZADD emq:{q}:pending 0 JOB1 0 JOB2")
	n.line("ZADD emq:{q}:schedule 1 JOB3")
	n.line("ZADD emq:{q}:active 1 JOB4")
	n.claim(10)
	n.promote(10)
	n.stalledCheck(1, 10)
	require.EqualValues(t, 4, n.s.Stats.OrphansDropped)
}

func TestEMQClaimDropsUpTo128OrphansAndTakesTheNext(t *testing.T) {
	for _, orphans := range []int{128, 129} {
		n := newNode(t)
		for i := range orphans {
			n.do("ZADD", "~pending", "0", fmt.Sprintf("JOB%03d", i))
		}
		n.enqueue("JOBx")
		id, _ := n.claim(10)
		if orphans == 128 {
			require.Equal(t, "JOBx", id)
			continue
		}
		require.Empty(t, id)
		require.Len(t, n.members(fence.Pending), 2)
	}
}

// TestEMQGuardComesAfterTheDomain holds the write guard's place: an answer that writes nothing is given whatever
// the guard says, and the guard speaks before a key of another type does.
func TestEMQGuardComesAfterTheDomain(t *testing.T) {
	n := newNode(t)
	n.enqueue("JOB1")
	n.enqueue("JOB2")
	_, token := n.claim(10)
	n.schedule("JOB3", 0)
	n.enqueue("JOB5")
	n.line("HSET emq:{q}:job:JOB4 state dead attempts 1")
	n.line("ZADD emq:{q}:dead 0 JOB4")
	n.guard = commands.ErrOOM
	oom := string(commands.ErrOOM)
	require.Equal(t, ":0", n.enqueue("JOB1"))
	require.Equal(t, oom, n.enqueue("JOB9"))
	require.Equal(t, ":0", n.schedule("JOB1", 5))
	require.Equal(t, oom, n.schedule("JOB9", 5))
	require.Equal(t, ":0", n.complete("JOB9", "1"))
	require.Equal(t, "EMQSTALE complete token mismatch", n.complete("JOB1", "9"))
	require.Equal(t, oom, n.complete("JOB1", token))
	require.Equal(t, ":-1", n.extend("JOB9", "1", 5))
	require.Equal(t, oom, n.extend("JOB1", token, 5))
	require.Equal(t, `*[$"JOB9"]`, n.line("EMQ.EXTENDS 2 ~active ~ 5 JOB9 1"))
	require.Equal(t, oom, n.line("EMQ.EXTENDS 2 ~active ~ 5 JOB9 1 JOB1 "+token))
	require.Equal(t, "EMQSTALE job gone", n.fail("JOB9", "1", 0, 3))
	require.Equal(t, oom, n.fail("JOB1", token, 0, 3))
	require.Equal(t, "EMQSTALE delay lease not held", n.delay("JOB2", "0", 5))
	require.Equal(t, oom, n.delay("JOB1", token, 5))
	require.Equal(t, "EMQSTALE requeue lease not held", n.requeue("JOB2", "0"))
	require.Equal(t, oom, n.requeue("JOB1", token))
	require.Equal(t, "EMQSTATE not dead", n.reprocess("JOB1"))
	require.Equal(t, oom, n.reprocess("JOB4"))
	require.Equal(t, "EMQSTATE not scheduled", n.reschedule("JOB1", 5))
	require.Equal(t, oom, n.reschedule("JOB3", 5))
	require.Equal(t, ":0", n.promote(0))
	require.Equal(t, oom, n.promote(1))
	recovered, _ := n.stalledCheck(1, 10)
	require.Empty(t, recovered)
	n.now += 10
	require.Equal(t, oom, n.line("EMQ.STALLED.CHECK 4 ~active ~pending ~dead ~ 1 10"))
	require.Equal(t, oom, n.line("EMQ.FAILURES.INCR 1 ~stream:s:failures:g e"))
	require.Equal(t, oom, n.line("EMQ.PUBLISH 1 ~events done JOB1"))
	require.Equal(t, oom, n.line("EMQ.CLAIM 3 ~pending ~active ~ 5"))
	require.Equal(t, "*[]", n.line("EMQ.CLAIM 3 emq:{p}:pending emq:{p}:active emq:{p}: 5"))
	require.Equal(t, "+OK", n.do("EMQ.INSTALL"))

	n.guard = nil
	n.line("SET emq:{w}:pending text")
	require.Equal(t, string(commands.ErrWrongType), n.line("EMQ.ENQUEUE 2 emq:{w}:job:JOB1 emq:{w}:pending JOB1 p"))
	n.guard = commands.ErrOOM
	require.Equal(t, oom, n.line("EMQ.ENQUEUE 2 emq:{w}:job:JOB1 emq:{w}:pending JOB1 p"))
	require.Empty(t, n.published)
}

func TestEMQFenceIsReadAsTheCaller(t *testing.T) {
	n := newNode(t)
	n.denied[fence.VersionKey] = commands.KeyAccess
	const refused = "NOPERM No permissions to access a key"
	require.Equal(t, refused, n.enqueue("JOB1"))
	require.Equal(t, refused, n.do("EMQ.INSTALL"))
	require.Equal(t, refused, n.do("TRA.INFO"))
	require.Equal(t, "EMQLAYOUT this verb takes 2 keys", n.do("EMQ.ENQUEUE", "1", "~job:JOB1", "~pending", "JOB1", "p"))

	n.denied[fence.VersionKey] = commands.KeyUpdate
	require.Equal(t, ":1", n.enqueue("JOB1"))
	require.Equal(t, "+OK", n.do("EMQ.INSTALL"))
	require.Equal(t, ":1", n.do("DEL", fence.VersionKey))
	require.Equal(t, refused, n.do("EMQ.INSTALL"))
}

func TestEMQPublishedEventIsJSON(t *testing.T) {
	n := newNode(t)
	require.Equal(t, ":1", n.do("EMQ.PUBLISH", "1", "~events", "done", "JOB1", "b", "\"\\/\n\x00\x7fé", "a", "x\xffy", "b", ""))
	require.Equal(t, []string{"emq:{q}:events",
		`{"event":"done","job":"JOB1","b":"\"\\/\u000a\u0000\u007fé","a":"x` + "\uFFFD" + `y","b":""}`}, n.published)
	require.True(t, json.Valid([]byte(n.published[1])))
	require.Empty(t, n.effects)
}

func TestEMQHotVerbsAllocateNothing(t *testing.T) {
	n := newNode(t)
	enqueue := words("EMQ.ENQUEUE 2 emq:{q}:job:JOB1 emq:{q}:pending JOB1 payload")
	claim := words("EMQ.CLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 1000")
	extend := words("EMQ.EXTEND 2 emq:{q}:active emq:{q}:job:JOB1 JOB1 1 2000")
	complete := words("EMQ.COMPLETE 3 emq:{q}:active emq:{q}:job:JOB1 emq:{q}: JOB1 1")
	stale := words("EMQ.COMPLETE 3 emq:{q}:active emq:{q}:job:JOB1 emq:{q}: JOB1 9")
	for _, large := range []bool{false, true} {
		if large {
			for i := range 2000 {
				n.enqueue(fmt.Sprintf("JOBx%04d", i))
				n.do("ZADD", "~active", "1", fmt.Sprintf("JOBx%04d", i))
			}
		}
		cycle := func() {
			for _, call := range [][][]byte{enqueue, claim, extend, stale, complete} {
				n.run(call)
				n.call.Tx.Commit()
			}
		}
		cycle()
		require.Equal(t, ":1\r\n", string(n.reply.Bytes()))
		require.Zero(t, testing.AllocsPerRun(200, cycle), "large sets: %v", large)
	}
}
