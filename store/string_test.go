package store

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// redo applies recorded effects on strings, hashes and keys to s.
func redo(t require.TestingT, s *Store, f *Effects, now int64) {
	for i := range f.Len() {
		tx := s.Begin(f.DB(i), now, false)
		key := bytes.Clone(f.Arg(i, 0))
		number := func(j int) int64 {
			n, err := strconv.ParseInt(string(f.Arg(i, j)), 10, 64)
			require.NoError(t, err)
			return n
		}
		switch f.Name(i) {
		case "SET":
			at := int64(0)
			if f.Args(i) > 2 {
				at = number(3)
			}
			tx.SetValue(key, f.Arg(i, 1), at)
		case "SETRANGE":
			v, err := tx.String(key)
			require.NoError(t, err)
			v.Patch(int(number(1)), f.Arg(i, 2))
		case "SETBIT":
			v, err := tx.String(key)
			require.NoError(t, err)
			v.SetBit(int(number(1)), number(2) == 1)
		case "DEL":
			tx.Delete(key)
		case "PEXPIREAT":
			tx.ExpireAt(key, number(1))
		case "PERSIST":
			tx.Persist(key)
		default:
			redoHash(t, tx, f, i)
		}
		tx.effects.reset()
		tx.s.a.Sweep()
	}
}

// pair is a store under test and the one that replays its effects.
type pair struct {
	*Store
	replica *Store
	now     int64
}

func newPair() *pair {
	p := &pair{New(2, 1), New(2, 2), 1_000_000}
	p.a.poison, p.replica.a.poison = true, true
	return p
}

// do runs f in a transaction and replays its effects.
func (p *pair) do(t require.TestingT, f func(tx *Tx)) {
	tx := p.Begin(0, p.now, false)
	f(tx)
	// The replica's transaction is another one, so the effects stay.
	redo(t, p.replica, tx.Effects(), math.MinInt64)
	tx.Commit()
}

func TestStringModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type value struct {
			text []byte
			at   int64
		}
		p := newPair()
		model := map[string]*value{}
		visible := func(key string) *value {
			if v := model[key]; v != nil && (v.at == 0 || v.at > p.now) {
				return v
			}
			delete(model, key)
			return nil
		}
		keys := rapid.SampledFrom([]string{"a", "b", strings.Repeat("k", 200)})
		size := rapid.OneOf(rapid.IntRange(0, 60), rapid.IntRange(0, 60), rapid.IntRange(stringInline-3, 2*stringInline))
		letter := byte('a')
		text := func(t *rapid.T) []byte {
			letter++
			return bytes.Repeat([]byte{letter}, size.Draw(t, "size"))
		}
		write := func(f func(t *rapid.T, v *String, m *value)) func(*rapid.T) {
			return func(t *rapid.T) {
				key := keys.Draw(t, "key")
				m := visible(key)
				if m == nil {
					m = &value{}
					model[key] = m
				}
				p.do(t, func(tx *Tx) {
					v, err := tx.String([]byte(key))
					require.NoError(t, err)
					f(t, &v, m)
					require.Equal(t, len(m.text), v.Len())
				})
			}
		}
		grow := func(m *value, n int) {
			for len(m.text) < n {
				m.text = append(m.text, 0)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"set": write(func(t *rapid.T, v *String, m *value) {
				m.at = 0
				if life := rapid.Int64Range(-20, 50).Draw(t, "life"); life > 0 {
					m.at = p.now + life
				}
				m.text = text(t)
				v.Set(m.text, m.at)
			}),
			"replace": write(func(t *rapid.T, v *String, m *value) {
				m.text = text(t)
				v.Replace(m.text)
			}),
			"append": write(func(t *rapid.T, v *String, m *value) {
				add := append(text(t), 'x')
				m.text = append(m.text, add...)
				v.Append(add)
			}),
			"patch": write(func(t *rapid.T, v *String, m *value) {
				off, add := size.Draw(t, "off"), append(text(t), 'x')
				grow(m, off+len(add))
				copy(m.text[off:], add)
				v.Patch(off, add)
			}),
			"setbit": write(func(t *rapid.T, v *String, m *value) {
				off, on := 8*size.Draw(t, "off")+rapid.IntRange(0, 7).Draw(t, "bit"), rapid.Bool().Draw(t, "on")
				grow(m, off/8+1)
				m.text[off/8] &^= 0x80 >> (off % 8)
				if on {
					m.text[off/8] |= 0x80 >> (off % 8)
				}
				v.SetBit(off, on)
			}),
			"expire": func(t *rapid.T) {
				key, at := keys.Draw(t, "key"), p.now+rapid.Int64Range(1, 50).Draw(t, "life")
				if m := visible(key); m != nil {
					m.at = at
				}
				p.do(t, func(tx *Tx) { tx.ExpireAt([]byte(key), at) })
			},
			"persist": func(t *rapid.T) {
				key := keys.Draw(t, "key")
				if m := visible(key); m != nil {
					m.at = 0
				}
				p.do(t, func(tx *Tx) { tx.Persist([]byte(key)) })
			},
			"delete": func(t *rapid.T) {
				key := keys.Draw(t, "key")
				delete(model, key)
				p.do(t, func(tx *Tx) { tx.Delete([]byte(key)) })
			},
			"wait": func(t *rapid.T) { p.now += rapid.Int64Range(1, 20).Draw(t, "ms") },
			"cycle": func(t *rapid.T) {
				p.do(t, func(tx *Tx) { tx.ExpireCycle(10) })
			},
			"": func(t *rapid.T) {
				tx := p.Begin(0, p.now, true)
				for _, key := range []string{"a", "b", strings.Repeat("k", 200)} {
					got, ok, err := tx.Value([]byte(key))
					require.NoError(t, err)
					m := visible(key)
					require.Equal(t, m != nil, ok)
					if ok {
						require.True(t, bytes.Equal(m.text, got), key)
					}
				}
				tx.Commit()
				require.Equal(t, p.Digest(p.now), p.replica.Digest(p.now))
			},
		})
	})
}

func TestDueKeyGoesBeforeTheEffectOverIt(t *testing.T) {
	s := New(1, 1)
	s.Listen(true)
	tx := s.Begin(0, 100, false)
	tx.SetValue([]byte("s"), []byte("old"), 200)
	tx.SetValue([]byte("h"), []byte("old"), 200)
	tx.Commit()

	tx = s.Begin(0, 200, false)
	tx.SetValue([]byte("s"), []byte("new"), 0)
	h, err := tx.Hash([]byte("h"))
	require.NoError(t, err)
	require.True(t, h.Set([]byte("f"), []byte("v")))
	var log []string
	for i := range tx.Effects().Len() {
		log = append(log, fmt.Sprintf("%s %s", tx.Effects().Name(i), tx.Effects().Arg(i, 0)))
	}
	require.Equal(t, []string{"DEL s", "SET s", "DEL h", "HSET h"}, log)
	require.Equal(t, []Event{{'x', "expired", 0, "s"}, {'n', "new", 0, "s"}, {'x', "expired", 0, "h"}, {'n', "new", 0, "h"}}, tx.Events())
	tx.Commit()
	require.EqualValues(t, 2, s.Stats.Expired)
}

func TestLongStringGrowsInPlace(t *testing.T) {
	s := New(1, 1)
	key := []byte("k")
	tx := s.Begin(0, 100, false)
	tx.SetValue(key, bytes.Repeat([]byte("x"), 1<<20), 0)
	tx.Commit()
	moves := 0
	var last *byte
	for range 10_000 {
		tx = s.Begin(0, 100, false)
		v, err := tx.String(key)
		require.NoError(t, err)
		v.Append([]byte("0123456789"))
		if b := &v.Bytes()[0]; b != last {
			last = b
			moves++
		}
		require.Less(t, len(tx.effects.buf), 100)
		tx.Commit()
	}
	require.LessOrEqual(t, moves, 3)
	require.Greater(t, s.Memory(), int64(1<<20+100_000))
	tx = s.Begin(0, 100, false)
	tx.ExpireAt(key, 500)
	v, err := tx.String(key)
	require.NoError(t, err)
	require.Same(t, last, &v.Bytes()[0], "an expiry time does not copy the value")
	tx.Delete(key)
	tx.Commit()
	require.Less(t, s.Memory(), int64(10_000))
}

func TestStringEncoding(t *testing.T) {
	s := New(1, 1)
	tx := s.Begin(0, 100, false)
	key := []byte("k")
	encoding := func() string {
		v, err := tx.String(key)
		require.NoError(t, err)
		return v.Encoding()
	}
	for text, want := range map[string]string{
		"1": "int", "-5": "int", "9223372036854775807": "int", "9223372036854775808": "embstr", "01": "embstr", "": "embstr",
		strings.Repeat("x", 44): "embstr", strings.Repeat("x", 45): "raw", strings.Repeat("x", 1<<20): "raw",
	} {
		tx.SetValue(key, []byte(text), 0)
		require.Equal(t, want, encoding(), len(text))
	}
	tx.SetValue(key, []byte("1"), 0)
	v, err := tx.String(key)
	require.NoError(t, err)
	v.Append([]byte("2"))
	require.Equal(t, "raw", encoding())
	v.SetInt(7)
	require.Equal(t, "int", encoding())
	tx.Commit()
}
