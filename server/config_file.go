package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxIncludes is how deep files may include each other.
const maxIncludes = 16

// fileReader reads a configuration file and those it includes into c.
type fileReader struct {
	c     *Config
	seen  map[string]bool // settings that a line has given
	depth int
}

// readFile reads the configuration file at path.
func (c *Config) readFile(path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	c.file = abs
	r := &fileReader{c: c, seen: map[string]bool{}}
	return r.read(path)
}

func (r *fileReader) read(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return r.lines(path, string(text))
}

// lines reads the text of the file called path.
func (r *fileReader) lines(path, text string) error {
	for i, line := range strings.Split(text, "\n") {
		args, err := splitLine(line)
		if err == nil && len(args) > 0 {
			err = r.line(path, args)
		}
		if err != nil {
			var deeper *lineError
			if errors.As(err, &deeper) {
				return err
			}
			return &lineError{path, i + 1, err}
		}
	}
	return nil
}

// lineError is an error of a line of a file.
type lineError struct {
	path string
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.path, e.line, e.err) }
func (e *lineError) Unwrap() error { return e.err }

func (r *fileReader) line(path string, args []string) error {
	name, args := strings.ToLower(args[0]), args[1:]
	if name == "include" {
		return r.include(path, args)
	}
	s := lookup(name)
	if s == nil {
		return fmt.Errorf("unknown setting %q", name)
	}
	switch words := s.List && !s.File; {
	case len(args) == 0 && !words:
		return fmt.Errorf("%s: wrong number of arguments", name)
	case len(args) == 1 && words: // all of them may be quoted as one
		args = strings.Fields(args[0])
	}
	if r.depth > 0 {
		r.c.included[s.key] = true
	}
	parse := func(args []string) error { return s.parse(r.c, args) }
	if a, ok := s.value(r.c).Addr().Interface().(adder); ok && r.seen[s.key] {
		parse = a.add
	}
	r.seen[s.key] = true
	if err := parse(args); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// include reads the files that the pattern matches, in order. A pattern with wildcards may match
// none; relative ones are looked for beside the including file.
func (r *fileReader) include(path string, args []string) error {
	if len(args) != 1 {
		return errors.New("include: wrong number of arguments")
	}
	pattern := args[0]
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(filepath.Dir(path), pattern)
	}
	files := []string{pattern}
	if strings.ContainsAny(pattern, "*?[") {
		var err error
		if files, err = filepath.Glob(pattern); err != nil {
			return fmt.Errorf("include: %w", err)
		}
	}
	if r.depth == maxIncludes {
		return fmt.Errorf("include: more than %d files deep", maxIncludes)
	}
	r.depth++
	defer func() { r.depth-- }()
	for _, f := range files {
		if err := r.read(f); err != nil {
			return fmt.Errorf("include: %w", err)
		}
	}
	return nil
}

// splitLine returns the words of a line of the file, none for a comment or an empty line. Words
// may stand in "double quotes" with \n \r \t \b \a \xHH and \ before any other byte, or in 'single
// quotes' with \' alone.
func splitLine(line string) ([]string, error) {
	line = strings.Trim(line, " \t\r\n")
	if line == "" || line[0] == '#' {
		return nil, nil
	}
	var args []string
	for i := 0; ; {
		for i < len(line) && isSpace(line[i]) {
			i++
		}
		if i == len(line) {
			return args, nil
		}
		word, next, ok := splitWord(line, i)
		if !ok {
			return nil, errors.New("unbalanced quotes")
		}
		args, i = append(args, word), next
	}
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// splitWord reads the word that begins at line[i] and returns where it ends.
func splitWord(line string, i int) (word string, next int, ok bool) {
	var b []byte
	for i < len(line) && !isSpace(line[i]) {
		c := line[i]
		i++
		if c != '"' && c != '\'' {
			b = append(b, c)
			continue
		}
		for {
			if i == len(line) {
				return "", 0, false
			}
			if line[i] == c {
				i++
				break
			}
			n := 1
			if line[i] == '\\' {
				var e byte
				if e, n = unescape(line[i:], c); n > 0 {
					b = append(b, e)
					i += n
					continue
				}
				n = 1
			}
			b = append(b, line[i])
			i += n
		}
		if i < len(line) && !isSpace(line[i]) {
			return "", 0, false
		}
	}
	return string(b), i, true
}

// unescape reads the escape at the start of s within the given quotes; n is 0 when the backslash
// stands for itself.
func unescape(s string, quote byte) (c byte, n int) {
	if len(s) < 2 {
		return 0, 0
	}
	if quote == '\'' {
		if s[1] == '\'' {
			return '\'', 2
		}
		return 0, 0
	}
	if s[1] == 'x' && len(s) >= 4 {
		high, ok1 := hexDigit(s[2])
		low, ok2 := hexDigit(s[3])
		if ok1 && ok2 {
			return high<<4 | low, 4
		}
	}
	if i := strings.IndexByte("nrtba", s[1]); i >= 0 {
		return "\n\r\t\b\a"[i], 2
	}
	return s[1], 2
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return (c | 0x20) - 'a' + 10, true
	}
	return 0, false
}
