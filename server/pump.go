package server

import (
	"math"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/fence"
)

// pump moves jobs while nobody asks: what is due becomes pending, lapsed leases are recovered, repeatable jobs are
// added and signals between flows are delivered. It is off by default; then it knows nothing and does nothing.
type pump struct {
	on    bool
	at    int64 // Unix ms of the next turn
	dbs   []*pumpDB
	first int  // the database that comes first in the present turn
	more  bool // a call of the present visit ended before it had seen all that is due

	known  int64 // commands of clients up to the last turn
	credit int   // commands of clients since work was done beside them

	args   [][]byte // of the next call
	base   []byte   // of the queue that is visited
	buf    []byte
	reply  []byte
	faults pumpFaults
	stats  pumpStats
}

// pumpStats is what INFO tells of the pump. Steps and looks are its whole work.
type pumpStats struct {
	promoted, recovered, dead, fired, delivered int64

	skipped int64 // slots of repeatables whose last job was not claimed yet
	dropped int64 // signals that nobody could read
	refused int64 // steps that the node or what a queue holds refused
	passed  int64 // members that the verbs passed over or dropped, and repeatables that are damaged
	damaged int64 // what was found damaged, each once an hour
	looks   int64 // queues looked at
	lastRun int64 // Unix ms of the last turn that moved something
}

const (
	pumpBudget  = 256    // jobs and queues of one turn, so that clients wait for no more than that
	pumpShare   = 4      // commands of clients for each of them while clients are served
	pumpLeast   = 64     // and the least that a turn beside clients is for
	pumpScan    = 64     // buckets of the keyspace that a turn goes through
	pumpBackoff = 1_000  // ms until a queue that was refused is tried again
	pumpPoison  = 30_000 // the same when only signals that cannot be applied are left
)

// followPump turns the pump on or off as the setting says.
func (srv *Server) followPump(c *Config) error {
	p := &srv.pump
	on := c.Pump > 0
	switch {
	case !on:
		p.on, p.dbs = false, nil
	case !p.on:
		p.on = true
		for range srv.store.Databases() {
			p.dbs = append(p.dbs, newPumpDB())
		}
		for _, d := range p.dbs {
			d.rescan()
		}
	}
	p.at = srv.now
	return nil
}

// runPump gives the pump its turn when it is time, and returns the Unix ms of the next one.
func (srv *Server) runPump() (next int64) {
	p := &srv.pump
	if srv.now < p.at {
		return p.at
	}
	p.at = srv.now + int64(srv.cfg.Pump)
	if srv.pause.active(srv.now) || !srv.mayChange() || srv.snapshotFailed() {
		return p.at
	}
	budget := srv.pumpAllowance()
	if budget == 0 || srv.pumpTurn(budget) {
		p.at = srv.now
	}
	return p.at
}

// pumpAllowance returns how much the pump may do now: what a turn may at most when no client wants anything, a share of
// what clients did when they do, gathered until it is worth a turn. A million leases that lapse at once leave the node to
// its clients.
func (srv *Server) pumpAllowance() int {
	p := &srv.pump
	served := srv.stats.commands - p.known
	p.known = srv.stats.commands
	if served == 0 {
		p.credit = 0
		return pumpBudget
	}
	p.credit += int(served)
	if p.credit < pumpShare*pumpLeast {
		return 0
	}
	budget := min(p.credit/pumpShare, pumpBudget)
	p.credit = 0
	return budget
}

// pumpTurn does about budget of what is to be done and reports whether something is left.
func (srv *Server) pumpTurn(budget int) (more bool) {
	defer srv.timed("pump", srv.clock.nano())
	p := &srv.pump
	moved := p.stats.moved()
	p.first++
	for k := range p.dbs {
		i := (p.first + k) % len(p.dbs)
		d := p.dbs[i]
		if d.scanning {
			tx := srv.store.Begin(i, srv.now, true)
			budget -= d.scan(tx, pumpScan)
			tx.Commit()
		}
		budget = srv.lookAgain(i, d, budget)
		open := srv.fenced(i, d)
		for open && budget > 0 {
			q, ok := d.order.Min()
			if !ok || q.due > srv.now {
				break
			}
			budget -= 1 + srv.visit(i, d, q, min(budget, srv.cfg.PumpBatch))
		}
		if budget <= 0 {
			more = true
			break
		}
		more = more || d.scanning || len(d.touched) > 0 // what was done may have made more due
	}
	if p.stats.moved() != moved {
		p.stats.lastRun = srv.now
	}
	return more
}

// moved is how much the pump has done.
func (s *pumpStats) moved() int64 {
	return s.promoted + s.recovered + s.dead + s.fired + s.skipped + s.delivered + s.dropped
}

// lookAgain reads again when the queues that were touched have something due.
func (srv *Server) lookAgain(i int, d *pumpDB, budget int) int {
	for len(d.touched) > 0 && budget > 0 {
		last := len(d.touched) - 1
		q := d.touched[last]
		d.touched[last] = nil
		d.touched = d.touched[:last]
		q.touched = false
		d.place(q, srv.look(i, q, everDue).first())
		budget--
	}
	return budget
}

// everDue is before everything that is due. Never changed.
var everDue = math.Inf(-1)

// look reads what the queue has due later than an instant.
func (srv *Server) look(i int, q *pumpQueue, later float64) (due pumpDue) {
	p := &srv.pump
	p.stats.looks++
	tx := srv.store.Begin(i, srv.now, true)
	tx.NoTouch()
	due, p.buf = dueOf(tx, q.base, later, p.buf)
	tx.Commit()
	return due
}

// fenced reports whether the database has something due and holds the fence of this wire: without it the pump, as the
// verbs, does nothing.
func (srv *Server) fenced(i int, d *pumpDB) bool {
	if q, ok := d.order.Min(); !ok || q.due > srv.now {
		return false
	}
	tx := srv.store.Begin(i, srv.now, true)
	defer tx.Commit()
	value, held, err := tx.Value([]byte(fence.VersionKey))
	return err == nil && fence.CheckWire(value, held) == nil
}

// visit moves up to limit jobs of each kind that q has due, and returns how many it moved or looked at in vain.
func (srv *Server) visit(i int, d *pumpDB, q *pumpQueue, limit int) (cost int) {
	p := &srv.pump
	p.base = append(p.base[:0], q.base...)
	due, now := srv.look(i, q, everDue), srv.now
	touched := q.touched
	q.touched = true // it is looked at below, whatever the visit touches
	before, passed := p.stats.moved(), p.stats.passed
	p.more = false
	wait := int64(pumpBackoff)
	if due.schedule <= now {
		srv.pumpPromote(i, limit)
	}
	if due.active <= now {
		srv.pumpRecover(i, limit)
	}
	if due.repeat <= now {
		srv.pumpFire(i, limit)
	}
	if due.outbox <= now && !srv.pumpDeliver(i, limit) {
		wait = pumpPoison
	}
	moved := int(p.stats.moved() - before)
	again := srv.look(i, q, everDue).first()
	if again <= now {
		if again = now; moved == 0 && !p.more { // what is due cannot be moved: the others go first, and what is due behind it
			next := srv.look(i, q, float64(now))
			again = min(now+wait, next.schedule, next.active, next.repeat)
		}
	}
	q.touched = touched
	d.place(q, again)
	return moved + int(p.stats.passed-passed)
}

// pumpCall runs a row as the node itself: in a transaction of its own that is logged, wakes clients and is told as
// a client's is. The keys and arguments stand in p.args. about is what a refusal is blamed on.
func (srv *Server) pumpCall(i int, row *commands.Row, about string) error {
	p, c := &srv.pump, &srv.call
	c.Reply.Reset(p.reply[:0], 2)
	c.Tx = srv.store.Begin(i, srv.now, false)
	c.Args, c.Row, c.Host, c.Peer, c.MayBlock, c.Again = p.args, row, pumpHost{srv}, nil, false, false
	c.Damaged = func(id []byte, why error) { srv.pumpFault("job "+string(id), why) }
	defer func() { c.Damaged = nil }()
	effects := c.Tx.Effects().Len()
	err := srv.guarded(c)
	srv.tell(c.Tx, row, effects)
	p.reply = c.Reply.Bytes()
	if err != nil {
		p.stats.refused++
		if c.Guard() == nil { // it is not the node that cannot
			srv.pumpFault(about, err)
		}
	}
	srv.settle()
	return err
}

// pumpHost is the server as the host of the pump's calls, which may touch everything and are held to the write guard.
type pumpHost struct{ srv *Server }

// Allows is commands.Host's.
func (pumpHost) Allows([]byte, commands.KeyFlags) bool { return true }

// Guard is commands.Host's.
func (h pumpHost) Guard(row *commands.Row) error { return h.srv.guard(row) }

// Publish is commands.Host's.
func (h pumpHost) Publish(channel, body []byte) int64 { return h.srv.publish(channel, body) }
