package server

import (
	"cmp"
	"slices"
	"unsafe"
)

// clientMemory is what a session takes, in bytes. Output is in one buffer: the first, of a fixed size, and one that takes its
// place when it does not suffice, which CLIENT LIST and Valkey call the list.
type clientMemory struct {
	input   int64 // received and not consumed, with the room behind it
	args    int64 // of a command that runs or waits
	multi   int64 // queued commands and watched keys
	fixed   int64 // the first buffer
	inFixed int64 // what waits in it
	list    int64 // larger buffers, and what is on its way
	buffers int64 // how many these are
	total   int64
}

// What the tables take for one entry beside the bytes of its name: measured as growth of the heap by a million.
const (
	subscriptionBytes = 2 * 56
	watchedBytes      = 108 + int64(unsafe.Sizeof(watch{}))
	prefixBytes       = 2 * 56
	trackedKeyBytes   = 248 // and its first reader
	trackedItemBytes  = 23  // a further reader
	argBytes          = int64(unsafe.Sizeof([]byte(nil)))
	sessionBytes      = int64(unsafe.Sizeof(session{})) + 32
)

// memory tells what the session takes.
func (s *session) memory() clientMemory {
	m := clientMemory{input: int64(cap(s.in)), multi: s.watchBytes}
	switch {
	case s.waiting != nil:
		m.args = s.waiting.bytes
	case s.srv.running == s:
		m.args = argsBytes(s.srv.call.Args)
	}
	if t := s.tx; t != nil {
		m.multi += t.bytes + int64(cap(t.rows))*int64(unsafe.Sizeof(t.rows[0])) + int64(cap(t.args))*argBytes
	}
	if n := int64(cap(s.out)); n <= bufferSize {
		m.fixed, m.inFixed = n, int64(len(s.out)-s.sent)
	} else {
		m.list, m.buffers = n, 1
	}
	for _, n := range [...]int{s.flying, cap(s.later)} {
		if n > 0 {
			m.list += int64(n)
			m.buffers++
		}
	}
	m.total = sessionBytes + m.input + m.args + m.multi + m.fixed + m.list + s.subBytes
	if s.tracking != nil {
		m.total += s.tracking.bytes
	}
	return m
}

// argsBytes returns the bytes of arguments in a block of their own.
func argsBytes(args [][]byte) int64 {
	n := int64(len(args)) * argBytes
	for _, a := range args {
		n += int64(len(a))
	}
	return n
}

// leastForClients is what clients may take however small maxmemory-clients is, so that the node can be talked to.
const leastForClients = 128 << 10

// evictClients closes the clients that take most, until the rest is below maxmemory-clients.
func (srv *Server) evictClients() {
	limit := srv.cfg.MaxMemoryClients.Amount(srv.cfg.MaxMemory)
	if limit == 0 {
		return
	}
	limit = max(limit, leastForClients)
	if srv.evictable <= limit {
		return
	}
	type holder struct {
		s     *session
		bytes int64
	}
	var all []holder
	for _, s := range srv.sessions {
		if !s.noEvict && !s.aborted {
			all = append(all, holder{s, s.memory().total})
		}
	}
	slices.SortFunc(all, func(x, y holder) int {
		return cmp.Or(cmp.Compare(y.bytes, x.bytes), cmp.Compare(x.s.id, y.s.id))
	})
	for _, h := range all {
		if srv.evictable <= limit {
			return
		}
		srv.log.Warn("closing a client over maxmemory-clients", "client", h.s.addr, "bytes", h.bytes)
		srv.stats.evictedClients++
		srv.evictable -= h.bytes
		h.s.end()
	}
}
