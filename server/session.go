package server

import (
	"slices"
	"syscall"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/server/resp"
)

// transport is how a session's bytes get out and its connection ends. Its methods are called with the
// keyspace lock held.
type transport interface {
	// flush arranges that s.out is sent; it may be called from any goroutine that holds the lock.
	flush(s *session)
	// resume arranges that s's unread input is looked at again, after it was parked or paused.
	resume(s *session)
	// close ends the connection soon, without sending what is left of s.out.
	close(s *session)
}

// session is one connection: its protocol state, transaction, subscriptions and buffers. The keyspace lock
// guards it.
type session struct {
	id      int64
	place   int // in the roster
	srv     *Server
	conn    transport
	fd      int             // -1 for a connection with goroutines of its own
	socket  syscall.RawConn // of such a connection, nil when it is not known
	addr    string
	laddr   string
	unix    bool  // over a Unix socket
	created int64 // Unix ms
	active  int64 // Unix ms of the last command
	lastRow *commands.Row

	proto  int
	db     int
	name   string
	libs   [2]string // LIB-NAME and LIB-VER
	user   *aclUser
	authed bool

	reader resp.Reader
	in     []byte // received and not consumed
	out    []byte // replies, of which sent bytes are on their way already
	sent   int
	flying int    // bytes taken from out that a stream's writer is sending
	later  []byte // pushes that follow the reply of the running command

	queued     bool   // in the transport's flush list
	ready      bool   // in the transport's resume list
	closing    bool   // no further command runs; the connection ends when out is sent
	dead       bool   // the connection has ended
	aborted    bool   // the connection is to end without sending out
	events     uint32 // what the event loop waits for
	replyOff   bool   // CLIENT REPLY OFF
	replySkip  int    // commands whose reply is dropped: CLIENT REPLY SKIP
	hushed     bool   // the reply of the command that waits is dropped
	heard      bool   // this command's reply is sent though replies were off
	noTouch    bool
	noEvict    bool
	inExec     bool
	unlogged   bool  // wrote something that is not committed to the log yet
	overSince  int64 // when out went over the soft limit, 0 when it is not over it
	totalCmds  int64
	totalIn    int64
	totalOut   int64
	tx         *transaction // between MULTI and EXEC
	watches    []watch
	watchBytes int64 // what they take
	subBytes   int64 // what the subscriptions take
	dirtyWatch bool
	waiting    *waiter
	tracking   *tracking
	monitor    bool
	subs       [subSpaces]map[string]struct{}
}

// feed consumes data that was just received. Bytes that are not a whole command yet are kept.
func (s *session) feed(data []byte) {
	s.totalIn += int64(len(data))
	if len(s.in) > 0 {
		s.in = append(s.in, data...)
		s.drain()
		return
	}
	n := s.consume(data)
	if rest := data[n:]; len(rest) > 0 && !s.closing {
		if s.in == nil && len(rest) > keepInput {
			s.in = s.srv.buffers.take()
		}
		s.in = append(s.in, rest...)
	}
	s.checkInput()
}

// drain consumes what is in the session's own buffer.
func (s *session) drain() {
	n := s.consume(s.in)
	if s.closing {
		return // and in is gone
	}
	if n == len(s.in) {
		if cap(s.in) > keepInput {
			s.srv.buffers.give(s.in)
			s.in = nil
		} else {
			s.in = s.in[:0]
		}
	} else if n > 0 {
		s.in = s.in[:copy(s.in, s.in[n:])]
	}
	s.checkInput()
}

const (
	keepInput  = 4 << 10 // a larger empty input buffer is given back
	turnBudget = 2048    // commands of one session in one turn
	turnOutput = 1 << 20 // bytes of replies to one session in one turn
)

// checkInput closes a session whose unconsumed input is over the limit.
func (s *session) checkInput() {
	if limit := s.srv.cfg.ClientQueryBufferLimit; int64(len(s.in)) > limit {
		s.srv.log.Warn("closing a client over client-query-buffer-limit", "client", s.addr, "bytes", len(s.in))
		s.srv.stats.overInput++
		s.end()
	}
}

// left reports whether the client has closed its end, as far as the kernel knows by now.
func (s *session) left() bool {
	if s.socket == nil {
		return s.fd >= 0 && hungUp(s.fd)
	}
	gone := false
	err := s.socket.Control(func(fd uintptr) { gone = hungUp(int(fd)) })
	return gone || err != nil // of a socket that is closed
}

// canRun reports whether the session may run its next command now.
func (s *session) canRun() bool { return !s.closing && s.waiting == nil }

// consume runs the commands in buf and returns how many bytes they took. It stops at an incomplete one, when
// the session parks, after its share of the turn and when a timeout of another client is overdue.
func (s *session) consume(buf []byte) int {
	srv := s.srv
	srv.stamp()
	lim := resp.Limits{MaxBulk: int(srv.cfg.ProtoMaxBulkLen), Unauth: s.needsAuth()}
	done, replied := 0, len(s.out)
	for budget := turnBudget; s.canRun() && done < len(buf); budget-- {
		if budget == 0 || len(s.out)-replied > turnOutput || srv.mono >= srv.overdue {
			s.conn.resume(s)
			break
		}
		args, n, err := s.reader.Next(buf[done:], srv.args[:0], lim)
		if err != nil {
			srv.log.Debug("protocol error", "client", s.addr, "error", err)
			s.reply(func(r *commands.Reply) { r.Error(err) })
			s.finish()
			return len(buf)
		}
		if n == 0 {
			break
		}
		srv.args = args
		done += n
		if len(args) == 0 {
			continue
		}
		srv.dispatch(s, args)
		lim.Unauth = s.needsAuth()
	}
	if s.closing {
		return len(buf)
	}
	return done
}

// reply appends what f says to the session's output.
func (s *session) reply(f func(*commands.Reply)) {
	var r commands.Reply
	r.Reset(s.output(), s.proto)
	f(&r)
	s.out = r.Bytes()
	s.conn.flush(s)
}

// push sends an out-of-band message: at once, or behind the reply of the session's own running command.
func (s *session) push(wire []byte) {
	switch {
	case s.closing:
	case s.srv.running == s:
		s.later = append(s.later, wire...)
	default:
		s.out = append(s.output(), wire...)
		s.conn.flush(s)
		s.checkOutput()
	}
}

// output returns the buffer that replies are appended to.
func (s *session) output() []byte {
	if s.out == nil {
		s.out = s.srv.buffers.take()
	}
	return s.out
}

// finish ends the session once its output is sent.
func (s *session) finish() {
	s.closing = true
	s.in = nil
	s.conn.flush(s)
}

// end closes the session at once: nothing is popped for the dead.
func (s *session) end() {
	if s.waiting != nil {
		s.srv.unpark(s.waiting)
	}
	s.closing, s.aborted = true, true
	s.in = nil
	s.conn.close(s)
}

// gone forgets the session after its connection has ended.
func (s *session) gone() {
	if s.dead {
		return
	}
	s.dead, s.closing = true, true
	s.unwatch()
	s.srv.pubsub.forget(s)
	s.srv.untrack(s)
	s.unmonitor()
	if s.waiting != nil {
		s.srv.unpark(s.waiting)
	}
	s.tx = nil
	s.srv.buffers.give(s.out)
	s.out, s.in, s.later, s.sent = nil, nil, nil, 0
	delete(s.srv.sessions, s.id)
	s.srv.strike(s)
}

func (s *session) unmonitor() {
	if s.monitor {
		s.monitor = false
		i := slices.Index(s.srv.monitors, s)
		s.srv.monitors = slices.Delete(s.srv.monitors, i, i+1)
	}
}

// buffers keeps buffers of input and output between turns, so that idle connections have none.
type buffers struct {
	free [][]byte
	held int // bytes of free
}

const (
	bufferSize  = 16 << 10
	largeBuffer = 4 << 20 // a larger one is not kept
	heldBuffers = 16 << 20
)

func (b *buffers) take() []byte {
	if n := len(b.free); n > 0 {
		buf := b.free[n-1]
		b.free = b.free[:n-1]
		b.held -= cap(buf)
		return buf[:0]
	}
	return make([]byte, 0, bufferSize)
}

// grow returns a buffer with more than twice the room of buf and the same content, in place of buf.
func (b *buffers) grow(buf []byte) []byte {
	room := 2*cap(buf) + bufferSize
	var grown []byte
	if i := slices.IndexFunc(b.free, func(f []byte) bool { return cap(f) >= room }); i >= 0 {
		grown = b.free[i][:0]
		b.held -= cap(grown)
		b.free = slices.Delete(b.free, i, i+1)
	} else {
		grown = make([]byte, 0, room)
	}
	grown = append(grown, buf...)
	b.give(buf)
	return grown
}

func (b *buffers) give(buf []byte) {
	if cap(buf) >= bufferSize && cap(buf) <= largeBuffer && b.held+cap(buf) <= heldBuffers {
		b.free = append(b.free, buf)
		b.held += cap(buf)
	}
}

// checkOutput ends a session that reads too slowly: over its class's hard limit at once, over the soft
// one for longer than it allows.
func (s *session) checkOutput() {
	limit := &s.srv.cfg.ClientOutputLimits[s.class()]
	n := int64(len(s.out) - s.sent + s.flying)
	over := limit.Hard > 0 && n > limit.Hard
	if limit.Soft > 0 && n > limit.Soft {
		if s.overSince == 0 {
			s.overSince = s.srv.now
		}
		over = over || s.srv.now-s.overSince > limit.Seconds*1000
	} else {
		s.overSince = 0
	}
	if over && !s.aborted {
		s.srv.log.Warn("closing a client over its output buffer limit", "client", s.addr, "bytes", n)
		s.srv.stats.overOutput++
		s.end()
	}
}

// class returns the session's class of client-output-buffer-limit.
func (s *session) class() ClientClass {
	if s.subscriber() {
		return ClassPubSub
	}
	return ClassNormal
}
