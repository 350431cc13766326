package glob

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/internal/oracle"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		nocase     bool
		want       bool
	}{
		{"", "", false, true},
		{"", "a", false, false},
		{"a", "", false, false},
		{"*", "a", false, true},
		{"**", "abc", false, true},
		{"a*", "a", false, true},
		{"a**", "a", false, true},
		{"a*b", "a", false, false},
		{"a*[", "a", false, false},
		{"*?", "a", false, true},
		{"*??", "a", false, false},
		{"a*c*e", "abcde", false, true},
		{"a*bc", "abbc", false, true},
		{"h?llo", "hello", false, true},
		{"h?llo", "hllo", false, false},
		{"h[ae]llo", "hallo", false, true},
		{"h[^e]llo", "hallo", false, true},
		{"h[^e]llo", "hello", false, false},
		{"h[!e]llo", "hello", false, true},
		{"h[a-c]llo", "hbllo", false, true},
		{"h[c-a]llo", "hbllo", false, true},
		{"[a-]", "a", false, true},
		{"[a-]", "]", false, true},
		{"[a-", "-", false, true},
		{"[a-", "b", false, false},
		{"[]", "a", false, false},
		{"[]a]", "a]", false, false},
		{"[^]x", "ax", false, true},
		{"[", "[", false, false},
		{"[^", "a", false, true},
		{"[abc", "c", false, true},
		{"[abc", "cc", false, false},
		{`[\]]`, "]", false, true},
		{`[a\-z]`, "-", false, true},
		{`[a\-z]`, "b", false, false},
		{`[\`, `\`, false, true},
		{`\`, `\`, false, true},
		{`a\`, `a\`, false, true},
		{`\*`, "*", false, true},
		{`\*`, "a", false, false},
		{`\a`, "a", false, true},
		{`\\`, `\`, false, true},
		{"{a,b}", "a", false, false},
		{"{a,b}", "{a,b}", false, true},
		{"abc", "ABC", true, true},
		{"[a-c]", "B", true, true},
		{"[A-C]", "b", true, true},
		{`[\a]`, "A", true, false},
		{`\a`, "A", true, true},
		{"[Z-a]", "z", true, false},
		{"a?c", "a\x00c", false, true},
		{"[\x80-\xff]", "\x90", false, true},
		{"[a-\xff]", "b", false, false},
		{"[a-\xff]", "B", false, true},
	} {
		got := Match([]byte(c.pattern), []byte(c.s), c.nocase)
		require.Equal(t, c.want, got, "pattern %q subject %q nocase %v", c.pattern, c.s, c.nocase)
	}
}

func TestEmptySubjectIsMatchedByEmptyPatternAlone(t *testing.T) {
	require.True(t, Match(nil, nil, false))
	require.False(t, Match([]byte("*"), nil, false))
	require.True(t, All([]byte("*")))
	require.False(t, All([]byte("**")))
	require.False(t, All(nil))
}

func TestWorkIsBounded(t *testing.T) {
	subject := []byte(strings.Repeat("a", 2000))
	for _, pattern := range []string{
		strings.Repeat("a*", 900) + "b",
		strings.Repeat("*a", 900) + "b",
		strings.Repeat("*?", 999) + "b",
		"*" + strings.Repeat("a", 1000) + "b",
		strings.Repeat("*", 5000) + "b",
		strings.Repeat("*[ab]", 400) + "c",
		"*[" + strings.Repeat("b", 3000),
		"*" + strings.Repeat("[a-z]", 400) + "B",
	} {
		ok, steps := match([]byte(pattern), subject, false)
		require.False(t, ok)
		require.LessOrEqual(t, steps, len(pattern)*(len(subject)+1), "pattern %.20q", pattern)
	}
}

func TestTooManyStarsFail(t *testing.T) {
	subject := []byte(strings.Repeat("a", 2000))
	require.True(t, Match([]byte(strings.Repeat("*a", maxStars)), subject, false))
	require.True(t, Match([]byte(strings.Repeat("*a", maxStars)+"*"), subject, false))
	require.False(t, Match([]byte(strings.Repeat("*a", maxStars+1)), subject, false))
}

func TestPrefix(t *testing.T) {
	for _, c := range []struct {
		pattern, prefix string
		literal         bool
	}{
		{"", "", true},
		{"abc", "abc", true},
		{"{a}]^-", "{a}]^-", true},
		{"abc*", "abc", false},
		{"a?c", "a", false},
		{"a[b]", "a", false},
		{`a\*b`, "a", false},
		{"*a", "", false},
		{"\xff\xfe*", "\xff\xfe", false},
	} {
		require.Equal(t, c.prefix, string(Prefix([]byte(c.pattern))), "pattern %q", c.pattern)
		require.Equal(t, c.literal, IsLiteral([]byte(c.pattern)), "pattern %q", c.pattern)
	}
}

func TestMatchDoesNotAllocate(t *testing.T) {
	pattern, s := []byte("*:[a-f0-9]*:\\*?"), []byte("queue:3f:*x")
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if !Match(pattern, s, true) || len(Prefix(pattern)) != 0 || IsLiteral(pattern) {
			t.Fail()
		}
	}))
}

func randomText(rng *rand.Rand, alphabet string, limit int) string {
	b := make([]byte, rng.IntN(limit+1))
	for i := range b {
		b[i] = alphabet[rng.IntN(len(alphabet))]
	}
	return string(b)
}

func TestMatchAgreesWithServer(t *testing.T) {
	server := oracle.Start(t)
	rng := rand.New(rand.NewPCG(1, 0))
	const subjects = "abcB-]^\\[*{\x00\x80\xff"
	keys := map[string]bool{"": true}
	for range 400 {
		keys[randomText(rng, subjects, 6)] = true
	}
	for k := range keys {
		server.Do("SET", k, "1")
	}
	for range 4000 {
		pattern := randomText(rng, "abcB**??[[]]^--\\\\{\x00\x80\xff", 8)
		if All([]byte(pattern)) {
			continue
		}
		got := map[string]bool{}
		for _, k := range server.Do("KEYS", pattern) {
			got[k] = true
		}
		for k := range keys {
			require.Equal(t, got[k], Match([]byte(pattern), []byte(k), false), "pattern %q key %q", pattern, k)
		}
	}
}

func TestNocaseAgreesWithServer(t *testing.T) {
	server := oracle.Start(t)
	rng := rand.New(rand.NewPCG(1, 0))
	// COMMAND LIST FILTERBY PATTERN folds case while it matches.
	names := server.Do("COMMAND", "LIST")
	require.NotEmpty(t, names)
	for range 1000 {
		pattern := randomText(rng, "SETgetHhx**??[[]]^--\\", 7)
		got := map[string]bool{}
		for _, name := range server.Do("COMMAND", "LIST", "FILTERBY", "PATTERN", pattern) {
			got[name] = true
		}
		for _, name := range names {
			// Sub-commands are listed only with their command, by other rules.
			if strings.Contains(name, "|") {
				continue
			}
			require.Equal(t, got[name], Match([]byte(pattern), []byte(name), true), "pattern %q name %q", pattern, name)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add([]byte("a*[^b-c]?\\*"), []byte("abcd*"), false)
	f.Add([]byte("[a-"), []byte("-"), true)
	f.Add([]byte("**[^"), []byte("\x00\xff"), false)
	f.Fuzz(func(t *testing.T, pattern, s []byte, nocase bool) {
		ok, steps := match(pattern, s, nocase)
		require.LessOrEqual(t, steps, len(pattern)*(len(s)+1))
		if !ok {
			return
		}
		if !nocase {
			require.True(t, bytes.HasPrefix(s, Prefix(pattern)))
		}
		if IsLiteral(pattern) && !nocase {
			require.Equal(t, string(pattern), string(s))
		}
		// What matches goes on matching when a star is put around it.
		if len(s) > 0 && bytes.Count(pattern, []byte("*")) < maxStars {
			require.True(t, Match(append([]byte("*"), pattern...), s, nocase))
		}
	})
}
