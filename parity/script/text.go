package script

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Quote returns s in double quotes with the escapes of redis-cli. A long run of one byte is written
// "x"*100.
func Quote(s string) string {
	if n := len(s); n > 40 && strings.Count(s, s[:1]) == n {
		return Quote(s[:1]) + "*" + strconv.Itoa(n)
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		if k := strings.IndexByte("\\\"\n\r\t\a\b", c); k >= 0 {
			b.WriteByte('\\')
			b.WriteByte("\\\"nrtab"[k])
		} else if c >= ' ' && c <= '~' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Word returns s as an argument of a request line: bare where that is enough.
func Word(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] > '~' || strings.IndexByte(`"'\`, s[i]) >= 0 {
			return Quote(s)
		}
	}
	if s == "" {
		return Quote(s)
	}
	return s
}

// Words joins the arguments of a request line.
func Words(args []string) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(Word(a))
	}
	return b.String()
}

// Split parses the arguments of a request line, in the quoting of redis-cli; a double-quoted argument may be
// followed by *N, which repeats it.
func Split(line string) (args []string, err error) {
	for {
		line = strings.TrimLeft(line, " \t")
		if line == "" {
			return args, nil
		}
		var arg string
		switch line[0] {
		case '"':
			arg, line, err = unquote(line)
		case '\'':
			arg, line, err = unquoteSingle(line)
		default:
			end := strings.IndexAny(line, " \t")
			if end < 0 {
				end = len(line)
			}
			arg, line = line[:end], line[end:]
		}
		if err != nil {
			return nil, err
		}
		if line != "" && line[0] != ' ' && line[0] != '\t' {
			return nil, fmt.Errorf("script: closing quote touches %q", line)
		}
		args = append(args, arg)
	}
}

// unquote reads the double-quoted text at the start of s with its repetition.
func unquote(s string) (text, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return repeated(b.String(), s[i+1:])
		case c == '\\' && i+3 < len(s) && s[i+1] == 'x':
			n, err := strconv.ParseUint(s[i+2:i+4], 16, 8)
			if err != nil {
				return "", "", fmt.Errorf("script: escape in %q", s)
			}
			b.WriteByte(byte(n))
			i += 3
		case c == '\\' && i+1 < len(s):
			i++
			c = s[i]
			if k := strings.IndexByte("nrtab", c); k >= 0 {
				c = "\n\r\t\a\b"[k]
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return "", "", fmt.Errorf("script: quote left open in %q", s)
}

func repeated(text, rest string) (string, string, error) {
	if !strings.HasPrefix(rest, "*") {
		return text, rest, nil
	}
	end := 1
	for end < len(rest) && '0' <= rest[end] && rest[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(rest[1:end])
	if err != nil {
		return "", "", fmt.Errorf("script: repetition %q", rest)
	}
	return strings.Repeat(text, n), rest[end:], nil
}

func unquoteSingle(s string) (text, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\'':
			return b.String(), s[i+1:], nil
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '\'':
			b.WriteByte('\'')
			i++
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", fmt.Errorf("script: quote left open in %q", s)
}

// errMore says that a reply goes on in the next line.
var errMore = errors.New("script: reply is not closed")

// ParseValue reads a reply as String and Lines print it.
func ParseValue(s string) (Value, error) {
	v, rest, err := parseValue(strings.TrimLeft(s, " \t\n"), true)
	if err == nil && strings.TrimSpace(rest) != "" {
		err = fmt.Errorf("script: %q after the reply", rest)
	}
	return v, err
}

func parseValue(s string, top bool) (v Value, rest string, err error) {
	if s == "" {
		return v, "", errMore
	}
	v.Kind = s[0]
	s = s[1:]
	switch {
	case strings.IndexByte("+-:,#_($=*%~>", v.Kind) < 0:
		return v, "", fmt.Errorf("script: no reply: %q", string(v.Kind)+s)
	case (v.Kind == '$' || v.Kind == '*') && strings.HasPrefix(s, "-1"):
		v.Null = true
		return v, s[2:], nil
	case strings.IndexByte("*%~>", v.Kind) >= 0:
		open, end := brackets(v.Kind)
		if s == "" || s[0] != open {
			return v, "", fmt.Errorf("script: %c is not followed by %c", v.Kind, open)
		}
		v.Elems, rest, err = parseElems(s[1:], end)
		return v, rest, err
	case strings.HasPrefix(s, `"`):
		v.Text, rest, err = unquote(s)
		return v, rest, err
	case v.Kind == '$' || v.Kind == '=':
		return v, "", fmt.Errorf("script: %c is not followed by quoted text", v.Kind)
	}
	end := strings.IndexByte(s, '\n')
	if !top {
		end = strings.IndexAny(s, " \t\n]}")
	}
	if end < 0 {
		end = len(s)
	}
	v.Text = s[:end]
	return v, s[end:], nil
}

func parseElems(s string, end byte) (elems []Value, rest string, err error) {
	for {
		s = strings.TrimLeft(s, " \t\n")
		if s == "" {
			return nil, "", errMore
		}
		if s[0] == end {
			return elems, s[1:], nil
		}
		var v Value
		if v, s, err = parseValue(s, false); err != nil {
			return nil, "", err
		}
		elems = append(elems, v)
	}
}

// QueueWords returns the words of a call on several queues, in which a word such as b/job:JOB1 is the key
// emq:{b}:job:JOB1 and "" is empty.
func QueueWords(call string) []string {
	words := strings.Fields(call)
	for i, w := range words {
		if w == `""` {
			words[i] = ""
		} else if q, rest, ok := strings.Cut(w, "/"); ok {
			words[i] = "emq:{" + q + "}:" + rest
		}
	}
	return words
}
