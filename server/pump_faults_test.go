package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// logged has the node's log written into the buffer that is returned.
func (n *pumped) logged() *bytes.Buffer {
	var b bytes.Buffer
	n.srv.log = slog.New(slog.NewTextHandler(&b, nil))
	return &b
}

// However many repeatables at the head of what is due are damaged, those behind them are fired, and on time.
func TestPumpFiresBehindManyDamagedRepeatables(t *testing.T) {
	n := newPumped(t)
	log := n.logged()
	const damaged = 3*pumpBudget + 7
	for i := range damaged {
		require.Equal(t, ":1", n.do(fmt.Sprintf("HSET ~repeat:bad%04d every_ms often", i)))
		require.Equal(t, ":1", n.do(fmt.Sprintf("ZADD ~repeat %d bad%04[2]d", n.now-damaged+int64(i), i)))
	}
	const every = 100
	n.repeat("good", every, n.now+every)
	n.pass(0)
	require.Equal(t, ":0", n.do("ZCARD ~pending"))
	require.Equal(t, damaged, strings.Count(log.String(), `what="repeatable bad`), "each is named")
	require.Contains(t, log.String(), `queue=q what="repeatable bad0000" reason="ERR the record of a repeatable job has no interval"`)
	log.Reset()
	for range 20 {
		at := n.next("good")
		n.pass(pumpTick)
		require.Equal(t, at+every*((n.now-at)/every), n.slot(), "the last slot that has come, not a second later")
	}
	require.Empty(t, log.String(), "and named once")
	require.Contains(t, n.do("INFO emq"), fmt.Sprintf(`pump_damaged:%d\r\n`, damaged))
	require.Equal(t, fmt.Sprintf(":%d", damaged+1), n.do("ZCARD ~repeat"))
	require.Equal(t, ":1", n.do("HSET ~repeat:bad0300 every_ms 1000 template t"))
	n.pass(pumpBackoff)
	require.Greater(t, n.next("bad0300"), n.now, "one that was mended is fired again")
}

// What a row or a lane holds stops neither the promotion nor the recovery of the other jobs of the queue, and is named once.
func TestPumpMovesWhatIsBehindADamagedJob(t *testing.T) {
	n := newPumped(t)
	log := n.logged()
	for i := range 300 { // more than a turn's budget
		id := fmt.Sprintf("JOBa%03d", i)
		require.Equal(t, ":1", n.do(fmt.Sprintf("ZADD ~schedule %d %s", n.now-1000, id)))
		require.Equal(t, "+OK", n.do("SET ~job:"+id+" text"))
	}
	require.Equal(t, ":2", n.do("HSET ~job:JOBb state scheduled group g"))
	require.Equal(t, "+OK", n.do("SET ~g:g:pending text"))
	require.Equal(t, ":2", n.do("HSET ~job:JOBc state scheduled group h"))
	require.Equal(t, ":1", n.do("HSET ~gactive h x"))
	require.Equal(t, ":2", n.do(fmt.Sprintf("ZADD ~schedule %d JOBb %[1]d JOBc", n.now-500)))
	n.schedule("JOBgood", 0)
	for _, id := range []string{"JOBs", "JOBt"} {
		require.Equal(t, ":3", n.do("HSET ~job:"+id+" state active attempts 1 lease_epoch 1"))
		require.Equal(t, ":1", n.do(fmt.Sprintf("ZADD ~active %d %s", n.now-100, id)))
	}
	require.Equal(t, ":1", n.do("HSET ~job:JOBs stalled often"))
	n.pass(0)
	require.Equal(t, `*[$"JOBgood" $"JOBt"]`, n.do("ZRANGE ~pending 0 -1"))
	require.Equal(t, `*[$"JOBs"]`, n.do("ZRANGE ~active 0 -1"))
	require.Equal(t, ":302", n.do("ZCARD ~schedule"))
	for _, line := range []string{
		`what="job JOBa000" reason="WRONGTYPE Operation against a key holding the wrong kind of value"`,
		`what="job JOBa299" reason="WRONGTYPE`, `what="job JOBb" reason="WRONGTYPE`,
		`what="job JOBc" reason="ERR hash value is not an integer"`, `what="job JOBs" reason="ERR hash value is not an integer"`,
	} {
		require.Contains(t, log.String(), line)
	}
	log.Reset()
	n.schedule("JOBlater", 400)
	n.pass(400)
	require.Equal(t, `$"pending"`, n.do("HGET ~job:JOBlater state"), "on time, though what is due before it cannot be moved")
	n.pass(10 * pumpBackoff)
	require.Empty(t, log.String())
	require.Contains(t, n.do("INFO emq"), `pump_damaged:303\r\n`)

	n.pass(faultsSpan)
	require.Contains(t, log.String(), `what="job JOBs"`, "once an hour")
}

// A set that a whole queue needs is of another type: the queue stands still, and the log says why; a full node is no fault of it.
func TestPumpNamesTheKeyThatStopsAQueue(t *testing.T) {
	n := newPumped(t)
	log := n.logged()
	n.schedule("JOB1", 0)
	require.Equal(t, "+OK", n.do("SET ~pending text"))
	require.Equal(t, "+OK", n.do("CONFIG SET maxmemory 1"))
	n.pass(0)
	require.Empty(t, log.String())
	require.Equal(t, "+OK", n.do("CONFIG SET maxmemory 0"))
	n.pass(pumpBackoff)
	n.pass(pumpBackoff)
	require.Equal(t, 1, strings.Count(log.String(), "\n"))
	require.Contains(t, log.String(), `queue=q what=schedule reason="WRONGTYPE`)
	require.Contains(t, n.do("INFO emq"), `pump_damaged:1\r\n`)
	require.Equal(t, ":1", n.do("DEL ~pending"))
	n.pass(pumpBackoff)
	require.Equal(t, `$"pending"`, n.do("HGET ~job:JOB1 state"))
}

// A signal whose parent cannot take it is named.
func TestPumpNamesTheParentThatCannotBeTold(t *testing.T) {
	n := newPumped(t)
	log := n.logged()
	require.Equal(t, "+OK", n.do("SET ~job:JOB1 text"))
	require.Equal(t, ":1", n.do(`RPUSH ~flow:outbox "q\x00JOB1\x00JOB2\x00r"`))
	n.pass(0)
	n.pass(pumpPoison)
	require.Equal(t, 1, strings.Count(log.String(), "\n"))
	require.Contains(t, log.String(), `queue=q what="job JOB1" reason="WRONGTYPE`)
	require.Equal(t, ":1", n.do("LLEN ~flow:outbox"))
}

// What is found damaged is named up to a bound.
func TestPumpNamesABoundedNumberOfFaults(t *testing.T) {
	n := newPumped(t)
	log := n.logged()
	for i := range faultsMost + 50 {
		id := fmt.Sprintf("JOB%04d", i)
		n.do("ZADD ~schedule 1 " + id)
		n.do("SET ~job:" + id + " text")
	}
	n.pass(0)
	require.Equal(t, faultsMost, strings.Count(log.String(), "\n"))
}
