package server

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/script"
)

// listen subscribes a new session by a command and returns a function that takes the messages that it got since.
func (n *pumped) listen(command string) (heard func() []string) {
	n.t.Helper()
	s := n.srv.open(silent{}, "test:9", "test:2")
	n.srv.dispatch(s, splitArgs(command))
	s.out = nil
	return func() (got []string) {
		n.t.Helper()
		for rest := s.out; len(rest) > 0; {
			v, size, err := script.Decode(rest)
			require.NoError(n.t, err)
			got = append(got, v.Elems[len(v.Elems)-1].Text)
			rest = rest[size:]
		}
		s.out = nil
		return got
	}
}

func TestPumpPublishesItsTransitions(t *testing.T) {
	n := newPumped(t, func(c *Config) { c.EMQEvents, c.PumpMaxStalled = true, 1 })
	n.schedule("JOB1", 0)
	heard := n.listen("SUBSCRIBE emq:{q}:events")
	other := n.listen("PSUBSCRIBE emq:{other}:*")
	n.pass(pumpTick)
	require.Equal(t, []string{`{"event":"pending","job":"JOB1"}`}, heard())
	require.Contains(t, n.do("EMQ.CLAIM 3 ~pending ~active ~ 100"), "JOB1")
	require.Equal(t, []string{`{"event":"active","job":"JOB1"}`}, heard())
	n.pass(pumpTick)
	got := heard()
	require.Len(t, got, 1)
	require.Contains(t, got[0], `{"event":"dead","job":"JOB1"`)
	require.Empty(t, other())
}

func TestLifecycleEventsAllocateNothingWhileNobodyListens(t *testing.T) {
	n := newPumped(t)
	add := splitArgs("EMQ.ENQUEUE 2 emq:{q}:job:JOB1 emq:{q}:pending JOB1 p")
	settle := splitArgs("EMQ.COMPLETE 3 emq:{q}:active emq:{q}:job:JOB1 emq:{q}: JOB1 0")
	n.s.out = nil
	cycle := func() {
		n.s.out = n.s.out[:0]
		n.srv.dispatch(n.s, add)
		n.srv.dispatch(n.s, settle)
	}
	cycle()
	require.Equal(t, ":1\r\n:1\r\n", string(n.s.out))
	off := testing.AllocsPerRun(200, cycle)
	n.srv.cfg.EMQEvents = true
	require.Equal(t, off, testing.AllocsPerRun(200, cycle))
}
