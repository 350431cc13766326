package commands

import (
	"math"

	"github.com/echomq/emqd/store/num"
)

var moveRows = []Row{
	{
		Name: "rename", Family: "generic", Arity: 3, Flags: Write, Do: cmdRename,
		Keys: []KeySpec{
			{Index: 1, Flags: KeyRW | KeyAccess | KeyDelete},
			{Index: 2, Flags: KeyOW | KeyUpdate},
		},
		Syntax: "key newkey", Since: "1.0.0",
		Summary: "Gives a key another name, whatever that name held before.", Complexity: "O(1)",
	},
	{
		Name: "renamenx", Family: "generic", Arity: 3, Flags: Write | Fast, Do: cmdRenameNX,
		Keys: []KeySpec{
			{Index: 1, Flags: KeyRW | KeyAccess | KeyDelete},
			{Index: 2, Flags: KeyOW | KeyInsert},
		},
		Syntax: "key newkey", Since: "1.0.0",
		Summary: "Gives a key another name only when that name is free.", Complexity: "O(1)",
	},
	{
		Name: "copy", Family: "generic", Arity: -3, Flags: Write | DenyOOM, Do: cmdCopy,
		Keys: []KeySpec{
			{Index: 1, Flags: KeyRO | KeyAccess},
			{Index: 2, Flags: KeyOW | KeyUpdate},
		},
		Syntax: "source destination [DB destination-db] [REPLACE]", Since: "6.2.0",
		Summary: "Copies the value and expiry time of a key to another key.", Complexity: "O(N) where N is the size of the value",
	},
	{
		Name: "move", Family: "generic", Arity: 3, Flags: Write | Fast, Do: cmdMove,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyAccess | KeyUpdate}},
		Syntax: "key db", Since: "1.0.0",
		Summary: "Takes a key into another database, unless that has one of its name.", Complexity: "O(1)",
	},
}

// Refusals of the commands that name a database or two keys.
const (
	errDBRange  Error = "ERR DB index is out of range"
	errInt32    Error = "ERR value is out of range, value must between -2147483648 and 2147483647"
	errSameKeys Error = "ERR source and destination objects are the same"
)

// database reads the number of a database.
func (c *Call) database(arg []byte) (int, error) {
	n, ok := num.Int(arg)
	switch {
	case !ok:
		return 0, ErrNotInteger
	case n < math.MinInt32 || n > math.MaxInt32:
		return 0, errInt32
	case n < 0 || n >= int64(c.Tx.Store().Databases()):
		return 0, errDBRange
	}
	return int(n), nil
}

// cmdRename handles RENAME key newkey.
//
// Keys:    any, any
// Reply:   OK, also when both are the same key
// Errors:  no such key
// Effects: RENAME
func cmdRename(c *Call) error {
	src, dst := c.Args[1], c.Args[2]
	if !c.Tx.Rename(src, dst) {
		return ErrNoSuchKey
	}
	c.renamed(src, dst)
	c.Reply.OK()
	return nil
}

// cmdRenameNX handles RENAMENX key newkey.
//
// Keys:    any, any
// Reply:   1, or 0 when newkey exists
// Errors:  no such key
// Effects: RENAME
func cmdRenameNX(c *Call) error {
	src, dst := c.Args[1], c.Args[2]
	if !c.Tx.Exists(src) {
		return ErrNoSuchKey
	}
	if c.Tx.Exists(dst) {
		c.Reply.Int(0)
		return nil
	}
	c.Tx.Rename(src, dst)
	c.renamed(src, dst)
	c.Reply.Int(1)
	return nil
}

// renamed announces that the value at src is now at dst.
func (c *Call) renamed(src, dst []byte) {
	if string(src) != string(dst) {
		c.Tx.Notify('g', "rename_from", src)
		c.Tx.Notify('g', "rename_to", dst)
	}
}

// cmdCopy handles COPY source destination [DB destination-db] [REPLACE].
//
// Keys:    any, any
// Reply:   1, or 0 when source is absent, or destination exists without REPLACE
// Errors:  syntax, a number that is no database, both the same key
// Effects: COPY
func cmdCopy(c *Call) error {
	src, dst := c.Args[1], c.Args[2]
	db, replace := c.Tx.DB(), false
	for options := c.Args[3:]; len(options) > 0; options = options[1:] {
		switch {
		case Is(options[0], "replace"):
			replace = true
		case Is(options[0], "db") && len(options) > 1:
			var err error
			if db, err = c.database(options[1]); err != nil {
				return err
			}
			options = options[1:]
		default:
			return ErrSyntax
		}
	}
	if db == c.Tx.DB() && string(src) == string(dst) {
		return errSameKeys
	}
	done := c.Tx.Copy(src, dst, db, replace)
	if done {
		c.Tx.NotifyIn(db, 'g', "copy_to", dst)
	}
	c.Reply.Flag(done)
	return nil
}

// cmdMove handles MOVE key db.
//
// Keys:    any
// Reply:   1, or 0 when the key is absent here or exists there
// Errors:  a number that is no database or the selected one
// Effects: MOVE
func cmdMove(c *Call) error {
	key := c.Args[1]
	db, err := c.database(c.Args[2])
	if err != nil {
		return err
	}
	if db == c.Tx.DB() {
		return errSameKeys
	}
	done := c.Tx.Move(key, db)
	if done {
		c.Tx.Notify('g', "move_from", key)
		c.Tx.NotifyIn(db, 'g', "move_to", key)
	}
	c.Reply.Flag(done)
	return nil
}
