package bench

import (
	"bytes"
	"strconv"

	"github.com/echomq/emqd/server/resp"
)

// frame returns the length of the first reply in b, 0 while it is not all there. Replies of one line, which most are,
// need no more than the search for its end.
func frame(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	switch b[0] {
	case '+', '-', ':':
		return bytes.IndexByte(b, '\n') + 1, nil
	case '$':
		n, at := number(b)
		if at == 0 || n < 0 {
			return at, nil
		}
		if len(b) < at+n+2 {
			return 0, nil
		}
		return at + n + 2, nil
	}
	return resp.Frame(b)
}

// number returns the number in the first line of b, behind its type, and where the next line starts: 0 when it is not
// all there.
func number(b []byte) (n, next int) {
	i, negative := 1, false
	if i < len(b) && b[i] == '-' {
		negative, i = true, 2
	}
	for ; i < len(b) && b[i] != '\r'; i++ {
		n = n*10 + int(b[i]-'0')
	}
	if i+1 >= len(b) {
		return 0, 0
	}
	if negative {
		n = -n
	}
	return n, i + 2
}

// elements are the parts of an array of strings and integers: the bytes of the strings, the digits of the integers.
// It returns how many there are, at most len(to) of which are kept, and -1 for another reply.
func elements(reply []byte, to [][]byte) int {
	if reply[0] != '*' {
		return -1
	}
	count, at := number(reply)
	for i := range count {
		if at >= len(reply) {
			return -1
		}
		b := reply[at:]
		var text []byte
		switch b[0] {
		case ':':
			end := bytes.IndexByte(b, '\r')
			text, at = b[1:end], at+end+2
		case '$':
			n, next := number(b)
			if n < 0 {
				return -1
			}
			text, at = b[next:next+n], at+next+n+2
		default:
			return -1
		}
		if i < len(to) {
			to[i] = text
		}
	}
	return count
}

// decode turns a whole reply into a string, an int64, a []any, an error or nil, and returns what follows it.
func decode(b []byte) (any, []byte) {
	end := bytes.IndexByte(b, '\n')
	text, rest := string(b[1:end-1]), b[end+1:]
	switch b[0] {
	case '-':
		return replyError(text), rest
	case ':':
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return err, rest
		}
		return n, rest
	case '$', '*':
		n, err := strconv.Atoi(text)
		if err != nil {
			return err, rest
		}
		if n < 0 {
			return nil, rest
		}
		if b[0] == '$' {
			return string(rest[:n]), rest[n+2:]
		}
		list := make([]any, n)
		for i := range list {
			list[i], rest = decode(rest)
		}
		return list, rest
	}
	return text, rest
}

// replyError is an error reply.
type replyError string

func (e replyError) Error() string { return string(e) }
