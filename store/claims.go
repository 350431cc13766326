package store

// maxClaims bounds the queues whose last claim is remembered; beyond, all are forgotten.
const maxClaims = 1 << 16

// NoteClaim notes that a job of the queue with this base was asked for now. It is no part of the keyspace: nothing is
// recorded, and a start forgets it.
func (tx *Tx) NoteClaim(base []byte) {
	if at := tx.db.claims[string(base)]; at != nil {
		*at = tx.now
		return
	}
	if tx.db.claims == nil || len(tx.db.claims) >= maxClaims {
		tx.db.claims = map[string]*int64{}
	}
	at := tx.now
	tx.db.claims[string(base)] = &at
}

// LastClaim returns when a job of the queue was last asked for, in Unix ms; ok is false when it was not since the start.
func (tx *Tx) LastClaim(base []byte) (at int64, ok bool) {
	if p := tx.db.claims[string(base)]; p != nil {
		return *p, true
	}
	return 0, false
}

// ForgetClaim forgets the queue.
func (tx *Tx) ForgetClaim(base []byte) { delete(tx.db.claims, string(base)) }
