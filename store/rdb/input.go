package rdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	windowSize = 64 << 10
	firstRead  = 1 << 20 // most that is allocated on the word of a length alone
)

// input gives the bytes of a payload, or of a stream through a window. The
// first error sticks: after it every method answers zeros, and loops over
// announced counts must look at err.
type input struct {
	buf  []byte    // unread bytes are buf[pos:]
	pos  int       // next byte
	base int64     // offset of buf[0] in the whole
	r    io.Reader // nil when buf is everything
	err  error

	sum    uint64 // checksum of everything before buf[summed]
	summed int

	arena arena
}

// fail records a format error here, unless an error is recorded already.
func (in *input) fail(reason string) { in.failAs(nil, reason) }

func (in *input) failAs(class error, reason string) {
	if in.err == nil {
		in.err = &FormatError{Offset: in.offset(), Reason: reason, Err: class}
	}
}

func (in *input) offset() int64 { return in.base + int64(in.pos) }

// short records what a reader that gave too little has said.
func (in *input) short(err error) {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		in.failAs(io.ErrUnexpectedEOF, "data ends early")
	} else if in.err == nil {
		in.err = fmt.Errorf("rdb: reading at byte %d: %w", in.offset(), err)
	}
}

// checksum gives the checksum of everything consumed.
func (in *input) checksum() uint64 {
	in.sum = CRC64(in.sum, in.buf[in.summed:in.pos])
	in.summed = in.pos
	return in.sum
}

// fill makes n bytes available in the window and reports success.
func (in *input) fill(n int) bool {
	if in.err != nil {
		return false
	}
	if len(in.buf)-in.pos >= n {
		return true
	}
	if in.r == nil {
		in.short(nil)
		return false
	}
	in.checksum()
	if cap(in.buf) < windowSize {
		in.buf = append(make([]byte, 0, windowSize), in.buf[in.pos:]...)
	} else {
		in.buf = in.buf[:copy(in.buf, in.buf[in.pos:])]
	}
	in.base += int64(in.pos)
	in.pos, in.summed = 0, 0
	got, err := io.ReadAtLeast(in.r, in.buf[len(in.buf):cap(in.buf)], n-len(in.buf))
	in.buf = in.buf[:len(in.buf)+got]
	if err != nil {
		in.short(err)
		return false
	}
	return true
}

func (in *input) byte() byte {
	if in.pos >= len(in.buf) && !in.fill(1) || in.err != nil {
		return 0
	}
	b := in.buf[in.pos]
	in.pos++
	return b
}

// view gives the next n bytes, valid until the next call, or nil.
func (in *input) view(n uint64) []byte {
	if n > windowSize || in.r == nil {
		return in.take(n)
	}
	if !in.fill(int(n)) {
		return nil
	}
	in.pos += int(n)
	return in.buf[in.pos-int(n) : in.pos]
}

// take gives the next n bytes, valid as long as the decoded value, or nil.
func (in *input) take(n uint64) []byte {
	if in.err != nil {
		return nil
	}
	if in.r == nil {
		if n > uint64(len(in.buf)-in.pos) {
			in.short(nil)
			return nil
		}
		end := in.pos + int(n)
		p := in.buf[in.pos:end:end]
		in.pos = end
		return p
	}
	if n <= windowSize {
		p := in.view(n)
		if in.err != nil {
			return nil
		}
		return in.arena.copy(p)
	}
	return in.takeLarge(n)
}

// takeLarge reads past the window, and believes n only as bytes arrive.
func (in *input) takeLarge(n uint64) []byte {
	out := make([]byte, 0, min(n, firstRead))
	out = append(out, in.buf[in.pos:]...)
	in.pos = len(in.buf)
	in.checksum()
	for {
		from := len(out)
		got, err := io.ReadFull(in.r, out[from:cap(out)])
		out = out[:from+got]
		in.sum = CRC64(in.sum, out[from:])
		in.base += int64(got)
		if err != nil {
			in.short(err)
			return nil
		}
		if uint64(len(out)) == n {
			return out
		}
		grown := make([]byte, len(out), min(n, 2*uint64(cap(out))))
		copy(grown, out)
		out = grown
	}
}

// left bounds how many elements of at least size bytes each can follow; in a
// stream it is a modest guess to allocate for.
func (in *input) left(size int) uint64 {
	if in.r != nil {
		return 1024
	}
	return uint64(len(in.buf)-in.pos) / uint64(size)
}

func (in *input) uint16() uint16 {
	if p := in.view(2); p != nil {
		return binary.LittleEndian.Uint16(p)
	}
	return 0
}

func (in *input) uint32() uint32 {
	if p := in.view(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (in *input) uint64() uint64 {
	if p := in.view(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

// arena hands out byte slices, small ones cut from chunks of at most 64 KiB.
// After reset the slices handed out before are overwritten.
type arena struct {
	chunk []byte
}

func (a *arena) alloc(n int) []byte {
	if n > windowSize/2 {
		return make([]byte, n)
	}
	if cap(a.chunk)-len(a.chunk) < n {
		a.chunk = make([]byte, 0, max(n, min(2*cap(a.chunk), windowSize), 256))
	}
	from := len(a.chunk)
	a.chunk = a.chunk[:from+n]
	return a.chunk[from : from+n : from+n]
}

func (a *arena) copy(p []byte) []byte {
	out := a.alloc(len(p))
	copy(out, p)
	return out
}

func (a *arena) reset() { a.chunk = a.chunk[:0] }
