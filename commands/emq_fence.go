package commands

import "github.com/echomq/emqd/fence"

var emqFenceRows = []Row{
	{
		Name: "emq.version", Family: "fence", Arity: 1, Flags: ReadOnly | Fast, Do: emqVersion,
		Syntax: "", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Tells the wire identity, the version and the capabilities of this server.",
	},
	{
		Name: "emq.install", Family: "fence", Arity: 1, Do: emqInstall,
		Flags:  Write | DenyOOM | NoScript | Admin | OwnGuard | KeyEvents,
		Tokens: []string{"install"}, Syntax: "", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Puts this server's wire identity into the fence of an empty node.",
	},
}

// emqVersion handles EMQ.VERSION.
//
// Keys:    none
// Reply:   map of wire, epoch, version, major, build and the capability tokens
// Errors:  none
// Effects: none
func emqVersion(c *Call) error {
	build := c.Table.Build
	c.Reply.Map(6)
	c.Reply.Text("wire")
	c.Reply.Text(fence.Wire)
	c.Reply.Text("epoch")
	c.Reply.Int(fence.Epoch)
	c.Reply.Text("version")
	c.Reply.Text(build.Version)
	c.Reply.Text("major")
	c.Reply.Int(build.Major())
	c.Reply.Text("build")
	c.Reply.Text(build.String())
	c.Reply.Text("capabilities")
	c.Reply.Array(len(c.Table.Tokens()))
	for _, token := range c.Table.Tokens() {
		c.Reply.Text(token)
	}
	return nil
}

// emqInstall handles EMQ.INSTALL.
//
// Keys:    the fence, not declared
// Reply:   OK
// Errors:  EMQWIRE when the fence holds another wire, WRONGTYPE, NOPERM when the caller may not write the fence
// Effects: SET of the fence when it was absent
func emqInstall(c *Call) error {
	value, held, err := readFence(c)
	if err != nil {
		return err
	}
	if held {
		if err := fence.CheckWire(value, true); err != nil {
			return err
		}
		c.Reply.OK()
		return nil
	}
	if !c.Host.Allows(fenceKey, KeyUpdate) {
		return ErrNoPermKey
	}
	if err := c.Guard(); err != nil {
		return err
	}
	c.Tx.SetValue(fenceKey, []byte(fence.Wire), 0)
	c.Reply.OK()
	return nil
}
