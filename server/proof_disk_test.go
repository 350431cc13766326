package server

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
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

// span says which records a crash may leave: all that were acknowledged, none that were not written.
type span struct {
	acked, written int64
	epoch          int64 // of the node that serves, 0 while it starts
}

type inode struct {
	id   int
	data []byte
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
			d.names[p] = &inode{d.count, f.Bytes(p)}
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
	return &diskHandle{d, name, n}, err
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
	return &diskHandle{d, name, n}, nil
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
	return h.d.did(diskOp{kind: "sync", name: h.name, file: h.n.id})
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

// platter is what is durable after some operations, and what may be.
type platter struct {
	durable map[string]int // files by name
	dir     []diskOp       // changes of the directory that are not synced
	files   map[int]*platterFile
}

type platterFile struct {
	synced  []byte
	pending []diskOp // writes and truncations that are not synced
	lost    int      // of pending, those that a failed sync was for: no later sync makes them durable
	size    int64    // of what is synced, which has filler to there
}

func newPlatter() *platter { return &platter{durable: map[string]int{}, files: map[int]*platterFile{}} }

// apply takes the next operation.
func (p *platter) apply(op diskOp) {
	switch op.kind {
	case "create":
		p.files[op.file] = &platterFile{}
		p.dir = append(p.dir, op)
	case "rename", "remove":
		p.dir = append(p.dir, op)
	case "syncdir":
		var rest []diskOp
		for _, o := range p.dir {
			if filepath.Dir(o.name) == op.name {
				change(p.durable, o)
			} else {
				rest = append(rest, o)
			}
		}
		p.dir = rest
	case "write", "truncate":
		f := p.files[op.file]
		f.pending = append(f.pending, op)
	case "sync":
		f := p.files[op.file]
		if op.failed {
			f.lost = len(f.pending)
			return
		}
		for _, o := range f.pending[f.lost:] {
			f.synced = f.do(f.synced, o)
		}
		f.pending, f.lost = nil, 0
		f.size = int64(len(f.synced))
		f.synced = f.synced[:filledFrom(f.synced)]
	}
}

// someFiller is how much of the filler at the end of a file is kept: a start reads it line by line, and each is like another.
const someFiller = 1024

// filledFrom returns where content can be cut so that nothing but filler is gone.
func filledFrom(data []byte) int {
	line := append(bytes.Repeat([]byte{'#'}, 63), '\n')
	n := len(data) &^ 63
	if n < len(data) {
		return len(data)
	}
	for n >= someFiller && bytes.Equal(data[n-64:n], line) {
		n -= 64
	}
	return min(n+someFiller, len(data))
}

// do applies an operation to content.
func (f *platterFile) do(data []byte, o diskOp) []byte {
	for at := int64(len(data)); at < min(o.off, f.size); at++ { // put back what was cut
		if at%64 == 63 {
			data = append(data, '\n')
		} else {
			data = append(data, '#')
		}
	}
	if o.kind == "truncate" {
		return resize(data, o.off)
	}
	return overwrite(data, o.data, o.off)
}

func change(names map[string]int, o diskOp) {
	switch o.kind {
	case "create":
		names[o.name] = o.file
	case "rename":
		names[o.to] = o.file
		if names[o.name] == o.file {
			delete(names, o.name)
		}
	case "remove":
		if id, ok := names[o.name]; ok && id == o.file {
			delete(names, o.name)
		}
	}
}

// fate decides what became of what was not synced.
type fate struct {
	dir  func(i int) bool // whether the i-th change of the directory is there
	file func(f *platterFile) []byte
}

// after returns the files that the next start finds. The reserve is left out: it holds nothing.
func (p *platter) after(what fate) *memfs.FS {
	names := map[string]int{}
	for name, id := range p.durable {
		names[name] = id
	}
	for i, o := range p.dir {
		if what.dir(i) {
			change(names, o)
		}
	}
	out := memfs.New()
	for _, dir := range []string{"/data", "/data/appendonlydir"} {
		_ = out.MakeDir(dir) // it never fails
	}
	for name, id := range names {
		if !strings.HasSuffix(name, ".reserve") {
			out.Put(name, what.file(p.files[id]))
		}
	}
	return out
}

func always(int) bool { return true }
func never(int) bool  { return false }

// dropped and kept are the two ends: nothing of what was not synced is there, or all of it.
var (
	dropped = fate{never, func(f *platterFile) []byte { return f.synced }}
	kept    = fate{always, func(f *platterFile) []byte { return f.cut(f.pendingBytes()) }}
	zeroed  = fate{always, func(f *platterFile) []byte {
		data := slices.Clone(f.synced)
		for _, o := range f.pending {
			if o.kind == "write" {
				o.data = make([]byte, len(o.data))
			}
			data = f.do(data, o)
		}
		return data
	}}
)

func (f *platterFile) pendingBytes() int {
	n := 0
	for _, o := range f.pending {
		n += len(o.data)
	}
	return n
}

// cut returns the content with the first n bytes of what was not synced.
func (f *platterFile) cut(n int) []byte {
	data := slices.Clone(f.synced)
	for _, o := range f.pending {
		if o.kind == "write" {
			o.data = o.data[:min(n, len(o.data))]
			n -= len(o.data)
			if len(o.data) == 0 {
				break
			}
		}
		data = f.do(data, o)
	}
	return data
}

// shuffled returns a fate in which each change of the directory is there or not, and each sector of a file as it was
// after some of the writes, by r.
func shuffled(r *rand.Rand) fate {
	return fate{func(int) bool { return r.IntN(2) == 0 }, func(f *platterFile) []byte {
		switch r.IntN(4) {
		case 0:
			return f.synced
		case 1:
			return f.cut(f.pendingBytes())
		}
		data := slices.Clone(f.synced)
		until, sizes := map[int64]int{}, r.IntN(len(f.pending)+1)
		for i, o := range f.pending {
			if o.kind == "truncate" {
				if i < sizes {
					data = f.do(data, o)
				}
				continue
			}
			for at := o.off; at < o.off+int64(len(o.data)); {
				sector := at / 512
				end := min((sector+1)*512, o.off+int64(len(o.data)))
				n, ok := until[sector]
				if !ok {
					n = r.IntN(len(f.pending) + 1)
					if r.IntN(2) == 0 {
						n = len(f.pending)
					}
					until[sector] = n
				}
				if i < n {
					data = f.do(data, diskOp{kind: "write", data: o.data[at-o.off : end-o.off], off: at})
				}
				at = end
			}
		}
		return data
	}}
}

var _ aof.FS = (*disk)(nil)
