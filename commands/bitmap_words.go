package commands

import (
	"encoding/binary"
	"math/bits"
)

// countBits counts the set bits of b from the bit offset from up to to.
func countBits(b []byte, from, to int64) int64 {
	if from >= to {
		return 0
	}
	first, last := from>>3, (to-1)>>3
	head, tail := byte(0xFF)>>(from&7), byte(0xFF)<<(7-(to-1)&7)
	if first == last {
		return int64(bits.OnesCount8(b[first] & head & tail))
	}
	n := bits.OnesCount8(b[first]&head) + bits.OnesCount8(b[last]&tail)
	b = b[first+1 : last]
	for ; len(b) >= 8; b = b[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(b))
	}
	for _, x := range b {
		n += bits.OnesCount8(x)
	}
	return int64(n)
}

// findBit returns the offset of the first bit of b in from..to that is set, or clear, and -1 when there is none.
func findBit(b []byte, from, to int64, set bool) int64 {
	flip := byte(0xFF)
	if set {
		flip = 0
	}
	first, last := from>>3, (to-1)>>3
	at := first
	x := (b[at] ^ flip) & (byte(0xFF) >> (from & 7))
	if x == 0 && at < last {
		at++
		blank := uint64(flip) * 0x0101010101010101
		for at+8 <= last && binary.LittleEndian.Uint64(b[at:]) == blank {
			at += 8
		}
		for at < last && b[at] == flip {
			at++
		}
		x = b[at] ^ flip
	}
	if x == 0 {
		return -1
	}
	if pos := at<<3 + int64(bits.LeadingZeros8(x)); pos < to {
		return pos
	}
	return -1
}

// bitOp is one of the operations of BITOP and TRA.BOP.
type bitOp uint8

const (
	bitAnd bitOp = iota
	bitOr
	bitXor
	bitNot
	bitAndNot // of TRA.BOP: the first without the others
)

func (op bitOp) word(x, y uint64) uint64 {
	switch op {
	case bitAnd:
		return x & y
	case bitOr:
		return x | y
	case bitXor:
		return x ^ y
	case bitAndNot:
		return x &^ y
	}
	return ^x
}

// merge combines dst with src byte by byte; src counts as followed by zeros.
func (op bitOp) merge(dst, src []byte) {
	n := min(len(dst), len(src))
	i := 0
	for ; i+8 <= n; i += 8 {
		x, y := binary.LittleEndian.Uint64(dst[i:]), binary.LittleEndian.Uint64(src[i:])
		binary.LittleEndian.PutUint64(dst[i:], op.word(x, y))
	}
	for ; i < n; i++ {
		dst[i] = byte(op.word(uint64(dst[i]), uint64(src[i])))
	}
	if op == bitAnd {
		clear(dst[n:])
	}
}

// cmdBitOp handles BITOP AND | OR | XOR | NOT destkey key [key ...].
//
// Keys:    destkey of any kind; strings
// Reply:   length of the result
// Errors:  syntax, NOT of several keys, WRONGTYPE
// Effects: SET destkey, or DEL when the result is empty
func cmdBitOp(c *Call) error {
	var op bitOp
	switch word := c.Args[1]; {
	case Is(word, "and"):
		op = bitAnd
	case Is(word, "or"):
		op = bitOr
	case Is(word, "xor"):
		op = bitXor
	case Is(word, "not"):
		op = bitNot
	default:
		return ErrSyntax
	}
	dest, keys := c.Args[2], c.Args[3:]
	if op == bitNot && len(keys) != 1 {
		return errBitOpNot
	}
	result, err := storeBitOp(c, op, dest, keys)
	if err != nil {
		return err
	}
	c.Reply.Int(int64(len(result)))
	return nil
}

// storeBitOp makes dest hold the result of op over the strings at keys, or deletes it when they are all empty.
// It returns the result.
func storeBitOp(c *Call, op bitOp, dest []byte, keys [][]byte) ([]byte, error) {
	longest := 0
	for _, key := range keys {
		b, _, err := c.Tx.Value(key)
		if err != nil {
			return nil, err
		}
		longest = max(longest, len(b))
	}
	if longest == 0 {
		if c.Tx.Delete(dest) {
			c.Tx.Notify('g', "del", dest)
		}
		return nil, nil
	}
	result := combine(c, op, keys, longest)
	c.Tx.SetValue(dest, result, 0)
	if v, err := c.Tx.String(dest); err == nil {
		v.MarkRaw()
	}
	c.Tx.Notify('$', "set", dest)
	return result, nil
}

// combine returns the result of op over the strings at keys, n bytes. Their kinds are checked already.
func combine(c *Call, op bitOp, keys [][]byte, n int) []byte {
	out := make([]byte, n)
	for i, key := range keys {
		b, _, err := c.Tx.Value(key)
		if err != nil {
			b = nil
		}
		if i == 0 {
			copy(out, b)
		}
		if i > 0 || op == bitNot {
			op.merge(out, b)
		}
	}
	return out
}
