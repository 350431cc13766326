package server

import (
	"math"

	"github.com/tidwall/btree"

	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

// pumpQueue is a queue that has something to be moved, now or at a known time.
type pumpQueue struct {
	base    string
	due     int64 // Unix ms; 0 while it is not in the order
	turn    int64 // who was put in first goes first among those of one time
	touched bool  // in the list of those to be looked at again
}

// pumpDB knows the queues of one database by the time at which each has something due. What a queue has due is
// read from its sets; transactions only say which queues to look at again.
type pumpDB struct {
	queues  map[string]*pumpQueue
	order   *btree.BTreeG[*pumpQueue]
	touched []*pumpQueue
	turns   int64

	scanning bool // the keys are being gone through for queues
	cursor   uint64
}

func newPumpDB() *pumpDB {
	return &pumpDB{queues: map[string]*pumpQueue{}, order: btree.NewBTreeGOptions(func(x, y *pumpQueue) bool {
		return x.due < y.due || x.due == y.due && x.turn < y.turn
	}, btree.Options{NoLocks: true})}
}

// rescan has every key looked at, since many changed at once.
func (d *pumpDB) rescan() {
	d.scanning, d.cursor = true, 0
	for _, q := range d.queues {
		d.touch(q)
	}
}

func (d *pumpDB) touch(q *pumpQueue) {
	if !q.touched {
		q.touched = true
		d.touched = append(d.touched, q)
	}
}

// note has the queue of a key looked at again when the key is one that tells when something is due.
func (d *pumpDB) note(key []byte) {
	base, rest, ok := fence.SplitBase(key)
	if !ok {
		return
	}
	switch string(rest) {
	case "schedule", "active", "repeat", "flow:outbox":
	default:
		return
	}
	q := d.queues[string(base)]
	if q == nil {
		q = &pumpQueue{base: string(base)}
		d.queues[q.base] = q
	}
	d.touch(q)
}

// place puts q where due says. A queue with nothing due at all is forgotten.
func (d *pumpDB) place(q *pumpQueue, due int64) {
	if q.due != 0 {
		d.order.Delete(q)
		q.due = 0
	}
	if due == never {
		if !q.touched {
			delete(d.queues, q.base)
		}
		return
	}
	d.turns++
	q.due, q.turn = max(due, 1), d.turns
	d.order.Set(q)
}

// scan goes through the next part of the keys and returns how many buckets it looked at.
func (d *pumpDB) scan(tx *store.Tx, buckets int) (n int) {
	for n < buckets && d.scanning {
		n++
		d.cursor = tx.Scan(d.cursor, func(key []byte, _ store.Kind) { d.note(key) })
		d.scanning = d.cursor != 0
	}
	return n
}

// noteEffects has the queues looked at again that a transaction touched.
func (p *pump) noteEffects(srv *Server, f *store.Effects) {
	for i := range f.Len() {
		srv.touches = f.AppendTouched(srv.touches[:0], i)
		for _, t := range srv.touches {
			if t.Key == nil {
				p.dbs[t.DB].rescan()
			} else {
				p.dbs[t.DB].note(t.Key)
			}
		}
	}
}

// never is the time at which nothing is due.
const never = math.MaxInt64

// pumpDue is what a queue has to be moved: since when each kind is due, or never.
type pumpDue struct{ schedule, active, repeat, outbox int64 }

func (d pumpDue) first() int64 { return min(d.schedule, d.active, d.repeat, d.outbox) }

// dueOf reads what the queue has due later than an instant. A key of another type has nothing.
func dueOf(tx *store.Tx, base string, later float64, buf []byte) (pumpDue, []byte) {
	at := func(kind fence.Kind) int64 {
		buf = append(buf[:0], base...)
		buf = fence.AppendKey(buf, nil, kind)
		set, err := tx.ZSet(buf)
		if err != nil {
			return never
		}
		_, score, ok := set.At(set.Below(later, true))
		if !ok || score >= never {
			return never
		}
		return int64(math.Ceil(max(score, 0)))
	}
	d := pumpDue{at(fence.Schedule), at(fence.Active), at(fence.Repeat), never}
	buf = fence.AppendKey(append(buf[:0], base...), nil, fence.Outbox)
	if box, err := tx.List(buf); err == nil && box.Len() > 0 {
		d.outbox = 0
	}
	return d, buf
}
