package commands

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store"
)

func TestScanCursor(t *testing.T) {
	for _, text := range []string{"abc", "18446744073709551616", "", "1x"} {
		_, err := scanCursor([]byte(text))
		require.Equal(t, errCursor, err, text)
	}
	n, err := scanCursor([]byte("18446744073709551615"))
	require.NoError(t, err)
	require.EqualValues(t, uint64(1<<64-1), n)
}

func TestParseScan(t *testing.T) {
	parse := func(text string, kind store.Kind) (scan, error) {
		var args [][]byte
		for _, w := range strings.Fields(text) {
			args = append(args, []byte(w))
		}
		return parseScan(7, args, kind)
	}
	s, err := parse("MATCH a* COUNT 5 TYPE hash", store.KindNone)
	require.NoError(t, err)
	require.Equal(t, scan{cursor: 7, pattern: []byte("a*"), count: 5, typ: []byte("hash")}, s)
	s, err = parse("count 3 match *", store.KindSet)
	require.NoError(t, err)
	require.Equal(t, scan{cursor: 7, count: 3}, s)
	s, err = parse("novalues", store.KindHash)
	require.NoError(t, err)
	require.True(t, s.nameOnly)
	for _, bad := range []struct {
		text string
		kind store.Kind
		want error
	}{
		{"COUNT 0", store.KindNone, ErrSyntax}, {"COUNT -1", store.KindNone, ErrSyntax}, {"COUNT x", store.KindNone, ErrNotInteger},
		{"COUNT", store.KindNone, ErrSyntax}, {"MATCH", store.KindNone, ErrSyntax}, {"TYPE set", store.KindSet, ErrSyntax},
		{"what", store.KindSet, ErrSyntax}, {"NOVALUES", store.KindSet, errNoValues}, {"NOSCORES", store.KindHash, errNoScores},
	} {
		_, err := parse(bad.text, bad.kind)
		require.Equal(t, bad.want, err, bad.text)
	}
}
