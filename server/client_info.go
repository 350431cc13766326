package server

import (
	"strconv"
	"unsafe"
)

// info returns the session as CLIENT LIST and the ACL log show it, without a line break.
func (s *session) info() string {
	b := make([]byte, 0, 384)
	text := func(name, value string) {
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = append(append(append(b, name...), '='), value...)
	}
	count := func(name string, n int64) { text(name, strconv.FormatInt(n, 10)) }
	multi, multiMem := int64(-1), int64(0)
	if s.tx != nil {
		multi, multiMem = int64(len(s.tx.rows)), int64(s.tx.bytes)
	}
	command := "NULL"
	if s.lastRow != nil {
		command = s.lastRow.FullName()
	}
	count("id", s.id)
	text("addr", s.addr)
	text("laddr", s.laddr)
	count("fd", int64(s.fd))
	text("name", s.name)
	count("age", int64(s.age(s.created).Seconds()))
	count("idle", int64(s.age(s.active).Seconds()))
	text("flags", s.flagLetters())
	count("db", int64(s.db))
	count("sub", int64(len(s.subs[byChannel])))
	count("psub", int64(len(s.subs[byPattern])))
	count("ssub", int64(len(s.subs[byShard])))
	count("multi", multi)
	count("watch", int64(len(s.watches)))
	count("qbuf", int64(len(s.in)))
	count("qbuf-free", int64(cap(s.in)-len(s.in)))
	count("argv-mem", 0) // arguments are read in place
	count("multi-mem", multiMem)
	count("rbs", int64(cap(s.out)))
	count("rbp", int64(len(s.out)))
	count("obl", int64(len(s.out)-s.sent))
	count("oll", 0)
	count("omem", 0)
	count("tot-mem", s.memory())
	text("events", s.eventLetters())
	text("cmd", command)
	text("user", s.user.name)
	count("redir", -1)
	count("resp", int64(s.proto))
	text("lib-name", s.libs[0])
	text("lib-ver", s.libs[1])
	count("tot-net-in", s.totalIn)
	count("tot-net-out", s.totalOut)
	count("tot-cmds", s.totalCmds)
	return string(b)
}

// memory returns about how many bytes the session holds.
func (s *session) memory() int64 {
	n := int64(unsafe.Sizeof(*s)) + int64(cap(s.in)+cap(s.out)+cap(s.later))
	if s.tx != nil {
		n += int64(s.tx.bytes)
	}
	return n
}

// flagLetters returns CLIENT LIST's letters for the session's state, N for none.
func (s *session) flagLetters() string {
	var b []byte
	for _, f := range []struct {
		letter byte
		on     bool
	}{
		{'P', s.subscriber()}, {'x', s.tx != nil}, {'b', s.waiting != nil}, {'d', s.dirtyWatch},
		{'c', s.closing && !s.aborted}, {'A', s.aborted}, {'e', s.noEvict}, {'T', s.noTouch},
	} {
		if f.on {
			b = append(b, f.letter)
		}
	}
	if len(b) == 0 {
		return "N"
	}
	return string(b)
}

// eventLetters returns r while input is read and w while output waits to be sent.
func (s *session) eventLetters() string {
	if len(s.out) > s.sent && !s.queued {
		return "rw"
	}
	return "r"
}
