package num

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/internal/oracle"
)

func TestScoreBound(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		in        string
		value     float64
		exclusive bool
	}{
		{"1.5", 1.5, false},
		{"(1.5", 1.5, true},
		{"-inf", -inf, false},
		{"+inf", inf, false},
		{"(+inf", inf, true},
		{"", 0, false},
		{"(", 0, true},
		{" 1", 1, false},
		{"(\t1", 1, true},
		{"1e400", inf, false},
		{"-1e400", -inf, false},
		{"(1e-400", 0, true},
		{"0x10", 16, false},
		{"1\x00x", 1, false},
	} {
		value, exclusive, ok := ScoreBound([]byte(c.in))
		require.True(t, ok, "%q", c.in)
		require.Equal(t, c.value, value, "%q", c.in)
		require.Equal(t, c.exclusive, exclusive, "%q", c.in)
	}
	for _, s := range []string{" ", "( ", " (1", "((1", "1 ", "nan", "(nan", "[1", "a", "1_0", "+", "1e"} {
		_, _, ok := ScoreBound([]byte(s))
		require.False(t, ok, "%q", s)
	}
}

func TestLexBound(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Lex
	}{
		{"-", Lex{Kind: LexMin, Exclusive: true}},
		{"+", Lex{Kind: LexMax, Exclusive: true}},
		{"[a", Lex{Value: []byte("a")}},
		{"(a", Lex{Value: []byte("a"), Exclusive: true}},
		{"[", Lex{Value: []byte{}}},
		{"(", Lex{Value: []byte{}, Exclusive: true}},
		{"[\x00(", Lex{Value: []byte("\x00(")}},
	} {
		got, ok := LexBound([]byte(c.in))
		require.True(t, ok, "%q", c.in)
		require.Equal(t, c.want, got, "%q", c.in)
	}
	for _, s := range []string{"", "a", "-a", "+a", "--", " -", "1"} {
		_, ok := LexBound([]byte(s))
		require.False(t, ok, "%q", s)
	}
}

func TestLexCmp(t *testing.T) {
	require.Negative(t, Lex{Kind: LexMin}.Cmp(nil))
	require.Positive(t, Lex{Kind: LexMax}.Cmp([]byte("\xff\xff")))
	b := Lex{Value: []byte("b")}
	require.Negative(t, b.Cmp([]byte("ba")))
	require.Zero(t, b.Cmp([]byte("b")))
	require.Positive(t, b.Cmp([]byte("a\xff")))
}

func TestBoundsAgreeWithServer(t *testing.T) {
	server := oracle.Start(t)
	rng := newRand()
	for score, member := range map[string]string{"-2": "", "0": "a", "1": "b", "16": "c"} {
		server.Do("ZADD", "z", score, member)
	}
	parts := []string{"0", "1", "(", "[", "-", "+", ".", "e", "0x", "inf", "nan", " ", "a", "b", "\x00"}
	for range 4000 {
		s := randomText(rng, parts, 4)
		_, _, ok := ScoreBound([]byte(s))
		want := server.Do("ZCOUNT", "z", s, "+inf")[0] != "-ERR min or max is not a float"
		require.Equal(t, want, ok, "score %q", s)

		_, ok = LexBound([]byte(s))
		want = server.Do("ZLEXCOUNT", "z", s, "+")[0] != "-ERR min or max not valid string range item"
		require.Equal(t, want, ok, "lex %q", s)
	}
}

func TestLexBoundDoesNotAllocate(t *testing.T) {
	in := []byte("(member")
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if x, ok := LexBound(in); !ok || x.Cmp(in) == 0 {
			t.Fail()
		}
	}))
}
