package resp

// inline reads a request that is one line of words. LF ends it, with or without
// a CR before.
func (r *Reader) inline(buf []byte, args [][]byte) ([][]byte, int, error) {
	end, err := r.line(buf, '\n', ErrInlineLine)
	if err != nil || end < 0 {
		r.want = 1
		return args, 0, err
	}
	r.restart()
	text := buf[:end]
	if end > 0 && text[end-1] == '\r' {
		text = text[:end-1]
	}
	args, ok := splitWords(text, args)
	if !ok {
		return args[:0], 0, ErrInlineQuotes
	}
	return args, end + 1, nil
}

// splitWords appends the words of line to args and removes their quotes in
// place. ok is false when a quote is left open or a closing quote touches the
// next word.
func splitWords(line []byte, args [][]byte) (words [][]byte, ok bool) {
	for p := 0; p < len(line); {
		if isSpace(line[p]) {
			p++
			continue
		}
		start, end := p, p
		if p, end, ok = word(line, p); !ok {
			return args, false
		}
		args = append(args, line[start:end:end])
	}
	return args, true
}

// word reads the word at line[p]. It returns where reading goes on and where
// the word, moved together from p on, ends.
func word(line []byte, p int) (next, end int, ok bool) {
	w := p
	for p < len(line) {
		switch c := line[p]; c {
		case ' ', '\n', '\r', '\t':
			return p, w, true
		case '"', '\'':
			// A quote may open inside a word, but closing it ends the word.
			if p, w, ok = quoted(line, p+1, w, c); !ok {
				return p, w, false
			}
			return p, w, p == len(line) || isSpace(line[p])
		default:
			line[w] = c
			w++
			p++
		}
	}
	return p, w, true
}

// quoted copies the text from line[p] up to the closing quote to line[w:], with
// its escapes resolved, and returns the positions behind both.
func quoted(line []byte, p, w int, quote byte) (next, end int, ok bool) {
	for p < len(line) {
		c := line[p]
		switch {
		case c == quote:
			return p + 1, w, true
		case c == '\\' && quote == '"':
			c, p = escape(line, p)
		case c == '\\' && p+1 < len(line) && line[p+1] == '\'':
			c = '\''
			p += 2
		default:
			p++
		}
		line[w] = c
		w++
	}
	return p, w, false
}

// escape resolves the backslash sequence at line[p] of double-quoted text and
// returns the byte it stands for and the position behind it.
func escape(line []byte, p int) (c byte, next int) {
	if p+1 == len(line) {
		return '\\', p + 1
	}
	if line[p+1] == 'x' && p+3 < len(line) {
		high, ok1 := hexDigit(line[p+2])
		low, ok2 := hexDigit(line[p+3])
		if ok1 && ok2 {
			return high<<4 | low, p + 4
		}
	}
	switch c = line[p+1]; c {
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'b':
		c = '\b'
	case 'a':
		c = '\a'
	}
	return c, p + 2
}

// hexDigit returns the value of a hexadecimal digit of either case.
func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// isSpace reports whether c may stand between words. Vertical tab and form feed
// are skipped there, although they do not end a word.
func isSpace(c byte) bool {
	return c == ' ' || c >= '\t' && c <= '\r'
}
