package rdb

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// benchFile writes keys of the kinds that queues have.
func benchFile(b testing.TB, keys int) []byte {
	var buf bytes.Buffer
	w, err := NewWriter(&buf, Version80)
	require.NoError(b, err)
	require.NoError(b, w.SelectDB(0, uint64(keys), 0))
	for i := range keys {
		require.NoError(b, w.Key(fmt.Appendf(nil, "emq:{queue}:job:%d", i), 0, benchJob(i)))
	}
	require.NoError(b, w.Close())
	return buf.Bytes()
}

func benchJob(i int) *Value {
	return &Value{Kind: KindHash, Fields: []Field{
		{Name: []byte("state"), Value: []byte("waiting")},
		{Name: []byte("attempts"), Value: []byte("0")},
		{Name: []byte("created"), Value: fmt.Append(nil, 1_700_000_000_000+i)},
		{Name: []byte("payload"), Value: []byte(`{"order":12345,"email":"someone@example.org"}`)},
	}}
}

func BenchmarkReader(b *testing.B) {
	const keys = 10_000
	raw := benchFile(b, keys)
	none := func(*Entry) error { return nil }
	for name, each := range map[string]func(*Reader) error{
		"each":  func(r *Reader) error { return r.Each(none) },
		"ahead": func(r *Reader) error { return r.EachAhead(none, func([]Entry) {}, func(int64) {}) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := NewReader(bytes.NewReader(raw))
				require.NoError(b, err)
				require.NoError(b, each(r))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/keys, "ns/key")
		})
	}
}

func BenchmarkWriter(b *testing.B) {
	for _, plain := range []bool{false, true} {
		b.Run(fmt.Sprintf("plain=%v", plain), func(b *testing.B) {
			key, v := []byte("emq:{queue}:job:1"), benchJob(1)
			w, err := NewWriter(io.Discard, Version80)
			require.NoError(b, err)
			w.Encoder.Plain = plain
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, w.Key(key, 0, v))
			}
		})
	}
}

func BenchmarkLargeSet(b *testing.B) {
	v := &Value{Kind: KindSet}
	for i := range 1_000_000 {
		v.Items = append(v.Items, fmt.Appendf(nil, "member:%d", i))
	}
	payload, err := Dump(v)
	require.NoError(b, err)
	b.SetBytes(int64(len(payload)))
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, Restore(payload, new(Value)))
	}
}
