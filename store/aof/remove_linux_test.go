package aof_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/aof"
	"github.com/echomq/emqd/store/rdb"
)

// shortened is a log on a disk that is made short: an increment of 60,000 bytes, of which before is told, is removed as e says.
func shortened(t *testing.T, before func(name string), e *aof.Easing) {
	dir := t.TempDir()
	l, err := aof.Open(aof.Disk{}, dir, prefix, false)
	require.NoError(t, err)
	w, err := l.Start(1, 3)
	require.NoError(t, err)
	f := newFeed()
	for range 60 {
		f.set(w, 0, "k", string(make([]byte, 1000)))
	}
	require.NoError(t, w.Sync())
	staged, err := l.Stage(1, 4)
	require.NoError(t, err)
	old := l.Before(w.Name(), true)
	next := staged.Begin(w)
	require.NoError(t, w.Seal())
	base, item, err := l.Base()
	require.NoError(t, err)
	out, err := rdb.NewWriter(io.NewOffsetWriter(base, 0), rdb.Version10)
	require.NoError(t, err)
	require.NoError(t, out.Aux(aof.AuxSeq, "60"))
	require.NoError(t, out.Close())
	require.NoError(t, base.Close())
	before(filepath.Join(dir, w.Name()))
	require.NoError(t, l.Switch(item, old, e))
	require.NoFileExists(t, filepath.Join(dir, w.Name()))
	require.NoFileExists(t, filepath.Join(dir, gone))
	require.NoError(t, next.Close())
	_, err = aof.Verify(aof.Disk{}, dir, prefix)
	require.NoError(t, err)
}

const gone = "temp-" + prefix + ".gone"

// TestRemoveInSteps cuts a file from its end before it is removed. Meanwhile views are of what has taken its place.
func TestRemoveInSteps(t *testing.T) {
	var in string
	var sizes []int64
	e := &aof.Easing{Step: 10_000, Rest: func() bool {
		require.NoFileExists(t, in)
		info, err := os.Stat(filepath.Join(filepath.Dir(in), gone))
		require.NoError(t, err)
		sizes = append(sizes, info.Size())
		view, err := aof.OpenView(aof.Disk{}, filepath.Dir(in), prefix)
		require.NoError(t, err)
		require.NotContains(t, view.Manifest().Incrs, aof.Item{Name: filepath.Base(in), Seq: 1, Kind: 'i'})
		require.NoError(t, view.Close())
		return len(sizes) < 4
	}}
	shortened(t, func(name string) { in = name }, e)
	require.Len(t, sizes, 4)
	for i := range sizes {
		require.Equal(t, sizes[0]-int64(i)*e.Step, sizes[i])
	}
}

// TestRemoveLeavesOthersWhole removes a file that a backup holds and one that has another name: they keep it whole.
func TestRemoveLeavesOthersWhole(t *testing.T) {
	e := &aof.Easing{Step: 10_000, Rest: func() bool {
		require.Fail(t, "it is cut")
		return true
	}}
	var view *aof.View
	shortened(t, func(name string) {
		var err error
		view, err = aof.OpenView(aof.Disk{}, filepath.Dir(name), prefix)
		require.NoError(t, err)
	}, e)
	state, err := view.Copy(filepath.Join(t.TempDir(), "copy"))
	require.NoError(t, err)
	require.EqualValues(t, 60, state.Records)
	require.NoError(t, view.Close())

	link := filepath.Join(t.TempDir(), "link")
	var whole []byte
	shortened(t, func(name string) {
		require.NoError(t, os.Link(name, link))
		var err error
		whole, err = os.ReadFile(link)
		require.NoError(t, err)
	}, e)
	now, err := os.ReadFile(link)
	require.NoError(t, err)
	require.Equal(t, whole, now)
}
