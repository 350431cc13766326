package aof

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/echomq/emqd/store/rdb"
)

// Repair writes a log with everything that can be read of the one in dir to the directory out, which must not have one,
// and returns the reports of Check. Records behind a damage are kept, those inside are lost; nothing in dir is changed.
func Repair(fsys FS, dir, out string, salt uint32) ([]FileReport, error) {
	names, err := fsys.Names(out)
	if err != nil && !missing(err) {
		return nil, err
	}
	if len(names) > 0 {
		return nil, fmt.Errorf("%s is not empty", out)
	}
	if err := fsys.MakeDir(out); err != nil {
		return nil, err
	}
	prefix, _, err := prefixIn(fsys, dir)
	if err != nil {
		return nil, err
	}
	r := &repair{log: &Log{fs: fsys, dir: out, prefix: prefix, sizes: map[string]int64{}}, salt: salt}
	c := &checker{fs: fsys}
	r.from = c
	reports, wrong := c.files(dir, r)
	if len(c.wrong) == 0 && wrong != nil {
		return reports, wrong
	}
	return reports, r.finish()
}

// repair is the sink of Repair.
type repair struct {
	log  *Log
	from *checker
	salt uint32
	man  Manifest
	w    *Writer
}

// base copies a sound base, and writes the keys of another one up to where it cannot be read.
func (r *repair) base(it Item, f File, size int64, sound bool) error {
	to := Item{BaseName(r.log.prefix, 1), 1, kindBase}
	out, err := r.log.fs.Create(r.log.path(to.Name))
	if err != nil {
		return err
	}
	r.man.Base = &to
	in := io.NewSectionReader(f, 0, size)
	if sound {
		_, err = copyFile(out, in)
	} else {
		b := bufio.NewWriterSize(io.NewOffsetWriter(out, 0), 1<<20)
		err = errors.Join(salvage(in, b), b.Flush())
		if err == nil {
			err = out.Sync()
		}
	}
	return errors.Join(err, out.Close())
}

// salvage writes the keys of an RDB file up to its first damage as a file of its own.
func salvage(from io.Reader, to io.Writer) error {
	version := rdb.Version80
	in, err := rdb.NewReader(from)
	if err == nil && in.Version() <= rdb.Version10 {
		version = rdb.Version10
	}
	out, e := rdb.NewWriter(to, version)
	if e != nil {
		return e
	}
	db := -1
	for err == nil {
		var k *rdb.Entry
		if k, err = in.Next(); err != nil {
			break
		}
		if k.DB != db {
			db = k.DB
			if e := out.SelectDB(db, 0, 0); e != nil {
				return e
			}
		}
		if e := out.Key(k.Key, k.ExpireAt, &k.Value); e != nil {
			return e
		}
	}
	return out.Close() // err is reported by the check
}

// record keeps a record.
func (r *repair) record(cmds []Command) error {
	if r.w == nil {
		if err := r.begin(); err != nil {
			return err
		}
	}
	w := r.w
	w.seq++
	db := max(w.db, 0)
	w.rec, w.db = appendCommands(w.rec[:0], cmds, w.db)
	w.buf = frame(w.buf, w.rec, annotation{seq: w.seq, behind: w.seq - w.synced.Seq, db: int64(db)}, w.head.salt)
	if len(w.buf) > 1<<20 {
		return w.Flush()
	}
	return nil
}

// begin opens the increment that all records go to.
func (r *repair) begin() (err error) {
	next := int64(1)
	if r.man.Base != nil {
		next = max(r.from.log.baseNext, 1)
	}
	r.log.man = r.man
	r.w, err = r.log.Increment(max(r.from.log.state.Epoch, 1), next, r.salt)
	return err
}

func (r *repair) finish() error {
	if r.w == nil {
		if err := r.begin(); err != nil {
			return err
		}
	}
	if err := r.w.Close(); err != nil {
		return err
	}
	r.man.Incrs = []Item{r.w.item}
	return r.log.Commit(r.man)
}

// appendCommands appends the commands of a record as appendRecord does.
func appendCommands(b []byte, cmds []Command, db int) ([]byte, int) {
	for i, cmd := range cmds {
		if cmd.DB != db {
			db = cmd.DB
			b = appendSelect(b, db)
		}
		if i == 0 && len(cmds) > 1 {
			b = append(b, "*1\r\n$5\r\nMULTI\r\n"...)
		}
		b = appendHead(b, '*', len(cmd.Args))
		for _, arg := range cmd.Args {
			b = appendBulk(b, arg)
		}
	}
	if len(cmds) > 1 {
		b = append(b, "*1\r\n$4\r\nEXEC\r\n"...)
	}
	return b, db
}
