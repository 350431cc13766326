package server

import (
	"strconv"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/server/resp"
)

var monitorRows = []commands.Row{{
	Name: "monitor", Family: "server", Arity: 1, Do: cmdMonitor,
	Flags:   commands.Admin | commands.NoScript | commands.Loading | commands.Stale,
	Summary: "Shows every command as the node runs it.", Complexity: "O(1)", Since: "1.0.0",
}}

// cmdMonitor handles MONITOR.
//
// Reply:   OK, then one simple string for each command that any client runs
// Errors:  in a transaction
// Effects: none
func cmdMonitor(c *commands.Call) error {
	s := c.Peer.(*session)
	if s.inExec {
		return commands.Error("ERR MONITOR isn't allowed for DENY BLOCKING client")
	}
	if !s.monitor {
		s.monitor = true
		s.srv.monitors = append(s.srv.monitors, s)
	}
	c.Reply.OK()
	return nil
}

// feedMonitors shows a command that has run to the clients that monitor: what waits when it begins to, EXEC after what it ran.
func (srv *Server) feedMonitors(s *session, row *commands.Row, args [][]byte) {
	if len(srv.monitors) == 0 || row.Flags&(commands.SkipMonitor|commands.Admin) != 0 {
		return
	}
	micros := srv.clock.nano() / 1000
	line := append([]byte(nil), '+')
	line = strconv.AppendInt(line, micros/1e6, 10)
	line = append(line, '.')
	fraction := strconv.FormatInt(1e6+micros%1e6, 10)
	line = append(line, fraction[1:]...)
	line = append(line, " ["...)
	line = strconv.AppendInt(line, int64(s.db), 10)
	line = append(line, ' ')
	line = append(line, s.addr...)
	line = append(line, ']')
	for i := range args {
		line = append(line, ' ')
		line = append(line, resp.Quote(row.Shown(args, i))...)
	}
	line = append(line, '\r', '\n')
	for _, m := range srv.monitors {
		m.push(line)
	}
}
