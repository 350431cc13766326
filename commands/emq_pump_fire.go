package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

// PumpFire returns the row by which a node adds the job of a repeatable that is due and moves it on, in one step. It is in no
// table: no client can call it.
func PumpFire() *Row { return &pumpFireRow }

var pumpFireRow = Row{
	Name: "pump.fire", full: "pump.fire", Family: "scheduling", Arity: 5, Flags: emqWrite | Admission | DenyOOM,
	Layout: fence.Layout{fence.Repeat, fence.Pending}, Do: pumpFire,
}

// fieldLastJob is, in the record of a repeatable, the job that was added last. Only the pump writes it.
var fieldLastJob = []byte("last_job")

// Refusals of a repeatable: its record does not say how often, or too many jobs have the ids of its slot.
const (
	errNoInterval Error = "ERR the record of a repeatable job has no interval"
	errNoID       Error = "ERR no id is left for the slot of a repeatable job"
)

// pumpFire handles pump.fire numkeys repeat pending | name.
//
// Keys:    repeat registry, pending set; writes the record and the row of the new job
// Reply:   1; 0 when its last job has not been claimed yet, or when it was not due
// Errors:  WRONGTYPE, ERR when the record has no interval
// Effects: HSET row, ZADD pending, HSET record, ZADD repeat; ZADD alone when no job is added; ZREM without a record
//
// The slots are first + n * every_ms: the job is that of the last slot that has come, those missed before it add none. Its
// id is made from the slot's time and the name, so that the same slot gives the same id.
func pumpFire(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	if err := v.open(); err != nil {
		return err
	}
	name := v.args[0]
	due, err := v.set(0)
	if err != nil {
		return err
	}
	record, err := c.Tx.Hash(v.named(fence.RepeatRecord, name))
	if err != nil {
		return err
	}
	pending, err := v.set(1)
	if err != nil {
		return err
	}
	score, there := due.Score(name)
	if !there || score > float64(c.Now()) {
		c.Reply.Int(0)
		return nil
	}
	if err := c.Guard(); err != nil {
		return err
	}
	if !record.Exists() {
		due.Remove(name)
		c.Reply.Int(0)
		return nil
	}
	every, _, err := hashInt(&record, fieldEvery)
	if err != nil || every < 1 || !exact(every) {
		return errNoInterval
	}
	at := int64(max(score, 0))
	slot := at + (c.Now()-at)/every*every
	waiting, err := v.unclaimed(&record)
	if err != nil {
		return err
	}
	if !waiting {
		if err := v.fire(&record, &pending, name, slot); err != nil {
			return err
		}
	}
	due.Add(name, float64(min(slot+every, maxScore)))
	c.Reply.Flag(!waiting)
	return nil
}

// unclaimed reports whether the last job of a repeatable is still pending.
func (v *verb) unclaimed(record *store.Hash) (bool, error) {
	id, ok := record.Get(fieldLastJob)
	if !ok {
		return false, nil
	}
	row, there, err := v.rowOf(v.keep(id))
	if err != nil || !there {
		return false, err
	}
	state, _ := row.Get(fieldState)
	return string(state) == string(statePending), nil
}

// maxTries is how many ids of one slot are tried, when others have the first ones.
const maxTries = 128

// fire adds the job of a slot.
func (v *verb) fire(record *store.Hash, pending *store.ZSet, name []byte, slot int64) error {
	low := int64(fnv(name))
	for i := range int64(maxTries) {
		mark := len(v.c.emq.buf)
		v.c.emq.buf = fence.AppendID(v.c.emq.buf, fence.JobNamespace, fence.SnowflakeAt(slot, low+i))
		id := v.since(mark)
		row, there, err := v.rowOf(id)
		if err != nil {
			return err
		}
		if there {
			continue
		}
		template, _ := record.Get(fieldTemplate)
		template = v.keep(template)
		row.setState(statePending)
		row.Set(fieldAttempts, textZero)
		row.Set(fieldPayload, template)
		pending.Add(id, 0)
		record.Set(fieldLastJob, id)
		return nil
	}
	return errNoID
}

// fnv spreads a name over 32 bits, the same on every node.
func fnv(name []byte) uint32 {
	h := uint32(2166136261)
	for _, c := range name {
		h = (h ^ uint32(c)) * 16777619
	}
	return h
}
