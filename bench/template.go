package bench

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// A template is a request as bytes with holes of fixed width for what differs from one to the next.
//
// Words are written with these marks:
//
//	%b  the base of the operation's queue, emq:{...}:
//	%P  the prefix of plain keys
//	%p  the payload
//	%i  the id of the job; %0 to %9 the ids of a flow, the parent's first
//	%a  the id of the job's parent
//	%l  the lane of the job
//	%k  a key number out of those of the load
//	%r  a random number of six digits
//	%n  a number that counts up, of ten digits
//	%t  the token of the job, a word of its own
type template struct {
	bytes []byte
	holes []hole
	token int // where the token goes, which has no fixed width; -1 for none
}

type hole struct {
	at   int
	kind byte
}

// widths are how many bytes the holes have.
var widths = map[byte]int{'i': idLen, 'a': idLen, 'l': 4, 'k': 10, 'n': 10, 'r': 6, 'q': 6}

// names are what the marks that are the same in all requests of a load stand for.
type names struct {
	base, plain, payload string
}

// compile makes a template of words.
func compile(words []string, n names) template {
	t := template{token: -1}
	t.bytes = fmt.Appendf(t.bytes, "*%d\r\n", len(words))
	for _, w := range words {
		if w == "%t" {
			t.token = len(t.bytes)
			continue
		}
		w = strings.ReplaceAll(strings.ReplaceAll(w, "%b", n.base), "%P", n.plain)
		var text []byte
		var holes []hole
		for i := 0; i < len(w); i++ {
			if w[i] != '%' {
				text = append(text, w[i])
				continue
			}
			i++
			if w[i] == 'p' {
				text = append(text, n.payload...)
				continue
			}
			width := idLen
			if w[i] > '9' {
				width = widths[w[i]]
			}
			holes = append(holes, hole{len(text), w[i]})
			text = append(text, strings.Repeat("0", width)...)
		}
		t.bytes = fmt.Appendf(t.bytes, "$%d\r\n", len(text))
		for _, h := range holes {
			t.holes = append(t.holes, hole{len(t.bytes) + h.at, h.kind})
		}
		t.bytes = append(append(t.bytes, text...), "\r\n"...)
	}
	return t
}

// filling is what the holes of one request are filled with.
type filling struct {
	ids    []int64 // the job, or a flow's parent and its children
	parent int64
	lane   int
	queue  int
	token  []byte
	keys   int
	number int
	random *rand.Rand
}

// append appends the request with its holes filled.
func (t *template) append(b []byte, f *filling) []byte {
	start, shift := len(b), 0
	if t.token < 0 {
		b = append(b, t.bytes...)
	} else {
		b = append(b, t.bytes[:t.token]...)
		b = append(b, '$')
		b = strconv.AppendInt(b, int64(len(f.token)), 10)
		b = append(append(append(b, "\r\n"...), f.token...), "\r\n"...)
		shift = len(b) - start - t.token
		b = append(b, t.bytes[t.token:]...)
	}
	for _, h := range t.holes {
		at := start + h.at
		if t.token >= 0 && h.at >= t.token {
			at += shift
		}
		f.put(h.kind, b[at:])
	}
	return b
}

// put fills one hole.
func (f *filling) put(kind byte, to []byte) {
	switch kind {
	case 'i':
		putID(to, f.ids[0])
	case 'a':
		putID(to, f.parent)
	case 'l':
		putDigits(to[:4], f.lane)
	case 'q':
		putDigits(to[:6], f.queue)
	case 'k':
		putDigits(to[:10], f.random.IntN(f.keys))
	case 'n':
		putDigits(to[:10], f.number)
		f.number++
	case 'r':
		putDigits(to[:6], f.random.IntN(1e6))
	default:
		putID(to, f.ids[kind-'0'])
	}
}

// putDigits writes n with as many digits as to has bytes.
func putDigits(to []byte, n int) {
	for i := len(to) - 1; i >= 0; i-- {
		to[i] = byte('0' + n%10)
		n /= 10
	}
}

// idLen is the length of a branded id: three letters and eleven digits of base 62.
const idLen = 14

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// putID writes the job id of a number.
func putID(to []byte, n int64) {
	_ = to[idLen-1]
	to[0], to[1], to[2] = 'J', 'O', 'B'
	for i := idLen - 1; i > 2; i-- {
		to[i] = base62[n%62]
		n /= 62
	}
}

// readID returns the number of a job id, or -1 when it is none.
func readID(id []byte) int64 {
	if len(id) != idLen || id[0] != 'J' || id[1] != 'O' || id[2] != 'B' {
		return -1
	}
	n := int64(0)
	for _, c := range id[3:] {
		d := int64(0)
		switch {
		case c >= '0' && c <= '9':
			d = int64(c - '0')
		case c >= 'A' && c <= 'Z':
			d = int64(c-'A') + 10
		case c >= 'a' && c <= 'z':
			d = int64(c-'a') + 36
		default:
			return -1
		}
		n = n*62 + d
	}
	return n
}
