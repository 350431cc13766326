package store

import (
	"encoding/binary"
	"math/bits"
)

// ref addresses a block in an arena; 0 is no block. A slab block is page<<16 | offset, a huge one has
// hugeBit set over its index. The upper 16 bits are always zero, so that tables can keep a tag there.
type ref uint64

const (
	pageBits  = 16
	pageSize  = 1 << pageBits
	chunkSize = 64 * pageSize // what is asked of the system at once
	maxSlab   = 16 << 10      // larger blocks are huge
	warmPages = 256           // a queue of long payloads that is worked off as fast as it fills goes round in these
	warmHuges = 16 << 20      // and in so many bytes of huge blocks

	smallArena = 4 // chunks; in so few the system finds memory where it is used, which may be a small part
	hugeBit    = ref(1) << 47
	refMask    = ref(1)<<48 - 1
	unit       = 8 // granularity of offsets inside a page
)

// arena is the memory of all keys and values: size-classed slots in pages that the garbage collector
// neither scans nor counts. Freed blocks stay readable until Sweep, so bytes that a transition has read stay
// what they were until it ends, unless it writes into the same block.
//
// It is not safe for concurrent use; the keyspace lock guards it.
type arena struct {
	pages   []page
	free    []uint32 // indexes of pages that belong to no class and hold no memory of the system
	warm    []uint32 // likewise, but their memory is kept for the next ones
	partial [classCount]int32
	chunks  [][]byte

	huge      [][]byte
	hugeFree  []uint32
	warmHuge  [][]byte // of freed huge blocks
	warmBytes int

	dead []ref // freed, not yet reusable

	live   int64 // bytes of slots and huge blocks in use
	mapped int64 // bytes obtained from the system for slabs
	poison bool  // tests: overwrite swept blocks
}

// page is one run of equal slots. Its free slots form a list through their own first bytes.
type page struct {
	mem   []byte
	size  uint32 // slot size in bytes
	used  uint16 // slots in use
	bump  uint16 // units; slots from here on were never used
	first uint16 // units+1 of the first freed slot, 0 for none
	class uint8
	next  int32 // neighbours in the class's list of pages with room, -1 for none
	prev  int32
	home  bool // in that list
}

func newArena() *arena {
	a := &arena{huge: make([][]byte, 1)}
	a.pages = make([]page, 1) // page 0 is never handed out, so that ref 0 is no block
	for i := range a.partial {
		a.partial[i] = -1
	}
	return a
}

// Alloc returns a block of at least n bytes, whose content is arbitrary.
func (a *arena) Alloc(n int) (ref, []byte) {
	if n > maxSlab {
		return a.allocHuge(n)
	}
	class := classOf(n)
	pi := a.partial[class]
	if pi < 0 {
		pi = a.newPage(class)
	}
	p := &a.pages[pi]
	var off uint32
	if p.first != 0 {
		off = uint32(p.first-1) * unit
		p.first = binary.LittleEndian.Uint16(p.mem[off:])
	} else {
		off = uint32(p.bump) * unit
		p.bump += uint16(p.size / unit)
	}
	p.used++
	if p.first == 0 && (uint32(p.bump)*unit+p.size > pageSize) {
		a.unlink(pi)
	}
	a.live += int64(p.size)
	return ref(pi)<<pageBits | ref(off), p.mem[off : off+p.size : off+p.size]
}

// Bytes returns the whole block of r, at least as long as was asked for.
func (a *arena) Bytes(r ref) []byte {
	if r&hugeBit != 0 {
		return a.huge[r&^hugeBit]
	}
	p := &a.pages[r>>pageBits]
	off := uint32(r) & (pageSize - 1)
	return p.mem[off : off+p.size : off+p.size]
}

// Size returns how many bytes r's block takes.
func (a *arena) Size(r ref) int {
	if r&hugeBit != 0 {
		return len(a.huge[r&^hugeBit])
	}
	return int(a.pages[r>>pageBits].size)
}

// Fits reports whether n bytes are best kept in r's block: they fit and do not waste most of it.
func (a *arena) Fits(r ref, n int) bool {
	size := a.Size(r)
	return n <= size && (n >= size/2 || size <= 64)
}

// Free gives r's block back at the next Sweep.
func (a *arena) Free(r ref) {
	a.live -= int64(a.Size(r))
	a.dead = append(a.dead, r)
}

// Sweep makes the blocks freed so far reusable.
func (a *arena) Sweep() {
	if len(a.dead) == 0 {
		return
	}
	for _, r := range a.dead {
		if a.poison {
			b := a.Bytes(r)
			for i := range b {
				b[i] = 0xDB
			}
		}
		if r&hugeBit != 0 {
			if b := a.huge[r&^hugeBit]; a.warmBytes+len(b) <= warmHuges && len(a.warmHuge) < maxWarmHuge {
				a.warmHuge = append(a.warmHuge, b)
				a.warmBytes += len(b)
			}
			a.huge[r&^hugeBit] = nil
			a.hugeFree = append(a.hugeFree, uint32(r&^hugeBit))
			continue
		}
		a.release(r)
	}
	if cap(a.dead) > 1<<16 {
		a.dead = nil
		return
	}
	a.dead = a.dead[:0]
}

func (a *arena) release(r ref) {
	pi := int32(r >> pageBits)
	p := &a.pages[pi]
	off := uint32(r) & (pageSize - 1)
	binary.LittleEndian.PutUint16(p.mem[off:], p.first)
	p.first = uint16(off/unit) + 1
	p.used--
	if !p.home {
		a.link(pi)
	}
	if p.used == 0 && (p.next >= 0 || p.prev >= 0) { // keep the class's last page
		a.unlink(pi)
		p.size = 0
		if len(a.warm) < warmPages {
			a.warm = append(a.warm, uint32(pi))
			return
		}
		a.free = append(a.free, uint32(pi))
		releasePage(p.mem)
	}
}

// purge gives the memory of warm pages back to the system, that of warm huge blocks to the garbage collector.
func (a *arena) purge() {
	for _, pi := range a.warm {
		releasePage(a.pages[pi].mem)
	}
	a.free = append(a.free, a.warm...)
	a.warm, a.warmHuge, a.warmBytes = nil, nil, 0
}

func (a *arena) allocHuge(n int) (ref, []byte) {
	n = (n + 1023) &^ 1023
	b := a.takeHuge(n)
	a.live += int64(len(b))
	if k := len(a.hugeFree); k > 0 {
		i := a.hugeFree[k-1]
		a.hugeFree = a.hugeFree[:k-1]
		a.huge[i] = b
		return hugeBit | ref(i), b
	}
	a.huge = append(a.huge, b)
	return hugeBit | ref(len(a.huge)-1), b
}

// maxWarmHuge bounds the search for one that fits.
const maxWarmHuge = 64

// takeHuge returns a block of n bytes, or of one that was freed and is not much longer.
func (a *arena) takeHuge(n int) []byte {
	for i := len(a.warmHuge) - 1; i >= 0; i-- {
		b := a.warmHuge[i]
		if len(b) < n || len(b)-n > n/8 {
			continue
		}
		last := len(a.warmHuge) - 1
		a.warmHuge[i], a.warmHuge[last] = a.warmHuge[last], nil
		a.warmHuge = a.warmHuge[:last]
		a.warmBytes -= len(b)
		return b
	}
	return make([]byte, n)
}

// newPage gives class an empty page and returns its index.
func (a *arena) newPage(class int) int32 {
	if n := len(a.warm); n > 0 {
		pi := a.warm[n-1]
		a.warm = a.warm[:n-1]
		return a.assign(pi, class)
	}
	if len(a.free) == 0 {
		chunk := mapChunk(chunkSize)
		a.chunks = append(a.chunks, chunk)
		a.mapped += chunkSize
		for off := 0; off < chunkSize; off += pageSize {
			a.free = append(a.free, uint32(len(a.pages)))
			a.pages = append(a.pages, page{mem: chunk[off : off+pageSize : off+pageSize]})
		}
		// Hand them out in the order of their addresses.
		for i, j := len(a.free)-chunkSize/pageSize, len(a.free)-1; i < j; i, j = i+1, j-1 {
			a.free[i], a.free[j] = a.free[j], a.free[i]
		}
	}
	pi := a.free[len(a.free)-1]
	a.free = a.free[:len(a.free)-1]
	if len(a.chunks) > smallArena {
		fillPage(a.pages[pi].mem)
	}
	return a.assign(pi, class)
}

// assign makes page pi an empty one of class.
func (a *arena) assign(pi uint32, class int) int32 {
	p := &a.pages[pi]
	*p = page{mem: p.mem, size: classSize[class], class: uint8(class)}
	a.link(int32(pi))
	return int32(pi)
}

func (a *arena) link(pi int32) {
	p := &a.pages[pi]
	head := a.partial[p.class]
	p.prev, p.next, p.home = -1, head, true
	if head >= 0 {
		a.pages[head].prev = pi
	}
	a.partial[p.class] = pi
}

func (a *arena) unlink(pi int32) {
	p := &a.pages[pi]
	if p.prev >= 0 {
		a.pages[p.prev].next = p.next
	} else {
		a.partial[p.class] = p.next
	}
	if p.next >= 0 {
		a.pages[p.next].prev = p.prev
	}
	p.prev, p.next, p.home = -1, -1, false
}

// unmap returns up to n chunks of an arena that nobody uses any more to the system and reports whether none
// is left.
func (a *arena) unmap(n int) bool {
	a.pages, a.huge, a.warmHuge, a.warmBytes = nil, nil, nil, 0
	for ; n > 0 && len(a.chunks) > 0; n-- {
		last := len(a.chunks) - 1
		unmapChunk(a.chunks[last])
		a.chunks[last] = nil
		a.chunks = a.chunks[:last]
		a.mapped -= chunkSize
	}
	return len(a.chunks) == 0
}

// drop returns every page to the system. The arena is empty afterwards.
func (a *arena) drop() {
	a.unmap(len(a.chunks))
	*a = *newArena()
}

// Size classes: multiples of 8 to 128, then eight steps for each doubling, so at most 12.5% is wasted.
const classCount = 16 + 8*7

var classSize = func() (sizes [classCount]uint32) {
	n := 0
	for size := 8; size <= 128; size += 8 {
		sizes[n] = uint32(size)
		n++
	}
	for base := 128; base < maxSlab; base *= 2 {
		for k := 1; k <= 8; k++ {
			sizes[n] = uint32(base + base*k/8)
			n++
		}
	}
	return sizes
}()

// classOf returns the class of the smallest slot that holds n bytes, n <= maxSlab.
func classOf(n int) int {
	if n <= 128 {
		if n <= 8 {
			return 0
		}
		return (n+7)/8 - 1
	}
	exp := bits.Len(uint(n-1)) - 1 // 2^exp < n <= 2^(exp+1), exp >= 7
	step := 1 << (exp - 3)
	return 16 + (exp-7)*8 + (n-1-1<<exp)/step
}
