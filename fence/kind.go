package fence

import "iter"

// Kind says which of a queue's keys a key is.
type Kind uint8

// The kinds of key under one base. Unknown is the zero Kind and no key's.
const (
	Unknown Kind = iota
	Base
	Pending
	Active
	Schedule
	Dead
	Row
	RowLogs
	RowLock
	RowDependencies
	RowProcessed
	RowFailed
	RowUnsuccessful
	Meta
	MetricsCompleted
	MetricsFailed
	Lane
	Ring
	Wake
	Paused
	GroupLimit
	GroupActive
	GroupWeight
	Dedup
	Limiter
	Repeat
	RepeatRecord
	Outbox
	Stream
	Failures
	Events

	kindCount
)

// spelling is how the keys of one kind are written after the base:
// prefix, then a name when slot is not empty, then suffix.
type spelling struct {
	prefix, slot, suffix string
	noun                 string
	given                string // what the name in the slot belongs to
}

// spellings is indexed by Kind and never changed. Failures is the one kind whose
// slot holds two names.
var spellings = [kindCount]spelling{
	Unknown:          {noun: "no key of a queue"},
	Base:             {noun: "the base"},
	Pending:          {prefix: "pending", noun: "the pending set"},
	Active:           {prefix: "active", noun: "the active set"},
	Schedule:         {prefix: "schedule", noun: "the schedule set"},
	Dead:             {prefix: "dead", noun: "the dead set"},
	Row:              {prefix: "job:", slot: "<id>", noun: "the job row", given: "id"},
	RowLogs:          {prefix: "job:", slot: "<id>", suffix: ":logs", noun: "the job's log list", given: "id"},
	RowLock:          {prefix: "job:", slot: "<id>", suffix: ":lock", noun: "the job's lock", given: "id"},
	RowDependencies:  {prefix: "job:", slot: "<id>", suffix: ":dependencies", noun: "the job's count of open children", given: "id"},
	RowProcessed:     {prefix: "job:", slot: "<id>", suffix: ":processed", noun: "the job's hash of child results", given: "id"},
	RowFailed:        {prefix: "job:", slot: "<id>", suffix: ":failed", noun: "the job's hash of fatal child errors", given: "id"},
	RowUnsuccessful:  {prefix: "job:", slot: "<id>", suffix: ":unsuccessful", noun: "the job's hash of ignored child errors", given: "id"},
	Meta:             {prefix: "meta", noun: "the meta hash"},
	MetricsCompleted: {prefix: "metrics:completed", noun: "the hash counting completed jobs"},
	MetricsFailed:    {prefix: "metrics:failed", noun: "the hash counting failed jobs"},
	Lane:             {prefix: "g:", slot: "<group>", suffix: ":pending", noun: "the lane", given: "group"},
	Ring:             {prefix: "ring", noun: "the ring of lanes"},
	Wake:             {prefix: "wake", noun: "the wake list"},
	Paused:           {prefix: "paused", noun: "the set of paused groups"},
	GroupLimit:       {prefix: "glimit", noun: "the hash of group limits"},
	GroupActive:      {prefix: "gactive", noun: "the hash of active counts by group"},
	GroupWeight:      {prefix: "gweight", noun: "the hash of group weights"},
	Dedup:            {prefix: "de:", slot: "<dedup>", noun: "the dedup key", given: "dedup id"},
	Limiter:          {prefix: "limiter", noun: "the rate-limit counter"},
	Repeat:           {prefix: "repeat", noun: "the repeat registry"},
	RepeatRecord:     {prefix: "repeat:", slot: "<name>", noun: "the repeat record", given: "name"},
	Outbox:           {prefix: "flow:outbox", noun: "the flow outbox"},
	Stream:           {prefix: "stream:", slot: "<name>", noun: "the stream", given: "name"},
	Failures:         {prefix: "stream:", slot: "<name>" + failuresInfix + "<group>", noun: "the failure counters of a stream's group", given: "stream and group"},
	Events:           {prefix: "events", noun: "the events channel"},
}

// Kinds yields every kind but Unknown, in declaration order.
func Kinds() iter.Seq[Kind] {
	return func(yield func(Kind) bool) {
		for k := Base; k < kindCount; k++ {
			if !yield(k) {
				return
			}
		}
	}
}

// RowSubs are the kinds of a row's sub-keys: what goes when the row goes.
func RowSubs() [6]Kind {
	return [6]Kind{RowLogs, RowLock, RowDependencies, RowProcessed, RowFailed, RowUnsuccessful}
}

// Noun names the kind in a sentence, article included: "the pending set".
func (k Kind) Noun() string { return k.spelling().noun }

// Pattern is the kind's key with its open parts in angle brackets and the queue as
// q: "emq:{q}:job:<id>". It is empty for Unknown.
func (k Kind) Pattern() string {
	if k == Unknown || k >= kindCount {
		return ""
	}
	s := k.spelling()
	return "emq:{q}:" + s.prefix + s.slot + s.suffix
}

// String is the noun and the pattern: "the pending set emq:{q}:pending".
func (k Kind) String() string {
	if k == Unknown || k >= kindCount {
		return k.Noun()
	}
	return k.Noun() + " " + k.Pattern()
}

// Named reports whether keys of this kind carry a name (an id, a group, ...)
// besides the queue's.
func (k Kind) Named() bool { return k.spelling().slot != "" }

// OfRow reports whether k is a row or a sub-key of one, so that its name is a job id.
func (k Kind) OfRow() bool { return k >= Row && k <= RowUnsuccessful }

func (k Kind) spelling() *spelling {
	if k >= kindCount {
		k = Unknown
	}
	return &spellings[k]
}
