package num

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/internal/oracle"
)

func TestAddLong(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"10.5", "0.1", "10.6"},
		{"3", "-3", "0"},
		{"-0", "-0", "0"},
		{"0", "-1e-20", "0"},
		{"0", "5.0e3", "5000"},
		{"0", "1e-17", "0.00000000000000001"},
		{"0", "5e-18", "0"},
		{"0", "0x10", "16"},
		{"0", "0x1p3", "8"},
		{"0", "1.23456789012345678901234567890", "1.23456789012345679"},
		{"0", "12345678901234567890123", "12345678901234567889920"},
		{"9223372036854775807", "1", "9223372036854775808"},
		{"18446744073709551615", "0", "18446744073709551615"},
		{"18446744073709551615", "2", "18446744073709551616"},
		{"0", "1e-4940", "0"},
		{"0", "0x1p-16445", "0"},
		{"0", "0x1.8p-16446", "0"},
		{"0", "1" + strings.Repeat("0", 5000) + "e-5000", "1"},
		{"0", "0x1" + strings.Repeat("0", 17) + "1p-72", "1"},
		{"0", "0x" + strings.Repeat("0", 40) + "1.8", "1.5"},
	} {
		got, err := AddLong([]byte("x"), []byte(c.a), []byte(c.b))
		require.NoError(t, err, "%s + %.40s", c.a, c.b)
		require.Equal(t, "x"+c.want, string(got), "%s + %.40s", c.a, c.b)
	}
}

func TestAddLongErrors(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want error
	}{
		{"0", "inf", ErrNotFiniteSum},
		{"inf", "1", ErrNotFiniteSum},
		{"inf", "-inf", ErrNotFiniteSum},
		{"1e4932", "1.189e4932", ErrNotFiniteSum},
		{"abc", "inf", ErrNotFloat},
		{"0", "nan", ErrNotFloat},
		{"0", "1e5000", ErrNotFloat},
		{"0", "1.19e4932", ErrNotFloat},
		{"0", "1e4933", ErrNotFloat},
		{"0", "1e-4951", ErrNotFloat},
		{"0", "1e-5000", ErrNotFloat},
		{"0", "0x1p-16446", ErrNotFloat},
		{"0", "0x1p16384", ErrNotFloat},
		{"0", "1e999999999999999999", ErrNotFloat},
		{"0", " 1", ErrNotFloat},
		{"0", "1 ", ErrNotFloat},
		{"0", "1\x00", ErrNotFloat},
		{"0", "", ErrNotFloat},
		{"", "0", ErrNotFloat},
		{"0", strings.Repeat("0", maxLongText), ErrNotFloat},
	} {
		got, err := AddLong([]byte("x"), []byte(c.a), []byte(c.b))
		require.Equal(t, c.want, err, "%s + %.40s", c.a, c.b)
		require.Equal(t, "x", string(got))
	}
}

func TestLongInfinities(t *testing.T) {
	for s, want := range map[string]string{"inf": "inf", "-Infinity": "-inf"} {
		x, ok := ParseLong([]byte(s))
		require.True(t, ok)
		require.True(t, x.IsInf())
		require.Equal(t, want, string(x.Append(nil)))
	}
}

// randomLong returns a text that is a number most of the time.
func randomLong(rng *rand.Rand) string {
	sign := []string{"", "-", "+"}[rng.IntN(3)]
	digits := func(limit int) string {
		return randomText(rng, []string{"0", "1", "5", "9", "37", "99999", "00000"}, limit)
	}
	switch rng.IntN(8) {
	case 0:
		return sign + digits(20)
	case 1:
		return sign + digits(6) + "e" + strconv.Itoa(rng.IntN(60)-30)
	case 2:
		return sign + digits(6) + "." + digits(8) + "e" + strconv.Itoa(rng.IntN(10200)-5100)
	case 3:
		return sign + "0x" + digits(8) + "." + digits(8) + "p" + strconv.Itoa(rng.IntN(200)-100)
	case 4:
		return strconv.FormatFloat(randomFloat(rng), 'g', -1, 64)
	case 5:
		return randomText(rng, []string{"0", "1", "-", "+", ".", "e", "p", "0x", "inf", "nan", " ", "_", "\x00"}, 5)
	}
	return sign + digits(4) + "." + digits(6)
}

func TestAddLongAgreesWithServer(t *testing.T) {
	server := oracle.Start(t)
	rng := newRand()
	for range 6000 {
		a, b := randomLong(rng), randomLong(rng)
		server.Do("SET", "k", a)
		want := server.Do("INCRBYFLOAT", "k", b)[0]
		got, err := AddLong(nil, []byte(a), []byte(b))
		if err != nil {
			got = []byte("-ERR " + err.Error())
		}
		require.Equal(t, want, string(got), "%q + %q", a, b)
	}
}

func FuzzAddLong(f *testing.F) {
	f.Add([]byte("10.5"), []byte("0.1"))
	f.Add([]byte("0x1.8p-16446"), []byte("1e4932"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		sum, err := AddLong(nil, a, b)
		if err != nil {
			return
		}
		// The text of a sum is one that the next sum takes, and commutes.
		_, ok := ParseLong(sum)
		require.True(t, ok, "%s", sum)
		other, err := AddLong(nil, b, a)
		require.NoError(t, err)
		require.Equal(t, string(sum), string(other))
	})
}

func BenchmarkAddLong(b *testing.B) {
	x, y, buf := []byte("10.5"), []byte("0.1"), make([]byte, 0, 64)
	for b.Loop() {
		_, _ = AddLong(buf, x, y)
	}
}
