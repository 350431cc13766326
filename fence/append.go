package fence

// AppendBase appends the base of queue to dst. The queue must pass ValidQueue.
func AppendBase(dst, queue []byte) []byte {
	dst = append(dst, baseOpen...)
	dst = append(dst, queue...)
	return append(dst, baseClose...)
}

// AppendKey appends to dst the key of a kind without a name: AppendKey(dst, base,
// Meta). For a named kind it appends the key's fixed beginning, a prefix to scan by.
func AppendKey(dst, base []byte, kind Kind) []byte {
	dst = append(dst, base...)
	return append(dst, kind.spelling().prefix...)
}

// AppendNamed appends to dst the key of a kind that carries one name: a row or a
// sub-key of one (its id), a Lane, Dedup, RepeatRecord or Stream. The name must be
// valid for the kind, or the key will not parse back. For Failures see
// AppendFailures; a kind without a name ignores it.
func AppendNamed(dst, base []byte, kind Kind, name []byte) []byte {
	s := kind.spelling()
	dst = append(dst, base...)
	dst = append(dst, s.prefix...)
	if s.slot != "" {
		dst = append(dst, name...)
	}
	return append(dst, s.suffix...)
}

// AppendRow appends the row key of id to dst.
func AppendRow(dst, base, id []byte) []byte { return AppendNamed(dst, base, Row, id) }

// AppendRowSub appends to dst the sub-key of id's row that sub, one of RowSubs, says.
func AppendRowSub(dst, base, id []byte, sub Kind) []byte { return AppendNamed(dst, base, sub, id) }

// AppendLane appends the lane key of group to dst.
func AppendLane(dst, base, group []byte) []byte { return AppendNamed(dst, base, Lane, group) }

// AppendFailures appends to dst the key of the failure counters that a consumer
// group keeps on a stream.
func AppendFailures(dst, base, stream, group []byte) []byte {
	dst = AppendNamed(dst, base, Stream, stream)
	dst = append(dst, failuresInfix...)
	return append(dst, group...)
}

// IsRow reports whether key is the row key of id under base, and id can name a row.
func IsRow(key, base, id []byte) bool {
	return isNamed(key, base, Row, id) && ValidID(id)
}

// isNamed reports whether key is what AppendNamed would write.
func isNamed(key, base []byte, kind Kind, name []byte) bool {
	s := kind.spelling()
	if len(key) != len(base)+len(s.prefix)+len(name)+len(s.suffix) {
		return false
	}
	head, key := key[:len(base)], key[len(base):]
	prefix, key := key[:len(s.prefix)], key[len(s.prefix):]
	middle, suffix := key[:len(name)], key[len(name):]
	return string(middle) == string(name) && string(head) == string(base) &&
		string(prefix) == s.prefix && string(suffix) == s.suffix
}
