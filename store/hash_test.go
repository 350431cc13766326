package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// redoHash applies effect i, one on a hash.
func redoHash(t require.TestingT, tx *Tx, f *Effects, i int) {
	h, err := tx.Hash(f.Arg(i, 0))
	require.NoError(t, err)
	switch f.Name(i) {
	case "HSET":
		for j := 1; j < f.Args(i); j += 2 {
			h.Set(f.Arg(i, j), f.Arg(i, j+1))
		}
	case "HDEL":
		for j := 1; j < f.Args(i); j++ {
			require.True(t, h.Delete(f.Arg(i, j)))
		}
	case "HPEXPIREAT":
		at, err := strconv.ParseInt(string(f.Arg(i, 1)), 10, 64)
		require.NoError(t, err)
		require.Equal(t, "FIELDS 1", fmt.Sprintf("%s %s", f.Arg(i, 2), f.Arg(i, 3)))
		require.True(t, h.ExpireField(f.Arg(i, 4), at))
	case "HPERSIST":
		require.True(t, h.PersistField(f.Arg(i, 3)))
	default:
		require.Fail(t, "unknown effect", f.Name(i))
	}
}

// modelField is a field of the model; one whose time has come is taken out by modelHash.now.
type modelField struct {
	value string
	at    int64
}

// modelHashes are plain hashes to compare with.
type modelHashes map[string]map[string]modelField

func (m modelHashes) now(now int64) {
	for key, fields := range m {
		for name, f := range fields {
			if f.at != 0 && f.at <= now {
				delete(fields, name)
			}
		}
		if len(fields) == 0 {
			delete(m, key)
		}
	}
}

func (m modelHashes) set(key, field string, f modelField) {
	if m[key] == nil {
		m[key] = map[string]modelField{}
	}
	m[key][field] = f
}

// check compares the store with the model, and the fields' times with the database's order of them.
func (m modelHashes) check(t require.TestingT, p *pair) {
	m.now(p.now)
	tx := p.Begin(0, p.now, true)
	keys := 0
	tx.EachKey(func(key []byte, kind Kind) bool {
		keys++
		require.Contains(t, m, string(key))
		return true
	})
	require.Equal(t, len(m), keys)
	for key, fields := range m {
		h, err := tx.Hash([]byte(key))
		require.NoError(t, err)
		require.True(t, h.Exists())
		require.Equal(t, len(fields), h.Len())
		got := map[string]modelField{}
		h.EachTimed(func(field, value []byte, at int64) bool {
			got[string(field)] = modelField{string(value), at}
			return true
		})
		require.Equal(t, fields, got)
		field, value, ok := h.Random(p.rng)
		require.True(t, ok)
		require.Equal(t, fields[string(field)].value, string(value))
	}
	tx.Commit()
	registered := 0
	for _, o := range p.objects {
		if h, ok := o.(*hashTable); ok && h.next != 0 {
			registered++
			_, ok := p.dbs[0].fields.Get(fieldDeadline{h.next, h.slot})
			require.True(t, ok)
			require.Same(t, p.objects[h.slot], o)
		}
	}
	require.Equal(t, registered, p.dbs[0].fields.Len())
	require.Equal(t, p.Digest(p.now), p.replica.Digest(p.now))
}

func TestHashModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPair()
		m := modelHashes{}
		keys := rapid.SampledFrom([]string{"h", "other", "third"})
		names := rapid.Custom(func(t *rapid.T) string { return "f" + strconv.Itoa(rapid.IntRange(0, 12).Draw(t, "field")) })
		with := func(f func(t *rapid.T, key, field string, h *Hash)) func(*rapid.T) {
			return func(t *rapid.T) {
				m.now(p.now)
				key, field := keys.Draw(t, "key"), names.Draw(t, "name")
				p.do(t, func(tx *Tx) {
					h, err := tx.Hash([]byte(key))
					require.NoError(t, err)
					f(t, key, field, &h)
				})
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"set": with(func(t *rapid.T, key, field string, h *Hash) {
				value := strings.Repeat("v", rapid.SampledFrom([]int{0, 1, 30, 100, 300, packedBytes}).Draw(t, "size"))
				_, known := m[key][field]
				require.Equal(t, !known, h.Set([]byte(field), []byte(value)))
				m.set(key, field, modelField{value: value})
			}),
			"many": with(func(t *rapid.T, key, _ string, h *Hash) {
				for i := range packedItems {
					name := fmt.Sprintf("many%d", i)
					h.Set([]byte(name), nil)
					m.set(key, name, modelField{})
				}
			}),
			"delete": with(func(t *rapid.T, key, field string, h *Hash) {
				_, known := m[key][field]
				require.Equal(t, known, h.Delete([]byte(field)))
				delete(m[key], field)
			}),
			"expire": with(func(t *rapid.T, key, field string, h *Hash) {
				at := p.now + rapid.Int64Range(-2, 30).Draw(t, "life")
				f, known := m[key][field]
				require.Equal(t, known, h.ExpireField([]byte(field), at))
				if known {
					m.set(key, field, modelField{f.value, at})
				}
			}),
			"expire all": with(func(t *rapid.T, key, _ string, h *Hash) {
				at := p.now + rapid.Int64Range(-2, 30).Draw(t, "life")
				for field, f := range m[key] {
					require.True(t, h.ExpireField([]byte(field), at))
					m.set(key, field, modelField{f.value, at})
				}
			}),
			"persist": with(func(t *rapid.T, key, field string, h *Hash) {
				f := m[key][field]
				require.Equal(t, f.at != 0, h.PersistField([]byte(field)))
				if f.at != 0 {
					m.set(key, field, modelField{value: f.value})
				}
			}),
			"drop": with(func(t *rapid.T, key, _ string, h *Hash) {
				h.tx.Delete([]byte(key))
				delete(m, key)
			}),
			"key expires": with(func(t *rapid.T, key, _ string, h *Hash) {
				h.tx.ExpireAt([]byte(key), h.tx.Now()+1)
				h.tx.Persist([]byte(key))
			}),
			"cycle": func(t *rapid.T) {
				p.do(t, func(tx *Tx) { tx.ExpireFields(rapid.IntRange(1, 20).Draw(t, "budget")) })
			},
			"wait":    func(t *rapid.T) { p.now += rapid.Int64Range(1, 10).Draw(t, "ms") },
			"reclaim": func(t *rapid.T) { p.Reclaim(1 << 20) },
			"":        func(t *rapid.T) { m.check(t, p) },
		})
		p.now += 1000
		p.do(t, func(tx *Tx) { require.False(t, tx.ExpireFields(1<<20)) })
		m.check(t, p)
		p.do(t, func(tx *Tx) {
			for key := range m {
				require.True(t, tx.Delete([]byte(key)))
			}
		})
		for p.Reclaim(1 << 20) {
		}
		require.Zero(t, p.a.live, "arena blocks are left")
		require.Zero(t, p.objMem, "objects are left")
	})
}

// lines spells recorded effects.
func lines(f *Effects) (out []string) {
	for i := range f.Len() {
		line := f.Name(i)
		for j := range f.Args(i) {
			line += " " + string(f.Arg(i, j))
		}
		out = append(out, line)
	}
	return out
}

// events spells keyspace events.
func events(tx *Tx) (out []string) {
	for _, e := range tx.Events() {
		out = append(out, fmt.Sprintf("%c %s %s", e.Class, e.Name, e.Key))
	}
	return out
}

func TestFieldsGoWhenTheirTimeComes(t *testing.T) {
	s := New(1, 1)
	s.Listen(true)
	key := []byte("h")
	begin := func(now int64, readonly bool) (*Tx, Hash) {
		tx := s.Begin(0, now, readonly)
		h, err := tx.Hash(key)
		require.NoError(t, err)
		return tx, h
	}
	tx, h := begin(100, false)
	for _, f := range []string{"a", "b", "c"} {
		h.Set([]byte(f), []byte("v"))
	}
	require.Equal(t, "listpack", h.Encoding())
	require.True(t, h.ExpireField([]byte("a"), 200))
	require.True(t, h.ExpireField([]byte("b"), 300))
	require.False(t, h.ExpireField([]byte("x"), 300))
	require.Equal(t, "hashtable", h.Encoding())
	require.Equal(t, []string{"HSET h a v b v c v", "HPEXPIREAT h 200 FIELDS 1 a", "HPEXPIREAT h 300 FIELDS 1 b"}, lines(tx.Effects()))
	tx.Commit()
	require.EqualValues(t, 200, s.NextExpiry())

	// Invisible at once, also to a transaction that cannot remove it.
	tx, h = begin(200, true)
	_, ok := h.Get([]byte("a"))
	require.False(t, ok)
	require.Equal(t, 2, h.Len())
	require.Zero(t, tx.Effects().Len())
	tx.Commit()

	// The first write removes it, before its own effect.
	tx, h = begin(200, false)
	require.True(t, h.Set([]byte("a"), []byte("new")))
	require.Equal(t, []string{"HDEL h a", "HSET h a new"}, lines(tx.Effects()))
	require.Equal(t, []string{"h hexpired h"}, events(tx))
	tx.Commit()

	// A later HSET clears the time.
	tx, h = begin(201, false)
	h.Set([]byte("b"), []byte("new"))
	h.Delete([]byte("a"))
	h.ExpireField([]byte("c"), 400)
	h.ExpireField([]byte("b"), 401)
	tx.Commit()
	require.EqualValues(t, 400, s.NextExpiry())

	// The cycle takes one field, then the key with the last.
	tx = s.Begin(0, 400, false)
	require.False(t, tx.ExpireFields(10))
	require.Equal(t, []string{"HDEL h c"}, lines(tx.Effects()))
	tx.Commit()
	tx, h = begin(401, true)
	require.False(t, h.Exists())
	require.False(t, tx.Exists(key))
	tx.Commit()
	tx = s.Begin(0, 401, false)
	require.False(t, tx.ExpireFields(10))
	require.Equal(t, []string{"DEL h"}, lines(tx.Effects()))
	require.Equal(t, []string{"h hexpired h", "g del h"}, events(tx))
	tx.Commit()
	require.Zero(t, s.Len(0))
	require.Zero(t, s.NextExpiry())
	require.EqualValues(t, 3, s.Stats.ExpiredFields)
}

func TestManyFieldsPastTheirTime(t *testing.T) {
	p := newPair()
	key, last := []byte("h"), []byte("last")
	open := func(tx *Tx) Hash {
		h, err := tx.Hash(key)
		require.NoError(t, err)
		return h
	}
	p.do(t, func(tx *Tx) {
		h := open(tx)
		h.Set(last, nil)
		for i := range 1000 {
			h.Set(fmt.Append(nil, i), nil)
			h.ExpireField(fmt.Append(nil, i), p.now+1)
		}
	})
	p.now++
	p.do(t, func(tx *Tx) {
		h := open(tx)
		require.True(t, h.Set([]byte("999"), nil), "a field past its time counts as new")
		require.False(t, h.Delete([]byte("998")))
		require.Equal(t, 2, h.Len())
		require.Less(t, tx.Effects().Args(0), 2*purgeBudget+2, "one write removes a few")
		require.True(t, h.Delete([]byte("999")))
	})
	p.do(t, func(tx *Tx) {
		h := open(tx)
		other := open(tx)
		require.True(t, h.Delete(last))
		require.False(t, h.Exists())
		require.True(t, other.Set(last, nil))
		require.Equal(t, 1, h.Len())
		require.Contains(t, lines(tx.Effects()), "DEL h")
	})
	require.Equal(t, p.Digest(p.now), p.replica.Digest(p.now))
}

func TestFieldTimesFollowTheKey(t *testing.T) {
	s := New(2, 1)
	tx := s.Begin(0, 100, false)
	h, err := tx.Hash([]byte("from"))
	require.NoError(t, err)
	h.Set([]byte("f"), []byte("v"))
	h.Set([]byte("g"), []byte("v"))
	h.ExpireField([]byte("f"), 200)
	e := tx.find([]byte("from"))
	tx.gen++
	s.dbs[0].transfer(s, &e, s.dbs[1], []byte("to"))
	tx.Commit()

	tx = s.Begin(0, 200, false)
	require.False(t, tx.ExpireFields(10))
	require.Zero(t, tx.Effects().Len())
	tx.Select(1)
	require.False(t, tx.ExpireFields(10))
	require.Equal(t, []string{"HDEL to f"}, lines(tx.Effects()))
	tx.Commit()
}

func TestHashScanAndRandomOfALargeHash(t *testing.T) {
	s := New(1, 1)
	tx := s.Begin(0, 100, false)
	h, err := tx.Hash([]byte("h"))
	require.NoError(t, err)
	const n = 5000
	for i := range n {
		h.Set(fmt.Append(nil, i), []byte("v"))
		if i%10 != 0 {
			h.ExpireField(fmt.Append(nil, i), 150)
		}
	}
	tx.Commit()
	tx = s.Begin(0, 150, true)
	h, err = tx.Hash([]byte("h"))
	require.NoError(t, err)
	require.Equal(t, n/10, h.Len())
	seen := map[string]bool{}
	for cursor := h.Scan(0, func(f, _ []byte) { seen[string(f)] = true }); cursor != 0; {
		cursor = h.Scan(cursor, func(f, _ []byte) { seen[string(f)] = true })
	}
	require.Len(t, seen, n/10)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		f, v, ok := h.Random(rng)
		require.True(t, ok)
		require.True(t, seen[string(bytes.Clone(f))])
		require.Equal(t, "v", string(v))
	}
	tx.Commit()
}

// TestHashSetAll: SetAll leaves what Set for each field leaves, keyspace and effects alike, whatever is there before.
func TestHashSetAll(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 100)
	huge := bytes.Repeat([]byte("x"), packedBytes)
	for _, before := range [][][]byte{nil, {[]byte("b"), []byte("old")}, {[]byte("z"), huge}} {
		for _, value := range [][]byte{[]byte("v"), {}, long, huge} {
			for _, expired := range []bool{false, true} {
				pairs := [][]byte{[]byte("a"), []byte("1"), []byte("b"), value, []byte("c"), []byte("3")}
				var digests [2]Digest
				var effects [2][]string
				for i := range 2 {
					s := New(1, 1)
					s.Poison()
					tx := s.Begin(0, 1000, false)
					h, err := tx.Hash([]byte("h"))
					require.NoError(t, err)
					for k := 0; k < len(before); k += 2 {
						h.Set(before[k], before[k+1])
					}
					if expired && before != nil {
						tx.ExpireAt([]byte("h"), 1500)
					}
					tx.Commit()
					tx = s.Begin(0, 2000, false)
					h, err = tx.Hash([]byte("h"))
					require.NoError(t, err)
					if i == 0 {
						h.SetAll(pairs...)
					} else {
						for k := 0; k < len(pairs); k += 2 {
							h.Set(pairs[k], pairs[k+1])
						}
					}
					f := tx.Effects()
					for k := range f.Len() {
						text := f.Name(k)
						for j := range f.Args(k) {
							text += " " + string(f.Arg(k, j))
						}
						effects[i] = append(effects[i], text)
					}
					got, ok := h.Get([]byte("b"))
					require.True(t, ok)
					require.Equal(t, value, append([]byte{}, got...))
					tx.Commit()
					digests[i] = s.Digest(2000)
				}
				require.Equal(t, digests[1], digests[0])
				require.Equal(t, effects[1], effects[0])
			}
		}
	}
}

// TestHashHandlesSeeChangesInPlace: a value of the same length is written in its place, and a second handle on the key
// reads it.
func TestHashHandlesSeeChangesInPlace(t *testing.T) {
	s := New(1, 1)
	tx := s.Begin(0, 1000, false)
	one, _ := tx.Hash([]byte("h"))
	one.Set([]byte("f"), []byte("a"))
	other, _ := tx.Hash([]byte("h"))
	require.False(t, one.Set([]byte("f"), []byte("b")))
	got, _ := other.Get([]byte("f"))
	require.Equal(t, "b", string(got))
	require.False(t, other.Set([]byte("f"), []byte("long")))
	got, _ = one.Get([]byte("f"))
	require.Equal(t, "long", string(got))
	tx.Commit()
}
