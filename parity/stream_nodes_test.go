package parity

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/parity/local"
	"github.com/echomq/emqd/parity/real"
)

// TestStreamNodes fills streams of many nodes and trims them by whole ones: which entries go depends on where each
// node begins and ends, which both servers must hold alike.
func TestStreamNodes(t *testing.T) {
	t.Logf("seed %d", *randomSeed)
	rng := rand.New(rand.NewPCG(*randomSeed, 99))
	table := commands.New(commands.All()...)
	p := pair{emqd: local.New(table, 1), real: real.Start(t), table: table}
	for range 12 {
		require.NoError(t, p.differs(nodeCalls(rng, 1500), 2))
	}
}

func nodeCalls(rng *rand.Rand, n int) [][]string {
	calls := [][]string{}
	next := 1
	size := []int{3, 10, 70, 200}[rng.IntN(4)] // of the values of this stream
	value := func() string {
		switch rng.IntN(4) {
		case 0:
			return strconv.FormatInt(rng.Int64()>>rng.IntN(63)*int64(1-2*rng.IntN(2)), 10)
		case 1:
			return strings.Repeat("v", rng.IntN(size*20))
		}
		return strings.Repeat("v", rng.IntN(size))
	}
	known := func() string { return fmt.Sprintf("%d-1", 1+rng.IntN(next)) }
	for range n {
		switch rng.IntN(40) {
		case 0:
			calls = append(calls, []string{"XTRIM", "s", "MAXLEN", "~", strconv.Itoa(rng.IntN(next)), "LIMIT", strconv.Itoa(rng.IntN(300))})
		case 1:
			calls = append(calls, []string{"XTRIM", "s", "MINID", "~", strconv.Itoa(next - rng.IntN(400))})
		case 2:
			calls = append(calls, []string{"XTRIM", "s", "MAXLEN", strconv.Itoa(500 + rng.IntN(500))})
		case 3, 4:
			calls = append(calls, []string{"XDEL", "s", known(), known(), known()})
		case 5:
			calls = append(calls, []string{"XRANGE", "s", known(), "+", "COUNT", "3"}, []string{"XREVRANGE", "s", known(), "-", "COUNT", "3"})
		case 6:
			calls = append(calls, []string{"XLEN", "s"})
		default:
			add := []string{"XADD", "s", fmt.Sprintf("%d-1", next)}
			if rng.IntN(20) == 0 {
				add = []string{"XADD", "s", "MAXLEN", "~", strconv.Itoa(300 + rng.IntN(800)), fmt.Sprintf("%d-1", next)}
			}
			for i := range 1 + rng.IntN(6)/4 {
				add = append(add, fmt.Sprintf("name%d", i), value())
			}
			calls = append(calls, add)
			next += 1 + rng.IntN(2)*rng.IntN(1<<rng.IntN(12))
		}
	}
	return append(calls, []string{"XRANGE", "s", "-", "+"})
}
