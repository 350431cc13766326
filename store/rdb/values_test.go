package rdb

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// describe gives the contents of v as text, with unordered things sorted, so
// that values can be compared and differences read.
func describe(v *Value) string {
	var parts []string
	switch v.Kind {
	case KindString:
		return fmt.Sprintf("string %q", v.Str)
	case KindList, KindSet:
		for _, s := range v.Items {
			parts = append(parts, fmt.Sprintf("%q", s))
		}
	case KindHash:
		for _, f := range v.Fields {
			s := fmt.Sprintf("%q=%q", f.Name, f.Value)
			if f.ExpireAt != 0 {
				s += fmt.Sprintf("@%d", f.ExpireAt)
			}
			parts = append(parts, s)
		}
	case KindZSet:
		for _, s := range v.Scored {
			parts = append(parts, fmt.Sprintf("%q:%v/%016x", s.Member, s.Score, math.Float64bits(s.Score)))
		}
	case KindStream:
		return describeStream(v.Stream)
	}
	if v.Kind != KindList {
		slices.Sort(parts)
	}
	return v.Kind.String() + " " + strings.Join(parts, " ")
}

func describeStream(s *Stream) string {
	var b strings.Builder
	fmt.Fprintf(&b, "stream last=%d-%d deleted=%d-%d added=%d", s.LastID.Ms, s.LastID.Seq,
		s.MaxDeletedID.Ms, s.MaxDeletedID.Seq, s.EntriesAdded)
	for _, e := range s.Entries {
		fmt.Fprintf(&b, " %d-%d%q", e.ID.Ms, e.ID.Seq, e.Fields)
	}
	groups := slices.SortedFunc(slices.Values(s.Groups), func(a, b StreamGroup) int {
		return strings.Compare(string(a.Name), string(b.Name))
	})
	for _, g := range groups {
		fmt.Fprintf(&b, " group %q at %d-%d read %d", g.Name, g.LastID.Ms, g.LastID.Seq, g.EntriesRead)
		consumers := slices.SortedFunc(slices.Values(g.Consumers), func(a, b StreamConsumer) int {
			return strings.Compare(string(a.Name), string(b.Name))
		})
		for _, c := range consumers {
			fmt.Fprintf(&b, " consumer %q seen %d active %d", c.Name, c.SeenTime, c.ActiveTime)
			pending := slices.SortedFunc(slices.Values(c.Pending), func(a, b StreamPending) int {
				return a.ID.Compare(b.ID)
			})
			fmt.Fprintf(&b, " %v", pending)
		}
	}
	return b.String()
}

// text draws strings of the kinds that have forms of their own: numbers, short
// and long text, and text that compresses.
func text() *rapid.Generator[[]byte] {
	return rapid.OneOf(
		rapid.Map(rapid.Int64(), func(n int64) []byte { return fmt.Appendf(nil, "%d", n) }),
		rapid.Map(rapid.IntRange(-5000, 5000), func(n int) []byte { return fmt.Appendf(nil, "%d", n) }),
		rapid.SliceOfN(rapid.Byte(), 0, 80),
		rapid.SliceOfN(rapid.ByteRange('a', 'b'), 0, 300),
		rapid.Map(rapid.IntRange(4000, 20000), func(n int) []byte { return []byte(strings.Repeat("x", n)) }),
	)
}

func distinct(most int) *rapid.Generator[[][]byte] {
	return rapid.SliceOfNDistinct(text(), 1, most, func(s []byte) string { return string(s) })
}

func score() *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.Float64(),
		rapid.Map(rapid.IntRange(-1000, 1000), func(n int) float64 { return float64(n) / 4 }),
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 1 << 53, -1 << 60}),
	)
}

// anyValue draws a value of any kind. Field deadlines need version 80, and an
// active-time of its own version 11.
func anyValue(version int) *rapid.Generator[*Value] {
	return rapid.Custom(func(t *rapid.T) *Value {
		v := &Value{Kind: Kind(rapid.IntRange(0, int(KindStream)).Draw(t, "kind"))}
		switch v.Kind {
		case KindString:
			v.Str = text().Draw(t, "str")
		case KindList:
			v.Items = rapid.SliceOfN(text(), 1, 40).Draw(t, "items")
		case KindSet:
			ints := rapid.Map(rapid.Int16(), func(n int16) []byte { return fmt.Appendf(nil, "%d", n) })
			v.Items = rapid.OneOf(distinct(40), rapid.SliceOfNDistinct(ints, 1, 600,
				func(s []byte) string { return string(s) })).Draw(t, "items")
		case KindHash:
			deadlines := version >= Version80 && rapid.Bool().Draw(t, "deadlines")
			for _, name := range distinct(40).Draw(t, "names") {
				f := Field{Name: name, Value: text().Draw(t, "value")}
				if deadlines {
					f.ExpireAt = rapid.Int64Range(0, math.MaxInt64).Draw(t, "deadline")
				}
				v.Fields = append(v.Fields, f)
			}
		case KindZSet:
			for _, m := range distinct(40).Draw(t, "members") {
				v.Scored = append(v.Scored, Scored{m, score().Draw(t, "score")})
			}
		case KindStream:
			v.Stream = anyStream(t, version)
		}
		return v
	})
}

func anyStream(t *rapid.T, version int) *Stream {
	s := &Stream{MaxDeletedID: StreamID{3, rapid.Uint64().Draw(t, "deleted")}}
	names := rapid.SliceOfN(rapid.SampledFrom([][]byte{[]byte("a"), []byte("b"), []byte("77")}), 1, 3)
	for range rapid.IntRange(0, 300).Draw(t, "entries") {
		id := s.LastID
		if rapid.Bool().Draw(t, "same ms") {
			id.Seq++
		} else {
			id = StreamID{id.Ms + rapid.Uint64Range(1, 1<<40).Draw(t, "ms"), rapid.Uint64Range(0, 1<<63).Draw(t, "seq")}
		}
		e := StreamEntry{ID: id}
		for _, name := range names.Draw(t, "names") {
			e.Fields = append(e.Fields, name, rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "value"))
		}
		s.Entries = append(s.Entries, e)
		s.LastID = id
	}
	s.EntriesAdded = uint64(len(s.Entries)) + rapid.Uint64Range(0, 100).Draw(t, "gone")
	for i := range rapid.IntRange(0, 3).Draw(t, "groups") {
		g := StreamGroup{Name: fmt.Appendf(nil, "g%d", i), LastID: s.LastID}
		g.EntriesRead = rapid.Int64Range(-1, 1000).Draw(t, "read")
		consumers := rapid.IntRange(0, 3).Draw(t, "consumers")
		for j := range consumers {
			c := StreamConsumer{Name: fmt.Appendf(nil, "%d", j), SeenTime: rapid.Int64Range(0, 1<<41).Draw(t, "seen")}
			c.ActiveTime = c.SeenTime
			if version >= Version11 {
				c.ActiveTime = rapid.Int64Range(-1, 1<<41).Draw(t, "active")
			}
			for k := j; k < len(s.Entries); k += consumers {
				c.Pending = append(c.Pending, StreamPending{s.Entries[k].ID, int64(k), uint64(k % 7)})
			}
			g.Consumers = append(g.Consumers, c)
		}
		s.Groups = append(s.Groups, g)
	}
	return s
}

func TestPayloadRoundTrip(t *testing.T) {
	var e Encoder
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(Version10).Draw(t, "value")
		e.Plain = rapid.Bool().Draw(t, "plain")
		payload, err := e.Dump([]byte("before"), v)
		require.NoError(t, err)
		var got Value
		require.NoError(t, Restore(payload[len("before"):], &got))
		require.Equal(t, describe(v), describe(&got))
	})
}

func TestKindNames(t *testing.T) {
	require.Equal(t, "zset", KindZSet.String())
	require.Equal(t, "unknown", Kind(99).String())
}
