package server

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/echomq/emqd/store/aof"
	"github.com/echomq/emqd/store/aof/memfs"
)

// disk is a file system that remembers every operation on it, so that a crash at each of them can be played afterwards.
type disk struct {
	mu    sync.Mutex
	names map[string]*inode
	dirs  map[string]bool
	count int // files made so far
	ops   []diskOp

	mark func() span
	fail func(op *diskOp) error // asked before each operation; short means that half of a write is done
}

// span says which records a crash may leave, by the numbers of the last ones: all that were to be durable, the end of the process
// alone all that were answered, and none that were not written.
type span struct {
	acked, answered, written int64
	epoch                    int64 // of the node that serves, 0 while it starts
}

type inode struct {
	id     int
	data   []byte
	failed int // syncs
}

// diskOp is one operation.
type diskOp struct {
	kind     string // create, write, sync, truncate, rename, remove or syncdir
	name, to string
	file     int
	off      int64 // of a write; the size of a truncate
	data     []byte
	failed   bool
	span
}

// short is the error of a write of which half is done.
type short struct{ error }

func newDisk() *disk {
	return &disk{names: map[string]*inode{}, dirs: map[string]bool{}, mark: func() span { return span{} }}
}

// diskOf returns a disk with the files of f, all durable.
func diskOf(f *memfs.FS) *disk {
	d := newDisk()
	for _, dir := range []string{"/data", "/data/appendonlydir"} {
		names, err := f.Names(dir)
		if err != nil {
			continue
		}
		d.dirs[dir] = true
		for _, name := range names {
			p := filepath.Join(dir, name)
			d.names[p] = &inode{id: d.count, data: f.Bytes(p)}
			d.ops = append(d.ops, diskOp{kind: "create", name: p, file: d.count},
				diskOp{kind: "write", name: p, file: d.count, data: f.Bytes(p)}, diskOp{kind: "sync", name: p, file: d.count})
			d.count++
		}
		d.ops = append(d.ops, diskOp{kind: "syncdir", name: dir})
	}
	return d
}

// did notes an operation before it is done. The error is the one that it is to fail with.
func (d *disk) did(op diskOp) error {
	op.span = d.mark()
	var err error
	if d.fail != nil {
		err = d.fail(&op)
	}
	if _, ok := err.(short); ok && op.kind == "write" {
		op.data = op.data[:len(op.data)/2]
	} else if err != nil {
		op.failed = true
	}
	if !op.failed || op.kind == "sync" {
		d.ops = append(d.ops, op)
	}
	return err
}

func (d *disk) find(name string) (*inode, error) {
	if n := d.names[name]; n != nil {
		return n, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func (d *disk) Open(name string) (aof.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(name)
	if err != nil {
		return nil, err
	}
	return &diskHandle{d, name, n, n.failed}, nil
}

func (d *disk) Create(name string) (aof.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.names[name] != nil || !d.dirs[filepath.Dir(name)] {
		return nil, &fs.PathError{Op: "create", Path: name, Err: syscall.EEXIST}
	}
	if err := d.did(diskOp{kind: "create", name: name, file: d.count}); err != nil {
		return nil, err
	}
	n := &inode{id: d.count}
	d.count++
	d.names[name] = n
	return &diskHandle{d, name, n, 0}, nil
}

func (d *disk) Names(dir string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.dirs[dir] {
		return nil, &fs.PathError{Op: "list", Path: dir, Err: fs.ErrNotExist}
	}
	var out []string
	for name := range d.names {
		if filepath.Dir(name) == dir {
			out = append(out, filepath.Base(name))
		}
	}
	slices.Sort(out)
	return out, nil
}

func (d *disk) MakeDir(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dirs[dir] = true // durable at once: a directory holds nothing
	return nil
}

func (d *disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(from)
	if err == nil {
		err = d.did(diskOp{kind: "rename", name: from, to: to, file: n.id})
	}
	if err != nil {
		return err
	}
	delete(d.names, from)
	d.names[to] = n
	return nil
}

func (d *disk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(name)
	if err == nil {
		err = d.did(diskOp{kind: "remove", name: name, file: n.id})
	}
	if err == nil {
		delete(d.names, name)
	}
	return err
}

func (d *disk) SyncDir(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.did(diskOp{kind: "syncdir", name: dir})
}

type diskHandle struct {
	d    *disk
	name string
	n    *inode
	told int // of the failed syncs of the file, this many
}

func (h *diskHandle) Close() error { return nil }

func (h *diskHandle) Size() (int64, error) {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	return int64(len(h.n.data)), nil
}

func (h *diskHandle) ReadAt(b []byte, off int64) (int, error) {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	return bytes.NewReader(h.n.data).ReadAt(b, off)
}

func (h *diskHandle) WriteAt(b []byte, off int64) (int, error) {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	err := h.d.did(diskOp{kind: "write", name: h.name, file: h.n.id, off: off, data: slices.Clone(b)})
	if _, ok := err.(short); ok {
		b = b[:len(b)/2]
	} else if err != nil {
		return 0, err
	}
	h.n.data = overwrite(h.n.data, b, off)
	return len(b), err
}

func (h *diskHandle) Truncate(size int64) error {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if err := h.d.did(diskOp{kind: "truncate", name: h.name, file: h.n.id, off: size}); err != nil {
		return err
	}
	h.n.data = resize(h.n.data, size)
	return nil
}

func (h *diskHandle) Sync() error {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if h.told < h.n.failed { // a failure is told once to each that has the file open
		h.told = h.n.failed
		return syscall.EIO
	}
	err := h.d.did(diskOp{kind: "sync", name: h.name, file: h.n.id})
	if err != nil {
		h.n.failed++
		h.told = h.n.failed
	}
	return err
}

func overwrite(data, b []byte, off int64) []byte {
	if end := off + int64(len(b)); end > int64(len(data)) {
		data = resize(data, end)
	}
	copy(data[off:], b)
	return data
}

func resize(data []byte, size int64) []byte {
	if size <= int64(len(data)) {
		return data[:size:size]
	}
	return append(data, make([]byte, size-int64(len(data)))...)
}
