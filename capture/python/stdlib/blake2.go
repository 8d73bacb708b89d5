package stdlib

import (
	"encoding/binary"
	"hash"
	"math/bits"
)

// blakeParams are what a BLAKE2 hash depends on besides its input.
type blakeParams struct {
	size         int
	key          []byte
	salt, person []byte
	fanout       byte
	depth        byte
	leaf         uint32
	node         uint64
	nodeDepth    byte
	inner        byte
	lastNode     bool
}

// blakeSigma is the order in which each round takes the words of a block.
var blakeSigma = [10][16]byte{
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
	{11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
	{7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
	{9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
	{2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
	{12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
	{13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
	{6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
	{10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
}

var blake2bIV = [8]uint64{0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179}

// blake2 is BLAKE2b on words of 64 bits, or BLAKE2s on words of 32 bits.
type blake2 struct {
	wide  bool
	p     blakeParams
	h     [8]uint64
	count uint64
	buf   []byte // what is left of the input: it is not compressed before more comes
}

func newBlake2b(p blakeParams) hash.Hash { return newBlake2(p, true) }
func newBlake2s(p blakeParams) hash.Hash { return newBlake2(p, false) }

func newBlake2(p blakeParams, wide bool) *blake2 {
	if p.fanout == 0 && p.depth == 0 {
		p.fanout, p.depth = 1, 1
	}
	b := &blake2{wide: wide, p: p}
	b.Reset()
	return b
}

// word is the size of a word in bytes.
func (b *blake2) word() int {
	if b.wide {
		return 8
	}
	return 4
}

// Reset implements hash.Hash, here and below.
func (b *blake2) Reset() {
	w := b.word()
	block := make([]byte, 8*w)
	block[0], block[1], block[2], block[3] = byte(b.p.size), byte(len(b.p.key)), b.p.fanout, b.p.depth
	binary.LittleEndian.PutUint32(block[4:], b.p.leaf)
	if b.wide {
		binary.LittleEndian.PutUint64(block[8:], b.p.node)
		block[16], block[17] = b.p.nodeDepth, b.p.inner
	} else {
		binary.LittleEndian.PutUint32(block[8:], uint32(b.p.node))
		block[12], block[13] = byte(b.p.node>>32), byte(b.p.node>>40)
		block[14], block[15] = b.p.nodeDepth, b.p.inner
	}
	copy(block[4*w:], b.p.salt)
	copy(block[6*w:], b.p.person)
	for i := range b.h {
		if b.wide {
			b.h[i] = blake2bIV[i] ^ binary.LittleEndian.Uint64(block[8*i:])
		} else {
			b.h[i] = blake2bIV[i]>>32 ^ uint64(binary.LittleEndian.Uint32(block[4*i:]))
		}
	}
	b.count, b.buf = 0, b.buf[:0]
	if len(b.p.key) > 0 {
		first := make([]byte, b.BlockSize())
		copy(first, b.p.key)
		b.Write(first)
	}
}

func (b *blake2) Size() int      { return b.p.size }
func (b *blake2) BlockSize() int { return 16 * b.word() }

func (b *blake2) Write(p []byte) (int, error) {
	n, size := len(p), b.BlockSize()
	b.buf = append(b.buf, p...)
	for len(b.buf) > size {
		b.count += uint64(size)
		b.compress(b.buf[:size], false)
		b.buf = b.buf[size:]
	}
	b.buf = append([]byte(nil), b.buf...)
	return n, nil
}

func (b *blake2) Sum(in []byte) []byte {
	c := *b
	c.count += uint64(len(c.buf))
	last := make([]byte, c.BlockSize())
	copy(last, c.buf)
	c.compress(last, true)
	var out []byte
	for _, v := range c.h {
		if c.wide {
			out = binary.LittleEndian.AppendUint64(out, v)
		} else {
			out = binary.LittleEndian.AppendUint32(out, uint32(v))
		}
	}
	return append(in, out[:c.p.size]...)
}

// Clone implements hash.Cloner.
func (b *blake2) Clone() (hash.Cloner, error) {
	c := *b
	c.buf = append([]byte(nil), b.buf...)
	return &c, nil
}

// compress mixes one block into the state.
func (b *blake2) compress(block []byte, last bool) {
	var m, v [16]uint64
	for i := range m {
		if b.wide {
			m[i] = binary.LittleEndian.Uint64(block[8*i:])
		} else {
			m[i] = uint64(binary.LittleEndian.Uint32(block[4*i:]))
		}
	}
	iv, ones := blake2bIV, ^uint64(0)
	rounds := 12
	if !b.wide {
		for i := range iv {
			iv[i] >>= 32
		}
		ones, rounds = 1<<32-1, 10
	}
	copy(v[:8], b.h[:])
	copy(v[8:], iv[:])
	v[12] ^= b.count & ones
	if !b.wide {
		v[13] ^= b.count >> 32
	}
	if last {
		v[14] ^= ones
		if b.p.lastNode {
			v[15] ^= ones
		}
	}
	for r := range rounds {
		s := &blakeSigma[r%10]
		for i, q := range [8][4]int{{0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}, {0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13}, {3, 4, 9, 14}} {
			b.mix(&v, q, m[s[2*i]], m[s[2*i+1]])
		}
	}
	for i := range b.h {
		b.h[i] ^= v[i] ^ v[i+8]
	}
}

// mix is the function G of BLAKE2.
func (b *blake2) mix(v *[16]uint64, q [4]int, x, y uint64) {
	A, B, C, D := v[q[0]], v[q[1]], v[q[2]], v[q[3]]
	if b.wide {
		A += B + x
		D = bits.RotateLeft64(D^A, -32)
		C += D
		B = bits.RotateLeft64(B^C, -24)
		A += B + y
		D = bits.RotateLeft64(D^A, -16)
		C += D
		B = bits.RotateLeft64(B^C, -63)
	} else {
		a, bb, c, d := uint32(A), uint32(B), uint32(C), uint32(D)
		a += bb + uint32(x)
		d = bits.RotateLeft32(d^a, -16)
		c += d
		bb = bits.RotateLeft32(bb^c, -12)
		a += bb + uint32(y)
		d = bits.RotateLeft32(d^a, -8)
		c += d
		bb = bits.RotateLeft32(bb^c, -7)
		A, B, C, D = uint64(a), uint64(bb), uint64(c), uint64(d)
	}
	v[q[0]], v[q[1]], v[q[2]], v[q[3]] = A, B, C, D
}
