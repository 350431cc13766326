package commands

import "strings"

// HelpRow returns the HELP sub-command of a container, whose text derives from the container's rows.
func HelpRow(since string) Row {
	return Row{
		Name: "help", Arity: 2, Flags: Loading | Stale, Do: cmdHelp, Since: since,
		Summary: "Lists the subcommands with a line about each.", Complexity: "O(1)",
	}
}

// cmdHelp handles <container> HELP.
//
// Reply:   array of simple strings
// Effects: none
func cmdHelp(c *Call) error {
	row := c.Table.Lookup(c.Args[0])
	c.Reply.Array(1 + 2*len(row.Subs))
	name := strings.ToUpper(row.Name)
	c.Reply.Simple(name + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	for i := range row.Subs {
		sub := &row.Subs[i]
		c.Reply.Simple(strings.TrimSpace(strings.ToUpper(sub.Name) + " " + sub.Syntax))
		c.Reply.Simple("    " + sub.Summary)
	}
	return nil
}
