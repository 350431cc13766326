package rdb

import "encoding/binary"

// crcPoly is the Jones polynomial, bits reflected.
const crcPoly = 0x95ac9329ac4bc9b5

// crcTables holds the tables of slicing-by-8: crcTables[k][b] is the checksum
// of byte b followed by k zero bytes.
var crcTables = buildCRCTables()

func buildCRCTables() *[8][256]uint64 {
	t := new([8][256]uint64)
	for i := range t[0] {
		c := uint64(i)
		for range 8 {
			if c&1 != 0 {
				c = c>>1 ^ crcPoly
			} else {
				c >>= 1
			}
		}
		t[0][i] = c
	}
	for i := range t[0] {
		c := t[0][i]
		for k := 1; k < 8; k++ {
			c = t[0][byte(c)] ^ c>>8
			t[k][i] = c
		}
	}
	return t
}

// CRC64 continues the checksum crc over p. Start with 0.
func CRC64(crc uint64, p []byte) uint64 {
	t := crcTables
	for len(p) >= 8 {
		crc ^= binary.LittleEndian.Uint64(p)
		crc = t[7][byte(crc)] ^ t[6][byte(crc>>8)] ^
			t[5][byte(crc>>16)] ^ t[4][byte(crc>>24)] ^
			t[3][byte(crc>>32)] ^ t[2][byte(crc>>40)] ^
			t[1][byte(crc>>48)] ^ t[0][byte(crc>>56)]
		p = p[8:]
	}
	for _, b := range p {
		crc = t[0][byte(crc)^b] ^ crc>>8
	}
	return crc
}
