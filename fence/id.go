package fence

import "math"

const (
	// SnowflakeEpoch is 2024-01-01T00:00:00Z in Unix ms, where the time of a
	// snowflake starts.
	SnowflakeEpoch int64 = 1704067200000

	// IDLen is the length of a branded id: a namespace and eleven digits.
	IDLen = NamespaceLen + idDigits

	// NamespaceLen is the length of a branded id's namespace.
	NamespaceLen = 3

	// JobNamespace begins the id of every job.
	JobNamespace = "JOB"

	// EventNamespace begins the id of every stream record.
	EventNamespace = "EVT"

	idDigits = 11
	digits   = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

	timeBits = 41
	nodeBits = 10
	seqBits  = 12
)

// Snowflake is the number inside a branded id, never negative:
// ts(41) << 22 | node(10) << 12 | seq(12).
type Snowflake int64

// SnowflakeAt is the number of the Unix ms at with the low 22 bits of low for node and sequence. A time that no
// snowflake can have counts as the nearest that one can.
func SnowflakeAt(at, low int64) Snowflake {
	ms := min(max(at-SnowflakeEpoch, 0), 1<<timeBits-1)
	return Snowflake(ms<<(nodeBits+seqBits) | low&(1<<(nodeBits+seqBits)-1))
}

// UnixMilli is when the id was minted, in Unix ms.
func (s Snowflake) UnixMilli() int64 { return int64(s)>>(nodeBits+seqBits) + SnowflakeEpoch }

// Node is the number of the node that minted the id.
func (s Snowflake) Node() int { return int(s>>seqBits) & (1<<nodeBits - 1) }

// Seq is the place of the id among those of one node and millisecond.
func (s Snowflake) Seq() int { return int(s) & (1<<seqBits - 1) }

// Low22 is node and sequence in one: the second half of a record's stream id,
// whose first half is UnixMilli.
func (s Snowflake) Low22() int64 { return int64(s) & (1<<(nodeBits+seqBits) - 1) }

// IsJob reports whether id begins with JobNamespace. It asks no more: the job verbs
// leave the rest of the id to the client.
func IsJob(id []byte) bool {
	return len(id) >= NamespaceLen && string(id[:NamespaceLen]) == JobNamespace
}

// ParseID reads a branded id. The namespace aliases id. It replies false for
// another length, a namespace that is not three upper-case letters, a byte that is
// no base62 digit, and a number above 2^63-1.
func ParseID(id []byte) (namespace []byte, s Snowflake, ok bool) {
	if len(id) != IDLen || !validNamespace(id[:NamespaceLen]) {
		return nil, 0, false
	}
	var n uint64
	for _, c := range id[NamespaceLen:] {
		d, ok := digit(c)
		if !ok || n > (math.MaxInt64-d)/uint64(len(digits)) {
			return nil, 0, false
		}
		n = n*uint64(len(digits)) + d
	}
	return id[:NamespaceLen:NamespaceLen], Snowflake(n), true
}

// ParseEvent reads the branded id of a stream record, whose namespace must be
// EventNamespace.
func ParseEvent(id []byte) (Snowflake, bool) {
	namespace, s, ok := ParseID(id)
	if !ok || string(namespace) != EventNamespace {
		return 0, false
	}
	return s, true
}

// AppendID appends the branded id of s to dst. The namespace must be three
// upper-case letters and s not negative, or the id will not parse back.
func AppendID(dst []byte, namespace string, s Snowflake) []byte {
	dst = append(dst, namespace...)
	var text [idDigits]byte
	n := uint64(s)
	for i := len(text) - 1; i >= 0; i-- {
		text[i] = digits[n%uint64(len(digits))]
		n /= uint64(len(digits))
	}
	return append(dst, text[:]...)
}

// FormatID is AppendID as a string of its own.
func FormatID(namespace string, s Snowflake) string {
	return string(AppendID(make([]byte, 0, IDLen), namespace, s))
}

func validNamespace(namespace []byte) bool {
	for _, c := range namespace {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return len(namespace) == NamespaceLen
}

func digit(c byte) (uint64, bool) {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0'), true
	case c >= 'A' && c <= 'Z':
		return uint64(c-'A') + 10, true
	case c >= 'a' && c <= 'z':
		return uint64(c-'a') + 36, true
	}
	return 0, false
}
