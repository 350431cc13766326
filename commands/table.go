package commands

import (
	"bytes"
	"encoding/binary"
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

	names  []*Row // top-level rows by the hash of their names, see Lookup
	rows   []*Row // top-level rows, sorted by name
	every  []*Row // by ID: top-level rows and sub-commands
	tokens []string
}

// maxName bounds the names of rows.
const maxName = 32

// New builds a table from families of rows. It panics on a row that is not whole, since that is a
// mistake in this program: a name twice, no handler, write with readonly, a data command without keys,
// an arity shorter than its key-spec, an empty text, an unknown capability token or ACL category.
func New(families ...[]Row) *Table {
	t := &Table{names: make([]*Row, nameSlots)}
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
	// Clients send names all in one case: comparing with those before folding letters, and a hash of a few bytes instead of
	// a Go map, find a row in half of the instructions.
	for i := nameHash(name); ; i++ {
		row := t.names[i%nameSlots]
		if row == nil || len(name) == len(row.Name) && (string(name) == row.upper || string(name) == row.Name || equalFold(name, row.Name)) {
			return row
		}
	}
}

// nameSlots is more than twice the number of rows that all families have, so that few names meet.
const nameSlots = 1024

// nameHash mixes the length of a name with letters of it, whose case does not matter.
func nameHash(name []byte) uint32 {
	const lowerBits = 0x20202020
	n := len(name)
	h := uint32(n)
	switch {
	case n >= 4:
		first, last := binary.LittleEndian.Uint32(name)|lowerBits, binary.LittleEndian.Uint32(name[n-4:])|lowerBits
		middle := binary.LittleEndian.Uint32(name[(n-4)/2:]) | lowerBits
		h += first*0x9e3779b1 ^ last*0x85ebca77 ^ middle*0xc2b2ae3d
	case n > 0:
		h += uint32(name[0]|0x20)*0x9e3779b1 ^ uint32(name[n-1]|0x20)*0x85ebca77
	}
	return (h ^ h>>15) * 0x2c1b3c6d >> 16
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
	if t.Lookup([]byte(row.Name)) != nil {
		panic("commands: " + row.Name + " is registered twice")
	}
	if t.rows = append(t.rows, row); len(t.rows) > nameSlots/2 {
		panic("commands: more rows than the table of names is made for")
	}
	row.upper = strings.ToUpper(row.Name)
	i := nameHash([]byte(row.Name))
	for t.names[i%nameSlots] != nil {
		i++
	}
	t.names[i%nameSlots] = row
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
	row.Syntax, row.args = readSyntax(row.Syntax, row.shownSpecs())
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
