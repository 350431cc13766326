package resp_test

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/server/resp"
)

// replyCases are single replies and their text.
var replyCases = []struct{ wire, text string }{
	{"+OK\r\n", "OK\n"},
	{"+\r\n", "\n"},
	{"-ERR no\r\n", "(error) ERR no\n"},
	{":-5\r\n", "(integer) -5\n"},
	{"$0\r\n\r\n", "\"\"\n"},
	{"$5\r\na\r\n\x00\"\r\n", "\"a\\r\\n\\x00\\\"\"\n"},
	{"$-1\r\n", "(nil)\n"},
	{"*-1\r\n", "(nil array)\n"},
	{"_\r\n", "(null)\n"},
	{"#t\r\n", "(true)\n"},
	{"#f\r\n", "(false)\n"},
	{",1.5\r\n", "(double) 1.5\n"},
	{",-inf\r\n", "(double) -inf\n"},
	{"(123456789012345678901234567890\r\n", "(big number) 123456789012345678901234567890\n"},
	{"!5\r\nERR x\r\n", "(bulk error) \"ERR x\"\n"},
	{"=6\r\ntxt:hi\r\n", "(verbatim) \"txt:hi\"\n"},
	{"*0\r\n", "(empty array)\n"},
	{"%0\r\n", "(empty map)\n"},
	{"~0\r\n", "(empty set)\n"},
	{"*2\r\n$1\r\na\r\n:1\r\n", "1) \"a\"\n2) (integer) 1\n"},
	{"~1\r\n+a\r\n", "1~ a\n"},
	{">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n", "1> \"message\"\n2> \"c\"\n3> \"hi\"\n"},
	{"%2\r\n+a\r\n:1\r\n+b\r\n*2\r\n+x\r\n+y\r\n", "1# a => (integer) 1\n2# b => 1) x\n   2) y\n"},
	{"*2\r\n*2\r\n+a\r\n*0\r\n*-1\r\n", "1) 1) a\n   2) (empty array)\n2) (nil array)\n"},
	{"|1\r\n+ttl\r\n:9\r\n*1\r\n+a\r\n", "1| ttl => (integer) 9\n1) a\n"},
	{"*1\r\n|1\r\n+ttl\r\n:9\r\n+a\r\n", "1) 1| ttl => (integer) 9\n   a\n"},
	{"*10\r\n" + strings.Repeat(":1\r\n", 10), " 1) (integer) 1\n 2) (integer) 1\n 3) (integer) 1\n 4) (integer) 1\n 5) (integer) 1\n" +
		" 6) (integer) 1\n 7) (integer) 1\n 8) (integer) 1\n 9) (integer) 1\n10) (integer) 1\n"},
}

func TestFrameAndFormat(t *testing.T) {
	for _, c := range replyCases {
		n, err := resp.Frame([]byte(c.wire + "+next"))
		require.NoError(t, err, c.wire)
		require.Equal(t, len(c.wire), n, c.wire)
		for cut := range len(c.wire) {
			n, err := resp.Frame([]byte(c.wire[:cut]))
			require.NoError(t, err, c.wire[:cut])
			require.Zero(t, n, c.wire[:cut])
		}
		text, err := resp.Format([]byte(c.wire + ":1\r\n"))
		require.NoError(t, err)
		require.Equal(t, c.text+"(integer) 1\n", text)
		_, err = resp.Format([]byte(c.wire + ":1\r"))
		require.ErrorIs(t, err, resp.ErrReply)
	}
}

func TestFrameRefuses(t *testing.T) {
	for _, in := range []string{
		"OK\r\n", "\r\n", "+OK\n", "+\n", ":\n", "$x\r\n", "$-2\r\n", "$\r\n", "*?\r\n", "$?\r\n", "%-1\r\n", "~-1\r\n", ">-1\r\n",
		"$2\r\nabcd", "#x\r\n", "*1\r\n?", "*99999999999\r\n",
	} {
		n, err := resp.Frame([]byte(in))
		require.ErrorIs(t, err, resp.ErrReply, in)
		require.Zero(t, n)
		_, err = resp.Format([]byte(in))
		require.ErrorIs(t, err, resp.ErrReply, in)
	}
}

func TestReplyReader(t *testing.T) {
	var stream strings.Builder
	for _, c := range replyCases {
		stream.WriteString(c.wire)
	}
	for name, src := range map[string]io.Reader{
		"at once":      strings.NewReader(stream.String()),
		"byte by byte": iotest.OneByteReader(strings.NewReader(stream.String())),
		"with EOF":     iotest.DataErrReader(strings.NewReader(stream.String())),
	} {
		r := resp.NewReplyReader(src)
		for _, c := range replyCases {
			reply, err := r.Next()
			require.NoError(t, err, name)
			require.Equal(t, c.wire, string(reply), name)
		}
		_, err := r.Next()
		require.Equal(t, io.EOF, err, name)
	}
	_, err := resp.NewReplyReader(strings.NewReader("*2\r\n+a\r\n")).Next()
	require.Equal(t, io.ErrUnexpectedEOF, err)
	_, err = resp.NewReplyReader(strings.NewReader("what\r\n")).Next()
	require.ErrorIs(t, err, resp.ErrReply)
}

func FuzzFrame(f *testing.F) {
	for _, c := range replyCases {
		f.Add([]byte(c.wire))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		n, err := resp.Frame(in)
		require.True(t, n >= 0 && n <= len(in))
		if err != nil || n == 0 {
			return
		}
		short, err := resp.Frame(in[:n-1])
		require.NoError(t, err)
		require.Zero(t, short)
	})
}
