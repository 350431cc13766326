package resp

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// workOf gives in to a Reader in pieces, without moving it, and returns the
// arguments of the one request and the bytes that were looked at.
func workOf(t *testing.T, in []byte, piece int) (args [][]byte, work int) {
	var r Reader
	for end := piece; ; end += piece {
		end = min(end, len(in))
		got, n, err := r.Next(in[:end], args, Limits{MaxBulk: DefaultMaxBulk})
		require.NoError(t, err)
		if args = got; n > 0 || end == len(in) {
			require.Equal(t, len(in), end)
			return args, r.work
		}
	}
}

// The work is counted, not timed: payloads are never looked at, and other bytes
// a few times however small the pieces are.
func TestWorkIsLinear(t *testing.T) {
	payload := make([]byte, 100_000_000)
	big := bytes.Join([][]byte{[]byte("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100000000\r\n"), payload, []byte("\r\n")}, nil)
	args, work := workOf(t, big, 16<<10)
	require.Len(t, args, 3)
	require.Len(t, args[2], len(payload))
	require.Less(t, work, 200)

	for name, c := range map[string]struct {
		in    string
		piece int
		args  int
	}{
		"tiny arguments":              {"*1000000\r\n" + strings.Repeat("$1\r\na\r\n", 1_000_000), 1000, 1_000_000},
		"tiny arguments byte by byte": {"*100000\r\n" + strings.Repeat("$0\r\n\r\n", 100_000), 1, 100_000},
		"longer lengths byte by byte": {"*1000\r\n" + strings.Repeat("$123\r\n"+strings.Repeat("x", 123)+"\r\n", 1000), 1, 1000},
		"inline byte by byte":         {strings.Repeat("ab ", 20_000) + "\r\n", 1, 20_000},
		"endless length":              {"*1\r\n$" + strings.Repeat("1", 60_000), 1, 0},
		"endless line with NUL":       {"a\x00" + strings.Repeat("b", 60_000), 1, 0},
	} {
		args, work := workOf(t, []byte(c.in), c.piece)
		require.Len(t, args, c.args, name)
		require.LessOrEqual(t, work, 3*len(c.in), name)
	}
}
