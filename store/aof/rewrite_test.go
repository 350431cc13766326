package aof_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/aof"
	"github.com/echomq/emqd/store/aof/memfs"
)

func set(key string) func(tx *store.Tx) {
	return func(tx *store.Tx) { tx.SetValue([]byte(key), []byte("v"), 0) }
}

// TestStaged cuts the increment that is written at every byte while the next one is there and empty, and then when it
// is in use.
func TestStaged(t *testing.T) {
	fsys := memfs.New()
	l, w, _ := begin(t, fsys)
	f := newFeed()
	f.tx(w, 0, set("a"))
	require.NoError(t, w.Sync())
	good := w.Written().Pos
	f.tx(w, 0, set("b"))
	require.NoError(t, w.Sync())
	end := w.Written().Pos
	staged, err := l.Stage(w.Epoch(), 7)
	require.NoError(t, err)
	first := filepath.Join(dir, w.Name())
	whole := fsys.Bytes(first)
	for cut := good; cut <= end; cut++ {
		after := fsys.Kill()
		after.Put(first, whole[:cut])
		files, err := aof.Check(after, dir)
		require.NoError(t, err)
		require.Empty(t, files[0].Damage, cut)
		_, w, c := begin(t, after)
		require.Len(t, c.records, 1+int((cut-good)/(end-good)), cut)
		newFeed().tx(w, 0, set("c"))
		require.NoError(t, w.Sync())
		_, c, err = load(after.Crash())
		require.NoError(t, err)
		require.Len(t, c.records, 2+int((cut-good)/(end-good)), cut)
	}
	next := staged.Begin(w)
	f.tx(next, 0, set("c"))
	require.NoError(t, next.Sync())
	_, c, err := load(fsys.Crash())
	require.NoError(t, err)
	require.Len(t, c.records, 3)
	for cut := good; cut < end; cut++ {
		after := fsys.Kill()
		after.Put(first, whole[:cut])
		_, _, err := load(after)
		var damage *aof.Damage
		require.ErrorAs(t, err, &damage, cut)
	}
	require.NoError(t, w.Seal())
	_, c, err = load(fsys.Crash())
	require.NoError(t, err)
	require.Len(t, c.records, 3)
}

// TestView copies a log while it is written, rotated and shortened.
func TestView(t *testing.T) {
	fsys := memfs.New()
	l, w, _ := begin(t, fsys)
	f := newFeed()
	for i := range 60 {
		f.tx(w, i%3, set(fmt.Sprint(i)))
		require.NoError(t, w.Flush())
		if i%7 == 3 {
			staged, err := l.Stage(w.Epoch(), uint32(i))
			require.NoError(t, err)
			if i%2 == 0 {
				require.NoError(t, w.Sync())
				old := w
				w = staged.Begin(w)
				require.NoError(t, old.Seal())
			}
		}
		view, err := aof.OpenView(fsys, dir, prefix)
		require.NoError(t, err)
		f.tx(w, 0, set("later"))
		require.NoError(t, w.Flush())
		to := fmt.Sprintf("/copy/%d", i)
		state, err := view.Copy(to)
		require.NoError(t, err)
		require.EqualValues(t, 2*i+1, state.Records)
		require.Nil(t, state.Tail)
		_, err = view.Copy(to)
		require.ErrorContains(t, err, "there is a log in")
		require.NoError(t, view.Close())
	}
	name := filepath.Join(dir, w.Name())
	data := fsys.Bytes(name)
	data[w.Written().Pos-5] ^= 1
	fsys.Put(name, data)
	_, err := aof.OpenView(fsys, dir, prefix)
	var damage *aof.Damage
	require.ErrorAs(t, err, &damage)
}

// TestCrashInCopy plays crashes and kills before every operation of a copy: there is a whole copy or none, and a copy that was
// not finished is made again.
func TestCrashInCopy(t *testing.T) {
	fsys := memfs.New()
	l, w, _ := begin(t, fsys)
	f := newFeed()
	f.tx(w, 0, set("before"))
	require.NoError(t, w.Sync())
	staged, err := l.Stage(w.Epoch(), 1)
	require.NoError(t, err)
	old := w
	w = staged.Begin(w)
	require.NoError(t, old.Seal())
	f.tx(w, 0, set("behind"))
	require.NoError(t, w.Sync())
	view, err := aof.OpenView(fsys, dir, prefix)
	require.NoError(t, err)
	fsys.Record(func() int64 { return 0 })
	want, err := view.Copy("/copy/there")
	fsys.Record(nil)
	require.NoError(t, err)
	whole := 0
	for _, s := range fsys.States() {
		for _, after := range []*memfs.FS{s.Alive, s.Crashed} {
			_, err := aof.Open(after, "/copy/there", prefix, false)
			got, _ := aof.Verify(after, "/copy/there", prefix)
			if err == nil && got.Records > 0 {
				whole++
				require.Equal(t, want, got, s.Before)
				continue
			}
			again, err := aof.OpenView(after, dir, prefix)
			require.NoError(t, err, s.Before)
			got, err = again.Copy("/copy/there")
			require.NoError(t, err, s.Before)
			require.Equal(t, want, got, s.Before)
			require.NoError(t, again.Close())
		}
	}
	require.Greater(t, len(fsys.States()), 20)
	require.Positive(t, whole)
	require.NoError(t, view.Close())
}
