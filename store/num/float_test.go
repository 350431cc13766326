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

func TestFloat(t *testing.T) {
	inf := math.Inf(1)
	for s, want := range map[string]float64{
		"0": 0, "1": 1, "-1.5": -1.5, "+2": 2, ".5": 0.5, "5.": 5, "-.5e1": -5, "1e3": 1000, "1E+3": 1000, "00012": 12,
		"inf": inf, "+Inf": inf, "-INF": -inf, "infinity": inf, "-Infinity": -inf,
		"0x10": 16, "0x1p3": 8, "0X1P+3": 8, "0x.8": 0.5, "0x1.": 1, "0xap-1": 5, "0x1p-1074": 5e-324,
		"0x1.00000000000008p0": 1, "0x1.000000000000080000000001p0": 1.0000000000000002,
		"0e-400": 0, "0.0e99999999999999999999": 0, "0x0p99999999999999": 0,
		"1.7976931348623157e308": math.MaxFloat64, "4.9e-324": 5e-324, "2.5e-324": 5e-324, "1e-310": 1e-310,
		"123456789012345678": 123456789012345680, "9007199254740993": 9007199254740992,
		"9007199254740993.00000000000000000001":                 9007199254740994,
		"100000000000000000000000000000000000000000000000e-47":  1,
		"0.000000000000000000000000000000000000000000000001e48": 1,
		"1" + strings.Repeat("0", 20000) + "e-20000":            1,
	} {
		got, ok := Float([]byte(s))
		require.True(t, ok, "%q", s)
		require.Equal(t, want, got, "%q", s)
	}
	for _, s := range []string{
		"", " ", "+", "-", ".", "+-1", "e1", "1e", "1e+", " 1", "1 ", "\t1", "1\x00", "1,5", "1f", "1_000", "0x_1p3",
		"0x", "0x.", "0xp1", "0x1p", "0xg", "0b1", "nan", "-NaN", "nan(1)", "in", "infinit", "infinityy",
		"1e400", "-1e400", "1.8e308", "1e-400", "2.4e-324", "0x1p1024", "0x1p-1075", "0x1p-99999999999999999999",
		"1e99999999999999999999", "1..5", "1e5.0", "..", "1e1e1",
	} {
		_, ok := Float([]byte(s))
		require.False(t, ok, "%q", s)
	}
}

func TestAppendFloat(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want string
	}{
		{0, "0"},
		{math.Copysign(0, -1), "0"},
		{1.1, "1.1"},
		{0.1, "0.1"},
		{-0.5, "-0.5"},
		{3, "3"},
		{9007199254740993, "9007199254740992"},
		{123456789012345678, "123456789012345680"},
		{1e17, "100000000000000000"},
		{1e18, "1000000000000000000"},
		{1 << 62, "4611686018427387904"},
		{-(1 << 62), "-4611686018427387904"},
		{5e18, "5e+18"},
		{1e21, "1e+21"},
		{-1e21, "-1e+21"},
		{12345678901234567890, "12345678901234567000"},
		{1.2345e19, "1.2345e+19"},
		{1234567890123e7, "12345678901230000000"},
		{123456789012e8, "1.23456789012e+19"},
		{0.00001, "0.00001"},
		{0.000001, "0.000001"},
		{1e-7, "1e-7"},
		{1.5e-6, "1.5e-6"},
		{0.0012345678, "0.0012345678"},
		{0.00012345678, "1.2345678e-4"},
		{1234.5678901, "1234.5678901"},
		{12345.678901, "12345.678901"},
		{12345.6789012, "1.23456789012e+4"},
		{1698765432.123456, "1698765432.123456"},
		{5e-324, "5e-324"},
		{1e-310, "1e-310"},
		{math.MaxFloat64, "1.7976931348623157e+308"},
		{-math.MaxFloat64, "-1.7976931348623157e+308"},
		{1e100, "1e+100"},
		{1e-105, "1e-105"},
		{math.Inf(1), "inf"},
		{math.Inf(-1), "-inf"},
		{math.NaN(), "nan"},
	} {
		require.Equal(t, c.want, string(AppendFloat(nil, c.f)))
	}
	require.Equal(t, "x1.5", string(AppendFloat([]byte("x"), 1.5)))
}

// randomFloat returns any finite double, or one of a size that scores have.
func randomFloat(rng *rand.Rand) float64 {
	switch rng.IntN(4) {
	case 0:
		return float64(rng.Int64()) / math.Pow10(rng.IntN(20))
	case 1:
		return math.Round(rng.NormFloat64()*1e6) / math.Pow10(rng.IntN(12))
	case 2:
		return rng.NormFloat64() * math.Pow10(rng.IntN(60)-30)
	}
	for {
		if f := math.Float64frombits(rng.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
	}
}

func TestAppendFloatReadsBack(t *testing.T) {
	rng := newRand()
	for range 50000 {
		f := randomFloat(rng)
		text := AppendFloat(nil, f)
		got, ok := Float(text)
		require.True(t, ok, "%s", text)
		require.Equal(t, f, got, "%s", text)
	}
}

func TestFloatAgreesWithServer(t *testing.T) {
	server := oracle.Start(t)
	rng := newRand()
	parts := []string{"0", "1", "9", "-", "+", ".", "e", "E", "p", "0x", "inf", "nan", " ", "_", "a", "300", "12345678901234567", "e-3", "p-5", "\x00"}
	for range 6000 {
		s := randomText(rng, parts, 5)
		if rng.IntN(3) == 0 {
			s = strconv.FormatFloat(randomFloat(rng), "efgx"[rng.IntN(4)], rng.IntN(25), 64)
		}
		server.Do("DEL", "z")
		reply := server.Do("ZADD", "z", s, "m")[0]
		f, ok := Float([]byte(s))
		require.Equal(t, reply == "1", ok, "%q gives %s", s, reply)
		if ok {
			// Whatever way the server prints doubles, this one is the same.
			want, err := strconv.ParseFloat(server.Do("ZSCORE", "z", "m")[0], 64)
			require.NoError(t, err)
			require.Equal(t, want, f, "%q", s)
		}
	}
}

func TestFloatDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 64)
	for _, s := range []string{
		"1.5", "1764547200123", "0.1", "-1.7976931348623157e+308", "5e-324", "0x1.8p3", "inf",
		"3.14159265358979323846264338327950288419716939937510", "1e400", "bad",
	} {
		in := []byte(s)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			f, _ := Float(in)
			AppendFloat(buf, f)
			ScoreBound(in)
		}), "%q", s)
	}
}

func FuzzFloat(f *testing.F) {
	f.Add([]byte("-0x1.8p-3"))
	f.Add([]byte("9007199254740993.00000000000000000001e-5"))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, ok := Float(b)
		text := string(b)
		if strings.ContainsAny(text, "xX") && !strings.ContainsAny(text, "pP") {
			text += "p0"
		}
		want, err := strconv.ParseFloat(text, 64)
		if ok {
			require.NoError(t, err)
			require.Equal(t, want, v)
		} else if err == nil && want != 0 && !math.IsNaN(want) {
			// What the standard library takes beyond C.
			require.True(t, strings.Contains(text, "_"), "%q", b)
		}
	})
}

func BenchmarkFloat(b *testing.B) {
	for _, s := range []string{"1764547200123", "0.1", "1234567.890123456789"} {
		b.Run(s, func(b *testing.B) {
			in, buf := []byte(s), make([]byte, 0, 64)
			for b.Loop() {
				f, _ := Float(in)
				AppendFloat(buf, f)
			}
		})
	}
}
