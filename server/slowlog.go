package server

import (
	"slices"
	"strconv"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store/num"
)

// slowEntry is one command that took longer than slowlog-log-slower-than.
type slowEntry struct {
	id     int64
	at     int64 // Unix seconds
	micros int64
	args   []string
	addr   string
	name   string
}

// slowlog keeps the newest slow commands, oldest first.
type slowlog struct {
	entries []slowEntry
	nextID  int64
}

const (
	slowArgs  = 32  // arguments kept of a slow command
	slowBytes = 128 // bytes kept of an argument
)

// note records a command when it was slow.
func (srv *Server) noteSlow(s *session, row *commands.Row, args [][]byte, micros int64) {
	limit := srv.cfg.SlowlogLogSlowerThan
	if limit < 0 || micros < limit || srv.cfg.SlowlogMaxLen == 0 || row.Has(commands.SkipSlowlog) {
		return
	}
	l := &srv.slowlog
	e := slowEntry{id: l.nextID, at: srv.now / 1000, micros: micros, addr: s.addr, name: s.name}
	l.nextID++
	kept := args
	if len(kept) > slowArgs {
		kept = kept[:slowArgs-1]
	}
	for i := range kept {
		a := row.Shown(args, i)
		if len(a) > slowBytes {
			e.args = append(e.args, string(a[:slowBytes])+"... ("+strconv.Itoa(len(a)-slowBytes)+" more bytes)")
		} else {
			e.args = append(e.args, string(a))
		}
	}
	if len(kept) < len(args) {
		e.args = append(e.args, "... ("+strconv.Itoa(len(args)-len(kept))+" more arguments)")
	}
	l.entries = append(l.entries, e)
	if over := int64(len(l.entries)) - srv.cfg.SlowlogMaxLen; over > 0 {
		clear(l.entries[:over])
		l.entries = l.entries[over:]
	}
}

const slowlogFlags = commands.Admin | commands.Loading | commands.Stale

var slowlogRows = []commands.Row{{
	Name: "slowlog", Family: "server", Arity: -2, Since: "2.2.12",
	Summary: "The commands about slow commands.", Complexity: "That of the subcommand",
	Subs: []commands.Row{
		{
			Name: "get", Tips: []string{"request_policy:all_nodes", commands.TipVaries}, Arity: -2, Flags: slowlogFlags, Do: cmdSlowlogGet, Syntax: "[count]", Since: "2.2.12",
			Summary: "Shows the newest slow commands.", Complexity: "O(N), N being the entries in the reply",
		},
		commands.HelpRow("6.2.0"),
		{
			Name: "len", Tips: []string{"request_policy:all_nodes", "response_policy:agg_sum", commands.TipVaries}, Arity: 2, Flags: slowlogFlags, Do: cmdSlowlogLen, Since: "2.2.12",
			Summary: "Counts the slow commands that are kept.", Complexity: "O(1)",
		},
		{
			Name: "reset", Tips: []string{"request_policy:all_nodes", "response_policy:all_succeeded"}, Arity: 2, Flags: slowlogFlags, Do: cmdSlowlogReset, Since: "2.2.12",
			Summary: "Forgets the slow commands.", Complexity: "O(N), N being the entries kept",
		},
	},
}}

// cmdSlowlogGet handles SLOWLOG GET [count].
//
// Reply:   array of entries, newest first: id, Unix seconds, microseconds, arguments, client address, client name
// Errors:  a count below -1 (-1 is all)
// Effects: none
func cmdSlowlogGet(c *commands.Call) error {
	entries := c.Peer.(*session).srv.slowlog.entries
	count := int64(10)
	if len(c.Args) > 3 {
		return commands.ErrSubSyntax(c.Args)
	}
	if len(c.Args) == 3 {
		n, ok := num.Int(c.Args[2])
		if !ok || n < -1 {
			return commands.Error("ERR count should be greater than or equal to -1")
		}
		count = n
	}
	if count >= 0 && count < int64(len(entries)) {
		entries = entries[int64(len(entries))-count:]
	}
	r := c.Reply
	r.Array(len(entries))
	for _, e := range slices.Backward(entries) {
		r.Array(6)
		r.Int(e.id)
		r.Int(e.at)
		r.Int(e.micros)
		r.Array(len(e.args))
		for _, a := range e.args {
			r.Text(a)
		}
		r.Text(e.addr)
		r.Text(e.name)
	}
	return nil
}

// cmdSlowlogLen handles SLOWLOG LEN.
//
// Reply:   number of entries
// Effects: none
func cmdSlowlogLen(c *commands.Call) error {
	c.Reply.Int(int64(len(c.Peer.(*session).srv.slowlog.entries)))
	return nil
}

// cmdSlowlogReset handles SLOWLOG RESET.
//
// Reply:   OK
// Effects: none
func cmdSlowlogReset(c *commands.Call) error {
	c.Peer.(*session).srv.slowlog.entries = nil
	c.Reply.OK()
	return nil
}
