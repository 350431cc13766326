package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/echomq/emqd/commands"
)

// Refusals of ACL LOAD and ACL SAVE.
const (
	errACLNoFile commands.Error = "ERR This instance is not configured to use an ACL file. You may want to specify users via " +
		"the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a configuration file set) in order to " +
		"store users in the configuration."
	errACLSave commands.Error = "ERR There was an error trying to save the ACLs. Please check the server logs for more information"
)

// aclFileMode is the mode of a new ACL file: it holds hashes of passwords.
const aclFileMode fs.FileMode = 0o600

// loadConfig sets the users that the configuration has: requirepass first, then the user lines, or else
// the ACL file. It is for the start, before there are sessions.
func (a *acl) loadConfig() error {
	a.setDefaultPassword(a.config.RequirePass)
	if err := a.loadLines(a.config.Users); err != nil {
		return err
	}
	if a.config.ACLFile == "" {
		return nil
	}
	_, err := a.loadFile()
	return err
}

// loadLines sets the users of lines, each a name with its rules.
func (a *acl) loadLines(lines [][]string) error {
	seen := map[string]bool{}
	for _, line := range lines {
		name := line[0]
		if aclHasSpace([]byte(name)) {
			return fmt.Errorf("user %q: spaces are not allowed in names of users", name)
		}
		if seen[name] {
			return fmt.Errorf("user %q: %w", name, errACLDuplicate)
		}
		seen[name] = true
		rules := a.newRules()
		words := make([][]byte, len(line)-1)
		for i, w := range line[1:] {
			words[i] = []byte(w)
		}
		merged, unmatched := aclMergeSelectors(words)
		if unmatched != nil {
			return fmt.Errorf("user %q: Unmatched parenthesis in selector definition", name)
		}
		for _, w := range merged {
			if err := a.apply(rules, w); err != nil {
				return fmt.Errorf("user %q: rule %q: %w", name, w, err)
			}
		}
		rules.finish()
		a.store(name, rules)
	}
	return nil
}

// lines returns the users in the form that loadLines takes, for the configuration file. The default user is
// left out while it is what requirepass alone makes of it.
func (a *acl) lines() [][]string {
	fresh := newACL(a.table, a.config)
	fresh.setDefaultPassword(a.config.RequirePass)
	var lines [][]string
	for _, u := range a.list() {
		if u.name == defaultUser && u.line() == fresh.users[defaultUser].line() {
			continue
		}
		lines = append(lines, append([]string{u.name}, u.rules.words()...))
	}
	return lines
}

// loadFile replaces all users by those of the ACL file. When the file has any mistake nothing changes and the
// error names them all on one line, without the code of a reply.
func (a *acl) loadFile() ([]aclChange, error) {
	path := a.config.ACLFile
	text, err := os.ReadFile(path)
	if err != nil {
		why := err.Error()
		if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
			why = pathErr.Err.Error()
		}
		return nil, errors.New("Error loading ACLs, opening file '" + path + "': " + strings.ToUpper(why[:1]) + why[1:])
	}
	f := aclFile{acl: a, path: path, users: map[string]*aclRules{}}
	for i, line := range strings.Split(string(text), "\n") {
		f.line(i+1, strings.Trim(line, " \t\r\n"))
	}
	if f.errors.Len() > 0 {
		return nil, errors.New(f.errors.String() +
			"WARNING: ACL errors detected, no change to the previously active ACL rules was performed")
	}
	if f.users[defaultUser] == nil {
		f.users[defaultUser] = a.defaultRules()
	}
	return a.replace(f.users), nil
}

// replace makes users the only ones.
func (a *acl) replace(users map[string]*aclRules) []aclChange {
	var changes []aclChange
	for name, rules := range users {
		rules.finish()
		if u := a.users[name]; u != nil {
			changes = append(changes, aclDifference(u, u.rules, rules))
		}
		a.store(name, rules)
	}
	for name, u := range a.users {
		if users[name] == nil {
			changes = append(changes, a.remove(u))
		}
	}
	return changes
}

// saveFile writes the ACL file so that a crash leaves either the old one or the new one.
func (a *acl) saveFile() error {
	var b strings.Builder
	for _, u := range a.list() {
		b.WriteString(u.line())
		b.WriteByte('\n')
	}
	mode := aclFileMode
	if info, err := os.Stat(a.config.ACLFile); err == nil {
		mode = info.Mode().Perm()
	}
	return replaceFile(a.config.ACLFile, []byte(b.String()), mode)
}

// aclFile is an ACL file being read.
type aclFile struct {
	acl    *acl
	path   string
	users  map[string]*aclRules
	errors strings.Builder
}

// line reads a line, which is empty or "user <name> <rule> ...". There are no comments, as saving would
// lose them.
func (f *aclFile) line(number int, line string) {
	if line == "" {
		return
	}
	place := f.path + ":" + strconv.Itoa(number)
	words := strings.Split(line, " ")
	switch {
	case words[0] != "user" || len(words) < 2:
		f.fail(place, " should start with user keyword followed by the username. ")
		return
	case aclHasSpace([]byte(words[1])):
		f.fail("'"+place, ": username '"+words[1]+"' contains invalid characters. ")
		return
	case f.users[words[1]] != nil:
		f.fail("WARNING: Duplicate user '", words[1]+"' found on line "+strconv.Itoa(number)+". ")
		return
	}
	rules := f.acl.newRules()
	f.users[words[1]] = rules
	split := make([][]byte, len(words)-2)
	for i, w := range words[2:] {
		split[i] = []byte(w)
	}
	merged, unmatched := aclMergeSelectors(split)
	if unmatched != nil {
		f.fail(place, ": Unmatched parenthesis in selector definition.")
		return
	}
	f.rules(place, rules, merged)
}

// rules applies the rules of one line. Unknown commands are all named; of other mistakes only the first, as the
// rest may follow from it.
func (f *aclFile) rules(place string, rules *aclRules, words [][]byte) {
	failed := false
	for _, w := range words {
		w = []byte(strings.Trim(string(w), "\t\r\n"))
		err := f.acl.apply(rules, w)
		switch {
		case err == nil:
		case errors.Is(err, errACLUnknown):
			f.fail(place, ": Error in applying operation '"+string(w)+"': "+err.Error()+". ")
		case !failed:
			f.fail(place, ": "+err.Error()+". ")
			failed = true
		}
	}
}

func (f *aclFile) fail(place, text string) {
	f.errors.WriteString(place)
	f.errors.WriteString(text)
}
