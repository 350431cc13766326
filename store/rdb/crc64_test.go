package rdb

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCRC64(t *testing.T) {
	require.Equal(t, uint64(0xe9c6d914c4b8d9ca), CRC64(0, []byte("123456789")))
	require.Equal(t, uint64(0), CRC64(0, nil))
}

// TestCRC64Incremental also compares the sliced form with the bytewise one.
func TestCRC64Incremental(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOf(rapid.Byte()).Draw(t, "p")
		cut := rapid.IntRange(0, len(p)).Draw(t, "cut")
		var bytewise uint64
		for i := range p {
			bytewise = CRC64(bytewise, p[i:i+1])
		}
		require.Equal(t, bytewise, CRC64(0, p))
		require.Equal(t, bytewise, CRC64(CRC64(0, p[:cut]), p[cut:]))
	})
}

func BenchmarkCRC64(b *testing.B) {
	p := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		CRC64(0, p)
	}
}
