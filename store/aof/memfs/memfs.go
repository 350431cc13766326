// Package memfs is a file system in memory for tests of the log. It keeps what is durable apart from what is not, so
// that a crash can be played.
package memfs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/echomq/emqd/store/aof"
)

// FS is a file system in memory. It is safe for concurrent use.
type FS struct {
	// Fail, when set, is asked before each change and sync; an error is what the operation returns instead of being
	// done. op is create, write, sync, truncate, rename, remove, syncdir or mkdir. For a write that is cut short it
	// returns Short.
	Fail func(op, name string) error

	limit   int // bytes of all files, 0 for no limit
	mu      sync.Mutex
	names   map[string]*node // as they are
	durable map[string]*node // as they are after a crash
	dirs    map[string]bool

	tag    func() int64 // set while states are recorded
	states []State
}

// State is what there is between two operations.
type State struct {
	Before         string // the operation that comes next
	Tag            int64
	Crashed, Alive *FS // after power loss, after the end of the process
}

// Short as an error of Fail lets a write put down its first N bytes and then fail with Err.
type Short struct {
	N   int
	Err error
}

// Error is the text of Err.
func (s Short) Error() string { return s.Err.Error() }

type node struct {
	data   []byte
	synced []byte
}

// New returns an empty file system.
func New() *FS {
	return &FS{names: map[string]*node{}, durable: map[string]*node{}, dirs: map[string]bool{}}
}

// Crash returns what a machine finds after power loss, when everything that was not synced is gone.
func (f *FS) Crash() *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.crash()
}

func (f *FS) crash() *FS {
	after := New()
	for name, n := range f.durable {
		c := &node{slices.Clone(n.synced), slices.Clone(n.synced)}
		after.names[name], after.durable[name] = c, c
	}
	for dir := range f.dirs {
		after.dirs[dir] = true
	}
	return after
}

// Kill returns what the next process finds when this one is killed and the machine goes on: everything written.
func (f *FS) Kill() *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.kill()
}

// Record keeps the state before every operation from now on, with what tag returned just before it. A nil tag ends that.
func (f *FS) Record(tag func() int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tag = tag
}

// States returns what was recorded.
func (f *FS) States() []State {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.states
}

func (f *FS) kill() *FS {
	after := New()
	for name, n := range f.names {
		c := &node{slices.Clone(n.data), slices.Clone(n.data)}
		after.names[name], after.durable[name] = c, c
	}
	for dir := range f.dirs {
		after.dirs[dir] = true
	}
	return after
}

// Put makes a durable file with this content, whatever it held before.
func (f *FS) Put(name string, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := &node{slices.Clone(data), slices.Clone(data)}
	f.names[name], f.durable[name] = n, n
	f.dirs[filepath.Dir(name)] = true
}

// Bytes returns a copy of a file's content, nil when there is no such file.
func (f *FS) Bytes(name string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.names[name]; n != nil {
		return append([]byte{}, n.data...)
	}
	return nil
}

// SetFail sets Fail while the file system is in use.
func (f *FS) SetFail(fail func(op, name string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Fail = fail
}

// SetLimit makes the file system full from so many bytes on; 0 is no limit.
func (f *FS) SetLimit(bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limit = bytes
}

// Used returns the bytes of all files.
func (f *FS) Used() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.used()
}

func (f *FS) used() int {
	n := 0
	for _, node := range f.names {
		n += len(node.data)
	}
	return n
}

func (f *FS) fails(op, name string) error {
	if f.tag != nil {
		tag := f.tag()
		f.states = append(f.states, State{op + " " + filepath.Base(name), tag, f.crash(), f.kill()})
	}
	if f.Fail == nil {
		return nil
	}
	return f.Fail(op, name)
}

func notThere(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist} }

// Open is aof.FS's.
func (f *FS) Open(name string) (aof.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.names[name]
	if n == nil {
		return nil, notThere("open", name)
	}
	return &file{f, name, n}, nil
}

// Create is aof.FS's.
func (f *FS) Create(name string) (aof.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.fails("create", name); err != nil {
		return nil, err
	}
	if f.names[name] != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	if !f.dirs[filepath.Dir(name)] {
		return nil, notThere("create", name)
	}
	n := &node{}
	f.names[name] = n
	return &file{f, name, n}, nil
}

// Names is aof.FS's.
func (f *FS) Names(dir string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.dirs[dir] {
		return nil, notThere("list", dir)
	}
	var out []string
	for name := range f.names {
		if filepath.Dir(name) == dir {
			out = append(out, filepath.Base(name))
		}
	}
	slices.Sort(out)
	return out, nil
}

// MakeDir is aof.FS's. Directories are durable at once.
func (f *FS) MakeDir(dir string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.fails("mkdir", dir); err != nil {
		return err
	}
	f.dirs[dir] = true
	return nil
}

// Rename is aof.FS's.
func (f *FS) Rename(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.fails("rename", to); err != nil {
		return err
	}
	n := f.names[from]
	if n == nil {
		return notThere("rename", from)
	}
	delete(f.names, from)
	f.names[to] = n
	return nil
}

// Remove is aof.FS's.
func (f *FS) Remove(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.fails("remove", name); err != nil {
		return err
	}
	if f.names[name] == nil {
		return notThere("remove", name)
	}
	delete(f.names, name)
	return nil
}

// SyncDir is aof.FS's.
func (f *FS) SyncDir(dir string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.fails("syncdir", dir); err != nil {
		return err
	}
	for name := range f.durable {
		if filepath.Dir(name) == dir && f.names[name] == nil {
			delete(f.durable, name)
		}
	}
	for name, n := range f.names {
		if filepath.Dir(name) == dir {
			f.durable[name] = n
		}
	}
	return nil
}

type file struct {
	fs   *FS
	name string
	n    *node
}

func (h *file) Close() error { return nil }

func (h *file) Size() (int64, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	return int64(len(h.n.data)), nil
}

func (h *file) ReadAt(b []byte, off int64) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	return bytes.NewReader(h.n.data).ReadAt(b, off)
}

func (h *file) WriteAt(b []byte, off int64) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	err := h.fs.fails("write", h.name)
	var short Short
	if errors.As(err, &short) {
		b = b[:min(short.N, len(b))]
	} else if err != nil {
		return 0, err
	}
	if end := int(off) + len(b); end > len(h.n.data) {
		if grow := end - len(h.n.data); h.fs.limit > 0 && h.fs.used()+grow > h.fs.limit {
			return 0, &fs.PathError{Op: "write", Path: h.name, Err: syscall.ENOSPC}
		}
		h.n.data = append(h.n.data, make([]byte, end-len(h.n.data))...)
	}
	copy(h.n.data[off:], b)
	return len(b), err
}

func (h *file) Truncate(size int64) error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.fs.fails("truncate", h.name); err != nil {
		return err
	}
	if int(size) <= len(h.n.data) {
		h.n.data = h.n.data[:size:size]
		return nil
	}
	h.n.data = append(h.n.data, make([]byte, int(size)-len(h.n.data))...)
	return nil
}

func (h *file) Sync() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.fs.fails("sync", h.name); err != nil {
		return err
	}
	h.n.synced = slices.Clone(h.n.data)
	return nil
}

// String lists the files with their sizes, for messages of tests.
func (f *FS) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	for name, n := range f.names {
		fmt.Fprintf(&b, "%s %d\n", name, len(n.data))
	}
	return b.String()
}
