package store

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// streamModel drives one stream, and plain data that must stay equal to it.
type streamModel struct {
	s, other *Store // other gets the effects
	key      []byte
	now      int64

	exists  bool
	entries []modelEntry
	last    StreamID
	maxDel  StreamID
	added   uint64
	groups  map[string]*modelGroup
}

type modelEntry struct {
	id     StreamID
	fields string // field=value;...
}

type modelGroup struct {
	last      StreamID
	consumers map[string]bool
	pending   map[StreamID]Pending
}

var streamFieldName = rapid.SampledFrom([]string{"a", "b", "", "name", "12", strings.Repeat("n", 200)})

var streamValue = rapid.Custom(func(t *rapid.T) string {
	return strings.Repeat("v", rapid.SampledFrom([]int{0, 1, 3, 10, 63, 64, 127, 128, 500, 5000, 20_000, 300_000}).Draw(t, "size")/
		rapid.SampledFrom([]int{1, 1000}).Draw(t, "by"))
})

func (m *streamModel) draw(t *rapid.T) StreamID {
	if len(m.entries) > 0 && rapid.IntRange(0, 9).Draw(t, "known") > 0 {
		return m.entries[rapid.IntRange(0, len(m.entries)-1).Draw(t, "i")].id
	}
	return StreamID{rapid.Uint64Range(0, m.last.Ms+1).Draw(t, "ms"), rapid.Uint64Range(0, 3).Draw(t, "seq")}
}

func fieldText(field, value []byte) string { return fmt.Sprintf("%q=%q;", field, value) }

func (m *streamModel) add(x *Stream, id StreamID, fields []string) {
	var raw [][]byte
	text := ""
	for i := range fields {
		raw = append(raw, []byte(fields[i]))
		if i%2 == 1 {
			text += fieldText(raw[i-1], raw[i])
		}
	}
	x.Add(id, raw)
	for _, b := range raw {
		for i := range b {
			b[i] = '#' // whoever kept it sees that
		}
	}
	m.entries = append(m.entries, modelEntry{id, text})
	m.exists, m.last = true, id
	m.added++
}

func (m *streamModel) run(t *rapid.T) {
	m.now += rapid.Int64Range(0, 50).Draw(t, "pass")
	tx := m.s.Begin(0, m.now, false)
	x, err := tx.Stream(m.key)
	require.NoError(t, err)
	switch op := rapid.IntRange(0, 19).Draw(t, "op"); {
	case op < 8:
		m.change(t, &x, op)
	case m.exists:
		m.changeGroup(t, tx, &x, op)
	}
	m.replay(t, tx.Effects())
	tx.Commit()
	m.check(t)
}

func (m *streamModel) change(t *rapid.T, x *Stream, op int) {
	switch op {
	case 0, 1:
		id := m.last
		id.Ms += rapid.SampledFrom([]uint64{0, 1, 300, 1 << 40}).Draw(t, "later")
		id.Seq = rapid.SampledFrom([]uint64{0, 1, 200, math.MaxUint64}).Draw(t, "seq")
		if !m.last.Less(id) {
			return
		}
		var fields []string
		for range rapid.IntRange(1, 4).Draw(t, "fields") {
			fields = append(fields, streamFieldName.Draw(t, "field"), streamValue.Draw(t, "value"))
		}
		m.add(x, id, fields)
	case 2:
		for i := range rapid.IntRange(1, 350).Draw(t, "many") {
			fields := []string{"f", strconv.Itoa(i), "g", "w"}
			if i%7 == 6 {
				fields = fields[:2]
			}
			m.add(x, StreamID{m.last.Ms + 1, uint64(i % 3)}, fields)
		}
	case 3, 4:
		for range rapid.SampledFrom([]int{1, 1, 100}).Draw(t, "times") {
			id := m.draw(t)
			i := slices.IndexFunc(m.entries, func(e modelEntry) bool { return e.id == id })
			require.Equal(t, i >= 0, x.Delete(id))
			if i >= 0 {
				m.entries = slices.Delete(m.entries, i, i+1)
				if m.maxDel.Less(id) {
					m.maxDel = id
				}
			}
		}
	case 5, 6:
		m.trim(t, x)
	case 7:
		if m.exists {
			m.last.Ms += 5
			m.added += 3
			x.SetState(m.last, m.maxDel, m.added)
		}
	}
}

func (m *streamModel) trim(t *rapid.T, x *Stream) {
	by := StreamTrim{
		ByID: rapid.Bool().Draw(t, "by id"), Keep: rapid.IntRange(0, len(m.entries)+3).Draw(t, "keep"), MinID: m.draw(t),
		Whole: rapid.Bool().Draw(t, "whole"), Limit: rapid.SampledFrom([]int{0, 0, 1, 150}).Draw(t, "limit"),
	}
	most := max(len(m.entries)-by.Keep, 0)
	if by.ByID {
		most = slices.IndexFunc(m.entries, func(e modelEntry) bool { return !e.id.Less(by.MinID) })
		if most < 0 {
			most = len(m.entries)
		}
	}
	n := x.Trim(by)
	require.LessOrEqual(t, n, most)
	if !by.Whole && by.Limit == 0 {
		require.Equal(t, most, n)
	}
	if by.Limit > 0 && by.Whole {
		require.LessOrEqual(t, n, by.Limit)
	}
	m.entries = slices.Clone(m.entries[n:])
}

// replay does the effects in the other store, by the meaning that the commands have.
func (m *streamModel) replay(t *rapid.T, f *Effects) {
	tx := m.other.Begin(0, 1, false)
	defer tx.Commit()
	id := func(b []byte) (id StreamID) {
		ms, seq, _ := bytes.Cut(b, []byte("-"))
		id.Ms, _ = strconv.ParseUint(string(ms), 10, 64)
		id.Seq, _ = strconv.ParseUint(string(seq), 10, 64)
		return id
	}
	for i := range f.Len() {
		var args [][]byte
		for j := range f.Args(i) {
			args = append(args, f.Arg(i, j))
		}
		name := f.Name(i)
		if name == "XGROUP" {
			name, args = name+" "+string(args[0]), args[1:]
		}
		x, err := tx.Stream(args[0])
		require.NoError(t, err)
		group := func() *StreamGroup {
			g, ok := x.Group(args[1])
			require.True(t, ok)
			return &g
		}
		switch name {
		case "XADD":
			x.Add(id(args[1]), args[2:])
		case "XTRIM":
			x.Trim(StreamTrim{Keep: effectInt(t, args[3])})
		case "XDEL":
			for _, text := range args[1:] {
				require.True(t, x.Delete(id(text)))
			}
		case "XSETID":
			x.SetState(id(args[1]), id(args[5]), uint64(effectInt(t, args[3])))
		case "XGROUP CREATE":
			x.CreateGroup(args[1], id(args[2]), int64(effectInt(t, args[5])))
		case "XGROUP DESTROY":
			x.DestroyGroup(args[1])
		case "XGROUP SETID":
			group().SetLast(id(args[2]), int64(effectInt(t, args[4])))
		case "XGROUP CREATECONSUMER":
			group().CreateConsumer(args[2])
		case "XGROUP DELCONSUMER":
			group().DeleteConsumer(args[2])
		case "XACK":
			for _, text := range args[2:] {
				require.True(t, group().Ack(id(text)))
			}
		case "XCLAIM":
			c, created := group().CreateConsumer(args[2])
			require.False(t, created)
			c.Claim(id(args[4]), int64(effectInt(t, args[6])), uint64(effectInt(t, args[8])))
		default:
			require.Fail(t, "unexpected effect", name)
		}
	}
}

// check reads the whole stream in every way.
func (m *streamModel) check(t *rapid.T) {
	tx := m.s.Begin(0, m.now, true)
	defer tx.Commit()
	x, err := tx.Stream(m.key)
	require.NoError(t, err)
	require.Equal(t, m.exists, x.Exists())
	require.Equal(t, len(m.entries), x.Len())
	state := x.State()
	require.Equal(t, []any{m.last, m.maxDel, m.added}, []any{state.Last, state.MaxDeleted, state.Added})
	var first, top StreamID
	if n := len(m.entries); n > 0 {
		first, top = m.entries[0].id, m.entries[n-1].id
	}
	require.Equal(t, first, state.First)
	require.Equal(t, top, x.Top())
	text := func(e *StreamEntry) (out string) {
		e.Each(func(field, value []byte) { out += fieldText(field, value) })
		return out
	}
	i := 0
	x.Each(StreamID{}, MaxStreamID, func(e StreamEntry) bool {
		require.Equal(t, m.entries[i], modelEntry{e.ID, text(&e)})
		i++
		return true
	})
	require.Equal(t, len(m.entries), i)
	x.EachBack(StreamID{}, MaxStreamID, func(e StreamEntry) bool {
		i--
		require.Equal(t, m.entries[i].id, e.ID)
		return true
	})
	require.Zero(t, i)
	m.checkRange(t, &x)
	require.Equal(t, len(m.groups), x.Groups())
	for name, mg := range m.groups {
		g, ok := x.Group([]byte(name))
		require.True(t, ok)
		require.Equal(t, mg.last, g.Last())
		require.Equal(t, len(mg.consumers), g.Consumers())
		n := 0
		g.EachPending(StreamID{}, MaxStreamID, func(p Pending) bool {
			require.Equal(t, mg.pending[p.ID], p)
			n++
			return true
		})
		for _, name := range g.ConsumerNames() {
			c, _ := g.Consumer([]byte(name))
			n -= c.Pending()
		}
		require.Zero(t, n, "every pending entry has one owner")
		require.Equal(t, len(mg.pending), g.Pending())
	}
}

func (m *streamModel) checkRange(t *rapid.T, x *Stream) {
	from, to := m.draw(t), m.draw(t)
	var want, got, back []StreamID
	for _, e := range m.entries {
		if !e.id.Less(from) && !to.Less(e.id) {
			want = append(want, e.id)
		}
	}
	x.Each(from, to, func(e StreamEntry) bool {
		got = append(got, e.ID)
		return true
	})
	x.EachBack(from, to, func(e StreamEntry) bool {
		back = append(back, e.ID)
		return true
	})
	slices.Reverse(back)
	require.Equal(t, want, got)
	require.Equal(t, want, back)
	e, ok := x.Entry(from)
	require.Equal(t, m.has(from), ok)
	require.True(t, !ok || e.ID == from)
}

func TestStreamModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &streamModel{s: New(1, 1), other: New(1, 1), key: []byte("stream"), now: 1000, groups: map[string]*modelGroup{}}
		m.s.a.poison, m.other.a.poison = true, true
		m.s.Limits.StreamNodeEntries = rapid.SampledFrom([]int{100, 5, 0, 1}).Draw(t, "entries of a node")
		m.s.Limits.StreamNodeBytes = rapid.SampledFrom([]int{4096, 300, 0, 1}).Draw(t, "bytes of a node")
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			m.run(t)
		}
		require.Equal(t, m.s.Digest(m.now), m.other.Digest(m.now))
		m.checkCopy(t)
		for i := range 2 {
			tx := m.s.Begin(0, m.now, false)
			tx.Delete([]byte([]string{"stream", "copy"}[i]))
			tx.Commit()
		}
		for m.s.Reclaim(1) {
		}
		require.Zero(t, m.s.a.live, "all blocks are given back")
		require.Zero(t, m.s.objMem, "all object memory is given back")
	})
}

// checkCopy copies the stream, dumps and restores it: it stays what it is.
func (m *streamModel) checkCopy(t *rapid.T) {
	tx := m.s.Begin(0, m.now, false)
	defer tx.Commit()
	if !tx.Copy(m.key, []byte("copy"), 0, false) {
		require.False(t, m.exists)
		return
	}
	want := tx.DigestKey(m.key)
	require.Equal(t, want, tx.DigestKey([]byte("copy")))
	_, err := tx.Restore(m.key, tx.Dump([]byte("copy")), 0, 0)
	require.NoError(t, err)
	require.Equal(t, want, tx.DigestKey(m.key))
}
