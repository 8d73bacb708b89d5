package vm

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"whittle/capture/python/wtf8"
)

// hashString is the hash of a str as CPython computes it under PYTHONHASHSEED=0: SipHash-1-3 with a key of zeros over the
// characters in the narrowest of one, two and four bytes. The order of sets of strings follows from it.
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

// siphash is SipHash-1-3 with a key of zeros; the empty string hashes to 0, and no string to -1.
func siphash(s string) uint64 {
	if s == "" {
		return 0
	}
	if h := sipKeyed(0, s); h != ^uint64(0) {
		return h
	}
	return ^uint64(1)
}

// SourceHash is the hash that importlib puts into a .pyc file for the text it was made of.
func SourceHash(key uint64, source string) []byte {
	return binary.LittleEndian.AppendUint64(nil, sipKeyed(key, source))
}

// sipKeyed is SipHash-1-3 with a key whose second half is zero.
func sipKeyed(key uint64, s string) uint64 {
	v0, v1, v2, v3 := 0x736f6d6570736575^key, uint64(0x646f72616e646f6d), 0x6c7967656e657261^key, uint64(0x7465646279746573)
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
