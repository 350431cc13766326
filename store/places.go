package store

import "bytes"

// maxPlaces bounds the searches whose place is remembered; beyond, all are forgotten.
const maxPlaces = 1 << 12

// place is where a search through a sorted set is to go on.
type place struct {
	score  float64
	member []byte
}

// NotePlace notes that the search of that name, which goes through a sorted set step by step, goes on at this score and
// member. It is no part of the keyspace: nothing is recorded, and a start forgets it.
func (tx *Tx) NotePlace(search []byte, score float64, member []byte) {
	if tx.db.places == nil || len(tx.db.places) >= maxPlaces {
		tx.db.places = map[string]place{}
	}
	tx.db.places[string(search)] = place{score, bytes.Clone(member)}
}

// ForgetPlace lets the search begin anew.
func (tx *Tx) ForgetPlace(search []byte) { delete(tx.db.places, string(search)) }

// Place returns the rank in z at which the search goes on: that of the member noted, or of the next one when it is
// gone. It is 0 for a search that begins.
func (tx *Tx) Place(search []byte, z *ZSet) int {
	p, ok := tx.db.places[string(search)]
	if !ok {
		return 0
	}
	return z.rank(&limit{mode: atItem, score: p.score, member: p.member})
}
