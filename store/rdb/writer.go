package rdb

import (
	"encoding/binary"
	"fmt"
	"io"
)

// flushAt is the size from which a Writer passes its bytes on.
const flushAt = 64 << 10

// Writer writes a dump file to a stream. The order of calls is the order of
// the file: auxiliary fields, then for each database SelectDB and its keys,
// then Close. It holds one encoded value and at most 64 KiB more.
//
// After an error of the stream every call returns that error.
type Writer struct {
	// Encoder encodes the values; its settings may be changed between calls.
	Encoder Encoder

	w       io.Writer
	version int
	buf     []byte
	sum     uint64
	offset  int64
	err     error
}

// NewWriter starts a file of one of the versions [Version10], [Version11] and
// [Version80]; others are [ErrVersion].
func NewWriter(w io.Writer, version int) (*Writer, error) {
	if !writable(version) {
		return nil, fmt.Errorf("%w: %d", ErrVersion, version)
	}
	magic := "REDIS%04d"
	if version >= minValkeyVersion {
		magic = "VALKEY%03d"
	}
	return &Writer{w: w, version: version, buf: fmt.Appendf(nil, magic, version)}, nil
}

// Offset is the number of bytes written so far, with those that are still held.
func (w *Writer) Offset() int64 { return w.offset + int64(len(w.buf)) }

// Aux writes an auxiliary field, such as redis-ver or ctime.
func (w *Writer) Aux(key, value string) error {
	if w.err != nil {
		return w.err
	}
	w.buf = append(w.buf, opAux)
	w.buf = w.Encoder.str(w.buf, []byte(key))
	w.buf = w.Encoder.str(w.buf, []byte(value))
	return w.flush()
}

// SelectDB starts the keys of a database that has this many keys, and keys
// with a deadline. A database without keys is left out of a file.
func (w *Writer) SelectDB(db int, keys, deadlines uint64) error {
	if w.err != nil {
		return w.err
	}
	w.buf = appendLength(append(w.buf, opSelectDB), uint64(db))
	w.buf = appendLength(append(w.buf, opResizeDB), keys)
	w.buf = appendLength(w.buf, deadlines)
	return w.flush()
}

// Key writes a key with its deadline, Unix ms or 0 for none. Errors of the
// value leave the file as it was: [ErrEmpty], [ErrNaN], and
// [ErrNeedsVersion80] for field deadlines in a file of an older version.
func (w *Writer) Key(key []byte, expireAt int64, v *Value) error {
	if w.err != nil {
		return w.err
	}
	typ, err := encodedType(v, w.version)
	if err != nil {
		return err
	}
	if expireAt != 0 {
		w.buf = binary.LittleEndian.AppendUint64(append(w.buf, opExpireTimeMs), uint64(expireAt))
	}
	w.buf = w.Encoder.str(append(w.buf, typ), key)
	w.buf = w.Encoder.body(w.buf, typ, v)
	return w.flush()
}

// Close writes the end of the file and its checksum, and passes everything on.
// It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	w.buf = append(w.buf, opEOF)
	w.sum = CRC64(w.sum, w.buf)
	w.buf = binary.LittleEndian.AppendUint64(w.buf, w.sum)
	_, w.err = w.w.Write(w.buf)
	w.offset += int64(len(w.buf))
	w.buf = w.buf[:0]
	return w.err
}

// flush passes the held bytes on when they are many.
func (w *Writer) flush() error {
	if len(w.buf) < flushAt {
		return nil
	}
	w.sum = CRC64(w.sum, w.buf)
	_, w.err = w.w.Write(w.buf)
	w.offset += int64(len(w.buf))
	w.buf = w.buf[:0]
	if cap(w.buf) > 64*flushAt {
		w.buf = nil
	}
	return w.err
}
