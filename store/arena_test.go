package store

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestClassOfIsTightForEverySize(t *testing.T) {
	for n := 1; n <= maxSlab; n++ {
		c := classOf(n)
		require.GreaterOrEqual(t, int(classSize[c]), n)
		if c > 0 {
			require.Less(t, int(classSize[c-1]), n)
		}
	}
}

// TestArenaKeepsBlocksApart checks every live block against its own content through random
// allocations and frees of all sizes.
func TestArenaKeepsBlocksApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := newArena()
		defer a.drop()
		a.poison = true
		type block struct {
			r    ref
			n    int
			fill byte
		}
		var live []block
		steps := rapid.IntRange(1, 300).Draw(t, "steps")
		for i := range steps {
			if len(live) > 0 && rapid.Bool().Draw(t, "free") {
				k := rapid.IntRange(0, len(live)-1).Draw(t, "which")
				a.Free(live[k].r)
				live = append(live[:k], live[k+1:]...)
				if rapid.Bool().Draw(t, "sweep") {
					a.Sweep()
				}
				continue
			}
			n := rapid.OneOf(rapid.IntRange(1, 200), rapid.IntRange(1, 40000)).Draw(t, "n")
			r, b := a.Alloc(n)
			require.GreaterOrEqual(t, len(b), n)
			for j := range b {
				b[j] = byte(i)
			}
			live = append(live, block{r, n, byte(i)})
		}
		total := 0
		for _, bl := range live {
			b := a.Bytes(bl.r)
			total += len(b)
			for _, c := range b {
				require.Equal(t, bl.fill, c)
			}
		}
		require.EqualValues(t, total, a.live)
	})
}

func TestArenaReusesMemory(t *testing.T) {
	a := newArena()
	defer a.drop()
	for range 50 {
		var refs []ref
		for range 10000 {
			r, _ := a.Alloc(100)
			refs = append(refs, r)
		}
		for _, r := range refs {
			a.Free(r)
		}
		a.Sweep()
	}
	require.Zero(t, a.live)
	require.LessOrEqual(t, a.mapped, int64(chunkSize))
}

// TestArenaKeepsSomePages fills and empties many pages: some keep their memory, and purge gives it back.
func TestArenaKeepsSomePages(t *testing.T) {
	a := newArena()
	defer a.drop()
	for range 3 {
		var refs []ref
		for range 2 * warmPages * 15 {
			r, b := a.Alloc(4096)
			b[0], b[4095] = 1, 2
			refs = append(refs, r)
		}
		for _, r := range refs {
			a.Free(r)
		}
		a.Sweep()
		require.Len(t, a.warm, warmPages)
		require.NotEmpty(t, a.free)
	}
	pages := len(a.warm) + len(a.free)
	a.purge()
	require.Empty(t, a.warm)
	require.Len(t, a.free, pages)
	require.Zero(t, a.live)
}

// TestArenaKeepsSomeHugeBlocks frees huge blocks and asks for others: some are used again, where they fit.
func TestArenaKeepsSomeHugeBlocks(t *testing.T) {
	a := newArena()
	defer a.drop()
	r, b := a.Alloc(1 << 20)
	first := &b[0]
	a.Free(r)
	a.Sweep()
	_, b = a.Alloc(1 << 19)
	require.NotSame(t, first, &b[0], "half of it would be wasted")
	r, b = a.Alloc(1<<20 - 5000)
	require.Same(t, first, &b[0])
	require.Len(t, b, a.Size(r))
	require.EqualValues(t, 1<<20+1<<19, a.live)
	var refs []ref
	for range 100 {
		r, _ := a.Alloc(1 << 20)
		refs = append(refs, r)
	}
	for _, r := range refs {
		a.Free(r)
	}
	a.Sweep()
	require.LessOrEqual(t, a.warmBytes, warmHuges)
	require.Len(t, a.warmHuge, 16)
	a.purge()
	require.Empty(t, a.warmHuge)
	require.Zero(t, a.warmBytes)
}

func addEntry(d *dict, key string) ref {
	r, b := d.a.Alloc(1 + uvarintLen(len(key)) + len(key))
	b[0] = 1
	w := putUvarint(b[1:], len(key))
	copy(b[1+w:], key)
	d.Insert([]byte(key), r)
	return r
}

func TestDictAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := newArena()
		defer a.drop()
		d := newDict(a)
		model := map[string]ref{}
		n := rapid.IntRange(1, 2000).Draw(t, "ops")
		span := rapid.IntRange(1, 1000).Draw(t, "span")
		for range n {
			key := fmt.Sprintf("k%d", rapid.IntRange(0, span).Draw(t, "key"))
			if r, ok := model[key]; ok {
				require.Equal(t, r, d.Find([]byte(key)))
				require.Equal(t, r, d.Remove([]byte(key)))
				delete(model, key)
			} else {
				require.Zero(t, d.Remove([]byte(key)))
				model[key] = addEntry(&d, key)
			}
			require.Equal(t, len(model), d.Len())
		}
		seen := map[string]int{}
		d.Each(func(r ref) bool { seen[string(entryKey(a.Bytes(r)))]++; return true })
		require.Len(t, seen, len(model))
		for k, r := range model {
			require.Equal(t, 1, seen[k])
			require.Equal(t, r, d.Find([]byte(k)))
		}
	})
}

// TestDictScanGuarantee scans while the table grows and shrinks: what stays is always returned.
func TestDictScanGuarantee(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := newArena()
		defer a.drop()
		d := newDict(a)
		stay := rapid.IntRange(1, 500).Draw(t, "stay")
		for i := range stay {
			addEntry(&d, fmt.Sprintf("stay%d", i))
		}
		extra := 0
		seen := map[string]bool{}
		cursor := uint64(0)
		for {
			cursor = d.Scan(cursor, func(r ref) { seen[string(entryKey(a.Bytes(r)))] = true })
			if cursor == 0 {
				break
			}
			for range rapid.IntRange(0, 60).Draw(t, "churn") {
				if extra > 0 && rapid.IntRange(0, 2).Draw(t, "del") == 0 {
					extra--
					a.Free(d.Remove(fmt.Appendf(nil, "x%d", extra)))
				} else if extra < 5000 {
					addEntry(&d, fmt.Sprintf("x%d", extra))
					extra++
				}
			}
			if rapid.IntRange(0, 5).Draw(t, "purge") == 0 {
				for extra > 0 {
					extra--
					a.Free(d.Remove(fmt.Appendf(nil, "x%d", extra)))
				}
			}
		}
		for i := range stay {
			require.True(t, seen[fmt.Sprintf("stay%d", i)], i)
		}
	})
}
