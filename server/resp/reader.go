// Package resp reads the requests of RESP clients out of buffers that the
// caller owns, and takes the replies of a server apart for tests and tools.
package resp

import (
	"bytes"
	"math"
	"slices"
)

const (
	// MaxLine is the longest request line in bytes, without its end: an inline
	// request, or the line of a count or length.
	MaxLine = 64 << 10
	// MaxArgs is the largest argument count a request may announce.
	MaxArgs = math.MaxInt32
	// UnauthArgs is the largest argument count before authentication.
	UnauthArgs = 10
	// UnauthBulk is the longest argument in bytes before authentication.
	UnauthBulk = 16 << 10
	// DefaultMaxBulk is the usual Limits.MaxBulk.
	DefaultMaxBulk = 512 << 20

	// minArg is the size of the shortest argument, "$0\r\n\r\n".
	minArg = 6
	// longestBulk leaves room to add the CRLF to a length.
	longestBulk = math.MaxInt - 2
)

// Limits bound what a request may announce. They hold at the moment a count or
// length is read, so they may differ from call to call.
type Limits struct {
	// MaxBulk is the longest argument in bytes (proto-max-bulk-len).
	MaxBulk int
	// Unauth lowers the limits to UnauthArgs and UnauthBulk. Inline requests
	// keep MaxLine.
	Unauth bool
}

// maxBulk is the longest argument accepted now.
func (l Limits) maxBulk() int {
	if l.Unauth {
		return min(l.MaxBulk, UnauthBulk)
	}
	return l.MaxBulk
}

// bulkError is the error for an argument longer than maxBulk.
func (l Limits) bulkError(size int64) Error {
	if size > int64(l.MaxBulk) {
		return ErrBulkLength
	}
	return ErrBulkUnauth
}

// phase is the part of a multibulk request that is read next.
type phase uint8

const (
	atCount phase = iota
	atSize
	inPayload
)

// Reader is the state of one request stream: how far the request at the start
// of the buffer has been read. It holds no bytes and no pointers, so an idle
// connection costs nothing beyond the struct. The zero value is ready, for a
// stream at the start of a request.
type Reader struct {
	phase phase
	// stuck says that the current line holds a NUL byte, see line.
	stuck bool
	// pos is the start of the current line or payload, scan the end of the part
	// of the current line that was searched for its end. Both count from the
	// start of the request.
	pos, scan int
	// left counts the arguments not read yet, size is the length of the current
	// one while inPayload.
	left, size int
	// want is what Want answers.
	want int
	// work counts the bytes looked at in counts, lengths and inline lines, so
	// that tests can hold it against the bytes received.
	work int
}

// Next reads the request at the start of buf. It returns its arguments and
// n > 0, the bytes it took; a request without arguments (an empty line, "*0",
// a negative count) is complete with none and asks for no reply. n = 0 without
// an error means that the request is not all there yet: call again with the
// same bytes, at the same or another place, and more behind them. What was
// read is remembered, so the work is linear in the bytes received however they
// are cut. An error is always an Error, after which the stream is at its end.
//
// The arguments are written over args, which may be nil, and alias buf. Next
// allocates only to grow args, in proportion to the bytes received. It may
// overwrite the bytes of a complete inline request, to remove quotes in place;
// it never writes elsewhere.
func (r *Reader) Next(buf []byte, args [][]byte, lim Limits) ([][]byte, int, error) {
	args = args[:0]
	if len(buf) == 0 {
		return args, 0, nil
	}
	if buf[0] != '*' {
		return r.inline(buf, args)
	}
	lim.MaxBulk = min(lim.MaxBulk, longestBulk)
	resumed := r.phase != atCount
	if !resumed && !lim.Unauth {
		if whole, n := wholeRequest(buf, args, lim.MaxBulk); n > 0 {
			r.restart()
			return whole, n, nil
		}
	}
	args, n, err := r.multibulk(buf, args, lim, !resumed)
	if n == 0 || err != nil {
		return args[:0], 0, err
	}
	if resumed {
		// Everything was checked on the way and the buffer may have moved since:
		// walk the lengths once more, now that each argument is in its last place.
		r.restart()
		args, n, err = r.multibulk(buf, args, Limits{MaxBulk: longestBulk}, true)
	}
	r.restart()
	return args, n, err
}

// wholeRequest reads the request at the start of buf when it is all there, has
// a count of one digit and lengths of three at most, and room in args: nearly
// all are of this kind. n is 0 for any other, which multibulk has to judge. It
// takes half of multibulk's instructions.
func wholeRequest(buf []byte, args [][]byte, maxBulk int) (_ [][]byte, n int) {
	if len(buf) < 4 || buf[2] != '\r' {
		return nil, 0
	}
	left, pos := int(buf[1]-'0'), 4
	if left == 0 || left > min(9, cap(args)) {
		return nil, 0
	}
	args = args[:left]
	for i := range args {
		rest := buf[pos:]
		if len(rest) < minArg || rest[0] != '$' {
			return nil, 0
		}
		size, width := int(rest[1]-'0'), 4
		if rest[2] != '\r' {
			digit := int(rest[2] - '0')
			if size == 0 || size > 9 || digit > 9 {
				return nil, 0
			}
			size, width = size*10+digit, 5
			if rest[3] != '\r' {
				digit = int(rest[3] - '0')
				if digit > 9 || rest[4] != '\r' {
					return nil, 0
				}
				size, width = size*10+digit, 6
			}
		} else if size > 9 {
			return nil, 0
		}
		end := width + size
		if size > maxBulk || end > len(rest)-2 {
			return nil, 0
		}
		args[i] = rest[width:end:end]
		pos += end + 2
	}
	return args, pos
}

// Want returns a lower bound of the bytes that the request in progress still
// needs, at least 1 once Next has asked for more, and 0 between requests. It
// rests on lengths that the client announced: size a read by it, never a
// buffer.
func (r *Reader) Want() int { return r.want }

// restart makes r ready for the next request.
func (r *Reader) restart() { *r = Reader{work: r.work} }

// multibulk reads on in a request of counted arguments. With collect it appends
// the arguments it passes to args.
func (r *Reader) multibulk(buf []byte, args [][]byte, lim Limits, collect bool) ([][]byte, int, error) {
	if r.phase == atCount {
		done, err := r.count(buf, lim)
		if err != nil || !done {
			return args, 0, err
		}
		if r.left == 0 {
			return args, r.pos, nil
		}
		if collect {
			// No more room than the bytes that are here can fill.
			args = slices.Grow(args, min(r.left, (len(buf)-r.pos)/minArg))
		}
	}
	maxBulk := lim.maxBulk()
	for r.left > 0 {
		if r.phase == atSize {
			size, next := r.short(buf, '$')
			if next == 0 {
				var err error
				if size, next, err = r.longSize(buf, lim); err != nil || next == 0 {
					return args, 0, err
				}
			}
			if size > maxBulk {
				return args, 0, lim.bulkError(int64(size))
			}
			r.pos, r.size, r.phase = next, size, inPayload
		}
		// The two bytes behind a payload are passed over whatever they are, as
		// Valkey does.
		if missing := r.size - (len(buf) - r.pos - 2); missing > 0 {
			r.need(missing, r.left-1)
			return args, 0, nil
		}
		end := r.pos + r.size
		if collect {
			args = append(args, buf[r.pos:end:end])
		}
		r.pos = end + 2
		r.left--
		r.phase = atSize
	}
	return args, r.pos, nil
}

// need sets want to n bytes and others further arguments.
func (r *Reader) need(n, others int) {
	if n > math.MaxInt-others*minArg {
		r.want = math.MaxInt
		return
	}
	r.want = max(1, n+others*minArg)
}

// count reads the line of the argument count; done is false while it is not
// complete. A count below one leaves no arguments to read.
func (r *Reader) count(buf []byte, lim Limits) (done bool, err error) {
	n, next := r.short(buf, '*')
	if next == 0 {
		if n, next, err = r.longCount(buf); err != nil || next == 0 {
			r.want = 1
			return false, err
		}
	}
	if lim.Unauth && n > UnauthArgs {
		return false, ErrMultibulkUnauth
	}
	r.pos, r.left, r.phase = next, max(n, 0), atSize
	return true, nil
}

// short reads the line at pos, which starts with mark, when it is all there and
// ordinary; next is 0 otherwise and longCount or longSize has to decide.
func (r *Reader) short(buf []byte, mark byte) (n, next int) {
	if r.scan > r.pos {
		return 0, 0
	}
	b := buf[r.pos:]
	r.work += min(len(b), 4)
	if len(b) < 4 || b[0] != mark {
		return 0, 0
	}
	digit := b[1] - '0'
	if digit > 9 {
		return 0, 0
	}
	n = int(digit)
	if b[2] == '\r' {
		return n, r.pos + 4
	}
	if digit == 0 {
		return 0, 0
	}
	b = b[:min(len(b), 12)]
	r.work += len(b) - 4
	for i := 2; i < len(b)-1; i++ {
		if b[i] == '\r' {
			return n, r.pos + i + 2
		}
		if digit = b[i] - '0'; digit > 9 {
			return 0, 0
		}
		n = n*10 + int(digit)
	}
	return 0, 0
}

// longCount reads any line of a count; next is 0 while it is not complete. The
// byte behind the CR must have arrived, but is not looked at.
func (r *Reader) longCount(buf []byte) (n, next int, err error) {
	end, err := r.line(buf, '\r', ErrMultibulkLine)
	if err != nil || end < 0 || end+2 > len(buf) {
		return 0, 0, err
	}
	count, ok := parseInt(buf[1:end])
	if !ok || count > MaxArgs {
		return 0, 0, ErrMultibulkLength
	}
	return int(max(count, 0)), end + 2, nil
}

// longSize reads any length line at pos; next is 0 while it is not complete.
func (r *Reader) longSize(buf []byte, lim Limits) (size, next int, err error) {
	end, err := r.line(buf, '\r', ErrBulkLine)
	if err != nil || end < 0 || end+2 > len(buf) {
		r.need(r.pos-len(buf), r.left)
		return 0, 0, err
	}
	if buf[r.pos] != '$' {
		return 0, 0, errExpectedBulk(buf[r.pos])
	}
	n, ok := parseInt(buf[r.pos+1 : end])
	if !ok || n < 0 {
		return 0, 0, ErrBulkLength
	}
	if n > int64(lim.maxBulk()) {
		return 0, 0, lim.bulkError(n)
	}
	return int(n), end + 2, nil
}

// line returns the index of the byte last that ends the line at pos, or -1
// while it has not arrived, or tooLong when it cannot come within MaxLine.
//
// A NUL byte hides the rest of the line, as in a server that searches C
// strings: such a line never ends and is refused once it has outgrown MaxLine.
func (r *Reader) line(buf []byte, last byte, tooLong Error) (int, error) {
	stop := min(len(buf), r.pos+MaxLine+1)
	if from := max(r.scan, r.pos); !r.stuck && from < stop {
		part := buf[from:stop]
		i := bytes.IndexByte(part, last)
		if i >= 0 {
			part = part[:i]
		}
		r.work += len(part) + 1
		r.stuck = bytes.IndexByte(part, 0) >= 0
		if i >= 0 && !r.stuck {
			r.scan = from + i
			return r.scan, nil
		}
		r.scan = stop
	}
	if len(buf)-r.pos > MaxLine {
		return -1, tooLong
	}
	return -1, nil
}

// parseInt reads a decimal as Valkey writes it: no plus sign, no leading zero,
// no "-0", nothing around it, within 64 bits.
func parseInt(b []byte) (int64, bool) {
	if len(b) == 1 && b[0] == '0' {
		return 0, true
	}
	limit := uint64(math.MaxInt64)
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
		limit++
	}
	// 19 digits cannot overflow an unsigned value.
	if len(b) == 0 || len(b) > 19 || b[0] == '0' {
		return 0, false
	}
	var v uint64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + uint64(c-'0')
	}
	if v > limit {
		return 0, false
	}
	if negative {
		return -int64(v), true
	}
	return int64(v), true
}
