package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLives lives five times on the same data, ended and killed in turn and compacted in between: the data is the same, the
// epoch is one higher, delayed jobs keep their time, and what was leased before the restart comes back without being counted.
func TestLives(t *testing.T) {
	b := newBare(t, newDisk(), proofSeed(t))
	const q = "emq:{due}:"
	check := fmt.Sprintf("EMQ.STALLED.CHECK 4 %sactive %spending %sdead %s 2 10", q, q, q, q)
	var due string
	for life := 1; life <= 5; life++ {
		require.NoError(t, b.start())
		require.EqualValues(t, life, b.srv.store.Epoch)
		if life > 1 {
			require.Equal(t, due, b.turn("ZSCORE "+q+"schedule JOBlater"))
			for b.turn(check) != "*2\r\n*1\r\n$7\r\nJOBheld\r\n*0\r\n" { // until the lease has lapsed
			}
			require.Equal(t, "$-1\r\n", b.turn("HGET "+q+"job:JOBheld stalled"), "the restart counts for nothing")
		} else {
			b.turn(fmt.Sprintf("EMQ.ENQUEUE 2 %sjob:JOBheld %spending JOBheld x", q, q))
			b.turn(fmt.Sprintf("EMQ.SCHEDULE 2 %sjob:JOBlater %sschedule JOBlater x in 1000000", q, q))
			due = b.turn("ZSCORE " + q + "schedule JOBlater")
		}
		for range 30 {
			b.work()
		}
		claim := b.turn(fmt.Sprintf("EMQ.CLAIM 3 %spending %sactive %s 1", q, q, q))
		require.True(t, strings.HasSuffix(claim, fmt.Sprintf(":%d\r\n", life)), "%q", claim)
		require.Equal(t, fmt.Sprintf("$1\r\n%d\r\n", life), b.turn("HGET "+q+"job:JOBheld lease_epoch"))
		if life%2 == 0 {
			b.rewriteNow()
			b.work()
		}
		if life%3 != 0 {
			require.NoError(t, b.srv.closeLog())
		}
		before := b.digest()
		p := newPlatter()
		for _, op := range b.d.ops {
			p.apply(op)
		}
		got, err := inspect(p.after(dropped))
		require.NoError(t, err)
		require.Equal(t, before, got.digest)
	}
}
