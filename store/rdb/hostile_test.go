package rdb

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorded gives the values, without footers, of the recorded payloads and the
// old forms.
func recorded(t require.TestingT) [][]byte {
	f, err := os.Open(goldenFile)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	var out [][]byte
	for i := 0; lines.Scan(); i++ {
		if i%4 >= 2 {
			p, err := hex.DecodeString(lines.Text())
			require.NoError(t, err)
			out = append(out, p[:len(p)-footerSize])
		}
	}
	require.NoError(t, lines.Err())
	for _, f := range oldForms() {
		if len(f.value) < 1000 {
			out = append(out, f.value)
		}
	}
	return out
}

func TestBadFooter(t *testing.T) {
	good := seal(10, join(typeString, []byte("v")))
	require.NoError(t, Restore(good, new(Value)))
	for i := range footerSize {
		bad := slices.Clone(good)
		bad[len(bad)-1-i] ^= 1
		require.ErrorIs(t, Restore(bad, new(Value)), ErrBadPayload)
	}
	for n := range footerSize + 1 {
		require.ErrorIs(t, Restore(seal(10, nil)[:n], new(Value)), ErrBadPayload)
	}
	zeroSum := append(slices.Clone(good[:len(good)-8]), make([]byte, 8)...)
	require.ErrorIs(t, Restore(zeroSum, new(Value)), ErrBadPayload)
	for version, want := range map[int]error{0: ErrBadPayload, 1: nil, 11: nil, 12: nil, 13: ErrBadPayload,
		79: ErrBadPayload, 80: nil, 81: ErrBadPayload, 65535: ErrBadPayload} {
		require.Equal(t, want, Restore(seal(version, join(typeString, []byte("v"))), new(Value)), "version %d", version)
	}
	require.Equal(t, "ERR DUMP payload version or checksum are wrong", ErrBadPayload.Error())
	require.Equal(t, "ERR Bad data format", ErrBadData.Error())
}

func TestRefused(t *testing.T) {
	id := "\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00"
	node := listpackOf("1", "0", "1", "f", "0", "2", "0", "0", "v", "4")
	nan := math.Float64bits(math.NaN())
	huge := "\x81\x7f\xff\xff\xff\xff\xff\xff\xff"
	for name, c := range map[string]struct {
		version int
		value   []byte
		class   error
	}{
		"set twice":              {10, join(typeSet, 2, []byte("a"), []byte("a")), nil},
		"set twice, number":      {10, join(typeSet, 2, []byte("7"), "\xc0\x07"), nil},
		"set listpack twice":     {11, join(typeSetListpack, listpackOf("a", "a")), nil},
		"hash twice":             {10, join(typeHash, 2, []byte("a"), []byte("1"), []byte("a"), []byte("2")), nil},
		"hash listpack twice":    {10, join(typeHashListpack, listpackOf("a", "1", "a", "2")), nil},
		"hash odd":               {10, join(typeHashListpack, listpackOf("a", "1", "b")), nil},
		"zset twice":             {10, join(typeZSet2, 2, []byte("a"), uint64(0), []byte("a"), uint64(1)), nil},
		"zset listpack twice":    {10, join(typeZSetListpack, listpackOf("a", "1", "a", "2")), nil},
		"zset NaN":               {10, join(typeZSet2, 1, []byte("a"), nan), nil},
		"zset ASCII NaN":         {10, join(typeZSet, 1, []byte("a"), 253), nil},
		"zset listpack NaN":      {10, join(typeZSetListpack, listpackOf("a", "nan")), nil},
		"zset score of text":     {10, join(typeZSetListpack, listpackOf("a", "b")), nil},
		"intset order":           {10, join(typeSetIntset, []byte("\x02\x00\x00\x00\x02\x00\x00\x00\x05\x00\x05\x00")), nil},
		"intset size":            {10, join(typeSetIntset, []byte("\x03\x00\x00\x00\x01\x00\x00\x00\x05\x00\x05")), nil},
		"list empty":             {10, join(typeList, 0), ErrEmpty},
		"quicklist empty":        {10, join(typeListQuicklist2, 1, nodePacked, listpackOf()), ErrEmpty},
		"hash empty":             {10, join(typeHashListpack, listpackOf()), ErrEmpty},
		"zset empty":             {10, join(typeZSet2, 0), ErrEmpty},
		"set huge":               {10, join(typeSet, huge, []byte("a")), nil},
		"hash huge":              {10, join(typeHash, huge, []byte("a")), nil},
		"zset huge":              {10, join(typeZSet2, huge, []byte("a")), nil},
		"quicklist huge":         {10, join(typeListQuicklist2, huge, 2), nil},
		"string huge":            {10, join(typeString, huge, "a"), nil},
		"compressed huge":        {10, join(typeString, 3<<6|encLZF, 2, huge, "\x00a"), nil},
		"stream huge":            {10, join(typeStream2, huge), nil},
		"stream groups huge":     {10, join(typeStream2, 0, 0, 0, 0, 0, 0, 0, 0, 0, huge), nil},
		"stream pending huge":    {10, join(typeStream2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, []byte("g"), 0, 0, 0, huge), nil},
		"unknown container":      {10, join(typeListQuicklist2, 1, 3, listpackOf("a")), nil},
		"module":                 {10, join(typeModule2, "\x81\x24\x99\xc3\x7e\x61\xa5\xc8\x01", 0), ErrModule},
		"module, candidate":      {10, join(typeModulePreGA, 0), ErrModule},
		"unknown type":           {10, join(8, 0), nil},
		"Valkey's type at 12":    {12, join(typeHash2, 1, []byte("a"), []byte("1"), uint64(5)), nil},
		"Redis's type at 80":     {80, join(typeHashMeta, uint64(5), 1, 1, []byte("a"), []byte("1")), nil},
		"deadline order":         {12, join(typeHashListpackExRC, listpackOf("a", "1", "0", "b", "2", "9")), nil},
		"deadline text":          {12, join(typeHashListpackExRC, listpackOf("a", "1", "b")), nil},
		"deadline range":         {12, join(typeHashMetaPreGA, 1, huge, []byte("a"), []byte("1")), nil},
		"deadline negative":      {80, join(typeHash2, 1, []byte("a"), []byte("1"), uint64(1<<63)), nil},
		"stream node key":        {10, join(typeStream2, 1, []byte("short"), node), nil},
		"stream node twice":      {10, join(typeStream2, 2, []byte(id), node, []byte(id), node, 2, 5, 0, 5, 0, 0, 0, 2, 0), nil},
		"stream entry past last": {10, join(typeStream2, 1, []byte(id), node, 1, 4, 0, 4, 0, 0, 0, 1, 0), nil},
		"stream without entries": {10, join(typeStream2, 0, 1, 4, 0, 4, 0, 0, 0, 1, 0), nil},
		"stream group twice":     {10, join(typeStream2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, []byte("g"), 0, 0, 0, 0, 0, []byte("g"), 0, 0, 0, 0, 0), nil},
		"pending without owner":  {10, join(typeStream2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, []byte("g"), 0, 0, 0, 1, id, uint64(0), 1, 0), nil},
	} {
		var v Value
		err := Restore(seal(c.version, c.value), &v)
		require.ErrorIs(t, err, ErrBadData, name)
		require.Zero(t, v, name)
		if c.class != nil {
			require.ErrorIs(t, err, c.class, name)
		}
	}
}

func TestModuleIsNamed(t *testing.T) {
	// The name is nine letters of six bits above a version of ten.
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	var id uint64
	for _, c := range "ReJSON-RL" {
		id = id<<6 | uint64(strings.IndexRune(letters, c))
	}
	value := appendLength([]byte{typeModule2}, id<<10|3)
	require.ErrorContains(t, Restore(seal(10, value), new(Value)), `"ReJSON-RL"`)
}

// TestTruncated cuts each recorded value everywhere.
func TestTruncated(t *testing.T) {
	for _, p := range recorded(t) {
		for n := range p {
			require.Error(t, Restore(seal(10, p[:n]), new(Value)), "%x cut to %d", p, n)
		}
	}
}

// TestAllocationIsBounded announces much in few bytes.
func TestAllocationIsBounded(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, typ := range []int{typeString, typeList, typeSet, typeHash, typeZSet2, typeStream2, typeListQuicklist2} {
		for _, n := range []string{"\x80\x7f\xff\xff\xff", "\x81\x00\x00\x00\xff\xff\xff\xff\xff", "\xc3\x02\x80\x7f\xff\xff\xff"} {
			value := join(typ, n, "abc")
			require.Error(t, Restore(seal(10, value), new(Value)))
			r, err := NewReader(bytes.NewReader(append(append([]byte("REDIS0010"), byte(typ), 1, 'k'), value[1:]...)))
			require.NoError(t, err)
			_, err = r.Next()
			require.Error(t, err)
		}
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
}

// FuzzRestore looks for panics, and for values that do not survive being
// encoded again.
func FuzzRestore(f *testing.F) {
	for _, p := range recorded(f) {
		f.Add(uint8(10), p)
	}
	f.Add(uint8(80), join(typeHash2, 1, []byte("a"), []byte("1"), uint64(5)))
	f.Add(uint8(12), join(typeHashMeta, uint64(5), 1, 1, []byte("a"), []byte("1")))
	f.Add(uint8(12), join(typeHashListpackEx, uint64(5), listpackOf("b", "2", "5", "a", "1", "0")))
	f.Add(uint8(11), join(typeSetListpack, listpackOf("a", "1")))
	f.Add(uint8(11), join(typeStream3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, []byte("g"), 0, 0, 0, 0, 1, []byte("c"), uint64(9), uint64(8), 0))
	f.Fuzz(func(t *testing.T, version uint8, value []byte) {
		var v, again Value
		if Restore(seal(int(version), value), &v) != nil {
			return
		}
		payload, err := Dump(&v)
		require.NoError(t, err)
		require.NoError(t, Restore(payload, &again))
		if v.Kind == KindStream {
			for i := range v.Stream.Groups {
				for j := range v.Stream.Groups[i].Consumers {
					c := &v.Stream.Groups[i].Consumers[j]
					c.ActiveTime = c.SeenTime
				}
			}
		}
		require.Equal(t, describe(&v), describe(&again))
	})
}
