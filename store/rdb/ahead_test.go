package rdb

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// mixedFile writes keys of all kinds into three databases.
func mixedFile(t *testing.T, keys int) []byte {
	large := &Value{Kind: KindZSet}
	for i := range 1000 {
		large.Scored = append(large.Scored, Scored{fmt.Append(nil, "member ", i), float64(-i)})
	}
	var values []*Value
	for i := range 20 {
		values = append(values, anyValue(Version80).Example(i))
	}
	var buf bytes.Buffer
	w, err := NewWriter(&buf, Version80)
	require.NoError(t, err)
	require.NoError(t, w.Aux("redis-bits", "64"))
	for db := range 3 {
		require.NoError(t, w.SelectDB(db, uint64(keys), uint64(db)))
		for i := range keys {
			v := values[i%len(values)]
			if i == keys/2 {
				v = large
			}
			require.NoError(t, w.Key(fmt.Append(nil, "key ", i), int64(i%2), v))
		}
	}
	require.NoError(t, w.SelectDB(7, 0, 0))
	require.NoError(t, w.Close())
	return buf.Bytes()
}

// told is everything that a reader tells of a file, in order, and its last error.
func told(t require.TestingT, raw []byte, ahead bool) (all []string, err error) {
	r, err := NewReader(iotest.HalfReader(bytes.NewReader(raw)))
	require.NoError(t, err)
	hints := 0
	r.OnResize = func(db int, keys, deadlines uint64) {
		hints++
		all = append(all, fmt.Sprint("resize ", db, keys, deadlines))
	}
	key := func(e *Entry) error {
		all = append(all, fmt.Sprint(e.DB, string(e.Key), e.ExpireAt, describe(&e.Value)))
		return nil
	}
	if !ahead {
		return all, r.Each(key)
	}
	last := int64(0)
	soon := 0
	err = r.EachAhead(key, func(e []Entry) { soon += len(e) }, func(at int64) {
		require.Greater(t, at, last)
		last = at
	})
	if err == nil {
		require.Equal(t, r.Offset(), last)
		require.Equal(t, len(all)-hints, soon)
	}
	return all, err
}

func TestAheadTellsTheSame(t *testing.T) {
	for _, keys := range []int{0, 1, 150} {
		raw := mixedFile(t, keys)
		want, err := told(t, raw, false)
		require.NoError(t, err)
		got, err := told(t, raw, true)
		require.NoError(t, err)
		require.Equal(t, want, got)
		for i := range 4 {
			cut := raw[:20+(len(raw)-20)*i/4]
			want, wrong := told(t, cut, false)
			require.Error(t, wrong)
			got, err = told(t, cut, true)
			require.EqualError(t, err, wrong.Error())
			require.Equal(t, want, got)
		}
	}
}

func TestAheadStopsAtAnError(t *testing.T) {
	raw := benchFile(t, 10_000)
	for _, at := range []int{1, 511, 512, 513, 9_999} {
		r, err := NewReader(bytes.NewReader(raw))
		require.NoError(t, err)
		stop, seen := errors.New("enough"), 0
		require.ErrorIs(t, r.EachAhead(func(*Entry) error {
			if seen++; seen == at {
				return stop
			}
			return nil
		}, func([]Entry) {}, func(int64) {}), stop)
		require.Equal(t, at, seen)
	}
}
