package store

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// ownerOf makes "a.x" a part of "a".
func ownerOf(key []byte) int { return max(bytes.IndexByte(key, '.'), 0) }

// TestPartsAreCounted: whatever keys come and go by, HasParts says no only where there is no part.
func TestPartsAreCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := New(2, 1)
		s.Divide(ownerOf)
		name := func() []byte {
			return []byte(rapid.SampledFrom([]string{"a", "b", "a.x", "a.y", "b.x", "c.x"}).Draw(t, "key"))
		}
		for now := int64(1); now < 40; now++ {
			tx := s.Begin(rapid.IntRange(0, 1).Draw(t, "db"), now, false)
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0, 1, 2:
				tx.SetValue(name(), []byte("v"), 0)
			case 3:
				tx.SetValue(name(), []byte("v"), now+2)
			case 4:
				h, err := tx.Hash(name())
				if err == nil {
					h.Set([]byte("f"), bytes.Repeat([]byte("v"), int(now)*8))
				}
			case 5:
				tx.Delete(name())
			case 6:
				tx.Rename(name(), name())
			case 7:
				tx.Move(name(), 1-tx.DB())
			case 8:
				tx.ExpireCycle(10)
			case 9:
				switch rapid.IntRange(0, 5).Draw(t, "rare") {
				case 0:
					tx.Flush()
				case 1:
					tx.FlushAll()
				case 2:
					tx.Swap(0, 1)
				}
			}
			tx.Commit()
			for db := range 2 {
				tx := s.Begin(db, now, true)
				parts, all := map[string]int{}, uint32(0)
				tx.db.keys.Each(func(r ref) bool {
					e := s.load(r)
					if owner, _, ok := bytes.Cut(e.key(), []byte(".")); ok {
						parts[string(owner)]++
						all++
					}
					return true
				})
				for _, owner := range []string{"a", "b", "c", "d"} {
					if !tx.HasParts([]byte(owner)) {
						require.Zero(t, parts[owner], fmt.Sprint(owner, " in database ", db))
					}
				}
				if tx.db.parts != nil {
					for _, n := range tx.db.parts {
						all -= n
					}
				}
				require.Zero(t, all, "parts that are not counted, or counted and gone")
				tx.Commit()
			}
		}
	})
}

// TestPartsWithoutDivide: who was told nothing must look.
func TestPartsWithoutDivide(t *testing.T) {
	s := New(1, 1)
	tx := s.Begin(0, 1, false)
	require.True(t, tx.HasParts([]byte("a")))
	tx.SetValue([]byte("a"), []byte("v"), 0)
	tx.Commit()
	require.Panics(t, func() { s.Divide(ownerOf) })
}
