package rdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strconv"
)

// maxFieldDeadline is the latest field deadline that Redis keeps. Valkey has no
// such limit.
const maxFieldDeadline = 1<<48 - 1

func (d *decoder) list(typ byte) {
	d.items = d.items[:0]
	switch typ {
	case typeList:
		d.plainItems()
	case typeListZiplist:
		d.ziplistItems(d.str())
	default:
		for n, _ := d.elements(1); n > 0 && d.err == nil; n-- {
			d.quicklistNode(typ)
		}
	}
	d.nonEmpty(len(d.items))
}

func (d *decoder) quicklistNode(typ byte) {
	container := uint64(nodePacked)
	if typ == typeListQuicklist2 {
		container = d.count()
	}
	blob := d.str()
	if d.err == nil && len(blob) == 0 {
		d.fail("list node without bytes")
	}
	switch {
	case typ == typeListQuicklist:
		d.ziplistItems(blob)
	case container == nodePlain:
		d.items = append(d.items, blob)
	case container == nodePacked:
		d.listpackItems(blob)
	default:
		d.fail("unknown container of a list node")
	}
}

func (d *decoder) plainItems() {
	n, room := d.elements(1)
	if cap(d.items) < room {
		d.items = make([][]byte, 0, room)
	}
	for ; n > 0 && d.err == nil; n-- {
		d.items = append(d.items, d.str())
	}
}

func (d *decoder) set(typ byte) {
	d.items = d.items[:0]
	switch typ {
	case typeSet:
		d.plainItems()
	case typeSetIntset:
		d.intset(d.str())
		d.nonEmpty(len(d.items))
		return // ascending, hence without duplicates
	default:
		d.listpackItems(d.str())
	}
	d.nonEmpty(len(d.items))
	d.dup.begin(len(d.items))
	for _, m := range d.items {
		d.unique(m)
	}
}

// unique fails when the collection has named key already.
func (d *decoder) unique(key []byte) {
	if d.err == nil && !d.dup.add(key) {
		d.fail("element named twice")
	}
}

func (d *decoder) intset(p []byte) {
	if d.err != nil {
		return
	}
	if len(p) < 8 {
		d.fail("broken intset")
		return
	}
	size, n := binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:])
	p = p[8:]
	if size != 2 && size != 4 && size != 8 || uint64(size)*uint64(n) != uint64(len(p)) {
		d.fail("broken intset")
		return
	}
	for last := int64(0); len(p) > 0; p = p[size:] {
		var v int64
		switch size {
		case 2:
			v = int64(int16(binary.LittleEndian.Uint16(p)))
		case 4:
			v = int64(int32(binary.LittleEndian.Uint32(p)))
		default:
			v = int64(binary.LittleEndian.Uint64(p))
		}
		if len(d.items) > 0 && v <= last {
			d.fail("intset out of order")
			return
		}
		last = v
		d.items = append(d.items, d.decimal(v))
	}
}

func (d *decoder) zset(typ byte) {
	d.scored = d.scored[:0]
	switch typ {
	case typeZSet, typeZSet2:
		d.plainScored(typ)
	default:
		d.items = d.items[:0]
		if typ == typeZSetZiplist {
			d.ziplistItems(d.str())
		} else {
			d.listpackItems(d.str())
		}
		d.scoredPairs()
	}
	d.nonEmpty(len(d.scored))
	if inOrder(d.scored) {
		return
	}
	d.dup.begin(len(d.scored))
	for i := range d.scored {
		d.unique(d.scored[i].Member)
	}
}

// inOrder reports whether the members all ascend or all descend, as those of one score do in what servers write, and
// hence are different.
func inOrder(scored []Scored) bool {
	if len(scored) < 2 {
		return true
	}
	way := bytes.Compare(scored[0].Member, scored[1].Member)
	for i := 1; i < len(scored); i++ {
		if way == 0 || bytes.Compare(scored[i-1].Member, scored[i].Member) != way {
			return false
		}
	}
	return true
}

func (d *decoder) plainScored(typ byte) {
	n, room := d.elements(2)
	if cap(d.scored) < room {
		d.scored = make([]Scored, 0, room)
	}
	for ; n > 0 && d.err == nil; n-- {
		s := Scored{Member: d.str()}
		if typ == typeZSet2 {
			s.Score = math.Float64frombits(d.uint64())
		} else {
			s.Score = d.asciiDouble()
		}
		if math.IsNaN(s.Score) {
			d.fail("score is not a number")
		}
		if have := len(d.scored); have == cap(d.scored) { // append grows what is large by a fourth
			d.scored = append(make([]Scored, 0, have+int(min(n, uint64(have)+1))), d.scored...)
		}
		d.scored = append(d.scored, s)
	}
}

func (d *decoder) asciiDouble() float64 {
	switch n := d.byte(); n {
	case 255:
		return math.Inf(-1)
	case 254:
		return math.Inf(1)
	case 253:
		return math.NaN()
	default:
		return d.score(d.view(uint64(n)))
	}
}

// score parses the text of a score. What overflows is infinite.
func (d *decoder) score(p []byte) float64 {
	f, err := strconv.ParseFloat(string(p), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(f) {
		d.fail("score is not a number")
		return 0
	}
	return f
}

func (d *decoder) scoredPairs() {
	if len(d.items)%2 != 0 {
		d.fail("member without a score")
	}
	for i := 0; i+1 < len(d.items) && d.err == nil; i += 2 {
		d.scored = append(d.scored, Scored{d.items[i], d.score(d.items[i+1])})
	}
}

// hash decodes a hash, and reports false when typ is not a hash of this
// version's family.
func (d *decoder) hash(typ byte) bool {
	d.fields = d.fields[:0]
	valkey := d.version >= minValkeyVersion
	switch {
	case typ == typeHash || typ == typeHash2 && valkey:
		d.plainFields(typ == typeHash2)
	case (typ == typeHashMeta || typ == typeHashMetaPreGA) && !valkey:
		d.metaFields(typ == typeHashMeta)
	case typ == typeHashZipmap:
		d.fieldTuples(d.zipmapItems, 2)
	case typ == typeHashZiplist:
		d.fieldTuples(d.ziplistItems, 2)
	case typ == typeHashListpack:
		d.fieldTuples(d.listpackItems, 2)
	case (typ == typeHashListpackEx || typ == typeHashListpackExRC) && !valkey:
		if typ == typeHashListpackEx {
			d.uint64() // the least deadline, a hint for that server
		}
		d.fieldTuples(d.listpackItems, 3)
	default:
		return false
	}
	d.nonEmpty(len(d.fields))
	d.dup.begin(len(d.fields))
	for i := range d.fields {
		d.unique(d.fields[i].Name)
	}
	return true
}

func (d *decoder) fieldRoom(room int) {
	if cap(d.fields) < room {
		d.fields = make([]Field, 0, room)
	}
}

func (d *decoder) plainFields(deadlines bool) {
	n, room := d.elements(2)
	d.fieldRoom(room)
	for ; n > 0 && d.err == nil; n-- {
		f := Field{Name: d.str(), Value: d.str()}
		if deadlines {
			f.ExpireAt = d.deadline(int64(d.uint64()))
		}
		d.fields = append(d.fields, f)
	}
}

// deadline checks a field's deadline as Valkey writes it: -1 is none. The
// first millisecond of 1970 is as long past as the second.
func (d *decoder) deadline(at int64) int64 {
	switch {
	case at == -1:
		return 0
	case at < 0:
		d.fail("negative field deadline")
		return 0
	}
	return max(at, 1)
}

// metaFields reads fields as Redis 7.4 writes them, each after its deadline: 0
// is none, and others count from the hash's least deadline when that is given.
func (d *decoder) metaFields(relative bool) {
	var least uint64
	if relative {
		if least = d.uint64(); least > maxFieldDeadline {
			d.fail("field deadline out of range")
		}
	}
	n, room := d.elements(3)
	d.fieldRoom(room)
	for ; n > 0 && d.err == nil; n-- {
		at := d.count()
		if at > maxFieldDeadline {
			d.fail("field deadline out of range")
		} else if relative && at != 0 {
			at += least - 1
		}
		if at > maxFieldDeadline {
			d.fail("field deadline out of range")
		}
		d.fields = append(d.fields, Field{Name: d.str(), Value: d.str(), ExpireAt: int64(at)})
	}
}

// fieldTuples reads fields from a blob of pairs, or of triples that end in a
// deadline. Triples are in order of their deadlines, and 0, which is none,
// comes last.
func (d *decoder) fieldTuples(blob func([]byte), size int) {
	d.items = d.items[:0]
	blob(d.str())
	if len(d.items)%size != 0 {
		d.fail("field without a value")
	}
	if d.err != nil {
		return
	}
	d.fieldRoom(len(d.items) / size)
	last := int64(-1)
	for t := d.items; len(t) > 0; t = t[size:] {
		f := Field{Name: t[0], Value: t[1]}
		if size == 3 {
			at, ok := parseInt(t[2])
			if !ok || at < 0 || at > maxFieldDeadline || at != 0 && (last == 0 || at < last) {
				d.fail("field deadline out of range or order")
				return
			}
			f.ExpireAt, last = at, at
		}
		d.fields = append(d.fields, f)
	}
}
