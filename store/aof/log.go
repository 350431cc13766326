package aof

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/echomq/emqd/store/rdb"
)

// Log is the directory of the log: its manifest and the files that hold the data.
type Log struct {
	fs       FS
	dir      string
	prefix   string
	man      Manifest
	loose    []string // data files that the manifest does not name, and unfinished ones
	fresh    bool     // there was no log
	begun    bool     // one was being begun beside a node that served
	baseNext int64    // number of the first record behind the base, 0 when it does not tell
	sizes    map[string]int64
	state    State
	last     *scanner // of the last increment, at its end
	unused   int      // staged increments behind it, which have no records
	doubt    []Item   // files of a manifest that may be in force
	end      int64    // where the last file is taken to end, 0 for its end
}

// State is what Replay found.
type State struct {
	Epoch   int64 // highest node epoch
	Next    int64 // number of the next record
	Records int64
	Keys    int64 // of the base
	Bytes   int64 // read
	Flaws   int64 // damaged lines that another one stands in for
	Tail    *Tail // what the last increment ends with and is dropped
	Skipped rdb.Skipped
}

// Reader takes what Replay reads, in the order of time. Nothing that it is given is valid after the call.
type Reader interface {
	// Key takes a key of an RDB base.
	Key(e *rdb.Entry) error
	// Record takes the commands of one transaction.
	Record(r *Record) error
	// Expect is told how many keys a database of an RDB base is going to have: a hint, which is never more than could be in
	// the file.
	Expect(db int, keys int64)
	// Soon is told what comes next, one after the other: keys, each with the last argument of its command, which may be a
	// member of its value. It is a hint.
	Soon(db int, key, member []byte)
	// Progress is told now and then how many bytes have been read.
	Progress(bytes int64)
}

// Auxiliary fields of a base of ours.
const (
	AuxEpoch = "emqd-epoch" // node epoch
	AuxSeq   = "emqd-seq"   // number of the last record that the base holds
)

// Open reads the manifest in dir and finds its files. Without a directory or with an empty one the log is fresh. It
// refuses what could be an empty start on data: data files without a manifest, files that are missing.
// imported says that there is other data that a fresh log starts from, so that an unfinished copy of it is nothing.
func Open(fsys FS, dir, prefix string, imported bool) (*Log, error) {
	l := &Log{fs: fsys, dir: dir, prefix: prefix, sizes: map[string]int64{}}
	l.state.Next = 1
	names, err := fsys.Names(dir)
	if err != nil && !missing(err) {
		return nil, err
	}
	for _, name := range names {
		if _, _, ok := partOf(prefix, name); ok || isTemp(prefix, name) {
			l.loose = append(l.loose, name)
		}
	}
	l.begun = slices.Contains(names, startMark(prefix))
	if !slices.Contains(names, manifestName(prefix)) {
		return l, l.openFresh(imported)
	}
	text, err := readAll(fsys, l.path(manifestName(prefix)))
	if err != nil {
		return nil, err
	}
	m, err := ParseManifest(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.path(manifestName(prefix)), err)
	}
	l.man = *m
	if err := l.measure(); err != nil {
		return nil, err
	}
	return l, l.checkLoose()
}

// isTemp reports whether name is a file that a crash left unfinished.
func isTemp(prefix, name string) bool {
	return name == tempName(prefix) || name == copyMark(prefix) || name == startMark(prefix) || name == goneName(prefix)
}

func tempName(prefix string) string { return "temp-" + manifestName(prefix) }

// openFresh accepts a directory without a manifest when nothing in it holds data.
func (l *Log) openFresh(imported bool) error {
	l.fresh = true
	if l.begun {
		return nil
	}
	for _, name := range l.loose {
		seq, kind, _ := partOf(l.prefix, name)
		if kind == kindBase && seq == 1 && imported {
			continue // a copy that was not finished
		}
		if some, err := l.holdsData(name, 0); err != nil {
			return err
		} else if some {
			return fmt.Errorf("%s is there and the manifest %s is missing: not starting with nothing. "+
				"Put the manifest back, or move the directory away to start empty", name, l.path(manifestName(l.prefix)))
		}
	}
	return nil
}

// holdsData reports whether a data file that no manifest names has something in it: for an increment, records from
// the number next on.
func (l *Log) holdsData(name string, next int64) (bool, error) {
	if isTemp(l.prefix, name) {
		return false, nil
	}
	f, err := l.fs.Open(l.path(name))
	if err != nil {
		return false, err
	}
	defer f.Close()
	w, err := newWindow(f, name)
	if err != nil || w.size == 0 {
		return false, err
	}
	s, err := newScanner(w, 0)
	if err == nil && !s.ours && (s.tail != nil || s.lastByte(0) < 0) {
		return false, w.err // a head that was being written
	}
	if err != nil || !s.ours {
		return next == 0, w.err
	}
	if s.head.next != 0 && s.head.next < next {
		return false, nil
	}
	rec, err := s.read()
	return rec != nil || err != nil, w.err
}

// measure finds the files of the manifest.
func (l *Log) measure() error {
	for _, it := range l.files() {
		f, err := l.fs.Open(l.path(it.Name))
		if missing(err) {
			what := "increment"
			if it.Kind == kindBase {
				what = "base"
			}
			return fmt.Errorf("the %s %s, which the manifest names, is missing", what, l.path(it.Name))
		}
		if err != nil {
			return err
		}
		size, err := f.Size()
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		l.sizes[it.Name] = size
		l.loose = slices.DeleteFunc(l.loose, func(name string) bool { return name == it.Name })
	}
	return nil
}

// checkLoose refuses a manifest that is older than the increments beside it.
func (l *Log) checkLoose() error {
	if l.begun {
		return nil
	}
	var last int64
	if n := len(l.man.Incrs); n > 0 {
		last = l.man.Incrs[n-1].Seq
	}
	for _, name := range l.loose {
		seq, kind, _ := partOf(l.prefix, name)
		if kind != kindIncr || seq <= last {
			continue
		}
		if some, err := l.holdsData(name, 1); err != nil {
			return err
		} else if some {
			return fmt.Errorf("%s has records and the manifest does not name it: the manifest %s is an older one",
				name, l.path(manifestName(l.prefix)))
		}
	}
	return nil
}

// files returns the files that hold the data, in the order in which they are read.
func (l *Log) files() []Item {
	var all []Item
	if l.man.Base != nil {
		all = append(all, *l.man.Base)
	}
	return append(all, l.man.Incrs...)
}

func (l *Log) path(name string) string { return filepath.Join(l.dir, name) }

// Fresh reports whether there was no log.
func (l *Log) Fresh() bool { return l.fresh }

// Bytes returns the size of the files that Replay reads.
func (l *Log) Bytes() int64 {
	n := int64(0)
	for _, size := range l.sizes {
		n += size
	}
	return n
}

// BaseBytes returns the size of the base.
func (l *Log) BaseBytes() int64 {
	if l.man.Base == nil {
		return 0
	}
	return l.sizes[l.man.Base.Name]
}

// State returns what Replay found.
func (l *Log) State() State { return l.state }

// Manifest returns the files that hold the data.
func (l *Log) Manifest() Manifest {
	m := l.man
	m.Incrs = slices.Clone(m.Incrs)
	return m
}

// Replay reads the base and the increments. Its error is a *Damage, one of r, or of the file system. Keys of an RDB base are
// decoded some ahead of r; a record is read when r has taken the one before.
func (l *Log) Replay(r Reader) error { return l.replayFiles(r, false) }

// ReplayAhead is Replay that reads records ahead of r as well, which where there is a second processor saves a fourth of the
// time, and takes that processor from others.
func (l *Log) ReplayAhead(r Reader) error { return l.replayFiles(r, true) }

func (l *Log) replayFiles(r Reader, ahead bool) error {
	for i, it := range l.files() {
		if err := l.replay(it, i == len(l.files())-1, r, ahead); err != nil {
			return err
		}
	}
	return nil
}

func (l *Log) replay(it Item, last bool, r Reader, ahead bool) error {
	f, err := l.fs.Open(l.path(it.Name))
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := newWindow(f, it.Name)
	if err != nil {
		return err
	}
	if last && l.end > 0 {
		w.size = min(w.size, l.end)
	}
	done := l.state.Bytes
	defer func() { l.state.Bytes = done + w.size }()
	off := int64(0)
	if head := w.at(0, 6); string(head) == "VALKEY" || len(head) > 5 && string(head[:5]) == "REDIS" {
		if off, err = l.replayRDB(it, f, w.size, done, r); err != nil || off == w.size {
			return err
		}
	} else if it.Kind == kindBase && w.size == 0 {
		return &Damage{File: it.Name, Why: "the base is empty"}
	}
	s, err := newScanner(w, off)
	if err != nil {
		return err
	}
	if s.flaw {
		l.state.Flaws++
	}
	staged := s.ours && s.head.next == 0
	if s.ours && it.Kind == kindIncr {
		if err := l.follows(s); err != nil {
			return err
		}
	}
	read := s.read
	if ahead {
		a := readAhead(s, func(next []Record) { soon(r, next) })
		defer a.stop()
		read = a.read
	}
	for n := 0; ; n++ {
		rec, err := read()
		if err != nil {
			return err
		}
		if rec == nil && staged && n == 0 && s.tail == nil {
			l.unused++ // the one before it was still being written
			return nil
		}
		if t := l.state.Tail; t != nil {
			return &Damage{File: t.File, Offset: t.Offset, Seq: t.Seq, Why: t.Why + " before the last increment"}
		}
		if rec == nil {
			break
		}
		l.state.Records++
		if err := r.Record(rec); err != nil {
			return fmt.Errorf("%s, byte %d: %w", it.Name, rec.Offset, err)
		}
		if n%1024 == 0 {
			r.Progress(done + rec.Offset)
		}
	}
	if s.ours {
		l.state.Next = s.next
	}
	if s.tail != nil && it.Kind == kindBase {
		return &Damage{File: it.Name, Offset: s.tail.Offset, Why: "the base ends with " + s.tail.Why}
	}
	l.state.Tail = s.tail
	if it.Kind == kindIncr {
		l.last, l.unused = s, 0
	}
	return nil
}

// soon tells r the first and the last arguments of commands, which are keys and members in most of what a log holds.
func soon(r Reader, next []Record) {
	for i := range next {
		for _, cmd := range next[i].Commands {
			if n := len(cmd.Args); n > 1 {
				r.Soon(cmd.DB, cmd.Args[1], cmd.Args[n-1])
			}
		}
	}
}

// follows checks that the records of s begin where those before it ended.
func (l *Log) follows(s *scanner) error {
	l.state.Epoch = max(l.state.Epoch, s.head.epoch)
	if s.head.next == 0 { // it was staged before that was known
		s.head.next, s.next = l.state.Next, l.state.Next
	}
	known := l.state.Next > 1 || l.last != nil && l.last.ours || l.man.Base == nil
	if known && s.next != l.state.Next {
		return &Damage{File: s.w.name, Seq: l.state.Next, Why: fmt.Sprintf("begins with record %d: an increment is missing", s.next)}
	}
	return nil
}

// watchAux takes what a base of ours tells of itself.
func (l *Log) watchAux(in *rdb.Reader) {
	in.OnAux = func(key, value []byte) {
		n, ok := parseNumber(value)
		switch {
		case ok && string(key) == AuxEpoch:
			l.state.Epoch = max(l.state.Epoch, n)
		case ok && string(key) == AuxSeq:
			l.state.Next, l.baseNext = n+1, n+1
		}
	}
}

// replayRDB reads an RDB base, or the part of an AOF base that is one, and returns where it ends.
func (l *Log) replayRDB(it Item, f File, size, done int64, r Reader) (int64, error) {
	in, err := rdb.NewReader(io.NewSectionReader(f, 0, size))
	if err != nil {
		return 0, fmt.Errorf("the base %s: %w", it.Name, err)
	}
	l.watchAux(in)
	const least = 3 // bytes of a key: its type, and the lengths of its name and value
	in.OnResize = func(db int, keys, _ uint64) { r.Expect(db, int64(min(keys, uint64(size)/least))) }
	var refused error
	err = in.EachAhead(func(e *rdb.Entry) error {
		l.state.Keys++
		if err := r.Key(e); err != nil {
			refused = fmt.Errorf("the base %s, key %q: %w", it.Name, e.Key[:min(len(e.Key), 128)], err)
		}
		return refused
	}, func(next []rdb.Entry) {
		for i := range next {
			r.Soon(next[i].DB, next[i].Key, nil)
		}
	}, func(at int64) { r.Progress(done + at) })
	switch {
	case refused != nil:
		return 0, refused
	case err != nil:
		return 0, fmt.Errorf("the base %s is damaged: %w", it.Name, err)
	}
	l.state.Skipped = in.Skipped()
	return in.Offset(), nil
}

// Snapshot returns a log that is one RDB file and is only read.
func Snapshot(fsys FS, path string) (*Log, error) {
	l := &Log{fs: fsys, dir: filepath.Dir(path), sizes: map[string]int64{}, fresh: true}
	l.state.Next = 1
	l.man.Base = &Item{filepath.Base(path), 1, kindBase}
	return l, l.measure()
}
