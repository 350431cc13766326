package store

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestIDIndex drives an index and a sorted slice that must stay equal to it.
func TestIDIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x idIndex[int]
		var ids []StreamID
		values := map[StreamID]int{}
		draw := func() StreamID {
			return StreamID{rapid.Uint64Range(1, 400).Draw(t, "ms"), rapid.Uint64Range(0, 2).Draw(t, "seq")}
		}
		place := func(id StreamID) (int, bool) { return slices.BinarySearchFunc(ids, id, StreamID.Compare) }
		put := func(id StreamID, v int) {
			i, there := place(id)
			if !there {
				ids = slices.Insert(ids, i, id)
			}
			values[id] = v
			require.Equal(t, !there, x.put(id, v))
		}
		remove := func(p idPos) {
			id := x.id(p)
			i, there := place(id)
			require.True(t, there)
			ids = slices.Delete(ids, i, i+1)
			x.remove(p)
		}
		for step := range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 6).Draw(t, "op") {
			case 0:
				for i := range 200 { // behind all
					put(StreamID{uint64(1000 + 200*step + i), 0}, i)
				}
			case 1, 2:
				for range 60 {
					put(draw(), step)
				}
			case 3:
				for range rapid.IntRange(1, 300).Draw(t, "n") {
					if p, ok := x.first(); ok {
						remove(p)
					}
				}
			case 4:
				for range rapid.IntRange(1, 300).Draw(t, "n") {
					if p, ok := x.last(); ok {
						remove(p)
					}
				}
			default:
				for range 40 {
					if p, ok := x.find(draw()); ok {
						remove(p)
					}
				}
			}
			checkIndex(t, &x, ids, values)
			id := draw()
			i, there := place(id)
			p, ok := x.ceil(id)
			require.Equal(t, i < len(ids), ok)
			require.True(t, !ok || x.id(p) == ids[i])
			_, ok = x.find(id)
			require.Equal(t, there, ok)
			if !there {
				i--
			}
			p, ok = x.floor(id)
			require.Equal(t, i >= 0, ok)
			require.True(t, !ok || x.id(p) == ids[i])
		}
	})
}

// checkIndex walks the index both ways and adds its memory up.
func checkIndex(t *rapid.T, x *idIndex[int], ids []StreamID, values map[StreamID]int) {
	require.Equal(t, len(ids), x.n)
	i := 0
	p, ok := x.first()
	for ; ok; p, ok = x.next(p) {
		require.Equal(t, ids[i], x.id(p))
		require.Equal(t, values[ids[i]], *x.at(p))
		i++
	}
	require.Equal(t, len(ids), i)
	p, ok = x.last()
	for ; ok; p, ok = x.prev(p) {
		i--
		require.Equal(t, ids[i], x.id(p))
	}
	require.Zero(t, i)
	bytes := x.spare.mem() + int64(cap(x.pages))*48
	for i := range x.pages {
		bytes += x.pages[i].mem()
	}
	require.Equal(t, bytes, x.bytes)
}
