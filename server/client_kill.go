package server

import (
	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store/num"
)

// killFilter is what CLIENT KILL selects by; a zero field does not select.
type killFilter struct {
	id          int64
	addr, laddr string
	kind        string
	user        string
	maxAge      int64
	skipMe      bool
}

func (f *killFilter) matches(s *session) bool {
	return (f.id == 0 || s.id == f.id) &&
		(f.addr == "" || s.addr == f.addr) &&
		(f.laddr == "" || s.laddr == f.laddr) &&
		(f.kind == "" || s.isType(f.kind)) &&
		(f.user == "" || s.userName() == f.user) &&
		(f.maxAge == 0 || (s.srv.now-s.created)/1000 >= f.maxAge)
}

// parse reads one option and its value.
func (f *killFilter) parse(srv *Server, option, value []byte) (err error) {
	switch {
	case commands.Is(option, "id"):
		id, ok := num.Int(value)
		if !ok || id < 1 {
			return commands.Error("ERR client-id should be greater than 0")
		}
		f.id = id
	case commands.Is(option, "type"):
		f.kind, err = parseType(value)
	case commands.Is(option, "addr"):
		f.addr = string(value)
	case commands.Is(option, "laddr"):
		f.laddr = string(value)
	case commands.Is(option, "user"):
		if !srv.userExists(string(value)) {
			return commands.Error("ERR No such user '" + commands.EchoLong(value) + "'")
		}
		f.user = string(value)
	case commands.Is(option, "maxage"):
		age, ok := num.Int(value)
		if !ok {
			return commands.Error("ERR maxage is not an integer or out of range")
		}
		if age <= 0 {
			return commands.Error("ERR maxage should be greater than 0")
		}
		f.maxAge = age
	case commands.Is(option, "skipme"):
		switch {
		case commands.Is(value, "yes"):
			f.skipMe = true
		case commands.Is(value, "no"):
			f.skipMe = false
		default:
			return commands.ErrSyntax
		}
	default:
		return commands.ErrSyntax
	}
	return err
}

// cmdClientKill handles CLIENT KILL addr:port, and CLIENT KILL with filters.
//
// Reply:   OK for an address; the number of connections closed for filters
// Errors:  no such client, syntax, a bad filter value
// Effects: none
func cmdClientKill(c *commands.Call) error {
	s := c.Peer.(*session)
	f := killFilter{skipMe: true}
	old := len(c.Args) == 3
	switch {
	case old:
		f = killFilter{addr: string(c.Args[2])}
	case len(c.Args)%2 != 0:
		return commands.ErrSyntax
	}
	for i := 2; !old && i < len(c.Args); i += 2 {
		if err := f.parse(s.srv, c.Args[i], c.Args[i+1]); err != nil {
			return err
		}
	}
	killed := int64(0)
	self := false
	for _, other := range s.srv.sorted() {
		if !f.matches(other) || other == s && f.skipMe {
			continue
		}
		killed++
		if other == s {
			self = true
		} else {
			other.kill()
		}
	}
	switch {
	case old && killed == 0:
		return commands.Error("ERR No such client")
	case old:
		c.Reply.OK()
	default:
		c.Reply.Int(killed)
	}
	if self {
		s.finish() // after its reply
	}
	return nil
}

// kill ends a session for another's sake. It is off every list at once: nothing is popped or published for
// the dead.
func (s *session) kill() {
	s.srv.pubsub.forget(s)
	s.end()
}
