package aof_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/aof"
	"github.com/echomq/emqd/store/aof/memfs"
)

// long returns a log of so many records and where each begins; at each index that large names is one too large to be copied.
func long(t *testing.T, n int, large ...int) (*memfs.FS, []int64) {
	t.Helper()
	fsys := memfs.New()
	_, w, _ := begin(t, fsys)
	f := newFeed()
	var from []int64
	for i := range n {
		require.NoError(t, w.Flush())
		from = append(from, w.Written().Pos)
		size := 10
		if slices.Contains(large, i) {
			size = 300_000
		}
		f.set(w, i%3, fmt.Sprintf("key:%d", i), strings.Repeat("v", size+i%7))
	}
	require.NoError(t, w.Sync())
	return fsys.Kill(), from
}

// TestAheadOfDamage damages and cuts records that stand in later batches than the first.
func TestAheadOfDamage(t *testing.T) {
	fsys, from := long(t, 500)
	data := fsys.Bytes(incr(1))
	for i := 1; i < len(from); i += 7 {
		flipped := bytes.Clone(data)
		flipped[bytes.IndexByte(flipped[from[i]:], 'v')+int(from[i])] ^= 1
		_, c, err := load(with(fsys, flipped))
		var damage *aof.Damage
		require.ErrorAs(t, err, &damage)
		require.Equal(t, from[i], damage.Offset)
		require.EqualValues(t, i+1, damage.Seq)
		require.Len(t, c.records, i)

		l, c, err := load(with(fsys, data[:from[i]+5]))
		require.NoError(t, err)
		require.Len(t, c.records, i)
		require.EqualValues(t, i+1, l.State().Tail.Seq)
		require.EqualValues(t, i+1, l.State().Next)
	}
}

// TestAheadLarge has records among the others that are used where the scanner has them.
func TestAheadLarge(t *testing.T) {
	for _, large := range [][]int{{0}, {199}, {50, 51, 52}, {127, 128}, {3, 100, 199}} {
		fsys, _ := long(t, 200, large...)
		_, c, err := load(fsys)
		require.NoError(t, err)
		require.Len(t, c.records, 200)
	}
}

// refuser refuses a record.
type refuser struct {
	collector
	at int
}

var errRefused = errors.New("refused")

func (r *refuser) Record(rec *aof.Record) error {
	if len(r.records) == r.at {
		return errRefused
	}
	return r.collector.Record(rec)
}

// TestAheadRefused ends the reading anywhere, at records that were not copied too.
func TestAheadRefused(t *testing.T) {
	fsys, from := long(t, 500, 10, 11, 300)
	for _, at := range []int{0, 1, 9, 10, 11, 12, 127, 128, 200, 299, 300, 301, 499} {
		l, err := aof.Open(fsys, dir, prefix, false)
		require.NoError(t, err)
		r := &refuser{at: at}
		err = l.ReplayAhead(r)
		require.ErrorIs(t, err, errRefused)
		require.ErrorContains(t, err, fmt.Sprintf("byte %d:", from[at]))
		require.Len(t, r.records, at)
		require.EqualValues(t, at+1, l.State().Records)
	}
}

// counter counts records and does nothing else.
type counter struct {
	collector
	n int
}

func (c *counter) Record(*aof.Record) error {
	c.n++
	return nil
}

func TestAheadDoesNotAllocateForEachRecord(t *testing.T) {
	const n = 5000
	fsys, _ := long(t, n)
	allocs := testing.AllocsPerRun(3, func() {
		l, err := aof.Open(fsys, dir, prefix, false)
		require.NoError(t, err)
		c := &counter{}
		require.NoError(t, l.ReplayAhead(c))
		require.Equal(t, n, c.n)
	})
	require.Less(t, allocs, 300.0)
}
