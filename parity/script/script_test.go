package script_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/echomq/emqd/parity/script"
)

// line draws text that may stand in a simple string or an error.
func line(t *rapid.T) string {
	return strings.NewReplacer("\r", "", "\n", "").Replace(rapid.String().Draw(t, "line"))
}

func value(t *rapid.T, depth int) script.Value {
	kinds := "+-:,#_($="
	if depth > 0 {
		kinds += "*%~>*%~>"
	}
	v := script.Value{Kind: kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")]}
	switch v.Kind {
	case '*', '%', '~', '>':
		n := rapid.IntRange(0, 4).Draw(t, "len")
		if v.Kind == '%' {
			n *= 2
		}
		for range n {
			v.Elems = append(v.Elems, value(t, depth-1))
		}
	case '$', '=':
		v.Text = string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		if rapid.Bool().Draw(t, "run") {
			v.Text = strings.Repeat("x", rapid.IntRange(0, 99).Draw(t, "n"))
		}
	case '_':
	default:
		v.Text = line(t)
	}
	return v
}

// wire spells a value as RESP.
func wire(v script.Value) string {
	text := string(v.Kind)
	switch {
	case strings.IndexByte("*%~>", v.Kind) >= 0:
		n := len(v.Elems)
		if v.Kind == '%' {
			n /= 2
		}
		text += strconv.Itoa(n) + "\r\n"
		for _, e := range v.Elems {
			text += wire(e)
		}
		return text
	case v.Kind == '$' || v.Kind == '=':
		return text + strconv.Itoa(len(v.Text)) + "\r\n" + v.Text + "\r\n"
	}
	return text + v.Text + "\r\n"
}

func TestValuesSurviveWireAndText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := value(t, 3)
		b := wire(v)
		decoded, n, err := script.Decode([]byte(b + "rest"))
		require.NoError(t, err)
		require.Equal(t, len(b), n)
		require.Equal(t, v, decoded)
		one, err := script.ParseValue(v.String())
		require.NoError(t, err, v.String())
		require.Equal(t, v, one)
		lines := strings.Join(v.Lines(), "\n")
		many, err := script.ParseValue(lines)
		require.NoError(t, err, lines)
		require.Equal(t, v, many)
	})
}

func TestWordsSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z'"\\{}*]*`)), 1, 5).Draw(t, "words")
		got, err := script.Split(script.Words(words))
		require.NoError(t, err)
		require.Equal(t, words, got)
	})
}

func TestSplit(t *testing.T) {
	got, err := script.Split(`SET  k "a\x00\n\"" 'it\'s' "ab"*3`)
	require.NoError(t, err)
	require.Equal(t, []string{"SET", "k", "a\x00\n\"", "it's", "ababab"}, got)
	for _, bad := range []string{`"a`, `'a`, `"a"b`, `"a"*`, `"\x0g"`} {
		_, err := script.Split(bad)
		require.Error(t, err, bad)
	}
}

// echo answers each request with its arguments as an array, in version 3 as a set.
type echo struct {
	proto int
	last  []string
	now   int64
}

func (e *echo) Reset(proto int) error { e.proto = proto; return nil }
func (e *echo) Now() int64            { return 1000 + e.now }
func (e *echo) Advance(ms int64)      { e.now += ms }
func (e *echo) Select(int)            {}
func (e *echo) Cycle() error          { return nil }
func (e *echo) Effects() []string     { return []string{script.Words(e.last)} }
func (e *echo) Do(args []string) ([]byte, error) {
	e.last = args
	kind := byte('*')
	if e.proto == 3 {
		kind = '~'
	}
	v := script.Value{Kind: kind}
	for _, a := range args {
		v.Elems = append(v.Elems, script.Value{Kind: '$', Text: a})
	}
	return []byte(wire(v)), nil
}

func TestRunAndRewrite(t *testing.T) {
	const text = `# about
== one
> B {now+1}
*[$"B" $"{now+1}"]
3 ~[$"B" $"1001"]
! B {now+1}
@ now +5

@ unordered
> C {now}
*[$"1005" $"C"]
3 ~[
  $"C" $"1005"
]
== two
@ differs: it is the test's
> WRONG a
:1
!
# after
@ times 2
> NONE b
> LAST
*[$"LAST"]
3 ~[$"LAST"]
`
	f, err := script.Parse("x", text)
	require.NoError(t, err)
	require.Len(t, f.Cases, 2)
	answers, bad := script.Answers{}, map[*script.Step]bool{}
	for _, proto := range []int{2, 3} {
		require.NoError(t, f.Run(f.Cases[0], &echo{}, proto, script.Options{}, answers.Collect(proto)))
		err := f.Run(f.Cases[1], &echo{}, proto, script.Options{}, answers.Collect(proto))
		var m *script.Mismatch
		require.ErrorAs(t, err, &m)
		require.Len(t, m.Bad, 4, "reply and effects of the first, replies of the second")
		for _, g := range m.Bad {
			bad[g.Step] = true
		}
	}
	got := f.Rewrite(answers, func(s *script.Step) bool { return bad[s] })
	want := strings.Replace(text, ":1\n!\n", "*[$\"WRONG\" $\"a\"]\n3 ~[$\"WRONG\" $\"a\"]\n! WRONG a\n", 1)
	want = strings.Replace(want, "NONE b\n", "NONE b\n*[$\"NONE\" $\"b\"]\n3 ~[$\"NONE\" $\"b\"]\n", 1)
	require.Equal(t, want, got)
}

func TestParseRefuses(t *testing.T) {
	for _, bad := range []string{
		"> GET k", "== a\n+OK", "== a\n> GET k\n+OK\n+OK", "== a\n@ differs\n> GET k", "== a\n@ wrong\n",
		"== a\n> GET k\n*[:1", "== a\n@ any\n", "== a\n> \"", "== a\n! SET k v",
	} {
		_, err := script.Parse("x", bad)
		require.Error(t, err, fmt.Sprintf("%q", bad))
	}
}
