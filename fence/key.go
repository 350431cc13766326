package fence

import "bytes"

const (
	baseOpen  = "emq:{"
	baseClose = "}:"

	failuresInfix = ":failures:"
	failuresTail  = ":failures"
)

// Key is a queue key taken apart. Its slices alias the key that was parsed.
type Key struct {
	Kind Kind

	// Base is the key up to and including "}:".
	Base []byte

	// Name is the id of a row or of a row's sub-key, the group of a lane, the
	// dedup id, the name of a repeat record or of a stream; nil for other kinds.
	Name []byte

	// Group is the consumer group of a Failures key; nil for other kinds.
	Group []byte
}

// Queue is the queue name inside k.Base.
func (k Key) Queue() []byte { return Queue(k.Base) }

// ValidQueue reports whether queue can name a queue: one byte or more, without
// '{', '}' and NUL, so that a base has one hash tag and one reading.
func ValidQueue(queue []byte) bool {
	if len(queue) == 0 {
		return false
	}
	for _, c := range queue {
		if c == '{' || c == '}' || c == 0 {
			return false
		}
	}
	return true
}

// ValidID reports whether id can name a row: one byte or more, and not ending in
// ':' and the name of a row's sub-key. "JOBx:logs" would have the log list of
// "JOBx" for its row, so it is no id; ':' elsewhere is allowed.
// It is wider than a branded id on purpose: the job verbs ask only IsJob.
func ValidID(id []byte) bool {
	if len(id) == 0 || bytes.IndexByte(id, ':') < 0 { // nearly all ids have no colon
		return len(id) > 0
	}
	_, kind := cutRowSub(id)
	return kind == Row
}

// ValidGroup reports whether group can name a lane: one byte or more, without NUL.
func ValidGroup(group []byte) bool {
	return len(group) > 0 && bytes.IndexByte(group, 0) < 0
}

// ValidStream reports whether name can name a stream: one byte or more, without
// ":failures:" inside and ":failures" at the end, either of which would give one
// key two readings.
func ValidStream(name []byte) bool {
	return len(name) > 0 && indexFailures(name) < 0 && !hasTail(name, failuresTail)
}

// SplitBase splits a key of any queue into its base, "emq:{q}:", and what follows
// it, which may be empty. It does not judge the rest: Parse does.
func SplitBase(key []byte) (base, rest []byte, ok bool) {
	if len(key) < len(baseOpen) || string(key[:len(baseOpen)]) != baseOpen {
		return nil, nil, false
	}
	n := bytes.IndexByte(key[len(baseOpen):], '}')
	if n < 0 || !ValidQueue(key[len(baseOpen):len(baseOpen)+n]) {
		return nil, nil, false
	}
	end := len(baseOpen) + n + len(baseClose)
	if end > len(key) || key[end-1] != ':' {
		return nil, nil, false
	}
	return key[:end:end], key[end:], true
}

// Queue is the queue name inside base, which must be a base as SplitBase returns it.
func Queue(base []byte) []byte {
	return base[len(baseOpen) : len(base)-len(baseClose)]
}

// Parse takes a key of a queue apart, or replies false when the key spells none of
// the kinds. Every key has at most one reading, and the Append function of its
// kind writes the same bytes again.
func Parse(key []byte) (Key, bool) {
	base, rest, ok := SplitBase(key)
	if !ok {
		return Key{}, false
	}
	return parseRest(base, rest)
}

// parseRest is Parse once the base is known.
func parseRest(base, rest []byte) (Key, bool) {
	if kind := fixedKind(rest); kind != Unknown {
		return Key{Kind: kind, Base: base}, true
	}
	n := bytes.IndexByte(rest, ':') + 1
	head, tail := rest[:n], rest[n:]
	k := Key{Base: base, Name: tail}
	ok := false
	switch string(head) {
	case "job:":
		k.Name, k.Kind = cutRowSub(tail)
		ok = ValidID(k.Name)
	case "g:":
		if hasTail(tail, spellings[Lane].suffix) {
			k.Kind, k.Name = Lane, tail[:len(tail)-len(spellings[Lane].suffix)]
			ok = ValidGroup(k.Name)
		}
	case "de:":
		// The empty dedup id is spelled too: a verb that takes a dedup key takes
		// it by position, also for a job that has none.
		k.Kind, ok = Dedup, true
	case "repeat:":
		k.Kind, ok = RepeatRecord, len(tail) > 0
	case "stream:":
		k.Kind = Stream
		if i := indexFailures(tail); i >= 0 {
			k.Kind, k.Name, k.Group = Failures, tail[:i], tail[i+len(failuresInfix):]
		}
		ok = ValidStream(k.Name) && (k.Kind == Stream || len(k.Group) > 0)
	}
	if !ok {
		return Key{}, false
	}
	return k, true
}

// fixedKind is the kind of a key without a name, Unknown for any other.
func fixedKind(rest []byte) Kind {
	switch string(rest) {
	case "":
		return Base
	case "pending":
		return Pending
	case "active":
		return Active
	case "schedule":
		return Schedule
	case "dead":
		return Dead
	case "meta":
		return Meta
	case "metrics:completed":
		return MetricsCompleted
	case "metrics:failed":
		return MetricsFailed
	case "ring":
		return Ring
	case "wake":
		return Wake
	case "paused":
		return Paused
	case "glimit":
		return GroupLimit
	case "gactive":
		return GroupActive
	case "gweight":
		return GroupWeight
	case "limiter":
		return Limiter
	case "repeat":
		return Repeat
	case "flow:outbox":
		return Outbox
	case "events":
		return Events
	}
	return Unknown
}

// cutRowSub cuts the sub-key's name off what follows "job:"; without one the whole
// is the id and the kind Row.
func cutRowSub(name []byte) (id []byte, kind Kind) {
	n := bytes.LastIndexByte(name, ':')
	if n < 0 {
		return name, Row
	}
	switch string(name[n:]) {
	case ":logs":
		kind = RowLogs
	case ":lock":
		kind = RowLock
	case ":dependencies":
		kind = RowDependencies
	case ":processed":
		kind = RowProcessed
	case ":failed":
		kind = RowFailed
	case ":unsuccessful":
		kind = RowUnsuccessful
	default:
		return name, Row
	}
	return name[:n], kind
}

// OwnerOf returns how many of the first bytes of key are the row key of which it
// is a sub-key, by the end of its name alone; 0 when it is none. It tells of every
// sub-key, and of some keys that only end like one.
func OwnerOf(key []byte) int {
	// A look at four bytes tells most keys apart: where the colon of each sub-key's name is.
	if n := len(key); n < 13 || key[n-5] != ':' && key[n-7] != ':' && key[n-10] != ':' && key[n-13] != ':' {
		return 0
	}
	id, kind := cutRowSub(key)
	if kind == Row {
		return 0
	}
	return len(id)
}

// indexFailures is where ":failures:" begins in name, -1 if nowhere.
func indexFailures(name []byte) int {
	for from := 0; ; {
		i := bytes.IndexByte(name[from:], ':')
		if i < 0 || len(name)-from-i < len(failuresInfix) {
			return -1
		}
		from += i
		if string(name[from:from+len(failuresInfix)]) == failuresInfix {
			return from
		}
		from++
	}
}

func hasTail(b []byte, tail string) bool {
	return len(b) >= len(tail) && string(b[len(b)-len(tail):]) == tail
}
