package store

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/echomq/emqd/store/num"
)

// A packed sorted set holds its members in order, each followed by its score:
//
//	count (2) | member length (uvarint) | member | score (8) | ...
const packedMembers = 128 // the most members

const scoreSize = 8

// packedScored reads the member at offset at and returns the offset of the next one.
func packedScored(v []byte, at int) (member []byte, score float64, next int) {
	member, at = packedItem(v, at)
	return member, scoreOf(v[at:]), at + scoreSize
}

func scoreOf(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

func putScore(b []byte, score float64) {
	binary.LittleEndian.PutUint64(b, math.Float64bits(score))
}

// packedMember finds member: where it begins and ends, and its rank; to is 0 when it is absent.
func packedMember(v, member []byte) (from, to, rank int, score float64) {
	for at := packedHead; at < len(v); rank++ {
		m, score, next := packedScored(v, at)
		if string(m) == string(member) {
			return at, next, rank, score
		}
		at = next
	}
	return 0, 0, 0, 0
}

// packedLimit returns the offset and the rank of the first member that is not before the limit.
func packedLimit(v []byte, p *limit) (at, rank int) {
	for at = packedHead; at < len(v); rank++ {
		m, score, next := packedScored(v, at)
		if !p.after(m, score) {
			break
		}
		at = next
	}
	return at, rank
}

// after reports whether the limit stands after a member.
func (p *limit) after(member []byte, score float64) bool {
	switch p.mode {
	case atItem:
		return score < p.score || score == p.score && bytes.Compare(member, p.member) < 0
	case atScore:
		return score < p.score
	case afterScore:
		return score <= p.score
	case atMember:
		return bytes.Compare(member, p.member) < 0
	}
	return bytes.Compare(member, p.member) <= 0
}

// packedSeek returns the offset of the member of the given rank, or of the end.
func packedSeek(v []byte, rank int) int {
	at := packedHead
	for ; rank > 0; rank-- {
		_, _, at = packedScored(v, at)
	}
	return at
}

// packedEach calls f for the n members from the given rank on, onwards or backwards, until it returns false.
func packedEach(v []byte, rank, n int, back bool, f func(member []byte, score float64) bool) {
	if !back {
		for at := packedSeek(v, rank); n > 0; n-- {
			m, score, next := packedScored(v, at)
			if !f(m, score) {
				return
			}
			at = next
		}
		return
	}
	var offsets [packedMembers]uint16
	at := packedHead
	for i := 0; i <= rank; i++ {
		offsets[i] = uint16(at)
		_, _, at = packedScored(v, at)
	}
	for ; n > 0; n-- {
		m, score, _ := packedScored(v, int(offsets[rank]))
		if !f(m, score) {
			return
		}
		rank--
	}
}

// packedMove gives the member that stands at from..to the score and its new place. It returns tmp, perhaps grown.
func packedMove(v []byte, from, to int, p *limit, tmp []byte) []byte {
	at, _ := packedLimit(v, p)
	item := append(tmp[:0], v[from:to]...)
	putScore(item[len(item)-scoreSize:], p.score)
	switch {
	case at < from:
		copy(v[at+len(item):to], v[at:from])
	case at > to:
		copy(v[from:], v[to:at])
		at -= len(item)
	default:
		at = from
	}
	copy(v[at:], item)
	return item
}

// lexLimit returns the limit that a lexicographic bound stands for, as the lower or the upper end of a range; end is
// -1 or 1 when it is before or after all members.
func lexLimit(x num.Lex, upper bool) (p limit, end int) {
	switch x.Kind {
	case num.LexMin:
		return p, -1
	case num.LexMax:
		return p, 1
	}
	p = limit{mode: atMember, member: x.Value}
	if x.Exclusive != upper {
		p.mode = afterMember
	}
	return p, 0
}
