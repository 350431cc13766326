package server

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store/num"
)

const (
	aclOpenFlags  = commands.NoScript | commands.Loading | commands.Stale
	aclAdminFlags = aclOpenFlags | commands.Admin
)

var aclRows = []commands.Row{
	{
		Name: "auth", Family: "connection", Arity: -2, Do: cmdAuth,
		Flags:  aclOpenFlags | commands.Fast | commands.NoAuth | commands.AllowBusy | commands.Secret,
		Syntax: "[username] password", Summary: "Logs this connection in.",
		Complexity: "O(N) where N is the number of passwords of the user", Since: "1.0.0",
	},
	{
		Name: "acl", Family: "server", Arity: -2, Summary: "Shows and changes users and what they may do.", Complexity: "That of the subcommand", Since: "6.0.0",
		Subs: []commands.Row{
			{
				Name: "cat", Arity: -2, Flags: aclOpenFlags, Do: cmdACLCat, Syntax: "[category]", Since: "6.0.0",
				Summary: "Lists the ACL categories, or the commands of one.", Complexity: "O(1) since there is a fixed number of commands",
			},
			{
				Name: "deluser", Tips: []string{"request_policy:all_nodes", "response_policy:all_succeeded"}, Arity: -3, Flags: aclAdminFlags | commands.Secret, Do: cmdACLDelUser, Syntax: "username [username ...]", Since: "6.0.0",
				Summary: "Deletes users and closes their connections.", Complexity: "O(N) where N is the number of connections",
			},
			{
				Name: "dryrun", Arity: -4, Flags: aclAdminFlags, Do: cmdACLDryRun, Syntax: "username command [arg [arg ...]]", Since: "7.0.0",
				Summary: "Tells whether a user may run a command, without running it.", Complexity: "O(1)",
			},
			{
				Name: "genpass", Arity: -2, Flags: aclOpenFlags, Do: cmdACLGenPass, Syntax: "[bits:integer]", Since: "6.0.0",
				Summary: "Generates a random password in hexadecimal, of 256 bits unless told otherwise.", Complexity: "O(1)",
			},
			{
				Name: "getuser", Arity: 3, Flags: aclAdminFlags | commands.Secret, Do: cmdACLGetUser, Syntax: "username", Since: "6.0.0",
				Summary: "Lists the rules of a user.", Complexity: "O(N) where N is the number of rules of the user",
			},
			commands.HelpRow("6.0.0"),
			{
				Name: "list", Arity: 2, Flags: aclAdminFlags, Do: cmdACLList, Since: "6.0.0",
				Summary: "Shows all users with their rules, in the form of the ACL file.", Complexity: "O(N) where N is the number of users",
			},
			{
				Name: "load", Arity: 2, Flags: aclAdminFlags, Do: cmdACLLoad, Since: "6.0.0",
				Summary: "Replaces the users by those of the ACL file.", Complexity: "O(N) where N is the number of users",
			},
			{
				Name: "log", Arity: -2, Flags: aclAdminFlags, Do: cmdACLLog, Syntax: "[count | RESET]", Since: "6.0.0",
				Summary: "Lists the latest refusals, or forgets them.", Complexity: "O(N) where N is the number of entries shown",
			},
			{
				Name: "save", Tips: []string{"request_policy:all_nodes", "response_policy:all_succeeded"}, Arity: 2, Flags: aclAdminFlags, Do: cmdACLSave, Since: "6.0.0",
				Summary: "Writes the users to the ACL file.", Complexity: "O(N) where N is the number of users",
			},
			{
				Name: "setuser", Tips: []string{"request_policy:all_nodes", "response_policy:all_succeeded"}, Arity: -3, Flags: aclAdminFlags | commands.Secret, Do: cmdACLSetUser,
				Syntax: "username [rule [rule ...]]", Since: "6.0.0",
				Summary: "Creates a user or changes its rules.", Complexity: "O(N) where N is the number of rules given",
			},
			{
				Name: "users", Arity: 2, Flags: aclAdminFlags, Do: cmdACLUsers, Since: "6.0.0",
				Summary: "Lists the names of all users.", Complexity: "O(N) where N is the number of users",
			},
			{
				Name: "whoami", Arity: 2, Flags: aclOpenFlags, Do: cmdACLWhoAmI, Since: "6.0.0",
				Summary: "Returns the user of the connection.", Complexity: "O(1)",
			},
		},
	},
}

// cmdAuth handles AUTH [username] password.
//
// Reply:   OK
// Errors:  WRONGPASS, syntax, no username while the default user needs no password
// Effects: none
func cmdAuth(c *commands.Call) error {
	s := c.Peer.(*session)
	name, password := []byte(defaultUser), c.Args[1]
	switch len(c.Args) {
	case 2:
		if s.srv.acl.users[defaultUser].rules.noPass {
			return commands.Error("ERR AUTH <password> called without any password configured for the default user. " +
				"Are you sure your configuration is correct?")
		}
	case 3:
		name, password = c.Args[1], c.Args[2]
	default:
		return commands.ErrSyntax
	}
	if err := s.logIn(c.Args[0], name, password); err != nil {
		return err
	}
	c.Reply.OK()
	return nil
}

// cmdACLCat handles ACL CAT [category].
//
// Reply:   array of categories, or of the full names of the commands in one
// Errors:  unknown category
// Effects: none
func cmdACLCat(c *commands.Call) error {
	if len(c.Args) > 3 {
		return commands.ErrSubSyntax(c.Args)
	}
	categories := commands.ACLCategoryNames()
	if len(c.Args) == 2 {
		c.Reply.Array(len(categories))
		for _, name := range categories {
			c.Reply.Text(name)
		}
		return nil
	}
	category := strings.ToLower(string(c.Args[2]))
	if !slices.Contains(categories, category) {
		return commands.Error("ERR Unknown category '" + commands.Echo(c.Args[2]) + "'")
	}
	mark, n := c.Reply.Later(), 0
	for _, row := range c.Table.Every() {
		if slices.Contains(row.ACLCategories(), category) {
			c.Reply.Text(row.FullName())
			n++
		}
	}
	c.Reply.Fill(mark, func() { c.Reply.Array(n) })
	return nil
}

// cmdACLDelUser handles ACL DELUSER username [username ...].
//
// Reply:   number of users deleted
// Errors:  the default user
// Effects: none
func cmdACLDelUser(c *commands.Call) error {
	srv := c.Peer.(*session).srv
	changes, err := srv.acl.delUsers(c.Args[2:])
	if err != nil {
		return err
	}
	c.Reply.Int(int64(len(changes)))
	srv.applyACL(changes...)
	return nil
}

// cmdACLDryRun handles ACL DRYRUN username command [arg ...].
//
// Reply:   OK, or a bulk string that says why not
// Errors:  unknown user or command, arity of the command
// Effects: none
func cmdACLDryRun(c *commands.Call) error {
	srv, call := c.Peer.(*session).srv, c.Args[3:]
	u := srv.acl.user(c.Args[2])
	if u == nil {
		return commands.Error("ERR User '" + commands.EchoLong(c.Args[2]) + "' not found")
	}
	row, err := c.Table.Find(call)
	if err != nil {
		return commands.Error("ERR Command '" + commands.EchoLong(call[0]) + "' not found")
	}
	if !row.ArityOK(len(call)) {
		return commands.ErrArity(row.FullName())
	}
	if d := u.check(row, call, &srv.scratch); d.reason != aclAllowed {
		c.Reply.Text(d.dryRun(u, row, call))
		return nil
	}
	c.Reply.OK()
	return nil
}

// maxPassBits is the largest password of ACL GENPASS.
const maxPassBits = 4096

// cmdACLGenPass handles ACL GENPASS [bits].
//
// Reply:   hexadecimal digits, four bits each
// Errors:  not an integer, out of range
// Effects: none
func cmdACLGenPass(c *commands.Call) error {
	if len(c.Args) > 3 {
		return commands.ErrSubSyntax(c.Args)
	}
	bits := int64(256)
	if len(c.Args) == 3 {
		var ok bool
		if bits, ok = num.Int(c.Args[2]); !ok {
			return commands.ErrNotInteger
		}
	}
	if bits <= 0 || bits > maxPassBits {
		return commands.Error("ERR ACL GENPASS argument must be the number of bits for the output password, " +
			"a positive number up to " + strconv.Itoa(maxPassBits))
	}
	digits := int(bits+3) / 4
	secret := make([]byte, (digits+1)/2)
	_, _ = rand.Read(secret) // it never fails: where there is no randomness it ends the process
	c.Reply.Text(hex.EncodeToString(secret)[:digits])
	return nil
}

// cmdACLGetUser handles ACL GETUSER username.
//
// Reply:   map of the user's flags, passwords, rules and selectors; null when there is no such user
// Effects: none
func cmdACLGetUser(c *commands.Call) error {
	u := c.Peer.(*session).srv.acl.user(c.Args[2])
	if u == nil {
		c.Reply.Null()
		return nil
	}
	r, flags := c.Reply, u.rules.flagNames()
	r.Map(6)
	r.Text("flags")
	r.Set(len(flags))
	for _, f := range flags {
		r.Text(f)
	}
	r.Text("passwords")
	r.Array(len(u.rules.passwords))
	for i := range u.rules.passwords {
		r.Text(hex.EncodeToString(u.rules.passwords[i][:]))
	}
	root, others := u.rules.selectors[0], u.rules.selectors[1:]
	replySelector(r, root)
	r.Text("selectors")
	r.Array(len(others))
	for _, s := range others {
		r.Map(3)
		replySelector(r, s)
	}
	return nil
}

// replySelector appends the three pairs that describe a selector.
func replySelector(r *commands.Reply, s *aclSelector) {
	r.Text("commands")
	r.Text(s.commandText())
	r.Text("keys")
	r.Text(s.keyText())
	r.Text("channels")
	r.Text(s.channelText())
}

// cmdACLList handles ACL LIST.
//
// Reply:   array of the lines of the ACL file, by name of the user
// Effects: none
func cmdACLList(c *commands.Call) error {
	users := c.Peer.(*session).srv.acl.list()
	c.Reply.Array(len(users))
	for _, u := range users {
		c.Reply.Text(u.line())
	}
	return nil
}

// cmdACLUsers handles ACL USERS.
//
// Reply:   array of the names of the users, sorted
// Effects: none
func cmdACLUsers(c *commands.Call) error {
	users := c.Peer.(*session).srv.acl.list()
	c.Reply.Array(len(users))
	for _, u := range users {
		c.Reply.Text(u.name)
	}
	return nil
}

// cmdACLLoad handles ACL LOAD.
//
// Reply:   OK
// Errors:  no ACL file configured, or all that is wrong with it
// Effects: none; connections of users that are gone are closed
func cmdACLLoad(c *commands.Call) error {
	srv := c.Peer.(*session).srv
	if srv.cfg.ACLFile == "" {
		return errACLNoFile
	}
	changes, err := srv.acl.loadFile()
	if err != nil {
		return commands.Error("ERR " + err.Error())
	}
	c.Reply.OK()
	srv.applyACL(changes...)
	return nil
}

// cmdACLSave handles ACL SAVE.
//
// Reply:   OK
// Errors:  no ACL file configured, or it cannot be written
// Effects: none
func cmdACLSave(c *commands.Call) error {
	srv := c.Peer.(*session).srv
	if srv.cfg.ACLFile == "" {
		return errACLNoFile
	}
	if err := srv.acl.saveFile(); err != nil {
		srv.log.Error("saving the ACL file", "file", srv.cfg.ACLFile, "error", err)
		return errACLSave
	}
	c.Reply.OK()
	return nil
}

// cmdACLLog handles ACL LOG [count | RESET].
//
// Reply:   array of maps, newest first; OK after RESET
// Errors:  not an integer
// Effects: none
func cmdACLLog(c *commands.Call) error {
	if len(c.Args) > 3 {
		return commands.ErrSubSyntax(c.Args)
	}
	log, count := &c.Peer.(*session).srv.acl.log, int64(10)
	if len(c.Args) == 3 {
		if commands.Is(c.Args[2], "reset") {
			log.reset()
			c.Reply.OK()
			return nil
		}
		var ok bool
		if count, ok = num.Int(c.Args[2]); !ok {
			return commands.ErrNotInteger
		}
	}
	entries := log.latest(count)
	c.Reply.Array(len(entries))
	for i := range entries {
		entries[i].reply(c.Reply, c.Now())
	}
	return nil
}

// reply appends an entry as ACL LOG shows it at now.
func (e *aclLogEntry) reply(r *commands.Reply, now int64) {
	r.Map(10)
	r.Text("count")
	r.Int(e.count)
	r.Text("reason")
	r.Text(e.reason.String())
	r.Text("context")
	r.Text(e.context())
	r.Text("object")
	r.Text(e.object)
	r.Text("username")
	r.Text(e.username)
	r.Text("age-seconds")
	r.Double(float64(now-e.updated) / 1000)
	r.Text("client-info")
	r.Text(e.client)
	r.Text("entry-id")
	r.Int(e.id)
	r.Text("timestamp-created")
	r.Int(e.created)
	r.Text("timestamp-last-updated")
	r.Int(e.updated)
}

// cmdACLSetUser handles ACL SETUSER username [rule ...].
//
// Reply:   OK
// Errors:  a bad name or rule; then nothing has changed
// Effects: none; subscribers that lose a channel are closed
func cmdACLSetUser(c *commands.Call) error {
	srv := c.Peer.(*session).srv
	change, err := srv.acl.setUser(c.Args[2], c.Args[3:])
	if err != nil {
		return err
	}
	c.Reply.OK()
	srv.applyACL(change)
	return nil
}

// cmdACLWhoAmI handles ACL WHOAMI.
//
// Reply:   the name of the connection's user
// Effects: none
func cmdACLWhoAmI(c *commands.Call) error {
	c.Reply.Text(c.Peer.(*session).user.name)
	return nil
}
