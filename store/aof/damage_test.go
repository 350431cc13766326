package aof_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/aof"
	"github.com/echomq/emqd/store/aof/memfs"
)

// recorded returns a file system with a log of five records in two writes, each synced, by a node that was killed,
// the records, and where each ends in the increment.
func recorded(t *testing.T) (*memfs.FS, []string, []int64) {
	t.Helper()
	fsys := memfs.New()
	_, w, _ := begin(t, fsys)
	f := newFeed()
	var ends []int64
	mark := func() {
		require.NoError(t, w.Flush())
		ends = append(ends, w.Written().Pos)
	}
	f.set(w, 0, "alpha", "one")
	mark()
	f.tx(w, 1, func(tx *store.Tx) {
		tx.SetValue([]byte("beta"), []byte("two"), 0)
		tx.Select(0)
		tx.SetValue([]byte("gamma"), []byte(strings.Repeat("3", 700)), 0)
	})
	mark()
	f.set(w, 1, "delta", "four")
	mark()
	require.NoError(t, w.Sync())
	f.set(w, 1, "epsilon", "five")
	mark()
	f.tx(w, 0, func(tx *store.Tx) {
		tx.SetValue([]byte("zeta"), []byte("six"), 0)
		tx.Delete([]byte("alpha"))
	})
	mark()
	require.NoError(t, w.Sync())
	_, c, err := load(fsys.Kill())
	require.NoError(t, err)
	require.Len(t, c.records, 5)
	after := fsys.Kill()
	after.Put(incr(1), after.Bytes(incr(1))[:(ends[4]+512)/512*512+64]) // less filler makes the tests faster
	return after, c.records, ends
}

// logEnd returns the content of the only increment up to the end of its last record.
func logEnd(fsys *memfs.FS, ends []int64) []byte {
	return fsys.Bytes(incr(1))[:ends[len(ends)-1]]
}

// with returns a copy of fsys whose increment has other content.
func with(fsys *memfs.FS, data []byte) *memfs.FS {
	c := fsys.Kill()
	c.Put(incr(1), data)
	return c
}

// startsWith requires that a start on fsys gives these records, and that a second one gives the same without a tail.
func startsWith(t *testing.T, fsys *memfs.FS, want []string) *aof.Tail {
	t.Helper()
	l, w, c := begin(t, fsys)
	want = append([]string(nil), want...)
	require.Equal(t, want, c.records)
	tail := l.State().Tail
	require.NoError(t, w.Close())
	l, c, err := load(fsys)
	require.NoError(t, err)
	require.Equal(t, want, c.records)
	require.Nil(t, l.State().Tail)
	return tail
}

// TestCut cuts the log at every byte: with nothing behind, with filler and with zero bytes.
func TestCut(t *testing.T) {
	fsys, records, ends := recorded(t)
	whole := fsys.Bytes(incr(1))
	size := ends[len(ends)-1]
	zeros := bytes.Repeat([]byte{0}, 1000)
	pad := make([]byte, len(whole))
	for i := range pad {
		pad[i] = '#'
		if i%64 == 63 {
			pad[i] = '\n'
		}
	}
	head := int64(bytes.Index(whole, []byte("#emqd 1 ")))
	for cut := head; cut <= size; cut++ {
		n := 0
		for n < len(ends) && ends[n] <= cut {
			n++
		}
		at := head
		if n > 0 {
			at = ends[n-1]
		}
		inside := cut - at
		for name, data := range map[string][]byte{
			"nothing": whole[:cut],
			"zeros":   slices.Concat(whole[:cut], zeros),
			"filler":  slices.Concat(whole[:cut], pad[cut:]),
		} {
			tail := startsWith(t, with(fsys, data), records[:n])
			if inside > 8 && cut < size {
				require.NotNil(t, tail, "%s at %d", name, cut)
				require.EqualValues(t, n+1, tail.Seq)
				require.False(t, tail.Garbage)
			}
			if name == "nothing" && tail != nil {
				require.Equal(t, inside, tail.Bytes)
			}
		}
	}
	for cut := range head {
		c := with(fsys, whole[:cut])
		_, _, err := load(c)
		if err == nil {
			startsWith(t, c, nil)
		}
	}
}

// TestFlip flips every bit of the log: each is refused, or the records are all there.
func TestFlip(t *testing.T) {
	fsys, records, ends := recorded(t)
	clean := with(fsys, logEnd(fsys, ends))
	_, w, _ := begin(t, clean)
	require.NoError(t, w.Close()) // so that the increment is ended
	refused, bits := 0, 8
	if testing.Short() {
		bits = 2
	}
	for name, data := range map[string][]byte{"killed": fsys.Bytes(incr(1))[:ends[4]+200], "ended": clean.Bytes(incr(1))} {
		for i := range data {
			for bit := range bits {
				flipped := slices.Clone(data)
				flipped[i] ^= 1 << bit
				l, c, err := load(with(fsys, flipped))
				var damage *aof.Damage
				if err != nil {
					require.ErrorAs(t, err, &damage)
					require.Equal(t, "appendonly.aof.1.incr.aof", damage.File)
					refused++
					continue
				}
				require.Equal(t, records, c.records, "%s: bit %d of byte %d", name, bit, i)
				require.True(t, l.State().Tail == nil || int64(i) >= ends[4], "%s: bit %d of byte %d", name, bit, i)
			}
		}
	}
	require.Greater(t, refused, 2*bits*1000)
}

// TestFlipLast flips a bit of every byte of the last record of a killed node's log, wherever that ends in a line of filler: the
// record was acknowledged, so it is never taken for one that was not finished.
func TestFlipLast(t *testing.T) {
	for n := range 64 {
		fsys := memfs.New()
		_, w, _ := begin(t, fsys)
		f := newFeed()
		f.set(w, 0, "alpha", "one")
		require.NoError(t, w.Sync())
		from := w.Written().Pos
		f.set(w, 0, "beta", strings.Repeat("2", 10+n))
		require.NoError(t, w.Sync())
		killed := fsys.Kill()
		data := killed.Bytes(incr(1))[:(w.Written().Pos+200)/64*64]
		end := int64(bytes.LastIndexByte(data, '2')) + 3
		for i := from; i < end; i++ {
			flip := byte(1) << ((i + int64(n)) % 8)
			data[i] ^= flip
			_, c, err := load(with(killed, data))
			data[i] ^= flip
			require.Error(t, err, "record from %d to %d, byte %d with %#x: %d records", from, end, i, flip, len(c.records))
		}
	}
}

func TestDamageNamesThePlace(t *testing.T) {
	fsys, _, ends := recorded(t)
	data := logEnd(fsys, ends)
	data[bytes.Index(data, []byte("delta"))] = 'D'
	_, _, err := load(with(fsys, data))
	var damage *aof.Damage
	require.ErrorAs(t, err, &damage)
	require.Equal(t, aof.Damage{File: "appendonly.aof.1.incr.aof", Offset: ends[1], Seq: 3, Why: "a wrong checksum"}, *damage)
}

func TestGarbage(t *testing.T) {
	fsys, records, ends := recorded(t)
	data := logEnd(fsys, ends)
	for _, garbage := range []string{"garbage", "\x01\x02\x03", "*3\r\nnot a command", strings.Repeat("xyz\n", 500)} {
		for name, c := range map[string]*memfs.FS{
			"behind filler":  with(fsys, slices.Concat(fsys.Bytes(incr(1)), []byte(garbage))),
			"behind records": with(fsys, slices.Concat(data, []byte(garbage))),
		} {
			tail := startsWith(t, c, records)
			require.NotNil(t, tail, name)
			require.True(t, tail.Garbage, name)
			names, err := c.Names(dir)
			require.NoError(t, err)
			i := slices.IndexFunc(names, func(n string) bool { return strings.Contains(n, ".tail-") })
			require.GreaterOrEqual(t, i, 0)
			require.Contains(t, string(c.Bytes(filepath.Join(dir, names[i]))), garbage)
		}
	}
}

// TestReordered plays power loss in the middle of a write whose sectors went to the disk in another order.
func TestReordered(t *testing.T) {
	fsys := memfs.New()
	_, w, _ := begin(t, fsys)
	f := newFeed()
	f.set(w, 0, "a", "1")
	require.NoError(t, w.Sync())
	from := w.Written().Pos
	for range 20 {
		f.set(w, 0, "k", strings.Repeat("v", 100))
	}
	before := fsys.Kill().Bytes(incr(1))
	require.NoError(t, w.Flush())
	after := fsys.Bytes(incr(1))
	for s := from / 512; s*512 < w.Written().Pos; s++ {
		torn := slices.Clone(after)
		copy(torn[max(s*512, from):], before[max(s*512, from):(s+1)*512])
		_, c, err := load(with(fsys, torn))
		require.NoError(t, err, "sector %d", s)
		require.GreaterOrEqual(t, len(c.records), 1)
		startsWith(t, with(fsys, torn), c.records)
	}
	// The same in a write that was followed by another one is damage.
	f.set(w, 0, "b", "1")
	require.NoError(t, w.Sync())
	f.set(w, 0, "c", "1")
	require.NoError(t, w.Sync())
	torn := fsys.Bytes(incr(1))
	s := from/512 + 1
	copy(torn[s*512:], before[s*512:(s+1)*512])
	_, _, err := load(with(fsys, torn))
	var damage *aof.Damage
	require.ErrorAs(t, err, &damage)
}

// TestReorderedWhereverSectorsBegin has sectors begin at every byte of two records, those at which a command begins too, which what
// another server appends begins with.
func TestReorderedWhereverSectorsBegin(t *testing.T) {
	for pad := range 512 {
		fsys := memfs.New()
		_, w, _ := begin(t, fsys)
		f := newFeed()
		f.set(w, 0, "a", strings.Repeat("p", pad))
		require.NoError(t, w.Sync())
		from := w.Written().Pos
		for range 2 {
			f.tx(w, 0, func(tx *store.Tx) {
				for _, key := range []string{"b", "c", "d", "e", "f"} {
					tx.SetValue([]byte(key), []byte(strings.Repeat(key, 50)), 0)
				}
			})
		}
		before := fsys.Bytes(incr(1))
		require.NoError(t, w.Flush())
		after := fsys.Bytes(incr(1))[:w.Written().Pos/512*512+1088] // less filler makes the test faster
		_, whole, err := load(fsys)
		require.NoError(t, err)
		for s := from / 512; s*512 < w.Written().Pos; s++ {
			torn := slices.Clone(after)
			copy(torn[max(s*512, from):], before[max(s*512, from):(s+1)*512])
			_, c, err := load(with(fsys, torn))
			require.NoError(t, err, "%d bytes, sector %d", pad, s)
			require.LessOrEqual(t, len(c.records), len(whole.records))
			require.Equal(t, whole.records[:len(c.records)], c.records)

			torn = slices.Clone(after[:w.Written().Pos]) // where there was no room for filler
			clear(torn[max(s*512, from):min((s+1)*512, int64(len(torn)))])
			if _, c, err = load(with(fsys, torn)); (s+1)*512-from == 1 {
				continue // one byte that is zero may as well be damage
			}
			require.NoError(t, err, "%d bytes, sector %d without filler", pad, s)
			require.Equal(t, whole.records[:len(c.records)], c.records)
		}
	}
}

// TestAnotherServerAppendsAtSector appends where a sector begins behind filler, as it ends after a crash: that could also be
// the rest of a record, and is refused.
func TestAnotherServerAppendsAtSector(t *testing.T) {
	fsys, _, ends := recorded(t)
	whole := fsys.Bytes(incr(1))
	at := int(ends[4]+1024) / 512 * 512
	for len(whole) < at {
		whole = append(whole, strings.Repeat("#", 63)+"\n"...)
	}
	_, _, err := load(with(fsys, append(whole[:at], "*2\r\n$3\r\nDEL\r\n$1\r\nc\r\n"...)))
	require.ErrorContains(t, err, "commands without an annotation")
	_, w, _ := begin(t, fsys)
	_, to := w.More(1 << 16)
	require.NotZero(t, to%512, "filler that is finished does not end there")
}

func TestFilesMissing(t *testing.T) {
	fsys, _, _ := recorded(t)
	for range 2 {
		_, w, _ := begin(t, fsys)
		newFeed().set(w, 0, "k", "v")
		require.NoError(t, w.Close())
	}
	refuses := func(gone string, texts ...string) {
		t.Helper()
		c := fsys.Kill()
		require.NoError(t, c.Remove(gone))
		_, _, err := load(c)
		for _, text := range texts {
			require.ErrorContains(t, err, text)
		}
	}
	manifest := filepath.Join(dir, prefix+".manifest")
	refuses(manifest, "manifest", "is missing")
	refuses(incr(1), "increment", incr(1), "is missing")
	refuses(incr(2), "increment", incr(2), "is missing")
	refuses(incr(3), "increment", incr(3), "is missing")

	c := fsys.Kill()
	text := string(c.Bytes(manifest))
	m, err := aof.ParseManifest([]byte(text))
	require.NoError(t, err)
	without := *m
	without.Incrs = []aof.Item{m.Incrs[0], m.Incrs[2]}
	c.Put(manifest, without.Append(nil))
	_, _, err = load(c)
	require.ErrorContains(t, err, "an increment is missing")
	without.Incrs = m.Incrs[:2]
	c.Put(manifest, without.Append(nil))
	_, _, err = load(c)
	require.ErrorContains(t, err, "the manifest "+manifest+" is an older one")
	for i := range text {
		for bit := range 8 {
			flipped := []byte(text)
			flipped[i] ^= 1 << bit
			c.Put(manifest, flipped)
			_, got, err := load(c)
			require.True(t, err != nil || len(got.records) == 7, "bit %d of byte %d", bit, i)
		}
	}
}

// TestAnotherServerAppends reads what a server that knows no annotations has written behind ours.
func TestAnotherServerAppends(t *testing.T) {
	fsys, records, ends := recorded(t)
	const more = "*2\r\n$6\r\nSELECT\r\n$1\r\n2\r\n*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n*2\r\n$3\r\nDEL\r\n$1\r\nb\r\n" +
		"*1\r\n$4\r\nEXEC\r\n#TS:1700000000\r\n*2\r\n$3\r\nDEL\r\n$1\r\nc\r\n"
	want := append(slices.Clone(records), "@2 SET a 1 @2 DEL b", "@2 DEL c")
	whole := slices.Concat(fsys.Bytes(incr(1)), []byte(more))
	require.Nil(t, startsWith(t, with(fsys, whole), want))
	require.Nil(t, startsWith(t, with(fsys, slices.Concat(logEnd(fsys, ends), []byte(more))), want))
	tail := startsWith(t, with(fsys, whole[:len(whole)-3]), want[:len(want)-1])
	require.NotNil(t, tail)
	tail = startsWith(t, with(fsys, whole[:len(whole)-60]), want[:len(want)-2])
	require.NotNil(t, tail)
}

// TestPlain reads files of other servers: whole, cut at every byte, and damaged.
func TestPlain(t *testing.T) {
	const text = "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n#TS:1700000000\r\n*1\r\n$5\r\nmulti\r\n" +
		"*3\r\n$3\r\nSET\r\n$1\r\nb\r\n$3\r\n\r\n*\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n*2\r\n$3\r\nDEL\r\n$1\r\nc\r\n*1\r\n$4\r\nEXEC\r\n" +
		"*2\r\n$3\r\nDEL\r\n$1\r\nd\r\n"
	all := []string{"@0 SET a 1", "@0 SET b \r\n* @3 DEL c", "@3 DEL d"}
	fsys := memfs.New()
	m := aof.Manifest{Incrs: []aof.Item{{Name: prefix + ".1.incr.aof", Seq: 1, Kind: 'i'}}}
	fsys.Put(filepath.Join(dir, prefix+".manifest"), m.Append(nil))
	require.Nil(t, startsWith(t, with(fsys, []byte(text)), all))
	for cut := range len(text) {
		for _, behind := range []string{"", strings.Repeat("\x00", 70)} {
			startsWith(t, with(fsys, []byte(text[:cut]+behind)), all[:countPlain(text[:cut])])
		}
	}
	for i := range len("*2\r\n$6\r\n") {
		flipped := []byte(text)
		flipped[i] ^= 1
		_, _, err := load(with(fsys, flipped))
		require.Error(t, err, "%d", i)
	}
}

// countPlain returns how many transactions of TestPlain the text holds whole.
func countPlain(text string) int {
	n := 0
	for _, end := range []string{"a\r\n$1\r\n1\r\n", "EXEC\r\n", "d\r\n"} {
		if !strings.Contains(text, end) {
			break
		}
		n++
	}
	return n
}
