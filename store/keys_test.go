package store

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/echomq/emqd/store/rdb"
)

// farAway is a deadline that no test reaches.
const farAway = 1 << 50

// samples are values of every kind in small and large form, as payloads.
var samples = func() (all [][]byte) {
	add := func(v rdb.Value) {
		payload, err := rdb.Dump(&v)
		if err != nil {
			panic(err)
		}
		all = append(all, payload)
	}
	for _, text := range []string{"", "12345", "some text", string(bytes.Repeat([]byte("x"), 300)), string(bytes.Repeat([]byte("y"), 40_000))} {
		add(rdb.Value{Kind: rdb.KindString, Str: []byte(text)})
	}
	for _, n := range []int{1, 3, 130, 600} {
		for _, width := range []int{1, 90} {
			list, ints := rdb.Value{Kind: rdb.KindList}, rdb.Value{Kind: rdb.KindSet}
			set, zset := rdb.Value{Kind: rdb.KindSet}, rdb.Value{Kind: rdb.KindZSet}
			hash, timed := rdb.Value{Kind: rdb.KindHash}, rdb.Value{Kind: rdb.KindHash}
			for i := range n {
				text := fmt.Appendf(nil, "%0*d", width, i)
				name := fmt.Appendf(nil, "n%0*d", width, i)
				list.Items = append(list.Items, text, name)
				ints.Items = append(ints.Items, strconv.AppendInt(nil, int64(i*width), 10))
				set.Items = append(set.Items, name)
				zset.Scored = append(zset.Scored, rdb.Scored{Member: name, Score: float64(i) / 3})
				hash.Fields = append(hash.Fields, rdb.Field{Name: name, Value: text})
				timed.Fields = append(timed.Fields, rdb.Field{Name: name, Value: text, ExpireAt: int64(i%3) * (farAway + int64(i))})
			}
			add(rdb.Value{Kind: rdb.KindStream, Stream: sampleStream(list.Items)})
			for _, v := range []rdb.Value{list, ints, set, zset, hash, timed} {
				add(v)
			}
		}
	}
	return all
}()

// sampleStream is a stream of the texts with a group whose two consumers hold some of the entries.
func sampleStream(texts [][]byte) *rdb.Stream {
	s := &rdb.Stream{EntriesAdded: uint64(len(texts)) + 3, MaxDeletedID: rdb.StreamID{Ms: 1}}
	g := rdb.StreamGroup{Name: []byte("g"), EntriesRead: -1, Consumers: []rdb.StreamConsumer{
		{Name: []byte("a"), SeenTime: 500, ActiveTime: 500}, {Name: []byte("b"), SeenTime: 600, ActiveTime: 600},
	}}
	for i, text := range texts {
		s.LastID = rdb.StreamID{Ms: uint64(i) + 2, Seq: uint64(i % 3)}
		s.Entries = append(s.Entries, rdb.StreamEntry{ID: s.LastID, Fields: [][]byte{[]byte("field"), text}})
		if i%4 == 0 {
			c := &g.Consumers[i/4%2]
			c.Pending = append(c.Pending, rdb.StreamPending{ID: s.LastID, DeliveryTime: 400, DeliveryCount: uint64(i) + 1})
			g.LastID = s.LastID
		}
	}
	s.Groups = []rdb.StreamGroup{g, {Name: []byte("empty"), EntriesRead: 0}}
	return s
}

// sampleDigests are the digests of the samples.
var sampleDigests = func() (all []Digest) {
	for _, payload := range samples {
		tx := New(1, 1).Begin(0, 1, false)
		if _, err := tx.Restore([]byte("k"), payload, 0, 0); err != nil {
			panic(err)
		}
		all = append(all, tx.DigestKey([]byte("k")))
	}
	return all
}()

// redoKeys applies recorded effects on whole keys and databases to s.
func redoKeys(t require.TestingT, s *Store, f *Effects) {
	for i := range f.Len() {
		tx := s.Begin(f.DB(i), 1, false)
		arg := func(j int) []byte { return bytes.Clone(f.Arg(i, j)) }
		number := func(j int) int64 {
			n, err := strconv.ParseInt(string(f.Arg(i, j)), 10, 64)
			require.NoError(t, err)
			return n
		}
		switch f.Name(i) {
		case "RESTORE":
			there, err := tx.Restore(arg(0), arg(2), number(1), 0)
			require.NoError(t, err)
			require.True(t, there)
		case "RENAME":
			require.True(t, tx.Rename(arg(0), arg(1)))
		case "MOVE":
			require.True(t, tx.Move(arg(0), int(number(1))))
		case "COPY":
			db := f.DB(i)
			if f.Args(i) > 3 {
				db = int(number(3))
			}
			require.True(t, tx.Copy(arg(0), arg(1), db, true))
		case "FLUSHDB":
			tx.Flush()
		case "FLUSHALL":
			tx.FlushAll()
		case "SWAPDB":
			tx.Swap(int(number(0)), int(number(1)))
		case "DEL":
			require.True(t, tx.Delete(arg(0)))
		case "PEXPIREAT":
			require.True(t, tx.ExpireAt(arg(0), number(1)))
		case "PERSIST":
			require.True(t, tx.Persist(arg(0)))
		default:
			require.Fail(t, "unknown effect", f.Name(i))
		}
		tx.Commit()
		s.Reclaim(64)
	}
}

// keysModel is a keyspace as plain data beside a store under test and one that replays its effects.
type keysModel struct {
	s, replica *Store
	now        int64
	dbs        []map[string]modelKey
}

type modelKey struct {
	sample int
	at     int64
}

func newKeysModel() *keysModel {
	m := &keysModel{s: New(3, 1), replica: New(3, 2), now: 1000}
	m.s.a.poison, m.replica.a.poison = true, true
	for range 3 {
		m.dbs = append(m.dbs, map[string]modelKey{})
	}
	return m
}

// pass moves the clock on.
func (m *keysModel) pass(ms int64) {
	m.now += ms
	for _, db := range m.dbs {
		for key, k := range db {
			if k.at != 0 && k.at <= m.now {
				delete(db, key)
			}
		}
	}
}

// do runs f in a transaction of a database and replays its effects.
func (m *keysModel) do(t require.TestingT, db int, f func(tx *Tx)) {
	tx := m.s.Begin(db, m.now, false)
	f(tx)
	redoKeys(t, m.replica, tx.Effects())
	tx.Commit()
}

// check compares the store with the model, and the replica with the store.
func (m *keysModel) check(t require.TestingT) {
	for i, db := range m.dbs {
		tx := m.s.Begin(i, m.now, true)
		found := 0
		tx.EachKey(func(key []byte, _ Kind) bool {
			found++
			k, ok := db[string(key)]
			require.True(t, ok, "%q should not be in database %d", key, i)
			at, _ := tx.Expiry(key)
			require.Equal(t, k.at, at)
			require.Equal(t, sampleDigests[k.sample], tx.DigestKey(key), "%q", key)
			return true
		})
		require.Equal(t, len(db), found)
		key, ok := tx.RandomKey()
		require.Equal(t, len(db) > 0, ok)
		if ok {
			require.Contains(t, db, string(key))
		}
		tx.Commit()
	}
	require.Equal(t, m.s.Digest(m.now), m.replica.Digest(m.now))
}

func TestKeysModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newKeysModel()
		keys := rapid.SampledFrom([]string{"a", "b", "c", "", string(bytes.Repeat([]byte("k"), 300))})
		dbs := rapid.IntRange(0, 2)
		later := func() int64 { return m.now + rapid.Int64Range(1, 100).Draw(t, "later") }
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { m.check(t) },
			"restore": func(t *rapid.T) {
				db, key, n := dbs.Draw(t, "db"), keys.Draw(t, "key"), rapid.IntRange(0, len(samples)-1).Draw(t, "sample")
				at := int64(0)
				if rapid.Bool().Draw(t, "expires") {
					at = later()
				}
				m.do(t, db, func(tx *Tx) {
					there, err := tx.Restore([]byte(key), samples[n], at, 0)
					require.NoError(t, err)
					require.True(t, there)
				})
				m.dbs[db][key] = modelKey{n, at}
			},
			"rename": func(t *rapid.T) {
				db, src, dst := dbs.Draw(t, "db"), keys.Draw(t, "src"), keys.Draw(t, "dst")
				k, ok := m.dbs[db][src]
				m.do(t, db, func(tx *Tx) { require.Equal(t, ok, tx.Rename([]byte(src), []byte(dst))) })
				if ok {
					delete(m.dbs[db], src)
					m.dbs[db][dst] = k
				}
			},
			"move": func(t *rapid.T) {
				db, to, key := dbs.Draw(t, "db"), dbs.Draw(t, "to"), keys.Draw(t, "key")
				if db == to {
					return
				}
				k, ok := m.dbs[db][key]
				_, taken := m.dbs[to][key]
				m.do(t, db, func(tx *Tx) { require.Equal(t, ok && !taken, tx.Move([]byte(key), to)) })
				if ok && !taken {
					delete(m.dbs[db], key)
					m.dbs[to][key] = k
				}
			},
			"copy": func(t *rapid.T) {
				db, to, src, dst := dbs.Draw(t, "db"), dbs.Draw(t, "to"), keys.Draw(t, "src"), keys.Draw(t, "dst")
				replace := rapid.Bool().Draw(t, "replace")
				if db == to && src == dst {
					return
				}
				k, ok := m.dbs[db][src]
				_, taken := m.dbs[to][dst]
				ok = ok && (replace || !taken)
				m.do(t, db, func(tx *Tx) { require.Equal(t, ok, tx.Copy([]byte(src), []byte(dst), to, replace)) })
				if ok {
					m.dbs[to][dst] = k
				}
			},
			"expire": func(t *rapid.T) {
				db, key, at := dbs.Draw(t, "db"), keys.Draw(t, "key"), later()
				k, ok := m.dbs[db][key]
				m.do(t, db, func(tx *Tx) { require.Equal(t, ok, tx.ExpireAt([]byte(key), at)) })
				if ok {
					m.dbs[db][key] = modelKey{k.sample, at}
				}
			},
			"delete": func(t *rapid.T) {
				db, key := dbs.Draw(t, "db"), keys.Draw(t, "key")
				_, ok := m.dbs[db][key]
				m.do(t, db, func(tx *Tx) { require.Equal(t, ok, tx.Delete([]byte(key))) })
				delete(m.dbs[db], key)
			},
			"swap": func(t *rapid.T) {
				i, j := dbs.Draw(t, "i"), dbs.Draw(t, "j")
				m.do(t, dbs.Draw(t, "db"), func(tx *Tx) { tx.Swap(i, j) })
				m.dbs[i], m.dbs[j] = m.dbs[j], m.dbs[i]
			},
			"flush": func(t *rapid.T) {
				db := dbs.Draw(t, "db")
				m.do(t, db, (*Tx).Flush)
				m.dbs[db] = map[string]modelKey{}
			},
			"flush all": func(t *rapid.T) {
				m.do(t, dbs.Draw(t, "db"), (*Tx).FlushAll)
				for i := range m.dbs {
					m.dbs[i] = map[string]modelKey{}
				}
			},
			"time": func(t *rapid.T) { m.pass(rapid.Int64Range(1, 60).Draw(t, "ms")) },
			"cycle": func(t *rapid.T) {
				m.do(t, dbs.Draw(t, "db"), func(tx *Tx) { tx.ExpireCycle(2) })
			},
			"reclaim": func(t *rapid.T) { m.s.Reclaim(rapid.IntRange(1, 500).Draw(t, "budget")) },
		})
		for i := range m.dbs {
			m.do(t, i, (*Tx).Flush)
		}
		for m.s.Reclaim(1 << 16) {
		}
		require.Zero(t, m.s.a.live, "arena blocks are left")
		require.Zero(t, m.s.objMem, "objects are left")
		require.Zero(t, m.s.Pending())
		m.s.a.drop()
		m.replica.a.drop()
	})
}

func TestScanShowsWhatStays(t *testing.T) {
	s := New(1, 1)
	s.a.poison = true
	tx := s.Begin(0, 1, false)
	name := func(i int) []byte { return fmt.Appendf(nil, "stays:%d", i) }
	for i := range 10_000 {
		tx.SetValue(name(i), []byte("v"), 0)
	}
	seen := map[string]bool{}
	steps, cursor := 0, uint64(0)
	for {
		for range 7 {
			if cursor = tx.Scan(cursor, func(key []byte, _ Kind) { seen[string(key)] = true }); cursor == 0 {
				break
			}
		}
		if cursor == 0 {
			break
		}
		steps++
		// The table grows to several times its size and shrinks again on the way.
		for i := range 200 {
			other := fmt.Appendf(nil, "other:%d", steps%300*200+i)
			if steps < 300 {
				tx.SetValue(other, []byte("v"), 0)
			} else {
				tx.Delete(other)
			}
		}
		tx.Commit()
	}
	for i := range 10_000 {
		require.True(t, seen[string(name(i))], i)
	}
	require.Less(t, steps, 10_000, "a pass is linear")
}

func TestRandomKeyAmongKeysPastTheirTime(t *testing.T) {
	s := New(1, 1)
	tx := s.Begin(0, 1, false)
	for i := range 5000 {
		tx.SetValue(fmt.Appendf(nil, "%d", i), nil, 100)
	}
	tx.Commit()
	tx = s.Begin(0, 100, true)
	_, ok := tx.RandomKey()
	require.False(t, ok)
	tx = s.Begin(0, 100, false)
	tx.SetValue([]byte("there"), nil, 0)
	for range 3 {
		key, ok := tx.RandomKey()
		require.True(t, ok)
		require.Equal(t, "there", string(key))
	}
	tx.ExpireAt([]byte("there"), 200)
	key, ok := tx.RandomKey()
	require.True(t, ok)
	require.Equal(t, "there", string(key))
}

func TestFlushTakesNoTime(t *testing.T) {
	for _, others := range []bool{false, true} {
		s := New(2, 1)
		tx := s.Begin(1, 1, false)
		if others {
			tx.SetValue([]byte("k"), []byte("v"), 0)
		}
		tx.Select(0)
		for i := range 20_000 {
			tx.SetValue(fmt.Appendf(nil, "%d", i), []byte("value"), 0)
		}
		kept, _, err := tx.Value([]byte("17"))
		require.NoError(t, err)
		tx.Flush()
		require.Zero(t, s.Len(0))
		require.Equal(t, "value", string(kept), "what was read stays until the transaction ends")
		tx.SetValue([]byte("17"), []byte("new"), 0)
		require.Equal(t, "value", string(kept))
		tx.Commit()
		steps := 0
		for s.Reclaim(100) {
			steps++
		}
		require.Equal(t, others, steps > 100)
		require.Equal(t, 1, s.Len(0))
	}
}

func TestEffectsSayWhatTheyTouch(t *testing.T) {
	s := New(3, 1)
	tx := s.Begin(1, 1, false)
	a, b := []byte("a"), []byte("b")
	touched := func(f func()) (out []string) {
		tx.effects.reset()
		f()
		for i := range tx.effects.Len() {
			for _, x := range tx.effects.AppendTouched(nil, i) {
				key := "*"
				if x.Key != nil {
					key = string(x.Key)
				}
				out = append(out, fmt.Sprintf("%d %s", x.DB, key))
			}
		}
		return out
	}
	require.Equal(t, []string{"1 a"}, touched(func() { tx.SetValue(a, b, 0) }))
	require.Equal(t, []string{"1 b"}, touched(func() { tx.Copy(a, b, 1, false) }))
	require.Equal(t, []string{"2 b"}, touched(func() { tx.Copy(a, b, 2, false) }))
	require.Equal(t, []string{"1 a", "1 b"}, touched(func() { tx.Rename(a, b) }))
	require.Equal(t, []string{"1 b", "0 b"}, touched(func() { tx.Move(b, 0) }))
	require.Equal(t, []string{"2 *", "0 *"}, touched(func() { tx.Swap(2, 0) }))
	require.Empty(t, touched(func() { tx.Swap(2, 2) }))
	require.Empty(t, touched(tx.Flush), "there is nothing to remove")
	tx.SetValue(a, b, 0)
	require.Equal(t, []string{"1 *"}, touched(tx.Flush))
	require.Equal(t, []string{"0 *", "1 *", "2 *"}, touched(tx.FlushAll))
}
