package commands

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/echomq/emqd/store"
)

func TestStreamCommandsDoNotAllocate(t *testing.T) {
	s := store.New(1, 1)
	tx := s.Begin(0, 1, false)
	x, err := tx.Stream([]byte("s"))
	require.NoError(t, err)
	x.CreateGroup([]byte("g"), store.StreamID{}, 0)
	x.CreateGroup([]byte("h"), store.StreamID{}, 0)
	tx.Commit()
	for _, call := range [][]string{
		{"XADD", "s", "*", "field", "value", "other", "value"},
		{"XADD", "s", "MAXLEN", "~", "1000", "*", "field", "value", "other", "value"},
		{"XREADGROUP", "GROUP", "g", "c", "COUNT", "1", "STREAMS", "s", ">"},
		{"XREADGROUP", "GROUP", "h", "c", "COUNT", "1", "NOACK", "STREAMS", "s", ">"},
		{"XREAD", "COUNT", "2", "STREAMS", "s", "0"},
		{"XLEN", "s"},
		{"XRANGE", "s", "-", "+", "COUNT", "5"},
		{"XREVRANGE", "s", "+", "-", "COUNT", "5"},
		{"XACK", "s", "g", "1-1"},
		{"XTRIM", "s", "MAXLEN", "~", "2000"},
		{"XPENDING", "s", "g", "-", "+", "3"},
	} {
		require.Zero(t, allocations(t, s, call), call)
	}
}

// TestStreamIDs reads what it has spelt.
func TestStreamIDs(t *testing.T) {
	number := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, math.MaxUint64, math.MaxInt64, math.MaxInt64 + 1}))
	rapid.Check(t, func(t *rapid.T) {
		id := store.StreamID{Ms: number.Draw(t, "ms"), Seq: number.Draw(t, "seq")}
		text := id.Append(nil)
		got, err := streamID(text, 7)
		require.NoError(t, err)
		require.Equal(t, id, got)
		if next, ok := id.Next(); ok {
			back, ok := next.Prev()
			require.True(t, ok)
			require.Equal(t, id, back)
			require.True(t, id.Less(next))
			start, err := streamStart(append([]byte{'('}, text...))
			require.NoError(t, err)
			require.Equal(t, next, start)
		} else {
			require.Equal(t, store.MaxStreamID, id)
		}
	})
}

func FuzzStreamID(f *testing.F) {
	for _, seed := range []string{"1-1", "-", "+", "(1-2", "5", "1-*", "18446744073709551615-18446744073709551615", "--1", "1-", "(+"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func([]byte) (store.StreamID, error){
			streamStart, streamEnd,
			func(b []byte) (store.StreamID, error) { return streamID(b, 0) },
			func(b []byte) (store.StreamID, error) {
				n, err := parseNewID(b)
				return n.StreamID, err
			},
		} {
			id, err := read([]byte(text))
			if err != nil {
				require.Contains(t, []error{errStreamID, errStreamRangeStart, errStreamRangeEnd}, err)
				continue
			}
			again, err := streamID(id.Append(nil), 0)
			require.NoError(t, err)
			require.Equal(t, id, again)
		}
	})
}
