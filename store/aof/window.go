package aof

import (
	"errors"
	"fmt"
	"io"
)

// window reads a file from its beginning to its end through a buffer. What it gives is valid until the next call.
type window struct {
	f    File
	name string
	size int64
	buf  []byte
	base int64 // offset of buf[0]
	err  error // of the file, final
}

const windowSize = 1 << 20

func newWindow(f File, name string) (*window, error) {
	size, err := f.Size()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &window{f: f, name: name, size: size}, nil
}

// at returns n bytes at an offset, or as many as there are before the end of the file.
func (w *window) at(off int64, n int64) []byte {
	n = min(n, w.size-off)
	if n <= 0 || w.err != nil {
		return nil
	}
	if off < w.base || off+n > w.base+int64(len(w.buf)) {
		w.load(off, n)
	}
	if w.err != nil {
		return nil
	}
	return w.buf[off-w.base : off-w.base+n]
}

// load puts at least the n bytes at off into the buffer.
func (w *window) load(off, n int64) {
	want := min(max(n, windowSize), w.size-off)
	if int64(cap(w.buf)) < want {
		w.buf = make([]byte, want)
	}
	w.buf = w.buf[:want]
	w.base = off
	got, err := w.f.ReadAt(w.buf, off)
	if int64(got) == want {
		return
	}
	w.buf = w.buf[:0]
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // the file became shorter while it was read
	}
	w.err = fmt.Errorf("reading %s at %d: %w", w.name, off, err)
}
