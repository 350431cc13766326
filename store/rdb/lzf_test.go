package rdb

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestLZFRoundTrip(t *testing.T) {
	var z lzfCompressor
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SliceOfN(rapid.ByteRange('a', 'd'), 0, 40)
		src := bytes.Join(rapid.SliceOfN(word, 0, 60).Draw(t, "words"), nil)
		packed, ok := z.appendTo([]byte("before"), src, 2*len(src)+1)
		require.True(t, ok)
		out := make([]byte, len(src))
		require.NoError(t, lzfDecompress(out, packed[len("before"):]))
		require.Equal(t, string(src), string(out))
	})
}

func TestLZFLong(t *testing.T) {
	var z lzfCompressor
	for _, n := range []int{3, 264, 265, 8192, 8193, 100_000} {
		src := make([]byte, 2*n)
		for i := range n {
			src[i] = byte(i * i >> 3)
			src[n+i] = src[i]
		}
		packed, ok := z.appendTo(nil, src, 2*len(src))
		require.True(t, ok)
		out := make([]byte, len(src))
		require.NoError(t, lzfDecompress(out, packed))
		require.Equal(t, src, out)
	}
}

func TestLZFLimit(t *testing.T) {
	var z lzfCompressor
	dst, ok := z.appendTo([]byte("kept"), []byte("nothing repeats"), 11)
	require.False(t, ok)
	require.Equal(t, "kept", string(dst))
}

// TestLZFTableWraps compresses past the point where positions would overflow.
func TestLZFTableWraps(t *testing.T) {
	var z lzfCompressor
	z.base = 1<<32 - 20
	src := bytes.Repeat([]byte("abcabc"), 10)
	for range 3 {
		packed, ok := z.appendTo(nil, src, len(src))
		require.True(t, ok)
		out := make([]byte, len(src))
		require.NoError(t, lzfDecompress(out, packed))
		require.Equal(t, src, out)
	}
}

func TestLZFBroken(t *testing.T) {
	for _, src := range []string{
		"\x05ab",         // literal run cut
		"\x00a\x20",      // match without an offset
		"\x00a\xe0",      // match without a length
		"\x00a\x20\x01",  // match from before the start
		"\x00a\xe0\xff ", // more than announced
		"\x00a",          // less than announced
	} {
		require.Error(t, lzfDecompress(make([]byte, 8), []byte(src)), "%q", src)
	}
}

func FuzzLZFDecompress(f *testing.F) {
	f.Add([]byte("\x00a\xe0\x03\x00"), uint16(14))
	f.Add([]byte("\x05abcdef"), uint16(6))
	f.Fuzz(func(t *testing.T, src []byte, n uint16) {
		out := make([]byte, n)
		if err := lzfDecompress(out, src); err == nil {
			require.LessOrEqual(t, uint64(n), lzfMaxOutput(uint64(len(src))))
		}
	})
}

func BenchmarkLZFCompress(b *testing.B) {
	var z lzfCompressor
	src := bytes.Repeat([]byte(`{"id":12345,"name":"job","state":"waiting"},`), 20)
	b.SetBytes(int64(len(src)))
	var dst []byte
	for i := 0; b.Loop(); i++ {
		dst, _ = z.appendTo(dst[:0], src, len(src))
	}
}
