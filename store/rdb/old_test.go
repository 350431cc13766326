package rdb

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ziplistOf builds a ziplist as old servers did.
func ziplistOf(items ...string) []byte {
	p, prev := make([]byte, ziplistHeader), 0
	for _, s := range items {
		from := len(p)
		if prev < 254 {
			p = append(p, byte(prev))
		} else {
			p = binary.LittleEndian.AppendUint32(append(p, ziplistBigPrev), uint32(prev))
		}
		p = append(p, ziplistBody(s)...)
		prev = len(p) - from
	}
	binary.LittleEndian.PutUint32(p[4:], uint32(len(p)-prev))
	binary.LittleEndian.PutUint16(p[8:], uint16(len(items)))
	p = append(p, ziplistEnd)
	binary.LittleEndian.PutUint32(p, uint32(len(p)))
	return p
}

func ziplistBody(s string) []byte {
	if v, ok := parseInt([]byte(s)); ok {
		switch {
		case v >= 0 && v <= 12:
			return []byte{0xf1 + byte(v)}
		case v == int64(int8(v)):
			return []byte{0xfe, byte(v)}
		case v == int64(int16(v)):
			return []byte{0xc0, byte(v), byte(v >> 8)}
		case v >= -1<<23 && v < 1<<23:
			return []byte{0xf0, byte(v), byte(v >> 8), byte(v >> 16)}
		case v == int64(int32(v)):
			return binary.LittleEndian.AppendUint32([]byte{0xd0}, uint32(v))
		}
		return binary.LittleEndian.AppendUint64([]byte{0xe0}, uint64(v))
	}
	switch n := len(s); {
	case n < 64:
		return append([]byte{byte(n)}, s...)
	case n < 1<<14:
		return append([]byte{0x40 | byte(n>>8), byte(n)}, s...)
	}
	return append(binary.BigEndian.AppendUint32([]byte{0x80}, uint32(len(s))), s...)
}

func listpackOf(items ...string) []byte {
	var l listpack
	l.begin()
	for _, s := range items {
		l.str([]byte(s))
	}
	return l.finish()
}

// join makes the bytes of a value: a type, then strings with their lengths,
// and other things as they are.
func join(parts ...any) []byte {
	var e Encoder
	e.Plain = true
	var out []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			out = append(out, byte(p))
		case string:
			out = append(out, p...)
		case uint64:
			out = binary.LittleEndian.AppendUint64(out, p)
		case []byte:
			out = e.blob(out, p)
		}
	}
	return out
}

// seal makes a payload from the bytes of a value.
func seal(version int, value []byte) []byte {
	p := binary.LittleEndian.AppendUint16(append([]byte{}, value...), uint16(version))
	return binary.LittleEndian.AppendUint64(p, CRC64(0, p))
}

// oldForm is a value in a form that redis-server 7.0 reads and no longer writes.
type oldForm struct {
	name  string
	value []byte
	want  string
}

func oldForms() []oldForm {
	nums := []string{"0", "12", "13", "-1", "127", "128", "-129", "32768", "8388607", "8388608", "-2147483649"}
	sizes := []string{strings.Repeat("a", 63), strings.Repeat("b", 64), strings.Repeat("c", 300),
		strings.Repeat("d", 16383), strings.Repeat("e", 16384), "", "end"}
	list := func(s ...string) string { return "list " + quoted(s) }
	return []oldForm{
		{"list", join(typeList, 3, []byte("b"), "\xc0\x05", []byte("")), list("b", "5", "")},
		{"list ziplist", join(typeListZiplist, ziplistOf(nums...)), list(nums...)},
		{"list ziplist sizes", join(typeListZiplist, ziplistOf(sizes...)), list(sizes...)},
		{"quicklist", join(typeListQuicklist, 3, ziplistOf("a", "b"), ziplistOf(), ziplistOf("7")), list("a", "b", "7")},
		{"zset", join(typeZSet, 3, []byte("a"), 3, "1.5", []byte("b"), 254, []byte("c"), 255),
			`zset "a":1.5/3ff8000000000000 "b":+Inf/7ff0000000000000 "c":-Inf/fff0000000000000`},
		{"zset ziplist", join(typeZSetZiplist, ziplistOf("a", "-1", "b", "2.5")),
			`zset "a":-1/bff0000000000000 "b":2.5/4004000000000000`},
		{"hash ziplist", join(typeHashZiplist, ziplistOf("f", "v", "2", "300")), `hash "2"="300" "f"="v"`},
		{"hash zipmap", join(typeHashZipmap, []byte("\x02\x01f\x02\x00vv\x01g\x01\x03wxxx\xff")), `hash "f"="vv" "g"="w"`},
		{"hash zipmap long", join(typeHashZipmap, []byte("\xfe\x01f\xfe\x2c\x01\x00\x00\x00"+sizes[2]+"\xff")),
			fmt.Sprintf("hash %q=%q", "f", sizes[2])},
		{"stream 1", join(typeStream1, 1, []byte("\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00"),
			listpackOf("2", "0", "1", "f", "0", "2", "0", "0", "v", "4", "0", "1", "7", "1", "g", "w", "6"),
			2, 6, 7, 1, []byte("g"), 5, 0, 1, "\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00", uint64(99), 3,
			1, []byte("c"), uint64(98), 1, "\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00"),
			`stream last=6-7 deleted=0-0 added=2 5-0["f" "v"] 6-7["g" "w"]` +
				` group "g" at 5-0 read 1 consumer "c" seen 98 active 98 [{{5 0} 99 3}]`},
	}
}

func quoted(s []string) string {
	q := make([]string, len(s))
	for i := range s {
		q[i] = fmt.Sprintf("%q", s[i])
	}
	return strings.Join(q, " ")
}

func TestOldForms(t *testing.T) {
	for _, f := range oldForms() {
		var v Value
		require.NoError(t, Restore(seal(9, f.value), &v), f.name)
		require.Equal(t, f.want, describe(&v), f.name)
	}
}

// TestServerOldForms shows that a server understands them in the same way.
func TestServerOldForms(t *testing.T) {
	srv := startServer(t, shortDir(t), "--sanitize-dump-payload", "yes")
	for _, f := range oldForms() {
		srv.do("RESTORE", "k", 0, seal(9, f.value), "REPLACE")
		require.Equal(t, f.want, describe(srv.read("k")), f.name)
	}
}

// TestNewForms reads the forms that came after redis-server 7.0.
func TestNewForms(t *testing.T) {
	const base = 1_700_000_000_000
	at := func(n uint64) string { return string(binary.LittleEndian.AppendUint64(nil, n)) }
	for _, f := range []struct {
		name    string
		version int
		value   []byte
		want    string
	}{
		{"set listpack", 11, join(typeSetListpack, listpackOf("a", "1")), `set "1" "a"`},
		{"Redis deadlines", 12, join(typeHashMeta, at(base), 3, 0, []byte("a"), []byte("1"), 1, []byte("b"), []byte("2"),
			"\x43\xe9", []byte("c"), []byte("3")), `hash "a"="1" "b"="2"@1700000000000 "c"="3"@1700000001000`},
		{"Redis deadlines, candidate", 12, join(typeHashMetaPreGA, 2, 0, []byte("a"), []byte("1"),
			"\x81\x00\x00\x01\x8b\xcf\xe5\x68\x00", []byte("b"), []byte("2")), `hash "a"="1" "b"="2"@1700000000000`},
		{"Redis listpack deadlines", 12, join(typeHashListpackEx, at(base),
			listpackOf("b", "2", "1700000000000", "a", "1", "0")), `hash "a"="1" "b"="2"@1700000000000`},
		{"Redis listpack deadlines, candidate", 12, join(typeHashListpackExRC,
			listpackOf("b", "2", "1700000000000", "a", "1", "0")), `hash "a"="1" "b"="2"@1700000000000`},
		{"Valkey deadlines", 80, join(typeHash2, 3, []byte("a"), []byte("1"), at(1<<64-1), []byte("b"), []byte("2"), at(base),
			[]byte("c"), []byte("3"), at(0)), `hash "a"="1" "b"="2"@1700000000000 "c"="3"@1`},
		{"stream 3", 11, join(typeStream3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, []byte("g"), 0, 0, 0, 0,
			1, []byte("c"), at(98), at(97), 0),
			`stream last=0-0 deleted=0-0 added=0 group "g" at 0-0 read 0 consumer "c" seen 98 active 97 []`},
	} {
		var v Value
		require.NoError(t, Restore(seal(f.version, f.value), &v), f.name)
		require.Equal(t, f.want, describe(&v), f.name)
	}
}

// TestFieldDeadlinesRoundTrip writes the one form that needs version 80.
func TestFieldDeadlinesRoundTrip(t *testing.T) {
	v := &Value{Kind: KindHash, Fields: []Field{{[]byte("a"), []byte("1"), 0}, {[]byte("b"), []byte("2"), 77}}}
	payload, err := Dump(v)
	require.NoError(t, err)
	require.Equal(t, seal(80, join(typeHash2, 2, []byte("a"), "\xc0\x01", uint64(1<<64-1), []byte("b"), "\xc0\x02", uint64(77))), payload)
	var got Value
	require.NoError(t, Restore(payload, &got))
	require.Equal(t, v, &got)
}
