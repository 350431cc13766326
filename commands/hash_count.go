package commands

import (
	"strconv"

	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

const (
	errHashInteger Error = "ERR hash value is not an integer"
	errHashFloat   Error = "ERR hash value is not a float"
	errHashInf     Error = "ERR value is NaN or Infinity"
)

// cmdHIncrBy handles HINCRBY key field increment.
//
// Keys:    hash
// Reply:   the new value
// Errors:  not an integer, WRONGTYPE, overflow
// Effects: HSET, and HPEXPIREAT when the field has an expiry time, which it keeps
func cmdHIncrBy(c *Call) error {
	by, ok := num.Int(c.Args[3])
	if !ok {
		return ErrNotInteger
	}
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	n := int64(0)
	if old, ok := h.Get(c.Args[2]); ok {
		if n, ok = num.Int(old); !ok {
			return errHashInteger
		}
	}
	sum, ok := addInt(n, by)
	if !ok {
		return ErrOverflow
	}
	var text [20]byte
	setKeepingTime(&h, c.Args[2], strconv.AppendInt(text[:0], sum, 10))
	c.Tx.Notify('h', "hincrby", c.Args[1])
	c.Reply.Int(sum)
	return nil
}

// setKeepingTime sets a field's value and keeps its expiry time.
func setKeepingTime(h *store.Hash, field, value []byte) {
	at, _ := h.FieldExpiry(field)
	h.Set(field, value)
	if at != 0 {
		h.ExpireField(field, at)
	}
}

// cmdHIncrByFloat handles HINCRBYFLOAT key field increment.
//
// Keys:    hash
// Reply:   the new value, as a bulk string
// Errors:  not a float, not finite, WRONGTYPE
// Effects: HSET, and HPEXPIREAT when the field has an expiry time, which it keeps
func cmdHIncrByFloat(c *Call) error {
	by, ok := num.ParseLong(c.Args[3])
	if !ok {
		return ErrNotFloat
	}
	if by.IsInf() {
		return errHashInf
	}
	h, err := c.Tx.Hash(c.Args[1])
	if err != nil {
		return err
	}
	old, ok := h.Get(c.Args[2])
	if !ok {
		old = zeroText
	}
	n, ok := num.ParseLong(old)
	if !ok {
		return errHashFloat
	}
	sum, ok := n.Add(by)
	if !ok {
		return ErrNaNOrInf
	}
	text := sum.Append(nil)
	setKeepingTime(&h, c.Args[2], text)
	c.Tx.Notify('h', "hincrbyfloat", c.Args[1])
	c.Reply.Bulk(text)
	return nil
}
