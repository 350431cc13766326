package server

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store/glob"
)

// aclRules is everything about a user but its name. It is not changed once a user has it: a change
// works on a clone.
type aclRules struct {
	enabled      bool
	noPass       bool
	skipSanitize bool
	passwords    [][sha256.Size]byte
	selectors    []*aclSelector // the user's own rules first, then those in parentheses

	full bool // one of the selectors allows everything
}

// aclSelector is one set of permissions. A call is allowed when one selector of the user allows all of it.
type aclSelector struct {
	flags    aclSelectorFlags
	future   bool     // +@all came last of +@all and -@all
	allowed  []uint64 // bit by Row.ID
	first    map[int][]string
	commands []aclCommandRule // the changes since the last +@all or -@all, in order
	keys     []aclKeyPattern
	channels []aclPattern
}

type aclSelectorFlags uint8

const (
	aclAllKeys aclSelectorFlags = 1 << iota
	aclAllChannels
	aclAllCommands
)

// aclCommandRule is a rule about a command or a category as it is shown: "get", "config|get", "@read".
type aclCommandRule struct {
	allow bool
	name  string
}

type aclAccess uint8

const (
	aclRead aclAccess = 1 << iota
	aclWrite
)

type aclKeyPattern struct {
	access aclAccess
	aclPattern
}

// aclPattern is a glob pattern that knows its cheap forms.
type aclPattern struct {
	text   []byte
	form   aclPatternForm
	prefix []byte
}

type aclPatternForm uint8

const (
	aclGlob    aclPatternForm = iota
	aclLiteral                // matches its text alone
	aclPrefix                 // matches what begins with prefix, which is not empty
	aclAny                    // "*", which matches everything but the empty string
)

func newACLPattern(text []byte) aclPattern {
	p := aclPattern{text: append([]byte{}, text...), form: aclGlob}
	p.prefix = glob.Prefix(p.text)
	rest := p.text[len(p.prefix):]
	switch {
	case len(rest) == 0:
		p.form = aclLiteral
	case !bytes.Equal(rest, []byte{'*'}):
	case len(p.prefix) == 0:
		p.form = aclAny
	default:
		p.form = aclPrefix
	}
	return p
}

func (p *aclPattern) match(s []byte) bool {
	switch p.form {
	case aclLiteral:
		return bytes.Equal(p.text, s)
	case aclPrefix:
		return bytes.HasPrefix(s, p.prefix)
	case aclAny:
		return len(s) > 0
	default:
		return glob.Match(p.text, s, false)
	}
}

// newACLBits returns the bitmap of a selector that allows no command.
func newACLBits(table *commands.Table) []uint64 { return make([]uint64, len(table.Every())/64+1) }

// newRules returns the rules of a user that was just created: off, without a password, and allowed nothing.
func (a *acl) newRules() *aclRules { return &aclRules{selectors: []*aclSelector{a.newSelector()}} }

// defaultRules returns the rules of the default user of a fresh node.
func (a *acl) defaultRules() *aclRules {
	root := a.newSelector()
	root.flags = aclAllKeys | aclAllChannels
	root.resetCommands(true)
	rules := &aclRules{enabled: true, noPass: true, selectors: []*aclSelector{root}}
	rules.finish()
	return rules
}

func (a *acl) newSelector() *aclSelector {
	s := &aclSelector{allowed: newACLBits(a.table)}
	if a.config.ACLPubSubDefault == "allchannels" {
		s.flags |= aclAllChannels
	}
	return s
}

// clone returns a copy that may be changed.
func (r *aclRules) clone() *aclRules {
	c := *r
	c.passwords = slices.Clone(r.passwords)
	c.selectors = make([]*aclSelector, len(r.selectors))
	for i, s := range r.selectors {
		c.selectors[i] = s.clone()
	}
	return &c
}

func (s *aclSelector) clone() *aclSelector {
	c := *s
	c.allowed = slices.Clone(s.allowed)
	c.commands = slices.Clone(s.commands)
	c.keys = slices.Clone(s.keys)
	c.channels = slices.Clone(s.channels)
	c.first = nil
	for id, words := range s.first {
		if c.first == nil {
			c.first = make(map[int][]string, len(s.first))
		}
		c.first[id] = slices.Clone(words)
	}
	return &c
}

// finish derives what the checks want to know at once. It is called before a user gets the rules.
func (r *aclRules) finish() {
	r.full = slices.ContainsFunc(r.selectors, func(s *aclSelector) bool {
		return s.flags == aclAllKeys|aclAllChannels|aclAllCommands
	})
}

// reset takes everything back to a user that was just created.
func (a *acl) reset(r *aclRules) { *r = *a.newRules() }

// resetCommands allows every command or none.
func (s *aclSelector) resetCommands(allow bool) {
	word := uint64(0)
	s.flags &^= aclAllCommands
	if allow {
		word = ^uint64(0)
		s.flags |= aclAllCommands
	}
	for i := range s.allowed {
		s.allowed[i] = word
	}
	s.future, s.first, s.commands = allow, nil, nil
}

func (s *aclSelector) allows(id int) bool { return s.allowed[id/64]&(1<<(id%64)) != 0 }

// setCommand allows or refuses a command and, of a container, all its sub-commands.
func (s *aclSelector) setCommand(row *commands.Row, allow bool) {
	s.setBit(row.ID(), allow)
	delete(s.first, row.ID())
	for i := range row.Subs {
		s.setBit(row.Subs[i].ID(), allow)
	}
}

func (s *aclSelector) setBit(id int, allow bool) {
	if allow {
		s.allowed[id/64] |= 1 << (id % 64)
		return
	}
	s.allowed[id/64] &^= 1 << (id % 64)
	s.flags &^= aclAllCommands
}

// setCategory allows or refuses every command of a category.
func (s *aclSelector) setCategory(table *commands.Table, category string, allow bool) {
	for _, row := range table.Every() {
		if slices.Contains(row.ACLCategories(), category) {
			s.setCommand(row, allow)
		}
	}
}

// note adds a command rule to those that are shown. An older rule about the same command, or about a
// sub-command of it, has no effect any more and goes.
func (s *aclSelector) note(name string, allow bool) {
	s.commands = slices.DeleteFunc(s.commands, func(r aclCommandRule) bool {
		return r.name == name || len(r.name) > len(name) && r.name[len(name)] == '|' && r.name[:len(name)] == name
	})
	s.commands = append(s.commands, aclCommandRule{allow, name})
}
