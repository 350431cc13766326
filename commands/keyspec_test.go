package commands

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func words(line string) [][]byte {
	var args [][]byte
	for _, w := range strings.Fields(line) {
		args = append(args, []byte(w))
	}
	return args
}

const (
	roa = KeyRO | KeyAccess
	rwu = KeyRW | KeyAccess | KeyUpdate
	owu = KeyOW | KeyUpdate
)

// specRows are key-specs of every form, as Valkey has them.
var specRows = map[string]Row{
	"get":   {Arity: 2, Keys: []KeySpec{{Index: 1, Flags: roa}}},
	"mset":  {Arity: -3, Keys: []KeySpec{{Index: 1, Last: -1, Step: 2, Flags: owu}}},
	"mget":  {Arity: -2, Keys: []KeySpec{{Index: 1, Last: -1, Flags: roa}}},
	"blpop": {Arity: -3, Keys: []KeySpec{{Index: 1, Last: -2, Flags: rwu}}},
	"rename": {Arity: 3, Keys: []KeySpec{
		{Index: 1, Flags: KeyRW | KeyAccess | KeyDelete}, {Index: 2, Flags: owu},
	}},
	"eval": {Arity: -3, Flags: NoMandatoryKeys, Keys: []KeySpec{
		{Index: 2, Numbered: true, FirstKey: 1, Flags: rwu},
	}},
	"zunionstore": {Arity: -4, Keys: []KeySpec{
		{Index: 1, Flags: owu}, {Index: 2, Numbered: true, FirstKey: 1, Flags: roa},
	}},
	"xread":      {Arity: -4, Keys: []KeySpec{{Keyword: "STREAMS", From: 1, Last: -1, Limit: 2, Flags: roa}}},
	"xreadgroup": {Arity: -7, Keys: []KeySpec{{Keyword: "STREAMS", From: 4, Last: -1, Limit: 2, Flags: roa}}},
	"migrate": {Arity: -6, Keys: []KeySpec{
		{Index: 3, Flags: roa}, {Keyword: "KEYS", From: -2, Last: -1, Flags: roa},
	}},
	"set":      {Arity: -3, Keys: []KeySpec{{Index: 1, Flags: rwu | KeyVariable}}, FindKeys: setKeys},
	"bitfield": {Arity: -2, Keys: []KeySpec{{Index: 1, Flags: rwu | KeyVariable}}, FindKeys: bitfieldKeys},
	"sort": {Arity: -2, FindKeys: lastStore, Keys: []KeySpec{
		{Index: 1, Flags: roa}, {Unknown: true, Flags: roa | KeyIncomplete}, {Unknown: true, Flags: owu | KeyIncomplete},
	}},
	"psubscribe": {Arity: -2, Keys: []KeySpec{{Index: 1, Last: -1, Flags: KeyChannel | KeyPattern}}},
	"spublish":   {Arity: 3, Keys: []KeySpec{{Index: 1, Flags: KeyNotKey}, {Index: 1, Flags: KeyChannel}}},
	"ping":       {Arity: -1},
}

// lastStore finds the first argument and the one behind the last STORE.
func lastStore(args [][]byte, dst []KeyAt) []KeyAt {
	dst = append(dst, KeyAt{1, roa})
	for i := len(args) - 2; i > 1; i-- {
		if Is(args[i], "store") {
			return append(dst, KeyAt{i + 1, owu})
		}
	}
	return dst
}

func specRow(name string) *Row {
	row, ok := specRows[strings.ToLower(name)]
	if !ok {
		return nil
	}
	return &row
}

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		call string
		want []KeyAt
		err  error
	}{
		{"get k", []KeyAt{{1, roa}}, nil},
		{"mset a 1 b 2", []KeyAt{{1, owu}, {3, owu}}, nil},
		{"mset a 1 b", []KeyAt{{1, owu}, {3, owu}}, nil},
		{"mget a b", []KeyAt{{1, roa}, {2, roa}}, nil},
		{"blpop a b 0", []KeyAt{{1, rwu}, {2, rwu}}, nil},
		{"rename a b", []KeyAt{{1, KeyRW | KeyAccess | KeyDelete}, {2, owu}}, nil},
		{"eval s 2 a b c", []KeyAt{{3, rwu}, {4, rwu}}, nil},
		{"eval s 0 a", nil, nil},
		{"eval s x a", nil, nil},
		{"eval s -1 a", nil, nil},
		{"eval s 3 a b", nil, nil},
		{"eval s 4294967297 a b", nil, nil},
		{"eval s 9223372036854775807 a b", nil, nil},
		{"zunionstore d 2 a b", []KeyAt{{1, owu}, {3, roa}, {4, roa}}, nil},
		{"zunionstore d 0 a", nil, ErrKeysArgs},
		{"xread COUNT 2 streams a b 0 0", []KeyAt{{4, roa}, {5, roa}}, nil},
		{"xread a b c", nil, ErrKeysArgs},
		{"xread count 1 streams", nil, ErrKeysArgs},
		{"xreadgroup GROUP streams c STREAMS a >", []KeyAt{{5, roa}}, nil},
		{"migrate h p k 0 1 KEYS a b", []KeyAt{{3, roa}, {7, roa}, {8, roa}}, nil},
		{"migrate h p k 0 1 COPY", []KeyAt{{3, roa}}, nil},
		{"set k v", []KeyAt{{1, owu}}, nil},
		{"set k get", []KeyAt{{1, owu}}, nil},
		{"set k v px 1 GET", []KeyAt{{1, rwu}}, nil},
		{"bitfield k", []KeyAt{{1, roa}}, nil},
		{"bitfield k get u8 0 overflow sat get u8 1", []KeyAt{{1, roa}}, nil},
		{"bitfield k get u8 0 set u8 0 1", []KeyAt{{1, rwu}}, nil},
		{"bitfield k incrby u8 0 1", []KeyAt{{1, rwu}}, nil},
		{"sort k store a store b", []KeyAt{{1, roa}, {5, owu}}, nil},
		{"sort k by a", []KeyAt{{1, roa}}, nil},
		{"ping", nil, ErrKeysNone},
		{"psubscribe a", nil, ErrKeysNone},
		{"spublish a b", nil, ErrKeysNone},
		{"get", nil, ErrKeysArity},
		{"nosuch a", nil, ErrKeysCommand},
	} {
		args := words(c.call)
		got, err := Keys(specRow(string(args[0])), args, nil)
		require.Equal(t, c.err, err, c.call)
		if c.want == nil {
			require.Empty(t, got, c.call)
			continue
		}
		require.Equal(t, c.want, got, c.call)
	}
}

func TestKeysAppend(t *testing.T) {
	before := []KeyAt{{9, roa}}
	for _, call := range []string{"zunionstore d 0 a", "set k v", "eval s 0 a"} {
		args := words(call)
		got, _ := Keys(specRow(string(args[0])), args, before)
		require.Equal(t, before[0], got[0], call)
		require.Len(t, specRow(string(args[0])).AppendKeys(before, args), len(got), call)
	}
}

func TestChannels(t *testing.T) {
	row := specRow("psubscribe")
	require.True(t, row.HasChannels())
	require.False(t, row.HasKeys())
	flags := KeyChannel | KeyPattern
	require.Equal(t, []KeyAt{{1, flags}, {2, flags}}, row.AppendChannels(nil, words("psubscribe a b")))
	require.Equal(t, []KeyAt{{1, KeyChannel}}, specRow("spublish").AppendChannels(nil, words("spublish a b")))
	require.False(t, specRow("get").HasChannels())
}

func TestKeysDoNotAllocate(t *testing.T) {
	dst := make([]KeyAt, 0, 8)
	for _, call := range []string{"get k", "eval s 2 a b", "set k v get", "xread streams a 0"} {
		args := words(call)
		row := specRow(string(args[0]))
		require.Zero(t, testing.AllocsPerRun(100, func() { dst, _ = Keys(row, args, dst[:0]) }), call)
	}
}

// FuzzKeys checks that no arguments lead a key-spec out of them.
func FuzzKeys(f *testing.F) {
	for _, seed := range []string{"eval s 2 a b", "xread streams a 0", "sort k store d", "migrate h p k 0 1 KEYS a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := words(line)
		for name := range specRows {
			call := append([][]byte{[]byte(name)}, args...)
			row := specRow(name)
			for _, at := range append(row.AppendKeys(nil, call), row.AppendChannels(nil, call)...) {
				require.Positive(t, at.Pos, "%s %q", name, line)
				if row.ArityOK(len(call)) {
					require.Less(t, at.Pos, len(call), "%s %q", name, line)
				}
			}
		}
	})
}
