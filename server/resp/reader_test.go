package resp_test

import (
	"bytes"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/echomq/emqd/server/resp"
)

// outcome is what a stream was read as.
type outcome struct {
	reqs [][]string
	err  error
	rest int // bytes of a request that is not complete
}

// feed gives a stream to a Reader in pieces that end at the cuts. Like a server
// under pressure it moves what is left to a new buffer before each piece, and
// it spoils the old one.
func feed(t require.TestingT, stream string, cuts []int, lim resp.Limits) outcome {
	var (
		r    resp.Reader
		out  outcome
		buf  []byte
		args [][]byte
		from int
		soon int // Want's promise for the request at the start of buf
	)
	for _, cut := range append(cuts, len(stream)) {
		old := buf
		buf = append(bytes.Clone(buf), stream[from:cut]...)
		for i := range old {
			old[i] = '!'
		}
		from = cut
		for {
			var n int
			before := bytes.Clone(buf)
			args, n, out.err = r.Next(buf, args, lim)
			if out.err != nil {
				require.Zero(t, n)
				require.Empty(t, args)
				return out
			}
			if n == 0 {
				require.Equal(t, before, buf, "an incomplete request was changed")
				require.Empty(t, args)
				require.Equal(t, len(buf) > 0, r.Want() > 0)
				if want := r.Want(); len(buf) > 0 && want < math.MaxInt {
					soon = max(soon, len(buf)+want)
				}
				break
			}
			require.LessOrEqual(t, soon, n, "Want asked for too much")
			require.Equal(t, before[n:], buf[n:], "a byte behind the request was changed")
			require.Zero(t, r.Want())
			out.reqs = append(out.reqs, copyArgs(args))
			buf, soon = buf[n:], 0
		}
	}
	out.rest = len(buf)
	return out
}

// copyArgs copies arguments out of the buffer.
func copyArgs(args [][]byte) []string {
	req := []string{}
	for _, a := range args {
		req = append(req, string(a))
	}
	return req
}

// limits are the usual ones.
func limits(unauth bool) resp.Limits {
	return resp.Limits{MaxBulk: resp.DefaultMaxBulk, Unauth: unauth}
}

func TestNext(t *testing.T) {
	for _, c := range allCases() {
		t.Run(c.name, func(t *testing.T) {
			want := outcome{reqs: c.want, err: c.err, rest: c.rest}
			require.Equal(t, want, feed(t, c.in, nil, limits(c.unauth)), "in one piece")
			step := 1 + len(c.in)/500
			for cut := step; cut < len(c.in); cut += step {
				require.Equal(t, want, feed(t, c.in, []int{cut}, limits(c.unauth)), "cut at %d", cut)
			}
			if len(c.in) < 2000 {
				require.Equal(t, want, feed(t, c.in, everyByte(c.in), limits(c.unauth)), "byte by byte")
			}
		})
	}
}

// everyByte cuts a stream into its bytes.
func everyByte(stream string) (cuts []int) {
	for i := 1; i < len(stream); i++ {
		cuts = append(cuts, i)
	}
	return cuts
}

func TestMaxBulk(t *testing.T) {
	in := "*1\r\n$9223372036854775807\r\n"
	for _, c := range []struct {
		lim resp.Limits
		in  string
		err error
	}{
		{resp.Limits{MaxBulk: 10}, "*1\r\n$10\r\n", nil},
		{resp.Limits{MaxBulk: 10}, "*1\r\n$11\r\n", resp.ErrBulkLength},
		{resp.Limits{MaxBulk: 10, Unauth: true}, "*1\r\n$11\r\n", resp.ErrBulkLength},
		{resp.Limits{MaxBulk: 10}, "*1\r\n$2\r", nil},
		{resp.Limits{MaxBulk: math.MaxInt}, in, resp.ErrBulkLength},
		{resp.Limits{MaxBulk: math.MaxInt}, "*2\r\n$9223372036854775800\r\n", nil},
	} {
		require.Equal(t, c.err, feed(t, c.in, nil, c.lim).err, c.in)
	}
}

// Lengths are held against the limits of the moment they are read.
func TestLimitsChangeWithinRequest(t *testing.T) {
	in := []byte("*11\r\n" + strings.Repeat("$20\r\n12345678901234567890\r\n", 11))
	var r resp.Reader
	_, n, err := r.Next(in[:40], nil, limits(false))
	require.NoError(t, err)
	require.Zero(t, n)
	args, n, err := r.Next(in, nil, resp.Limits{MaxBulk: 20, Unauth: true})
	require.NoError(t, err)
	require.Equal(t, len(in), n)
	require.Len(t, args, 11)
}

func TestWant(t *testing.T) {
	for in, want := range map[string]int{
		"PIN":                      1,
		"*":                        1,
		"*3\r\n":                   18,
		"*3\r\n$3\r":               15,
		"*3\r\n$3\r\n":             17,
		"*3\r\n$3\r\nSET\r\n$":     11,
		"*1\r\n$1000000\r\nab":     1000000,
		"*2\r\n$1000000\r\nab":     1000006,
		"*1\r\n$100000000\r\n":     100000002,
		"*1\r\n$4\r\nPING\r":       1,
		"*1\r\nabcdefghijklm":      1,
		"*1\r\n$4\r\nPING\r\nPING": 0,
	} {
		var r resp.Reader
		_, _, err := r.Next([]byte(in), nil, limits(false))
		require.NoError(t, err)
		require.Equal(t, want, r.Want(), in)
	}
}

// request draws one well-formed request and its arguments.
func request(t *rapid.T) (wire string, args []string) {
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return rapid.SampledFrom([]string{"\r\n", "\n", "*0\r\n", "*-1\r\n", " \t\n"}).Draw(t, "empty"), []string{}
	case 1, 2:
		args = rapid.SliceOfN(rapid.StringN(1, 20, 40), 1, 6).Draw(t, "words")
		quoted := make([]string, len(args))
		for i, a := range args {
			quoted[i] = resp.Quote([]byte(a))
		}
		return strings.Join(quoted, " ") + rapid.SampledFrom([]string{"\r\n", "\n"}).Draw(t, "end"), args
	}
	for _, b := range rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 120), 1, 12).Draw(t, "args") {
		args = append(args, string(b))
	}
	return wire + encode(args...), args
}

// encode writes a multibulk request.
func encode(args ...string) string {
	var b strings.Builder
	b.WriteString("*" + strconv.Itoa(len(args)) + "\r\n")
	for _, a := range args {
		b.WriteString("$" + strconv.Itoa(len(a)) + "\r\n" + a + "\r\n")
	}
	return b.String()
}

// drawCuts draws a partition of a stream.
func drawCuts(t *rapid.T, stream string) (cuts []int) {
	for at := 0; ; {
		at += rapid.IntRange(1, 1+len(stream)/2).Draw(t, "piece")
		if at >= len(stream) {
			return cuts
		}
		cuts = append(cuts, at)
	}
}

func TestAnyPipelineInAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var stream string
		var want [][]string
		for range rapid.IntRange(1, 8).Draw(t, "requests") {
			wire, args := request(t)
			stream += wire
			want = append(want, args)
		}
		require.Equal(t, outcome{reqs: want}, feed(t, stream, drawCuts(t, stream), limits(false)))
	})
}

// brokenStream draws a pipeline with a few bytes replaced, added or lost.
func brokenStream(t *rapid.T, pipeline string) string {
	b := []byte(pipeline)
	for range rapid.IntRange(0, 4).Draw(t, "faults") {
		at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
		c := rapid.SampledFrom([]byte("*$0123456789-+ \r\n\x00\"'\\x\xffa")).Draw(t, "byte")
		switch rapid.IntRange(0, 2).Draw(t, "fault") {
		case 0:
			b[at] = c
		case 1:
			b = append(b[:at], append([]byte{c}, b[at:]...)...)
		default:
			b = append(b[:at], b[at+1:]...)
		}
		if len(b) == 0 {
			break
		}
	}
	return string(b)
}

func TestBrokenStreamInAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wire, _ := request(t)
		more, _ := request(t)
		stream := brokenStream(t, wire+more)
		unauth := rapid.Bool().Draw(t, "unauth")
		whole := feed(t, stream, nil, limits(unauth))
		require.Equal(t, whole, feed(t, stream, everyByte(stream), limits(unauth)))
		require.Equal(t, whole, feed(t, stream, drawCuts(t, stream), limits(unauth)))
	})
}

func FuzzNext(f *testing.F) {
	for _, c := range allCases() {
		if len(c.in) < 200 {
			f.Add([]byte(c.in), byte(3), c.unauth)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, piece byte, unauth bool) {
		var cuts []int
		for at := int(piece) + 1; at < len(in); at += int(piece) + 1 {
			cuts = append(cuts, at)
		}
		stream := string(in)
		require.Equal(t, feed(t, stream, nil, limits(unauth)), feed(t, stream, cuts, limits(unauth)))
	})
}

func TestIdleReaderIsSmall(t *testing.T) {
	require.LessOrEqual(t, reflect.TypeFor[resp.Reader]().Size(), uintptr(64))
}

// An announcement must not cost memory.
func TestAnnouncedLengthsAllocateNothing(t *testing.T) {
	for _, in := range []string{"*2147483647\r\n", "*2147483647\r\n$1\r\na\r\n$500000000\r\nabc", "*1\r\n$500000000\r\n"} {
		var r resp.Reader
		args, n, err := r.Next([]byte(in), nil, limits(false))
		require.NoError(t, err)
		require.Zero(t, n)
		require.LessOrEqual(t, cap(args), 1+len(in)/6)
	}
}

// pipelined is 16 SET requests.
func pipelined() []byte {
	return []byte(strings.Repeat(encode("SET", "key:000000000001", "xxx"), 16))
}

// drain reads every request of buf.
func drain(r *resp.Reader, buf []byte, args [][]byte) ([][]byte, error) {
	for len(buf) > 0 {
		var n int
		var err error
		args, n, err = r.Next(buf, args, limits(false))
		if err != nil || n == 0 {
			return args, err
		}
		buf = buf[n:]
	}
	return args, nil
}

func TestWarmReaderAllocatesNothing(t *testing.T) {
	var r resp.Reader
	args := make([][]byte, 0, 8)
	buf := pipelined()
	cut := len(buf) - 50
	text := []byte("SET \"a b\" 'c'\r\n")
	line := bytes.Clone(text)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		args, _ = drain(&r, buf, args)
		args, _ = drain(&r, buf[cut:cut+20], args)
		r = resp.Reader{}
		copy(line, text)
		args, _ = drain(&r, line, args)
	}))
	require.Len(t, args, 3)
}

func BenchmarkPipelinedSet(b *testing.B) {
	var r resp.Reader
	buf := pipelined()
	args := make([][]byte, 0, 8)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		args, _ = drain(&r, buf, args)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/16, "ns/request")
}
