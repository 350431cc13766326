package store

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// hashSecret makes the hashes of each process its own, so that no client can choose keys that meet in one bucket.
var hashSecret = func() (secret [4]uint64) {
	seed := maphash.MakeSeed()
	for i := range secret {
		secret[i] = maphash.Bytes(seed, []byte{byte(i)}) | 1
	}
	return secret
}()

// hashOf hashes a key for the tables: sixteen bytes a step are multiplied to 128 bits and folded. For keys of the usual
// lengths it takes half of the instructions of hash/maphash, which is called two or three times in each step of a job.
func hashOf(key []byte) uint64 {
	n := len(key)
	h := hashSecret[0] ^ uint64(n)
	for len(key) > 16 {
		h = fold(binary.LittleEndian.Uint64(key)^hashSecret[1], binary.LittleEndian.Uint64(key[8:])^h)
		key = key[16:]
	}
	var a, b uint64
	switch n := len(key); {
	case n >= 8:
		a, b = binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[n-8:])
	case n >= 4:
		a, b = uint64(binary.LittleEndian.Uint32(key)), uint64(binary.LittleEndian.Uint32(key[n-4:]))
	case n > 0:
		a = uint64(key[0])<<16 | uint64(key[n/2])<<8 | uint64(key[n-1])
	}
	return fold(fold(a^hashSecret[2], b^h), hashSecret[3])
}

// fold multiplies to 128 bits and joins the halves.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
