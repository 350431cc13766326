package aof

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
)

// Start makes the log ready to be written after Replay: what the last increment ends with and is dropped is cut off,
// garbage after it is moved to a file beside it, a new increment with the node epoch epoch is opened, and files that
// are left over are removed. salt is random.
func (l *Log) Start(epoch int64, salt uint32) (*Writer, error) {
	if err := l.makeDir(); err != nil {
		return nil, err
	}
	if err := l.mend(); err != nil {
		return nil, fmt.Errorf("the end of the last increment: %w", err)
	}
	w, err := l.Increment(epoch, l.state.Next, salt)
	if err != nil {
		return nil, err
	}
	m := l.Manifest()
	for range l.unused { // staged behind the last one that was written
		n := len(m.Incrs) - 1
		m.Old = append(m.Old, Item{m.Incrs[n].Name, m.Incrs[n].Seq, kindHistory})
		m.Incrs = m.Incrs[:n]
	}
	if n := len(m.Incrs); n > 0 && l.last != nil && l.last.ours && !l.last.more && l.last.next == l.last.head.next {
		m.Old = append(m.Old, Item{m.Incrs[n-1].Name, m.Incrs[n-1].Seq, kindHistory}) // it has no records, and its epoch is passed
		m.Incrs = m.Incrs[:n-1]
	}
	m.Incrs = append(m.Incrs, w.item)
	if err := l.Commit(m); err != nil {
		w.Abandon()
		return nil, err
	}
	return w, l.Clean(nil)
}

// makeDir makes the directory, durably when the log is fresh: it, and the one above it, may be new themselves.
func (l *Log) makeDir() error {
	err := l.fs.MakeDir(l.dir)
	if err == nil && l.fresh {
		err = l.fs.SyncDir(filepath.Dir(l.dir))
		_ = l.fs.SyncDir(filepath.Dir(filepath.Dir(l.dir))) // it may be one that we may not read, and then is not ours
	}
	return err
}

// mend cuts the last increment to its good part, makes that durable and ends it.
func (l *Log) mend() error {
	s := l.last
	if s == nil || s.more && s.tail == nil && s.good == s.w.size {
		return nil
	}
	name := s.w.name
	f, err := l.fs.Open(l.path(name))
	if err != nil {
		return err
	}
	defer f.Close()
	if s.tail != nil && s.tail.Garbage {
		if err := l.setAside(f, s); err != nil {
			return err
		}
	}
	if err := f.Truncate(s.good); err != nil {
		return err
	}
	if err := s.rewrite(f); err != nil {
		return err
	}
	// The end must not be there while what is cut off still is.
	if err := f.Sync(); err != nil {
		return err
	}
	if s.ours && !s.full && !s.more {
		end := appendEnd(nil, s.next-1, s.head.salt)
		if _, err := f.WriteAt(end, s.good); err != nil {
			return err
		}
	}
	return f.Sync()
}

// rewrite writes what may not be durable once more, with the bytes that are there. When a sync has failed, what it was for can still be
// read, from the cache of the system, and no later sync writes it: the cache takes it for written.
func (s *scanner) rewrite(f File) error {
	if !s.ours || s.more {
		return nil
	}
	from := int64(0)
	if len(s.unsure) > 0 {
		from = s.unsure[0].off
	}
	for b := make([]byte, windowSize); from < s.good; {
		n, err := f.ReadAt(b[:min(s.good-from, windowSize)], from)
		if n == 0 && err != nil {
			return err
		}
		if _, err := f.WriteAt(b[:n], from); err != nil {
			return err
		}
		from += int64(n)
	}
	return nil
}

// setAside copies what follows the good part of a file to another one beside it.
func (l *Log) setAside(f File, s *scanner) error {
	to := l.path(fmt.Sprintf("%s.tail-%d", s.w.name, s.good))
	if err := l.fs.Remove(to); err != nil && !missing(err) {
		return err
	}
	out, err := l.fs.Create(to)
	if err != nil {
		return err
	}
	_, err = copyFile(out, io.NewSectionReader(f, s.good, s.w.size-s.good))
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return l.fs.SyncDir(l.dir)
}

// copyFile writes what r gives to the beginning of out and makes it durable.
func copyFile(out File, r io.Reader) (int64, error) {
	n, err := io.Copy(io.NewOffsetWriter(out, 0), r)
	if err != nil {
		return n, err
	}
	return n, out.Sync()
}

// Increment makes the next increment, whose first record is number next. The manifest does not name it yet: Commit one
// that does before anything in it is acknowledged.
func (l *Log) Increment(epoch, next int64, salt uint32) (*Writer, error) {
	name, seq := l.nextIncrement()
	if err := l.fs.Remove(l.path(name)); err != nil && !missing(err) {
		return nil, err
	}
	f, side, err := l.create(name)
	if err != nil {
		return nil, err
	}
	w := &Writer{f: f, side: side, item: Item{name, seq, kindIncr}, head: header{epoch, next, salt}, seq: next - 1, db: -1}
	w.buf = w.head.append(w.head.append(w.buf))
	w.synced.Seq = next - 1
	err = w.Sync()
	if err == nil {
		if from, to, ok := w.Ahead(); ok {
			// Without room ahead records are appended, which is slower and as safe.
			if err := fillSynced(f, from, to); err == nil {
				w.Filled(to)
			} else if err = f.Truncate(from); err != nil {
				return nil, errors.Join(err, w.closeFiles())
			}
		}
		err = l.fs.SyncDir(l.dir)
	}
	if err != nil {
		return nil, errors.Join(err, w.closeFiles(), l.fs.Remove(l.path(name)))
	}
	return w, nil
}

// create makes a new increment and opens it twice.
func (l *Log) create(name string) (f, side File, err error) {
	if f, err = l.fs.Create(l.path(name)); err != nil {
		return nil, nil, err
	}
	if side, err = l.fs.Open(l.path(name)); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, side, nil
}

// Commit makes m the manifest, at once or not at all. After an error it is not known which one is in force.
func (l *Log) Commit(m Manifest) error {
	temp := l.path(tempName(l.prefix))
	if err := l.fs.Remove(temp); err != nil && !missing(err) {
		return err
	}
	f, err := l.fs.Create(temp)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(m.Append(nil), 0)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := l.fs.Rename(temp, l.path(manifestName(l.prefix))); err != nil {
		l.doubts(&m)
		return err
	}
	if err := l.fs.SyncDir(l.dir); err != nil {
		l.doubts(&m)
		return err
	}
	l.man, l.fresh = m, false
	l.man.Incrs = slices.Clone(m.Incrs)
	l.decided()
	return nil
}

// Clean removes the files that the manifest has as history and those that were left over, and forgets them. A crash on
// the way leaves some of them to the next start. With an Easing they are removed as that says.
func (l *Log) Clean(e *Easing) error {
	for _, it := range l.man.Old {
		l.loose = append(l.loose, it.Name)
	}
	if len(l.loose) == 0 {
		return nil
	}
	for _, name := range l.loose {
		if slices.ContainsFunc(l.files(), func(it Item) bool { return it.Name == name }) {
			continue
		}
		if err := l.remove(name, e); err != nil {
			return err
		}
	}
	l.loose = nil
	if len(l.man.Old) > 0 {
		m := l.man
		m.Old = nil
		return l.Commit(m)
	}
	return l.fs.SyncDir(l.dir)
}

// Import makes a copy of a file, an RDB file or an append-only file of one part, the base of a fresh log, before
// Replay. The manifest names it from Start on.
func (l *Log) Import(name string) error {
	if err := l.fs.MakeDir(l.dir); err != nil {
		return err
	}
	in, err := l.fs.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	size, err := in.Size()
	if err != nil {
		return err
	}
	base := Item{BaseName(l.prefix, 1), 1, kindBase}
	if err := l.fs.Remove(l.path(base.Name)); err != nil && !missing(err) {
		return err
	}
	out, err := l.fs.Create(l.path(base.Name))
	if err != nil {
		return err
	}
	_, err = copyFile(out, io.NewSectionReader(in, 0, size))
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	l.man = Manifest{Base: &base}
	l.loose = slices.DeleteFunc(l.loose, func(n string) bool { return n == base.Name })
	return l.measure()
}

// Base makes the next base, an empty file to be filled and synced. No manifest names it before a Commit.
func (l *Log) Base() (File, Item, error) {
	it := Item{Seq: 1, Kind: kindBase}
	for _, other := range append(l.files(), l.doubt...) {
		if other.Kind == kindBase {
			it.Seq = max(it.Seq, other.Seq+1)
		}
	}
	it.Name = BaseName(l.prefix, it.Seq)
	if err := l.fs.Remove(l.path(it.Name)); err != nil && !missing(err) {
		return nil, it, err
	}
	f, err := l.fs.Create(l.path(it.Name))
	return f, it, err
}

// Discard removes a base that was not finished.
func (l *Log) Discard(it Item) error { return l.fs.Remove(l.path(it.Name)) }

// Replace makes base, which is durable, together with a new increment the whole log: everything before is removed. The
// first record of the increment is number next.
func (l *Log) Replace(base Item, epoch, next int64, salt uint32, e *Easing) (*Writer, error) {
	w, err := l.Increment(epoch, next, salt)
	if err != nil {
		return nil, err
	}
	if err := l.Put(base, w); err != nil {
		w.Abandon()
		return nil, err
	}
	return w, l.Clean(e)
}

// Put makes base and the increment of w, whose records so far are durable as well, the whole log. What was before is removed by
// Clean.
func (l *Log) Put(base Item, w *Writer) error {
	m := Manifest{Base: &base, Incrs: []Item{w.item}}
	for _, it := range l.files() {
		m.Old = append(m.Old, Item{it.Name, it.Seq, kindHistory})
	}
	return l.Commit(m)
}

// startMark is a file that tells that a log is being begun beside a node that serves: increments that no manifest names hold
// nothing that was promised.
func startMark(prefix string) string { return "temp-" + prefix + ".start" }

// BeginStart makes the directory ready for a log that is begun while its node serves, and is put in force by Put. Files of an
// attempt that was not finished are removed.
func (l *Log) BeginStart() error {
	if err := l.makeDir(); err != nil {
		return err
	}
	for _, name := range l.loose {
		if name == startMark(l.prefix) {
			continue
		}
		if err := l.fs.Remove(l.path(name)); err != nil && !missing(err) {
			return err
		}
	}
	l.loose = []string{startMark(l.prefix)}
	if err := l.fs.SyncDir(l.dir); err != nil || l.begun {
		return err
	}
	f, err := l.fs.Create(l.path(startMark(l.prefix)))
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), l.fs.SyncDir(l.dir))
}
