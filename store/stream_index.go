package store

import (
	"slices"
	"sort"
	"unsafe"
)

// idIndex is an ordered map from stream ids to small values without pointers. Ids and values stand in pages that
// are searched and shifted as plain memory; the list of pages is searched by their first ids. What is added behind the last
// id, as nearly everything is, fills pages to the brim and shifts nothing.
type idIndex[V any] struct {
	pages []idPage[V]
	spare idPage[V] // an emptied page, for the next one that is needed
	n     int
	bytes int64 // Go memory of the pages
}

// idPage holds up to idPageCap ids in order. Only the one page of an empty index has none.
type idPage[V any] struct {
	ids  []StreamID
	vals []V
}

const idPageCap = 128

// idPos is a place in an index. It is valid until the index changes.
type idPos struct{ page, i int }

// mem returns the memory of a page's arrays.
func (p *idPage[V]) mem() int64 {
	var v V
	return int64(cap(p.ids))*int64(unsafe.Sizeof(StreamID{})) + int64(cap(p.vals))*int64(unsafe.Sizeof(v))
}

// ceil returns the place of the first id that is not below id, and whether there is one.
func (x *idIndex[V]) ceil(id StreamID) (idPos, bool) {
	// The last page whose first id is not above id may hold it.
	page := sort.Search(len(x.pages), func(i int) bool {
		ids := x.pages[i].ids
		return len(ids) > 0 && id.Less(ids[0])
	}) - 1
	if page < 0 {
		return idPos{}, x.n > 0
	}
	ids := x.pages[page].ids
	i := sort.Search(len(ids), func(i int) bool { return !ids[i].Less(id) })
	if i < len(ids) {
		return idPos{page, i}, true
	}
	return idPos{page + 1, 0}, page+1 < len(x.pages)
}

// find returns the place of id, and whether it is there.
func (x *idIndex[V]) find(id StreamID) (idPos, bool) {
	p, ok := x.ceil(id)
	return p, ok && x.id(p) == id
}

// floor returns the place of the last id that is not above id, and whether there is one.
func (x *idIndex[V]) floor(id StreamID) (idPos, bool) {
	p, ok := x.ceil(id)
	if ok && x.id(p) == id {
		return p, true
	}
	if !ok {
		return x.last()
	}
	return x.prev(p)
}

// id returns the id at p.
func (x *idIndex[V]) id(p idPos) StreamID { return x.pages[p.page].ids[p.i] }

// at returns the value at p. It is valid until the index changes.
func (x *idIndex[V]) at(p idPos) *V { return &x.pages[p.page].vals[p.i] }

// first returns the place of the first id.
func (x *idIndex[V]) first() (idPos, bool) { return idPos{}, x.n > 0 }

// last returns the place of the last id.
func (x *idIndex[V]) last() (idPos, bool) {
	if x.n == 0 {
		return idPos{}, false
	}
	page := len(x.pages) - 1
	return idPos{page, len(x.pages[page].ids) - 1}, true
}

// next returns the place behind p.
func (x *idIndex[V]) next(p idPos) (idPos, bool) {
	if p.i+1 < len(x.pages[p.page].ids) {
		return idPos{p.page, p.i + 1}, true
	}
	return idPos{p.page + 1, 0}, p.page+1 < len(x.pages)
}

// prev returns the place before p.
func (x *idIndex[V]) prev(p idPos) (idPos, bool) {
	switch {
	case p.i > 0:
		return idPos{p.page, p.i - 1}, true
	case p.page > 0:
		return idPos{p.page - 1, len(x.pages[p.page-1].ids) - 1}, true
	}
	return idPos{}, false
}

// put gives id the value v and reports whether id is new.
func (x *idIndex[V]) put(id StreamID, v V) (created bool) {
	p, ok := x.ceil(id)
	if ok && x.id(p) == id {
		*x.at(p) = v
		return false
	}
	x.n++
	if !ok { // behind all others
		p = idPos{max(len(x.pages)-1, 0), 0}
		if len(x.pages) == 0 || len(x.pages[p.page].ids) == idPageCap {
			p.page = len(x.pages)
			x.addPage(p.page)
		}
		p.i = len(x.pages[p.page].ids)
	} else if len(x.pages[p.page].ids) == idPageCap {
		p = x.split(p)
	}
	page := &x.pages[p.page]
	before := page.mem()
	page.ids = slices.Insert(page.ids, p.i, id)
	page.vals = slices.Insert(page.vals, p.i, v)
	x.bytes += page.mem() - before
	return true
}

// split moves the upper half of p's page into a page of its own and returns p's new place.
func (x *idIndex[V]) split(p idPos) idPos {
	const half = idPageCap / 2
	x.addPage(p.page + 1)
	from, to := &x.pages[p.page], &x.pages[p.page+1]
	before := to.mem()
	to.ids = append(to.ids, from.ids[half:]...)
	to.vals = append(to.vals, from.vals[half:]...)
	x.bytes += to.mem() - before
	from.ids, from.vals = from.ids[:half], from.vals[:half]
	if p.i > half {
		return idPos{p.page + 1, p.i - half}
	}
	return p
}

// addPage puts an empty page at i.
func (x *idIndex[V]) addPage(i int) {
	before := cap(x.pages)
	x.pages = slices.Insert(x.pages, i, x.spare)
	x.spare = idPage[V]{}
	x.bytes += int64(cap(x.pages)-before) * int64(unsafe.Sizeof(x.spare))
}

// remove takes out what stands at p.
func (x *idIndex[V]) remove(p idPos) {
	x.n--
	page := &x.pages[p.page]
	page.ids = slices.Delete(page.ids, p.i, p.i+1)
	page.vals = slices.Delete(page.vals, p.i, p.i+1)
	if len(page.ids) == 0 && len(x.pages) > 1 {
		x.bytes -= x.spare.mem()
		x.spare = *page
		x.pages = slices.Delete(x.pages, p.page, p.page+1)
	}
}
