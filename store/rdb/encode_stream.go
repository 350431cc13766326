package rdb

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Limits of stream nodes, as servers have them by default.
const (
	streamNodeEntries = 100
	streamNodeBytes   = 4096
)

func (e *Encoder) stream(dst []byte, typ byte, s *Stream) []byte {
	nodes := uint64(0)
	for rest := s.Entries; len(rest) > 0; nodes++ {
		rest = rest[streamRun(rest):]
	}
	dst = appendLength(dst, nodes)
	for rest := s.Entries; len(rest) > 0; {
		n := streamRun(rest)
		dst = e.streamNode(dst, rest[:n])
		rest = rest[n:]
	}
	var first StreamID
	if len(s.Entries) > 0 {
		first = s.Entries[0].ID
	}
	dst = appendLength(dst, uint64(len(s.Entries)))
	dst = appendStreamID(dst, s.LastID)
	dst = appendStreamID(dst, first)
	dst = appendStreamID(dst, s.MaxDeletedID)
	dst = appendLength(dst, s.EntriesAdded)
	dst = appendLength(dst, uint64(len(s.Groups)))
	for i := range s.Groups {
		dst = e.streamGroup(dst, typ, &s.Groups[i])
	}
	return dst
}

func appendStreamID(dst []byte, id StreamID) []byte {
	return appendLength(appendLength(dst, id.Ms), id.Seq)
}

func appendRawStreamID(dst []byte, id StreamID) []byte {
	dst = binary.BigEndian.AppendUint64(dst, id.Ms)
	return binary.BigEndian.AppendUint64(dst, id.Seq)
}

// streamRun gives how many entries make the next node.
func streamRun(entries []StreamEntry) int {
	n, size := 0, 0
	for ; n < len(entries) && n < streamNodeEntries; n++ {
		for _, s := range entries[n].Fields {
			size += len(s)
		}
		if size > streamNodeBytes && n > 0 {
			break
		}
	}
	return n
}

// streamNode appends a node of these entries. The field names of the first
// stand at its head, and entries with the same names give values only.
func (e *Encoder) streamNode(dst []byte, entries []StreamEntry) []byte {
	head := &entries[0]
	lp := &e.lp
	lp.begin()
	lp.number(int64(len(entries)))
	lp.number(0) // deleted entries
	lp.number(int64(len(head.Fields) / 2))
	for i := 0; i+1 < len(head.Fields); i += 2 {
		lp.str(head.Fields[i])
	}
	lp.number(0)
	for i := range entries {
		ent := &entries[i]
		from := lp.n
		same := sameFields(head, ent)
		if same {
			lp.number(streamSameFields)
		} else {
			lp.number(0)
		}
		lp.number(int64(ent.ID.Ms - head.ID.Ms))
		lp.number(int64(ent.ID.Seq - head.ID.Seq))
		if !same {
			lp.number(int64(len(ent.Fields) / 2))
		}
		for j, s := range ent.Fields {
			if !same || j%2 == 1 {
				lp.str(s)
			}
		}
		lp.number(int64(lp.n - from))
	}
	var key [16]byte
	dst = e.blob(dst, appendRawStreamID(key[:0], head.ID))
	return e.blob(dst, lp.finish())
}

func sameFields(a, b *StreamEntry) bool {
	if len(a.Fields) != len(b.Fields) {
		return false
	}
	for i := 0; i < len(a.Fields); i += 2 {
		if !bytes.Equal(a.Fields[i], b.Fields[i]) {
			return false
		}
	}
	return true
}

func (e *Encoder) streamGroup(dst []byte, typ byte, g *StreamGroup) []byte {
	dst = e.str(dst, g.Name)
	dst = appendStreamID(dst, g.LastID)
	dst = appendLength(dst, uint64(g.EntriesRead))
	var pending []StreamPending
	for i := range g.Consumers {
		pending = append(pending, g.Consumers[i].Pending...)
	}
	slices.SortFunc(pending, func(a, b StreamPending) int { return a.ID.Compare(b.ID) })
	dst = appendLength(dst, uint64(len(pending)))
	for _, p := range pending {
		dst = appendRawStreamID(dst, p.ID)
		dst = binary.LittleEndian.AppendUint64(dst, uint64(p.DeliveryTime))
		dst = appendLength(dst, p.DeliveryCount)
	}
	dst = appendLength(dst, uint64(len(g.Consumers)))
	for i := range g.Consumers {
		c := &g.Consumers[i]
		dst = e.str(dst, c.Name)
		dst = binary.LittleEndian.AppendUint64(dst, uint64(c.SeenTime))
		if typ == typeStream3 {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(c.ActiveTime))
		}
		dst = appendLength(dst, uint64(len(c.Pending)))
		for _, p := range c.Pending {
			dst = appendRawStreamID(dst, p.ID)
		}
	}
	return dst
}
