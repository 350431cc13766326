package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/echomq/emqd/commands"
)

// aclRuleError says what is wrong with a rule.
type aclRuleError string

func (e aclRuleError) Error() string { return string(e) }

const (
	errACLUnknown aclRuleError = "Unknown command or category name in ACL"
	errACLSyntax  aclRuleError = "Syntax error"
	errACLAllKeys aclRuleError = "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid " +
		"and does not have any effect. Try 'resetkeys' to start with an empty list of patterns"
	errACLAllChannels aclRuleError = "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid " +
		"and does not have any effect. Try 'resetchannels' to start with an empty list of channels"
	errACLNoPassword aclRuleError = "The password you are trying to remove from the user does not exist"
	errACLHash       aclRuleError = "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters"
	errACLDuplicate  aclRuleError = "Duplicate user found. A user can only be defined once in config files"
	errACLFirstArg   aclRuleError = "Allowing first-arg of a subcommand is not supported"
)

// aclHasSpace reports whether b has a byte that names and patterns cannot contain, as rules are
// written in lines of words.
func aclHasSpace(b []byte) bool {
	return slices.ContainsFunc(b, func(c byte) bool { return c == 0 || isSpace(c) })
}

// aclMergeSelectors joins selectors that came in several words. unmatched is the word with a parenthesis that
// nothing closes.
func aclMergeSelectors(words [][]byte) (merged [][]byte, unmatched []byte) {
	var open, start []byte
	for _, w := range words {
		closes := bytes.HasSuffix(w, []byte{')'})
		switch {
		case start != nil:
			open = append(append(open, ' '), w...)
			if closes {
				merged, start = append(merged, open), nil
			}
		case bytes.HasPrefix(w, []byte{'('}) && !closes:
			start, open = w, bytes.Clone(w)
		default:
			merged = append(merged, w)
		}
	}
	return merged, start
}

// apply changes rules by one rule of ACL SETUSER. After an error they are not to be used.
func (a *acl) apply(r *aclRules, rule []byte) error {
	if len(rule) == 0 {
		return nil
	}
	switch word := strings.ToLower(string(rule)); word {
	case "on", "off":
		r.enabled = word == "on"
	case "skip-sanitize-payload", "sanitize-payload":
		r.skipSanitize = word == "skip-sanitize-payload"
	case "nopass", "resetpass":
		r.noPass = word == "nopass"
		r.passwords = nil
	case "clearselectors":
		r.selectors = r.selectors[:1]
	case "reset":
		a.reset(r)
	default:
		switch rule[0] {
		case '>', '#', '<', '!':
			return r.applyPassword(rule)
		case '(':
			return a.applySelector(r, rule)
		}
		return a.applyPermission(r.selectors[0], rule)
	}
	return nil
}

// applyPassword adds a password (>text, #hash) or takes one away (<text, !hash).
func (r *aclRules) applyPassword(rule []byte) error {
	var hash [sha256.Size]byte
	kind, text := rule[0], rule[1:]
	if kind == '>' || kind == '<' {
		hash = sha256.Sum256(text)
	} else {
		upper := bytes.ContainsAny(text, "ABCDEF")
		if len(text) != hex.EncodedLen(len(hash)) || upper {
			return errACLHash
		}
		if _, err := hex.Decode(hash[:], text); err != nil {
			return errACLHash
		}
	}
	at := slices.Index(r.passwords, hash)
	if kind == '<' || kind == '!' {
		if at < 0 {
			return errACLNoPassword
		}
		r.passwords = slices.Delete(r.passwords, at, at+1)
		return nil
	}
	if at < 0 {
		r.passwords = append(r.passwords, hash)
	}
	r.noPass = false
	return nil
}

// applySelector adds the selector that is written in parentheses.
func (a *acl) applySelector(r *aclRules, rule []byte) error {
	if len(rule) < 2 || rule[len(rule)-1] != ')' {
		return errACLSyntax
	}
	words, ok := aclSplitSelector(string(rule[1 : len(rule)-1]))
	if !ok {
		return errACLSyntax
	}
	s := a.newSelector()
	for _, w := range words {
		if err := a.applyPermission(s, []byte(w)); err != nil {
			return err
		}
	}
	r.selectors = append(r.selectors, s)
	return nil
}

// aclSplitSelector returns the words of a selector, which may be in quotes as in the configuration file.
func aclSplitSelector(text string) (words []string, ok bool) {
	for i := 0; ; {
		for i < len(text) && isSpace(text[i]) {
			i++
		}
		if i == len(text) {
			return words, true
		}
		word, next, ok := splitWord(text, i)
		if !ok {
			return nil, false
		}
		words, i = append(words, word), next
	}
}

// applyPermission changes a selector by a rule about keys, channels or commands.
func (a *acl) applyPermission(s *aclSelector, rule []byte) error {
	switch strings.ToLower(string(rule)) {
	case "allkeys", "~*":
		s.flags, s.keys = s.flags|aclAllKeys, nil
		return nil
	case "resetkeys":
		s.flags, s.keys = s.flags&^aclAllKeys, nil
		return nil
	case "allchannels", "&*":
		s.flags, s.channels = s.flags|aclAllChannels, nil
		return nil
	case "resetchannels":
		s.flags, s.channels = s.flags&^aclAllChannels, nil
		return nil
	case "allcommands", "+@all":
		s.resetCommands(true)
		return nil
	case "nocommands", "-@all":
		s.resetCommands(false)
		return nil
	case "":
		return errACLSyntax
	}
	switch rule[0] {
	case '~', '%':
		return s.addKeys(rule)
	case '&':
		return s.addChannel(rule[1:])
	case '+', '-':
		return a.applyCommand(s, strings.ToLower(string(rule[1:])), rule[0] == '+')
	}
	return errACLSyntax
}

// addKeys adds the key pattern of a rule ~pattern, %R~pattern, %W~pattern or %RW~pattern.
func (s *aclSelector) addKeys(rule []byte) error {
	if s.flags&aclAllKeys != 0 {
		return errACLAllKeys
	}
	access, pattern := aclRead|aclWrite, rule[1:]
	if rule[0] == '%' {
		// As in Valkey the tilde may be missing: then the pattern is empty.
		var letters []byte
		letters, pattern, _ = bytes.Cut(rule[1:], []byte{'~'})
		access = 0
		for _, c := range letters {
			bit := aclRead
			if c == 'W' || c == 'w' {
				bit = aclWrite
			}
			if bytes.IndexByte([]byte("RrWw"), c) < 0 || access&bit != 0 {
				return errACLSyntax
			}
			access |= bit
		}
	}
	if access == 0 || aclHasSpace(pattern) {
		return errACLSyntax
	}
	for i := range s.keys {
		if bytes.Equal(s.keys[i].text, pattern) {
			s.keys[i].access |= access
			return nil
		}
	}
	s.keys = append(s.keys, aclKeyPattern{access, newACLPattern(pattern)})
	return nil
}

// addChannel adds a channel pattern.
func (s *aclSelector) addChannel(pattern []byte) error {
	if s.flags&aclAllChannels != 0 {
		return errACLAllChannels
	}
	if aclHasSpace(pattern) {
		return errACLSyntax
	}
	if !slices.ContainsFunc(s.channels, func(p aclPattern) bool { return bytes.Equal(p.text, pattern) }) {
		s.channels = append(s.channels, newACLPattern(pattern))
	}
	return nil
}

// applyCommand allows or refuses what name, in lower case, stands for: a command, "container|sub", "@category", or
// "command|word" for a command whose first argument is that word.
func (a *acl) applyCommand(s *aclSelector, name string, allow bool) error {
	if category, ok := strings.CutPrefix(name, "@"); ok {
		if !slices.Contains(commands.ACLCategoryNames(), category) {
			return errACLUnknown
		}
		s.setCategory(a.table, category, allow)
		s.note(name, allow)
		return nil
	}
	if row := a.row(name); row != nil {
		s.setCommand(row, allow)
		s.note(name, allow)
		return nil
	}
	bar := strings.LastIndexByte(name, '|')
	if !allow || bar < 0 {
		return errACLUnknown
	}
	row, word := a.row(name[:bar]), name[bar+1:]
	switch {
	case row == nil:
		return errACLUnknown
	case row.FullName() != row.Name:
		return errACLFirstArg
	case word == "" || aclHasSpace([]byte(word)):
		return errACLSyntax
	case row.Subs != nil:
		return errACLUnknown
	}
	if s.first == nil {
		s.first = map[int][]string{}
	}
	if !slices.Contains(s.first[row.ID()], word) {
		s.first[row.ID()] = append(s.first[row.ID()], word)
	}
	s.note(name, true)
	return nil
}

// row returns the row of a full name in lower case, as "get" or "config|get", or nil.
func (a *acl) row(full string) *commands.Row {
	name, sub, isSub := strings.Cut(full, "|")
	row := a.table.Lookup([]byte(name))
	if row == nil || !isSub {
		return row
	}
	return row.Sub([]byte(sub))
}
