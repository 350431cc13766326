package commands

import (
	"bytes"
	"math"
	"strconv"

	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

var listReadRows = []Row{
	{
		Name: "lindex", Family: "list", Arity: 3, Flags: ReadOnly, Do: cmdLIndex,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key index", Since: "1.0.0", Summary: "Returns an element of a list by its index.",
		Complexity: "O(N) where N is the number of elements between the index and the nearer end",
	},
	{
		Name: "lrange", Family: "list", Arity: 4, Flags: ReadOnly, Do: cmdLRange,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key start stop", Since: "1.0.0", Summary: "Returns the elements of a list between two indexes.",
		Complexity: "O(S+N) where S is the distance of start from the nearer end and N is the number of elements returned",
	},
	{
		Name: "lpos", Family: "list", Arity: -3, Flags: ReadOnly, Do: cmdLPos,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRO | KeyAccess}},
		Syntax: "key element [RANK rank] [COUNT num-matches:integer] [MAXLEN len]", Since: "6.0.6",
		Summary: "Returns the indexes of elements of a list that are equal to the given one.", Complexity: "O(N) where N is the number of elements looked at",
	},
}

// Refusals of LPOS.
const (
	errPosRank Error = "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... " +
		"or use negative to start from the end of the list"
	errPosCount  Error = "ERR COUNT can't be negative"
	errPosMaxLen Error = "ERR MAXLEN can't be negative"
)

// errSignedRange refuses the one integer that has no counterpart of the other sign.
var errSignedRange = Error("ERR value is out of range, value must between " +
	strconv.Itoa(-math.MaxInt64) + " and " + strconv.Itoa(math.MaxInt64))

// parseSigned reads an integer whose sign says from which end to count.
func parseSigned(arg []byte) (int64, error) {
	n, ok := num.Int(arg)
	switch {
	case !ok:
		return 0, ErrNotInteger
	case n == math.MinInt64:
		return 0, errSignedRange
	}
	return n, nil
}

// listRange makes the bounds of a range, negative ones counted from the right end and both included, the part
// from..to-1 of a list of n elements; from = to when it is empty.
func listRange(start, stop int64, n int) (from, to int) {
	size := int64(n)
	if start < 0 {
		start = max(start+size, 0)
	}
	if stop < 0 {
		stop += size
	}
	if start > stop || start >= size {
		return 0, 0
	}
	return int(start), int(min(stop, size-1)) + 1
}

// cmdLIndex handles LINDEX key index.
//
// Keys:    list
// Reply:   the element, null when there is none
// Errors:  WRONGTYPE, ERR when index is no integer and the key is there
// Effects: none
func cmdLIndex(c *Call) error {
	l, err := c.Tx.List(c.Args[1])
	if err != nil {
		return err
	}
	if !l.Exists() {
		c.Reply.Null()
		return nil
	}
	i, ok := num.Int(c.Args[2])
	if !ok {
		return ErrNotInteger
	}
	if value, ok := l.At(listIndex(&l, i)); ok {
		c.Reply.Bulk(value)
	} else {
		c.Reply.Null()
	}
	return nil
}

// listIndex makes an index that may be negative one that counts from the left, -1 when it is none of the list's.
func listIndex(l *store.List, i int64) int {
	n := int64(l.Len())
	if i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		return -1
	}
	return int(i)
}

// cmdLRange handles LRANGE key start stop.
//
// Keys:    list
// Reply:   array of elements
// Errors:  ERR when start or stop is no integer, WRONGTYPE
// Effects: none
func cmdLRange(c *Call) error {
	start, ok1 := num.Int(c.Args[2])
	stop, ok2 := num.Int(c.Args[3])
	if !ok1 || !ok2 {
		return ErrNotInteger
	}
	l, err := c.Tx.List(c.Args[1])
	if err != nil {
		return err
	}
	from, to := listRange(start, stop, l.Len())
	left := to - from
	c.Reply.Array(left)
	if left == 0 {
		return nil
	}
	l.Each(from, func(value []byte) bool {
		c.Reply.Bulk(value)
		left--
		return left > 0
	})
	return nil
}

// posOptions are what LPOS was asked for.
type posOptions struct {
	rank   int64 // of the first match wanted
	back   bool
	count  int64 // matches wanted, 0 for all, -1 for one that is not in an array
	maxLen int64 // elements to compare, 0 for all
}

func parsePos(args [][]byte) (o posOptions, err error) {
	o = posOptions{rank: 1, count: -1}
	for ; len(args) > 0; args = args[2:] {
		if len(args) < 2 {
			return o, ErrSyntax
		}
		n, ok := num.Int(args[1])
		switch {
		case Is(args[0], "rank"):
			if o.rank, err = parseSigned(args[1]); err != nil {
				return o, err
			}
			if o.rank == 0 {
				return o, errPosRank
			}
		case Is(args[0], "count"):
			if !ok || n < 0 {
				return o, errPosCount
			}
			o.count = n
		case Is(args[0], "maxlen"):
			if !ok || n < 0 {
				return o, errPosMaxLen
			}
			o.maxLen = n
		default:
			return o, ErrSyntax
		}
	}
	if o.rank < 0 {
		o.rank, o.back = -o.rank, true
	}
	return o, nil
}

// cmdLPos handles LPOS key element [RANK rank] [COUNT num-matches] [MAXLEN len].
//
// Keys:    list
// Reply:   the index of a match or null; with COUNT an array of indexes
// Errors:  ERR on a bad option, WRONGTYPE
// Effects: none
func cmdLPos(c *Call) error {
	o, err := parsePos(c.Args[3:])
	if err != nil {
		return err
	}
	l, err := c.Tx.List(c.Args[1])
	if err != nil {
		return err
	}
	var first int64
	found := 0
	mark := c.Reply.Later()
	o.each(&l, c.Args[2], func(i int64) {
		first = i
		found++
		if o.count >= 0 {
			c.Reply.Int(i)
		}
	})
	switch {
	case o.count >= 0:
		c.Reply.Fill(mark, func() { c.Reply.Array(found) })
	case found == 0:
		c.Reply.Null()
	default:
		c.Reply.Int(first)
	}
	return nil
}

// each calls f with the indexes of the matches wanted.
func (o *posOptions) each(l *store.List, element []byte, f func(i int64)) {
	n := int64(l.Len())
	seen, matches, wanted := int64(0), int64(0), max(o.count, 1)
	visit := func(value []byte) bool {
		if bytes.Equal(value, element) {
			if matches++; matches >= o.rank {
				if o.back {
					f(n - 1 - seen)
				} else {
					f(seen)
				}
				if o.count != 0 && matches-o.rank+1 >= wanted {
					return false
				}
			}
		}
		seen++
		return o.maxLen == 0 || seen < o.maxLen
	}
	if o.back {
		l.EachBack(int(n-1), visit)
		return
	}
	l.Each(0, visit)
}
