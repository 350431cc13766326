package commands

import (
	"bytes"

	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

var emqRepeatRows = []Row{
	{
		Name: "emq.repeat.register", Family: "scheduling", Arity: 8, Flags: emqWrite | DenyOOM | Fast, Do: emqRepeatRegister,
		Keys: emqKeys, Layout: fence.Layout{fence.Repeat, fence.RepeatRecord}, Tokens: []string{"repeat.register"},
		Syntax: "numkeys repeat record name every_ms template first_at", Since: "1.0.0",
		Complexity: "O(log N) where N is the number of repeatable jobs",
		Summary:    "Registers a repeatable job, or changes it.",
	},
	{
		Name: "emq.repeat.cancel", Family: "scheduling", Arity: 5, Flags: emqWrite | Fast, Do: emqRepeatCancel,
		Keys: emqKeys, Layout: fence.Layout{fence.Repeat, fence.RepeatRecord}, Tokens: []string{"repeat.cancel"},
		Syntax: "numkeys repeat record name", Since: "1.0.0", Complexity: "O(log N) where N is the number of repeatable jobs",
		Summary: "Takes a repeatable job out of the registry.",
	},
	{
		Name: "emq.repeat.advance", Family: "scheduling", Arity: 6, Flags: emqWrite | Fast, Do: emqRepeatAdvance,
		Keys: emqKeys, Layout: fence.Layout{fence.Repeat, fence.RepeatRecord}, Tokens: []string{"repeat.advance"},
		Syntax: "numkeys repeat record name next_at", Since: "1.0.0", Complexity: "O(log N) where N is the number of repeatable jobs",
		Summary: "Moves a repeatable job on to its next time, which is later than the present one.",
	},
}

var (
	fieldEvery    = []byte("every_ms")
	fieldTemplate = []byte("template")
)

// repeatable is an entry of the registry.
type repeatable struct {
	name   []byte
	due    store.ZSet
	record store.Hash
	at     float64 // when it is due
	there  bool
}

// openRepeat checks layout and fence and opens the entry that the first argument names.
func (v *verb) openRepeat() (e repeatable, err error) {
	layout := v.c.Row.Layout
	if v.base, err = layout.Check(v.keys); err != nil {
		return e, err
	}
	e.name = v.args[0]
	if err = layout.CheckName(v.keys, v.base, fence.RepeatRecord, e.name); err != nil {
		return e, err
	}
	if err = checkFence(v.c); err != nil {
		return e, err
	}
	if e.due, err = v.set(0); err != nil {
		return e, err
	}
	if e.record, err = v.c.Tx.Hash(v.keys[1]); err != nil {
		return e, err
	}
	e.at, e.there = e.due.Score(e.name)
	return e, nil
}

// emqRepeatRegister handles EMQ.REPEAT.REGISTER numkeys repeat record | name every_ms template first_at.
//
// Keys:    repeat registry, record
// Reply:   1, or 0 when it is registered so already
// Errors:  WRONGTYPE
// Effects: HSET record, ZADD repeat when it is new or the interval is another
func emqRepeatRegister(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	every, err := v.integer(1)
	if err != nil {
		return err
	}
	first, err := v.integer(3)
	if err != nil {
		return err
	}
	if every < 1 || !exact(every) || !exact(first) {
		return ErrNotInteger
	}
	e, err := v.openRepeat()
	if err != nil {
		return err
	}
	var text [20]byte
	interval := num.AppendInt(text[:0], every)
	oldEvery, _ := e.record.Get(fieldEvery)
	oldTemplate, _ := e.record.Get(fieldTemplate)
	same := e.there && bytes.Equal(oldEvery, interval)
	if same && bytes.Equal(oldTemplate, v.args[2]) {
		c.Reply.Int(0)
		return nil
	}
	if err := c.Guard(); err != nil {
		return err
	}
	e.record.Set(fieldEvery, interval)
	e.record.Set(fieldTemplate, v.args[2])
	if !same {
		e.due.Add(e.name, float64(first))
	}
	c.Reply.Int(1)
	return nil
}

// emqRepeatCancel handles EMQ.REPEAT.CANCEL numkeys repeat record | name.
//
// Keys:    repeat registry, record
// Reply:   1, or 0 when it is not registered
// Errors:  WRONGTYPE
// Effects: ZREM repeat, DEL record
func emqRepeatCancel(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	e, err := v.openRepeat()
	if err != nil {
		return err
	}
	if !e.there && !e.record.Exists() {
		c.Reply.Int(0)
		return nil
	}
	if err := c.Guard(); err != nil {
		return err
	}
	e.due.Remove(e.name)
	c.Tx.Delete(v.keys[1])
	c.Reply.Flag(e.there)
	return nil
}

// emqRepeatAdvance handles EMQ.REPEAT.ADVANCE numkeys repeat record | name next_at.
//
// Keys:    repeat registry, record
// Reply:   1, or 0 when it is not registered or not due before next_at: another has advanced it
// Errors:  WRONGTYPE
// Effects: ZADD repeat
func emqRepeatAdvance(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	next, err := v.integer(1)
	if err == nil && !exact(next) {
		err = ErrNotInteger
	}
	if err != nil {
		return err
	}
	e, err := v.openRepeat()
	if err != nil {
		return err
	}
	if !e.there || float64(next) <= e.at {
		c.Reply.Int(0)
		return nil
	}
	if err := c.Guard(); err != nil {
		return err
	}
	e.due.Add(e.name, float64(next))
	c.Reply.Int(1)
	return nil
}
