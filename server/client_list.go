package server

import (
	"slices"
	"strconv"
	"strings"

	"github.com/echomq/emqd/commands"
)

// describe returns the line of CLIENT LIST for a session, without its end.
func (s *session) describe() string {
	var b strings.Builder
	word := func(name, value string) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(name)
		b.WriteByte('=')
		b.WriteString(value)
	}
	number := func(name string, n int64) { word(name, strconv.FormatInt(n, 10)) }
	number("id", s.id)
	word("addr", s.addr)
	word("laddr", s.laddr)
	number("fd", int64(s.fd))
	word("name", s.name)
	number("age", (s.srv.now-s.created)/1000)
	number("idle", (s.srv.now-s.active)/1000)
	word("flags", s.flagLetters())
	number("db", int64(s.db))
	number("sub", int64(len(s.subs[byChannel])))
	number("psub", int64(len(s.subs[byPattern])))
	number("ssub", int64(len(s.subs[byShard])))
	queued, m := int64(-1), s.memory()
	if s.tx != nil {
		queued = int64(len(s.tx.rows))
	}
	number("multi", queued)
	number("watch", int64(len(s.watches)))
	number("qbuf", int64(len(s.in)))
	number("qbuf-free", int64(cap(s.in)-len(s.in)))
	number("argv-mem", m.args)
	number("multi-mem", m.multi)
	number("rbs", m.fixed)
	number("rbp", min(int64(len(s.out)), m.fixed))
	number("obl", m.inFixed)
	number("oll", m.buffers)
	number("omem", m.list)
	number("tot-mem", m.total)
	events := "r"
	if len(s.out)+s.flying > s.sent && s.srv.running != s {
		events = "rw"
	}
	word("events", events)
	cmd := "NULL"
	if s.lastRow != nil {
		cmd = s.lastRow.FullName()
	}
	word("cmd", cmd)
	word("user", s.userName())
	redirect := int64(-1)
	if s.tracking != nil && s.tracking.redirect != 0 {
		redirect = s.tracking.redirect
	}
	number("redir", redirect)
	number("resp", int64(s.proto))
	word("lib-name", s.libs[0])
	word("lib-ver", s.libs[1])
	number("tot-net-in", s.totalIn)
	number("tot-net-out", s.totalOut)
	number("tot-cmds", s.totalCmds)
	return b.String()
}

// flagLetters returns the letters of CLIENT LIST's flags.
func (s *session) flagLetters() string {
	var f []byte
	add := func(letter byte, on bool) {
		if on {
			f = append(f, letter)
		}
	}
	add('O', s.monitor)
	add('P', s.subscriber())
	add('x', s.tx != nil)
	add('b', s.waiting != nil)
	add('t', s.tracking != nil)
	add('R', s.tracking != nil && s.tracking.broken)
	add('B', s.tracking != nil && s.tracking.bcast)
	add('d', s.dirtyWatch)
	add('c', s.closing && !s.aborted)
	add('A', s.aborted)
	add('e', s.noEvict)
	add('T', s.noTouch)
	add('U', s.unix)
	if len(f) == 0 {
		return "N"
	}
	return string(f)
}

// sorted returns the sessions in the order of their ids.
func (srv *Server) sorted() []*session {
	list := make([]*session, 0, len(srv.sessions))
	for _, s := range srv.sessions {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *session) int { return int(a.id - b.id) })
	return list
}

// clientTypes are the words of the TYPE filter.
var clientTypes = [...]string{"normal", "master", "primary", "replica", "slave", "pubsub"}

// isType reports whether the session is of the client type word.
func (s *session) isType(word string) bool {
	if s.subscriber() {
		return word == "pubsub"
	}
	return word == "normal"
}

// parseType reads the argument of a TYPE filter.
func parseType(arg []byte) (string, error) {
	for _, word := range clientTypes {
		if commands.Is(arg, word) {
			return word, nil
		}
	}
	return "", commands.Error("ERR Unknown client type '" + commands.EchoLong(arg) + "'")
}

// userName returns the name of the session's ACL user.
func (s *session) userName() string { return s.user.name }

// userExists reports whether there is an ACL user of that name.
func (srv *Server) userExists(name string) bool { return srv.acl.users[name] != nil }
