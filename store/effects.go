package store

// Effects are the plain commands that a transaction did, in order: what the log and the replicas get.
// They are absolute (results, deadlines) and ordinary, so that any RESP server can replay them without a
// clock.
type Effects struct {
	buf  []byte
	ends []uint32 // end of each argument in buf
	cmds []effect
}

type effect struct {
	name  string
	db    int32
	first uint32 // index of the first argument in ends
	n     uint32 // arguments
	reach reach
	a, b  int32 // databases that reach speaks of
}

// reach says which keys an effect touches.
type reach uint8

const (
	reachKey    reach = iota // the first argument
	reachSub                 // the second argument, which follows a sub-command
	reachRename              // the first two arguments
	reachMove                // the first argument in its database and in a
	reachCopy                // the second argument, in database a
	reachAll                 // every key of the databases from a up to b
	reachSwap                // every key of the databases a and b
)

// subMakes stands in a of an effect of reachSub that makes its key.
const subMakes = 1

// Touch is what an effect touched: one key or, when Key is nil, every key of the database.
type Touch struct {
	DB  int
	Key []byte
}

// AppendTouched appends to dst what command i touched. The keys are valid until the transaction ends.
func (f *Effects) AppendTouched(dst []Touch, i int) []Touch {
	c := &f.cmds[i]
	switch c.reach {
	case reachSub:
		return append(dst, Touch{int(c.db), f.Arg(i, 1)})
	case reachRename:
		return append(dst, Touch{int(c.db), f.Arg(i, 0)}, Touch{int(c.db), f.Arg(i, 1)})
	case reachMove:
		return append(dst, Touch{int(c.db), f.Arg(i, 0)}, Touch{int(c.a), f.Arg(i, 0)})
	case reachCopy:
		return append(dst, Touch{int(c.a), f.Arg(i, 1)})
	case reachAll:
		for db := c.a; db <= c.b; db++ {
			dst = append(dst, Touch{DB: int(db)})
		}
		return dst
	case reachSwap:
		return append(dst, Touch{DB: int(c.a)}, Touch{DB: int(c.b)})
	}
	return append(dst, Touch{int(c.db), f.Arg(i, 0)})
}

// Serves reports whether command i may have brought what a client waits for. What only takes elements away, or notes who
// has an entry of a stream, does not: workers that claim, settle or acknowledge do not stir those that wait.
func (f *Effects) Serves(i int) bool {
	switch f.cmds[i].name {
	case "ZREM", "LPOP", "RPOP", "LREM", "LTRIM", "SREM", "XACK", "XCLAIM", "XDEL", "XTRIM", "XSETID":
		return false
	case "XGROUP":
		return string(f.Arg(i, 0)) == "DESTROY" // who waits as its consumer is refused
	}
	return true
}

// Changes reports whether command i changes its keys in the eyes of those that watch or track them. What stands in the
// groups of a stream is no part of its value, as in Redis; a group that makes its stream is told of the key.
func (f *Effects) Changes(i int) bool {
	switch f.cmds[i].name {
	case "XACK", "XCLAIM", "XSETID":
		return false
	case "XGROUP":
		return f.cmds[i].a == subMakes
	}
	return true
}

// Len returns the number of commands.
func (f *Effects) Len() int { return len(f.cmds) }

// Name returns the name of command i, in upper case.
func (f *Effects) Name(i int) string { return f.cmds[i].name }

// DB returns the database of command i.
func (f *Effects) DB(i int) int { return int(f.cmds[i].db) }

// Args returns how many arguments command i has, its name not counted.
func (f *Effects) Args(i int) int { return int(f.cmds[i].n) }

// Arg returns argument j of command i. It is valid until the transaction ends.
func (f *Effects) Arg(i, j int) []byte {
	k := f.cmds[i].first + uint32(j)
	start := uint32(0)
	if k > 0 {
		start = f.ends[k-1]
	}
	return f.buf[start:f.ends[k]]
}

func (f *Effects) reset() {
	if cap(f.buf) > 1<<20 {
		*f = Effects{}
		return
	}
	f.buf, f.ends, f.cmds = f.buf[:0], f.ends[:0], f.cmds[:0]
}

// effectsMark is a length of Effects to cut back to.
type effectsMark struct{ buf, ends, cmds int }

func (f *Effects) mark() effectsMark { return effectsMark{len(f.buf), len(f.ends), len(f.cmds)} }

// cut drops the commands recorded since m.
func (f *Effects) cut(m effectsMark) {
	f.buf, f.ends, f.cmds = f.buf[:m.buf], f.ends[:m.ends], f.cmds[:m.cmds]
}

func (f *Effects) begin(name string, db int) {
	f.cmds = append(f.cmds, effect{name: name, db: int32(db), first: uint32(len(f.ends))})
}

// reaches says what the last command touches when that is not just its first argument.
func (f *Effects) reaches(r reach, a, b int) {
	c := &f.cmds[len(f.cmds)-1]
	c.reach, c.a, c.b = r, int32(a), int32(b)
}

func (f *Effects) arg(b []byte) {
	f.buf = append(f.buf, b...)
	f.ends = append(f.ends, uint32(len(f.buf)))
	f.cmds[len(f.cmds)-1].n++
}

// joins reports whether the last command has this name, database and key, so that further arguments
// may be added to it instead of recording another command.
func (f *Effects) joins(name string, db int, key []byte) bool {
	n := len(f.cmds)
	if n == 0 || f.cmds[n-1].name != name || int(f.cmds[n-1].db) != db || f.cmds[n-1].n > 1000 {
		return false
	}
	return string(f.Arg(n-1, 0)) == string(key)
}

// last returns the last argument recorded. It is valid until the next effect.
func (f *Effects) last() []byte {
	k := len(f.ends) - 1
	start := uint32(0)
	if k > 0 {
		start = f.ends[k-1]
	}
	return f.buf[start:f.ends[k]]
}
