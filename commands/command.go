package commands

import (
	"github.com/echomq/emqd/store/glob"
)

const commandFlags = Loading | Stale

func commandSub(name string, arity int, syntax, summary, complexity, since string, do func(*Call) error) Row {
	return Row{
		Name: name, Arity: arity, Flags: commandFlags, Categories: []string{"connection"}, Syntax: syntax, Summary: summary,
		Complexity: complexity, Since: since, Do: do,
	}
}

// commandHelp is HELP with the category of its siblings.
func commandHelp() Row {
	row := HelpRow("5.0.0")
	row.Categories = []string{"connection"}
	return row
}

var commandRows = []Row{{
	Name: "command", Tips: []string{TipAnyOrder}, Family: "server", Arity: -1, Flags: commandFlags, Categories: []string{"connection"}, Do: cmdCommand,
	Summary: "Tells the facts of every command that this node has.", Since: "2.8.13", Complexity: "O(N), N being the commands",
	Subs: []Row{
		commandSub("count", 2, "", "Counts the commands that this node has.", "O(1)", "2.8.13", cmdCommandCount),
		commandSub("docs", -2, "[command-name [command-name ...]]", "Returns documentary information about commands.",
			"O(N), N being the names asked for", "7.0.0", cmdCommandDocs).WithTips(TipAnyOrder),
		commandSub("getkeys", -3, "command [arg [arg ...]]", "Finds which arguments of a given call are keys.",
			"O(N), N being the arguments of the call", "2.8.13", cmdCommandGetKeys),
		commandSub("getkeysandflags", -3, "command [arg [arg ...]]", "Finds the keys of a given call and what it does with each.",
			"O(N), N being the arguments of the call", "7.0.0", cmdCommandGetKeysAndFlags),
		commandHelp(),
		commandSub("info", -2, "[command-name [command-name ...]]", "Tells the facts of the commands named, or of all.",
			"O(N), N being the names asked for", "2.8.13", cmdCommandInfo).WithTips(TipAnyOrder),
		commandSub("list", -2, "[FILTERBY <MODULE module-name | ACLCAT category | PATTERN pattern>]", "Lists the names of commands, filtered if wished.",
			"O(N), N being the commands", "7.0.0", cmdCommandList).WithTips(TipAnyOrder),
	},
}}

// cmdCommand handles COMMAND.
//
// Reply:   array with the facts of every command
// Effects: none
func cmdCommand(c *Call) error {
	rows := c.Table.Rows()
	c.Reply.Array(len(rows))
	for _, row := range rows {
		writeInfo(c.Reply, row)
	}
	return nil
}

// cmdCommandCount handles COMMAND COUNT.
//
// Reply:   the number of commands, sub-commands not counted
// Effects: none
func cmdCommandCount(c *Call) error {
	c.Reply.Int(int64(len(c.Table.Rows())))
	return nil
}

// cmdCommandInfo handles COMMAND INFO [name ...].
//
// Reply:   array with the facts of the commands named, null for one that there is not; without names, of all
// Effects: none
func cmdCommandInfo(c *Call) error {
	names := c.Args[2:]
	if len(names) == 0 {
		return cmdCommand(c)
	}
	c.Reply.Array(len(names))
	for _, name := range names {
		if row := c.Table.Named(name); row != nil {
			writeInfo(c.Reply, row)
		} else {
			c.Reply.Null()
		}
	}
	return nil
}

// writeInfo appends the ten facts of COMMAND INFO.
func writeInfo(r *Reply, row *Row) {
	first, last, step := row.Range()
	r.Array(10)
	r.Text(row.full)
	r.Int(int64(row.Arity))
	writeWords(r, row.Flags.Words(), "")
	r.Int(int64(first))
	r.Int(int64(last))
	r.Int(int64(step))
	writeWords(r, row.cats, "@")
	r.Set(len(row.Tips))
	for _, tip := range row.Tips {
		r.Text(tip)
	}
	r.Set(row.shownSpecs())
	for i := range row.Keys {
		if !row.Keys[i].hidden() {
			writeKeySpec(r, &row.Keys[i])
		}
	}
	if len(row.Subs) == 0 {
		r.Set(0) // as Valkey has it, though sub-commands come in an array
		return
	}
	r.Array(len(row.Subs))
	for i := range row.Subs {
		writeInfo(r, &row.Subs[i])
	}
}

func writeWords(r *Reply, words []string, prefix string) {
	r.Set(len(words))
	for _, w := range words {
		r.Simple(prefix + w)
	}
}

// writeKeySpec appends one key-spec.
func writeKeySpec(r *Reply, k *KeySpec) {
	n := 3
	if k.Notes != "" {
		n++
		r.Map(n)
		r.Text("notes")
		r.Text(k.Notes)
	} else {
		r.Map(n)
	}
	r.Text("flags")
	writeWords(r, k.Flags.Words(), "")
	r.Text("begin_search")
	switch {
	case k.Unknown:
		writeSearch(r, "unknown")
	case k.Keyword != "":
		writeSearch(r, "keyword", field{"keyword", k.Keyword, 0}, field{"startfrom", "", k.From})
	default:
		writeSearch(r, "index", field{"index", "", k.Index})
	}
	r.Text("find_keys")
	switch {
	case k.Unknown:
		writeSearch(r, "unknown")
	case k.Numbered:
		writeSearch(r, "keynum", field{"keynumidx", "", k.NumIndex}, field{"firstkey", "", k.FirstKey}, field{"keystep", "", max(k.Step, 1)})
	default:
		writeSearch(r, "range", field{"lastkey", "", k.Last}, field{"keystep", "", max(k.Step, 1)}, field{"limit", "", k.Limit})
	}
}

// field is one fact of a key-spec's search: a text or a number.
type field struct {
	name, text string
	n          int
}

func writeSearch(r *Reply, kind string, fields ...field) {
	r.Map(2)
	r.Text("type")
	r.Text(kind)
	r.Text("spec")
	r.Map(len(fields))
	for _, f := range fields {
		r.Text(f.name)
		if f.text != "" {
			r.Text(f.text)
		} else {
			r.Int(int64(f.n))
		}
	}
}

// cmdCommandDocs handles COMMAND DOCS [name ...].
//
// Reply:   map of names to what is documented of them; names that there are not are left out
// Effects: none
func cmdCommandDocs(c *Call) error {
	rows := c.Table.Rows()
	if names := c.Args[2:]; len(names) > 0 {
		rows = nil
		for _, name := range names {
			if row := c.Table.Named(name); row != nil {
				rows = append(rows, row)
			}
		}
	}
	c.Reply.Map(len(rows))
	for _, row := range rows {
		c.Reply.Text(row.full)
		writeDocs(c.Reply, row)
	}
	return nil
}

func writeDocs(r *Reply, row *Row) {
	n := 3
	for _, has := range []bool{row.Complexity != "", len(row.args) > 0, len(row.Subs) > 0} {
		if has {
			n++
		}
	}
	r.Map(n)
	r.Text("summary")
	r.Text(row.Summary)
	r.Text("since")
	r.Text(row.Since)
	r.Text("group")
	r.Text(row.Group())
	if row.Complexity != "" {
		r.Text("complexity")
		r.Text(row.Complexity)
	}
	if len(row.args) > 0 {
		r.Text("arguments")
		writeArguments(r, row.args)
	}
	if len(row.Subs) > 0 {
		r.Text("subcommands")
		r.Map(len(row.Subs))
		for i := range row.Subs {
			r.Text(row.Subs[i].full)
			writeDocs(r, &row.Subs[i])
		}
	}
}

func writeArguments(r *Reply, args []argument) {
	r.Array(len(args))
	for _, a := range args {
		var flags []string
		if a.optional {
			flags = append(flags, "optional")
		}
		if a.multiple {
			flags = append(flags, "multiple")
		}
		if a.repeat {
			flags = append(flags, "multiple_token")
		}
		n := 2
		for _, has := range []bool{a.kind == "key" && a.spec >= 0, a.token != "", len(flags) > 0, len(a.parts) > 0} {
			if has {
				n++
			}
		}
		r.Map(n)
		r.Text("name")
		r.Text(a.name)
		r.Text("type")
		r.Text(a.kind)
		if a.kind == "key" && a.spec >= 0 {
			r.Text("key_spec_index")
			r.Int(int64(a.spec))
		}
		if a.token != "" {
			r.Text("token")
			r.Text(a.token)
		}
		if len(flags) > 0 {
			r.Text("flags")
			writeWords(r, flags, "")
		}
		if len(a.parts) > 0 {
			r.Text("arguments")
			writeArguments(r, a.parts)
		}
	}
}

// cmdCommandGetKeys handles COMMAND GETKEYS command [arg ...].
//
// Reply:   array of the keys of the given call
// Errors:  those of Keys
// Effects: none
func cmdCommandGetKeys(c *Call) error {
	keys, err := keysOfCall(c)
	if err != nil {
		return err
	}
	c.Reply.Array(len(keys))
	for _, k := range keys {
		c.Reply.Bulk(c.Args[2+k.Pos])
	}
	return nil
}

// cmdCommandGetKeysAndFlags handles COMMAND GETKEYSANDFLAGS command [arg ...].
//
// Reply:   array of pairs of key and flags
// Errors:  those of Keys
// Effects: none
func cmdCommandGetKeysAndFlags(c *Call) error {
	keys, err := keysOfCall(c)
	if err != nil {
		return err
	}
	c.Reply.Array(len(keys))
	for _, k := range keys {
		c.Reply.Array(2)
		c.Reply.Bulk(c.Args[2+k.Pos])
		writeWords(c.Reply, k.Flags.Words(), "")
	}
	return nil
}

func keysOfCall(c *Call) ([]KeyAt, error) {
	args := c.Args[2:]
	row, err := c.Table.Find(args)
	if err != nil {
		row = nil
	}
	return Keys(row, args, nil)
}

// cmdCommandList handles COMMAND LIST [FILTERBY MODULE name | ACLCAT category | PATTERN pattern].
//
// Reply:   array of the names of commands and sub-commands
// Errors:  syntax
// Effects: none
func cmdCommandList(c *Call) error {
	keep := func(*Row) bool { return true }
	if len(c.Args) > 2 {
		if len(c.Args) != 5 || !Is(c.Args[2], "filterby") {
			return ErrSyntax
		}
		value := c.Args[4]
		switch {
		case Is(c.Args[3], "module"):
			keep = func(*Row) bool { return false }
		case Is(c.Args[3], "aclcat"):
			keep = func(r *Row) bool {
				for _, cat := range r.cats {
					if Is(value, cat) {
						return true
					}
				}
				return false
			}
		case Is(c.Args[3], "pattern"):
			keep = func(r *Row) bool { return glob.Match(value, []byte(r.full), true) }
		default:
			return ErrSyntax
		}
	}
	n := 0
	mark := c.Reply.Later()
	for _, row := range c.Table.Every() {
		if keep(row) {
			n++
			c.Reply.Text(row.full)
		}
	}
	c.Reply.Fill(mark, func() { c.Reply.Array(n) })
	return nil
}
