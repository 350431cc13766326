package server

import (
	"github.com/echomq/emqd/commands"
)

// aclReason is why a call or an authentication was refused. When several selectors refuse a call for
// different reasons the largest is told.
type aclReason uint8

const (
	aclAllowed aclReason = iota
	aclDeniedCommand
	aclDeniedKey
	aclDeniedAuth // in the log only
	aclDeniedChannel
)

// aclDenial is the refusal of a call; its zero value means that the call is allowed.
type aclDenial struct {
	reason aclReason
	pos    int // the argument that is the key or the channel refused
}

// aclScratch is room for the keys of a call, reused from check to check.
type aclScratch struct {
	keys, channels         []commands.KeyAt
	haveKeys, haveChannels bool
}

// check tells whether u may make a call. scratch is the caller's own.
func (u *aclUser) check(row *commands.Row, args [][]byte, scratch *aclScratch) aclDenial {
	rules := u.rules
	if rules.full {
		return aclDenial{}
	}
	scratch.haveKeys, scratch.haveChannels = false, false
	worst := aclDenial{reason: aclDeniedCommand}
	for _, s := range rules.selectors {
		d := s.check(row, args, scratch)
		if d.reason == aclAllowed {
			return d
		}
		if d.reason > worst.reason || d.reason == worst.reason && d.pos > worst.pos {
			worst = d
		}
	}
	return worst
}

func (s *aclSelector) check(row *commands.Row, args [][]byte, scratch *aclScratch) aclDenial {
	if s.flags&aclAllCommands == 0 && !row.Has(commands.NoAuth) && !s.allows(row.ID()) && !s.allowsFirst(row, args) {
		return aclDenial{reason: aclDeniedCommand}
	}
	if s.flags&aclAllKeys == 0 && row.HasKeys() {
		if !scratch.haveKeys {
			scratch.keys, scratch.haveKeys = row.AppendKeys(scratch.keys[:0], args), true
		}
		for _, at := range scratch.keys {
			if !s.allowsKey(args[at.Pos], aclAccessOf(at.Flags)) {
				return aclDenial{aclDeniedKey, at.Pos}
			}
		}
	}
	if s.flags&aclAllChannels == 0 && row.HasChannels() {
		if !scratch.haveChannels {
			scratch.channels, scratch.haveChannels = row.AppendChannels(scratch.channels[:0], args), true
		}
		for _, at := range scratch.channels {
			if !s.allowsChannel(args[at.Pos], at.Flags&commands.KeyPattern != 0) {
				return aclDenial{aclDeniedChannel, at.Pos}
			}
		}
	}
	return aclDenial{}
}

// allowsFirst reports whether a command that is refused as such is allowed with its first argument.
func (s *aclSelector) allowsFirst(row *commands.Row, args [][]byte) bool {
	if s.first == nil || len(args) < 2 {
		return false
	}
	for _, word := range s.first[row.ID()] {
		if commands.Is(args[1], word) {
			return true
		}
	}
	return false
}

// aclAccessOf returns what a key-spec's flags need of a key pattern. A command that only asks whether
// a key is there needs nothing but that some pattern matches.
func aclAccessOf(flags commands.KeyFlags) (access aclAccess) {
	if flags&commands.KeyAccess != 0 {
		access |= aclRead
	}
	if flags&(commands.KeyInsert|commands.KeyDelete|commands.KeyUpdate) != 0 {
		access |= aclWrite
	}
	return access
}

func (s *aclSelector) allowsKey(key []byte, access aclAccess) bool {
	if s.flags&aclAllKeys != 0 {
		return true
	}
	for i := range s.keys {
		if p := &s.keys[i]; p.access&access == access && p.match(key) {
			return true
		}
	}
	return false
}

// allowsChannel matches a channel against the patterns; a pattern to subscribe to has to be one of them,
// byte for byte.
func (s *aclSelector) allowsChannel(channel []byte, pattern bool) bool {
	for i := range s.channels {
		p := &s.channels[i]
		if pattern && string(p.text) == string(channel) || !pattern && p.match(channel) {
			return true
		}
	}
	return false
}

// allowsKey reports whether u may touch key so, whatever the command.
func (u *aclUser) allowsKey(key []byte, access aclAccess) bool {
	rules := u.rules
	if rules.full {
		return true
	}
	for _, s := range rules.selectors {
		if s.allowsKey(key, access) {
			return true
		}
	}
	return false
}

// refusal returns the reply to a call that was denied.
func (d aclDenial) refusal(u *aclUser, row *commands.Row) error {
	switch d.reason {
	case aclDeniedKey:
		return errNoPermKey
	case aclDeniedChannel:
		return errNoPermChannel
	default:
		return commands.Error("NOPERM " + aclNoCommand(u, row))
	}
}

// execRefusal returns the reply to a queued call that was allowed when it was queued and is denied by EXEC.
func (d aclDenial) execRefusal() error {
	why := "no permission to execute the command or subcommand"
	switch d.reason {
	case aclDeniedKey:
		why = "no permission to touch the specified keys"
	case aclDeniedChannel:
		why = "no permission to access one of the channels used as arguments"
	}
	return commands.Error("NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. " +
		"This command is no longer allowed for the following reason: " + why)
}

// dryRun returns what ACL DRYRUN answers about a call that is denied: unlike refusal it names the key.
func (d aclDenial) dryRun(u *aclUser, row *commands.Row, args [][]byte) string {
	kind := " key"
	switch d.reason {
	case aclDeniedKey:
	case aclDeniedChannel:
		kind = " channel"
	default:
		return aclNoCommand(u, row)
	}
	return "User " + u.name + " has no permissions to access the '" + string(args[d.pos]) + "'" + kind
}

func aclNoCommand(u *aclUser, row *commands.Row) string {
	return "User " + u.name + " has no permissions to run the '" + row.FullName() + "' command"
}

// object returns what the log names: the command, the key or the channel.
func (d aclDenial) object(row *commands.Row, args [][]byte) string {
	if d.reason == aclDeniedCommand {
		return row.FullName()
	}
	return string(args[d.pos])
}
