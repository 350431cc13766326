package commands

import (
	"math"

	"github.com/echomq/emqd/store"
)

var streamRows = []Row{
	{
		Name: "xadd", Tips: []string{TipVaries}, Family: "stream", Arity: -5, Flags: Write | DenyOOM | Fast, Do: cmdXAdd,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key [NOMKSTREAM] [<MAXLEN | MINID> [= | ~] threshold [LIMIT count]] <* | id> field value [field value ...]",
		Since:  "5.0.0", Summary: "Adds an entry to a stream, which is created when it is absent, and returns its id.",
		Complexity: "O(1), and O(N) where N is the number of entries trimmed",
	},
	{
		Name: "xtrim", Tips: []string{TipVaries}, Family: "stream", Arity: -4, Flags: Write, Do: cmdXTrim,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyDelete}},
		Syntax: "key <<MAXLEN | MINID> [= | ~] threshold [LIMIT count]>", Since: "5.0.0",
		Summary: "Removes the oldest entries of a stream.", Complexity: "O(N) where N is the number of entries removed",
	},
	{
		Name: "xdel", Family: "stream", Arity: -3, Flags: Write | Fast, Do: cmdXDel,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyDelete}},
		Syntax: "key id [id ...]", Since: "5.0.0",
		Summary: "Removes entries of a stream by their ids and returns how many were there.", Complexity: "O(log N) for each id",
	},
	{
		Name: "xsetid", Family: "stream", Arity: -3, Flags: Write | DenyOOM | Fast, Do: cmdXSetID,
		Keys:   []KeySpec{{Index: 1, Flags: KeyRW | KeyUpdate}},
		Syntax: "key last-id [ENTRIESADDED entries-added:integer] [MAXDELETEDID max-deleted-id]", Since: "5.0.0",
		Summary: "Sets the last id of a stream, as replication does.", Complexity: "O(1)",
	},
}

// Refusals of changes to streams.
const (
	errXAddZero      Error = "ERR The ID specified in XADD must be greater than 0-0"
	errXAddTop       Error = "ERR The ID specified in XADD is equal or smaller than the target stream top item"
	errXAddExhausted Error = "ERR The stream has exhausted the last possible ID, unable to add more items"
	errXAddLarge     Error = "ERR Elements are too large to be stored"
	errXSetIDTop     Error = "ERR The ID specified in XSETID is smaller than the target stream top item"
	errXSetIDDeleted Error = "ERR The ID specified in XSETID is smaller than current max_deleted_entry_id"
	errXSetIDGiven   Error = "ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id"
	errXSetIDLength  Error = "ERR The entries_added specified in XSETID is smaller than the target stream length"
	errXSetIDAdded   Error = "ERR entries_added must be positive"
)

// maxEntryBytes is what the fields and values of one entry may take together.
const maxEntryBytes = 1 << 30

// cmdXAdd handles XADD key [NOMKSTREAM] [MAXLEN|MINID [=|~] threshold [LIMIT count]] *|id field value [field value ...].
//
// Keys:    stream
// Reply:   the entry's id, null when NOMKSTREAM keeps an absent key absent
// Errors:  ERR on a bad option, an id that is not above the last one, WRONGTYPE
// Effects: XADD with the id, then XTRIM
func cmdXAdd(c *Call) error {
	a, err := parseXAdd(c.Args)
	if err != nil {
		return err
	}
	fields := c.Args[min(a.idAt+1, len(c.Args)):]
	if len(fields) < 2 || len(fields)%2 != 0 {
		return ErrArity(c.Row.FullName())
	}
	if !a.id.auto && !a.id.autoSeq && a.id.StreamID.IsZero() {
		return errXAddZero
	}
	x, err := c.Tx.Stream(c.Args[1])
	if err != nil {
		return err
	}
	if a.noMake && !x.Exists() {
		c.Reply.Null()
		return nil
	}
	id, err := a.id.above(x.State().Last, c.Now())
	if err != nil {
		return err
	}
	if entryBytes(fields) > maxEntryBytes {
		return errXAddLarge
	}
	x.Add(id, fields)
	c.Tx.Notify('t', "xadd", c.Args[1])
	if a.trim.given {
		trimStream(c, &x, &a.trim)
	}
	writeStreamID(c.Reply, id)
	return nil
}

func entryBytes(fields [][]byte) (n int) {
	for _, f := range fields {
		n += len(f)
	}
	return n
}

// newID is the id that XADD is asked to give.
type newID struct {
	store.StreamID
	auto    bool // the clock gives it
	autoSeq bool // the seq follows from what is there
}

// above returns the id to give in a stream whose last one is last.
func (n newID) above(last store.StreamID, now int64) (id store.StreamID, err error) {
	if last == store.MaxStreamID {
		return id, errXAddExhausted
	}
	id = n.StreamID
	switch {
	case n.auto:
		id = store.StreamID{Ms: uint64(now)}
		if !last.Less(id) {
			id, _ = last.Next()
		}
	case n.autoSeq && id.Ms == last.Ms:
		if last.Seq == math.MaxUint64 {
			return id, errXAddTop
		}
		id.Seq = last.Seq + 1
	}
	if !last.Less(id) {
		return id, errXAddTop
	}
	return id, nil
}

// cmdXTrim handles XTRIM key MAXLEN|MINID [=|~] threshold [LIMIT count].
//
// Keys:    stream
// Reply:   how many entries were removed
// Errors:  ERR on a bad option, WRONGTYPE
// Effects: XTRIM to the length that is left
func cmdXTrim(c *Call) error {
	t, err := parseXTrim(c.Args)
	if err != nil {
		return err
	}
	x, err := c.Tx.Stream(c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Int(int64(trimStream(c, &x, &t)))
	return nil
}

// cmdXDel handles XDEL key id [id ...].
//
// Keys:    stream
// Reply:   how many entries were removed
// Errors:  ERR on a bad id, WRONGTYPE
// Effects: XDEL
func cmdXDel(c *Call) error {
	x, err := c.Tx.Stream(c.Args[1])
	if err != nil {
		return err
	}
	if !x.Exists() {
		c.Reply.Int(0)
		return nil
	}
	ids := c.Args[2:]
	if err := checkStreamIDs(ids); err != nil {
		return err
	}
	deleted := 0
	for _, text := range ids {
		if id, _ := streamID(text, 0); x.Delete(id) {
			deleted++
		}
	}
	if deleted > 0 {
		c.Tx.Notify('t', "xdel", c.Args[1])
	}
	c.Reply.Int(int64(deleted))
	return nil
}

// cmdXSetID handles XSETID key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id].
//
// Keys:    stream
// Reply:   OK
// Errors:  ERR no such key, ERR on a bad id or number, or one that contradicts the entries, WRONGTYPE
// Effects: XSETID
func cmdXSetID(c *Call) error {
	last, err := streamID(c.Args[2], 0)
	if err != nil {
		return err
	}
	added, deleted, err := parseXSetID(c.Args[3:], last)
	if err != nil {
		return err
	}
	x, err := c.Tx.Stream(c.Args[1])
	if err != nil {
		return err
	}
	if !x.Exists() {
		return ErrNoSuchKey
	}
	state := x.State()
	switch {
	case last.Less(state.MaxDeleted):
		return errXSetIDDeleted
	case x.Len() > 0 && last.Less(x.Top()):
		return errXSetIDTop
	case x.Len() > 0 && added >= 0 && int64(x.Len()) > added:
		return errXSetIDLength
	}
	if added >= 0 {
		state.Added = uint64(added)
	}
	if !deleted.IsZero() {
		state.MaxDeleted = deleted
	}
	x.SetState(last, state.MaxDeleted, state.Added)
	c.Tx.Notify('t', "xsetid", c.Args[1])
	c.Reply.OK()
	return nil
}

// parseXSetID reads the options of XSETID: added is -1 and deleted 0-0 when not given.
func parseXSetID(options [][]byte, last store.StreamID) (added int64, deleted store.StreamID, err error) {
	added = -1
	for ; len(options) > 0; options = options[2:] {
		switch {
		case len(options) > 1 && Is(options[0], "entriesadded"):
			if added, err = integer(options[1]); err != nil {
				return 0, deleted, err
			}
			if added < 0 {
				return 0, deleted, errXSetIDAdded
			}
		case len(options) > 1 && Is(options[0], "maxdeletedid"):
			if deleted, err = streamID(options[1], 0); err != nil {
				return 0, deleted, err
			}
			if last.Less(deleted) {
				return 0, deleted, errXSetIDGiven
			}
		default:
			return 0, deleted, ErrSyntax
		}
	}
	return added, deleted, nil
}
