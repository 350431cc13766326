package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"strings"

	"github.com/echomq/emqd/commands"
)

// Refusals of access, in Valkey 8's words. Redis 7.0 says "this user has no permissions ..." instead.
const (
	errWrongPass     commands.Error = "WRONGPASS invalid username-password pair or user is disabled."
	errNoPermKey     commands.Error = "NOPERM No permissions to access a key"
	errNoPermChannel commands.Error = "NOPERM No permissions to access a channel"
)

// defaultUser is the user of a connection that has not authenticated.
const defaultUser = "default"

// acl is the users of a node and what they may do. It knows no sessions: a change to the users
// returns what it means for those that are connected. The keyspace lock guards it.
type acl struct {
	log aclLog

	table  *commands.Table
	config *Config // of which aclfile, acl-pubsub-default and acllog-max-len are read
	users  map[string]*aclUser
}

// aclUser is a user. Sessions hold it; it stays the same one when its rules change.
type aclUser struct {
	name  string
	rules *aclRules // replaced as a whole
}

// aclChange is what sessions have to learn of a change to a user.
type aclChange struct {
	user    *aclUser
	deleted bool // the user is gone: its connections are closed

	// narrowed is set when the user may have lost channels. Then its subscribers whose channels are not
	// all among channels are closed; drops tells.
	narrowed bool
	channels []string
}

// newACL returns the users of a fresh node: the default one, which may do everything and needs no
// password.
func newACL(table *commands.Table, config *Config) *acl {
	a := &acl{table: table, config: config, users: map[string]*aclUser{}}
	a.store(defaultUser, a.defaultRules())
	return a
}

// user returns the user called name, or nil.
func (a *acl) user(name []byte) *aclUser { return a.users[string(name)] }

// list returns all users by name.
func (a *acl) list() []*aclUser {
	all := make([]*aclUser, 0, len(a.users))
	for _, u := range a.users {
		all = append(all, u)
	}
	slices.SortFunc(all, func(x, y *aclUser) int { return strings.Compare(x.name, y.name) })
	return all
}

// store gives the user called name its rules and creates it when it is new.
func (a *acl) store(name string, rules *aclRules) *aclUser {
	u := a.users[name]
	if u == nil {
		u = &aclUser{name: name}
		a.users[name] = u
	}
	u.rules = rules
	return u
}

// authenticate returns the user that name and password belong to, or nil when they do not match or
// the user is off.
func (a *acl) authenticate(name, password []byte) *aclUser {
	u := a.user(name)
	hash := sha256.Sum256(password)
	if u == nil {
		return nil
	}
	rules := u.rules
	match := 0
	for i := range rules.passwords {
		match |= subtle.ConstantTimeCompare(rules.passwords[i][:], hash[:])
	}
	if !rules.enabled || match == 0 && !rules.noPass {
		return nil
	}
	return u
}

// open reports whether a new connection needs no AUTH.
func (a *acl) open() bool {
	rules := a.users[defaultUser].rules
	return rules.enabled && rules.noPass
}

// setUser changes a user by rules in order, or creates it. Nothing changes unless all apply. Its
// errors are wire lines.
func (a *acl) setUser(name []byte, rules [][]byte) (aclChange, error) {
	if aclHasSpace(name) {
		return aclChange{}, commands.Error("ERR Usernames can't contain spaces or null characters")
	}
	words, unmatched := aclMergeSelectors(rules)
	if unmatched != nil {
		return aclChange{}, commands.Error("ERR Unmatched parenthesis in acl selector starting at '" +
			commands.EchoLong(unmatched) + "'.")
	}
	before := a.newRules()
	if u := a.users[string(name)]; u != nil {
		before = u.rules
	}
	after := before.clone()
	for _, word := range words {
		if err := a.apply(after, word); err != nil {
			return aclChange{}, commands.Error("ERR Error in ACL SETUSER modifier '" + commands.EchoLong(word) + "': " + err.Error())
		}
	}
	after.finish()
	return aclDifference(a.store(string(name), after), before, after), nil
}

// delUsers deletes the users that exist, all or none: the default one cannot be deleted.
func (a *acl) delUsers(names [][]byte) ([]aclChange, error) {
	for _, name := range names {
		if string(name) == defaultUser {
			return nil, commands.Error("ERR The 'default' user cannot be removed")
		}
	}
	var changes []aclChange
	for _, name := range names {
		if u := a.users[string(name)]; u != nil {
			changes = append(changes, a.remove(u))
		}
	}
	return changes, nil
}

// remove deletes a user. Until its connections are closed they may do nothing.
func (a *acl) remove(u *aclUser) aclChange {
	delete(a.users, u.name)
	nothing := &aclRules{selectors: []*aclSelector{{allowed: newACLBits(a.table)}}}
	u.rules = nothing
	return aclChange{user: u, deleted: true}
}

// setDefaultPassword makes password the only one of the default user; an empty one means that none is
// needed. It is what the setting requirepass does.
func (a *acl) setDefaultPassword(password string) {
	rules := a.users[defaultUser].rules.clone()
	rules.passwords, rules.noPass = nil, password == ""
	if password != "" {
		rules.passwords = [][sha256.Size]byte{sha256.Sum256([]byte(password))}
	}
	rules.finish()
	a.store(defaultUser, rules)
}

// aclDifference tells what subscribers of u have to learn when its rules change.
func aclDifference(u *aclUser, before, after *aclRules) aclChange {
	change := aclChange{user: u}
	for _, s := range after.selectors {
		if s.flags&aclAllChannels != 0 {
			return change
		}
		for _, c := range s.channels {
			change.channels = append(change.channels, string(c.text))
		}
	}
	for _, s := range before.selectors {
		change.narrowed = change.narrowed || s.flags&aclAllChannels != 0
		for _, c := range s.channels {
			change.narrowed = change.narrowed || !slices.Contains(change.channels, string(c.text))
		}
	}
	return change
}

// dropsChannel reports whether a subscriber has to be closed because of its subscription to channel.
func (c *aclChange) dropsChannel(channel []byte) bool {
	if !c.narrowed {
		return false
	}
	for _, text := range c.channels {
		if p := newACLPattern([]byte(text)); p.match(channel) {
			return false
		}
	}
	return true
}

// dropsPattern reports whether a subscriber has to be closed because of its subscription to pattern.
func (c *aclChange) dropsPattern(pattern string) bool {
	return c.narrowed && !slices.Contains(c.channels, pattern)
}
