package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

// Lifecycle tells the lifecycle events of one call of row, which are what its effects from number first on say: a row's new
// state, a row that went, a queue paused or resumed. Each is the JSON object that goes to the channel, whose name and the
// message are valid during the call of tell. heard says whether anyone listens to a channel; to others nothing is spelt.
//
// The events are pending, active, scheduled, dead, awaiting_children, completed, removed, paused and resumed.
func Lifecycle(row *Row, f *store.Effects, first int, heard func(channel []byte) bool, tell func(channel, message []byte)) {
	l := lifecycle{gone: eventRemoved, heard: heard, tell: tell}
	if row.Family == "completion" {
		l.gone = eventCompleted
	}
	for i := first; i < f.Len(); i++ {
		switch f.Name(i) {
		case "HSET", "HDEL", "DEL":
			if key, ok := fence.Parse(f.Arg(i, 0)); ok {
				l.effect(f, i, key)
			}
		}
	}
}

var (
	eventCompleted = []byte("completed")
	eventRemoved   = []byte("removed")
	eventPaused    = []byte("paused")
	eventResumed   = []byte("resumed")

	fieldEventError = []byte("error")
)

// lifecycle spells the events of one call.
type lifecycle struct {
	gone  []byte // the event of a row that is deleted
	heard func(channel []byte) bool
	tell  func(channel, message []byte)
	buf   []byte
}

// effect tells the event of effect i on a key, if it is one.
func (l *lifecycle) effect(f *store.Effects, i int, key fence.Key) {
	switch {
	case key.Kind == fence.Row && f.Name(i) == "DEL":
		l.event(key, l.gone, nil)
	case key.Kind == fence.Row && f.Name(i) == "HSET":
		if state := setField(f, i, fieldState); state != nil {
			l.event(key, state, setField(f, i, fieldError))
		}
	case key.Kind == fence.Meta && f.Name(i) == "HSET" && setField(f, i, fieldPaused) != nil:
		l.event(key, eventPaused, nil)
	case key.Kind == fence.Meta && f.Name(i) == "HDEL" && string(f.Arg(i, 1)) == string(fieldPaused):
		l.event(key, eventResumed, nil)
	}
}

// setField returns what effect i, an HSET, sets a field to; nil when it does not set it.
func setField(f *store.Effects, i int, field []byte) []byte {
	for j := 1; j+1 < f.Args(i); j += 2 {
		if string(f.Arg(i, j)) == string(field) {
			return f.Arg(i, j+1)
		}
	}
	return nil
}

// event tells one event of the job or the queue that the key is of.
func (l *lifecycle) event(key fence.Key, event, failure []byte) {
	l.buf = fence.AppendKey(l.buf[:0], key.Base, fence.Events)
	n := len(l.buf)
	if !l.heard(l.buf) {
		return
	}
	var fields [][]byte
	if failure != nil {
		fields = [][]byte{fieldEventError, failure}
	}
	l.buf = appendEvent(l.buf, event, key.Name, fields)
	l.tell(l.buf[:n], l.buf[n:])
}
