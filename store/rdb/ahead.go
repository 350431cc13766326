package rdb

import "io"

// A batch is some keys of a file in the order of the file, decoded ahead of their use.
type batch struct {
	entries []Entry
	hints   []hint
	end     int64 // offset behind them
	err     error // io.EOF after the last batch

	scratch scratch
}

// hint is what OnResize is to be told before the entry of this index.
type hint struct {
	before          int
	db              int
	keys, deadlines uint64
}

const (
	batchEntries = 512
	batchBytes   = windowSize / 2 // of the file; then one chunk of the arena holds the values
	batches      = 3              // one that is filled, one that waits, one that is used
)

// EachAhead is [Reader.Each] with the decoding in a goroutine of its own, some keys ahead of fn, which halves the time
// of loading a large file where there is a second processor. OnResize, soon and progress are called between two calls of
// fn: soon with the entries that fn is called with next, progress with the offset that fn has come to. OnAux is called by
// the other goroutine, which has ended on return.
func (r *Reader) EachAhead(fn func(*Entry) error, soon func([]Entry), progress func(offset int64)) error {
	full, free, quit := make(chan *batch, batches), make(chan *batch, batches), make(chan struct{})
	for range batches {
		free <- new(batch)
	}
	tell := r.OnResize
	go func() {
		defer close(full)
		for b := range free {
			r.fill(b)
			err := b.err // the batch is the other goroutine's from here on
			select {
			case full <- b:
			case <-quit:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	var failed error
	for b := range full {
		soon(b.entries)
		if failed = b.each(fn, tell); failed == nil {
			progress(b.end)
			failed = b.err
		}
		if failed != nil {
			break
		}
		free <- b
	}
	close(quit)
	close(free)
	for range full { // until the goroutine has ended
	}
	r.OnResize = tell
	if failed == io.EOF {
		return nil
	}
	return failed
}

// fill decodes the next keys into b.
func (r *Reader) fill(b *batch) {
	r.d.lend(&b.scratch)
	b.entries, b.hints = b.entries[:0], b.hints[:0]
	r.OnResize = func(db int, keys, deadlines uint64) {
		b.hints = append(b.hints, hint{len(b.entries), db, keys, deadlines})
	}
	for from := r.Offset(); len(b.entries) < batchEntries && r.Offset()-from < batchBytes && b.err == nil; {
		var e *Entry
		if e, b.err = r.Next(); b.err == nil {
			b.entries = append(b.entries, *e)
		}
	}
	b.end = r.Offset()
	r.d.takeBack(&b.scratch)
}

// each calls fn for every entry, and tell for the hints between them.
func (b *batch) each(fn func(*Entry) error, tell func(db int, keys, deadlines uint64)) error {
	hints := b.hints
	for i := range len(b.entries) + 1 {
		for ; len(hints) > 0 && hints[0].before == i; hints = hints[1:] {
			if h := hints[0]; tell != nil {
				tell(h.db, h.keys, h.deadlines)
			}
		}
		if i == len(b.entries) {
			break
		}
		if err := fn(&b.entries[i]); err != nil {
			return err
		}
	}
	return nil
}

// scratch is memory that decoded values are in.
type scratch struct {
	arena  arena
	items  [][]byte
	fields []Field
	scored []Scored
}

// lend makes d decode into s, one value behind the other.
func (d *decoder) lend(s *scratch) {
	d.arena, d.items, d.fields, d.scored = s.arena, s.items[:0], s.fields[:0], s.scored[:0]
	d.reset()
	if d.fields == nil {
		d.fields = make([]Field, 0, 8*batchEntries)
	}
	if d.items == nil {
		d.items = make([][]byte, 0, 8*batchEntries)
	}
	if d.scored == nil {
		d.scored = make([]Scored, 0, 4*batchEntries)
	}
	s.items, s.fields, s.scored = d.items, d.fields, d.scored
	d.keep = true
}

// takeBack ends lend. What of s grew was replaced by larger memory, which is kept for the next time.
func (d *decoder) takeBack(s *scratch) {
	d.keep = false
	s.arena = d.arena
	if cap(d.items) > cap(s.items) {
		s.items = d.items
	}
	if cap(d.fields) > cap(s.fields) {
		s.fields = d.fields
	}
	if cap(d.scored) > cap(s.scored) {
		s.scored = d.scored
	}
	d.arena, d.items, d.fields, d.scored = arena{}, nil, nil, nil
}
