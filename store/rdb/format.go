// Package rdb reads and writes the dump format of Redis and Valkey: the
// payloads of DUMP and RESTORE, and whole dump files.
//
// The package is pure: it turns bytes into [Value]s and back, and knows no
// keyspace, clock or socket. Decoding trusts nothing. A payload may come from
// any client, so allocation is bounded by the bytes that are present (never by
// a length that they announce), every blob is walked before it is believed,
// and a set, hash or sorted set that names a member twice is refused.
//
// # Versions
//
// Values are read from every version that Redis 2.6 to 7.4 and Valkey 7.2 to
// 9.0 write: 1 to 12, and Valkey's own 80. The two families gave type bytes 22
// and 23 different meanings; the version decides which one is meant.
//
// [Dump] writes version 10, which Redis 7.0 and everything after it restores.
// One value has no form there, a hash with field deadlines, and is written as
// Valkey 9's type 22 with version 80. Version 10 also has no place for the
// active-time of a stream consumer, which then reads back as its seen-time;
// a [Writer] of [Version11] or [Version80] keeps it.
package rdb

// Versions that can be written.
const (
	// Version10 is read by Redis 7.0 and everything after it.
	Version10 = 10
	// Version11 is read by Redis 7.2 and Valkey 7.2 and 8. It adds the
	// active-time of stream consumers.
	Version11 = 11
	// Version80 is read by Valkey 9. It adds deadlines of hash fields.
	Version80 = 80
)

const (
	maxRedisVersion  = 12 // Redis 7.4
	minValkeyVersion = 80 // below it, type bytes have Redis's meaning
	maxValkeyVersion = Version80
)

// readable reports whether values of this version can be decoded.
func readable(version int) bool {
	return version >= 1 && version <= maxRedisVersion ||
		version >= minValkeyVersion && version <= maxValkeyVersion
}

// writable reports whether values can be encoded for this version.
func writable(version int) bool {
	return version == Version10 || version == Version11 || version == Version80
}

// Type bytes of values.
const (
	typeString           = 0
	typeList             = 1
	typeSet              = 2
	typeZSet             = 3 // scores as ASCII
	typeHash             = 4
	typeZSet2            = 5 // scores as binary doubles
	typeModulePreGA      = 6
	typeModule2          = 7
	typeHashZipmap       = 9
	typeListZiplist      = 10
	typeSetIntset        = 11
	typeZSetZiplist      = 12
	typeHashZiplist      = 13
	typeListQuicklist    = 14
	typeStream1          = 15
	typeHashListpack     = 16
	typeZSetListpack     = 17
	typeListQuicklist2   = 18
	typeStream2          = 19
	typeSetListpack      = 20
	typeStream3          = 21
	typeHash2            = 22 // Valkey: field deadlines, absolute
	typeHashMetaPreGA    = 22 // Redis 7.4 candidates: field deadlines, absolute
	typeHashListpackExRC = 23 // Redis 7.4 candidates
	typeHashMeta         = 24 // Redis 7.4: field deadlines, relative to the least
	typeHashListpackEx   = 25 // Redis 7.4
)

// Opcodes of files.
const (
	opSlotImport    = 243 // Valkey 9
	opSlotInfo      = 244
	opFunction2     = 245
	opFunctionPreGA = 246
	opModuleAux     = 247
	opIdle          = 248
	opFreq          = 249
	opAux           = 250
	opResizeDB      = 251
	opExpireTimeMs  = 252
	opExpireTime    = 253
	opSelectDB      = 254
	opEOF           = 255
)

// First bytes of a length, and the kinds of specially encoded strings.
const (
	len32 = 0x80
	len64 = 0x81

	encInt8  = 0
	encInt16 = 1
	encInt32 = 2
	encLZF   = 3
)

// Containers of quicklist nodes.
const (
	nodePlain  = 1
	nodePacked = 2
)

// Flags of entries in stream nodes.
const (
	streamDeleted    = 1
	streamSameFields = 2
)
