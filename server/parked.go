package server

import (
	"cmp"
	"slices"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store"
)

// waiter is a client that waits for one of its keys to be touched.
type waiter struct {
	s     *session
	seq   uint64
	row   *commands.Row
	args  [][]byte // our own copy
	db    int
	keys  []string
	bytes int64 // of args and keys
	until int64 // Unix ms, 0 for ever
	held  bool  // waits for the end of a pause
}

// touch is a key that a transaction touched while clients waited for it.
type touch struct {
	db  int
	key string
}

// park makes s wait for keys with the command it just tried.
func (srv *Server) park(s *session, row *commands.Row, args [][]byte, until int64, keys [][]byte) {
	srv.parkSeq++
	w := &waiter{s: s, seq: srv.parkSeq, row: row, args: cloneArgs(args), bytes: argsBytes(args), db: s.db, until: until}
	for _, key := range keys {
		if k := string(key); !slices.Contains(w.keys, k) {
			w.keys = append(w.keys, k)
			w.bytes += int64(len(k)) + watchedBytes
			srv.parked[w.db][k] = append(srv.parked[w.db][k], w)
		}
	}
	if until > 0 {
		srv.deadlines.Set(w)
		srv.overdue = min(srv.overdue, w.overdueAt())
	}
	s.waiting = w
	srv.stats.blocked++
}

// unpark takes w off every list, when it is still there. The session may run commands again.
func (srv *Server) unpark(w *waiter) {
	if w.s.waiting != w {
		return
	}
	w.s.waiting = nil
	srv.stats.blocked--
	if w.held { // unpause passes over it
		return
	}
	byKey := srv.parked[w.db]
	for _, k := range w.keys {
		list := byKey[k]
		if i := slices.Index(list, w); i >= 0 {
			list = slices.Delete(list, i, i+1)
		}
		if len(list) == 0 {
			delete(byKey, k)
		} else {
			byKey[k] = list
		}
	}
	if w.until > 0 {
		srv.deadlines.Delete(w)
	}
}

// release lets a session go on that was served, timed out or unblocked.
func (srv *Server) release(w *waiter) {
	srv.unpark(w)
	w.s.active = srv.now
	if len(w.s.in) > 0 {
		w.s.conn.resume(w.s)
	}
}

// touched handles one effect of a transaction: its keys dirty WATCHes, invalidate tracked keys and ready
// parked clients.
func (srv *Server) touched(f *store.Effects, i int) {
	srv.touches = f.AppendTouched(srv.touches[:0], i)
	serves, changes := f.Serves(i), f.Changes(i)
	for _, t := range srv.touches {
		if t.Key == nil {
			srv.touchedAll(t.DB, i < srv.tracked.told)
			continue
		}
		if changes {
			srv.changed(t.DB, t.Key, i < srv.tracked.told)
		}
		if _, ok := srv.parked[t.DB][string(t.Key)]; ok && serves {
			srv.touchedBy = append(srv.touchedBy, touch{t.DB, string(t.Key)})
		}
	}
}

// changed dirties the WATCHes of a key and invalidates it for those that track it, unless they are told already.
func (srv *Server) changed(db int, key []byte, told bool) {
	if !told {
		srv.tracked.noteChange(key, srv.author)
	}
	if _, ok := srv.watched[db][string(key)]; ok {
		srv.dirtyWatch(db, string(key))
	}
}

// tellSoFar sends the invalidations of what the open transaction of s has changed so far: what s reads from now on is newer.
func (srv *Server) tellSoFar(s *session) {
	f, t := srv.call.Tx.Effects(), &srv.tracked
	if t.told == f.Len() {
		return
	}
	for ; t.told < f.Len(); t.told++ {
		srv.touches = f.AppendTouched(srv.touches[:0], t.told)
		for _, k := range srv.touches {
			if k.Key == nil {
				t.noteFlush(s)
			} else if f.Changes(t.told) {
				t.noteChange(k.Key, s)
			}
		}
	}
	if t.all {
		srv.invalidateAll()
	}
	for _, key := range t.stale {
		srv.invalidate(key, s)
	}
	t.early, t.stale, t.all = append(t.early, t.stale...), t.stale[:0], false
}

// signalled handles what a transaction wrote to without a change. The flush of a database without keys leaves its watched
// keys as they were: absent.
func (srv *Server) signalled(signals []store.Touch) {
	for _, k := range signals {
		if k.Key == nil {
			srv.flushed()
		} else {
			srv.changed(k.DB, k.Key, false)
		}
	}
}

// flushed notes a flush for those that track keys. Without any it is not kept: one that begins later has nothing to forget.
func (srv *Server) flushed() {
	if srv.trackers > 0 {
		srv.tracked.noteFlush(srv.author)
	}
}

// touchedAll is touched for every key of a database. Waiting keys are readied in the order of their oldest
// waiter, since a map has none.
func (srv *Server) touchedAll(db int, told bool) {
	if !told {
		srv.flushed()
	}
	for key := range srv.watched[db] {
		srv.dirtyWatch(db, key)
	}
	from := len(srv.touchedBy)
	for key := range srv.parked[db] {
		srv.touchedBy = append(srv.touchedBy, touch{db, key})
	}
	slices.SortFunc(srv.touchedBy[from:], func(x, y touch) int {
		return cmp.Compare(srv.parked[db][x.key][0].seq, srv.parked[db][y.key][0].seq)
	})
}

// serveReady runs the parked clients whose keys were touched, oldest first, until nothing more is ready. It is
// called between transactions.
func (srv *Server) serveReady() {
	for len(srv.touchedBy) > 0 {
		t := srv.touchedBy[0]
		srv.touchedBy = srv.touchedBy[1:]
		srv.serveKey(t)
	}
	srv.touchedBy = srv.touchedBy[:0]
}

// serveSoon notes that the call that waits in the database has more to do for a key, if it said so.
func (srv *Server) serveSoon(db int) {
	if key := srv.call.Soon(); key != nil {
		srv.soon = append(srv.soon, touch{db, string(key)})
	}
}

// goOn runs those that had more to do, once, and reports whether they still have.
func (srv *Server) goOn() bool {
	if len(srv.soon) > 0 {
		srv.touchedBy = append(srv.touchedBy, srv.soon...)
		srv.soon = srv.soon[:0]
		srv.serveReady()
	}
	return len(srv.soon) > 0
}

// serveKey runs the clients that wait for one key, oldest first. A run may change the list, which is in the order of
// waiting, so the next one is looked for behind the last.
func (srv *Server) serveKey(t touch) {
	var refused *commands.Row // an exclusive row whose oldest waiter was not served
	for i := 0; i < len(srv.parked[t.db][t.key]); i++ {
		w := srv.parked[t.db][t.key][i]
		if w.s.waiting != w || w.row == refused {
			continue
		}
		// What a client takes that has left and was not noticed yet would be lost to the others.
		if w.row.Has(commands.Write) && w.s.left() {
			continue
		}
		switch err := srv.retry(w, true); {
		case !commands.IsWait(err):
			srv.release(w)
		case w.row.Has(commands.Exclusive):
			refused = w.row
			srv.serveSoon(w.db)
		}
		at, still := slices.BinarySearchFunc(srv.parked[t.db][t.key], w.seq, (*waiter).since)
		if i = at - 1; still {
			i = at
		}
	}
}

// since compares the beginnings of waits.
func (w *waiter) since(seq uint64) int { return cmp.Compare(w.seq, seq) }

// retry runs a parked command again in its own database, if its client may still run it. On the last run, which is for the empty
// reply, rights that are gone do not matter, but for a claim: it may find a job behind orphans even then.
func (srv *Server) retry(w *waiter, mayBlock bool) error {
	if mayBlock || w.row.Has(commands.Exclusive) {
		if err := gateACL(srv, w.s, w.row, w.args); err != nil {
			srv.reject(w.s, w.row, err)
			return err
		}
	}
	db := w.s.db
	w.s.db = w.db
	srv.stamp()
	err := srv.perform(w.s, w.row, w.args, mayBlock, true)
	w.s.db = db
	return err
}

// lapsesAt returns the Unix ms at which the time of w is up: when its millisecond has passed, so that nobody waits less than
// asked for. The wait began within the millisecond that until was counted from, so it is late by one at most.
func (w *waiter) lapsesAt() int64 { return w.until + 1 }

// lateMost is for how many ms the requests of others that a turn has before it may keep a timeout waiting.
const lateMost = 2

// overdueAt returns the Unix ns from which on a turn puts off what else it has to do for the timeout of w.
func (w *waiter) overdueAt() int64 { return (w.lapsesAt() + lateMost) * 1e6 }

// timeouts gives waiting clients whose time is up their empty reply.
func (srv *Server) timeouts() {
	for {
		w, ok := srv.deadlines.Min()
		if !ok || w.lapsesAt() > srv.now {
			return
		}
		srv.lapse(w)
	}
}

// lapse ends a wait without waiting further: the handler runs a last time and answers its empty reply.
func (srv *Server) lapse(w *waiter) {
	srv.unpark(w)
	_ = srv.retry(w, false) // its refusal, if any, is in the reply
	w.s.active = srv.now
	if len(w.s.in) > 0 {
		w.s.conn.resume(w.s)
	}
	srv.serveReady()
}

// cloneArgs copies arguments out of the request buffer into one block.
func cloneArgs(args [][]byte) [][]byte {
	n := 0
	for _, a := range args {
		n += len(a)
	}
	block := make([]byte, 0, n)
	out := make([][]byte, len(args))
	for i, a := range args {
		start := len(block)
		block = append(block, a...)
		out[i] = block[start:len(block):len(block)]
	}
	return out
}
