package store

import (
	"cmp"
	"math"
	"strconv"
)

// StreamID is the id of a stream entry: Unix ms and a sequence number. Ids are ordered by ms, then by seq.
type StreamID struct{ Ms, Seq uint64 }

// MaxStreamID is the last id.
var MaxStreamID = StreamID{math.MaxUint64, math.MaxUint64}

// Compare orders ids as streams do.
func (id StreamID) Compare(other StreamID) int {
	if c := cmp.Compare(id.Ms, other.Ms); c != 0 {
		return c
	}
	return cmp.Compare(id.Seq, other.Seq)
}

// Less reports whether id stands before other.
func (id StreamID) Less(other StreamID) bool {
	return id.Ms < other.Ms || id.Ms == other.Ms && id.Seq < other.Seq
}

// IsZero reports whether id is 0-0, which no entry has.
func (id StreamID) IsZero() bool { return id == StreamID{} }

// Next returns the id right after id, and false when id is the last one.
func (id StreamID) Next() (StreamID, bool) {
	if id.Seq < math.MaxUint64 {
		return StreamID{id.Ms, id.Seq + 1}, true
	}
	return StreamID{id.Ms + 1, 0}, id.Ms < math.MaxUint64
}

// Prev returns the id right before id, and false when id is 0-0.
func (id StreamID) Prev() (StreamID, bool) {
	if id.Seq > 0 {
		return StreamID{id.Ms, id.Seq - 1}, true
	}
	return StreamID{id.Ms - 1, math.MaxUint64}, id.Ms > 0
}

// Append appends the text ms-seq to dst.
func (id StreamID) Append(dst []byte) []byte {
	dst = strconv.AppendUint(dst, id.Ms, 10)
	dst = append(dst, '-')
	return strconv.AppendUint(dst, id.Seq, 10)
}

// streamIDText is room for the text of an id.
type streamIDText [41]byte

// text spells id in buf.
func (id StreamID) text(buf *streamIDText) []byte { return id.Append(buf[:0]) }
