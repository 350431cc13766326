package commands

import (
	"github.com/echomq/emqd/fence"
)

var emqAdminRows = []Row{
	{
		Name: "emq.pause", Family: "admin", Arity: 3, Flags: emqWrite | Fast, Do: emqPause,
		Keys: emqKeys, Layout: fence.Layout{fence.Meta}, Tokens: []string{"pause"},
		Syntax: "numkeys meta", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Pauses a queue: nothing is claimed from it until it is resumed.",
	},
	{
		Name: "emq.resume", Family: "admin", Arity: 3, Flags: emqWrite | Fast, Do: emqResume,
		Keys: emqKeys, Layout: fence.Layout{fence.Meta}, Tokens: []string{"resume"},
		Syntax: "numkeys meta", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Ends the pause of a queue.",
	},
	{
		Name: "emq.update", Family: "admin", Arity: 4, Flags: emqWrite | DenyOOM | Fast, Do: emqUpdate,
		Keys: emqKeys, Layout: fence.Layout{fence.Row}, Tokens: []string{"update"},
		Syntax: "numkeys job payload", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Gives a job another payload.",
	},
	{
		Name: "emq.progress", Family: "admin", Arity: 6, Flags: emqWrite | DenyOOM | PubSub | Fast, Do: emqProgress,
		Keys:   []KeySpec{emqKeys[0], {Index: 3, Flags: KeyChannel}}, // the second key is a channel's name
		Layout: fence.Layout{fence.Row, fence.Events}, Tokens: []string{"progress"},
		Syntax: "numkeys job events id progress", Since: "1.0.0", Complexity: "O(S) where S is the number of subscribers",
		Summary: "Notes how far a job has come and publishes that.",
	},
	{
		Name: "emq.log", Family: "admin", Arity: 6, Flags: emqWrite | DenyOOM | Fast, Do: emqLog,
		Keys: emqKeys, Layout: fence.Layout{fence.Row, fence.RowLogs}, Tokens: []string{"log"},
		Syntax: "numkeys job logs line keep", Since: "1.0.0", Complexity: "O(1), or O(N) where N is the number of lines dropped",
		Summary: "Appends a line to a job's log and keeps the newest lines.",
	},
}

var (
	fieldProgress = []byte("progress")
	eventProgress = []byte("progress")
)

// emqPause handles EMQ.PAUSE numkeys meta.
//
// Keys:    meta
// Reply:   1
// Errors:  WRONGTYPE
// Effects: HSET meta, unless the queue is paused
func emqPause(c *Call) error { return setPaused(c, true) }

// emqResume handles EMQ.RESUME numkeys meta.
//
// Keys:    meta
// Reply:   1
// Errors:  WRONGTYPE
// Effects: HDEL meta, unless the queue is not paused
func emqResume(c *Call) error { return setPaused(c, false) }

// setPaused makes the queue paused or not.
func setPaused(c *Call, on bool) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	if err := v.open(); err != nil {
		return err
	}
	meta, err := c.Tx.Hash(v.keys[0])
	if err != nil {
		return err
	}
	if _, paused := meta.Get(fieldPaused); paused != on {
		if err := c.Guard(); err != nil {
			return err
		}
		if on {
			meta.Set(fieldPaused, textOne)
		} else {
			meta.Delete(fieldPaused)
			meta.Delete(fieldObliterate) // which is called off: another one begins anew
		}
	}
	c.Reply.Int(1)
	return nil
}

// openHeld opens the row at declared key 0; a row that is gone is answered with -1.
func (v *verb) openHeld() (row jobRow, there bool, err error) {
	row, err = v.row(v.keys[0])
	if err != nil {
		return row, false, err
	}
	if !row.Exists() {
		v.c.Reply.Int(-1)
		return row, false, nil
	}
	return row, true, v.c.Guard()
}

// emqUpdate handles EMQ.UPDATE numkeys job | payload.
//
// Keys:    job row
// Reply:   1, or -1 when the row is gone
// Errors:  WRONGTYPE
// Effects: HSET row
func emqUpdate(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	if err := v.open(); err != nil {
		return err
	}
	row, there, err := v.openHeld()
	if err != nil || !there {
		return err
	}
	row.Set(fieldPayload, v.args[0])
	c.Reply.Int(1)
	return nil
}

// emqProgress handles EMQ.PROGRESS numkeys job events | id progress.
//
// Keys:    job row, the name of the events channel
// Reply:   1, or -1 when the row is gone
// Errors:  WRONGTYPE
// Effects: HSET row
func emqProgress(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	id, progress := v.args[0], v.args[1]
	if err := v.openRow(id); err != nil {
		return err
	}
	row, there, err := v.openHeld()
	if err != nil || !there {
		return err
	}
	row.Set(fieldProgress, progress)
	c.emq.buf = appendEvent(c.emq.buf[:0], eventProgress, id, [][]byte{fieldProgress, progress})
	c.Host.Publish(v.keys[1], c.emq.buf)
	c.Reply.Int(1)
	return nil
}

// emqLog handles EMQ.LOG numkeys job logs | line keep.
//
// Keys:    job row, its list of log lines
// Reply:   how many lines there are now, or -1 when the row is gone
// Errors:  WRONGTYPE
// Effects: RPUSH, LTRIM
func emqLog(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	keep, err := v.count(1)
	if err != nil {
		return err
	}
	if err := v.open(); err != nil {
		return err
	}
	_, there, err := v.openHeld()
	if err != nil || !there {
		return err
	}
	logs, err := c.Tx.List(v.keys[1])
	if err != nil {
		return err
	}
	logs.PushRight(v.args[0])
	if n := int64(logs.Len()); keep > 0 && n > keep {
		logs.Trim(int(n-keep), int(n))
	}
	c.Reply.Int(int64(logs.Len()))
	return nil
}
