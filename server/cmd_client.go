package server

import (
	"strings"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store/num"
)

const clientFlags = commands.NoScript | commands.Loading | commands.Stale | commands.KeepsCaching

func clientSub(name string, arity int, flags commands.Flags, syntax, summary, since string, do func(*commands.Call) error) commands.Row {
	return commands.Row{
		Name: name, Arity: arity, Flags: clientFlags | flags, Syntax: syntax, Summary: summary, Since: since, Do: do,
		Complexity: "O(1), or O(N), N being the connections looked at",
	}
}

var clientRows = []commands.Row{{
	Name: "client", Family: "connection", Arity: -2, Since: "2.4.0",
	Summary: "The commands about connections.", Complexity: "That of the subcommand",
	Subs: []commands.Row{
		clientSub("caching", 3, 0, "YES | NO", "Says whether the next command's keys are tracked.", "6.0.0", cmdClientCaching),
		clientSub("getname", 2, 0, "", "Tells this connection's name.", "2.6.9", cmdClientGetName),
		clientSub("getredir", 2, 0, "", "Tells which connection gets this one's invalidations.", "6.0.0", cmdClientGetRedir),
		commands.HelpRow("5.0.0"),
		clientSub("id", 2, 0, "", "Tells this connection's number.", "5.0.0", cmdClientID),
		clientSub("info", 2, 0, "", "Describes this connection.", "6.2.0", cmdClientInfo).WithTips(commands.TipVaries),
		clientSub("kill", -3, commands.Admin, "ip:port | <[ID client-id:integer] | [TYPE <NORMAL | MASTER | PRIMARY | SLAVE | REPLICA | PUBSUB>] | [USER username] | [ADDR ip:port] | [LADDR ip:port] | [SKIPME <YES | NO>] | [MAXAGE seconds]> ...",
			"Ends connections by address or by filters.", "2.4.0", cmdClientKill),
		clientSub("list", -2, commands.Admin, "[TYPE <NORMAL | MASTER | REPLICA | PUBSUB>] [ID client-id:integer [client-id:integer ...]]", "Describes the connections, a line each.", "2.4.0", cmdClientList).WithTips(commands.TipVaries),
		clientSub("no-evict", 3, commands.Admin, "ON | OFF", "Keeps this connection from being ended by maxmemory-clients.", "7.0.0", cmdClientNoEvict),
		clientSub("no-touch", 3, 0, "ON | OFF", "Says whether this connection's look-ups renew the keys' access times.", "7.2.0", cmdClientNoTouch),
		clientSub("pause", -3, commands.Admin, "timeout:integer [WRITE | ALL]", "Holds the commands of all clients for a while.", "3.0.0", cmdClientPause),
		clientSub("reply", 3, 0, "ON | OFF | SKIP", "Turns replies to this connection off and on.", "3.2.0", cmdClientReply),
		clientSub("setinfo", 4, 0, "<LIB-NAME libname | LIB-VER libver>", "Notes the client library's name or version.", "7.2.0", cmdClientSetInfo).WithTips("request_policy:all_nodes", "response_policy:all_succeeded"),
		clientSub("setname", 3, 0, "connection-name", "Gives this connection a name.", "2.6.9", cmdClientSetName).WithTips("request_policy:all_nodes", "response_policy:all_succeeded"),
		clientSub("tracking", -3, 0, "<ON | OFF> [REDIRECT client-id:integer] [PREFIX prefix [PREFIX prefix ...]] [BCAST] [OPTIN] [OPTOUT] [NOLOOP]",
			"Turns invalidations for this client's cache on or off.", "6.0.0", cmdClientTracking),
		clientSub("trackinginfo", 2, 0, "", "Tells how this connection's invalidations are set.", "6.2.0", cmdClientTrackingInfo),
		clientSub("unblock", -3, commands.Admin, "client-id:integer [TIMEOUT | ERROR]", "Ends another connection's wait.", "5.0.0", cmdClientUnblock),
		clientSub("unpause", 2, commands.Admin, "", "Ends CLIENT PAUSE.", "6.2.0", cmdClientUnpause),
	},
}}

// cmdClientGetName handles CLIENT GETNAME.
//
// Reply:   the name, null when there is none
// Effects: none
func cmdClientGetName(c *commands.Call) error {
	if name := c.Peer.(*session).name; name != "" {
		c.Reply.Text(name)
	} else {
		c.Reply.Null()
	}
	return nil
}

const errClientName commands.Error = "ERR Client names cannot contain spaces, newlines or special characters."

// cmdClientSetName handles CLIENT SETNAME name.
//
// Reply:   OK
// Errors:  a name with spaces or control characters
// Effects: none
func cmdClientSetName(c *commands.Call) error {
	if !plainWord(c.Args[2]) {
		return errClientName
	}
	c.Peer.(*session).name = string(c.Args[2])
	c.Reply.OK()
	return nil
}

// plainWord reports whether b has only printable ASCII without the space.
func plainWord(b []byte) bool {
	for _, ch := range b {
		if ch < '!' || ch > '~' {
			return false
		}
	}
	return true
}

// cmdClientSetInfo handles CLIENT SETINFO LIB-NAME|LIB-VER value.
//
// Reply:   OK
// Errors:  another option, a value with spaces or control characters
// Effects: none
func cmdClientSetInfo(c *commands.Call) error {
	for i, option := range [...]string{"lib-name", "lib-ver"} {
		if !commands.Is(c.Args[2], option) {
			continue
		}
		if !plainWord(c.Args[3]) {
			return commands.Error("ERR " + strings.ToUpper(option) + " cannot contain spaces, newlines or special characters.")
		}
		c.Peer.(*session).libs[i] = string(c.Args[3])
		c.Reply.OK()
		return nil
	}
	return commands.Error("ERR Unrecognized option '" + commands.EchoLong(c.Args[2]) + "'")
}

// cmdClientID handles CLIENT ID.
//
// Reply:   the connection's number
// Effects: none
func cmdClientID(c *commands.Call) error {
	c.Reply.Int(c.Peer.(*session).id)
	return nil
}

// cmdClientInfo handles CLIENT INFO.
//
// Reply:   the connection's line of CLIENT LIST
// Effects: none
func cmdClientInfo(c *commands.Call) error {
	c.Reply.Verbatim(c.Peer.(*session).describe() + "\n")
	return nil
}

// cmdClientList handles CLIENT LIST [TYPE type] [ID id [id ...]].
//
// Reply:   one line for each connection
// Errors:  syntax, an unknown type, a bad id
// Effects: none
func cmdClientList(c *commands.Call) error {
	srv := c.Peer.(*session).srv
	args := c.Args[2:]
	keep := func(*session) bool { return true }
	switch {
	case len(args) == 0:
	case len(args) == 2 && commands.Is(args[0], "type"):
		kind, err := parseType(args[1])
		if err != nil {
			return err
		}
		keep = func(s *session) bool { return s.isType(kind) }
	case len(args) > 1 && commands.Is(args[0], "id"):
		ids := map[int64]bool{}
		for _, arg := range args[1:] {
			id, ok := num.Int(arg)
			if !ok {
				return commands.Error("ERR Invalid client ID")
			}
			ids[id] = true
		}
		keep = func(s *session) bool { return ids[s.id] }
	default:
		return commands.ErrSyntax
	}
	var b strings.Builder
	for _, s := range srv.sorted() {
		if keep(s) {
			b.WriteString(s.describe())
			b.WriteByte('\n')
		}
	}
	c.Reply.Verbatim(b.String())
	return nil
}

// onOff reads the word of an ON|OFF switch.
func onOff(arg []byte) (bool, error) {
	switch {
	case commands.Is(arg, "on"):
		return true, nil
	case commands.Is(arg, "off"):
		return false, nil
	}
	return false, commands.ErrSyntax
}

// cmdClientNoEvict handles CLIENT NO-EVICT ON|OFF.
//
// Reply:   OK
// Effects: none
func cmdClientNoEvict(c *commands.Call) (err error) {
	s := c.Peer.(*session)
	if s.noEvict, err = onOff(c.Args[2]); err == nil {
		c.Reply.OK()
	}
	return err
}

// cmdClientNoTouch handles CLIENT NO-TOUCH ON|OFF.
//
// Reply:   OK
// Effects: none
func cmdClientNoTouch(c *commands.Call) (err error) {
	s := c.Peer.(*session)
	if s.noTouch, err = onOff(c.Args[2]); err == nil {
		c.Reply.OK()
	}
	return err
}

// cmdClientReply handles CLIENT REPLY ON|OFF|SKIP.
//
// Reply:   OK to ON, nothing to OFF and SKIP
// Effects: none
func cmdClientReply(c *commands.Call) error {
	s := c.Peer.(*session)
	switch {
	case commands.Is(c.Args[2], "on"):
		s.replyOff, s.replySkip, s.heard = false, 0, true
		c.Reply.OK()
	case commands.Is(c.Args[2], "off"):
		s.replyOff = true
	case commands.Is(c.Args[2], "skip"):
		if !s.replyOff {
			s.replySkip = 1
		}
	default:
		return commands.ErrSyntax
	}
	return nil
}

// cmdClientPause handles CLIENT PAUSE timeout [WRITE|ALL].
//
// Reply:   OK
// Errors:  a timeout that is no integer or negative, syntax
// Effects: none
func cmdClientPause(c *commands.Call) error {
	srv := c.Peer.(*session).srv
	all := true
	if len(c.Args) == 4 {
		switch {
		case commands.Is(c.Args[3], "write"):
			all = false
		case commands.Is(c.Args[3], "all"):
		default:
			return commands.Error("ERR CLIENT PAUSE mode must be WRITE or ALL")
		}
	} else if len(c.Args) > 4 {
		return commands.ErrSubSyntax(c.Args)
	}
	ms, ok := num.Int(c.Args[2])
	if !ok || ms > 1<<52 {
		return commands.ErrTimeoutInteger
	}
	if ms < 0 {
		return commands.ErrTimeoutNeg
	}
	// A longer pause that is on already stays.
	if all {
		srv.pause.all = max(srv.pause.all, c.Now()+ms)
	} else {
		srv.pause.writes = max(srv.pause.writes, c.Now()+ms)
	}
	c.Reply.OK()
	return nil
}

// cmdClientUnpause handles CLIENT UNPAUSE.
//
// Reply:   OK
// Effects: none
func cmdClientUnpause(c *commands.Call) error {
	srv := c.Peer.(*session).srv
	srv.pause.writes, srv.pause.all = 0, 0
	c.Reply.OK()
	return nil
}

// cmdClientUnblock handles CLIENT UNBLOCK id [TIMEOUT|ERROR].
//
// Reply:   1 when the client was blocked, else 0
// Errors:  a bad id, syntax
// Effects: none
func cmdClientUnblock(c *commands.Call) error {
	srv := c.Peer.(*session).srv
	withError := false
	if len(c.Args) == 4 {
		switch {
		case commands.Is(c.Args[3], "error"):
			withError = true
		case commands.Is(c.Args[3], "timeout"):
		default:
			return commands.Error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
		}
	} else if len(c.Args) > 4 {
		return commands.ErrSubSyntax(c.Args)
	}
	id, ok := num.Int(c.Args[2])
	if !ok {
		return commands.ErrNotInteger
	}
	target := srv.sessions[id]
	blocked := target != nil && target.waiting != nil && !target.waiting.held
	if blocked {
		srv.unblocks = append(srv.unblocks, unblock{target.waiting, withError})
	}
	c.Reply.Flag(blocked)
	return nil
}

const errUnblocked commands.Error = "UNBLOCKED client unblocked via CLIENT UNBLOCK"

// unblock is a wait that CLIENT UNBLOCK ends once its own transaction is settled.
type unblock struct {
	w     *waiter
	error bool
}

// finishUnblocks ends the waits that CLIENT UNBLOCK has named.
func (srv *Server) finishUnblocks() {
	for len(srv.unblocks) > 0 {
		u := srv.unblocks[0]
		srv.unblocks = srv.unblocks[1:]
		if u.w.s.waiting != u.w {
			continue
		}
		if !u.error {
			srv.lapse(u.w)
			continue
		}
		srv.stats.endedByError(u.w.row, errUnblocked)
		u.w.s.answer(func(r *commands.Reply) { r.Error(errUnblocked) })
		srv.release(u.w)
	}
}
