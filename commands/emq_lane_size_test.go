package commands_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/fence"
)

// A lane of a million jobs: every step does the same few things as in a short one, and draining works in bounded
// steps that leave no key behind.
func TestEMQLaneOfAMillionJobs(t *testing.T) {
	jobs := 1_000_000
	if testing.Short() {
		jobs = 30_000
	}
	n := newNode(t)
	n.s = commands.NewStore(2, 1) // freed memory is not overwritten here, which would take its time
	n.do("EMQ.INSTALL")
	base, group := []byte("emq:{q}:"), []byte("x")
	lane := fence.AppendLane(nil, base, group)
	call := [][]byte{[]byte("EMQ.GROUP.ENQUEUE"), []byte("3"), nil, lane, base, nil, []byte("p"), group}
	for i := range jobs {
		id := fmt.Appendf(nil, "JOB%07d", i)
		call[2], call[5] = fence.AppendRow(nil, base, id), id
		n.run(call)
		n.call.Tx.Commit()
	}
	require.Equal(t, fmt.Sprintf("*[:%d]", jobs), n.line("EMQ.GROUP.DEPTHS 1 emq:{q}: x"))

	for i := range 1000 {
		id, token, _ := n.laneClaim()
		require.Equal(t, fmt.Sprintf("JOB%07d", i), id)
		require.Len(t, n.effects, 4, "%v", n.effects)
		switch i % 3 {
		case 0:
			require.Equal(t, ":1", n.laneComplete(id, token))
			require.Len(t, n.effects, 4, "%v", n.effects)
		case 1:
			require.Equal(t, `$"scheduled"`, n.laneFail(id, token, 10))
			require.Len(t, n.effects, 4, "%v", n.effects)
		default:
			require.Equal(t, ":1", n.do("EMQ.GROUP.DELAY", "4", "~job:"+id, "~active", "~schedule", "~", id, token, "in", "5"))
			require.Len(t, n.effects, 4, "%v", n.effects)
		}
	}
	n.line("EMQ.GROUP.PAUSE 3 emq:{q}:paused emq:{q}:ring emq:{q}: x")
	require.Len(t, n.effects, 2)
	n.line("EMQ.GROUP.RESUME 3 emq:{q}:paused emq:{q}:ring emq:{q}: x")
	require.Len(t, n.effects, 3)

	left, calls := jobs-1000, 0
	for left > 0 {
		require.Equal(t, fmt.Sprintf(":%d", min(left, 2000)), n.line("EMQ.GROUP.DRAIN 3 emq:{q}:g:x:pending emq:{q}:ring emq:{q}: x"))
		left -= min(left, 2000)
		calls++
	}
	require.Equal(t, (jobs-1000+1999)/2000, calls)
	require.Equal(t, ":0", n.line("EMQ.GROUP.DRAIN 3 emq:{q}:g:x:pending emq:{q}:ring emq:{q}: x"))
	for id := range n.members(fence.Schedule) {
		n.do("DEL", "~job:"+id)
	}
	require.Equal(t, ":4", n.do("DEL", "{emq}:version", "~schedule", "~wake", "~metrics:completed"))
	require.Equal(t, ":0", n.line("DBSIZE"))
}
