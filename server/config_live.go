package server

import (
	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store/glob"
)

// Pair is a setting's name and its value as text.
type Pair struct{ Name, Value string }

// Get returns the settings whose names match one of the patterns, each once. A pattern without
// wildcards is looked up in any case and answered as it was written.
func (c *Config) Get(patterns ...string) []Pair {
	var found []Pair
	seen := map[string]bool{}
	add := func(s *setting, name string) {
		if !seen[s.Name] && !s.File {
			seen[s.Name] = true
			found = append(found, Pair{name, s.text(c)})
		}
	}
	for _, p := range patterns {
		if glob.IsLiteral([]byte(p)) {
			if s := lookup(p); s != nil {
				add(s, p)
			}
			continue
		}
		for _, s := range settings() {
			if glob.Match([]byte(p), []byte(s.Name), true) {
				add(s, s.Name)
			}
		}
	}
	return found
}

// Set changes settings while the server runs, all or none. The text of its error is the wire line.
// Its caller holds the keyspace lock.
func (c *Config) Set(pairs ...Pair) error {
	list, err := c.changeable(pairs)
	if err != nil {
		return err
	}
	before := *c
	for i, s := range list {
		if err := s.parse(c, s.split(pairs[i].Value)); err != nil {
			*c = before
			return setError(pairs[i].Name, err.Error())
		}
	}
	done := map[string]bool{}
	for i, s := range list {
		hook := c.hooks[s.key]
		if done[s.key] || hook == nil || s.text(c) == s.text(&before) {
			continue
		}
		done[s.key] = true
		if err := hook(c); err != nil {
			*c = before
			c.reapply(done, s.key)
			return setError(pairs[i].Name, err.Error())
		}
	}
	return nil
}

// changeable returns the settings of pairs when a client may change them all.
func (c *Config) changeable(pairs []Pair) ([]*setting, error) {
	var list []*setting
	seen := map[*setting]bool{}
	for _, p := range pairs {
		s := lookup(p.Name)
		switch {
		case s == nil || s.File:
			return nil, commands.Error("ERR Unknown option or number of arguments for CONFIG SET - '" + oneLine(p.Name) + "'")
		case s.live == "protected":
			return nil, setError(p.Name, "can't set protected config")
		case s.live == "" || s.live == "apply" && c.hooks[s.key] == nil:
			return nil, setError(p.Name, "can't set immutable config")
		case seen[s]:
			return nil, setError(p.Name, "duplicate parameter")
		}
		seen[s] = true
		list = append(list, s)
	}
	return list, nil
}

// reapply runs the hooks in done again, but for the one that failed, after the fields went back.
// The values worked before, so a failure now has nobody to tell but the log of the hook.
func (c *Config) reapply(done map[string]bool, failed string) {
	for key := range done {
		if key != failed {
			_ = c.hooks[key](c)
		}
	}
}

func setError(name, why string) error {
	return commands.Error("ERR CONFIG SET failed (possibly related to argument '" + oneLine(name) + "') - " + oneLine(why))
}

// oneLine makes words fit for an error line.
func oneLine(s string) string { return commands.EchoLong([]byte(s)) }
