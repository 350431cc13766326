package aof

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strconv"
	"strings"
)

// The kinds of files in a manifest.
const (
	kindBase    = 'b' // the state that the increments start from
	kindIncr    = 'i' // records, in the order of the manifest
	kindHistory = 'h' // replaced, to be removed
)

// Item is a line of a manifest.
type Item struct {
	Name string // without its directory
	Seq  int64
	Kind byte // b, i or h
}

// Manifest says which files hold the data: in the order in which they are read, the base first.
type Manifest struct {
	Base  *Item // nil when the increments start from nothing
	Incrs []Item
	Old   []Item
	// Checked is true when the manifest carries a checksum, which ours do.
	Checked bool
}

// checkWord begins the comment that holds a manifest's checksum.
const checkWord = "#emqd-crc "

// Append appends the text of the manifest, in Valkey's form with a comment line for its checksum.
func (m *Manifest) Append(b []byte) []byte {
	start := len(b)
	line := func(it Item) {
		b = fmt.Appendf(b, "file %s seq %d type %c\n", quoteName(it.Name), it.Seq, it.Kind)
	}
	if m.Base != nil {
		line(*m.Base)
	}
	for _, it := range m.Old {
		line(it)
	}
	for _, it := range m.Incrs {
		line(it)
	}
	return fmt.Appendf(b, "%s%08x\n", checkWord, crc32.Checksum(b[start:], castagnoli))
}

// ParseManifest reads the text of a manifest.
func ParseManifest(text []byte) (*Manifest, error) {
	m := &Manifest{}
	if len(text) == 0 {
		return nil, errors.New("the manifest is empty")
	}
	if text[len(text)-1] != '\n' {
		return nil, errors.New("the manifest's last line is cut")
	}
	at := 0
	for n := 1; at < len(text); n++ {
		end := at + bytes.IndexByte(text[at:], '\n')
		line := string(text[at:end])
		if sum, ok := strings.CutPrefix(line, checkWord); ok {
			if sum != fmt.Sprintf("%08x", crc32.Checksum(text[:at], castagnoli)) {
				return nil, errors.New("the manifest's checksum is wrong")
			}
			if end+1 != len(text) {
				return nil, errors.New("the manifest goes on after its checksum")
			}
			m.Checked = true
		} else if !strings.HasPrefix(line, "#") {
			it, err := parseItem(line)
			if err == nil {
				err = m.take(it)
			}
			if err != nil {
				return nil, fmt.Errorf("line %d of the manifest: %w", n, err)
			}
		}
		at = end + 1
	}
	if m.Base == nil && len(m.Incrs) == 0 {
		return nil, errors.New("the manifest names no files")
	}
	return m, nil
}

// Increments returns how many increments the manifest names, the one that is written included.
func (l *Log) Increments() int { return len(l.man.Incrs) }

// take adds a line.
func (m *Manifest) take(it Item) error {
	switch it.Kind {
	case kindBase:
		if m.Base != nil {
			return errors.New("a second base")
		}
		m.Base = &it
	case kindIncr:
		if n := len(m.Incrs); n > 0 && m.Incrs[n-1].Seq >= it.Seq {
			return errors.New("increments are not in order")
		}
		m.Incrs = append(m.Incrs, it)
	case kindHistory:
		m.Old = append(m.Old, it)
	default:
		return fmt.Errorf("unknown type %q", string(it.Kind))
	}
	return nil
}

func parseItem(line string) (Item, error) {
	var it Item
	words, err := splitWords(strings.TrimSuffix(line, "\r"))
	if err != nil || len(words) < 6 || len(words)%2 != 0 {
		return it, fmt.Errorf("not of the form: file NAME seq N type KIND: %q", line)
	}
	for i := 0; i < len(words); i += 2 {
		switch value := words[i+1]; strings.ToLower(words[i]) {
		case "file":
			if value != filepath.Base(value) || value == "." || value == ".." {
				return it, fmt.Errorf("%q is not the name of a file in this directory", value)
			}
			it.Name = value
		case "seq":
			if it.Seq, err = strconv.ParseInt(value, 10, 64); err != nil {
				return it, fmt.Errorf("bad number %q", value)
			}
		case "type":
			if len(value) != 1 {
				return it, fmt.Errorf("unknown type %q", value)
			}
			it.Kind = value[0]
		}
	}
	if it.Name == "" || it.Seq == 0 || it.Kind == 0 {
		return it, errors.New("file, seq or type is missing")
	}
	return it, nil
}

// quoteName writes a name as one word.
func quoteName(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == '"' || r == '\'' || r == '\\' || r >= 0x7f }) {
		var b strings.Builder
		b.WriteByte('"')
		for _, c := range []byte(name) {
			switch {
			case c == '"' || c == '\\':
				b.WriteByte('\\')
				b.WriteByte(c)
			case c < ' ' || c >= 0x7f:
				fmt.Fprintf(&b, "\\x%02x", c)
			default:
				b.WriteByte(c)
			}
		}
		b.WriteByte('"')
		return b.String()
	}
	return name
}

// splitWords splits a line at spaces; a word may stand in double quotes with backslashes.
func splitWords(line string) ([]string, error) {
	var words []string
	for {
		line = strings.TrimLeft(line, " \t")
		if line == "" {
			return words, nil
		}
		if line[0] != '"' {
			word, rest, _ := strings.Cut(line, " ")
			words, line = append(words, word), rest
			continue
		}
		end := 1
		for end < len(line) && line[end] != '"' {
			if line[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(line) {
			return nil, errors.New("unbalanced quotes")
		}
		word, err := strconv.Unquote(line[:end+1])
		if err != nil {
			return nil, err
		}
		words, line = append(words, word), line[end+1:]
	}
}

// Names of files.

func manifestName(prefix string) string { return prefix + ".manifest" }

func incrName(prefix string, seq int64) string { return fmt.Sprintf("%s.%d.incr.aof", prefix, seq) }

// BaseName returns the name of the RDB base number seq.
func BaseName(prefix string, seq int64) string { return fmt.Sprintf("%s.%d.base.rdb", prefix, seq) }

// partOf returns the number and the kind of a data file of prefix; ok is false when name is none.
func partOf(prefix, name string) (seq int64, kind byte, ok bool) {
	rest, ok := strings.CutPrefix(name, prefix+".")
	if !ok {
		return 0, 0, false
	}
	digits, tail, _ := strings.Cut(rest, ".")
	seq, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, 0, false
	}
	switch tail {
	case "base.rdb", "base.aof":
		return seq, kindBase, true
	case "incr.aof":
		return seq, kindIncr, true
	}
	return 0, 0, false
}
