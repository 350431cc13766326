package commands

import (
	"math"
	"strconv"

	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/glob"
	"github.com/echomq/emqd/store/num"
)

// Refusals of the SCAN family.
const (
	errCursor   Error = "ERR invalid cursor"
	errNoValues Error = "ERR NOVALUES option can only be used in HSCAN"
	errNoScores Error = "ERR NOSCORES option can only be used in ZSCAN"
)

// scanCount is how many elements one call looks at unless COUNT says otherwise.
const scanCount = 10

// scan is one call of the SCAN family: what was asked for, and how far the reply has come.
type scan struct {
	cursor   uint64
	pattern  []byte // nil when everything matches
	count    int64
	typ      []byte // TYPE's argument, nil without
	nameOnly bool   // NOVALUES or NOSCORES

	seen  int64
	items int
}

// scanCursor reads the cursor of a SCAN call.
func scanCursor(arg []byte) (uint64, error) {
	cursor, ok := num.Uint(arg)
	if !ok {
		return 0, errCursor
	}
	return cursor, nil
}

// parseScan reads the options behind the cursor. kind is the kind of collection, KindNone for the keyspace.
// The pattern and the type alias args.
func parseScan(cursor uint64, options [][]byte, kind store.Kind) (scan, error) {
	s := scan{cursor: cursor, count: scanCount}
	for ; len(options) > 0; options = options[1:] {
		word := options[0]
		valued := len(options) > 1
		switch {
		case Is(word, "count") && valued:
			n, ok := num.Int(options[1])
			if !ok {
				return s, ErrNotInteger
			}
			if n < 1 {
				return s, ErrSyntax
			}
			s.count = n
			options = options[1:]
		case Is(word, "match") && valued:
			s.pattern = options[1]
			if glob.All(s.pattern) {
				s.pattern = nil
			} else if s.pattern == nil {
				s.pattern = []byte{}
			}
			options = options[1:]
		case Is(word, "type") && valued && kind == store.KindNone:
			s.typ = options[1]
			if !kindWord(s.typ) {
				return s, Error("ERR unknown type name '" + Echo(s.typ) + "'")
			}
			options = options[1:]
		case Is(word, "novalues"):
			if kind != store.KindHash {
				return s, errNoValues
			}
			s.nameOnly = true
		case Is(word, "noscores"):
			if kind != store.KindZSet {
				return s, errNoScores
			}
			s.nameOnly = true
		default:
			return s, ErrSyntax
		}
	}
	return s, nil
}

// emptyScan replies that a scan found nothing and is complete.
func emptyScan(c *Call) {
	c.Reply.Array(2)
	c.Reply.Text("0")
	c.Reply.Array(0)
}

// wants counts one element as looked at and reports whether it belongs into the reply, into which the
// caller then puts it and says so by put.
func (s *scan) wants(name []byte) bool {
	s.seen++
	return s.pattern == nil || glob.Match(s.pattern, name, false)
}

// put counts n items that were appended to the reply.
func (s *scan) put(n int) { s.items += n }

// walk replies a scan: it calls step, which goes on from a cursor, appends what is wanted and returns the next
// cursor, until enough elements were looked at or the pass is complete. A sparse table ends the call early, so
// that no call takes long.
func (s *scan) walk(c *Call, step func(cursor uint64) (next uint64)) {
	mark := c.Reply.Later()
	cursor := step(s.cursor)
	rounds := int64(math.MaxInt64)
	if s.count < rounds/10 {
		rounds = s.count * 10
	}
	for ; cursor != 0 && s.seen < s.count && rounds > 0; rounds-- {
		cursor = step(cursor)
	}
	c.Reply.Fill(mark, func() {
		var text [20]byte
		c.Reply.Array(2)
		c.Reply.Bulk(strconv.AppendUint(text[:0], cursor, 10))
		c.Reply.Array(s.items)
	})
}

// kindWord reports whether a client's word names a type of values.
func kindWord(word []byte) bool {
	for k := store.KindString; k <= store.KindStream; k++ {
		if Is(word, k.String()) {
			return true
		}
	}
	return false
}
