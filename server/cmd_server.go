package server

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/echomq/emqd/commands"
)

func serverRow(name string, arity int, flags commands.Flags, syntax, summary, complexity, since string, do func(*commands.Call) error) commands.Row {
	return commands.Row{
		Name: name, Family: "server", Arity: arity, Flags: flags | commands.Loading | commands.Stale, Syntax: syntax, Summary: summary,
		Complexity: complexity, Since: since, Do: do,
	}
}

var serverRows = []commands.Row{
	withCategories(serverRow("info", -1, 0, "[section [section ...]]", "Tells the state and the counters of the node.", "O(1)", "1.0.0", cmdInfo).WithTips(commands.TipVaries, "request_policy:all_shards", "response_policy:special"), "dangerous"),
	{
		Name: "lolwut", Family: "server", Arity: -1, Flags: commands.ReadOnly | commands.Fast, Do: cmdLolwut, Syntax: "[VERSION version:integer]",
		Since: "5.0.0", Summary: "Draws the name of the server.", Complexity: "O(1)",
	},
	withCategories(serverRow("role", 1, commands.NoScript|commands.Fast, "", "Tells the node's part in replication.", "O(1)", "2.8.12", cmdRole), "admin", "dangerous"),
	serverRow("shutdown", -1, commands.Admin|commands.NoScript|commands.AllowBusy|commands.NoMulti, "[[NOSAVE | SAVE] [NOW] [FORCE] | ABORT]",
		"Stops the node.", "O(N) with SAVE, N being the keys", "1.0.0", cmdShutdown),
	serverRow("time", 1, commands.Fast, "", "Tells the node's clock.", "O(1)", "2.6.0", cmdTime).WithTips(commands.TipVaries),
	{
		Name: "module", Family: "server", Arity: -2, Summary: "The commands about modules, which this server has none of.", Complexity: "That of the subcommand", Since: "4.0.0",
		Subs: []commands.Row{
			commands.HelpRow("5.0.0"),
			{
				Name: "list", Tips: []string{commands.TipAnyOrder}, Arity: 2, Flags: commands.Admin | commands.NoScript, Do: cmdModuleList, Since: "4.0.0",
				Summary: "Lists the loaded modules: none.", Complexity: "O(1)",
			},
		},
	},
}

func withCategories(row commands.Row, categories ...string) commands.Row {
	row.Categories = categories
	return row
}

// newRunID returns 40 random hexadecimal digits that name this run of the node.
func newRunID() string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// cmdInfo handles INFO [section ...].
//
// Reply:   text in sections
// Effects: none
func cmdInfo(c *commands.Call) error {
	c.Reply.Verbatim(c.Peer.(*session).srv.info(c.Args[1:]))
	return nil
}

// cmdTime handles TIME.
//
// Reply:   Unix seconds and the microseconds beyond them, as texts
// Effects: none
func cmdTime(c *commands.Call) error {
	micros := c.Peer.(*session).srv.clock.nano() / 1000
	c.Reply.Array(2)
	c.Reply.IntText(micros / 1e6)
	c.Reply.IntText(micros % 1e6)
	return nil
}

// cmdRole handles ROLE.
//
// Reply:   master, its replication offset, its replicas
// Effects: none
func cmdRole(c *commands.Call) error {
	c.Reply.Array(3)
	c.Reply.Text("master")
	c.Reply.Int(0)
	c.Reply.Array(0)
	return nil
}

// cmdLolwut handles LOLWUT [VERSION version].
//
// Reply:   text
// Effects: none
func cmdLolwut(c *commands.Call) error {
	c.Reply.Verbatim("  ___ _ __ ___   __ _  __| |\n / _ \\ '_ ` _ \\ / _` |/ _` |\n|  __/ | | | | | (_| | (_| |\n" +
		" \\___|_| |_| |_|\\__, |\\__,_|\n                   |_|\n\nemqd ver. " + Version + "\n")
	return nil
}

// cmdModuleList handles MODULE LIST.
//
// Reply:   empty array: nothing is loaded into this server
// Effects: none
func cmdModuleList(c *commands.Call) error {
	c.Reply.Array(0)
	return nil
}

// cmdShutdown handles SHUTDOWN [NOSAVE|SAVE] [NOW] [FORCE] [ABORT].
//
// Reply:   none, the connection ends with the node
// Errors:  syntax; ABORT when no shutdown is under way; a snapshot that cannot be written, without FORCE
// Effects: none
func cmdShutdown(c *commands.Call) error {
	srv := c.Peer.(*session).srv
	var save, nosave, abort, now, force bool
	for _, arg := range c.Args[1:] {
		switch {
		case commands.Is(arg, "save"):
			save = true
		case commands.Is(arg, "nosave"):
			nosave = true
		case commands.Is(arg, "now"):
			now = true
		case commands.Is(arg, "force"):
			force = true
		case commands.Is(arg, "abort"):
			abort = true
		default:
			return commands.ErrSyntax
		}
	}
	if save && nosave || abort && (save || nosave || now || force) {
		return commands.ErrSyntax
	}
	if abort {
		return commands.Error("ERR No shutdown in progress.")
	}
	if save || len(srv.cfg.Save) > 0 && !nosave {
		if err := srv.save(); err != nil && !force {
			return commands.Error("ERR Errors trying to SHUTDOWN. Check logs.")
		}
	}
	srv.works.noEndSave = true
	srv.log.Info("shutting down at a client's request", "client", c.Peer.(*session).addr)
	c.Peer.(*session).finish()
	srv.stop(errShutdown)
	srv.wake()
	return nil
}
