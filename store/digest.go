package store

import (
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
)

// Digest is a fingerprint of what a keyspace holds: equal for equal contents, in whatever order and form they
// are stored. An empty keyspace has the zero digest.
type Digest [sha1.Size]byte

// String returns the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

func (d *Digest) add(x Digest) {
	for i := range d {
		d[i] ^= x[i]
	}
}

// Digest returns the digest of everything visible at the instant now (Unix ms) in all databases: keys, types,
// values, the order in lists and streams, scores, expiry times of keys and fields.
func (s *Store) Digest(now int64) Digest {
	var all Digest
	for i := range s.dbs {
		all.add(s.DigestDB(i, now))
	}
	return all
}

// DigestDB is Digest of database i alone. Its number is part of the digest.
func (s *Store) DigestDB(i int, now int64) Digest {
	var all Digest
	d := s.dbs[i]
	d.keys.Each(func(r ref) bool {
		e := s.load(r)
		if !s.past(&e, now) {
			all.add(s.digestEntry(i, &e, now))
		}
		return true
	})
	return all
}

// DigestKey returns the digest of one key's type and value, zero when it is absent. Neither the key's name nor its
// expiry time is part of it.
func (tx *Tx) DigestKey(key []byte) Digest {
	e := tx.find(key)
	if !e.ok() {
		return Digest{}
	}
	return tx.s.digestValue(&e, tx.now)
}

func (s *Store) digestEntry(i int, e *entry, now int64) Digest {
	value := s.digestValue(e, now)
	h := newDigester()
	h.int(int64(i))
	h.bytes(e.key())
	h.int(e.expiry())
	h.bytes(value[:])
	return h.sum()
}

// digestValue returns the digest of the entry's type and value.
func (s *Store) digestValue(e *entry, now int64) Digest {
	h := newDigester()
	h.int(int64(e.kind()))
	switch e.kind() {
	case KindString:
		h.bytes(s.text(e))
	case KindList:
		l := List{tx: &s.tx, e: *e, gen: s.tx.gen}
		l.Each(0, func(value []byte) bool {
			h.bytes(value)
			return true
		})
	case KindSet:
		x := Set{tx: &s.tx, e: *e, gen: s.tx.gen}
		h.unordered(func(add func(Digest)) {
			x.Each(func(member []byte) bool {
				m := newDigester()
				m.bytes(member)
				add(m.sum())
				return true
			})
		})
	case KindHash:
		h.unordered(func(add func(Digest)) { s.digestHash(e, now, add) })
	case KindZSet:
		h.unordered(func(add func(Digest)) { s.digestZSet(e, add) })
	case KindStream:
		s.objects[e.object()].(*streamTable).digest(h)
	default:
		panic("store: no digest of a " + e.kind().String())
	}
	return h.sum()
}

// digestHash gives add the digest of every visible field.
func (s *Store) digestHash(e *entry, now int64, add func(Digest)) {
	field := func(name, value []byte, at int64) {
		h := newDigester()
		h.bytes(name)
		h.bytes(value)
		h.int(at)
		add(h.sum())
	}
	if e.isObject() {
		s.objects[e.object()].(*hashTable).each(now, func(f hashField) bool {
			field(f.name, f.value, f.at)
			return true
		})
		return
	}
	v := e.value()
	for at := packedHead; at < len(v); {
		name, next := packedItem(v, at)
		value, end := packedItem(v, next)
		field(name, value, 0)
		at = end
	}
}

// digestZSet gives add the digest of every member. The order follows from scores and members.
func (s *Store) digestZSet(e *entry, add func(Digest)) {
	member := func(name []byte, score float64) {
		h := newDigester()
		h.bytes(name)
		h.int(int64(math.Float64bits(score + 0))) // -0 is 0
		add(h.sum())
	}
	if e.isObject() {
		t := s.objects[e.object()].(*zsetTable)
		t.d.Each(func(r ref) bool {
			member(t.scored(r))
			return true
		})
		return
	}
	v := e.value()
	for at := packedHead; at < len(v); {
		name, score, next := packedScored(v, at)
		member(name, score)
		at = next
	}
}

// digester digests a sequence of parts, each with its length, so that no two sequences are the same bytes.
type digester struct{ h hash.Hash }

func newDigester() digester { return digester{sha1.New()} }

func (d digester) int(n int64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	_, _ = d.h.Write(b[:]) // a hash.Hash never fails
}

func (d digester) bytes(b []byte) {
	d.int(int64(len(b)))
	_, _ = d.h.Write(b)
}

// unordered adds parts whose order does not count; each gives them to add.
func (d digester) unordered(each func(add func(Digest))) {
	var all Digest
	n := int64(0)
	each(func(x Digest) {
		all.add(x)
		n++
	})
	d.int(n)
	d.bytes(all[:])
}

func (d digester) sum() (out Digest) {
	d.h.Sum(out[:0])
	return out
}
