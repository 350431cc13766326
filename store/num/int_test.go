package num

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/internal/oracle"
)

func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 0)) }

// randomText joins up to limit of the parts, so that nearly valid numbers come
// up often.
func randomText(rng *rand.Rand, parts []string, limit int) string {
	var b strings.Builder
	for range 1 + rng.IntN(limit) {
		b.WriteString(parts[rng.IntN(len(parts))])
	}
	return b.String()
}

func TestInt(t *testing.T) {
	for _, v := range []int64{
		0, 1, -1, 9, 10, -10, 99, 1234567890, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1,
	} {
		got, ok := Int(AppendInt(nil, v))
		require.True(t, ok, "%d", v)
		require.Equal(t, v, got)
	}
	for _, s := range []string{
		"", "-", "+", "+1", "-0", "00", "01", "-01", " 1", "1 ", "1.0", "1e3", "0x1", "a", "--1", "1_0", "1\x00",
		"9223372036854775808", "-9223372036854775809", "9999999999999999999", "18446744073709551616",
		"99999999999999999999", "-9999999999999999999", "-99999999999999999999", "100000000000000000000000",
	} {
		_, ok := Int([]byte(s))
		require.False(t, ok, "%q", s)
	}
}

func TestUint(t *testing.T) {
	for s, want := range map[string]uint64{
		"0": 0, "7": 7, "18446744073709551615": math.MaxUint64, "9223372036854775808": 1 << 63,
		"+1": 1, " 1": 1, "\t\n+007": 7, "-0": 0, "-01": math.MaxUint64, "000000000000000000000000": 0,
		"1\x00x": 1, "-18446744073709551615": 1,
	} {
		got, ok := Uint([]byte(s))
		require.True(t, ok, "%q", s)
		require.Equal(t, want, got, "%q", s)
	}
	for _, s := range []string{
		"", " ", "+", "-", "abc", "1 ", "1a", "0x1", "-1", "-9223372036854775808", "+-1", "- 1", "\x001",
		"18446744073709551616", "-18446744073709551616", "99999999999999999999999",
	} {
		_, ok := Uint([]byte(s))
		require.False(t, ok, "%q", s)
	}
}

func TestIntAgreesWithServer(t *testing.T) {
	server := oracle.Start(t)
	rng := newRand()
	parts := []string{"0", "1", "9", "-", "+", " ", "9223372036854775807", "922337203685477580", "8", "x", ".", "\x00"}
	for range 3000 {
		s := randomText(rng, parts, 4)
		server.Do("SET", "n", "0")
		// The smallest value is refused as a decrement: it has no negation.
		want := server.Do("INCRBY", "n", s)[0]
		v, ok := Int([]byte(s))
		require.Equal(t, want[0] != '-' || ok, ok, "%q gives %s", s, want)
		if ok {
			require.Equal(t, want, strconv.FormatInt(v, 10), "%q", s)
			require.Equal(t, s, string(AppendInt(nil, v)))
		} else {
			require.Equal(t, "-ERR value is not an integer or out of range", want, "%q", s)
		}
	}
}

func TestUintAgreesWithServer(t *testing.T) {
	server := oracle.Start(t)
	rng := newRand()
	parts := []string{"0", "1", "9", "-", "+", "18446744073709551615", "1844674407370955161", "6", "x", "."}
	for range 2000 {
		s := randomText(rng, parts, 4)
		if v, ok := Int([]byte(s)); ok && v < 0 {
			// Redis before 7.2 lets negative cursors wrap around.
			continue
		}
		_, ok := Uint([]byte(s))
		require.Equal(t, server.Do("SCAN", s)[0] != "-ERR invalid cursor", ok, "%q", s)
	}
}

func TestIntDoesNotAllocate(t *testing.T) {
	in, cursor, buf := []byte("-9223372036854775808"), []byte(" 18446744073709551615"), make([]byte, 0, 32)
	bad := []byte("99999999999999999999")
	require.Zero(t, testing.AllocsPerRun(100, func() {
		v, ok := Int(in)
		_, refused := Int(bad)
		_, cursorOK := Uint(cursor)
		if !ok || refused || !cursorOK || len(AppendInt(buf, v)) != len(in) {
			t.Fail()
		}
	}))
}

func FuzzInt(f *testing.F) {
	f.Add([]byte("-9223372036854775808"))
	f.Add([]byte("007"))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, ok := Int(b)
		parsed, err := strconv.ParseInt(string(b), 10, 64)
		canonical := err == nil && strconv.FormatInt(parsed, 10) == string(b)
		require.Equal(t, canonical, ok)
		if ok {
			require.Equal(t, parsed, v)
		}
	})
}

func BenchmarkInt(b *testing.B) {
	for _, s := range []string{"7", "1234567", "-9223372036854775808"} {
		b.Run(s, func(b *testing.B) {
			in := []byte(s)
			for b.Loop() {
				Int(in)
			}
		})
	}
}
