package aof_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/aof"
	"github.com/echomq/emqd/store/aof/memfs"
	"github.com/echomq/emqd/store/rdb"
)

const (
	dir    = "/data/appendonlydir"
	prefix = "appendonly.aof"
)

// collector keeps what it is given as texts, a record a line.
type collector struct {
	keys    []string
	records []string
}

func (c *collector) Key(e *rdb.Entry) error {
	c.keys = append(c.keys, string(e.Key))
	return nil
}

func (c *collector) Record(r *aof.Record) error {
	var words []string
	for _, cmd := range r.Commands {
		words = append(words, fmt.Sprintf("@%d", cmd.DB))
		for _, a := range cmd.Args {
			words = append(words, string(a))
		}
	}
	c.records = append(c.records, strings.Join(words, " "))
	return nil
}

func (c *collector) Expect(int, int64) {}

func (c *collector) Soon(int, []byte, []byte) {}

func (c *collector) Progress(int64) {}

// load opens and replays the log in fsys, both ways, which must not differ in anything.
func load(fsys aof.FS) (*aof.Log, *collector, error) {
	l, c, err := loadBy(fsys, (*aof.Log).Replay)
	ahead, aheadC, aheadErr := loadBy(fsys, (*aof.Log).ReplayAhead)
	if !reflect.DeepEqual(err, aheadErr) || l != nil && !reflect.DeepEqual(l.State(), ahead.State()) || !reflect.DeepEqual(c, aheadC) {
		panic(fmt.Sprintf("reading ahead gives %v and %v instead of %v and %v", aheadC, aheadErr, c, err))
	}
	return ahead, aheadC, aheadErr
}

func loadBy(fsys aof.FS, replay func(*aof.Log, aof.Reader) error) (*aof.Log, *collector, error) {
	l, err := aof.Open(fsys, dir, prefix, false)
	if err != nil {
		return nil, nil, err
	}
	c := &collector{}
	return l, c, replay(l, c)
}

// begin starts a log in fsys and returns it with its writer.
func begin(t testing.TB, fsys aof.FS) (*aof.Log, *aof.Writer, *collector) {
	t.Helper()
	l, c, err := load(fsys)
	require.NoError(t, err)
	w, err := l.Start(l.State().Epoch+1, 0x5eed)
	require.NoError(t, err)
	return l, w, c
}

// feed runs transactions on a store and appends each to w.
type feed struct{ s *store.Store }

func newFeed() *feed { return &feed{store.New(4, 1)} }

func (f *feed) tx(w *aof.Writer, db int, change func(tx *store.Tx)) {
	tx := f.s.Begin(db, 1000, false)
	change(tx)
	w.Append(tx.Effects())
	tx.Commit()
}

func (f *feed) set(w *aof.Writer, db int, key, value string) {
	f.tx(w, db, func(tx *store.Tx) { tx.SetValue([]byte(key), []byte(value), 0) })
}

func incr(n int) string { return filepath.Join(dir, fmt.Sprintf("%s.%d.incr.aof", prefix, n)) }

func TestRoundTrip(t *testing.T) {
	fsys := memfs.New()
	l, w, c := begin(t, fsys)
	require.True(t, l.State().Next == 1 && len(c.records) == 0)
	f := newFeed()
	f.set(w, 0, "a", "1")
	f.tx(w, 2, func(tx *store.Tx) {
		tx.SetValue([]byte("b"), []byte("\r\n#emqd 1 2"), 0)
		tx.Select(0)
		tx.SetValue([]byte("c"), nil, 0)
	})
	f.set(w, 0, "d", strings.Repeat("x", 3000))
	require.True(t, w.Pending())
	require.NoError(t, w.Sync())
	require.False(t, w.Pending())
	want := []string{"@0 SET a 1", "@2 SET b \r\n#emqd 1 2 @0 SET c ", "@0 SET d " + strings.Repeat("x", 3000)}

	for name, after := range map[string]*memfs.FS{"killed": fsys.Kill(), "power lost": fsys.Crash()} {
		l, w, c := begin(t, after)
		require.Equal(t, want, c.records, name)
		require.Equal(t, aof.State{Epoch: 1, Next: 4, Records: 3, Bytes: l.State().Bytes}, l.State(), name)
		require.EqualValues(t, 2, w.Epoch())
		f.set(w, 3, "e", "1")
		require.NoError(t, w.Close())
		_, c, err := load(after)
		require.NoError(t, err)
		require.Equal(t, append(want[:3:3], "@3 SET e 1"), c.records)
		require.Len(t, l.Manifest().Incrs, 2)
	}
}

func TestEmptyIncrementsGo(t *testing.T) {
	fsys := memfs.New()
	for n := range 5 {
		l, w, _ := begin(t, fsys)
		require.EqualValues(t, n+1, w.Epoch())
		require.Len(t, l.Manifest().Incrs, 1)
		if n%2 == 0 {
			require.NoError(t, w.Close())
		}
		fsys = fsys.Kill()
		names, err := fsys.Names(dir)
		require.NoError(t, err)
		require.Len(t, names, 2)
	}
}

// TestFiller appends records of every length, so that filler goes on at every phase, and lets the file outgrow it.
func TestFiller(t *testing.T) {
	fsys := memfs.New()
	_, w, _ := begin(t, fsys)
	f := newFeed()
	n := 0
	for size := range 300 {
		f.set(w, 0, "k", strings.Repeat("v", size*20))
		n++
		require.NoError(t, w.Sync())
		if size%10 == 0 {
			_, c, err := load(fsys.Crash())
			require.NoError(t, err)
			require.Len(t, c.records, n)
		}
		if from, to, ok := w.Ahead(); ok && size%3 == 0 {
			require.NoError(t, aof.Fill(w.Side(), from, to))
			w.Filled(to)
		}
	}
	l, w, c := begin(t, fsys.Crash())
	require.Len(t, c.records, n)
	require.Nil(t, l.State().Tail)
	require.NoError(t, w.Close())
}

func TestAppendDoesNotAllocate(t *testing.T) {
	_, w, _ := begin(t, memfs.New())
	f := newFeed()
	f.set(w, 0, "x", strings.Repeat("x", 100_000))
	require.NoError(t, w.Flush())
	tx := f.s.Begin(0, 1, false)
	tx.SetValue([]byte("key"), []byte("value"), 0)
	tx.SetValue([]byte("other"), []byte("value"), 0)
	require.Zero(t, testing.AllocsPerRun(100, func() { w.Append(tx.Effects()) }))
}
