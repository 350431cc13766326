package fence

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	cases := []struct {
		rest  string
		kind  Kind
		name  string
		group string
	}{
		{"", Base, "", ""},
		{"pending", Pending, "", ""},
		{"active", Active, "", ""},
		{"schedule", Schedule, "", ""},
		{"dead", Dead, "", ""},
		{"meta", Meta, "", ""},
		{"metrics:completed", MetricsCompleted, "", ""},
		{"metrics:failed", MetricsFailed, "", ""},
		{"ring", Ring, "", ""},
		{"wake", Wake, "", ""},
		{"paused", Paused, "", ""},
		{"glimit", GroupLimit, "", ""},
		{"gactive", GroupActive, "", ""},
		{"gweight", GroupWeight, "", ""},
		{"limiter", Limiter, "", ""},
		{"repeat", Repeat, "", ""},
		{"flow:outbox", Outbox, "", ""},
		{"events", Events, "", ""},
		{"job:JOB0KHTOWnGLuC", Row, "JOB0KHTOWnGLuC", ""},
		{"job:x", Row, "x", ""},
		{"job:a:b", Row, "a:b", ""},
		{"job:a:", Row, "a:", ""},
		{"job:logs", Row, "logs", ""},
		{"job:JOBx:LOGS", Row, "JOBx:LOGS", ""},
		{"job:JOBx:logs:1", Row, "JOBx:logs:1", ""},
		{"job:JOBx:logs", RowLogs, "JOBx", ""},
		{"job:JOBx:lock", RowLock, "JOBx", ""},
		{"job:JOBx:dependencies", RowDependencies, "JOBx", ""},
		{"job:JOBx:processed", RowProcessed, "JOBx", ""},
		{"job:JOBx:failed", RowFailed, "JOBx", ""},
		{"job:JOBx:unsuccessful", RowUnsuccessful, "JOBx", ""},
		{"job:logs:logs", RowLogs, "logs", ""},
		{"g:blue:pending", Lane, "blue", ""},
		{"g::::pending", Lane, "::", ""},
		{"g:pending:pending", Lane, "pending", ""},
		{"g:a:pending:pending", Lane, "a:pending", ""},
		{"g:{}:pending", Lane, "{}", ""},
		{"de:k", Dedup, "k", ""},
		{"de:a:b\x00", Dedup, "a:b\x00", ""},
		{"de:", Dedup, "", ""},
		{"repeat:nightly", RepeatRecord, "nightly", ""},
		{"repeat::", RepeatRecord, ":", ""},
		{"stream:s", Stream, "s", ""},
		{"stream:failures:x", Stream, "failures:x", ""},
		{"stream:s:failed", Stream, "s:failed", ""},
		{"stream:s:failures:g", Failures, "s", "g"},
		{"stream:failures:failures:g", Failures, "failures", "g"},
		{"stream:s:failures:g:failures:h", Failures, "s", "g:failures:h"},
		{"stream:s:failures:failures:g", Failures, "s", "failures:g"},
	}
	seen := map[Kind]bool{}
	for _, c := range cases {
		for _, queue := range []string{"q", "a:b", ":", "emq:", "a b"} {
			text := "emq:{" + queue + "}:" + c.rest
			key, ok := Parse([]byte(text))
			require.True(t, ok, text)
			require.Equal(t, c.kind, key.Kind, text)
			require.Equal(t, "emq:{"+queue+"}:", string(key.Base))
			require.Equal(t, queue, string(key.Queue()))
			require.Equal(t, c.name, string(key.Name), text)
			require.Equal(t, c.group, string(key.Group), text)
			require.Equal(t, text, string(appendBack(nil, key)))
			require.Equal(t, c.kind == Row, IsRow([]byte(text), key.Base, key.Name), text)
		}
		seen[c.kind] = true
	}
	for kind := range Kinds() {
		require.True(t, seen[kind], "no case for %s", kind)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, key := range []string{
		"", "emq:", "emq:{", "emq:{}", "emq:{}:", "emq:{}:pending", "emq:{q}", "emq:{q}pending", "emq:{q}.pending",
		"emq:{q", "emq:q:pending", "EMQ:{q}:pending", " emq:{q}:pending", "{emq}:version", "emq:{{q}:pending",
		"emq:{a{b}:pending", "emq:{q}}:pending", "emq:{a\x00b}:pending", "emq:{q}::pending",
		"emq:{q}:Pending", "emq:{q}:pending ", "emq:{q}:pending:", "emq:{q}:nothing", "emq:{q}:metrics:",
		"emq:{q}:metrics:other", "emq:{q}:metrics", "emq:{q}:flow:", "emq:{q}:flow", "emq:{q}::",
		"emq:{q}:job", "emq:{q}:job:", "emq:{q}:job::logs", "emq:{q}:job:JOBx:logs:failed",
		"emq:{q}:g:", "emq:{q}:g:pending", "emq:{q}:g::pending", "emq:{q}:g:a\x00:pending", "emq:{q}:g:a:active",
		"emq:{q}:de", "emq:{q}:repeat:", "emq:{q}:stream", "emq:{q}:stream:", "emq:{q}:stream:s:failures",
		"emq:{q}:stream:s:failures:", "emq:{q}:stream::failures:g", "emq:{q}:events:",
	} {
		got, ok := Parse([]byte(key))
		require.False(t, ok, "%q", key)
		require.Equal(t, Key{}, got)
	}
}

func TestValidID(t *testing.T) {
	for _, id := range []string{"JOB0KHTOWnGLuC", "x", ":", "a:b", "logs", "JOBx:log", "JOBx:logs ", "JOBx:lock:"} {
		require.True(t, ValidID([]byte(id)), id)
	}
	for _, id := range []string{"", ":logs", "JOBx:logs", "JOBx:lock", "JOBx:dependencies", "JOBx:processed",
		"JOBx:failed", "JOBx:unsuccessful", "a:b:logs"} {
		require.False(t, ValidID([]byte(id)), id)
		key := AppendRow(nil, []byte("emq:{q}:"), []byte(id))
		require.False(t, IsRow(key, []byte("emq:{q}:"), []byte(id)), "%s has no row", key)
	}
}

func TestSplitBaseAliases(t *testing.T) {
	key := []byte("emq:{q}:pending")
	base, rest, ok := SplitBase(key)
	require.True(t, ok)
	require.Equal(t, "pending", string(rest))
	_ = append(base, "XXXXXXX"...)
	require.Equal(t, "emq:{q}:pending", string(key), "an append to the base must not reach the key")
}

func TestKindTexts(t *testing.T) {
	require.Equal(t, "the job row emq:{q}:job:<id>", Row.String())
	require.Equal(t, "emq:{q}:", Base.Pattern())
	require.Equal(t, "emq:{q}:stream:<name>:failures:<group>", Failures.Pattern())
	require.Equal(t, "no key of a queue", Unknown.String())
	require.Equal(t, "no key of a queue", Kind(255).String())
	require.Empty(t, Kind(255).Pattern())
	require.True(t, Row.Named())
	require.False(t, Base.Named())
	patterns := map[string]bool{}
	for kind := range Kinds() {
		require.NotEmpty(t, kind.Noun(), kind.Pattern())
		require.False(t, patterns[kind.Pattern()], kind.Pattern())
		patterns[kind.Pattern()] = true
	}
	for _, sub := range RowSubs() {
		require.True(t, sub.OfRow())
		require.Equal(t, "emq:{q}:job:JOBx"+sub.spelling().suffix,
			string(AppendRowSub(nil, []byte("emq:{q}:"), []byte("JOBx"), sub)))
	}
	require.False(t, Dead.OfRow())
	require.False(t, Meta.OfRow())
}

// appendBack writes a parsed key again from its parts.
func appendBack(dst []byte, key Key) []byte {
	base := AppendBase(nil, key.Queue())
	switch {
	case key.Kind == Failures:
		return AppendFailures(dst, base, key.Name, key.Group)
	case key.Kind == Row:
		return AppendRow(dst, base, key.Name)
	case key.Kind == Lane:
		return AppendLane(dst, base, key.Name)
	case key.Kind.Named():
		return AppendNamed(dst, base, key.Kind, key.Name)
	}
	return AppendKey(dst, base, key.Kind)
}

// nameGen draws short names out of the pieces that the grammar is made of, so that
// collisions of names with suffixes and infixes are common.
func nameGen() *rapid.Generator[[]byte] {
	piece := rapid.SampledFrom([]string{"a", ":", "job", "logs", ":logs", ":lock", "failures", ":failures",
		":failures:", "pending", ":pending", "{", "}", "\x00", "JOB0KHTOWnGLuC", "\xff"})
	return rapid.Custom(func(t *rapid.T) []byte {
		return bytes.Join(bytesOf(rapid.SliceOfN(piece, 0, 5).Draw(t, "pieces")), nil)
	})
}

func bytesOf(pieces []string) [][]byte { return keysOf(pieces...) }

func TestKeyRoundTrip(t *testing.T) {
	kinds := []Kind{}
	for kind := range Kinds() {
		kinds = append(kinds, kind)
	}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		want := Key{Kind: kind}
		queue := nameGen().Filter(ValidQueue).Draw(t, "queue")
		want.Base = AppendBase(nil, queue)
		switch {
		case kind.OfRow():
			want.Name = nameGen().Filter(ValidID).Draw(t, "id")
		case kind == Lane:
			want.Name = nameGen().Filter(ValidGroup).Draw(t, "group")
		case kind == Stream || kind == Failures:
			want.Name = nameGen().Filter(ValidStream).Draw(t, "stream")
		case kind == RepeatRecord:
			want.Name = nameGen().Filter(func(b []byte) bool { return len(b) > 0 }).Draw(t, "name")
		case kind == Dedup:
			want.Name = nameGen().Draw(t, "dedup")
		}
		if kind == Failures {
			want.Group = nameGen().Filter(func(b []byte) bool { return len(b) > 0 }).Draw(t, "group")
		}
		text := appendBack(nil, want)
		got, ok := Parse(text)
		require.True(t, ok, "%q", text)
		require.Equal(t, want.Kind, got.Kind, "%q", text)
		require.Equal(t, string(want.Base), string(got.Base))
		require.Equal(t, string(want.Name), string(got.Name), "%q", text)
		require.Equal(t, string(want.Group), string(got.Group), "%q", text)
	})
}

func FuzzParse(f *testing.F) {
	f.Fuzz(func(t *testing.T, key []byte) {
		base, rest, split := SplitBase(key)
		got, ok := Parse(key)
		if !split {
			require.False(t, ok)
			return
		}
		require.Equal(t, key, append(append([]byte{}, base...), rest...))
		require.True(t, ValidQueue(Queue(base)))
		if !ok {
			require.Equal(t, Key{}, got)
			return
		}
		require.Equal(t, string(key), string(appendBack(nil, got)))
		if got.Kind.OfRow() {
			require.True(t, ValidID(got.Name))
		}
		again, ok := parseNear(base, key)
		require.True(t, ok)
		require.Equal(t, got, again)
	})
}

func TestKeyAllocs(t *testing.T) {
	keys := keysOf("emq:{q}:pending", "emq:{q}:job:JOB0KHTOWnGLuC:dependencies", "emq:{q}:g:blue:pending",
		"emq:{q}:stream:s:failures:g", "emq:{q}:de:k", "emq:{q}:repeat:n", "emq:{q}:nothing", "nothing")
	base, id, group := []byte("emq:{q}:"), []byte("JOB0KHTOWnGLuC"), []byte("blue")
	row := AppendRow(nil, base, id)
	buf := make([]byte, 0, 256)
	allocs := testing.AllocsPerRun(100, func() {
		for _, key := range keys {
			Parse(key)
		}
		buf = AppendBase(buf[:0], group)
		buf = AppendKey(buf[:0], base, Meta)
		buf = AppendRow(buf[:0], base, id)
		buf = AppendLane(buf[:0], base, group)
		buf = AppendFailures(buf[:0], base, group, group)
		for _, sub := range RowSubs() {
			buf = AppendRowSub(buf[:0], base, id, sub)
		}
		if !IsRow(row, base, id) || !ValidStream(group) || !ValidGroup(group) {
			t.Fatal("a valid key was refused")
		}
	})
	require.Zero(t, allocs)
}

// TestOwnerOf: every sub-key of a row tells whose it is, and a row that it is none.
func TestOwnerOf(t *testing.T) {
	base := AppendBase(nil, []byte("q"))
	for _, id := range []string{"J", "JOB0NgWEfAEJdA", "a:b", ":", "x:logs:y"} {
		row := AppendRow(nil, base, []byte(id))
		require.Zero(t, OwnerOf(row), id)
		for _, sub := range RowSubs() {
			require.Equal(t, len(row), OwnerOf(AppendRowSub(nil, base, []byte(id), sub)), "%s of %s", sub, id)
		}
	}
	require.Zero(t, OwnerOf(nil))
}
