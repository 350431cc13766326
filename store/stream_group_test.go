package store

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func (m *streamModel) changeGroup(t *rapid.T, tx *Tx, x *Stream, op int) {
	name := rapid.SampledFrom([]string{"g", "h"}).Draw(t, "group")
	mg := m.groups[name]
	if mg == nil {
		if op < 12 {
			last := m.draw(t)
			x.CreateGroup([]byte(name), last, -1)
			m.groups[name] = &modelGroup{last, map[string]bool{}, map[StreamID]Pending{}}
		} else {
			require.False(t, x.DestroyGroup([]byte(name)))
		}
		return
	}
	g, ok := x.Group([]byte(name))
	require.True(t, ok)
	who := rapid.SampledFrom([]string{"", "c", "d"}).Draw(t, "who")
	switch op {
	case 8:
		if rapid.IntRange(0, 3).Draw(t, "really") == 0 {
			require.True(t, x.DestroyGroup([]byte(name)))
			delete(m.groups, name)
		}
	case 9:
		mg.last = m.draw(t)
		g.SetLast(mg.last, 7)
	case 10:
		n, ok := g.DeleteConsumer([]byte(who))
		require.Equal(t, mg.consumers[who], ok)
		for id, p := range mg.pending {
			if string(p.Consumer) == who {
				delete(mg.pending, id)
				n--
			}
		}
		require.Zero(t, n)
		delete(mg.consumers, who)
	default:
		c, created := g.CreateConsumer([]byte(who))
		require.Equal(t, !mg.consumers[who], created)
		mg.consumers[who] = true
		m.deliver(t, tx, x, &g, &c, mg, who, op)
	}
}

func (m *streamModel) deliver(t *rapid.T, tx *Tx, x *Stream, g *StreamGroup, c *StreamConsumer, mg *modelGroup, who string, op int) {
	count := rapid.SampledFrom([]int{0, 1, 3, 120}).Draw(t, "count")
	switch op {
	case 11, 12, 13:
		var want, got []StreamID
		noAck := rapid.IntRange(0, 3).Draw(t, "no ack") == 0
		for _, e := range m.entries {
			if mg.last.Less(e.id) && (count == 0 || len(want) < count) {
				want = append(want, e.id)
				if !noAck {
					mg.pending[e.id] = Pending{e.id, m.now, 1, []byte(who)}
				}
			}
		}
		c.Next(count, noAck, func(e StreamEntry) { got = append(got, e.ID) })
		require.Equal(t, want, got)
		if len(want) > 0 {
			mg.last = want[len(want)-1]
		}
	case 14, 15:
		for _, id := range append([]StreamID{m.draw(t)}, m.owned(mg, "", count)...) {
			_, ok := mg.pending[id]
			require.Equal(t, ok, g.Ack(id))
			delete(mg.pending, id)
		}
	case 16, 17:
		from := m.draw(t)
		var got []StreamID
		c.History(from, count, func(id StreamID, e StreamEntry, there bool) {
			got = append(got, id)
			p := mg.pending[id]
			require.Equal(t, m.has(id), there)
			if there {
				require.Equal(t, id, e.ID)
				p.At, p.Count = m.now, p.Count+1
			}
			mg.pending[id] = p
		})
		want := m.owned(mg, who, 0)
		want = slices.DeleteFunc(want, func(id StreamID) bool { return id.Less(from) })
		if count > 0 {
			want = want[:min(count, len(want))]
		}
		require.Equal(t, len(want), len(got))
		require.True(t, slices.Equal(want, got))
	default:
		if id := m.draw(t); m.has(id) {
			c.Claim(id, m.now-5, 9)
			mg.pending[id] = Pending{id, m.now - 5, 9, []byte(who)}
		}
	}
}

func (m *streamModel) has(id StreamID) bool {
	return slices.ContainsFunc(m.entries, func(e modelEntry) bool { return e.id == id })
}

// owned returns up to limit (0 for all) pending ids of a consumer, "" for every one, in order.
func (m *streamModel) owned(mg *modelGroup, who string, limit int) []StreamID {
	var ids []StreamID
	for id, p := range mg.pending {
		if who == "" && limit > 0 || string(p.Consumer) == who {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, StreamID.Compare)
	if limit > 0 {
		ids = ids[:min(limit, len(ids))]
	}
	return ids
}

// TestStreamMemory holds entries of three short fields to what Redis 7.0 takes for them, 43 bytes each.
func TestStreamMemory(t *testing.T) {
	const entries = 200_000
	s := New(1, 1)
	var fields [6][]byte
	for i := range entries {
		tx := s.Begin(0, 1, false)
		x, err := tx.Stream([]byte("s"))
		require.NoError(t, err)
		for j, name := range []string{"kind", "order", "size"} {
			fields[2*j], fields[2*j+1] = []byte(name), strconv.AppendInt(fields[2*j+1][:0], int64(i%1000+j), 10)
			fields[2*j+1] = append(fields[2*j+1], "-value"...)
		}
		x.Add(StreamID{1_700_000_000_000 + uint64(i), 0}, fields[:])
		tx.Commit()
	}
	tx := s.Begin(0, 1, true)
	n, ok := tx.Usage([]byte("s"), 0)
	tx.Commit()
	require.True(t, ok)
	require.Less(t, n, int64(43*entries))
	require.Less(t, s.Memory(), int64(43*entries))
	require.Less(t, s.Mapped(), int64(43*entries+2*chunkSize))
}

func TestStreamCommandsDoNotAllocate(t *testing.T) {
	s := New(1, 1)
	key, name, who := []byte("s"), []byte("g"), []byte("c")
	fields := [][]byte{[]byte("a"), []byte("1"), []byte("b"), []byte("2")}
	tx := s.Begin(0, 1, false)
	x, _ := tx.Stream(key)
	x.CreateGroup(name, StreamID{}, 0)
	tx.Commit()
	id := StreamID{1, 0}
	turn := func() {
		tx := s.Begin(0, 1, false)
		x, _ := tx.Stream(key)
		x.Add(id, fields)
		x.Trim(StreamTrim{Keep: 1000, Whole: true})
		g, _ := x.Group(name)
		c, _ := g.CreateConsumer(who)
		c.Next(1, false, func(e StreamEntry) { e.Each(func(field, value []byte) {}) })
		if id.Ms > 300 {
			g.Ack(StreamID{id.Ms - 300, 0})
		}
		tx.Commit()
		id.Ms++
	}
	for range 5000 {
		turn()
	}
	require.Zero(t, testing.AllocsPerRun(2000, turn))
}
