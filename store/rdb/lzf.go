package rdb

import "errors"

var errLZF = errors.New("rdb: bad compressed string")

const (
	lzfMaxLiteral = 32
	lzfMinMatch   = 3
	lzfMaxMatch   = 264
	lzfMaxOffset  = 1 << 13
	lzfTableBits  = 13
)

// lzfMaxOutput is the most that n compressed bytes can expand to: a match of
// 264 bytes takes three.
func lzfMaxOutput(n uint64) uint64 { return n * (lzfMaxMatch / 3) }

// lzfDecompress expands src into dst, which must have exactly the length of
// the result.
func lzfDecompress(dst, src []byte) error {
	out := 0
	for i := 0; i < len(src); {
		ctrl := int(src[i])
		i++
		if ctrl < lzfMaxLiteral {
			n := ctrl + 1
			if n > len(src)-i || n > len(dst)-out {
				return errLZF
			}
			copy(dst[out:], src[i:i+n])
			i, out = i+n, out+n
			continue
		}
		n := ctrl >> 5
		if n == 7 {
			if i >= len(src) {
				return errLZF
			}
			n += int(src[i])
			i++
		}
		n += 2
		if i >= len(src) {
			return errLZF
		}
		from := out - (ctrl&0x1f<<8 | int(src[i])) - 1
		i++
		if from < 0 || n > len(dst)-out {
			return errLZF
		}
		// A match may reach into the bytes that it produces, so the source
		// grows while it is copied.
		for end := out + n; out < end; {
			out += copy(dst[out:end], dst[from:out])
		}
	}
	if out != len(dst) {
		return errLZF
	}
	return nil
}

// lzfCompressor finds matches with a table of the last position of each hash.
// Positions are counted on from call to call, which makes old ones recognisable
// without clearing the table.
type lzfCompressor struct {
	table [1 << lzfTableBits]uint32
	base  uint32
}

func lzfHash(a, b, c byte) uint32 {
	v := uint32(a)<<16 | uint32(b)<<8 | uint32(c)
	return v * 2654435761 >> (32 - lzfTableBits)
}

// appendTo appends the compressed form of src to dst. It gives up, and reports
// false with dst as it was, when the form would be longer than limit.
func (z *lzfCompressor) appendTo(dst, src []byte, limit int) ([]byte, bool) {
	if uint64(z.base)+uint64(len(src)) >= 1<<32-1 {
		clear(z.table[:])
		z.base = 0
	}
	base := z.base + 1 // position p is kept as base+p; less is from earlier calls
	z.base += uint32(len(src))
	start, literal := len(dst), 0
	for i := 0; i+lzfMinMatch <= len(src); {
		slot := &z.table[lzfHash(src[i], src[i+1], src[i+2])]
		seen := *slot
		*slot = base + uint32(i)
		from := int(int64(seen) - int64(base))
		if from < 0 || i-from > lzfMaxOffset || src[from] != src[i] ||
			src[from+1] != src[i+1] || src[from+2] != src[i+2] {
			i++
			continue
		}
		n, most := lzfMinMatch, min(lzfMaxMatch, len(src)-i)
		for n < most && src[from+n] == src[i+n] {
			n++
		}
		dst = appendLZFLiterals(dst, src[literal:i])
		dst = appendLZFMatch(dst, i-from-1, n)
		if len(dst)-start > limit {
			return dst[:start], false
		}
		i += n
		literal = i
	}
	dst = appendLZFLiterals(dst, src[literal:])
	if len(dst)-start > limit {
		return dst[:start], false
	}
	return dst, true
}

func appendLZFLiterals(dst, p []byte) []byte {
	for len(p) > 0 {
		n := min(len(p), lzfMaxLiteral)
		dst = append(dst, byte(n-1))
		dst = append(dst, p[:n]...)
		p = p[n:]
	}
	return dst
}

func appendLZFMatch(dst []byte, offset, n int) []byte {
	n -= 2
	if n < 7 {
		return append(dst, byte(n<<5|offset>>8), byte(offset))
	}
	return append(dst, byte(7<<5|offset>>8), byte(n-7), byte(offset))
}
