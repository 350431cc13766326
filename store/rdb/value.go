package rdb

import "cmp"

// Kind is the type of a value, as TYPE names it.
type Kind uint8

// The kinds of values.
const (
	KindString Kind = iota
	KindList
	KindSet
	KindHash
	KindZSet
	KindStream
)

var kindNames = [...]string{"string", "list", "set", "hash", "zset", "stream"}

// String gives the word that TYPE answers.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Value is one value of a keyspace as plain data. Kind says which of the other
// fields counts. Bytes of a decoded Value belong to whoever decoded it: see
// [Restore] and [Reader.Next].
type Value struct {
	Kind   Kind
	Str    []byte   // KindString
	Items  [][]byte // KindList: from head to tail; KindSet: any order
	Fields []Field  // KindHash, any order
	Scored []Scored // KindZSet, any order
	Stream *Stream  // KindStream
}

// Field is one field of a hash.
type Field struct {
	Name, Value []byte
	ExpireAt    int64 // deadline, Unix ms; 0 is none
}

// Scored is one member of a sorted set.
type Scored struct {
	Member []byte
	Score  float64 // never NaN
}

// StreamID is the id of a stream entry.
type StreamID struct {
	Ms, Seq uint64
}

// Compare orders ids as streams do.
func (id StreamID) Compare(other StreamID) int {
	if c := cmp.Compare(id.Ms, other.Ms); c != 0 {
		return c
	}
	return cmp.Compare(id.Seq, other.Seq)
}

// Stream is a stream with its consumer groups.
type Stream struct {
	Entries      []StreamEntry // ids strictly rising, none above LastID
	LastID       StreamID
	MaxDeletedID StreamID
	EntriesAdded uint64
	Groups       []StreamGroup // names unique
}

// StreamEntry is one entry of a stream.
type StreamEntry struct {
	ID     StreamID
	Fields [][]byte // field, value, field, value, ...
}

// StreamGroup is one consumer group. Its pending entries are those of its
// consumers: every pending entry has exactly one owner.
type StreamGroup struct {
	Name        []byte
	LastID      StreamID
	EntriesRead int64            // -1 is unknown
	Consumers   []StreamConsumer // names unique
}

// StreamConsumer is one consumer of a group.
type StreamConsumer struct {
	Name       []byte
	SeenTime   int64 // Unix ms
	ActiveTime int64 // Unix ms; -1 is never
	Pending    []StreamPending
}

// StreamPending is one delivered entry that waits for its XACK. The entry
// itself may be gone.
type StreamPending struct {
	ID            StreamID
	DeliveryTime  int64 // Unix ms
	DeliveryCount uint64
}
