package aof_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/aof"
	"github.com/echomq/emqd/store/aof/memfs"
	"github.com/echomq/emqd/store/rdb"
)

// repaired repairs the log in fsys and returns the records of the copy.
func repaired(t *testing.T, fsys *memfs.FS) ([]string, []aof.FileReport) {
	t.Helper()
	reports, err := aof.Repair(fsys, dir, "/out", 7)
	require.NoError(t, err)
	l, err := aof.Open(fsys, "/out", prefix, false)
	require.NoError(t, err)
	c := &collector{}
	require.NoError(t, l.Replay(c))
	require.Nil(t, l.State().Tail)
	return append(c.keys, c.records...), reports
}

// TestRepairFlip flips bytes all over the log: at most the record with the flip is lost, and in its own database
// everything else happens.
func TestRepairFlip(t *testing.T) {
	fsys, records, ends := recorded(t)
	data := logEnd(fsys, ends)
	step := 5
	if testing.Short() {
		step = 31
	}
	for i := 0; i < len(data); i += step {
		flipped := slices.Clone(data)
		flipped[i] ^= 4
		c := with(fsys, flipped)
		got, _ := repaired(t, c)
		lost := slices.IndexFunc(ends, func(end int64) bool { return int64(i) < end })
		without := slices.Delete(slices.Clone(records), lost, lost+1)
		require.True(t, slices.Equal(got, without) || slices.Equal(got, records), "byte %d: %q", i, got)
		before := c.Bytes(incr(1))
		require.Equal(t, flipped, before)
	}
}

func TestCheck(t *testing.T) {
	fsys, _, ends := recorded(t)
	reports, err := aof.Check(fsys, dir)
	require.NoError(t, err)
	require.Len(t, reports, 1)
	r := reports[0]
	require.Equal(t, []int64{5, 1, 5, 1}, []int64{r.Records, r.First, r.Last, r.Epoch})
	require.True(t, r.Damage == nil && r.Tail == nil && !r.Flaw)

	data := logEnd(fsys, ends)
	data[3] = 'X'
	data[bytes.Index(data, []byte("gamma"))] = 'G'
	reports, err = aof.Check(with(fsys, append(data, "#emqd 6 9"...)), dir)
	require.NoError(t, err)
	r = reports[0]
	require.EqualValues(t, 4, r.Records)
	require.Len(t, r.Damage, 1)
	require.ErrorContains(t, r.Damage[0], fmt.Sprintf("a wrong checksum at byte %d, record 2", ends[0]))
	require.True(t, r.Tail != nil && r.Flaw)

	c := fsys.Kill()
	require.NoError(t, c.Remove(dir+"/"+prefix+".manifest"))
	_, err = aof.Check(c, dir)
	require.ErrorContains(t, err, "manifest is missing")
	got, _ := repaired(t, c)
	require.Len(t, got, 5)
}

// snapshotOf returns an RDB file with n keys.
func snapshotOf(t *testing.T, n int) []byte {
	var b bytes.Buffer
	w, err := rdb.NewWriter(&b, rdb.Version10)
	require.NoError(t, err)
	require.NoError(t, w.SelectDB(0, uint64(n), 0))
	for i := range n {
		require.NoError(t, w.Key(fmt.Appendf(nil, "key%d", i), 0, &rdb.Value{Kind: rdb.KindString, Str: []byte(strings.Repeat("v", 100))}))
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestBase(t *testing.T) {
	fsys := memfs.New()
	fsys.Put("/data/dump.rdb", snapshotOf(t, 10))
	l, err := aof.Open(fsys, dir, prefix, true)
	require.NoError(t, err)
	require.NoError(t, l.Import("/data/dump.rdb"))
	crashed := fsys.Kill()
	_, err = aof.Open(crashed, dir, prefix, false)
	require.ErrorContains(t, err, "the manifest")
	_, err = aof.Open(crashed, dir, prefix, true)
	require.NoError(t, err, "a copy that was not finished")

	require.NoError(t, l.Replay(&collector{}))
	w, err := l.Start(1, 1)
	require.NoError(t, err)
	newFeed().set(w, 0, "a", "b")
	require.NoError(t, w.Close())
	_, c, err := load(fsys)
	require.NoError(t, err)
	require.Len(t, c.keys, 10)
	require.Len(t, c.records, 1)

	base := dir + "/" + aof.BaseName(prefix, 1)
	damaged := fsys.Kill()
	data := damaged.Bytes(base)
	damaged.Put(base, data[:len(data)-60])
	_, _, err = load(damaged)
	require.ErrorContains(t, err, "the base "+aof.BaseName(prefix, 1)+" is damaged")
	got, reports := repaired(t, damaged)
	require.Len(t, reports[0].Damage, 1)
	require.Len(t, got, int(reports[0].Keys)+1)
	require.Greater(t, len(got), 3)
	require.NoError(t, damaged.Remove(base))
	_, _, err = load(damaged)
	require.ErrorContains(t, err, "the base "+base+", which the manifest names, is missing")
}
