package server

import (
	"strconv"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/fence"
)

// call begins the arguments of a call on the queue that is visited: the name, and the keys of these kinds.
func (p *pump) call(name string, kinds ...fence.Kind) {
	p.args = append(p.args[:0], []byte(name), strconv.AppendInt(nil, int64(len(kinds)), 10))
	for _, kind := range kinds {
		p.args = append(p.args, fence.AppendKey(nil, p.base, kind))
	}
}

func (p *pump) number(n int64) { p.args = append(p.args, strconv.AppendInt(nil, n, 10)) }

// pumpPromote makes due jobs of both kinds pending.
func (srv *Server) pumpPromote(i, limit int) {
	p := &srv.pump
	p.call("emq.group.promote", fence.Schedule, fence.Pending, fence.Base)
	p.number(int64(limit))
	if srv.pumpCall(i, srv.table.Lookup(p.args[0]), "schedule") == nil {
		released, _ := srv.call.Moved()
		p.stats.promoted += int64(released)
		srv.pumpLooked()
	}
	srv.serveReady()
}

// pumpRecover takes back the jobs of both kinds whose leases have lapsed.
func (srv *Server) pumpRecover(i, limit int) {
	p := &srv.pump
	p.call("emq.group.stalled.check", fence.Active, fence.Pending, fence.Dead, fence.Base)
	p.number(srv.cfg.PumpMaxStalled)
	p.number(int64(limit))
	if srv.pumpCall(i, srv.table.Lookup(p.args[0]), "active") == nil {
		released, buried := srv.call.Moved()
		p.stats.recovered += int64(released)
		p.stats.dead += int64(buried)
		srv.pumpLooked()
	}
	srv.serveReady()
}

// pumpLooked notes what the last call passed over or dropped.
func (srv *Server) pumpLooked() {
	passed, more := srv.call.Looked()
	srv.pump.stats.passed += int64(passed)
	srv.pump.more = srv.pump.more || more
}

// pumpFire adds the jobs of repeatables that are due. Those that cannot be added do not keep the others: the next visit goes on
// behind the last one that was looked at, and begins anew when there is none.
func (srv *Server) pumpFire(i, limit int) {
	p := &srv.pump
	for n := 0; n < limit; n++ {
		name, at, ok := srv.dueRepeatable(i)
		if !ok {
			return
		}
		p.call("pump.fire", fence.Repeat, fence.Pending)
		p.args = append(p.args, name)
		switch err := srv.pumpCall(i, commands.PumpFire(), "repeatable "+string(name)); {
		case err != nil:
			p.stats.passed++
			srv.passRepeatable(i, name, at)
		case string(p.reply) == commands.PumpDone:
			p.stats.fired++
		default:
			p.stats.skipped++
		}
		srv.serveReady()
	}
	_, _, p.more = srv.dueRepeatable(i)
}

// dueRepeatable returns the name of the repeatable job at which the search of the queue goes on, when it is due, and since when.
// At the end the search begins anew.
func (srv *Server) dueRepeatable(i int) (name []byte, at float64, ok bool) {
	tx := srv.store.Begin(i, srv.now, true)
	defer tx.Commit()
	key := fence.AppendKey(nil, srv.pump.base, fence.Repeat)
	set, err := tx.ZSet(key)
	if err != nil {
		return nil, 0, false
	}
	member, at, ok := set.At(tx.Place(key, &set))
	if !ok || at > float64(srv.now) {
		tx.ForgetPlace(key)
		return nil, 0, false
	}
	return append([]byte(nil), member...), at, true
}

// passRepeatable has the search of the queue go on behind this entry.
func (srv *Server) passRepeatable(i int, name []byte, at float64) {
	tx := srv.store.Begin(i, srv.now, true)
	defer tx.Commit()
	tx.NotePlace(fence.AppendKey(nil, srv.pump.base, fence.Repeat), at, append(name, 0)) // no text is between the two
}

// pumpDeliver applies the signals in the outbox, oldest first. It reports whether the queue is worth another look soon:
// not when every signal that is there was put back.
func (srv *Server) pumpDeliver(i, limit int) bool {
	p := &srv.pump
	before := p.stats.moved()
	tx := srv.store.Begin(i, srv.now, true)
	box, err := tx.List(fence.AppendKey(nil, p.base, fence.Outbox))
	held := 0
	if err == nil {
		held = box.Len()
	}
	tx.Commit()
	back := 0
	for n := min(limit, held); n > 0; n-- {
		p.call("pump.deliver", fence.Outbox)
		if srv.pumpCall(i, commands.PumpDeliver(), "flow:outbox") != nil {
			return true
		}
		switch string(p.reply) {
		case commands.PumpDone:
			p.stats.delivered++
		case commands.PumpDropped:
			p.stats.dropped++
			srv.log.Warn("dropped a signal between flows that cannot be read", "queue", string(fence.Queue(p.base)))
		default:
			back++
			p.stats.refused++
		}
		srv.serveReady()
	}
	return back < held || p.stats.moved() != before
}

// info writes the counters of the pump.
func (p *pump) info(srv *Server, w *infoWriter) {
	queues := 0
	for _, d := range p.dbs {
		queues += len(d.queues)
	}
	w.field("pump_interval_ms", int64(srv.cfg.Pump))
	w.field("pump_queues", queues)
	w.field("pump_promoted", p.stats.promoted)
	w.field("pump_recovered", p.stats.recovered)
	w.field("pump_dead", p.stats.dead)
	w.field("pump_fired", p.stats.fired)
	w.field("pump_skipped", p.stats.skipped)
	w.field("pump_delivered", p.stats.delivered)
	w.field("pump_dropped", p.stats.dropped)
	w.field("pump_refused", p.stats.refused)
	w.field("pump_damaged", p.stats.damaged)
	w.field("pump_looks", p.stats.looks)
	w.field("pump_last_run", p.stats.lastRun)
}
