package server

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/echomq/emqd/store/aof/memfs"
)

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
		size := f.size
		for _, o := range f.pending[f.lost:] {
			f.synced = f.do(f.synced, o)
			if o.kind == "truncate" {
				size = o.off
			} else {
				size = max(size, o.off+int64(len(o.data)))
			}
		}
		f.pending, f.lost, f.size = nil, 0, size
		f.synced = f.synced[:filledFrom(f.synced)]
		f.synced = f.refill(f.synced, int64(len(f.synced)+someFiller)&^63)
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
	data = f.refill(data, o.off)
	if o.kind == "truncate" {
		return resize(data, o.off)
	}
	return overwrite(data, o.data, o.off)
}

// refill puts filler that was cut back, up to an offset.
func (f *platterFile) refill(data []byte, to int64) []byte {
	for at := int64(len(data)); at < min(to, f.size); at++ {
		if at%64 == 63 {
			data = append(data, '\n')
		} else {
			data = append(data, '#')
		}
	}
	return data
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

func always(int) bool     { return true }
func neverThere(int) bool { return false }

// dropped and kept are the two ends: nothing of what was not synced is there, or all of it.
var (
	dropped = fate{neverThere, func(f *platterFile) []byte { return f.synced }}
	kept    = fate{always, func(f *platterFile) []byte { return f.cut(f.pendingBytes()) }}
	zeroed  = fate{always, func(f *platterFile) []byte {
		data := slices.Clone(f.synced)
		for _, o := range f.pending {
			if o.kind == "write" {
				o.data = zeroWhatChanges(data, o)
			}
			data = f.do(data, o)
		}
		return data
	}}
)

// zeroWhatChanges returns the data of a write with zero bytes in place of what it changes: a sector that holds the same
// already holds it whatever becomes of the write.
func zeroWhatChanges(data []byte, o diskOp) []byte {
	zeroed := make([]byte, len(o.data))
	for at := 0; at < len(zeroed); {
		end := min(at+512-int((o.off+int64(at))%512), len(zeroed))
		from, to := o.off+int64(at), o.off+int64(end)
		if to <= int64(len(data)) && bytes.Equal(data[from:to], o.data[at:end]) {
			copy(zeroed[at:end], o.data[at:end])
		}
		at = end
	}
	return zeroed
}

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
