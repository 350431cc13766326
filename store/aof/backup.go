package aof

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/echomq/emqd/store/rdb"
)

// View is a log as it was at one moment. It stays so while a node goes on writing the log, and needs nothing of that
// node: it holds the files open, and what they hold up to there never changes. While they are held nothing is cut off them.
type View struct {
	*Log
	held map[string]*heldFile
}

// OpenView takes a view of the log in dir: every record that was in its files when the call began is in it.
func OpenView(fsys FS, dir, prefix string) (*View, error) {
	var last error
	for range 100 { // each time but the first a rewrite has come to its end, or a record was half written
		v := &View{held: map[string]*heldFile{}}
		again, err := v.open(fsys, dir, prefix)
		if err == nil && !again {
			return v, nil
		}
		if e := v.Close(); err == nil {
			err = e
		}
		if !again {
			return nil, err
		}
		if last != nil && err != nil && last.Error() == err.Error() {
			return nil, err // what is being written would have been written by now
		}
		last = err
		time.Sleep(20 * time.Millisecond)
	}
	return nil, fmt.Errorf("the files of the log change all the time: %w", last)
}

// open opens the files; again says that another attempt may go better.
func (v *View) open(fsys FS, dir, prefix string) (again bool, err error) {
	name := filepath.Join(dir, manifestName(prefix))
	text, err := readAll(fsys, name)
	if err != nil {
		return false, err
	}
	m, err := ParseManifest(text)
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	m.Old = nil
	v.Log = &Log{fs: heldFS{fsys, v.held}, dir: dir, prefix: prefix, man: *m, sizes: map[string]int64{}}
	v.state.Next = 1
	for _, it := range v.files() {
		f, err := fsys.Open(v.path(it.Name))
		if missing(err) {
			return true, fmt.Errorf("%s, which the manifest names, is missing", v.path(it.Name))
		}
		if err != nil {
			return false, err
		}
		size, err := f.Size()
		v.held[v.path(it.Name)] = &heldFile{File: f, size: size}
		if err != nil {
			return false, err
		}
		if err := hold(f); err != nil {
			return true, fmt.Errorf("%s is being removed: %w", v.path(it.Name), err)
		}
	}
	now, err := readAll(fsys, name)
	if err != nil || !bytes.Equal(now, text) {
		return true, err
	}
	if err := v.bound(); err != nil {
		return true, err
	}
	return false, v.measure()
}

// bound finds where the records end that are there now.
func (v *View) bound() error {
	// Once there are records in an increment, those before it are complete: so the last one is looked at first.
	for n := len(v.man.Incrs); n > 0; n-- {
		name := v.man.Incrs[n-1].Name
		w, err := newWindow(v.held[v.path(name)], name)
		if err != nil {
			return err
		}
		s, err := newScanner(w, 0)
		if err != nil {
			return err
		}
		first := w.at(s.off, maxLine+1)
		if s.ours && s.head.next == 0 && !bytes.HasPrefix(first, []byte(recordWord)) {
			v.man.Incrs = v.man.Incrs[:n-1] // staged
			continue
		}
		if s.ours && s.head.next == 0 {
			line, _, _ := bytes.Cut(first, []byte("\r\n"))
			a, _ := parseAnnotation(line)
			s.next = a.seq
		}
		for {
			rec, err := s.read()
			if err != nil {
				return err
			}
			if rec == nil {
				break
			}
		}
		v.held[v.path(name)].size = s.good
		return nil
	}
	return nil
}

// Close closes the files.
func (v *View) Close() error {
	var err error
	for _, f := range v.held {
		err = errors.Join(err, f.File.Close())
	}
	return err
}

// Copy makes a log of the same content in the directory dir, which is Vacant. Before it is a log it is read again to see that
// it is good.
func (v *View) Copy(dir string) (State, error) {
	to, err := Vacant(v.fs, dir, v.prefix)
	if err != nil {
		return State{}, err
	}
	for _, it := range v.files() {
		if err := to.take(it.Name, v.held[v.path(it.Name)]); err != nil {
			return State{}, err
		}
	}
	if err := v.fs.SyncDir(dir); err != nil {
		return State{}, err
	}
	copied, err := Part(v.fs, dir, v.prefix, v.Manifest(), 0)
	if err == nil {
		err = copied.Replay(nothing{})
	}
	if err != nil {
		return State{}, err
	}
	return copied.State(), to.adopt(v.Manifest())
}

// take copies a file into the directory of the log.
func (l *Log) take(name string, from *heldFile) error {
	if err := l.fs.Remove(l.path(name)); err != nil && !missing(err) {
		return err
	}
	out, err := l.fs.Create(l.path(name))
	if err != nil {
		return err
	}
	n, err := copyFile(out, io.NewSectionReader(from, 0, from.size))
	if err == nil && n != from.size {
		err = fmt.Errorf("%s was cut at byte %d while it was copied", name, n)
	}
	return errors.Join(err, out.Close())
}

// copyMark is a file that tells that a copy of a log is being made in its directory.
func copyMark(prefix string) string { return "temp-" + prefix + ".copy" }

// Vacant makes the directory dir ready to take a copy of a log. It has none, or one that was not finished, which is
// removed. Until the copy is adopted no start takes it for a log.
func Vacant(fsys FS, dir, prefix string) (*Log, error) {
	mark := filepath.Join(dir, copyMark(prefix))
	names, err := fsys.Names(dir)
	if err != nil && !missing(err) {
		return nil, err
	}
	marked := slices.Contains(names, copyMark(prefix))
	if marked && !slices.Contains(names, manifestName(prefix)) {
		for _, name := range names {
			if _, _, ok := partOf(prefix, name); ok {
				if err := fsys.Remove(filepath.Join(dir, name)); err != nil {
					return nil, err
				}
			}
		}
	}
	l, err := Open(fsys, dir, prefix, false)
	if err != nil {
		return nil, err
	}
	if !l.Fresh() {
		return nil, fmt.Errorf("there is a log in %s already", dir)
	}
	if err := l.makeDir(); err != nil || marked {
		return l, err
	}
	f, err := fsys.Create(mark)
	if err == nil {
		err = errors.Join(f.Close(), fsys.SyncDir(dir))
	}
	return l, err
}

// Adopt makes the RDB file that Import has copied the log, which is to be started later. The directory was Vacant.
func (l *Log) Adopt() error { return l.adopt(l.Manifest()) }

func (l *Log) adopt(m Manifest) error {
	if err := l.Commit(m); err != nil {
		return err
	}
	if err := l.fs.Remove(l.path(copyMark(l.prefix))); err != nil {
		return err
	}
	return l.fs.SyncDir(l.dir)
}

// Verify reads a log and does nothing with it.
func Verify(fsys FS, dir, prefix string) (State, error) {
	l, err := Open(fsys, dir, prefix, false)
	if err != nil {
		return State{}, err
	}
	err = l.Replay(nothing{})
	return l.State(), err
}

// VerifyRDB reads an RDB file and does nothing with it.
func VerifyRDB(fsys FS, name string) (State, error) {
	l, err := Snapshot(fsys, name)
	if err != nil {
		return State{}, err
	}
	err = l.Replay(nothing{})
	return l.State(), err
}

// nothing is a Reader that drops everything.
type nothing struct{}

// Key is Reader's.
func (nothing) Key(*rdb.Entry) error { return nil }

// Record is Reader's.
func (nothing) Record(*Record) error { return nil }

// Expect is Reader's.
func (nothing) Expect(int, int64) {}

// Soon is Reader's.
func (nothing) Soon(int, []byte, []byte) {}

// Progress is Reader's.
func (nothing) Progress(int64) {}

// heldFS is a file system whose files of a view are open already.
type heldFS struct {
	FS
	held map[string]*heldFile
}

// Open is FS's.
func (h heldFS) Open(name string) (File, error) {
	if f := h.held[name]; f != nil {
		return f, nil
	}
	return h.FS.Open(name)
}

// heldFile is the part of a file that belongs to a view. Close leaves it open.
type heldFile struct {
	File
	size int64
}

// Close is File's.
func (*heldFile) Close() error { return nil }

// Size is File's.
func (f *heldFile) Size() (int64, error) { return f.size, nil }
