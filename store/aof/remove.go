package aof

import (
	"errors"
	"io/fs"
)

// Easing is how large files are removed without holding up syncs beside it: they are cut from their ends, Step bytes at a time.
// Rest is called between and waits a little; when it returns false there is no time for that any more.
type Easing struct {
	Step int64
	Rest func() bool
}

// goneName is a file that is being removed: nothing to every start, and no name of a file that a copy is made of.
func goneName(prefix string) string { return "temp-" + prefix + ".gone" }

// remove removes a file, if it is there: at once when e is nil, or when somebody else has the file.
func (l *Log) remove(name string, e *Easing) error {
	path := l.path(name)
	if e != nil {
		path = l.shrink(path, e)
	}
	if err := l.fs.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// shrink makes a file short, as far as that goes, and returns the name that it has then.
func (l *Log) shrink(path string, e *Easing) string {
	f, err := l.fs.Open(path)
	if err != nil {
		return path
	}
	defer f.Close() // nothing is written that anybody wants
	size, err := f.Size()
	if err != nil || size <= e.Step {
		return path
	}
	gone := l.path(goneName(l.prefix))
	if err := l.fs.Rename(path, gone); err != nil {
		return path
	}
	if !alone(f) { // under its new name nobody finds it who did not have it before
		return gone
	}
	for size > e.Step && e.Rest() {
		size -= e.Step
		if err := f.Truncate(size); err != nil {
			break
		}
	}
	return gone
}

// alone reports whether f has no other name and no reader that holds it, and keeps readers from that.
func alone(f File) bool {
	d, ok := Descriptor(f)
	return !ok || soleOwner(d)
}

// hold keeps a file that is being read whole while f is open. It fails when the file is being removed.
func hold(f File) error {
	if d, ok := Descriptor(f); ok {
		return holdShared(d)
	}
	return nil
}
