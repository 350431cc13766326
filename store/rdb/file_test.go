package rdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// fileOf builds a file from its version and parts, see join, and its checksum.
func fileOf(head string, parts ...any) []byte {
	p := append(append([]byte(head), join(parts...)...), opEOF)
	return binary.LittleEndian.AppendUint64(p, CRC64(0, p))
}

func TestFileRoundTrip(t *testing.T) {
	for _, version := range []int{Version10, Version11, Version80} {
		rapid.Check(t, func(rt *rapid.T) {
			var buf bytes.Buffer
			w, err := NewWriter(&buf, version)
			require.NoError(rt, err)
			require.NoError(rt, w.Aux("redis-bits", "64"))
			want := map[string]string{}
			for db := range rapid.IntRange(0, 3).Draw(rt, "databases") {
				require.NoError(rt, w.SelectDB(db, 3, 1))
				for i := range 3 {
					v := anyValue(version).Draw(rt, "value")
					at := rapid.Int64Min(0).Draw(rt, "at")
					require.NoError(rt, w.Key(fmt.Append(nil, i), at, v))
					want[fmt.Sprintf("%d %d %d", db, i, at)] = describe(v)
				}
			}
			require.NoError(rt, w.Close())
			require.Equal(rt, int64(buf.Len()), w.Offset())

			r, err := NewReader(iotest.HalfReader(&buf))
			require.NoError(rt, err)
			require.Equal(rt, version, r.Version())
			got, aux := map[string]string{}, ""
			r.OnAux = func(key, value []byte) { aux += fmt.Sprintf("%s=%s", key, value) }
			require.NoError(rt, r.Each(func(e *Entry) error {
				got[fmt.Sprintf("%d %s %d", e.DB, e.Key, e.ExpireAt)] = describe(&e.Value)
				return nil
			}))
			require.Equal(rt, want, got)
			require.Equal(rt, "redis-bits=64", aux)
		})
	}
}

func TestFileOpcodes(t *testing.T) {
	raw := fileOf("VALKEY080", opAux, []byte("valkey-ver"), []byte("9.0.0"),
		opFunction2, []byte("library"), opModuleAux, 1, 2, 2, 1, 7, 2, 8, 3, "1234", 4, "12345678", 5, []byte("s"), 0,
		opSelectDB, 9, opResizeDB, 3, 1, opSlotInfo, 1, 2, 3, opSlotImport, []byte("job"), 1, 0, 5,
		opExpireTime, "\x02\x00\x00\x00", opIdle, 5, typeString, []byte("a"), []byte("1"),
		opExpireTimeMs, uint64(77), opFreq, 5, typeSet, []byte("none"), 0,
		typeString, []byte("b"), []byte("2"), opExpireTimeMs, uint64(0), typeString, []byte("c"), []byte("3"),
		opExpireTimeMs, uint64(1<<64-1), typeString, []byte("d"), []byte("4"))
	r, err := NewReader(bytes.NewReader(append(raw, "more"...)))
	require.NoError(t, err)
	sizes := ""
	r.OnResize = func(db int, keys, deadlines uint64) { sizes = fmt.Sprint(db, keys, deadlines) }
	var got []string
	require.NoError(t, r.Each(func(e *Entry) error {
		got = append(got, fmt.Sprint(e.DB, " ", string(e.Key), " ", e.ExpireAt, " ", string(e.Value.Str)))
		return nil
	}))
	require.Equal(t, []string{"9 a 2000 1", "9 b 0 2", "9 c 1 3", "9 d 0 4"}, got)
	require.Equal(t, "9 3 1", sizes)
	require.Equal(t, Skipped{EmptyKeys: 1, Functions: 1, ModuleAux: 1, SlotImports: 1}, r.Skipped())
	require.Equal(t, int64(len(raw)), r.Offset())
	rest, err := io.ReadAll(r.Rest())
	require.NoError(t, err)
	require.Equal(t, "more", string(rest))
}

func TestFileChecksum(t *testing.T) {
	raw := fileOf("REDIS0010", typeString, []byte("a"), []byte("1"))
	last := func(raw []byte) error {
		r, err := NewReader(bytes.NewReader(raw))
		require.NoError(t, err)
		return r.Each(func(*Entry) error { return nil })
	}
	require.NoError(t, last(raw))
	bad := bytes.Clone(raw)
	bad[len(bad)-1] ^= 1
	require.ErrorIs(t, last(bad), ErrChecksum)
	clear(bad[len(bad)-8:])
	require.NoError(t, last(bad), "zero is a checksum that was not computed")
	old := append([]byte("REDIS0004"), raw[9:len(raw)-8]...)
	require.NoError(t, last(old), "version 4 has no checksum")
}

func TestFileHeads(t *testing.T) {
	for _, head := range []string{"REDIS0000", "REDIS0013", "REDIS0080", "VALKEY011", "VALKEY081"} {
		_, err := NewReader(strings.NewReader(head))
		require.ErrorIs(t, err, ErrVersion, head)
	}
	for _, head := range []string{"", "REDIS001", "REDIX0010", "REDIS00x0", "VALKEY-80"} {
		_, err := NewReader(strings.NewReader(head))
		require.ErrorIs(t, err, ErrBadData, head)
	}
	_, err := NewWriter(io.Discard, 9)
	require.ErrorIs(t, err, ErrVersion)
}

func TestFileErrors(t *testing.T) {
	for want, parts := range map[string][]any{
		`rdb: element named twice (database 3, key "k") at byte 19`:                             {opSelectDB, 3, typeSet, []byte("k"), 2, []byte("m"), []byte("m")},
		`rdb: unknown value type 240 (database 0, key "k") at byte 12`:                          {240, []byte("k")},
		`rdb: unknown value type 243 (database 0, key "k") at byte 12`:                          {opSlotImport, []byte("k")},
		`rdb: value of module type "AAAAAAAAA" cannot be read (database 0, key "k") at byte 13`: {typeModule2, []byte("k"), 1},
		`rdb: function library in a form that was never released at byte 10`:                    {opFunctionPreGA},
	} {
		r, err := NewReader(bytes.NewReader(fileOf("REDIS0010", parts...)))
		require.NoError(t, err)
		_, err = r.Next()
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, ErrBadData)
		_, again := r.Next()
		require.Equal(t, err, again)
	}
}

func TestFileTruncated(t *testing.T) {
	raw := fileOf("REDIS0010", opSelectDB, 0, typeString, []byte("a"), []byte("1"), typeSet, []byte("b"), 1, []byte("m"))
	for n := range len(raw) - 1 {
		r, err := NewReader(bytes.NewReader(raw[:n+1]))
		if err == nil {
			err = r.Each(func(*Entry) error { return nil })
		}
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "cut to %d", n+1)
	}
}

func TestFileStreamErrors(t *testing.T) {
	broken := errors.New("disk broken")
	r, err := NewReader(io.MultiReader(strings.NewReader("REDIS0010"), iotest.ErrReader(broken)))
	require.NoError(t, err)
	_, err = r.Next()
	require.ErrorIs(t, err, broken)
	require.NotErrorIs(t, err, ErrBadData)

	w, err := NewWriter(failing{broken}, Version10)
	require.NoError(t, err)
	require.ErrorIs(t, w.Close(), broken)
	require.ErrorIs(t, w.Aux("a", "b"), broken)
	require.ErrorIs(t, w.SelectDB(0, 0, 0), broken)
	require.ErrorIs(t, w.Key(nil, 0, &Value{}), broken)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestUnwritableValues shows that a refused value leaves the file as it was.
func TestUnwritableValues(t *testing.T) {
	var buf bytes.Buffer
	w, err := NewWriter(&buf, Version11)
	require.NoError(t, err)
	for _, kind := range []Kind{KindList, KindSet, KindHash, KindZSet} {
		require.ErrorIs(t, w.Key([]byte("k"), 1, &Value{Kind: kind}), ErrEmpty)
		_, err := Dump(&Value{Kind: kind})
		require.ErrorIs(t, err, ErrEmpty)
	}
	nan := 0.0
	nan /= nan
	require.ErrorIs(t, w.Key([]byte("k"), 1, &Value{Kind: KindZSet, Scored: []Scored{{Score: nan}}}), ErrNaN)
	require.ErrorIs(t, w.Key([]byte("k"), 1, &Value{Kind: KindHash, Fields: []Field{{ExpireAt: 1}}}), ErrNeedsVersion80)
	require.NoError(t, w.Close())
	require.Equal(t, fileOf("REDIS0011"), buf.Bytes())
}

// TestLargeStrings passes values that are longer than the window and than what
// is allocated on the word of a length.
func TestLargeStrings(t *testing.T) {
	var buf bytes.Buffer
	w, err := NewWriter(&buf, Version10)
	require.NoError(t, err)
	var want []string
	for i, n := range []int{windowSize - 1, windowSize, windowSize + 1, 3 * windowSize, firstRead + 5, 5 * firstRead} {
		s := bytes.Repeat([]byte{byte('a' + i), 'x'}, n/2)
		w.Encoder.Plain = i%2 == 0
		require.NoError(t, w.Key([]byte("k"), 0, &Value{Str: s}))
		require.NoError(t, w.Key([]byte("l"), 0, &Value{Kind: KindList, Items: [][]byte{s, s[:9], s}}))
		want = append(want, string(s), string(s)+string(s[:9])+string(s))
	}
	require.NoError(t, w.Close())
	r, err := NewReader(iotest.HalfReader(&buf))
	require.NoError(t, err)
	var got []string
	require.NoError(t, r.Each(func(e *Entry) error {
		got = append(got, string(e.Value.Str)+string(bytes.Join(e.Value.Items, nil)))
		return nil
	}))
	require.Equal(t, want, got)
}

// FuzzReader looks for panics in whole files.
func FuzzReader(f *testing.F) {
	f.Add(fileOf("REDIS0010", opSelectDB, 1, typeString, []byte("a"), []byte("1")))
	for _, p := range recorded(f) {
		f.Add(append(append([]byte("REDIS0012"), p[0], 1, 'k'), p[1:]...))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := NewReader(bytes.NewReader(raw))
		if err != nil {
			return
		}
		err = r.Each(func(e *Entry) error {
			_ = describe(&e.Value)
			return nil
		})
		require.LessOrEqual(t, r.Offset(), int64(len(raw)))
		if err != nil {
			require.ErrorIs(t, err, ErrBadData)
		}
	})
}

// TestMembersNamedTwice has sorted sets in which the same member comes twice, in the orders in which servers write them and in others.
func TestMembersNamedTwice(t *testing.T) {
	for members, ok := range map[string]bool{
		"a": true, "ab": true, "ba": true, "abcde": true, "edcba": true, "acbd": true,
		"aa": false, "aab": false, "abb": false, "aba": false, "bab": false, "cbac": false, "abcabc": false, "edcc": false,
	} {
		for _, many := range []int{0, 20} { // few are compared with each other, many are hashed
			parts := []any{typeZSet2, []byte("k"), len(members) + many}
			for i := range len(members) + many {
				m := fmt.Sprintf("z%02d", i)
				if i < len(members) {
					m = members[i : i+1]
				}
				parts = append(parts, []byte(m), 0, 0, 0, 0, 0, 0, i, 0x40)
			}
			r, err := NewReader(bytes.NewReader(fileOf("REDIS0010", parts...)))
			require.NoError(t, err)
			e, err := r.Next()
			if !ok {
				require.ErrorContains(t, err, "element named twice", members)
				continue
			}
			require.NoError(t, err, members)
			require.Len(t, e.Value.Scored, len(members)+many)
		}
	}
}
