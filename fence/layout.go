package fence

import (
	"bytes"
	"slices"
	"strconv"
)

// Layout is what the keys of a verb must spell, in order: Layout{Active, Row, Base}.
type Layout []Kind

// Check holds keys against the layout: as many as it has, each of its kind, all of
// one base, and all rows and sub-keys of rows of one id. It returns that base,
// which aliases the first key, or the EMQLAYOUT refusal that names the first key
// found wrong. An empty layout has no base.
//
// The keys of a verb that lie in other queues (parents, the rows of a tree) stand
// behind the layout: pass Check the keys before them, and CheckKey each of them.
func (l Layout) Check(keys [][]byte) (base []byte, err error) {
	if base, ok := l.plain(keys, nil); ok {
		return base, nil
	}
	if len(keys) != len(l) {
		return nil, LayoutCount(len(l))
	}
	var id []byte
	seen := false
	for i, kind := range l {
		key, ok := parseNear(base, keys[i])
		switch {
		case !ok || key.Kind != kind:
			return nil, LayoutKey(i+1, kind)
		case i == 0:
			base = key.Base
		case !bytes.Equal(base, key.Base):
			return nil, LayoutBase(i + 1)
		}
		if !kind.OfRow() {
			continue
		}
		if seen && !bytes.Equal(id, key.Name) {
			return nil, LayoutName(i+1, kind)
		}
		id, seen = key.Name, true
	}
	return base, nil
}

// CheckRow is Check, and the row (with its sub-keys) must be that of id. The layout
// must have a Row.
func (l Layout) CheckRow(keys [][]byte, id []byte) (base []byte, err error) {
	if base, ok := l.plain(keys, id); ok {
		return base, nil
	}
	base, err = l.Check(keys)
	if err != nil {
		return nil, err
	}
	if err := l.CheckName(keys, base, Row, id); err != nil {
		return nil, err
	}
	return base, nil
}

// plain reports whether the keys are beyond doubt what Check, or with an id CheckRow, wants: keys without a name, and rows
// of an id without a colon. Nearly all calls are of this kind, and comparing is cheaper than parsing.
func (l Layout) plain(keys [][]byte, id []byte) (base []byte, ok bool) {
	if len(keys) != len(l) || len(l) == 0 {
		return nil, false
	}
	base, _, ok = SplitBase(keys[0])
	if !ok || id != nil && (len(id) == 0 || bytes.IndexByte(id, ':') >= 0) {
		return nil, false
	}
	named := id == nil
	for i, kind := range l {
		key := keys[i]
		if len(key) < len(base) || string(key[:len(base)]) != string(base) {
			return nil, false
		}
		rest, s := key[len(base):], &spellings[kind]
		switch {
		case s.slot == "":
			if string(rest) != s.prefix {
				return nil, false
			}
		case kind != Row || id == nil:
			return nil, false
		case len(rest) != len(s.prefix)+len(id) || string(rest[:len(s.prefix)]) != s.prefix || string(rest[len(s.prefix):]) != string(id):
			return nil, false
		default:
			named = true
		}
	}
	return base, named
}

// CheckName holds keys that passed Check, with the base it returned, against a name
// that the verb's arguments give: the first key of this kind must carry it. It is
// the group of a Lane, the dedup id of a Dedup, the name of a RepeatRecord, the id
// of a Row. It panics when the layout has no such key, so that a verb whose layout
// and check differ never passes.
func (l Layout) CheckName(keys [][]byte, base []byte, kind Kind, name []byte) error {
	i := slices.Index(l, kind)
	if i < 0 {
		panic("fence: the layout has no key that is " + kind.String())
	}
	if !isNamed(keys[i], base, kind, name) {
		return LayoutName(i+1, kind)
	}
	return nil
}

// CheckKey parses one key that may be of any queue and must be of this kind.
// Position counts the verb's keys from 1 and is what the refusal names.
func CheckKey(position int, key []byte, kind Kind) (Key, error) {
	k, ok := Parse(key)
	if !ok || k.Kind != kind {
		return Key{}, LayoutKey(position, kind)
	}
	return k, nil
}

// parseNear is Parse for a key that most likely has this base, which may be nil.
// No base is the beginning of another, so a key that begins with it has it.
func parseNear(base, key []byte) (Key, bool) {
	if len(base) > 0 && bytes.HasPrefix(key, base) {
		return parseRest(base, key[len(base):])
	}
	return Parse(key)
}

// layoutPositions is how many key positions have their texts made once, at start,
// so that refusing allocates nothing. Only a tree of rows has more.
const layoutPositions = 8

// layoutTexts holds the refusals of one position, indexed by Kind. Never changed.
type layoutTexts struct {
	key, name [kindCount]error
	base      error
	count     error
}

var layoutTable = func() (t [layoutPositions + 1]layoutTexts) {
	for p := range t {
		t[p].base, t[p].count = layoutBase(p), layoutCount(p)
		for k := range kindCount {
			t[p].key[k], t[p].name[k] = layoutKey(p, k), layoutName(p, k)
		}
	}
	return t
}()

// LayoutKey refuses the key at position (counted from 1) because it does not spell kind.
func LayoutKey(position int, kind Kind) error {
	if position < 0 || position > layoutPositions || kind >= kindCount {
		return layoutKey(position, kind)
	}
	return layoutTable[position].key[kind]
}

// LayoutName refuses the key at position because it is of this kind but carries
// another name than the one the call gives.
func LayoutName(position int, kind Kind) error {
	if position < 0 || position > layoutPositions || kind >= kindCount {
		return layoutName(position, kind)
	}
	return layoutTable[position].name[kind]
}

// LayoutBase refuses the key at position because its queue is not the first key's.
func LayoutBase(position int) error {
	if position < 0 || position > layoutPositions {
		return layoutBase(position)
	}
	return layoutTable[position].base
}

// LayoutCount refuses a numkeys that is not what the verb takes.
func LayoutCount(takes int) error {
	if takes < 0 || takes > layoutPositions {
		return layoutCount(takes)
	}
	return layoutTable[takes].count
}

// LayoutCountMin refuses a numkeys below what a verb with an open list of keys takes.
func LayoutCountMin(takes int) error {
	return Refusal("EMQLAYOUT this verb takes at least " + countKeys(takes))
}

func layoutKey(position int, kind Kind) Refusal {
	return Refusal("EMQLAYOUT key " + strconv.Itoa(position) + " must be " + kind.String())
}

func layoutName(position int, kind Kind) Refusal {
	return Refusal("EMQLAYOUT key " + strconv.Itoa(position) + " must be " + kind.String() +
		" of the " + kind.spelling().given + " in this call")
}

func layoutBase(position int) Refusal {
	return Refusal("EMQLAYOUT key " + strconv.Itoa(position) +
		" is of another queue than key 1: all keys must share one base emq:{q}:")
}

func layoutCount(takes int) Refusal {
	return Refusal("EMQLAYOUT this verb takes " + countKeys(takes))
}

func countKeys(n int) string {
	if n == 1 {
		return "1 key"
	}
	return strconv.Itoa(n) + " keys"
}
