package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

// The fields of a job's row and of a queue's hashes. Never changed.
var (
	fieldState        = []byte("state")
	fieldAttempts     = []byte("attempts")
	fieldPayload      = []byte("payload")
	fieldError        = []byte("last_error")
	fieldStalled      = []byte("stalled")
	fieldGroup        = []byte("group")
	fieldParent       = []byte("parent")
	fieldParentQueue  = []byte("parent_queue")
	fieldParentPolicy = []byte("parent_policy")
	fieldEpoch        = []byte("lease_epoch")
	fieldFailures     = []byte("failures")

	fieldPaused = []byte("paused")
	fieldCount  = []byte("count")
)

// The states of a row. Never changed.
var (
	statePending   = []byte("pending")
	stateActive    = []byte("active")
	stateScheduled = []byte("scheduled")
	stateDead      = []byte("dead")
	stateAwaiting  = []byte("awaiting_children")
)

// Texts of counters. Never changed.
var (
	textZero = []byte("0")
	textOne  = []byte("1")
)

// jobRow is a handle on the row of one job. What its fields hold may be damaged: a reader takes an absent counter
// for 0 and refuses one that is no integer.
type jobRow struct{ store.Hash }

// row opens a row by its key.
func (v *verb) row(key []byte) (jobRow, error) {
	h, err := v.c.Tx.Hash(key)
	return jobRow{h}, err
}

// rowOf opens the row of an id that a set or a caller names and reports whether it is there. An id that can name no
// row has none.
func (v *verb) rowOf(id []byte) (r jobRow, there bool, err error) {
	if !fence.ValidID(id) {
		return jobRow{}, false, nil
	}
	r, err = v.row(v.named(fence.Row, id))
	return r, err == nil && r.Exists(), err
}

// has reports whether the row has the field.
func (r *jobRow) has(field []byte) bool {
	_, ok := r.Get(field)
	return ok
}

// holds reports whether token is the row's fencing token, compared as the stored string.
func (r *jobRow) holds(token []byte) bool {
	attempts, ok := r.Get(fieldAttempts)
	return ok && string(attempts) == string(token)
}

// lane reports whether the job belongs to a lane.
func (r *jobRow) lane() bool { return r.has(fieldGroup) }

// belongs refuses a row that stands among the jobs of a group, or of none when group is nil, and says otherwise.
func (r *jobRow) belongs(group []byte) error {
	held, ok := r.Get(fieldGroup)
	switch {
	case ok && (group == nil || string(held) != string(group)):
		return fence.LaneJob
	case !ok && group != nil:
		return fence.LaneNone
	}
	return nil
}

// group returns the lane that the row names, copied into the scratch. ok is false when it names none, or one that no lane can
// have.
func (v *verb) group(r *jobRow) (group []byte, ok bool) {
	group, ok = r.Get(fieldGroup)
	if !ok || !fence.ValidGroup(group) {
		return nil, false
	}
	return v.keep(group), true
}

// flow reports whether the job has a parent, or children that it waits for.
func (r *jobRow) flow() bool {
	return r.has(fieldParent) || r.awaiting()
}

// failed returns the count of failures with one more. While the field is absent there were none, if the leases were
// given here, which lease_epoch tells; a row that a script wrote counts from attempts - 1.
func (r *jobRow) failed() (int64, error) {
	held, ok, err := hashInt(&r.Hash, fieldFailures)
	if err == nil && !ok && !r.has(fieldEpoch) {
		held, _, err = hashInt(&r.Hash, fieldAttempts)
		held = max(held, 1) - 1
	}
	if err != nil {
		return 0, err
	}
	return plus(held, 1)
}

// earlier reports whether the lease was given by an earlier run of the node. A lease without an epoch, or with one
// that is no number, was not.
func (r *jobRow) earlier(epoch int64) bool {
	held, ok, err := hashInt(&r.Hash, fieldEpoch)
	return ok && err == nil && held < epoch
}

// setState writes the state.
func (r *jobRow) setState(state []byte) { r.Set(fieldState, state) }

// deleteRow deletes the row at key, its sub-keys, and the idempotency key that it names.
func (v *verb) deleteRow(row *jobRow, key, id []byte) {
	v.releaseDedup(row, id)
	row.Drop()
	if !v.c.Tx.HasParts(key) {
		return // as nearly always: six look-ups that find nothing are a fifth of a completion
	}
	for _, kind := range rowSubs {
		mark := len(v.c.emq.buf)
		v.c.Tx.Delete(v.named(kind, id))
		v.c.emq.buf = v.c.emq.buf[:mark]
	}
}

var rowSubs = fence.RowSubs()

// stalls returns the count of stalls with one more.
func (r *jobRow) stalls() (int64, error) {
	held, _, err := hashInt(&r.Hash, fieldStalled)
	if err != nil {
		return 0, err
	}
	return plus(held, 1)
}

// stall counts a stall that stalls has allowed.
func (r *jobRow) stall() {
	n, err := r.stalls()
	if err != nil {
		panic("commands: a count of stalls changed between the decision and the write")
	}
	setHashInt(&r.Hash, fieldStalled, n)
}
