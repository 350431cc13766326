package store

// Stream is a handle on one stream key. It is used within its transaction only.
type Stream struct {
	tx  *Tx
	key []byte
	e   entry
	gen uint64
}

// Stream opens key as a stream. An absent key opens as an empty stream, which Add or CreateGroup creates; a key of
// another kind is ErrWrongType. The handle keeps key.
func (tx *Tx) Stream(key []byte) (Stream, error) {
	e, err := tx.findKind(key, KindStream)
	return Stream{tx: tx, key: key, e: e, gen: tx.gen}, err
}

// table returns the stream's object, nil when the key is absent.
func (x *Stream) table() *streamTable {
	if x.gen != x.tx.gen {
		x.e, x.gen = x.tx.again(&x.e, x.key, x.gen), x.tx.gen
	}
	if !x.e.ok() {
		return nil
	}
	return x.tx.s.objects[x.e.object()].(*streamTable)
}

// make returns the object and creates the key when it is absent. The effect that does is recorded already.
func (x *Stream) make() *streamTable {
	if t := x.table(); t != nil {
		return t
	}
	tx := x.tx
	x.e = tx.make(x.key, KindStream, 4)
	t := &streamTable{s: tx.s}
	tx.db.hold(tx.s, &x.e, t)
	x.gen = tx.gen
	return t
}

// Exists reports whether the key is there.
func (x *Stream) Exists() bool { return x.table() != nil }

// Len returns the number of entries.
func (x *Stream) Len() int {
	if t := x.table(); t != nil {
		return t.length
	}
	return 0
}

// StreamState is what a stream knows beside its entries.
type StreamState struct {
	First      StreamID // id of the first entry, 0-0 when there is none
	Last       StreamID // the highest id ever added or set
	MaxDeleted StreamID // the highest id ever deleted by its id, 0-0 when none was
	Added      uint64   // entries ever added
	Chunks     int      // runs that the entries are kept in
}

// State returns what the stream knows beside its entries; all is zero when the key is absent.
func (x *Stream) State() StreamState {
	t := x.table()
	if t == nil {
		return StreamState{}
	}
	return StreamState{First: t.first, Last: t.last, MaxDeleted: t.maxDel, Added: t.added, Chunks: t.chunks.n}
}

// Top returns the id of the last entry, 0-0 when there is none.
func (x *Stream) Top() StreamID {
	if t := x.table(); t != nil {
		return t.top()
	}
	return StreamID{}
}

// Entry returns the entry id.
func (x *Stream) Entry(id StreamID) (e StreamEntry, ok bool) {
	if t := x.table(); t != nil {
		return t.get(id)
	}
	return e, false
}

// Each calls f for the entries from..to, both included, in order until it returns false. f must not change this key.
func (x *Stream) Each(from, to StreamID, f func(StreamEntry) bool) {
	if t := x.table(); t != nil {
		t.each(from, to, f)
	}
}

// EachBack is Each from the last entry to the first.
func (x *Stream) EachBack(from, to StreamID, f func(StreamEntry) bool) {
	if t := x.table(); t != nil {
		t.eachBack(from, to, f)
	}
}

// Add appends an entry, whose id must be above the stream's last, with its fields: field, value, field, value ... All
// is copied.
func (x *Stream) Add(id StreamID, fields [][]byte) {
	var text streamIDText
	x.tx.record("XADD", x.key, id.text(&text))
	for i := range fields {
		x.tx.effects.arg(fields[i])
	}
	x.make().append(id, fields)
}

// StreamTrim says what Trim removes from a stream's beginning: what is beyond Keep entries, or with ByID what stands
// before MinID.
type StreamTrim struct {
	ByID  bool
	Keep  int
	MinID StreamID
	// Whole leaves chunks alone that would have to be cut, which is cheaper.
	Whole bool
	// Limit is the most entries that are removed, 0 for no limit.
	Limit int
}

// Trim removes entries from the beginning and returns how many.
func (x *Stream) Trim(by StreamTrim) int {
	t := x.table()
	if t == nil {
		return 0
	}
	n := t.trimmed(by)
	if n > 0 {
		x.tx.record("XTRIM", x.key, []byte("MAXLEN"), []byte("="), x.tx.itoa(int64(t.length-n)))
		t.cut(n)
	}
	return n
}

// trimmed returns how many entries Trim removes.
func (t *streamTable) trimmed(by StreamTrim) (n int) {
	p, ok := t.chunks.first()
	for ; ok; p, ok = t.chunks.next(p) {
		left := t.length - n
		if !by.ByID && left <= by.Keep {
			break
		}
		c := t.chunks.at(p)
		live := int(c.live)
		if by.Limit > 0 && n+live > by.Limit {
			break
		}
		if whole := by.ByID && c.tail.Less(by.MinID) || !by.ByID && left-live >= by.Keep; whole {
			n += live
			continue
		}
		if by.Whole {
			break
		}
		if !by.ByID {
			return n + left - by.Keep
		}
		t.each(t.chunks.id(p), c.tail, func(e StreamEntry) bool {
			if !e.ID.Less(by.MinID) {
				return false
			}
			n++
			return true
		})
		break
	}
	return n
}

// Delete removes the entry id and reports whether it was there. The key stays when it was the last.
func (x *Stream) Delete(id StreamID) bool {
	t := x.table()
	if t == nil {
		return false
	}
	if _, ok := t.get(id); !ok {
		return false
	}
	var text streamIDText
	x.tx.extend("XDEL", x.key, id.text(&text))
	t.remove(id)
	return true
}

// SetState sets the last id, the highest deleted id and the number of entries ever added, of a key that is there. No
// entry may be above last, nor maxDeleted.
func (x *Stream) SetState(last, maxDeleted StreamID, added uint64) {
	t := x.table()
	var text, deleted streamIDText
	x.tx.record("XSETID", x.key, last.text(&text), []byte("ENTRIESADDED"), x.tx.itoa(int64(added)),
		[]byte("MAXDELETEDID"), maxDeleted.text(&deleted))
	t.last, t.maxDel, t.added = last, maxDeleted, added
}
