package store

import "encoding/binary"

// intSet is the value of a small set of integers, in ascending order, all of the width that the widest needs:
//
//	count (2) | width (1) | integer (width, little-endian) | ...
type intSet []byte

const (
	intSetHead      = packedHead + 1
	intSetNarrowest = 2
	intSetMost      = 1 << 10 // integers
)

func (v intSet) len() int { return packedCount(v) }

func (v intSet) width() int { return int(v[packedHead]) }

// at returns integer i in ascending order.
func (v intSet) at(i int) int64 { return intOf(v[intSetHead+i*v.width():], v.width()) }

// search returns where n stands, or where it would.
func (v intSet) search(n int64) (i int, found bool) {
	lo, hi := 0, v.len()
	for lo < hi {
		mid := (lo + hi) / 2
		if v.at(mid) < n {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < v.len() && v.at(lo) == n
}

func intOf(b []byte, width int) int64 {
	switch width {
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

func putIntOf(b []byte, width int, n int64) {
	switch width {
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(n))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(n))
	default:
		binary.LittleEndian.PutUint64(b, uint64(n))
	}
}

// intWidth returns the bytes that n needs in an intSet.
func intWidth(n int64) int {
	switch {
	case int64(int16(n)) == n:
		return 2
	case int64(int32(n)) == n:
		return 4
	}
	return 8
}

// putInt adds n, which is not there, to the intSet that e holds. The entry may move.
func (d *db) putInt(s *Store, e *entry, n int64) {
	v := intSet(e.value())
	i, _ := v.search(n)
	count, width := v.len(), v.width()
	if wide := intWidth(n); wide > width {
		// From the last to the first, so that no integer is overwritten before it has moved.
		d.resize(s, e, intSetHead+count*wide)
		v = e.value()
		for j := count - 1; j >= 0; j-- {
			putIntOf(v[intSetHead+j*wide:], wide, intOf(v[intSetHead+j*width:], width))
		}
		v[packedHead] = byte(wide)
		width = wide
	}
	at := intSetHead + i*width
	d.splice(s, e, at, at, width)
	v = e.value()
	putIntOf(v[at:], width, n)
	setPackedCount(v, count+1)
}

// cutInt takes n, which is there, out of the intSet that e holds. The entry may move.
func (d *db) cutInt(s *Store, e *entry, n int64) {
	v := intSet(e.value())
	i, _ := v.search(n)
	count, at := v.len(), intSetHead+i*v.width()
	d.splice(s, e, at, at+v.width(), 0)
	setPackedCount(e.value(), count-1)
}
