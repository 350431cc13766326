package commands

import (
	"math"

	"github.com/echomq/emqd/store"
)

// zsetSource is one input of ZUNION and its kin: a sorted set, or a set, whose members count as having the score
// 1; absent keys are empty.
type zsetSource struct {
	z      store.ZSet
	set    store.Set
	isSet  bool
	weight float64
}

func openSource(c *Call, key []byte) (s zsetSource, err error) {
	s.weight = 1
	if c.Tx.Kind(key) == store.KindSet {
		s.isSet = true
		s.set, err = c.Tx.Set(key)
		return s, err
	}
	s.z, err = c.Tx.ZSet(key)
	return s, err
}

func (s *zsetSource) len() int {
	if s.isSet {
		return s.set.Len()
	}
	return s.z.Len()
}

// has reports whether member is there, and its score times the weight.
func (s *zsetSource) has(member []byte) (score float64, ok bool) {
	if s.isSet {
		return s.weight, s.set.Has(member)
	}
	score, ok = s.z.Score(member)
	return score * s.weight, ok
}

// each calls f for the members and their scores times the weight, until it returns false. A product that is no number
// counts as 0. A member is valid until f returns.
func (s *zsetSource) each(f func(member []byte, score float64) bool) {
	if s.isSet {
		var tmp []byte
		s.set.Each(func(member []byte) bool {
			// The set may spell its members in a buffer that other handles use too.
			tmp = append(tmp[:0], member...)
			return f(tmp, s.weight)
		})
		return
	}
	s.z.Range(0, s.z.Len(), false, func(member []byte, score float64) bool {
		if score *= s.weight; math.IsNaN(score) {
			score = 0
		}
		return f(member, score)
	})
}
