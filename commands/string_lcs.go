package commands

import (
	"slices"

	"github.com/echomq/emqd/store/num"
)

const (
	errLCSKind   Error = "ERR The specified keys must contain string values"
	errLCSBoth   Error = "ERR If you want both the length and indexes, please just use IDX."
	errLCSMemory Error = "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len"
)

// lcsOptions are the words behind the keys of LCS.
type lcsOptions struct {
	length, index, lengths bool
	minimum                int64
}

func parseLCS(args [][]byte) (o lcsOptions, err error) {
	for i := 0; i < len(args); i++ {
		switch {
		case Is(args[i], "idx"):
			o.index = true
		case Is(args[i], "len"):
			o.length = true
		case Is(args[i], "withmatchlen"):
			o.lengths = true
		case Is(args[i], "minmatchlen") && i+1 < len(args):
			i++
			n, ok := num.Int(args[i])
			if !ok {
				return o, ErrNotInteger
			}
			o.minimum = max(n, 0)
		default:
			return o, ErrSyntax
		}
	}
	if o.index && o.length {
		return o, errLCSBoth
	}
	return o, nil
}

// cmdLCS handles LCS key1 key2 [LEN] [IDX] [MINMATCHLEN n] [WITHMATCHLEN].
//
// Keys:    strings
// Reply:   the subsequence; with LEN its length; with IDX a map of the matching ranges and the length
// Errors:  not strings, syntax, LEN with IDX, too long
// Effects: none
func cmdLCS(c *Call) error {
	a, _, errA := c.Tx.Value(c.Args[1])
	b, _, errB := c.Tx.Value(c.Args[2])
	if errA != nil || errB != nil {
		return errLCSKind
	}
	o, err := parseLCS(c.Args[3:])
	if err != nil {
		return err
	}
	if o.length {
		c.Reply.Int(int64(lcsLength(a, b)))
		return nil
	}
	// Both lengths are below 2^32, so the product does not overflow.
	if uint64(len(a)+1)*uint64(len(b)+1)*4 > uint64(c.Tx.Store().Limits.StringMax) {
		return errLCSMemory
	}
	m := newLCS(a, b)
	if o.index {
		m.replyRanges(c.Reply, o)
		return nil
	}
	c.Reply.Bulk(m.text())
	return nil
}

// lcsLength returns the length of the longest common subsequence, in memory for one row.
func lcsLength(a, b []byte) uint32 {
	if len(a) < len(b) {
		a, b = b, a
	}
	row := make([]uint32, len(b)+1)
	for _, x := range a {
		diagonal := uint32(0)
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

// lcs is the table of the lengths for all pairs of prefixes of a and b.
type lcs struct {
	a, b   []byte
	length []uint32
}

func newLCS(a, b []byte) *lcs {
	w := len(b) + 1
	m := &lcs{a: a, b: b, length: make([]uint32, (len(a)+1)*w)}
	for i, x := range a {
		above, row := m.length[i*w:(i+1)*w], m.length[(i+1)*w:(i+2)*w]
		for j, y := range b {
			if x == y {
				row[j+1] = above[j] + 1
			} else {
				row[j+1] = max(above[j+1], row[j])
			}
		}
	}
	return m
}

func (m *lcs) at(i, j int) uint32 { return m.length[i*(len(m.b)+1)+j] }

// walk calls match for each matching pair of positions from the last to the first.
func (m *lcs) walk(match func(i, j int)) {
	for i, j := len(m.a), len(m.b); i > 0 && j > 0; {
		switch {
		case m.a[i-1] == m.b[j-1]:
			i, j = i-1, j-1
			match(i, j)
		case m.at(i-1, j) > m.at(i, j-1):
			i--
		default:
			j--
		}
	}
}

func (m *lcs) text() []byte {
	out := make([]byte, 0, m.at(len(m.a), len(m.b)))
	m.walk(func(i, _ int) { out = append(out, m.a[i]) })
	slices.Reverse(out)
	return out
}

// replyRanges appends the map of IDX: runs of matches in both strings, the last first.
func (m *lcs) replyRanges(r *Reply, o lcsOptions) {
	r.Map(2)
	r.Text("matches")
	mark, runs := r.Later(), 0
	var i0, j0, n int // the present run
	flush := func() {
		if n > 0 && int64(n) >= o.minimum {
			runs++
			replyRun(r, i0, j0, n, o.lengths)
		}
	}
	m.walk(func(i, j int) {
		if n > 0 && i == i0-1 && j == j0-1 {
			i0, j0, n = i, j, n+1
			return
		}
		flush()
		i0, j0, n = i, j, 1
	})
	flush()
	r.Fill(mark, func() { r.Array(runs) })
	r.Text("len")
	r.Int(int64(m.at(len(m.a), len(m.b))))
}

func replyRun(r *Reply, i, j, n int, length bool) {
	if length {
		r.Array(3)
	} else {
		r.Array(2)
	}
	for _, from := range [2]int{i, j} {
		r.Array(2)
		r.Int(int64(from))
		r.Int(int64(from + n - 1))
	}
	if length {
		r.Int(int64(n))
	}
}
