package store

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// listItems returns the items of a list, copied.
func listItems(l *List) []string {
	items := []string{}
	l.Each(0, func(value []byte) bool {
		items = append(items, string(value))
		return true
	})
	return items
}

// listModel drives one list and a slice that must stay equal to it.
type listModel struct {
	s     *Store
	other *Store // gets the effects
	key   []byte
	items []string
}

var listValue = rapid.Custom(func(t *rapid.T) string {
	size := rapid.SampledFrom([]int{0, 1, 3, 20, 127, 128, 900, 2100, 4000, 8185, 9000, 20000}).Draw(t, "size")
	if size < 4 {
		return "abcdef"[size : 2*size]
	}
	return strings3(rapid.IntRange(0, 3).Draw(t, "which"), size)
})

func strings3(which, size int) string {
	return string(bytes.Repeat([]byte{byte('p' + which)}, size))
}

func (m *listModel) run(t *rapid.T) {
	tx := m.s.Begin(0, 1000, false)
	l, err := tx.List(m.key)
	require.NoError(t, err)
	m.step(t, &l)
	m.replay(t, tx.Effects())
	require.Equal(t, len(m.items), l.Len())
	require.Equal(t, len(m.items) > 0, tx.Exists(m.key))
	tx.Commit()
	m.check(t)
}

func (m *listModel) step(t *rapid.T, l *List) {
	n := len(m.items)
	index := func() int { return rapid.IntRange(0, max(n-1, 0)).Draw(t, "i") }
	switch op := rapid.IntRange(0, 15).Draw(t, "op"); op {
	case 0, 1:
		v := listValue.Draw(t, "v")
		l.PushLeft([]byte(v))
		m.items = slices.Insert(m.items, 0, v)
	case 2, 3:
		v := listValue.Draw(t, "v")
		l.PushRight([]byte(v))
		m.items = append(m.items, v)
	case 4:
		for i := range rapid.IntRange(1, 400).Draw(t, "many") {
			v := strconv.Itoa(i) + strings3(0, i%150)
			l.PushRight([]byte(v))
			m.items = append(m.items, v)
		}
	case 5, 6:
		v, ok := l.PopLeft()
		require.Equal(t, n > 0, ok)
		if ok {
			require.Equal(t, m.items[0], string(v))
			m.items = m.items[1:]
		}
	case 7:
		v, ok := l.PopRight()
		require.Equal(t, n > 0, ok)
		if ok {
			require.Equal(t, m.items[n-1], string(v))
			m.items = m.items[:n-1]
		}
	case 8:
		m.popMany(t, l)
	case 9:
		i := index()
		v := listValue.Draw(t, "v")
		require.Equal(t, n > 0, l.Set(i, []byte(v)))
		if n > 0 {
			m.items[i] = v
		}
	case 10, 11, 12:
		m.insert(t, l, index())
	case 13:
		m.remove(t, l, index())
	case 14:
		from := rapid.IntRange(0, n).Draw(t, "from")
		to := rapid.IntRange(0, n).Draw(t, "to")
		if rapid.Bool().Draw(t, "gently") {
			from, to = min(from/8, n), n-(n-to)/8
		}
		l.Trim(from, to)
		m.items = slices.Clone(m.items[min(from, max(from, to)):max(from, to)])
	case 15:
		// A value of the list itself as the argument.
		if v, ok := l.At(index()); ok {
			was := string(v)
			l.PushLeft(v)
			m.items = slices.Insert(m.items, 0, was)
		}
	}
}

func (m *listModel) popMany(t *rapid.T, l *List) {
	n := len(m.items)
	count := rapid.IntRange(0, n+2).Draw(t, "count")
	var got []string
	take := func(v []byte) { got = append(got, string(v)) }
	want := min(count, n)
	if rapid.Bool().Draw(t, "left") {
		require.Equal(t, want, l.PopLeftN(count, take))
		require.Equal(t, want, len(got))
		require.True(t, slices.Equal(m.items[:want], got))
		m.items = slices.Clone(m.items[want:])
		return
	}
	require.Equal(t, want, l.PopRightN(count, take))
	slices.Reverse(got)
	require.True(t, slices.Equal(m.items[n-want:], got))
	m.items = m.items[:n-want]
}

func (m *listModel) insert(t *rapid.T, l *List, i int) {
	v := listValue.Draw(t, "v")
	if len(m.items) == 0 {
		require.False(t, l.Insert([]byte("x"), []byte(v), true))
		return
	}
	pivot := m.items[i]
	i = slices.Index(m.items, pivot)
	after := rapid.Bool().Draw(t, "after")
	require.True(t, l.Insert([]byte(pivot), []byte(v), after))
	if after {
		i++
	}
	m.items = slices.Insert(m.items, i, v)
}

func (m *listModel) remove(t *rapid.T, l *List, i int) {
	v := "none"
	if len(m.items) > 0 {
		v = m.items[i]
	}
	limit := rapid.IntRange(-3, 3).Draw(t, "limit")
	removed := 0
	drop := func(x string) bool {
		if x != v || limit != 0 && removed == max(limit, -limit) {
			return false
		}
		removed++
		return true
	}
	if limit < 0 {
		slices.Reverse(m.items)
	}
	m.items = slices.DeleteFunc(m.items, drop)
	if limit < 0 {
		slices.Reverse(m.items)
	}
	require.Equal(t, removed, l.Remove([]byte(v), limit))
}

// replay does the effects in the other store, by the meaning that the commands have.
func (m *listModel) replay(t *rapid.T, f *Effects) {
	tx := m.other.Begin(0, 1000, false)
	defer tx.Commit()
	for i := range f.Len() {
		l, err := tx.List(f.Arg(i, 0))
		require.NoError(t, err)
		switch name := f.Name(i); name {
		case "LPUSH", "RPUSH":
			for j := 1; j < f.Args(i); j++ {
				if name == "LPUSH" {
					l.PushLeft(f.Arg(i, j))
				} else {
					l.PushRight(f.Arg(i, j))
				}
			}
		case "LPOP", "RPOP":
			n := 1
			if f.Args(i) > 1 {
				n = effectInt(t, f.Arg(i, 1))
			}
			if name == "LPOP" {
				l.PopLeftN(n, func([]byte) {})
			} else {
				l.PopRightN(n, func([]byte) {})
			}
		case "LSET":
			l.Set(effectInt(t, f.Arg(i, 1)), f.Arg(i, 2))
		case "LINSERT":
			l.Insert(f.Arg(i, 2), f.Arg(i, 3), string(f.Arg(i, 1)) == "AFTER")
		case "LREM":
			l.Remove(f.Arg(i, 2), effectInt(t, f.Arg(i, 1)))
		case "LTRIM":
			l.Trim(effectInt(t, f.Arg(i, 1)), effectInt(t, f.Arg(i, 2))+1)
		default:
			require.Fail(t, "unexpected effect", name)
		}
	}
}

func effectInt(t require.TestingT, b []byte) int {
	n, err := strconv.Atoi(string(b))
	require.NoError(t, err)
	return n
}

// check reads the whole list in every way.
func (m *listModel) check(t *rapid.T) {
	for _, s := range []*Store{m.s, m.other} {
		tx := s.Begin(0, 1000, true)
		l, err := tx.List(m.key)
		require.NoError(t, err)
		require.True(t, slices.Equal(m.items, listItems(&l)), "left to right")
		i := len(m.items)
		l.EachBack(i-1, func(v []byte) bool {
			i--
			require.Equal(t, m.items[i], string(v))
			return true
		})
		require.Equal(t, 0, i)
		for _, i := range []int{0, len(m.items) / 3, len(m.items) / 2, len(m.items) - 1} {
			v, ok := l.At(i)
			require.Equal(t, i >= 0 && i < len(m.items), ok)
			if ok {
				require.Equal(t, m.items[i], string(v))
			}
			l.Each(i, func(x []byte) bool {
				require.Equal(t, v, x)
				return false
			})
			if ok {
				require.True(t, l.Has(v))
			}
		}
		for _, v := range []string{"", "0", "17", strings3(1, 20)} {
			require.Equal(t, slices.Contains(m.items, v), l.Has([]byte(v)))
		}
		tx.Commit()
	}
}

func TestListModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &listModel{s: New(1, 1), other: New(1, 1), key: []byte("list")}
		m.s.a.poison, m.other.a.poison = true, true
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			m.run(t)
		}
		require.Equal(t, m.s.Digest(1000), m.other.Digest(1000))
		tx := m.s.Begin(0, 1000, false)
		tx.Delete(m.key)
		tx.Commit()
		for m.s.Reclaim(1) {
		}
		require.Zero(t, m.s.a.live, "all blocks are given back")
		require.Zero(t, m.s.objMem, "all object memory is given back")
	})
}

func TestListQueueKeepsChunksFull(t *testing.T) {
	s := New(1, 1)
	tx := s.Begin(0, 1, false)
	l, err := tx.List([]byte("q"))
	require.NoError(t, err)
	for i := range 100_000 {
		l.PushLeft(fmt.Appendf(nil, "%020d", i))
	}
	q := l.deque()
	require.NotNil(t, q)
	require.LessOrEqual(t, q.n, 100_000*22/listChunkBytes*11/10)
	for i := range 100_000 {
		v, ok := l.PopRight()
		require.True(t, ok)
		require.Equal(t, fmt.Sprintf("%020d", i), string(v))
	}
	require.False(t, l.Exists())
	tx.Commit()
	require.Zero(t, s.a.live)
	require.Zero(t, s.objMem)
}

func TestListPushPopDoNotAllocate(t *testing.T) {
	for _, size := range []int{10, 2000} {
		s := New(1, 1)
		key, value := []byte("q"), bytes.Repeat([]byte("v"), size)
		turn := func() {
			tx := s.Begin(0, 1, false)
			l, _ := tx.List(key)
			l.PushLeft(value)
			l.PushLeft(value)
			l.PopRight()
			tx.Commit()
			tx = s.Begin(0, 1, false)
			l, _ = tx.List(key)
			l.PushRight(value)
			l.PopLeft()
			l.PopLeft()
			tx.Commit()
		}
		tx := s.Begin(0, 1, false)
		l, _ := tx.List(key)
		for range 20 {
			l.PushLeft(value)
		}
		tx.Commit()
		turn()
		require.Zero(t, testing.AllocsPerRun(2000, turn), "values of %d bytes", size)
	}
}

func TestListEncoding(t *testing.T) {
	s := New(1, 1)
	tx := s.Begin(0, 1, false)
	l, err := tx.List([]byte("l"))
	require.NoError(t, err)
	value := bytes.Repeat([]byte("v"), 98) // 101 bytes in a listpack
	for range 81 {
		l.PushRight(value)
	}
	require.Equal(t, "listpack", l.Encoding())
	l.PushRight(value)
	require.Equal(t, "quicklist", l.Encoding())
	l.PopLeftN(10, func([]byte) {})
	require.Equal(t, "quicklist", l.Encoding())
	l.PopLeftN(32, func([]byte) {})
	require.Equal(t, "listpack", l.Encoding())
	s.Limits.ListSize = 39
	require.Equal(t, "quicklist", l.Encoding())
	tx.Commit()

	for text, want := range map[string]int{
		"0": 2, "127": 2, "128": 3, "-1": 3, "4095": 3, "-4096": 3, "4096": 4, "32767": 4, "-32769": 5, "8388607": 5,
		"8388608": 6, "2147483648": 10, "01": 4, "": 2, string(make([]byte, 63)): 65, string(make([]byte, 64)): 67,
		string(make([]byte, 126)): 130, string(make([]byte, 4096)): 4103,
	} {
		require.Equal(t, want, listpackSize([]byte(text)), "%.20q", text)
	}
}
