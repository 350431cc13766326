package server

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFlipEveryByte damages every byte of every file of a small log, and cuts every file at every byte: each is
// refused by name, or the data is the same. A cut of the last increment may also be what a crash leaves.
func TestFlipEveryByte(t *testing.T) {
	d := newDisk()
	b := newBare(t, d, proofSeed(t))
	require.NoError(t, b.start())
	for range 12 {
		b.work()
	}
	b.rewriteNow()
	b.work()
	require.NoError(t, b.srv.closeLog())
	require.NoError(t, b.start())
	require.Equal(t, "+OK\r\n", b.turn("SET last 1"))
	for range 3 {
		b.work()
	}
	p := newPlatter()
	for _, op := range d.ops {
		p.apply(op)
	}
	whole := p.after(kept)
	want, err := inspect(whole)
	require.NoError(t, err)
	require.Equal(t, b.written.Load(), want.seq)
	names, err := whole.Names("/data/appendonlydir")
	require.NoError(t, err)
	require.Contains(t, names, "appendonly.aof.1.base.rdb")
	incr := b.srv.aof.w.Name()
	refused, harmless, bytes := 0, 0, 0
	for _, name := range names {
		path := filepath.Join("/data/appendonlydir", name)
		data := whole.Bytes(path)
		bytes += len(data)
		for i := range data {
			for _, flip := range []byte{1 << (i % 8), 1 << ((i + 3) % 8), 0xff} {
				if testing.Short() && flip == 0xff {
					continue
				}
				data[i] ^= flip
				whole.Put(path, data)
				data[i] ^= flip
				got, err := inspect(whole)
				if err != nil {
					require.ErrorContains(t, err, "appendonly.aof", "byte %d of %s", i, name)
					refused++
					continue
				}
				require.True(t, got.seq == want.seq && got.digest == want.digest && got.epoch == want.epoch, "byte %d of %s with %#x: %v", i, name, flip, got)
				harmless++
			}
			whole.Put(path, data[:i])
			got, err := inspect(whole)
			switch {
			case err != nil:
				refused++
			case name == incr:
				require.Equal(t, b.digests[got.seq], got.digest, "%s cut at %d", name, i)
			default:
				require.True(t, got.seq == want.seq && got.digest == want.digest, "%s cut at %d", name, i)
				harmless++
			}
		}
		whole.Put(path, data)
	}
	t.Logf("%d files of %d bytes: %d damages refused, %d harmless", len(names), bytes, refused, harmless)
}
