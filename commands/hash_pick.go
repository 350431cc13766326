package commands

import (
	"math"

	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

const (
	errCountRange Error = "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"
	errCountTwice Error = "ERR value is out of range"
)

// cmdHScan handles HSCAN key cursor [MATCH pattern] [COUNT count] [NOVALUES].
//
// Keys:    hash
// Reply:   the next cursor and an array of fields and values in turn, or of fields
// Errors:  cursor, WRONGTYPE, and when the key is there: syntax, not an integer
// Effects: none
func cmdHScan(c *Call) error {
	cursor, err := scanCursor(c.Args[2])
	if err != nil {
		return err
	}
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	if !h.Exists() {
		emptyScan(c)
		return nil
	}
	s, err := parseScan(cursor, c.Args[3:], store.KindHash)
	if err != nil {
		return err
	}
	s.walk(c, func(cursor uint64) uint64 {
		return h.Scan(cursor, func(field, value []byte) {
			if !s.wants(field) {
				return
			}
			c.Reply.Bulk(field)
			s.put(1)
			if !s.nameOnly {
				c.Reply.Bulk(value)
				s.put(1)
			}
		})
	})
	return nil
}

// cmdHRandField handles HRANDFIELD key [count [WITHVALUES]].
//
// Keys:    hash
// Reply:   a field or null; with count an array of up to count different fields, or of exactly -count fields that
// may repeat; with WITHVALUES pairs
// Errors:  count not an integer or out of range, syntax, WRONGTYPE
// Effects: none
func cmdHRandField(c *Call) error {
	if len(c.Args) > 2 {
		return randomFields(c)
	}
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	if field, _, ok := h.Random(c.Tx.Rand()); ok {
		c.Reply.Bulk(field)
	} else {
		c.Reply.Null()
	}
	return nil
}

// fieldPair is a field and its value as they stand in the store.
type fieldPair struct{ field, value []byte }

func randomFields(c *Call) error {
	count, ok := num.Int(c.Args[2])
	if !ok {
		return ErrNotInteger
	}
	if count == math.MinInt64 {
		return errCountRange
	}
	values := len(c.Args) == 4 && Is(c.Args[3], "withvalues")
	if len(c.Args) > 4 || len(c.Args) == 4 && !values {
		return ErrSyntax
	}
	if values && (count < -math.MaxInt64/2 || count > math.MaxInt64/2) {
		return errCountTwice
	}
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	if h.Len() == 0 || count == 0 {
		c.Reply.Array(0)
		return nil
	}
	n := min(count, int64(h.Len()))
	if count < 0 {
		n = -count
	}
	if values {
		c.Reply.Pairs(int(n))
	} else {
		c.Reply.Array(int(n))
	}
	pickFields(c, &h, count, func(x fieldPair) {
		if !values {
			c.Reply.Bulk(x.field)
			return
		}
		c.Reply.Pair()
		c.Reply.Bulk(x.field)
		c.Reply.Bulk(x.value)
	})
	return nil
}

// pickFields calls f with up to count different fields, or with -count that may repeat, of a hash that has some.
func pickFields(c *Call, h *store.Hash, count int64, f func(fieldPair)) {
	rng, n := c.Tx.Rand(), int64(h.Len())
	// A small part of a large hash is drawn from it; otherwise all fields are listed and drawn from.
	if wanted := max(count, -count); n > 64 && wanted < n/3 {
		seen := map[string]struct{}{}
		for wanted > 0 {
			field, value, _ := h.Random(rng)
			if count > 0 {
				if _, ok := seen[string(field)]; ok {
					continue
				}
				seen[string(field)] = struct{}{}
			}
			f(fieldPair{field, value})
			wanted--
		}
		return
	}
	all := make([]fieldPair, 0, n)
	h.Each(func(field, value []byte) bool {
		all = append(all, fieldPair{field, value})
		return true
	})
	for ; count < 0; count++ {
		f(all[rng.IntN(len(all))])
	}
	for i := 0; i < len(all) && count > 0; i++ {
		if count < n { // else all are wanted, in no particular order
			j := i + rng.IntN(len(all)-i)
			all[i], all[j] = all[j], all[i]
		}
		f(all[i])
		if int64(i) == count-1 {
			return
		}
	}
}
