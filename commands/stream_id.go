package commands

import (
	"bytes"
	"math"

	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

// Refusals of stream ids.
const (
	errStreamID         Error = "ERR Invalid stream ID specified as stream command argument"
	errStreamRangeStart Error = "ERR invalid start ID for the interval"
	errStreamRangeEnd   Error = "ERR invalid end ID for the interval"
)

// maxStreamIDText is the longest text that is read as an id.
const maxStreamIDText = 127

// streamID reads an id, ms-seq or ms alone, which is completed by the seq given.
func streamID(text []byte, seq uint64) (store.StreamID, error) {
	ms, rest, whole := bytes.Cut(text, []byte("-"))
	id := store.StreamID{Seq: seq}
	var ok bool
	if id.Ms, ok = num.Uint(ms); !ok || len(text) > maxStreamIDText {
		return id, errStreamID
	}
	if whole {
		if id.Seq, ok = num.Uint(rest); !ok {
			return id, errStreamID
		}
	}
	return id, nil
}

// streamIDOrEdge is streamID, where - is the lowest and + the highest id.
func streamIDOrEdge(text []byte, seq uint64) (store.StreamID, error) {
	switch string(text) {
	case "-":
		return store.StreamID{}, nil
	case "+":
		return store.MaxStreamID, nil
	}
	return streamID(text, seq)
}

// streamStart reads the lower bound of a range, which ( before it excludes.
func streamStart(text []byte) (id store.StreamID, err error) {
	if len(text) < 2 || text[0] != '(' {
		return streamIDOrEdge(text, 0)
	}
	if id, err = streamID(text[1:], 0); err != nil {
		return id, err
	}
	id, ok := id.Next()
	if !ok {
		return id, errStreamRangeStart
	}
	return id, nil
}

// streamEnd reads the upper bound of a range, which ( before it excludes.
func streamEnd(text []byte) (id store.StreamID, err error) {
	if len(text) < 2 || text[0] != '(' {
		return streamIDOrEdge(text, math.MaxUint64)
	}
	if id, err = streamID(text[1:], math.MaxUint64); err != nil {
		return id, err
	}
	id, ok := id.Prev()
	if !ok {
		return id, errStreamRangeEnd
	}
	return id, nil
}

// checkStreamIDs reads every id, so that a bad one refuses the call before it did anything.
func checkStreamIDs(ids [][]byte) error {
	for _, text := range ids {
		if _, err := streamID(text, 0); err != nil {
			return err
		}
	}
	return nil
}

func writeStreamID(r *Reply, id store.StreamID) {
	var text [41]byte
	r.Bulk(id.Append(text[:0]))
}

// writeEntry appends an entry: its id, and an array of fields and values.
func writeEntry(r *Reply, e store.StreamEntry) {
	r.Array(2)
	writeStreamID(r, e.ID)
	r.Array(2 * e.Len())
	e.Each(func(field, value []byte) {
		r.Bulk(field)
		r.Bulk(value)
	})
}

// noGroup is the refusal of a group that is not there; in is what stands behind it.
func noGroup(key, group []byte, in string) Error {
	return Error("NOGROUP No such key '" + Echo(key) + "' or consumer group '" + Echo(group) + "'" + in)
}
