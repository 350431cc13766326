package rdb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
)

// Up to these sizes a collection is written as one blob, which servers keep as
// it is under their default configuration.
const (
	maxIntsetMembers  = 512
	maxHashFields     = 512
	maxZSetMembers    = 128
	maxElementBytes   = 64
	listNodeBytes     = 8 << 10
	maxListpackString = 1 << 30 // longer list elements get a plain node
)

// minCompress is the length up to which strings are never compressed.
const minCompress = 20

// Encoder encodes values. Its zero value is ready. It keeps scratch memory
// between values and must not be shared between goroutines.
type Encoder struct {
	// Plain leaves strings uncompressed, for speed.
	Plain bool

	lzf    lzfCompressor
	packed []byte
	lp     listpack
}

// hasDeadline reports whether a field has a deadline.
func hasDeadline(fields []Field) bool {
	return slices.ContainsFunc(fields, func(f Field) bool { return f.ExpireAt != 0 })
}

// encodedType chooses the type byte for v.
func encodedType(v *Value, version int) (byte, error) {
	switch v.Kind {
	case KindString:
		return typeString, nil
	case KindList:
		return typeListQuicklist2, nonEmpty(len(v.Items))
	case KindSet:
		if len(v.Items) <= maxIntsetMembers && allInts(v.Items) {
			return typeSetIntset, nonEmpty(len(v.Items))
		}
		return typeSet, nil
	case KindHash:
		return hashType(v.Fields, version)
	case KindZSet:
		return zsetType(v.Scored)
	}
	if version >= Version11 {
		return typeStream3, nil
	}
	return typeStream2, nil
}

func nonEmpty(n int) error {
	if n == 0 {
		return ErrEmpty
	}
	return nil
}

func allInts(items [][]byte) bool {
	return !slices.ContainsFunc(items, func(s []byte) bool {
		_, ok := parseInt(s)
		return !ok
	})
}

func hashType(fields []Field, version int) (byte, error) {
	if hasDeadline(fields) {
		if version < Version80 {
			return 0, ErrNeedsVersion80
		}
		return typeHash2, nil
	}
	if len(fields) > maxHashFields || slices.ContainsFunc(fields, func(f Field) bool {
		return len(f.Name) > maxElementBytes || len(f.Value) > maxElementBytes
	}) {
		return typeHash, nil
	}
	return typeHashListpack, nonEmpty(len(fields))
}

func zsetType(scored []Scored) (byte, error) {
	typ := byte(typeZSetListpack)
	if len(scored) > maxZSetMembers {
		typ = typeZSet2
	}
	for i := range scored {
		if math.IsNaN(scored[i].Score) {
			return 0, ErrNaN
		}
		if len(scored[i].Member) > maxElementBytes {
			typ = typeZSet2
		}
	}
	return typ, nonEmpty(len(scored))
}

// body appends v in the form of typ.
func (e *Encoder) body(dst []byte, typ byte, v *Value) []byte {
	switch typ {
	case typeString:
		return e.str(dst, v.Str)
	case typeListQuicklist2:
		return e.list(dst, v.Items)
	case typeSetIntset:
		return e.intset(dst, v.Items)
	case typeSet:
		dst = appendLength(dst, uint64(len(v.Items)))
		for _, m := range v.Items {
			dst = e.str(dst, m)
		}
		return dst
	case typeHash, typeHash2:
		return e.fields(dst, typ, v.Fields)
	case typeHashListpack:
		e.lp.begin()
		for i := range v.Fields {
			e.lp.str(v.Fields[i].Name)
			e.lp.str(v.Fields[i].Value)
		}
		return e.blob(dst, e.lp.finish())
	case typeZSetListpack:
		return e.zsetListpack(dst, v.Scored)
	case typeZSet2:
		dst = appendLength(dst, uint64(len(v.Scored)))
		// Servers insert fastest at the low end.
		for i := len(v.Scored) - 1; i >= 0; i-- {
			dst = e.str(dst, v.Scored[i].Member)
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Scored[i].Score))
		}
		return dst
	}
	return e.stream(dst, typ, v.Stream)
}

func appendLength(dst []byte, n uint64) []byte {
	switch {
	case n < 1<<6:
		return append(dst, byte(n))
	case n < 1<<14:
		return append(dst, 1<<6|byte(n>>8), byte(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(dst, len32), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, len64), n)
}

// str appends a string, as a number when it is the text of a small one.
func (e *Encoder) str(dst, s []byte) []byte {
	if len(s) <= len("-2147483648") {
		if v, ok := parseInt(s); ok {
			switch {
			case v == int64(int8(v)):
				return append(dst, 3<<6|encInt8, byte(v))
			case v == int64(int16(v)):
				return append(dst, 3<<6|encInt16, byte(v), byte(v>>8))
			case v == int64(int32(v)):
				return binary.LittleEndian.AppendUint32(append(dst, 3<<6|encInt32), uint32(v))
			}
		}
	}
	return e.blob(dst, s)
}

// blob appends a string that is not the text of a small number, compressed
// when that saves at least four bytes.
func (e *Encoder) blob(dst, s []byte) []byte {
	if len(s) > minCompress && !e.Plain {
		packed, ok := e.lzf.appendTo(e.packed[:0], s, len(s)-4)
		e.packed = packed[:0]
		if ok {
			dst = appendLength(append(dst, 3<<6|encLZF), uint64(len(packed)))
			dst = appendLength(dst, uint64(len(s)))
			return append(dst, packed...)
		}
	}
	dst = appendLength(dst, uint64(len(s)))
	return append(dst, s...)
}

func (e *Encoder) intset(dst []byte, items [][]byte) []byte {
	nums := make([]int64, len(items))
	for i, s := range items {
		nums[i], _ = parseInt(s)
	}
	slices.Sort(nums)
	size := 2
	for _, v := range []int64{nums[0], nums[len(nums)-1]} {
		if v != int64(int32(v)) {
			size = 8
		} else if v != int64(int16(v)) {
			size = max(size, 4)
		}
	}
	p := make([]byte, 0, 8+size*len(nums))
	p = binary.LittleEndian.AppendUint32(p, uint32(size))
	p = binary.LittleEndian.AppendUint32(p, uint32(len(nums)))
	for _, v := range nums {
		for i := range size {
			p = append(p, byte(v>>(8*i)))
		}
	}
	return e.blob(dst, p)
}

// listRun gives how many elements make the next list node: as many as fit into
// its size, and each larger element alone.
func listRun(items [][]byte) int {
	const overhead = 10 // most that a listpack adds to an element
	n, size := 0, 0
	for ; n < len(items); n++ {
		if size += len(items[n]) + overhead; size > listNodeBytes && n > 0 {
			break
		}
	}
	return n
}

func (e *Encoder) list(dst []byte, items [][]byte) []byte {
	nodes := uint64(0)
	for rest := items; len(rest) > 0; nodes++ {
		rest = rest[listRun(rest):]
	}
	dst = appendLength(dst, nodes)
	for len(items) > 0 {
		n := listRun(items)
		if len(items[0]) >= maxListpackString {
			dst = e.blob(append(dst, nodePlain), items[0])
		} else {
			e.lp.begin()
			for _, s := range items[:n] {
				e.lp.str(s)
			}
			dst = e.blob(append(dst, nodePacked), e.lp.finish())
		}
		items = items[n:]
	}
	return dst
}

func (e *Encoder) fields(dst []byte, typ byte, fields []Field) []byte {
	dst = appendLength(dst, uint64(len(fields)))
	for i := range fields {
		f := &fields[i]
		dst = e.str(e.str(dst, f.Name), f.Value)
		if typ == typeHash2 {
			at := f.ExpireAt
			if at == 0 {
				at = -1
			}
			dst = binary.LittleEndian.AppendUint64(dst, uint64(at))
		}
	}
	return dst
}

func compareScored(a, b Scored) int {
	if c := cmp.Compare(a.Score, b.Score); c != 0 {
		return c
	}
	return bytes.Compare(a.Member, b.Member)
}

// zsetListpack appends members in their order, on which servers rely.
func (e *Encoder) zsetListpack(dst []byte, scored []Scored) []byte {
	if !slices.IsSortedFunc(scored, compareScored) {
		scored = slices.SortedFunc(slices.Values(scored), compareScored)
	}
	e.lp.begin()
	for i := range scored {
		e.lp.str(scored[i].Member)
		var buf [32]byte
		e.lp.str(appendScore(buf[:0], scored[i].Score))
	}
	return e.blob(dst, e.lp.finish())
}

// appendScore appends the shortest text that reads back as f.
func appendScore(dst []byte, f float64) []byte {
	switch {
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	case f == math.Trunc(f) && math.Abs(f) < 1<<53 && !(f == 0 && math.Signbit(f)):
		return strconv.AppendInt(dst, int64(f), 10)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}
