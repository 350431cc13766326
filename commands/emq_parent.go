package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

// ending is how a child ended.
type ending uint8

const (
	endDone    ending = iota // completed: the parent waits for one child less
	endIgnored               // failed under the policy id: likewise
	endFatal                 // failed under the policy fp: the parent dies of it
)

// parentNotes are the sub-keys in which a parent keeps the ends of its children, by ending. Never changed.
var parentNotes = [...]fence.Kind{endDone: fence.RowProcessed, endIgnored: fence.RowUnsuccessful, endFatal: fence.RowFailed}

// failed tells what the failure of a child with this policy is. Any other word than id is taken for fp: a flow must
// end whatever a row holds.
func failedAs(policy []byte) ending {
	if string(policy) == string(policyIgnore) {
		return endIgnored
	}
	return endFatal
}

// failure tells what the failure of the row's job means for its parent.
func (r *jobRow) failure() ending {
	policy, _ := r.Get(fieldParentPolicy)
	return failedAs(policy)
}

// told reports whether the job id has been told, in a way that counted, that the child ended.
func (v *verb) told(id, child []byte) (bool, error) {
	for _, kind := range parentNotes[:endFatal] {
		mark := len(v.c.emq.buf)
		note, err := v.c.Tx.Hash(v.named(kind, id))
		if err != nil {
			return false, err
		}
		_, told := note.Get(child)
		if v.c.emq.buf = v.c.emq.buf[:mark]; told {
			return true, nil
		}
	}
	return false, nil
}

// parentStep is what the end of a child does to its parent: opened and checked, not written yet.
type parentStep struct {
	v           verb // with the base of the parent's queue
	id          []byte
	row         jobRow
	acts        bool // false when the parent is gone or was told before: nothing is written
	child, text []byte
	note        store.Hash
	waits       []byte     // key of the count of open children, nil when it stays
	open        int64      // what it becomes
	state       []byte     // the state that the parent goes to, nil when it stays
	to          store.ZSet // the set that it goes into
}

// parentStep prepares the end of a child for its parent at the declared row key, which parent is the parsed form of.
// Each child counts once, whatever is told of it how often.
func (v *verb) parentStep(key []byte, parent fence.Key, child, text []byte, how ending) (s parentStep, err error) {
	s = parentStep{v: v.in(parent.Base), id: parent.Name, child: child, text: text}
	if s.row, err = v.row(key); err != nil || !s.row.Exists() {
		return s, err
	}
	told, err := s.v.told(s.id, child)
	if err != nil || told {
		return s, err
	}
	if s.note, err = v.c.Tx.Hash(s.v.named(parentNotes[how], s.id)); err != nil {
		return s, err
	}
	if _, again := s.note.Get(child); again {
		return s, nil
	}
	s.acts = true
	held, set := s.row.awaiting(), fence.Dead
	if how == endFatal {
		s.state = stateDead
	} else {
		if s.waits, s.open, err = s.v.openChildren(s.id); err != nil {
			return s, err
		}
		if s.open == 0 {
			s.waits = nil // more children than were announced
		}
		s.open = max(s.open-1, 0)
		held = held && s.open == 0
		s.state, set = statePending, fence.Pending
	}
	if !held {
		s.state = nil
		return s, nil
	}
	s.to, err = v.c.Tx.ZSet(s.v.key(set))
	return s, err
}

// dies reports whether the parent dies of it.
func (s *parentStep) dies() bool { return string(s.state) == string(stateDead) }

// write writes what was prepared.
func (s *parentStep) write() {
	if !s.acts {
		return
	}
	s.note.Set(s.child, s.text)
	if s.waits != nil {
		s.v.c.Tx.SetInt(s.waits, s.open)
	}
	if s.state != nil {
		s.row.setState(s.state)
		s.to.Add(s.id, 0)
	}
}

// fate is the way of a failure up the ancestors of a job: prepared, not written yet.
type fate struct {
	steps  []parentStep
	signal bool // the last of them dies and leaves a signal for its own parent, whose key is not declared
	outbox store.List
}

// climb prepares the failure of a child for its parent at the declared key, and for as many further ancestors as die of
// it and are declared after it. Behind them a signal goes on.
func (v *verb) climb(keys [][]byte, position int, child, text []byte, how ending) (f fate, err error) {
	f.steps = v.c.emq.steps[:0]
	defer func() { v.c.emq.steps = f.steps[:0] }()
	for i, key := range keys {
		parent, err := fence.CheckKey(position+i, key, fence.Row)
		if err != nil {
			return f, err
		}
		step, err := v.parentStep(key, parent, child, text, how)
		if err != nil {
			return f, err
		}
		f.steps = append(f.steps, step)
		last := &f.steps[i]
		if !last.dies() || !last.row.has(fieldParent) {
			return f, nil
		}
		if i+1 == len(keys) {
			break
		}
		if err := last.v.checkParent(&last.row, keys[i+1]); err != nil {
			return f, err
		}
		child, how = last.id, last.row.failure()
	}
	f.signal = true
	f.outbox, err = f.steps[len(f.steps)-1].v.outbox()
	return f, err
}

// acts reports whether anything is to be written.
func (f *fate) acts() bool { return f.steps[0].acts }

// write writes what was prepared.
func (f *fate) write() {
	for i := range f.steps {
		f.steps[i].write()
	}
	if f.signal {
		last := &f.steps[len(f.steps)-1]
		last.v.signalFailure(&f.outbox, &last.row, last.id, last.text)
	}
}
