package aof

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/echomq/emqd/store/rdb"
)

// FileReport is what is found in one file of a log.
type FileReport struct {
	Name    string
	Kind    string // base or increment
	Bytes   int64
	Keys    int64 // of an RDB base
	Records int64 // good ones
	First   int64 // numbers of the first and last good record, 0 without
	Last    int64
	Epoch   int64   // node epoch, 0 in a file of another server
	Damage  []error // places that cannot be read; the good records behind them are counted
	Tail    *Tail   // an end that a start drops
	Flaw    bool    // one of the two lines of the head is damaged, which a start passes over
}

// Check reads a whole log without changing it and reports on each file. name is the directory of the log. An
// error is about the log as a whole: what is wrong inside the files is in the reports.
func Check(fsys FS, name string) ([]FileReport, error) {
	c := &checker{fs: fsys}
	return c.files(name, nil)
}

// sink takes what a repair keeps.
type sink interface {
	// base takes the base: its file as it is when that is sound, or else what could be read of it.
	base(it Item, f File, size int64, sound bool) error
	record(cmds []Command) error
}

// checker reads the files of a log past what is damaged.
type checker struct {
	fs    FS
	log   *Log
	wrong []string // of the log as a whole
}

// prefixIn returns the prefix of the log in a directory: that of its manifest or, without one, of its data files.
func prefixIn(fsys FS, dir string) (prefix string, manifest bool, err error) {
	names, err := fsys.Names(dir)
	if err != nil {
		return "", false, err
	}
	for _, name := range names {
		if p, ok := strings.CutSuffix(name, ".manifest"); ok && !strings.HasPrefix(name, "temp-") {
			return p, true, nil
		}
	}
	for _, name := range names {
		for _, end := range []string{".incr.aof", ".base.rdb", ".base.aof"} {
			if p, ok := strings.CutSuffix(name, end); ok {
				if i := strings.LastIndexByte(p, '.'); i > 0 {
					return p[:i], false, nil
				}
			}
		}
	}
	return "", false, fmt.Errorf("%s has no log", dir)
}

// open finds the files of a log, whatever state they are in.
func (c *checker) open(dir string) error {
	prefix, manifest, err := prefixIn(c.fs, dir)
	if err != nil {
		return err
	}
	l := &Log{fs: c.fs, dir: dir, prefix: prefix, sizes: map[string]int64{}}
	l.state.Next = 1
	c.log = l
	if manifest {
		text, err := readAll(c.fs, l.path(manifestName(prefix)))
		if err != nil {
			return err
		}
		m, err := ParseManifest(text)
		if err == nil {
			l.man = *m
			return nil
		}
		c.wrong = append(c.wrong, manifestName(prefix)+": "+err.Error())
	} else {
		c.wrong = append(c.wrong, manifestName(prefix)+" is missing")
	}
	return c.guess()
}

// guess takes the newest base and every increment for the log, when no manifest tells.
func (c *checker) guess() error {
	l := c.log
	names, err := c.fs.Names(l.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		seq, kind, ok := partOf(l.prefix, name)
		switch {
		case !ok:
		case kind == kindBase && (l.man.Base == nil || l.man.Base.Seq < seq):
			l.man.Base = &Item{name, seq, kindBase}
		case kind == kindIncr:
			l.man.Incrs = append(l.man.Incrs, Item{name, seq, kindIncr})
		}
	}
	slices.SortFunc(l.man.Incrs, func(a, b Item) int { return int(a.Seq - b.Seq) })
	return nil
}

// files reads every file and gives what is good to keep, when that is not nil.
func (c *checker) files(dir string, keep sink) ([]FileReport, error) {
	if err := c.open(dir); err != nil {
		return nil, err
	}
	var all []FileReport
	items := c.log.files()
	written := c.log.written(items)
	for i, it := range items {
		r, err := c.file(it, i >= written-1, keep)
		if err != nil {
			return all, err
		}
		all = append(all, r)
	}
	if len(c.wrong) > 0 {
		return all, errors.New(strings.Join(c.wrong, "; "))
	}
	return all, nil
}

func (c *checker) file(it Item, last bool, keep sink) (FileReport, error) {
	r := FileReport{Name: it.Name, Kind: "increment"}
	if it.Kind == kindBase {
		r.Kind = "base"
	}
	f, err := c.fs.Open(c.log.path(it.Name))
	if missing(err) {
		r.Damage = append(r.Damage, &Damage{File: it.Name, Why: "the file is missing"})
		return r, nil
	}
	if err != nil {
		return r, err
	}
	defer f.Close()
	w, err := newWindow(f, it.Name)
	if err != nil {
		return r, err
	}
	r.Bytes = w.size
	off := int64(0)
	if head := string(w.at(0, 6)); head == "VALKEY" || strings.HasPrefix(head, "REDIS") {
		if off, err = c.snapshot(it, f, &r, keep); err != nil || off < 0 {
			return r, err
		}
	} else if it.Kind == kindBase && w.size == 0 {
		r.Damage = append(r.Damage, &Damage{File: it.Name, Why: "the base is empty"})
	}
	return r, c.records(w, off, it, last, &r, keep)
}

// snapshot reads an RDB part and returns where it ends, -1 when that is not known.
func (c *checker) snapshot(it Item, f File, r *FileReport, keep sink) (int64, error) {
	off, bad := c.keys(it, f, r)
	if keep != nil {
		if err := keep.base(it, f, r.Bytes, bad == nil && off == r.Bytes); err != nil {
			return -1, err
		}
	}
	if bad != nil {
		r.Damage = append(r.Damage, fmt.Errorf("%s: %w", it.Name, bad))
		return -1, nil
	}
	return off, nil
}

func (c *checker) keys(it Item, f File, r *FileReport) (int64, error) {
	in, err := rdb.NewReader(io.NewSectionReader(f, 0, r.Bytes))
	if err != nil {
		return 0, err
	}
	c.log.watchAux(in)
	for {
		_, err := in.Next()
		if err == io.EOF {
			return in.Offset(), nil
		}
		if err != nil {
			return 0, err
		}
		r.Keys++
	}
}

// records reads the records of a file, going on behind every damage.
func (c *checker) records(w *window, off int64, it Item, last bool, r *FileReport, keep sink) error {
	s, err := newScanner(w, off)
	if err != nil {
		r.Damage = append(r.Damage, err)
		return w.err
	}
	r.Flaw = s.flaw
	if s.ours {
		r.Epoch = s.head.epoch
		c.log.state.Epoch = max(c.log.state.Epoch, r.Epoch)
		if err := c.log.follows(s); err != nil && it.Kind == kindIncr {
			r.Damage = append(r.Damage, err)
		}
	}
	for {
		rec, err := s.read()
		var damage *Damage
		if errors.As(err, &damage) {
			r.Damage = append(r.Damage, err)
			if !s.skip(damage) {
				break
			}
			continue
		}
		if err != nil {
			return err
		}
		if rec == nil {
			break
		}
		r.Records++
		if r.First == 0 {
			r.First = rec.Seq
		}
		r.Last = rec.Seq
		if keep != nil {
			if err := keep.record(rec.Commands); err != nil {
				return err
			}
		}
	}
	if s.ours {
		c.log.state.Next = s.next
	}
	c.log.last = s
	if s.tail != nil && (!last || it.Kind == kindBase) {
		r.Damage = append(r.Damage, &Damage{File: it.Name, Offset: s.tail.Offset, Seq: s.tail.Seq, Why: s.tail.Why + " before the last increment"})
	} else {
		r.Tail = s.tail
	}
	return nil
}

// skip goes on at the next good record behind a damage and reports whether there is one.
func (s *scanner) skip(d *Damage) bool {
	if !s.ours || s.more {
		at := s.searchPlain(d.Offset)
		if at < 0 {
			return false
		}
		s.off, s.tail = at, nil
		return true
	}
	at, _ := s.search(d.Offset)
	if at == d.Offset && s.seqAt(at) == s.next { // it is whole and yet no record
		at, _ = s.search(d.Offset + 1)
	}
	if at < 0 {
		return false
	}
	s.off, s.next, s.tail = at, s.seqAt(at), nil
	return true
}

// seqAt returns the number of the good record at an offset.
func (s *scanner) seqAt(off int64) int64 {
	b := s.w.at(off, maxLine+1)
	if end := strings.IndexByte(string(b), '\r'); end > 0 {
		if a, ok := parseAnnotation(b[:end]); ok {
			return a.seq
		}
	}
	return 0
}
