package rdb

import (
	"fmt"
	"strconv"
)

// decoder turns the bytes of an input into values. Its slices are scratch that
// is used again for the next value.
type decoder struct {
	input
	version int

	items  [][]byte
	fields []Field
	scored []Scored
	dup    dupTable
	keep   bool // values stay valid when others are decoded
}

// kept is the most elements of scratch that outlive one value.
const kept = 1 << 16

// next makes the decoder ready for the next value, which takes the memory of those before unless they are kept.
func (d *decoder) next() {
	if !d.keep {
		d.reset()
		return
	}
	d.items, d.fields, d.scored = d.items[len(d.items):], d.fields[len(d.fields):], d.scored[len(d.scored):]
	d.dup.reset()
}

// forget makes the memory of what was read between two values available again.
func (d *decoder) forget() {
	if !d.keep {
		d.arena.reset()
	}
}

// reset makes the memory of the values decoded so far available again.
func (d *decoder) reset() {
	d.arena.reset()
	if cap(d.items) > kept {
		d.items = nil
	}
	if cap(d.fields) > kept {
		d.fields = nil
	}
	if cap(d.scored) > kept {
		d.scored = nil
	}
	d.dup.reset()
}

// value decodes the value of a type byte into v. Errors are in d.err.
func (d *decoder) value(typ byte, v *Value) {
	*v = Value{}
	switch typ {
	case typeString:
		v.Kind, v.Str = KindString, d.str()
	case typeList, typeListZiplist, typeListQuicklist, typeListQuicklist2:
		v.Kind = KindList
		d.list(typ)
		v.Items = d.items
	case typeSet, typeSetIntset, typeSetListpack:
		v.Kind = KindSet
		d.set(typ)
		v.Items = d.items
	case typeZSet, typeZSet2, typeZSetZiplist, typeZSetListpack:
		v.Kind = KindZSet
		d.zset(typ)
		v.Scored = d.scored
	case typeStream1, typeStream2, typeStream3:
		v.Kind = KindStream
		v.Stream = d.stream(typ)
	case typeModule2:
		d.failAs(ErrModule, fmt.Sprintf("value of module type %q cannot be read", moduleName(d.count())))
	case typeModulePreGA:
		d.failAs(ErrModule, "value of a module, in a form that was never released")
	default:
		if !d.hash(typ) {
			d.fail(fmt.Sprintf("unknown value type %d", typ))
		}
		v.Kind, v.Fields = KindHash, d.fields
	}
}

// moduleName spells the type name that the upper 54 bits of a module id hold,
// six bits a letter.
func moduleName(id uint64) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	var name [9]byte
	for i := range name {
		name[i] = letters[id>>(58-6*i)&63]
	}
	return string(name[:])
}

// length reads a length, or the kind of a specially encoded string.
func (d *decoder) length() (n uint64, special bool) {
	b := d.byte()
	switch b >> 6 {
	case 0:
		return uint64(b), false
	case 1:
		return uint64(b&0x3f)<<8 | uint64(d.byte()), false
	case 3:
		return uint64(b & 0x3f), true
	}
	switch b {
	case len32:
		p := d.view(4)
		for _, c := range p {
			n = n<<8 | uint64(c)
		}
	case len64:
		p := d.view(8)
		for _, c := range p {
			n = n<<8 | uint64(c)
		}
	default:
		d.fail("unknown form of a length")
	}
	return n, false
}

// count reads a length that must be a number.
func (d *decoder) count() uint64 {
	n, special := d.length()
	if special {
		d.fail("encoded string in place of a length")
		return 0
	}
	return n
}

// elements reads how many elements of at least size bytes each follow, and
// gives how many to allocate for.
func (d *decoder) elements(size int) (n uint64, room int) {
	n = d.count()
	left := d.left(size)
	if d.r == nil && n > left {
		d.fail("more elements announced than bytes are there")
		return 0, 0
	}
	return n, int(min(n, left))
}

// str reads a string.
func (d *decoder) str() []byte {
	if i := d.pos; d.r != nil && d.err == nil && i < len(d.buf) {
		if n := int(d.buf[i]); n < 1<<6 && n < len(d.buf)-i { // most are short, and in the window
			d.pos += 1 + n
			return d.arena.copy(d.buf[i+1 : d.pos])
		}
	}
	n, special := d.length()
	if !special {
		return d.take(n)
	}
	switch n {
	case encInt8:
		return d.decimal(int64(int8(d.byte())))
	case encInt16:
		return d.decimal(int64(int16(d.uint16())))
	case encInt32:
		return d.decimal(int64(int32(d.uint32())))
	case encLZF:
		return d.compressed()
	}
	d.fail("unknown form of a string")
	return nil
}

func (d *decoder) compressed() []byte {
	packed, n := d.count(), d.count()
	p := d.view(packed)
	if d.err != nil {
		return nil
	}
	if n > lzfMaxOutput(uint64(len(p))) {
		d.fail("compressed string announces more than it can hold")
		return nil
	}
	out := d.arena.alloc(int(n))
	if err := lzfDecompress(out, p); err != nil {
		d.fail("broken compressed string")
		return nil
	}
	return out
}

// decimal gives the text of n.
func (d *decoder) decimal(n int64) []byte {
	var buf [20]byte
	return d.arena.copy(strconv.AppendInt(buf[:0], n, 10))
}

// nonEmpty fails a collection that has ended without elements.
func (d *decoder) nonEmpty(n int) {
	if n == 0 {
		d.failAs(ErrEmpty, "collection without elements")
	}
}
