package store

import (
	"errors"
	"slices"

	"github.com/echomq/emqd/store/rdb"
)

// Dump returns key's value as the payload of DUMP, or nil when key is absent. The caller owns it.
func (tx *Tx) Dump(key []byte) []byte {
	e := tx.find(key)
	if !e.ok() {
		return nil
	}
	v := tx.read(&e)
	if tx.s.dumper == nil {
		tx.s.dumper = &rdb.Encoder{}
	}
	payload, err := tx.s.dumper.Dump(nil, &v)
	if err != nil {
		// No key holds an empty collection or a score that is not a number.
		panic("store: cannot dump a " + e.kind().String() + ": " + err.Error())
	}
	return payload
}

// Restore makes key hold the value of payload, whatever it held before, with the expiry time at (Unix ms, 0 for
// none) and an access time idle seconds ago, and reports whether the key is there now: a time that has come
// removes it. Nothing changes on an error, rdb.ErrBadPayload or rdb.ErrBadData. The payload is copied.
func (tx *Tx) Restore(key, payload []byte, at, idle int64) (there bool, err error) {
	var v rdb.Value
	if err := rdb.Restore(payload, &v); errors.Is(err, rdb.ErrBadData) {
		return false, rdb.ErrBadData
	} else if err != nil {
		return false, err
	}
	v.Fields = slices.DeleteFunc(v.Fields, func(f rdb.Field) bool { return f.ExpireAt != 0 && f.ExpireAt <= tx.now })
	if at != 0 && at <= tx.now || v.Kind == rdb.KindHash && len(v.Fields) == 0 {
		tx.Delete(key)
		return false, nil
	}
	tx.bury(key)
	tx.record("RESTORE", key, tx.itoa(at), payload, replaceWord, absTTLWord)
	tx.discardAt(tx.db, key)
	tx.gen++
	tx.build(key, &v)
	e := tx.s.load(tx.db.keys.Find(key))
	tx.db.setExpiry(tx.s, &e, at)
	e.setClock(uint32(max(int64(tx.clock)-idle, 0)))
	tx.gen++
	tx.Notify('n', "new", key)
	return true, nil
}

// Mirror records what makes key what it is, whatever it is elsewhere, and changes nothing: the transaction is not to be settled.
func (tx *Tx) Mirror(key []byte) {
	dirty := tx.s.dirty
	if payload := tx.Dump(key); payload == nil {
		tx.record("DEL", key)
	} else {
		at, _ := tx.Expiry(key)
		tx.record("RESTORE", key, tx.itoa(at), payload, replaceWord, absTTLWord)
	}
	tx.s.dirty = dirty
}

// Load makes key hold a copy of the value with the expiry time at (Unix ms, 0 for none), which may have come, and reports
// whether it was absent before: else it stays as it is. It is for reading a whole keyspace: nothing is recorded or announced.
func (tx *Tx) Load(key []byte, v *rdb.Value, at int64) bool {
	if tx.db.keys.Find(key) != 0 {
		return false
	}
	tx.build(key, v)
	if at != 0 {
		e := tx.s.load(tx.db.keys.Find(key))
		tx.db.setExpiry(tx.s, &e, at)
		tx.gen++
	}
	return true
}

// Read returns key's value as plain data, which is valid until the transaction ends or the key is written, and its
// expiry time (Unix ms, 0 for none); ok is false when key is absent. It renews no access time.
func (tx *Tx) Read(key []byte) (v rdb.Value, at int64, ok bool) {
	e := tx.peek(key)
	if !e.ok() {
		return v, 0, false
	}
	return tx.read(&e), e.expiry(), true
}

// read returns the value at e as plain data, which aliases the store.
func (tx *Tx) read(e *entry) rdb.Value {
	switch e.kind() {
	case KindString:
		return rdb.Value{Kind: rdb.KindString, Str: tx.s.text(e)}
	case KindList:
		return tx.readList(List{tx: tx, key: e.key(), e: *e, gen: tx.gen})
	case KindSet:
		return tx.readSet(Set{tx: tx, key: e.key(), e: *e, gen: tx.gen})
	case KindZSet:
		return tx.readZSet(ZSet{tx: tx, key: e.key(), e: *e, gen: tx.gen})
	case KindHash:
		return tx.readHash(Hash{tx: tx, key: e.key(), e: *e, gen: tx.gen})
	case KindStream:
		return tx.readStream(tx.s.objects[e.object()].(*streamTable))
	}
	panic("store: no plain form of a " + e.kind().String())
}

func (tx *Tx) readList(l List) rdb.Value {
	v := rdb.Value{Kind: rdb.KindList, Items: make([][]byte, 0, l.Len())}
	l.Each(0, func(item []byte) bool {
		v.Items = append(v.Items, item)
		return true
	})
	return v
}

func (tx *Tx) readSet(s Set) rdb.Value {
	v := rdb.Value{Kind: rdb.KindSet, Items: make([][]byte, 0, s.Len())}
	ints := s.isInts()
	s.Each(func(member []byte) bool {
		if ints { // spelt in a buffer that the next one reuses
			member = append([]byte(nil), member...)
		}
		v.Items = append(v.Items, member)
		return true
	})
	return v
}

func (tx *Tx) readZSet(z ZSet) rdb.Value {
	v := rdb.Value{Kind: rdb.KindZSet, Scored: make([]rdb.Scored, 0, z.Len())}
	z.Range(0, z.Len(), false, func(member []byte, score float64) bool {
		v.Scored = append(v.Scored, rdb.Scored{Member: member, Score: score})
		return true
	})
	return v
}

func (tx *Tx) readHash(h Hash) rdb.Value {
	v := rdb.Value{Kind: rdb.KindHash, Fields: make([]rdb.Field, 0, h.Len())}
	h.EachTimed(func(field, value []byte, at int64) bool {
		v.Fields = append(v.Fields, rdb.Field{Name: field, Value: value, ExpireAt: at})
		return true
	})
	return v
}
