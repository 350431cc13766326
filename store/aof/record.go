package aof

import (
	"bytes"
	"encoding/hex"
	"hash/crc32"
	"strconv"

	"github.com/echomq/emqd/store"
)

// What stands in an increment. Every line that begins with # is skipped by the loaders of Valkey and Redis, which
// read at most 128 bytes of it.
//
//	#emqd-epoch EPOCH NEXT SALT CRC     twice, at the head: node epoch, number of the first record, salt of the checksums
//	#emqd SEQ LEN BEHIND DB CRC         before each record: number, bytes, records not known to be synced, selected database
//	#emqd-end SEQ CRC                   after the last record of a file that is complete
//	###...                              filler
//
// A checksum is CRC32C with the salt before it, over the line up to it and, for a record, the record. The salt
// is random in each file, so that no value that looks like a record, and no left-over of another file, is taken for one.
const (
	epochWord  = "#emqd-epoch "
	recordWord = "#emqd "
	endWord    = "#emqd-end "
	ourWord    = "#emqd"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maxLine is the longest annotation that other servers skip.
const maxLine = 127

// fillLine is the length of the lines of filler that stand behind the last record. The one byte in it that is no #
// is at the end of lines that begin at multiples of it.
const fillLine = 64

// fillByte returns the filler at an offset of a file.
func fillByte(at int64) byte {
	if at%fillLine == fillLine-1 {
		return '\n'
	}
	return '#'
}

// header is what the head of an increment tells.
type header struct {
	epoch int64  // of the node that wrote it
	next  int64  // number of the first record, 0 for the one after the last of the file before
	salt  uint32 // of the checksums
}

func (h *header) append(b []byte) []byte {
	start := len(b)
	b = append(b, epochWord...)
	b = append(strconv.AppendInt(b, h.epoch, 10), ' ')
	b = append(strconv.AppendInt(b, h.next, 10), ' ')
	b = appendHex(b, h.salt)
	b = appendHex(append(b, ' '), crc32.Checksum(b[start:], castagnoli))
	return append(b, '\r', '\n')
}

// parseHeader reads one of the two lines of the head, without its line break.
func parseHeader(line []byte) (h header, ok bool) {
	body, sum, ok := cutSum(line)
	if !ok || crc32.Checksum(body, castagnoli) != sum {
		return h, false
	}
	rest, ok := bytes.CutPrefix(body, []byte(epochWord))
	f := bytes.Split(rest, []byte(" "))
	if !ok || len(f) != 3 {
		return h, false
	}
	var ok1, ok2, ok3 bool
	h.epoch, ok1 = parseNumber(f[0])
	h.next, ok2 = parseNumber(f[1])
	h.salt, ok3 = parseHex(f[2])
	return h, ok1 && ok2 && ok3
}

// annotation is the line before a record.
type annotation struct {
	seq    int64
	length int64
	behind int64 // all records up to seq-behind were durable when this one was written
	db     int64 // selected before the record
	sum    uint32
	summed int // bytes of the line that the checksum covers
}

// parseAnnotation reads the line before a record, without its line break. The checksum is not looked at.
func parseAnnotation(line []byte) (a annotation, ok bool) {
	body, sum, ok := cutSum(line)
	rest, ours := bytes.CutPrefix(body, []byte(recordWord))
	if !ok || !ours {
		return a, false
	}
	a.sum, a.summed = sum, len(body)
	for i, to := range []*int64{&a.seq, &a.length, &a.behind, &a.db} {
		word, more, _ := bytes.Cut(rest, []byte(" "))
		if *to, ok = parseNumber(word); !ok || i == 3 && len(more) > 0 {
			return a, false
		}
		rest = more
	}
	return a, a.behind >= 1 && a.behind <= a.seq && a.length > 0
}

// parseEnd reads the line that ends a complete file.
func parseEnd(line []byte, salt uint32) (seq int64, ok bool) {
	if !bytes.HasPrefix(line, []byte(endWord)) {
		return 0, false
	}
	body, sum, ok := cutSum(line)
	word, ours := bytes.CutPrefix(body, []byte(endWord))
	if !ok || !ours || crc32.Update(salt, castagnoli, body) != sum {
		return 0, false
	}
	return parseNumber(word)
}

func appendEnd(b []byte, seq int64, salt uint32) []byte {
	start := len(b)
	b = strconv.AppendInt(append(b, endWord...), seq, 10)
	b = appendHex(append(b, ' '), crc32.Update(salt, castagnoli, b[start:]))
	return append(b, '\r', '\n')
}

// cutSum splits a line into what its checksum covers and the checksum.
func cutSum(line []byte) (body []byte, sum uint32, ok bool) {
	n := len(line) - 9
	if n < 0 || line[n] != ' ' {
		return nil, 0, false
	}
	sum, ok = parseHex(line[n+1:])
	return line[:n], sum, ok
}

func appendHex(b []byte, n uint32) []byte {
	raw := [4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
	return hex.AppendEncode(b, raw[:])
}

func parseHex(b []byte) (uint32, bool) {
	if len(b) != 8 {
		return 0, false
	}
	n := uint32(0)
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | uint32(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | uint32(c-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

// parseNumber reads a decimal number of at most 18 digits, in its shortest form.
func parseNumber(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 18 || b[0] == '0' && len(b) > 1 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// appendRecord appends effects as RESP commands: MULTI and EXEC around more than one, SELECT where the database is
// not the one selected before. It returns the database that is selected afterwards.
func appendRecord(b []byte, f *store.Effects, db int) ([]byte, int) {
	n := f.Len()
	if first := f.DB(0); first != db {
		b, db = appendSelect(b, first), first
	}
	if n > 1 {
		b = append(b, "*1\r\n$5\r\nMULTI\r\n"...)
	}
	for i := range n {
		if f.DB(i) != db {
			db = f.DB(i)
			b = appendSelect(b, db)
		}
		args := f.Args(i)
		b = appendHead(b, '*', args+1)
		name := f.Name(i)
		b = appendHead(b, '$', len(name))
		b = append(append(b, name...), '\r', '\n')
		for j := range args {
			b = appendBulk(b, f.Arg(i, j))
		}
	}
	if n > 1 {
		b = append(b, "*1\r\n$4\r\nEXEC\r\n"...)
	}
	return b, db
}

func appendSelect(b []byte, db int) []byte {
	b = append(b, "*2\r\n$6\r\nSELECT\r\n"...)
	var digits [20]byte
	return appendBulk(b, strconv.AppendInt(digits[:0], int64(db), 10))
}

func appendBulk(b, arg []byte) []byte {
	b = append(appendHead(b, '$', len(arg)), arg...)
	return append(b, '\r', '\n')
}

func appendHead(b []byte, kind byte, n int) []byte {
	if n < 10 {
		return append(b, kind, byte('0'+n), '\r', '\n')
	}
	b = strconv.AppendInt(append(b, kind), int64(n), 10)
	return append(b, '\r', '\n')
}
