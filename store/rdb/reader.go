package rdb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Entry is one key of a file.
type Entry struct {
	DB       int
	Key      []byte
	ExpireAt int64 // deadline, Unix ms; 0 is none
	Value    Value
}

// Skipped counts what a [Reader] has passed over.
type Skipped struct {
	EmptyKeys   int // collections without elements, which no server keeps
	Functions   int // function libraries
	ModuleAux   int // data of modules that belongs to no key
	SlotImports int // slot migrations that were under way
}

// Reader reads a dump file from a stream. It holds no more than the value that
// it is at, plus a window of 64 KiB.
type Reader struct {
	// OnAux is told the auxiliary fields of the file, when set. The bytes are
	// valid during the call.
	OnAux func(key, value []byte)
	// OnResize is told how many keys, and keys with a deadline, db will have,
	// when set. These are hints that the file may get wrong.
	OnResize func(db int, keys, deadlines uint64)

	d       decoder
	entry   Entry
	db      int
	skipped Skipped
	ended   bool
}

// NewReader reads the header of a file. Errors are [ErrVersion] for a version
// that cannot be read, a [FormatError] for what is no dump file at all, and
// those of r.
func NewReader(r io.Reader) (*Reader, error) {
	rd := new(Reader)
	rd.d.r = r
	head := rd.d.view(9)
	if rd.d.err != nil {
		return nil, rd.d.err
	}
	digits, valkey := bytes.CutPrefix(head, []byte("VALKEY"))
	if !valkey {
		var redis bool
		if digits, redis = bytes.CutPrefix(head, []byte("REDIS")); !redis {
			return nil, &FormatError{Reason: "not a dump file"}
		}
	}
	version, err := strconv.ParseUint(string(digits), 10, 16)
	if err != nil {
		return nil, &FormatError{Offset: int64(9 - len(digits)), Reason: "version is not a number"}
	}
	rd.d.version = int(version)
	if !readable(rd.d.version) || valkey != (rd.d.version >= minValkeyVersion) {
		return nil, fmt.Errorf("%w: %s", ErrVersion, head)
	}
	return rd, nil
}

// Version is the version that the header names.
func (r *Reader) Version() int { return r.d.version }

// Offset is the number of bytes consumed.
func (r *Reader) Offset() int64 { return r.d.offset() }

// Skipped tells what was passed over so far.
func (r *Reader) Skipped() Skipped { return r.skipped }

// Rest gives what follows the file in its stream, once [Reader.Next] has
// returned io.EOF.
func (r *Reader) Rest() io.Reader {
	return io.MultiReader(bytes.NewReader(r.d.buf[r.d.pos:]), r.d.r)
}

// Each calls fn with each key up to the end of the file, and stops at the
// first error. The entry is valid during the call.
func (r *Reader) Each(fn func(*Entry) error) error {
	for {
		e, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := fn(e); err != nil {
			return err
		}
	}
}

// Next gives the next key. The entry and all of its bytes are valid until the
// following call, which uses their memory again: copy what is kept.
//
// After the last key, and with the checksum found right, the error is io.EOF
// itself. Other errors are a [FormatError], which names the byte, or those of
// the underlying reader; they are final.
func (r *Reader) Next() (*Entry, error) {
	for r.d.err == nil && !r.ended {
		r.d.next()
		r.entry = Entry{DB: r.db}
		typ, ok := r.opcodes()
		if r.d.err != nil || !ok {
			break
		}
		r.entry.Key = r.d.str()
		if r.d.err != nil {
			break
		}
		r.d.value(typ, &r.entry.Value)
		if r.d.err == nil {
			return &r.entry, nil
		}
		if errors.Is(r.d.err, ErrEmpty) {
			r.d.err = nil
			r.skipped.EmptyKeys++
			continue
		}
		r.blame()
	}
	if r.d.err == nil {
		return nil, io.EOF
	}
	return nil, r.d.err
}

// blame adds to a format error the key whose value has it.
func (r *Reader) blame() {
	var f *FormatError
	if errors.As(r.d.err, &f) {
		key := r.entry.Key[:min(len(r.entry.Key), 128)]
		f.Reason = fmt.Sprintf("%s (database %d, key %q)", f.Reason, r.db, key)
	}
}

// opcodes reads up to the type byte of the next key. At the end of the file ok
// is false.
func (r *Reader) opcodes() (typ byte, ok bool) {
	d := &r.d
	for d.err == nil {
		op := d.byte()
		if d.err != nil {
			break
		}
		switch op {
		case opEOF:
			r.end()
			return 0, false
		case opExpireTime:
			r.entry.ExpireAt = max(int64(int32(d.uint32()))*1000, 1)
		case opExpireTimeMs:
			r.entry.ExpireAt = keyDeadline(int64(d.uint64()))
		case opIdle:
			d.count()
		case opFreq:
			d.byte()
		case opSelectDB:
			r.selectDB()
		case opResizeDB:
			keys, deadlines := d.count(), d.count()
			if r.OnResize != nil && d.err == nil {
				r.OnResize(r.db, keys, deadlines)
			}
		case opAux:
			key, value := d.str(), d.str()
			if r.OnAux != nil && d.err == nil {
				r.OnAux(key, value)
			}
			d.forget()
		default:
			if !r.skip(op) {
				return op, true
			}
		}
	}
	return 0, false
}

// keyDeadline gives a deadline as entries have it, where 0 is none. Files say -1
// for none, and anything else before 1970 is only long past.
func keyDeadline(at int64) int64 {
	if at == -1 {
		return 0
	}
	return max(at, 1)
}

func (r *Reader) selectDB() {
	db := r.d.count()
	if db > math.MaxInt32 {
		r.d.fail("database number out of range")
		return
	}
	r.db = int(db)
	r.entry.DB = r.db
}

// skip passes over an opcode without meaning here, or reports false.
func (r *Reader) skip(op byte) bool {
	d := &r.d
	switch {
	case op == opSlotInfo:
		d.count() // slot, keys, keys with a deadline
		d.count()
		d.count()
	case op == opFunction2:
		d.str()
		d.forget()
		r.skipped.Functions++
	case op == opFunctionPreGA:
		d.fail("function library in a form that was never released")
	case op == opModuleAux:
		d.skipModuleAux()
		r.skipped.ModuleAux++
	case op == opSlotImport && d.version >= minValkeyVersion:
		d.str()
		for n := d.count(); n > 0 && d.err == nil; n-- {
			d.count()
			d.count()
		}
		d.forget()
		r.skipped.SlotImports++
	default:
		return false
	}
	return true
}

// skipModuleAux passes over data that a module has stored outside keys. It is
// written in tagged parts, so its length can be found without the module.
func (d *decoder) skipModuleAux() {
	d.count() // module id
	d.count() // tag of the next
	d.count() // when it is to be loaded
	for d.err == nil {
		switch d.count() {
		case 0:
			return
		case 1, 2:
			d.count()
		case 3:
			d.uint32()
		case 4:
			d.uint64()
		case 5:
			d.str()
			d.forget()
		default:
			d.fail("unknown part of a module's data")
		}
	}
}

// end checks the checksum, which files have since version 5. Zero stands for
// one that was not computed.
func (r *Reader) end() {
	r.ended = true
	if r.d.version < 5 {
		return
	}
	sum := r.d.checksum()
	stored := r.d.uint64()
	if r.d.err == nil && stored != 0 && stored != sum {
		r.d.failAs(ErrChecksum, "wrong checksum")
	}
}
