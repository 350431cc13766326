package aof

import (
	"bytes"
	"fmt"
)

// sector is the least that a disk writes as a whole.
const sector = 512

// judge decides what the bytes at s.off are, which are neither a record nor filler: the rest of a write that a
// crash cut off, which sets tail, or damage, which is returned.
//
// What was being written when the node ended was not acknowledged. Records tell of those before them that were
// durable, so a good record behind that was written after this one's sync makes it damage. Without
// such a witness it counts as cut only when it looks so: it is not all there, or whole sectors of it were not written.
func (s *scanner) judge() error {
	off := s.off
	at, witness := s.search(off + 1)
	if s.w.err != nil {
		return s.w.err
	}
	if witness {
		return s.damaged(off, s.what(off))
	}
	last := s.lastByte(off)
	if s.w.err != nil {
		return s.w.err
	}
	if at >= 0 { // records of the same write behind it
		if !s.late(off) && !s.unwritten(off, at) {
			return s.damaged(off, s.what(off))
		}
		return s.cut(off, last, "a write of which parts are missing")
	}
	if last < off {
		return s.blank(off)
	}
	return s.judgeLast(off, last)
}

// gap decides what a good record with the annotation a is that stands at s.off, behind filler, where another one was expected:
// the rest of a write whose first sectors, with whole records in them, are missing, or damage.
func (s *scanner) gap(a *annotation) error {
	_, witness := s.search(s.off)
	last := s.lastByte(s.off)
	if s.w.err != nil {
		return s.w.err
	}
	if witness {
		return s.damaged(s.off, fmt.Sprintf("record %d follows record %d", a.seq, s.next-1))
	}
	return s.cut(s.off, last, "a write of which parts are missing")
}

// judgeLast judges the bytes from off to last, behind which there is nothing.
func (s *scanner) judgeLast(off, last int64) error {
	const enough = 64 << 20
	lineBreak := string(s.w.at(last+1, 1)) == "\n" // which is filler's, or the end of the record
	region := s.w.at(off, min(last+1-off, enough))
	word := []byte(recordWord)
	if len(region) <= len(word) && bytes.HasPrefix(word, region) {
		return s.cut(off, last, "a record that was not finished")
	}
	if bytes.HasPrefix(region, word) || bytes.HasPrefix(region, []byte(endWord)) {
		end := bytes.IndexByte(region[:min(len(region), maxLine+1)], '\n')
		if end < 0 && len(region) <= maxLine {
			return s.cut(off, last, "a record that was not finished")
		}
		if end > 0 {
			a, ok := parseAnnotation(bytes.TrimSuffix(region[:end], []byte("\r")))
			missing := off + int64(end) + 1 + a.length - last - 1
			if missing == 1 && lineBreak {
				missing = 0
			}
			if ok && missing > 0 {
				if s.g.parse(region[end+1:]) {
					return s.damaged(off, "a wrong length")
				}
				return s.cut(off, last, "a record that was not finished")
			}
		}
		if s.unwritten(off, last+1) {
			return s.cut(off, last, "a write of which parts are missing")
		}
		return s.damaged(off, s.what(off))
	}
	if s.late(off) {
		if _, _, o := parseCommand(region, nil); o == whole && last+1 == s.w.size {
			return s.damaged(off, "commands without an annotation") // of another server, or the rest of a record
		}
		err := s.cut(off, last, "a write of which parts are missing")
		s.tail.Garbage = true // or something else that somebody may want to see
		return err
	}
	if s.unwritten(off, min(last+1, off-off%sector+sector)) {
		return s.cut(off, last, "a write of which parts are missing") // its first sector is, where there was no filler
	}
	region = s.w.at(off, min(last+1-off, enough))
	for i, tries := 0, 64; tries > 0; tries-- {
		n := bytes.IndexByte(region[i:], '*')
		if n < 0 {
			break
		}
		i += n
		if s.g.parse(region[i:]) {
			return s.damaged(off, "a damaged annotation")
		}
		i++
	}
	err := s.cut(off, last, "bytes that are no record")
	s.tail.Garbage = true
	return err
}

// what describes the place of a damage.
func (s *scanner) what(off int64) string {
	b := s.w.at(off, maxLine+1)
	if end := bytes.IndexByte(b, '\n'); end > 0 {
		if a, ok := parseAnnotation(bytes.TrimSuffix(b[:end], []byte("\r"))); ok {
			if a.length > s.w.size-off-int64(end)-1 {
				return "a wrong length"
			}
			return "a wrong checksum"
		}
	}
	return "a damaged annotation"
}

// cut notes the bytes from off to last as a tail.
func (s *scanner) cut(off, last int64, why string) error {
	s.tail = &Tail{File: s.w.name, Offset: s.good, Bytes: last + 1 - off, Seq: s.next, Why: why}
	s.off = s.w.size
	return nil
}

// blank notes that zero bytes follow.
func (s *scanner) blank(off int64) error {
	s.tail = &Tail{File: s.w.name, Offset: s.good, Bytes: s.w.size - off, Seq: s.next, Why: "zero bytes"}
	if fill := s.w.at(off, min(s.w.size-off, fillLine)); filler(fill) {
		s.tail = nil // a line of filler that the end of the file cuts
	}
	s.off = s.w.size
	return nil
}

// search looks for a good record from an offset on and returns where the first one stands, -1 for none. witness says
// that a good record or the end of a complete file tells that the record s.next was durable.
func (s *scanner) search(off int64) (at int64, witness bool) {
	at = -1
	budget := 16*s.w.size + 64<<20 // what looks like records must not cost more than reading them does
	word := []byte(ourWord)
	for off < s.w.size {
		b := s.w.at(off, windowSize)
		i := bytes.Index(b, word)
		if i < 0 {
			off += max(int64(len(b)-len(word)+1), 1)
			continue
		}
		off += int64(i)
		b = s.w.at(off, maxLine+1)
		end := bytes.IndexByte(b, '\n')
		if end < 1 || b[end-1] != '\r' {
			off++
			continue
		}
		if seq, ok := parseEnd(b[:end-1], s.head.salt); ok && seq >= s.next {
			return at, true
		}
		a, ok := parseAnnotation(b[:end-1])
		if !ok || a.seq < s.next || a.length > s.w.size-off-int64(end)-1 {
			off++
			continue
		}
		budget -= a.length
		if budget < 0 {
			return at, true
		}
		if s.record(off, end+1, &a) == nil {
			off++
			continue
		}
		if at < 0 {
			at = off
		}
		if a.seq-a.behind >= s.next {
			return at, true
		}
		off += int64(end) + 1 + a.length
	}
	return at, false
}

// lastByte returns the offset of the last byte from off on that is neither zero nor filler, off-1 when there is
// none.
func (s *scanner) lastByte(off int64) int64 {
	last := off - 1
	for at := off; at < s.w.size; {
		b := s.w.at(at, windowSize)
		if b == nil {
			break
		}
		for i, c := range b {
			if o := at + int64(i); c != 0 && c != fillByte(o) {
				last = o
			}
		}
		at += int64(len(b))
	}
	// A write that would end where filler has only its line break is followed by a line of filler of its own.
	if last > off && last%fillLine == 0 && string(s.w.at(last-1, 2)) == "#\n" {
		last -= 2
	}
	// The line break at the end of a record may be where filler has one too.
	if last >= off && string(s.w.at(last, 2)) == "\r\n" {
		last++
	}
	return last
}

// unwritten reports whether the part of some sector that lies between from and to holds nothing but zero bytes or
// filler.
func (s *scanner) unwritten(from, to int64) bool {
	for at := from; at < to; {
		end := min(at-at%sector+sector, to)
		b := s.w.at(at, end-at)
		zero, fill := true, true
		for i, c := range b {
			zero = zero && c == 0
			fill = fill && c == fillByte(at+int64(i))
		}
		if len(b) > 1 && (zero || fill) {
			return true
		}
		at = end
	}
	return false
}

// late reports whether off is where a sector begins behind filler, as after a write whose first sector is missing.
func (s *scanner) late(off int64) bool {
	return off%sector == 0 && off > s.good+1 && string(s.w.at(off-2, 2)) == "#\n"
}

// judgePlain decides what the bytes at off are, in the record that began at start of a plain file.
func (s *scanner) judgePlain(start, off int64) error {
	if s.w.err != nil {
		return s.w.err
	}
	s.tail = &Tail{File: s.w.name, Offset: start, Bytes: s.w.size - start}
	s.off = s.w.size
	last := off - 1
	for at := off; at < s.w.size; at += windowSize {
		if n := len(bytes.TrimRight(s.w.at(at, windowSize), "\x00")); n > 0 {
			last = at + int64(n) - 1
		}
	}
	if last < off {
		s.tail.Why = "zero bytes"
		return s.w.err
	}
	if at := s.searchPlain(off); at >= 0 {
		s.tail = nil
		return &Damage{File: s.w.name, Offset: off, Why: fmt.Sprintf("no command, and good ones from byte %d on", at)}
	}
	if b := s.w.at(off, windowSize); bytes.HasPrefix(b, []byte(ourWord)) {
		s.tail = nil
		return &Damage{File: s.w.name, Offset: off, Why: "an annotation of emqd in a file without its head"}
	}
	_, _, o := parseCommand(s.w.at(off, windowSize), nil)
	s.tail.Why = "a command that was not finished"
	if o == broken {
		s.tail.Why, s.tail.Garbage = "bytes that are no command", true
	}
	return s.w.err
}

// searchPlain looks behind off for a whole command at the beginning of a line and returns where it stands, or -1.
func (s *scanner) searchPlain(off int64) int64 {
	word := []byte("\n*")
	for off < s.w.size {
		b := s.w.at(off, windowSize)
		i := bytes.Index(b, word)
		if i < 0 {
			off += max(int64(len(b)-len(word)+1), 1)
			continue
		}
		off += int64(i) + 1
		if _, _, o := parseCommand(s.w.at(off, windowSize), nil); o == whole {
			return off
		}
	}
	return -1
}
