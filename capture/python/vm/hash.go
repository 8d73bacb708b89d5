package vm

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"os"
	"strconv"
	"unicode/utf8"

	"whittle/capture/python/wtf8"
)

// hashKey is the key of the hashes of str and bytes. It stands before the first of them is computed.
var hashKey, errHashSeed = keyOfHashes(os.Getenv("PYTHONHASHSEED"))

// keyOfHashes is the key that a value of PYTHONHASHSEED stands for, as CPython derives it: zeros for 0, a linear congruential generator's
// bytes for another number, and bytes of the system for "random". Without a value the key is zeros too: unlike CPython, a program walks its
// sets of strings in the same order each time.
func keyOfHashes(seed string) (key [2]uint64, err error) {
	var b [16]byte
	switch seed {
	case "":
	case "random":
		rand.Read(b[:])
	default:
		x, err := strconv.ParseUint(seed, 10, 32)
		if err != nil {
			return key, errors.New(`PYTHONHASHSEED must be "random" or an integer in range [0; 4294967295]`)
		}
		for i := range b {
			if x != 0 {
				x = (214013*x + 2531011) & math.MaxUint32
				b[i] = byte(x >> 16)
			}
		}
	}
	return [2]uint64{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])}, nil
}

// HashesRandomized says whether the hashes of str and bytes have a key that is not zeros, and what is wrong with PYTHONHASHSEED.
func HashesRandomized() (bool, error) { return hashKey != [2]uint64{}, errHashSeed }

// hashString is the hash of a str as CPython computes it: SipHash-1-3 over the characters in the narrowest of one, two and four bytes. The
// order of sets of strings follows from it.
func hashString(s string) uint64 {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return hashWide(s)
		}
	}
	return siphash(s)
}

// hashWide is hashString for a string with characters beyond ASCII.
func hashWide(s string) uint64 {
	var top rune
	for _, r := range wtf8.All(s) {
		top = max(top, r)
	}
	var b []byte
	for _, r := range wtf8.All(s) {
		switch {
		case top < 1<<8:
			b = append(b, byte(r))
		case top < 1<<16:
			b = binary.LittleEndian.AppendUint16(b, uint16(r))
		default:
			b = binary.LittleEndian.AppendUint32(b, uint32(r))
		}
	}
	return siphash(string(b))
}

// siphash is SipHash-1-3 with the key of the process; the empty string hashes to 0, and no string to -1.
func siphash(s string) uint64 {
	if s == "" {
		return 0
	}
	if h := sipKeyed(hashKey, s); h != ^uint64(0) {
		return h
	}
	return ^uint64(1)
}

// SourceHash is the hash that importlib puts into a .pyc file for the text it was made of.
func SourceHash(key uint64, source string) []byte {
	return binary.LittleEndian.AppendUint64(nil, sipKeyed([2]uint64{key}, source))
}

// sipKeyed is SipHash-1-3.
func sipKeyed(key [2]uint64, s string) uint64 {
	v0, v1, v2, v3 := 0x736f6d6570736575^key[0], 0x646f72616e646f6d^key[1], 0x6c7967656e657261^key[0], 0x7465646279746573^key[1]
	tail := uint64(len(s)) << 56
	for ; len(s) >= 8; s = s[8:] {
		m := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		v3 ^= m
		v0, v1, v2, v3 = sipround(v0, v1, v2, v3)
		v0 ^= m
	}
	for i := range len(s) {
		tail |= uint64(s[i]) << (8 * uint(i))
	}
	v3 ^= tail
	v0, v1, v2, v3 = sipround(v0, v1, v2, v3)
	v0 ^= tail
	v2 ^= 0xff
	v0, v1, v2, v3 = sipround(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipround(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipround(v0, v1, v2, v3)
	return v0 ^ v1 ^ v2 ^ v3
}

// sipround is one round of SipHash.
func sipround(v0, v1, v2, v3 uint64) (uint64, uint64, uint64, uint64) {
	v0 += v1
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v3
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 += v3
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 += v1
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	v2 = bits.RotateLeft64(v2, 32)
	return v0, v1, v2, v3
}
