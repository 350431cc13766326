package server

import (
	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store/num"
)

var connectionRows = []commands.Row{
	{
		Name: "ping", Tips: []string{"request_policy:all_shards", "response_policy:all_succeeded"}, Family: "connection", Arity: -1, Do: cmdPing,
		Flags:  commands.Fast | commands.SubscriberMode,
		Syntax: "[message]", Summary: "Answers, to show that the node is there.", Complexity: "O(1)", Since: "1.0.0",
	},
	{
		Name: "echo", Family: "connection", Arity: 2, Do: cmdEcho,
		Flags:  commands.Fast | commands.Loading | commands.Stale,
		Syntax: "message", Summary: "Sends the message back.", Complexity: "O(1)", Since: "1.0.0",
	},
	{
		Name: "hello", Family: "connection", Arity: -1, Do: cmdHello,
		Flags: commands.NoScript | commands.Loading | commands.Stale | commands.Fast | commands.NoAuth | commands.AllowBusy |
			commands.SubscriberMode,
		SecretAt: secretOfHello,
		Syntax:   "[protover:integer [AUTH username password] [SETNAME clientname]]",
		Summary:  "Opens a conversation: protocol version, login, connection name.", Complexity: "O(1)", Since: "6.0.0",
	},
	{
		Name: "select", Family: "connection", Arity: 2, Do: cmdSelect,
		Flags:  commands.Loading | commands.Stale | commands.Fast,
		Syntax: "index", Summary: "Chooses the database that further commands work on.", Complexity: "O(1)", Since: "1.0.0",
	},
	{
		Name: "quit", Family: "connection", Arity: -1, Do: cmdQuit,
		Flags: commands.AllowBusy | commands.NoScript | commands.Loading | commands.Stale | commands.Fast | commands.NoAuth |
			commands.SubscriberMode | commands.TxControl,
		Summary: "Ends the connection after its replies are sent.", Complexity: "O(1)", Since: "1.0.0",
	},
	{
		Name: "reset", Family: "connection", Arity: 1, Do: cmdReset,
		Flags: commands.NoScript | commands.Loading | commands.Stale | commands.Fast | commands.NoAuth | commands.AllowBusy |
			commands.SubscriberMode | commands.TxControl,
		Summary: "Puts the connection back to what it was when it was opened.", Complexity: "O(1)", Since: "6.2.0",
	},
}

// cmdPing handles PING [message].
//
// Reply:   PONG, or the message; to a RESP2 subscriber the pair pong and message
// Effects: none
func cmdPing(c *commands.Call) error {
	s := c.Peer.(*session)
	if len(c.Args) > 2 {
		return commands.ErrArity(c.Row.FullName())
	}
	if s.proto == 2 && s.subscriber() {
		c.Reply.Array(2)
		c.Reply.Text("pong")
		if len(c.Args) == 2 {
			c.Reply.Bulk(c.Args[1])
		} else {
			c.Reply.Text("")
		}
		return nil
	}
	if len(c.Args) == 2 {
		c.Reply.Bulk(c.Args[1])
	} else {
		c.Reply.Simple("PONG")
	}
	return nil
}

// cmdEcho handles ECHO message.
//
// Reply:   the message
// Effects: none
func cmdEcho(c *commands.Call) error {
	c.Reply.Bulk(c.Args[1])
	return nil
}

// cmdSelect handles SELECT index.
//
// Reply:   OK
// Errors:  not an integer, no such database
// Effects: none
func cmdSelect(c *commands.Call) error {
	s := c.Peer.(*session)
	n, ok := num.Int(c.Args[1])
	if !ok {
		return commands.ErrNotInteger
	}
	if n < 0 || n >= int64(c.Tx.Store().Databases()) {
		return commands.Error("ERR DB index is out of range")
	}
	s.db = int(n)
	c.Reply.OK()
	return nil
}

// cmdQuit handles QUIT.
//
// Reply:   OK, then the connection ends
// Effects: none
func cmdQuit(c *commands.Call) error {
	c.Reply.OK()
	c.Peer.(*session).finish()
	return nil
}

// cmdReset handles RESET: everything that the client set on its connection goes.
//
// Reply:   RESET
// Effects: none
func cmdReset(c *commands.Call) error {
	s := c.Peer.(*session)
	s.tx = nil
	s.unwatch()
	s.srv.pubsub.forget(s)
	s.srv.untrack(s)
	s.unmonitor()
	s.proto, s.db, s.name = 2, 0, ""
	s.replyOff, s.noTouch, s.noEvict, s.heard = false, false, false, true
	s.logOut()
	c.Reply.Reset(c.Reply.Bytes(), 2)
	c.Reply.Simple("RESET")
	return nil
}

// secretOfHello tells the name and the password behind AUTH.
func secretOfHello(args [][]byte, i int) bool {
	for at := 2; at < i; at++ {
		switch {
		case commands.Is(args[at], "auth"):
			if i <= at+2 {
				return true
			}
			at += 2
		case commands.Is(args[at], "setname"):
			at++
		}
	}
	return false
}

// cmdHello handles HELLO [protover [AUTH username password] [SETNAME clientname]].
//
// Reply:   map of facts about server and connection, in the version asked for
// Errors:  NOPROTO, NOAUTH, WRONGPASS, syntax
// Effects: none
func cmdHello(c *commands.Call) error {
	s := c.Peer.(*session)
	hello, err := parseHello(c.Args)
	if err != nil {
		return err
	}
	if hello.username != nil {
		if err := s.logIn(c.Args[0], hello.username, hello.password); err != nil {
			return err
		}
	}
	if s.needsAuth() {
		return commands.Error("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> " +
			"AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time")
	}
	if hello.named {
		s.name = hello.name
	}
	proto := s.proto
	if hello.proto != 0 {
		proto = hello.proto
	}
	s.proto = proto
	r := c.Reply
	r.Reset(r.Bytes(), proto)
	r.Map(7)
	r.Text("server")
	r.Text("emqd")
	r.Text("version")
	r.Text(compatVersion)
	r.Text("proto")
	r.Int(int64(proto))
	r.Text("id")
	r.Int(s.id)
	r.Text("mode")
	r.Text("standalone")
	r.Text("role")
	r.Text("master")
	r.Text("modules")
	r.Array(0)
	return nil
}

// helloOptions are the arguments of HELLO.
type helloOptions struct {
	proto              int // 0 when none is asked for
	username, password []byte
	named              bool
	name               string
}

func parseHello(args [][]byte) (h helloOptions, err error) {
	if len(args) < 2 {
		return h, nil
	}
	n, ok := num.Int(args[1])
	if !ok {
		return h, commands.Error("ERR Protocol version is not an integer or out of range")
	}
	if n != 2 && n != 3 {
		return h, commands.Error("NOPROTO unsupported protocol version")
	}
	h.proto = int(n)
	for i := 2; i < len(args); i++ {
		switch left := len(args) - i - 1; {
		case commands.Is(args[i], "auth") && left >= 2:
			h.username, h.password = args[i+1], args[i+2]
			i += 2
		case commands.Is(args[i], "setname") && left >= 1:
			if !plainWord(args[i+1]) {
				return h, errClientName
			}
			h.named, h.name = true, string(args[i+1])
			i++
		default:
			return h, commands.Error("ERR Syntax error in HELLO option '" + commands.EchoLong(args[i]) + "'")
		}
	}
	return h, nil
}

// The versions of Redis and of Valkey that clients may take this server for: they enable commands by them.
const (
	compatVersion = "7.2.4"
	compatValkey  = "8.0.0"
)
