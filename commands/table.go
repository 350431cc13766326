package commands

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/echomq/emqd/fence"
)

// Table is the immutable registration table: the one list of commands of a node.
type Table struct {
	// Build tells what this node runs. Whoever builds the table sets it before the first call, and nobody later.
	Build Build

	byName map[string]*Row
	rows   []*Row // top-level rows, sorted by name
	every  []*Row // by ID: top-level rows and sub-commands
	tokens []string
}

// maxName bounds the names that Lookup folds on the stack; no row is longer.
const maxName = 32

// New builds a table from families of rows. It panics on a row that is not whole, since that is a
// mistake in this program: a name twice, no handler, write with readonly, a data command without keys,
// an arity shorter than its key-spec, an empty text, an unknown capability token or ACL category.
func New(families ...[]Row) *Table {
	t := &Table{byName: map[string]*Row{}}
	for _, rows := range families {
		for i := range rows {
			row := rows[i]
			t.add(&row)
		}
	}
	sort.Slice(t.rows, func(i, j int) bool { return t.rows[i].Name < t.rows[j].Name })
	slices.Sort(t.tokens)
	return t
}

// Lookup finds the row of a command by its name in any case, without allocating; nil when there is none.
func (t *Table) Lookup(name []byte) *Row {
	var low [maxName]byte
	if len(name) > maxName {
		return nil
	}
	for i, c := range name {
		low[i] = lower(c)
	}
	return t.byName[string(low[:len(name)])]
}

// Find finds the row that a whole call addresses: the sub-command's own row where the command is a
// container. A nil row comes with the refusal to send.
func (t *Table) Find(args [][]byte) (*Row, error) {
	row := t.Lookup(args[0])
	if row == nil {
		return nil, unknownCommand(args)
	}
	if row.Subs == nil {
		return row, nil
	}
	if len(args) < 2 {
		if row.Do != nil {
			return row, nil
		}
		return nil, ErrArity(row.full)
	}
	if sub := row.Sub(args[1]); sub != nil {
		return sub, nil
	}
	return nil, Error("ERR unknown subcommand '" + Echo(args[1]) + "'. Try " + strings.ToUpper(row.Name) + " HELP.")
}

// Sub returns a container's sub-command by name in any case, or nil.
func (r *Row) Sub(name []byte) *Row {
	for i := range r.Subs {
		if equalFold(name, r.Subs[i].Name) {
			return &r.Subs[i]
		}
	}
	return nil
}

// Named finds a row by its full name in any case: "get", "client|list". nil when there is none.
func (t *Table) Named(name []byte) *Row {
	container, sub, ok := bytes.Cut(name, []byte("|"))
	row := t.Lookup(container)
	if row == nil || !ok {
		return row
	}
	return row.Sub(sub)
}

// Rows returns the top-level rows in the order of their names. Callers do not change it.
func (t *Table) Rows() []*Row { return t.rows }

// Every returns all rows by ID, sub-commands included. Callers do not change it.
func (t *Table) Every() []*Row { return t.every }

// Tokens returns the sorted capability tokens of every row. Callers do not change it.
func (t *Table) Tokens() []string { return t.tokens }

func (t *Table) add(row *Row) {
	row.full = row.Name
	row.check()
	if t.byName[row.Name] != nil {
		panic("commands: " + row.Name + " is registered twice")
	}
	t.byName[row.Name] = row
	t.rows = append(t.rows, row)
	t.number(row)
	row.Subs = slices.Clone(row.Subs)
	for i := range row.Subs {
		sub := &row.Subs[i]
		sub.full = row.Name + "|" + sub.Name
		if sub.Family == "" {
			sub.Family = row.Family
		}
		sub.check()
		t.number(sub)
	}
}

func (t *Table) number(row *Row) {
	row.id = len(t.every)
	row.cats = categories(row)
	t.every = append(t.every, row)
	t.tokens = append(t.tokens, row.Tokens...)
}

// check panics when the row is not whole.
func (r *Row) check() {
	bad := func(why string) { panic(fmt.Sprintf("commands: row %q: %s", r.full, why)) }
	switch {
	case r.Name == "" || len(r.Name) > maxName || r.Name != strings.ToLower(r.Name):
		bad("name must be lower case and at most 32 bytes")
	case r.Do == nil && len(r.Subs) == 0:
		bad("no handler")
	case r.Has(Write) && r.Has(ReadOnly):
		bad("write and readonly")
	case r.Arity == 0:
		bad("no arity")
	case len(r.Layout)+r.Rows > 0 && abs(r.Arity) < 2+len(r.Layout)+r.Rows-r.Optional:
		bad("arity is shorter than its layout")
	case r.Family == "" || r.Summary == "" || r.Since == "" || r.Complexity == "" && r.Do != nil:
		bad("family, summary, since or complexity is empty")
	}
	for _, k := range r.Keys {
		need := k.Index
		if k.Numbered {
			need = k.Index + k.NumIndex
		}
		if k.Keyword == "" && k.Flags&KeyNotKey == 0 && abs(r.Arity) <= need {
			bad("arity is shorter than its key-spec")
		}
	}
	for _, token := range r.Tokens {
		if !fence.Known(token) {
			bad("unknown capability token " + token)
		}
	}
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// equalFold compares a client's word with an ASCII word, both in any case.
func equalFold(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i := range b {
		if lower(b[i]) != lower(word[i]) {
			return false
		}
	}
	return true
}

// lower returns an ASCII letter in lower case, another byte as it is.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// Is reports whether a client's argument is the given lower-case word, in any case.
func Is(arg []byte, word string) bool { return equalFold(arg, word) }

// unknownCommand is Valkey's refusal of a name that has no row, with the first arguments echoed.
func unknownCommand(args [][]byte) Error {
	text := "ERR unknown command '" + Echo(args[0]) + "', with args beginning with: "
	left := echoLimit
	for _, a := range args[1:] {
		if left <= 0 {
			break
		}
		word := string(a)
		if len(word) > left {
			word = word[:left]
		}
		left -= len(word) + 3
		text += "'" + word + "' "
	}
	return Error(text)
}

// categories derives the ACL categories from family and flags, as Valkey does.
func categories(r *Row) []string {
	set := map[string]bool{}
	if c, ok := familyCategory[r.Family]; ok && r.Do != nil { // a mere container has none
		set[c] = true
	}
	for _, c := range r.Categories {
		set[c] = true
	}
	if r.Has(Write) {
		set["write"] = true
	}
	if r.Has(ReadOnly) && !set["scripting"] {
		set["read"] = true
	}
	if r.Has(Admin) {
		set["admin"], set["dangerous"] = true, true
	}
	if r.Has(PubSub) {
		set["pubsub"] = true
	}
	if r.Has(Fast) {
		set["fast"] = true
	} else {
		set["slow"] = true
	}
	if r.Has(Blocking) {
		set["blocking"] = true
	}
	if strings.HasPrefix(r.full, "emq.") {
		set["emq"] = true
	}
	out := make([]string, 0, len(set))
	for _, c := range aclCategories {
		if set[c] {
			out = append(out, c)
			delete(set, c)
		}
	}
	for c := range set {
		panic("commands: row \"" + r.full + "\": unknown ACL category " + c)
	}
	return out
}

// familyCategory names the ACL category of each family that has one.
var familyCategory = map[string]string{
	"generic": "keyspace", "string": "string", "bitmap": "bitmap", "hash": "hash", "zset": "sortedset",
	"list": "list", "set": "set", "stream": "stream", "connection": "connection", "transactions": "transaction",
}
