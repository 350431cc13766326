package resp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// ErrReply says that bytes are no RESP2 or RESP3 reply.
var ErrReply = errors.New("resp: malformed reply")

// Frame returns the length in bytes of the first reply in buf, of RESP2 or
// RESP3, with everything it contains; attributes belong to the reply they
// precede, a push is a reply of its own. It returns 0 while the reply is not
// all there and ErrReply when it cannot become one. Streamed replies, which no
// server sends, are malformed.
func Frame(buf []byte) (n int, err error) {
	f := framing{left: 1}
	if done, err := f.advance(buf); err != nil || !done {
		return 0, err
	}
	return f.pos, nil
}

// framing is the search for the end of one reply.
type framing struct {
	pos  int // where the next element starts
	left int // elements not passed yet
}

// advance passes the complete elements of buf from pos on and reports whether
// none is left.
func (f *framing) advance(buf []byte) (done bool, err error) {
	for f.left > 0 {
		e, n, err := element(buf[f.pos:])
		if err != nil || n == 0 {
			return false, err
		}
		f.pos += n
		f.left += e.children
		if e.kind != '|' {
			f.left--
		}
	}
	return true, nil
}

// elem is one element of a reply without its children.
type elem struct {
	kind     byte
	null     bool
	text     []byte // the line or the payload
	children int
}

// element reads the element at the start of buf and returns its length, 0 when
// it is not complete.
func element(buf []byte) (e elem, n int, err error) {
	if len(buf) == 0 {
		return elem{}, 0, nil
	}
	e.kind = buf[0]
	if strings.IndexByte("+-:,#_($!=*~>%|", e.kind) < 0 {
		return elem{}, 0, fmt.Errorf("%w: type byte %q", ErrReply, e.kind)
	}
	end := bytes.IndexByte(buf, '\n')
	if end < 0 {
		return elem{}, 0, nil
	}
	if buf[end-1] != '\r' || end < 2 {
		return elem{}, 0, fmt.Errorf("%w: line without CRLF", ErrReply)
	}
	e.text = buf[1 : end-1]
	n = end + 1
	if e.kind == '#' && string(e.text) != "t" && string(e.text) != "f" {
		return elem{}, 0, fmt.Errorf("%w: boolean %q", ErrReply, e.text)
	}
	if strings.IndexByte("+-:,#_(", e.kind) >= 0 {
		e.null = e.kind == '_'
		return e, n, nil
	}
	count, ok := parseInt(e.text)
	e.null = count == -1 && (e.kind == '$' || e.kind == '*')
	if !ok || count > math.MaxInt32 || count < 0 && !e.null {
		return elem{}, 0, fmt.Errorf("%w: length %q", ErrReply, e.text)
	}
	if e.null {
		return e, n, nil
	}
	switch e.kind {
	case '*', '~', '>':
		e.children = int(count)
		return e, n, nil
	case '%', '|':
		e.children = int(count) * 2
		return e, n, nil
	}
	size := int(count)
	if len(buf)-n < size+2 {
		return e, 0, nil
	}
	e.text = buf[n : n+size]
	if buf[n+size] != '\r' || buf[n+size+1] != '\n' {
		return elem{}, 0, fmt.Errorf("%w: payload without CRLF", ErrReply)
	}
	return e, n + size + 2, nil
}

// ReplyReader cuts the bytes of a connection into replies.
type ReplyReader struct {
	src   io.Reader
	buf   []byte
	frame framing
}

// NewReplyReader returns a ReplyReader on src.
func NewReplyReader(src io.Reader) *ReplyReader {
	return &ReplyReader{src: src, frame: framing{left: 1}}
}

// Next returns the bytes of the next reply, which the caller may keep. The
// error is that of the source, io.EOF only between two replies and
// io.ErrUnexpectedEOF inside one, or ErrReply. After an error of the source
// that passes, such as a deadline, Next goes on where it stopped.
func (r *ReplyReader) Next() ([]byte, error) {
	for {
		done, err := r.frame.advance(r.buf)
		if err != nil {
			return nil, err
		}
		if done {
			reply := bytes.Clone(r.buf[:r.frame.pos])
			r.buf = append(r.buf[:0], r.buf[r.frame.pos:]...)
			r.frame = framing{left: 1}
			return reply, nil
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// fill reads once.
func (r *ReplyReader) fill() error {
	var piece [16 << 10]byte
	n, err := r.src.Read(piece[:])
	r.buf = append(r.buf, piece[:n]...)
	if n > 0 {
		return nil
	}
	if err == io.EOF && len(r.buf) > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Format renders the replies in buf as text, one after another, in the manner
// of redis-cli: "quoted" bulk strings, bare simple strings, (integer) 1, and
// numbered aggregates, indented when nested. Unlike there, replies of different
// types never look the same: 1) numbers an array, 1~ a set, 1> a push, 1# a map
// and 1| the attributes before a reply; a null is (nil), (nil array) or (null).
// Bytes that are not a complete reply are an error.
func Format(buf []byte) (string, error) {
	var out strings.Builder
	for len(buf) > 0 {
		n, err := Frame(buf)
		if err != nil {
			return "", err
		}
		if n == 0 {
			return "", fmt.Errorf("%w: cut off", ErrReply)
		}
		if _, err := format(&out, buf[:n], ""); err != nil {
			return "", err
		}
		buf = buf[n:]
	}
	return out.String(), nil
}

// format writes the reply at the start of buf, which is complete, and returns
// what follows it. The first line continues the caller's; indent starts the
// others.
func format(out *strings.Builder, buf []byte, indent string) (rest []byte, err error) {
	e, n, err := element(buf)
	if err != nil {
		return nil, err
	}
	rest = buf[n:]
	mark := strings.IndexByte("*~>%|", e.kind)
	if mark < 0 || e.null {
		out.WriteString(scalar(e) + "\n")
		return rest, nil
	}
	if e.children == 0 {
		out.WriteString("(empty " + []string{"array", "set", "push", "map", "attributes"}[mark] + ")\n")
	}
	rows := e.children
	if e.kind == '%' || e.kind == '|' {
		rows /= 2
	}
	width := len(strconv.Itoa(rows))
	inner := indent + strings.Repeat(" ", width+2)
	for i := range rows {
		if i > 0 {
			out.WriteString(indent)
		}
		fmt.Fprintf(out, "%*d%c ", width, i+1, ")~>#|"[mark])
		if rows < e.children {
			var key strings.Builder
			if rest, err = format(&key, rest, inner); err != nil {
				return nil, err
			}
			out.WriteString(strings.TrimSuffix(key.String(), "\n") + " => ")
		}
		if rest, err = format(out, rest, inner); err != nil {
			return nil, err
		}
	}
	if e.kind == '|' {
		out.WriteString(indent)
		return format(out, rest, indent)
	}
	return rest, nil
}

// scalar renders an element without children.
func scalar(e elem) string {
	text := string(e.text)
	switch e.kind {
	case '+':
		return text
	case '-':
		return "(error) " + text
	case ':':
		return "(integer) " + text
	case ',':
		return "(double) " + text
	case '(':
		return "(big number) " + text
	case '#':
		return "(" + strconv.FormatBool(text == "t") + ")"
	case '_':
		return "(null)"
	case '*':
		return "(nil array)"
	case '!':
		return "(bulk error) " + Quote(e.text)
	case '=':
		return "(verbatim) " + Quote(e.text)
	}
	if e.null {
		return "(nil)"
	}
	return Quote(e.text)
}

// Quote renders bytes in double quotes, so that an inline request may contain
// the result: printable ASCII as it is, the rest escaped.
func Quote(b []byte) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, c := range b {
		if i := strings.IndexByte("\\\"\n\r\t\a\b", c); i >= 0 {
			out.WriteByte('\\')
			out.WriteByte("\\\"nrtab"[i])
		} else if c >= ' ' && c <= '~' {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, `\x%02x`, c)
		}
	}
	out.WriteByte('"')
	return out.String()
}
