package aof

import (
	"bytes"
	"fmt"
	"hash/crc32"
)

// Record is one record as it was read. What it holds is valid until the next one is read.
type Record struct {
	Seq      int64 // 0 in a file without annotations
	Offset   int64 // of the record or its annotation
	Commands []Command
}

// Damage is what makes a file unusable: it can be read no further, and dropping the rest could lose records that
// were acknowledged.
type Damage struct {
	File   string
	Offset int64
	Seq    int64 // of the record that should stand there, 0 when it is not known
	Why    string
}

// Error names the place.
func (d *Damage) Error() string {
	if d.Seq == 0 {
		return fmt.Sprintf("%s: %s at byte %d", d.File, d.Why, d.Offset)
	}
	return fmt.Sprintf("%s: %s at byte %d, record %d", d.File, d.Why, d.Offset, d.Seq)
}

// Tail is what follows the last good record of a file and was never acknowledged, or is no record at all.
type Tail struct {
	File    string
	Offset  int64  // where it begins
	Bytes   int64  // its length without filler behind it
	Seq     int64  // of the first record lost, 0 when it is not known
	Garbage bool   // it does not look like a record that was being written
	Why     string // what it is
}

// scanner reads a file record by record: one of ours, in which every record has an annotation, or a plain one of
// another server.
type scanner struct {
	w      *window
	ours   bool
	head   header
	next   int64 // number of the next record; 0 in a plain file
	off    int64
	good   int64  // end of the last good record, or of the head
	full   bool   // the line that ends a complete file was read
	more   bool   // another server has appended to a file of ours: what follows is plain
	flaw   bool   // one of the two lines of the head is damaged
	unsure []mark // the records that were not known to be durable when the last one was written, with it
	tail   *Tail
	g      group
	rec    Record
}

// mark is where a record begins.
type mark struct{ seq, off int64 }

// newScanner begins to read a file at off, where a plain part may begin behind an RDB preamble.
func newScanner(w *window, off int64) (*scanner, error) {
	s := &scanner{w: w, off: off, good: off}
	if off > 0 {
		return s, nil
	}
	const most = 2 * (maxLine + 1)
	b := w.at(0, most)
	for at := 0; ; at++ {
		i := bytes.Index(b[at:], []byte(epochWord))
		if i < 0 {
			break
		}
		at += i
		n := bytes.IndexByte(b[at:], '\r')
		if n < 0 {
			continue
		}
		h, ok := parseHeader(b[at : at+n])
		if !ok {
			continue
		}
		s.ours, s.head, s.next = true, h, h.next
		want := h.append(h.append(nil))
		s.off = int64(min(len(want), len(b)))
		s.good = s.off
		s.flaw = !bytes.Equal(b[:s.off], want[:s.off])
		return s, w.err
	}
	if w.err != nil {
		return nil, w.err
	}
	if begins := b[:min(len(b), len(epochWord))]; len(b) > 0 && bytes.HasPrefix([]byte(epochWord), begins) {
		if w.size >= most {
			return nil, s.damaged(0, "the head is damaged")
		}
		s.tail = &Tail{File: w.name, Bytes: w.size, Why: "the head is cut"}
		s.off = w.size
	}
	return s, nil
}

func (s *scanner) damaged(off int64, why string) error {
	return &Damage{File: s.w.name, Offset: off, Seq: s.next, Why: why}
}

// read returns the next record, or nil at the end: then tail tells what was left.
func (s *scanner) read() (*Record, error) {
	if s.tail != nil {
		return nil, nil
	}
	var rec *Record
	var err error
	if s.ours && !s.more {
		rec, err = s.readOurs()
	} else {
		rec, err = s.readPlain()
	}
	if s.w.err != nil {
		return nil, s.w.err
	}
	return rec, err
}

// readOurs reads in a file of ours.
func (s *scanner) readOurs() (*Record, error) {
	for s.off < s.w.size {
		b := s.w.at(s.off, maxLine+1)
		end := bytes.IndexByte(b, '\n')
		if end >= 0 && filler(b[:end]) {
			s.off += int64(end) + 1
			continue
		}
		if b[0] == '*' && s.late(s.off) { // the rest of a record whose first sector is missing
			return nil, s.judge()
		}
		if b[0] == '*' { // which no damage to a single bit makes of an annotation
			s.more = true
			s.g.reset()
			return s.readPlain()
		}
		if end < 0 || end == 0 || b[end-1] != '\r' {
			return nil, s.judge()
		}
		line := b[:end-1]
		if seq, ok := parseEnd(line, s.head.salt); ok && seq == s.next-1 {
			s.off += int64(end) + 1
			s.good, s.full = s.off, true
			continue
		}
		a, ok := parseAnnotation(line)
		if !ok || a.length > s.w.size-s.off-int64(end)-1 {
			return nil, s.judge()
		}
		rec := s.record(s.off, end+1, &a)
		switch {
		case rec == nil:
			return nil, s.judge()
		case a.seq > s.next && s.late(s.off):
			return nil, s.gap(&a)
		case a.seq != s.next:
			return nil, s.damaged(s.off, fmt.Sprintf("record %d follows record %d", a.seq, s.next-1))
		case s.full:
			return nil, s.damaged(s.off, "a record follows the end")
		}
		s.g.db = int(a.db)
		if !s.g.parse(rec) {
			return nil, s.damaged(s.off, "the record holds no commands")
		}
		s.rec = Record{a.seq, s.off, s.g.cmds}
		s.unsure = append(s.unsure, mark{a.seq, s.off})
		for s.unsure[0].seq <= a.seq-a.behind {
			s.unsure = s.unsure[1:]
		}
		s.off += int64(end) + 1 + a.length
		s.good = s.off
		s.next++
		return &s.rec, nil
	}
	return nil, nil
}

// record returns the bytes of the record whose annotation, n bytes long, stands at off, or nil when its checksum
// is wrong. It must end within the file.
func (s *scanner) record(off int64, n int, a *annotation) []byte {
	b := s.w.at(off, int64(n)+a.length)
	if b == nil {
		return nil
	}
	sum := crc32.Update(crc32.Update(s.head.salt, castagnoli, b[:a.summed]), castagnoli, b[n:])
	if sum != a.sum {
		return nil
	}
	return b[n:]
}

func filler(b []byte) bool {
	for _, c := range b {
		if c != '#' {
			return false
		}
	}
	return len(b) > 0
}

// readPlain reads in a file without annotations.
func (s *scanner) readPlain() (*Record, error) {
	s.g.reset()
	start, db := s.off, s.g.db
	for off := start; off < s.w.size; {
		want := int64(64 << 10)
		b := s.w.at(off, want)
		if len(b) > 0 && b[0] == '#' {
			end := bytes.IndexByte(b, '\n')
			if end < 0 || bytes.HasPrefix(b, []byte(ourWord)) {
				s.g.db = db
				return nil, s.judgePlain(start, off)
			}
			off += int64(end) + 1
			if len(s.g.args) == 0 {
				start, s.off, s.good = off, off, off
			}
			continue
		}
		first := len(s.g.args)
		args, n, o := parseCommand(b, s.g.args)
		for o == partial && off+int64(n) <= s.w.size {
			want = max(2*want, int64(n))
			args, n, o = parseCommand(s.w.at(off, want), s.g.args[:first])
		}
		s.g.args = args
		if o != whole || !s.g.take(first) {
			s.g.db = db
			return nil, s.judgePlain(start, off)
		}
		off += int64(n)
		if s.g.ready {
			s.rec = Record{0, start, s.g.cmds}
			s.off, s.good = off, off
			return &s.rec, nil
		}
		s.keep(first) // the window may move
	}
	if s.off = s.w.size; start < s.off && len(s.g.args) > 0 {
		s.tail = &Tail{File: s.w.name, Offset: start, Bytes: s.w.size - start, Why: "a transaction that was not finished"}
		s.g.db = db
	}
	return nil, nil
}

// keep makes the arguments from the index first on independent of the window.
func (s *scanner) keep(first int) {
	for i := first; i < len(s.g.args); i++ {
		s.g.args[i] = bytes.Clone(s.g.args[i])
	}
}
