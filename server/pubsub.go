package server

import (
	"slices"
	"strconv"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/glob"
)

// The spaces that a client subscribes in.
const (
	byChannel = iota
	byPattern
	byShard
	subSpaces
)

// pubsub knows who listens to what: by space and name, the subscribers in no order.
type pubsub struct {
	subs     [subSpaces]map[string]map[*session]struct{}
	patterns []string // names of byPattern in the order of their first subscription
}

func newPubSub() pubsub {
	var p pubsub
	for i := range p.subs {
		p.subs[i] = map[string]map[*session]struct{}{}
	}
	return p
}

// subscribe adds s to name and reports whether it is new there.
func (p *pubsub) subscribe(s *session, space int, name string) bool {
	if _, ok := s.subs[space][name]; ok {
		return false
	}
	if s.subs[space] == nil {
		s.subs[space] = map[string]struct{}{}
	}
	s.subs[space][name] = struct{}{}
	s.subBytes += subscriptionBytes + int64(len(name))
	list := p.subs[space][name]
	if list == nil {
		list = map[*session]struct{}{}
		p.subs[space][name] = list
		if space == byPattern {
			p.patterns = append(p.patterns, name)
		}
	}
	list[s] = struct{}{}
	return true
}

// unsubscribe takes s off name.
func (p *pubsub) unsubscribe(s *session, space int, name string) {
	if _, ok := s.subs[space][name]; !ok {
		return
	}
	delete(s.subs[space], name)
	s.subBytes -= subscriptionBytes + int64(len(name))
	list := p.subs[space][name]
	delete(list, s)
	if len(list) > 0 {
		return
	}
	delete(p.subs[space], name)
	if space == byPattern {
		i := slices.Index(p.patterns, name)
		p.patterns = slices.Delete(p.patterns, i, i+1)
	}
}

// forget takes s off everything.
func (p *pubsub) forget(s *session) {
	for space := range s.subs {
		for name := range s.subs[space] {
			p.unsubscribe(s, space, name)
		}
	}
}

// subscriptions returns what the client is told as its count in a space: shard channels count for themselves.
func (s *session) subscriptions(space int) int {
	if space == byShard {
		return len(s.subs[byShard])
	}
	return len(s.subs[byChannel]) + len(s.subs[byPattern])
}

// subscriber reports whether the session has subscriptions.
func (s *session) subscriber() bool {
	return len(s.subs[byChannel])+len(s.subs[byPattern])+len(s.subs[byShard]) > 0
}

// message is one push as it is sent to each of its receivers, spelt once for each protocol version.
type message struct {
	words [][]byte
	wire  [4][]byte
}

func (m *message) sendTo(s *session) {
	b := m.wire[s.proto]
	if b == nil {
		var r commands.Reply
		r.Reset(nil, s.proto)
		r.Push(len(m.words))
		for _, w := range m.words {
			r.Bulk(w)
		}
		b = r.Bytes()
		m.wire[s.proto] = b
	}
	s.push(b)
}

// publish sends body to the subscribers of channel and of the patterns that match it, and returns how many
// messages went out.
func (srv *Server) publish(channel, body []byte) int64 {
	n := int64(0)
	if list := srv.pubsub.subs[byChannel][string(channel)]; len(list) > 0 {
		m := message{words: [][]byte{[]byte("message"), channel, body}}
		for s := range list {
			m.sendTo(s)
			n++
		}
	}
	for _, pattern := range srv.pubsub.patterns {
		if !glob.Match([]byte(pattern), channel, false) {
			continue
		}
		m := message{words: [][]byte{[]byte("pmessage"), []byte(pattern), channel, body}}
		for s := range srv.pubsub.subs[byPattern][pattern] {
			m.sendTo(s)
			n++
		}
	}
	return n
}

// publishShard sends body to the subscribers of a shard channel.
func (srv *Server) publishShard(channel, body []byte) int64 {
	list := srv.pubsub.subs[byShard][string(channel)]
	m := message{words: [][]byte{[]byte("smessage"), channel, body}}
	for s := range list {
		m.sendTo(s)
	}
	return int64(len(list))
}

// Publish is commands.Host's.
func (s *session) Publish(channel, body []byte) int64 { return s.srv.publish(channel, body) }

// announce tells the subscribers of keyspace events what happened, as notify-keyspace-events selects.
func (srv *Server) announce(e store.Event) {
	if !srv.cfg.KeyEvents.Has(e.Class) {
		return
	}
	at := "@" + strconv.Itoa(e.DB) + "__:"
	if srv.cfg.KeyEvents.Has('K') {
		srv.publish([]byte("__keyspace"+at+e.Key), []byte(e.Name))
	}
	if srv.cfg.KeyEvents.Has('E') {
		srv.publish([]byte("__keyevent"+at+e.Name), []byte(e.Key))
	}
}

// listenForEvents makes the store collect keyspace events while anyone may want them.
func (srv *Server) listenForEvents(c *Config) error {
	srv.store.Listen(c.KeyEvents.Any())
	return nil
}

// tellEffects adds the keyspace events of the effects from first on, for a row that announces none itself.
func tellEffects(tx *store.Tx, first int) {
	if !tx.Listens() {
		return
	}
	f := tx.Effects()
	for i := first; i < f.Len(); i++ {
		class, name := effectEvent(f.Name(i))
		tx.Notify(class, name, f.Arg(i, 0))
	}
}

// effectEvent returns the class letter and event name of a plain command as an effect.
func effectEvent(name string) (class byte, event string) {
	switch name {
	case "HSET":
		return 'h', "hset"
	case "HDEL":
		return 'h', "hdel"
	case "ZADD":
		return 'z', "zadd"
	case "ZREM":
		return 'z', "zrem"
	case "SET", "SETRANGE", "SETBIT":
		return '$', "set"
	case "RPUSH":
		return 'l', "rpush"
	case "LPUSH":
		return 'l', "lpush"
	case "LPOP":
		return 'l', "lpop"
	case "RPOP":
		return 'l', "rpop"
	case "LREM":
		return 'l', "lrem"
	case "LTRIM":
		return 'l', "ltrim"
	case "SADD":
		return 's', "sadd"
	case "SREM":
		return 's', "srem"
	case "XADD":
		return 't', "xadd"
	case "PEXPIREAT":
		return 'g', "expire"
	default:
		return 'g', "del"
	}
}
