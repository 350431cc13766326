package commands

import "github.com/echomq/emqd/store/num"

// KeyAt is one key of a call: the argument it stands in and what the command does with it.
type KeyAt struct {
	Pos   int
	Flags KeyFlags
}

// Refusals of COMMAND GETKEYS and COMMAND GETKEYSANDFLAGS.
const (
	ErrKeysCommand Error = "ERR Invalid command specified"
	ErrKeysNone    Error = "ERR The command has no key arguments"
	ErrKeysArity   Error = "ERR Invalid number of arguments specified for command"
	ErrKeysArgs    Error = "ERR Invalid arguments specified for command"
)

// Keys appends the keys of a whole call to dst, in the order COMMAND GETKEYS lists them. Its errors are
// that command's: ErrKeysCommand for a nil row, ErrKeysNone, ErrKeysArity, and ErrKeysArgs when no key can be found in the
// arguments of a command that needs one.
func Keys(row *Row, args [][]byte, dst []KeyAt) ([]KeyAt, error) {
	switch {
	case row == nil:
		return dst, ErrKeysCommand
	case !row.HasKeys():
		return dst, ErrKeysNone
	case !row.ArityOK(len(args)):
		return dst, ErrKeysArity
	}
	before := len(dst)
	dst = row.AppendKeys(dst, args)
	if len(dst) == before && !row.Has(NoMandatoryKeys) {
		return dst, ErrKeysArgs
	}
	return dst, nil
}

// HasKeys reports whether calls of the row can have keys. Channels and arguments that only look like keys
// do not count.
func (r *Row) HasKeys() bool {
	for i := range r.Keys {
		if r.Keys[i].Flags&(KeyNotKey|KeyChannel) == 0 {
			return true
		}
	}
	return r.FindKeys != nil
}

// AppendKeys appends the keys of a call to dst. A call whose arguments do not fit the key-specs has no
// keys: its handler refuses it before it looks at one. Nothing is allocated when dst has room.
func (r *Row) AppendKeys(dst []KeyAt, args [][]byte) []KeyAt {
	before := len(dst)
	certain := true // every key-spec was found and says all that there is to say
	for i := range r.Keys {
		spec := &r.Keys[i]
		if spec.Flags&(KeyNotKey|KeyChannel) != 0 {
			continue
		}
		var fits bool
		dst, fits = spec.appendKeys(dst, args)
		if !fits && r.FindKeys == nil {
			return dst[:before]
		}
		if !fits || spec.Unknown || spec.Flags&(KeyIncomplete|KeyVariable) != 0 {
			certain = false
		}
	}
	if certain || r.FindKeys == nil {
		return dst
	}
	return r.FindKeys(args, dst[:before])
}

// hidden reports whether COMMAND does not show the key-spec: Valkey has none for channels that are not
// shard channels.
func (k *KeySpec) hidden() bool { return k.Flags&(KeyChannel|KeyNotKey) == KeyChannel }

// shownSpecs returns how many key-specs COMMAND shows.
func (r *Row) shownSpecs() (n int) {
	for i := range r.Keys {
		if !r.Keys[i].hidden() {
			n++
		}
	}
	return n
}

// HasChannels reports whether calls of the row name channels that the ACL has a say in.
func (r *Row) HasChannels() bool {
	for i := range r.Keys {
		if r.Keys[i].Flags&KeyChannel != 0 {
			return true
		}
	}
	return false
}

// AppendChannels appends the channels of a call to dst as AppendKeys does the keys.
func (r *Row) AppendChannels(dst []KeyAt, args [][]byte) []KeyAt {
	for i := range r.Keys {
		if r.Keys[i].Flags&KeyChannel != 0 {
			dst, _ = r.Keys[i].appendKeys(dst, args)
		}
	}
	return dst
}

// appendKeys appends the keys that one key-spec finds. It does not fit when the arguments contradict
// it; a keyword that is absent fits and finds nothing.
func (k *KeySpec) appendKeys(dst []KeyAt, args [][]byte) (keys []KeyAt, fits bool) {
	if k.Unknown {
		return dst, true
	}
	first := k.Index
	if k.Keyword != "" {
		if first = k.afterKeyword(args); first == 0 {
			return dst, true
		}
	}
	first, last, ok := k.span(args, first)
	if !ok || first < 1 || last < first || last >= len(args) {
		return dst, false
	}
	for i := first; i <= last; i += max(k.Step, 1) {
		dst = append(dst, KeyAt{Pos: i, Flags: k.Flags})
	}
	return dst, true
}

// span returns the first and the last key's place when the search begins at begin.
func (k *KeySpec) span(args [][]byte, begin int) (first, last int, ok bool) {
	if k.Numbered {
		at := begin + k.NumIndex
		if at >= len(args) {
			return 0, 0, false
		}
		count, isInt := num.Int(args[at])
		if !isInt || count < 0 || count > int64(len(args)) {
			return 0, 0, false
		}
		first = begin + k.FirstKey
		return first, first + int(count)*max(k.Step, 1) - 1, true
	}
	switch {
	case k.Last >= 0:
		return begin, begin + k.Last, true
	case k.Limit > 1:
		return begin, begin + (len(args)-begin)/k.Limit + k.Last, true
	default:
		return begin, len(args) + k.Last, true
	}
}

// afterKeyword returns the place behind the first occurrence of the keyword, 0 when there is none. A
// negative From searches backwards from that many places before the end.
func (k *KeySpec) afterKeyword(args [][]byte) int {
	if k.From >= 0 {
		for i := max(k.From, 1); i < len(args)-1; i++ {
			if equalFold(args[i], k.Keyword) {
				return i + 1
			}
		}
		return 0
	}
	for i := len(args) + k.From; i > 1; i-- {
		if equalFold(args[i], k.Keyword) && i+1 < len(args) {
			return i + 1
		}
	}
	return 0
}

// setKeys finds the key of SET, which is read only where the option GET is given.
func setKeys(args [][]byte, dst []KeyAt) []KeyAt {
	flags := KeyOW | KeyUpdate
	for _, arg := range args[min(3, len(args)):] {
		if Is(arg, "get") {
			flags = KeyRW | KeyAccess | KeyUpdate
		}
	}
	return append(dst, KeyAt{Pos: 1, Flags: flags})
}

// bitfieldKeys finds the key of BITFIELD, which is written unless every operation is a GET.
func bitfieldKeys(args [][]byte, dst []KeyAt) []KeyAt {
	flags := KeyRO | KeyAccess
	for i := 2; i < len(args); i++ {
		switch left := len(args) - i - 1; {
		case Is(args[i], "get") && left >= 2:
			i += 2
		case Is(args[i], "overflow") && left >= 1:
			i++
		default:
			// A write, or no operation at all: then the larger right is asked for.
			return append(dst, KeyAt{Pos: 1, Flags: KeyRW | KeyAccess | KeyUpdate})
		}
	}
	return append(dst, KeyAt{Pos: 1, Flags: flags})
}
