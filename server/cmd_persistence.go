package server

import "github.com/echomq/emqd/commands"

const jobFlags = commands.Admin | commands.NoScript

var persistenceRows = []commands.Row{
	{
		Name: "bgrewriteaof", Family: "server", Arity: 1, Do: cmdBgRewriteAOF, Flags: jobFlags, Since: "1.0.0",
		Summary: "Makes the log short in the background.", Complexity: "O(1)",
	},
	{
		Name: "bgsave", Family: "server", Arity: -1, Do: cmdBgSave, Flags: jobFlags, Since: "1.0.0", Syntax: "[SCHEDULE]",
		Summary: "Writes a snapshot in the background.", Complexity: "O(1)",
	},
	{
		Name: "lastsave", Tips: []string{commands.TipVaries}, Family: "server", Arity: 1, Do: cmdLastSave, Flags: commands.Loading | commands.Stale | commands.Fast, Since: "1.0.0",
		Summary: "Tells when the last snapshot was written.", Complexity: "O(1)", Categories: []string{"admin", "dangerous"},
	},
	{
		Name: "save", Family: "server", Arity: 1, Do: cmdSave, Flags: jobFlags | commands.NoMulti, Since: "1.0.0",
		Summary: "Writes a snapshot while everything else waits.", Complexity: "O(N), N being the keys",
	},
}

const (
	errSaveRuns    = commands.Error("ERR Background save already in progress")
	errRewriteRuns = commands.Error("ERR Background append only file rewriting already in progress")
	errOtherRuns   = commands.Error("ERR Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE SCHEDULE in order " +
		"to schedule a BGSAVE whenever possible.")
	errNoRewrite = commands.Error("ERR Can't execute an AOF background rewriting. Please check the server logs for more information.")
	errSave      = commands.Error("ERR")
)

// cmdSave handles SAVE.
//
// Reply:   OK once the snapshot is durable
// Errors:  a background save runs; ERR alone when it cannot be written, with the reason in the server's log
// Effects: none
func cmdSave(c *commands.Call) error {
	srv := c.Peer.(*session).srv
	if w := srv.works.now; w != nil && !w.rewrite {
		return errSaveRuns
	}
	if err := srv.save(); err != nil {
		return errSave
	}
	c.Reply.OK()
	return nil
}

// cmdBgSave handles BGSAVE [SCHEDULE].
//
// Reply:   that it has started, or that it will
// Errors:  a save runs already; other work runs and SCHEDULE was not asked for; syntax
// Effects: none
func cmdBgSave(c *commands.Call) error {
	s := c.Peer.(*session)
	works, schedule := &s.srv.works, false
	if len(c.Args) > 1 {
		if len(c.Args) > 2 || !commands.Is(c.Args[1], "schedule") {
			return commands.ErrSyntax
		}
		schedule = true
	}
	switch {
	case works.now != nil && !works.now.rewrite:
		return errSaveRuns
	case works.now != nil || s.inExec:
		if !schedule && !s.inExec {
			return errOtherRuns
		}
		works.saveDue = true
		c.Reply.Simple("Background saving scheduled")
		return nil
	}
	s.srv.saveBehind()
	if works.now == nil && works.saveBad {
		return errSave
	}
	c.Reply.Simple("Background saving started")
	return nil
}

// cmdBgRewriteAOF handles BGREWRITEAOF.
//
// Reply:   that it has started, or that it will
// Errors:  it runs already; there is no log
// Effects: none
func cmdBgRewriteAOF(c *commands.Call) error {
	s := c.Peer.(*session)
	works := &s.srv.works
	switch {
	case works.now != nil && works.now.rewrite:
		return errRewriteRuns
	case s.srv.aof == nil:
		s.srv.log.Warn("BGREWRITEAOF: appendonly is no, there is no log to be written anew")
		return errNoRewrite
	case works.now != nil || s.inExec:
		works.rewriteDue = true
		c.Reply.Simple("Background append only file rewriting scheduled")
		return nil
	}
	s.srv.rewrite()
	c.Reply.Simple("Background append only file rewriting started")
	return nil
}

// cmdLastSave handles LASTSAVE.
//
// Reply:   Unix seconds of the last snapshot, or of the start before the first
// Effects: none
func cmdLastSave(c *commands.Call) error {
	c.Reply.Int(c.Peer.(*session).srv.works.saved.Unix())
	return nil
}
