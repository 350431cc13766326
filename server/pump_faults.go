package server

import "github.com/echomq/emqd/fence"

// pumpFaults remembers what was found damaged, so that the log names each once in a while and not in every turn.
type pumpFaults struct {
	named map[string]struct{} // base NUL what
	since int64               // Unix ms
}

const (
	faultsMost = 1_000     // named in one faultsSpan; further ones are passed over in silence
	faultsSpan = 3_600_000 // ms after which they are named again
)

// pumpFault tells of something in the queue that is visited which the pump cannot move and passes over, and why.
func (srv *Server) pumpFault(what string, why error) {
	f := &srv.pump.faults
	if f.named == nil || srv.now-f.since >= faultsSpan {
		f.named, f.since = map[string]struct{}{}, srv.now
	}
	key := string(srv.pump.base) + "\x00" + what
	if _, again := f.named[key]; again || len(f.named) >= faultsMost {
		return
	}
	f.named[key] = struct{}{}
	srv.pump.stats.damaged++
	srv.log.Warn("the pump passes over what is damaged", "queue", string(fence.Queue(srv.pump.base)), "what", what, "reason", why.Error())
}
