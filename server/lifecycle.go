package server

import (
	"bytes"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store/glob"
)

// lifecycleEvent is an event of a job that is published when the transaction is settled.
type lifecycleEvent struct{ channel, message []byte }

// any reports whether anyone has subscribed to a channel or a pattern.
func (p *pubsub) any() bool { return len(p.subs[byChannel]) > 0 || len(p.patterns) > 0 }

// heard reports whether a message to the channel would reach anyone.
func (p *pubsub) heard(channel []byte) bool {
	if len(p.subs[byChannel][string(channel)]) > 0 {
		return true
	}
	for _, pattern := range p.patterns {
		if glob.Match([]byte(pattern), channel, false) {
			return true
		}
	}
	return false
}

// noteLifecycle keeps the events of the call that just ran, whose effects begin at number first.
func (srv *Server) noteLifecycle(row *commands.Row, first int) {
	commands.Lifecycle(row, srv.call.Tx.Effects(), first, srv.pubsub.heard, func(channel, message []byte) {
		srv.lifecycle = append(srv.lifecycle, lifecycleEvent{bytes.Clone(channel), bytes.Clone(message)})
	})
}

// announceLifecycle publishes the events kept, after everything that the transaction did.
func (srv *Server) announceLifecycle() {
	if len(srv.lifecycle) == 0 {
		return
	}
	for _, e := range srv.lifecycle {
		srv.publish(e.channel, e.message)
	}
	clear(srv.lifecycle)
	srv.lifecycle = srv.lifecycle[:0]
}
