package aof

import (
	"errors"
	"fmt"
	"slices"
)

// Staged is an increment that is ready to be written and has no records yet. The manifest names it behind the one that
// is being written.
type Staged struct{ w *Writer }

// Stage makes the increment that will follow the one being written, durable and named by the manifest, while that one
// goes on: a start finds it empty and passes over it. After an error the one being written is as good as before.
func (l *Log) Stage(epoch int64, salt uint32) (*Staged, error) {
	name, seq := l.nextIncrement()
	if err := l.fs.Remove(l.path(name)); err != nil && !missing(err) {
		return nil, err
	}
	f, side, err := l.create(name)
	if err != nil {
		return nil, err
	}
	w := &Writer{f: f, side: side, item: Item{name, seq, kindIncr}, head: header{epoch: epoch, salt: salt}, db: -1}
	head := w.head.append(w.head.append(nil))
	w.pos = int64(len(head))
	if _, err = f.WriteAt(head, 0); err == nil {
		err = f.Sync()
	}
	if err == nil {
		to := fillEnd(w.pos + minFill)
		if e := fillSynced(f, w.pos, to); e == nil {
			w.end = to
		} else if !errors.Is(e, ErrFull) {
			err = e
		}
	}
	if err == nil {
		err = l.fs.SyncDir(l.dir)
	}
	if err != nil {
		return nil, errors.Join(err, w.closeFiles(), l.fs.Remove(l.path(name)))
	}
	m := l.Manifest()
	m.Incrs = append(m.Incrs, w.item)
	if err := l.Commit(m); err != nil {
		return nil, errors.Join(err, w.closeFiles())
	}
	return &Staged{w}, nil
}

// Begin ends w, all of whose records are durable, and returns the writer that goes on where it ended. What is left to
// do for the file of w is done by Seal. Nothing is written here.
func (s *Staged) Begin(w *Writer) *Writer {
	next := s.w
	next.seq, next.head.next, next.synced = w.seq, w.seq+1, Point{w.seq, next.pos}
	return next
}

// Abandon closes the file of an increment that will not be written. It stays, empty.
func (s *Staged) Abandon() error { return s.w.closeFiles() }

// Seal cuts off the filler of a file that another one has followed, and closes it. It may be called from any
// goroutine, once nothing else uses w.
func (w *Writer) Seal() error {
	err := w.f.Truncate(w.pos)
	if err == nil {
		err = w.f.Sync()
	}
	w.err = errClosed
	return errors.Join(err, w.closeFiles())
}

// Before returns the files that hold the data up to the increment called name, with it when with is set.
func (l *Log) Before(name string, with bool) Manifest {
	m := l.Manifest()
	m.Old = nil
	if i := slices.IndexFunc(m.Incrs, func(it Item) bool { return it.Name == name }); i >= 0 {
		if with {
			i++
		}
		m.Incrs = m.Incrs[:i]
	}
	return m
}

// Switch makes base, which is durable and holds what the files of old hold, take their place, and removes them as e says.
func (l *Log) Switch(base Item, old Manifest, e *Easing) error {
	if err := l.fs.SyncDir(l.dir); err != nil {
		return err
	}
	m := l.Manifest()
	m.Base = &base
	gone := old.Incrs
	m.Incrs = slices.DeleteFunc(m.Incrs, func(it Item) bool { return slices.Contains(gone, it) })
	if len(m.Incrs) != len(l.man.Incrs)-len(gone) {
		return fmt.Errorf("the files of the log are not those that %s was made of", base.Name)
	}
	if old.Base != nil {
		gone = append(slices.Clone(gone), *old.Base)
	}
	for _, it := range gone {
		m.Old = append(m.Old, Item{it.Name, it.Seq, kindHistory})
	}
	if err := l.Commit(m); err != nil {
		return err
	}
	return l.Clean(e)
}

// Part returns a log that is the files of m in dir, the last of them up to byte end, or all of it when end is 0. It is
// only read, and nothing may be torn in it.
func Part(fsys FS, dir, prefix string, m Manifest, end int64) (*Log, error) {
	l := &Log{fs: fsys, dir: dir, prefix: prefix, man: m, sizes: map[string]int64{}, end: end}
	l.state.Next = 1
	return l, l.measure()
}

// nextIncrement returns the name and the number of an increment that no manifest names, not even one that may be in
// force.
func (l *Log) nextIncrement() (string, int64) {
	seq := int64(1)
	for _, it := range append(l.files(), l.doubt...) {
		if it.Kind == kindIncr {
			seq = max(seq, it.Seq+1)
		}
	}
	return incrName(l.prefix, seq), seq
}

// doubts notes the files of a manifest that may be in force or not, so that they stay until another one is.
func (l *Log) doubts(m *Manifest) {
	all := m.Incrs
	if m.Base != nil {
		all = append(slices.Clone(all), *m.Base)
	}
	for _, it := range all {
		if !slices.Contains(l.doubt, it) {
			l.doubt = append(l.doubt, it)
		}
	}
}

// decided forgets doubts: a manifest is in force for certain.
func (l *Log) decided() {
	for _, it := range l.doubt {
		if !slices.Contains(l.files(), it) {
			l.loose = append(l.loose, it.Name)
		}
	}
	l.doubt = nil
}

// written returns how many of the files there are without the increments at the end that are staged and have no records.
func (l *Log) written(items []Item) int {
	for n := len(items); n > 1; n-- {
		f, err := l.fs.Open(l.path(items[n-1].Name))
		if err != nil {
			return n
		}
		w, err := newWindow(f, items[n-1].Name)
		staged := false
		if err == nil {
			s, err := newScanner(w, 0)
			staged = err == nil && s.ours && s.head.next == 0 && string(w.at(s.off, int64(len(recordWord)))) != recordWord
		}
		if err := f.Close(); err != nil || !staged {
			return n
		}
	}
	return min(len(items), 1)
}
