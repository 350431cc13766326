package aof

import "bytes"

// Command is one command of a record.
type Command struct {
	DB   int // selected when it runs
	Args [][]byte
}

// outcome is what became of reading a command.
type outcome int

const (
	whole   outcome = iota
	partial         // the bytes end within it
	broken          // it is none
)

// parseCommand reads one RESP command at the start of b into args and returns its length. For a partial one it
// returns how many bytes are needed at least to get on.
func parseCommand(b []byte, args [][]byte) (out [][]byte, n int, o outcome) {
	count, at, o := parseHead(b, 0, '*')
	if o != whole {
		return args, len(b) + 1, o
	}
	if count < 1 {
		return args, 0, broken
	}
	for range count {
		size, next, o := parseHead(b, at, '$')
		if o != whole {
			return args, max(next, len(b)+1), o
		}
		end := next + int(size)
		if end+2 > len(b) {
			if end < len(b) && b[end] != '\r' {
				return args, 0, broken
			}
			return args, end + 2, partial
		}
		if b[end] != '\r' || b[end+1] != '\n' {
			return args, 0, broken
		}
		args = append(args, b[next:end:end])
		at = end + 2
	}
	return args, at, whole
}

// parseHead reads a line of a kind and a number at an offset and returns where the next one begins.
func parseHead(b []byte, at int, kind byte) (n int64, next int, o outcome) {
	const longest = 16
	if at >= len(b) {
		return 0, 0, partial
	}
	if b[at] != kind {
		return 0, 0, broken
	}
	stop := min(len(b), at+1+longest)
	i := at + 1
	for ; i < stop && b[i] >= '0' && b[i] <= '9'; i++ {
		n = n*10 + int64(b[i]-'0')
	}
	switch digits := i - at - 1; {
	case i == stop && digits < longest:
		return 0, 0, partial
	case i == stop || b[i] != '\r' || digits == 0 || digits > 1 && b[at+1] == '0':
		return 0, 0, broken
	case i+1 == stop:
		return 0, 0, partial
	case b[i+1] != '\n':
		return 0, 0, broken
	}
	return n, i + 2, whole
}

// group collects the commands of one record: what is between MULTI and EXEC, or a single one.
type group struct {
	cmds  []Command
	args  [][]byte
	db    int
	multi bool
	ready bool
}

func (g *group) reset() {
	g.cmds, g.args, g.multi, g.ready = g.cmds[:0], g.args[:0], false, false
}

// take adds the command whose arguments are those of g.args from the index first on. It reports whether it is
// one that may stand here.
func (g *group) take(first int) bool {
	args := g.args[first:len(g.args):len(g.args)]
	switch {
	case isWord(args, 1, "multi"):
		ok := !g.multi && len(g.cmds) == 0
		g.multi = true
		return ok
	case isWord(args, 1, "exec"):
		ok := g.multi
		g.multi, g.ready = false, true
		return ok
	case isWord(args, 2, "select"):
		n, ok := parseNumber(args[1])
		if !ok || n > 1<<20 {
			return false
		}
		g.db = int(n)
		return true
	}
	g.cmds = append(g.cmds, Command{g.db, args})
	g.ready = !g.multi
	return true
}

func isWord(args [][]byte, n int, word string) bool {
	return len(args) == n && len(args[0]) == len(word) && bytes.EqualFold(args[0], []byte(word))
}

// parse reads a whole record of ours, to its last byte.
func (g *group) parse(rec []byte) bool {
	g.reset()
	for len(rec) > 0 {
		first := len(g.args)
		args, n, o := parseCommand(rec, g.args)
		if o != whole || g.ready {
			return false
		}
		g.args = args
		if !g.take(first) {
			return false
		}
		rec = rec[n:]
	}
	return g.ready
}
