package rdb

import "encoding/binary"

// footerSize is the version and checksum behind the value of a payload.
const footerSize = 2 + 8

// Restore decodes a DUMP payload into v. The bytes of v alias payload where
// they can, so payload must stay as it is while v is used; nothing else of v
// is shared.
//
// Errors are [ErrBadPayload] for a footer that does not fit, and otherwise a
// [FormatError], which matches [ErrBadData]. A checksum of zero is no
// exception here: it must fit as any other. Bytes between the value and the
// footer are ignored, as servers ignore them.
func Restore(payload []byte, v *Value) error {
	if len(payload) < footerSize+1 {
		return ErrBadPayload
	}
	body := len(payload) - footerSize
	version := int(binary.LittleEndian.Uint16(payload[body:]))
	sum := binary.LittleEndian.Uint64(payload[body+2:])
	if !readable(version) || sum != CRC64(0, payload[:body+2]) {
		return ErrBadPayload
	}
	d := decoder{version: version}
	d.buf = payload[:body:body]
	d.value(d.byte(), v)
	if d.err != nil {
		*v = Value{}
	}
	return d.err
}

// Dump appends the DUMP payload of v to dst. Its version is the oldest that
// has a form for v: 10, or 80 for a hash with field deadlines. Errors are
// [ErrEmpty] and [ErrNaN], with dst as it was.
func (e *Encoder) Dump(dst []byte, v *Value) ([]byte, error) {
	version := Version10
	if v.Kind == KindHash && hasDeadline(v.Fields) {
		version = Version80
	}
	start := len(dst)
	typ, err := encodedType(v, version)
	if err != nil {
		return dst, err
	}
	dst = e.body(append(dst, typ), typ, v)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(version))
	return binary.LittleEndian.AppendUint64(dst, CRC64(0, dst[start:])), nil
}

// Dump gives the DUMP payload of v; see [Encoder.Dump].
func Dump(v *Value) ([]byte, error) { return new(Encoder).Dump(nil, v) }
