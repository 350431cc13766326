package commands

import (
	"strings"

	"github.com/echomq/emqd/fence"
)

var traRows = []Row{
	{
		Name: "tra.info", Family: "tra", Arity: -1, Flags: ReadOnly | Fast, Do: traInfo,
		Syntax: "", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Tells what this node runs and since when.",
	},
	{
		Name: "tra.commands", Family: "tra", Arity: -1, Flags: ReadOnly, Do: traCommands,
		Syntax: "[FAMILY name]", Since: "1.0.0", Complexity: "O(N), N being the commands",
		Summary: "Returns the registration table: everything that is known about each command.",
	},
}

// traInfo handles TRA.INFO.
//
// Keys:    reads the fence
// Reply:   map of facts; fence is null when it is absent
// Errors:  arity, NOPERM when the caller may not read the fence, WRONGTYPE
// Effects: none
func traInfo(c *Call) error {
	if len(c.Args) > 1 {
		return ErrArity(c.Row.FullName())
	}
	held, ok, err := readFence(c)
	if err != nil {
		return err
	}
	r, build := c.Reply, c.Table.Build
	r.Map(8)
	r.Text("server")
	r.Text("emqd")
	r.Text("version")
	r.Text(build.Version)
	r.Text("build")
	r.Text(build.String())
	r.Text("wire")
	r.Text(fence.Wire)
	r.Text("fence")
	if ok {
		r.Bulk(held)
	} else {
		r.Null()
	}
	r.Text("epoch")
	r.Int(c.Tx.Store().Epoch)
	r.Text("started_at")
	r.Int(build.Started)
	r.Text("rows")
	r.Int(int64(len(c.Table.Every())))
	return nil
}

// traCommands handles TRA.COMMANDS [FAMILY name].
//
// Keys:    none
// Reply:   array of maps, one per row of the table, sub-commands after their container
// Errors:  syntax
// Effects: none
func traCommands(c *Call) error {
	family := ""
	switch {
	case len(c.Args) == 3 && Is(c.Args[1], "family"):
		family = strings.ToLower(string(c.Args[2]))
	case len(c.Args) != 1:
		return ErrSyntax
	}
	wanted := func(row *Row) bool { return len(c.Args) == 1 || row.Family == family }
	n, mark := 0, c.Reply.Later()
	for _, top := range c.Table.Rows() {
		if wanted(top) {
			replyRow(c.Reply, top)
			n++
		}
		for i := range top.Subs {
			if sub := &top.Subs[i]; wanted(sub) {
				replyRow(c.Reply, sub)
				n++
			}
		}
	}
	c.Reply.Fill(mark, func() { c.Reply.Array(n) })
	return nil
}

// replyRow replies one row as a map.
func replyRow(r *Reply, row *Row) {
	r.Map(13)
	r.Text("name")
	r.Text(row.FullName())
	r.Text("family")
	r.Text(row.Family)
	r.Text("arity")
	r.Int(int64(row.Arity))
	r.Text("flags")
	replyTexts(r, row.Flags.Words())
	r.Text("own_flags")
	replyTexts(r, row.Flags.OwnWords())
	r.Text("keys")
	r.Array(len(row.Keys))
	for i := range row.Keys {
		replyKeySpec(r, &row.Keys[i])
	}
	r.Text("layout")
	replyTexts(r, row.keyPatterns())
	r.Text("categories")
	replyTexts(r, row.ACLCategories())
	r.Text("tokens")
	replyTexts(r, row.Tokens)
	r.Text("syntax")
	r.Text(row.Syntax)
	r.Text("summary")
	r.Text(row.Summary)
	r.Text("complexity")
	r.Text(row.Complexity)
	r.Text("since")
	r.Text(row.Since)
}

// keyPatterns spells the keys that an EchoMQ verb takes; those that may be absent or more stand in brackets.
func (r *Row) keyPatterns() (texts []string) {
	for i, kind := range r.Layout {
		text := kind.Pattern()
		if i >= len(r.Layout)-r.Optional {
			text = "[" + text + "]"
		}
		texts = append(texts, text)
	}
	const anyRow = "emq:{p}:job:<id>"
	for range r.Rows {
		texts = append(texts, anyRow)
	}
	if r.OpenRows {
		texts = append(texts, "["+anyRow+" ...]")
	}
	return texts
}

func replyTexts(r *Reply, texts []string) {
	r.Array(len(texts))
	for _, text := range texts {
		r.Text(text)
	}
}

// replyKeySpec replies one key-spec as a map of its fields.
func replyKeySpec(r *Reply, k *KeySpec) {
	ints := [...]struct {
		name string
		n    int
	}{
		{"index", k.Index}, {"from", k.From}, {"last", k.Last}, {"step", max(k.Step, 1)}, {"limit", k.Limit},
		{"num_index", k.NumIndex}, {"first_key", k.FirstKey},
	}
	r.Map(len(ints) + 5)
	r.Text("unknown")
	r.Bool(k.Unknown)
	r.Text("keyword")
	r.Text(k.Keyword)
	r.Text("numbered")
	r.Bool(k.Numbered)
	for _, f := range ints {
		r.Text(f.name)
		r.Int(int64(f.n))
	}
	r.Text("flags")
	replyTexts(r, k.Flags.AllWords())
	r.Text("notes")
	r.Text(k.Notes)
}
