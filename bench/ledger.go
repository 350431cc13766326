package bench

// ledger knows every job that the client has put into a queue and not seen completed, so that a job which is claimed
// twice, or was never enqueued, shows.
type ledger struct {
	rows []ledgerRow // at the number's low bits
	next int64
}

type ledgerRow struct {
	id, parent int64 // parent is the id itself for a job that is no child
	born       int64
	state      uint8
}

const (
	rowFree = iota
	rowWaiting
	rowClaimed
)

// newLedger returns a ledger for up to live jobs at a time, whose ids begin at first.
func newLedger(live int, first int64) *ledger {
	size := 1 << 12
	for size < 4*live {
		size *= 2
	}
	return &ledger{rows: make([]ledgerRow, size), next: first}
}

func (l *ledger) row(id int64) *ledgerRow { return &l.rows[id&int64(len(l.rows)-1)] }

// mint returns a new id, of a child when parent is not 0. A job that nobody claims keeps its row, and numbers that would
// fall on it are left out.
func (l *ledger) mint(born, parent int64) int64 {
	for l.row(l.next).state != rowFree {
		l.next++
	}
	id := l.next
	l.next++
	if parent == 0 {
		parent = id
	}
	*l.row(id) = ledgerRow{id, parent, born, rowWaiting}
	return id
}

// claim notes that a job was handed out and returns its row, nil when it was not to be had.
func (l *ledger) claim(id int64) *ledgerRow {
	r := l.row(id)
	if id < 0 || r.id != id || r.state != rowWaiting {
		return nil
	}
	r.state = rowClaimed
	return r
}

// release forgets a job and returns what was known of it.
func (l *ledger) release(id int64) ledgerRow {
	r := l.row(id)
	r.state = rowFree
	return *r
}
