package server

import (
	"encoding/hex"
	"strings"
)

// flagNames returns the flags of a user in the order they are shown.
func (r *aclRules) flagNames() []string {
	names := []string{"off"}
	if r.enabled {
		names[0] = "on"
	}
	if r.noPass {
		names = append(names, "nopass")
	}
	if r.skipSanitize {
		return append(names, "skip-sanitize-payload")
	}
	return append(names, "sanitize-payload")
}

// words returns the rules that make a new user what r is, one a word; a selector is one word.
func (r *aclRules) words() []string {
	words := r.flagNames()
	for i := range r.passwords {
		words = append(words, "#"+hex.EncodeToString(r.passwords[i][:]))
	}
	words = append(words, r.selectors[0].words()...)
	for _, s := range r.selectors[1:] {
		inner := s.words()
		for i, w := range inner {
			// A selector is split as a line of the configuration is, and ends with the first word that ends
			// with a parenthesis.
			if strings.ContainsAny(w, `"'`) || strings.HasSuffix(w, ")") {
				if inner[i] = quoteWord(w); inner[i] == w {
					inner[i] = `"` + w + `"`
				}
			}
		}
		words = append(words, "("+strings.Join(inner, " ")+")")
	}
	return words
}

// line returns the user as ACL LIST shows it and the ACL file has it.
func (u *aclUser) line() string {
	return "user " + u.name + " " + strings.Join(u.rules.words(), " ")
}

func (s *aclSelector) words() []string {
	var words []string
	if s.flags&aclAllKeys != 0 {
		words = append(words, "~*")
	}
	for i := range s.keys {
		words = append(words, s.keys[i].word())
	}
	if s.flags&aclAllChannels != 0 {
		words = append(words, "&*")
	} else {
		words = append(words, "resetchannels")
	}
	for i := range s.channels {
		words = append(words, "&"+string(s.channels[i].text))
	}
	return append(words, s.commandWords()...)
}

// commandWords returns the rules about commands: all or none first, then the changes in their order.
func (s *aclSelector) commandWords() []string {
	words := []string{"-@all"}
	if s.future {
		words[0] = "+@all"
	}
	for _, r := range s.commands {
		sign := "-"
		if r.allow {
			sign = "+"
		}
		words = append(words, sign+r.name)
	}
	return words
}

func (p *aclKeyPattern) word() string {
	switch p.access {
	case aclRead:
		return "%R~" + string(p.text)
	case aclWrite:
		return "%W~" + string(p.text)
	default:
		return "~" + string(p.text)
	}
}

// commandText, keyText and channelText are a selector's fields in ACL GETUSER.
func (s *aclSelector) commandText() string { return strings.Join(s.commandWords(), " ") }

func (s *aclSelector) keyText() string {
	if s.flags&aclAllKeys != 0 {
		return "~*"
	}
	words := make([]string, len(s.keys))
	for i := range s.keys {
		words[i] = s.keys[i].word()
	}
	return strings.Join(words, " ")
}

func (s *aclSelector) channelText() string {
	if s.flags&aclAllChannels != 0 {
		return "&*"
	}
	words := make([]string, len(s.channels))
	for i := range s.channels {
		words[i] = "&" + string(s.channels[i].text)
	}
	return strings.Join(words, " ")
}
