package aof

import (
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"sync"
	"syscall"

	"github.com/echomq/emqd/store"
)

// Writer appends records to an increment. Records go to a buffer, Flush writes it and Sync makes it durable. After
// an error of Flush or Sync the file is not to be trusted any more: every later call returns that error.
type Writer struct {
	f    File
	side File // the same file, opened once more: a failure to write is told once to each that has it open
	item Item
	head header

	buf    []byte
	rec    []byte // scratch of Append
	seq    int64  // of the last record appended
	db     int    // selected at the end of buf, -1 at the head of a file
	pos    int64  // end of what is written
	end    int64  // end of the filler, when that is beyond pos
	synced Point
	dirty  bool // something was written since the last sync
	err    error
}

var errClosed = errors.New("the log is closed")

// Point is a place in the log: everything up to record Seq, which ends at byte Pos of the increment.
type Point struct {
	Seq, Pos int64
}

// Append adds the effects of one transaction, which are some, as a record.
func (w *Writer) Append(f *store.Effects) {
	w.seq++
	db := max(w.db, 0)
	w.rec, w.db = appendRecord(w.rec[:0], f, w.db)
	w.buf = frame(w.buf, w.rec, annotation{seq: w.seq, behind: w.seq - w.synced.Seq, db: int64(db)}, w.head.salt)
	if cap(w.rec) > 1<<20 {
		w.rec = nil
	}
}

// frame appends a record with its annotation; a's length and checksum are found here.
func frame(b, rec []byte, a annotation, salt uint32) []byte {
	start := len(b)
	b = append(b, recordWord...)
	b = append(strconv.AppendInt(b, a.seq, 10), ' ')
	b = append(strconv.AppendInt(b, int64(len(rec)), 10), ' ')
	b = append(strconv.AppendInt(b, a.behind, 10), ' ')
	b = strconv.AppendInt(b, a.db, 10)
	sum := crc32.Update(crc32.Update(salt, castagnoli, b[start:]), castagnoli, rec)
	b = appendHex(append(b, ' '), sum)
	b = append(b, '\r', '\n')
	return append(b, rec...)
}

// Pending reports whether there are records that are not durable.
func (w *Writer) Pending() bool { return len(w.buf) > 0 || w.dirty }

// Buffered returns how many bytes wait for Flush.
func (w *Writer) Buffered() int { return len(w.buf) }

// ErrFull is returned when the file system has no room. What was appended stays in the buffer, and Flush may be called
// again.
var ErrFull = errors.New("no space left on device")

// full reports whether an error says that there is no room, which leaves what is written already as it is.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// Flush writes what was appended. Its error is ErrFull or final.
func (w *Writer) Flush() error {
	if w.err != nil || len(w.buf) == 0 {
		return w.err
	}
	if (w.pos+int64(len(w.buf)))%fillLine == fillLine-1 {
		// Filler goes on with a line break here, and an empty line is none that other servers skip.
		w.buf = append(w.buf, '#', '\n')
	}
	n, err := w.f.WriteAt(w.buf, w.pos)
	if err != nil {
		if full(err) && w.f.Truncate(max(w.pos, w.end)) == nil {
			return ErrFull
		}
		return w.fail(fmt.Errorf("writing %d bytes at %d of %s: %w", len(w.buf), w.pos, w.item.Name, err))
	}
	w.pos += int64(n)
	w.dirty = true
	if cap(w.buf) > 4<<20 {
		w.buf = nil
	}
	w.buf = w.buf[:0]
	return nil
}

func (w *Writer) fail(err error) error {
	w.err = err
	return err
}

// Err returns the error that ended the use of the file, or nil.
func (w *Writer) Err() error { return w.err }

// Written returns the point up to which records are written; all were flushed before.
func (w *Writer) Written() Point { return Point{w.seq, w.pos} }

// Synced returns the point up to which records are known to be durable.
func (w *Writer) Synced() Point { return w.synced }

// Seq returns the number of the last record appended.
func (w *Writer) Seq() int64 { return w.seq }

// Name returns the name of the increment without its directory.
func (w *Writer) Name() string { return w.item.Name }

// Epoch returns the node epoch at the head of the increment.
func (w *Writer) Epoch() int64 { return w.head.epoch }

// Sync writes what was appended and makes it durable.
func (w *Writer) Sync() error {
	if err := w.Flush(); err != nil {
		return err
	}
	if !w.dirty {
		return nil
	}
	to := w.Written()
	return w.Reached(to, w.f.Sync())
}

// Side returns the file for another goroutine, which may sync it or fill it while records are appended. To sync, it takes
// the point from Written before and tells the outcome to Reached. A failure that it is told of is told to Sync as well.
func (w *Writer) Side() File { return w.side }

// Reached notes that a sync that began when to was written has ended with err.
func (w *Writer) Reached(to Point, err error) error {
	if w.err != nil {
		return w.err
	}
	if err != nil {
		return w.fail(fmt.Errorf("syncing %s: %w", w.item.Name, err))
	}
	if to.Seq >= w.synced.Seq {
		w.synced = to
	}
	w.dirty = w.dirty && to.Pos < w.pos
	return nil
}

// Filler sizes: the region ahead grows with the file.
const (
	minFill = 256 << 10
	maxFill = 2 << 20
)

// Room returns how many bytes can be written before the file grows.
func (w *Writer) Room() int64 { return w.end - w.pos - int64(len(w.buf)) }

// Ahead returns the region that should be filled next, which the writer does not touch before it has been told of
// it by Filled; ok is false when there is enough ahead. The caller fills it with Fill, from any goroutine, and may not
// flush more than Room meanwhile.
func (w *Writer) Ahead() (from, to int64, ok bool) {
	size := min(max(w.pos/4&^(fillLine-1), minFill), maxFill)
	if w.err != nil || w.Room() > size/2 {
		return 0, 0, false
	}
	from = max(w.end, w.pos)
	return from, fillEnd(from + size), true
}

// fillEnd returns where filler that is to reach at is ended: never where a sector begins, so that what another server
// appends is not taken for a record whose first sector is missing.
func fillEnd(at int64) int64 { return at&^(sector-1) + fillLine }

// Fill writes filler into a region at the end of a file; nothing of it is durable yet. Without room for it the file is as
// before and the error is ErrFull. It may be called from any goroutine.
func Fill(f File, from, to int64) error {
	start, b := from, fillLines()
	for from < to {
		phase := from % fillLine
		n := min(to-from, int64(len(b)-fillLine))
		if _, err := f.WriteAt(b[phase:phase+n], from); err != nil {
			if full(err) {
				return errors.Join(ErrFull, f.Truncate(start))
			}
			return fmt.Errorf("making room in the log: %w", err)
		}
		from += n
	}
	return nil
}

// fillLines returns lines of filler, 64 KB and one.
var fillLines = sync.OnceValue(func() []byte {
	b := make([]byte, 64<<10+fillLine)
	for i := range b {
		b[i] = fillByte(int64(i))
	}
	return b
})

// fillSynced does what Fill does and makes the region durable.
func fillSynced(f File, from, to int64) error {
	if err := Fill(f, from, to); err != nil {
		return err
	}
	return f.Sync()
}

// Filled notes that the region up to to has been filled.
func (w *Writer) Filled(to int64) {
	if to > w.pos {
		w.end = to
	}
}

// Close ends the file: everything is written, the filler is cut off, and a last line says that the file is complete.
// Close also closes the file after an earlier error, which it then returns.
func (w *Writer) Close() error {
	err := w.Sync()
	if err == nil {
		w.buf = appendEnd(w.buf, w.seq, w.head.salt)
		w.end = 0
		err = w.Flush()
	}
	if err == nil {
		err = w.f.Truncate(w.pos)
	}
	if err == nil {
		err = w.f.Sync()
	}
	if e := w.closeFiles(); err == nil {
		err = e
	}
	w.err = errClosed
	return err
}

func (w *Writer) closeFiles() error { return errors.Join(w.f.Close(), w.side.Close()) }

// Abandon closes the file as it is, after an error.
func (w *Writer) Abandon() {
	_ = w.closeFiles() // the file is not trusted any more
	w.err = errClosed
}

// More returns the region of about size bytes behind what is filled, for Fill.
func (w *Writer) More(size int64) (from, to int64) {
	from = max(w.end, w.pos)
	return from, fillEnd(from + size)
}
