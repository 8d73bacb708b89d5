package random

import "math/bits"

// A Source gives random bits.
type Source interface {
	Uint32() uint32
	Uint64() uint64
	Float64() float64 // of [0, 1)
}

// MT19937 is the Mersenne twister.
type MT19937 struct {
	Key [624]uint32
	Pos int
}

// Seed begins the stream of an integer.
func (m *MT19937) Seed(seed uint32) {
	for i := range m.Key {
		m.Key[i] = seed
		seed = 1812433253*(seed^seed>>30) + uint32(i) + 1
	}
	m.Pos = len(m.Key)
}

// SeedArray begins the stream of several integers.
func (m *MT19937) SeedArray(init []uint32) {
	const n = 624
	m.Seed(19650218)
	i, j := 1, 0
	k := &m.Key
	for range max(n, len(init)) {
		k[i] = (k[i] ^ (k[i-1]^k[i-1]>>30)*1664525) + init[j] + uint32(j)
		i++
		j++
		if i >= n {
			k[0] = k[n-1]
			i = 1
		}
		if j >= len(init) {
			j = 0
		}
	}
	for range n - 1 {
		k[i] = (k[i] ^ (k[i-1]^k[i-1]>>30)*1566083941) - uint32(i)
		i++
		if i >= n {
			k[0] = k[n-1]
			i = 1
		}
	}
	k[0] = 0x80000000
	m.Pos = n
}

func (m *MT19937) refill() {
	const n, shift = 624, 397
	for i := range n {
		y := m.Key[i]&0x80000000 | m.Key[(i+1)%n]&0x7fffffff
		m.Key[i] = m.Key[(i+shift)%n] ^ y>>1 ^ -(y&1)&0x9908b0df
	}
	m.Pos = 0
}

// Uint32 is 32 bits.
func (m *MT19937) Uint32() uint32 {
	if m.Pos >= len(m.Key) {
		m.refill()
	}
	y := m.Key[m.Pos]
	m.Pos++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// Uint64 is 64 bits, the high half first.
func (m *MT19937) Uint64() uint64 {
	hi := uint64(m.Uint32())
	return hi<<32 | uint64(m.Uint32())
}

// Float64 has 53 bits of two draws.
func (m *MT19937) Float64() float64 {
	a, b := m.Uint32()>>5, m.Uint32()>>6
	return (float64(a)*67108864 + float64(b)) / 9007199254740992
}

// PCG64 is the permuted congruential generator of 128 bits, in its form XSL RR.
type PCG64 struct {
	Hi, Lo       uint64 // state
	IncHi, IncLo uint64
	Has32        bool // half of a draw is left
	Left         uint32
}

func (p *PCG64) step() {
	const mulHi, mulLo = 0x2360ed051fc65da4, 0x4385df649fccf645
	hi, lo := bits.Mul64(p.Lo, mulLo)
	hi += p.Hi*mulLo + p.Lo*mulHi
	var carry uint64
	p.Lo, carry = bits.Add64(lo, p.IncLo, 0)
	p.Hi, _ = bits.Add64(hi, p.IncHi, carry)
}

// Seed begins the stream of a seed sequence.
func (p *PCG64) Seed(s *SeedSequence) {
	w := s.Uint64s(4)
	*p = PCG64{IncHi: w[2]<<1 | w[3]>>63, IncLo: w[3]<<1 | 1}
	p.step()
	var carry uint64
	p.Lo, carry = bits.Add64(p.Lo, w[1], 0)
	p.Hi, _ = bits.Add64(p.Hi, w[0], carry)
	p.step()
}

// Uint64 is 64 bits.
func (p *PCG64) Uint64() uint64 {
	p.step()
	return bits.RotateLeft64(p.Hi^p.Lo, -int(p.Hi>>58))
}

// Uint32 is half of a draw, the low one first.
func (p *PCG64) Uint32() uint32 {
	if p.Has32 {
		p.Has32 = false
		return p.Left
	}
	x := p.Uint64()
	p.Has32, p.Left = true, uint32(x>>32)
	return uint32(x)
}

// Float64 has 53 bits of one draw.
func (p *PCG64) Float64() float64 { return float64(p.Uint64()>>11) / (1 << 53) }

// A SeedSequence spreads entropy over as many words as one wants.
type SeedSequence struct{ pool []uint32 }

// NewSeedSequence mixes words, the lowest first, in a pool of so many, 4 by default.
func NewSeedSequence(entropy []uint32, size int) *SeedSequence {
	const multA, left, right = 0x931e8875, 0xca01f9dd, 0x4973f715
	s := &SeedSequence{pool: make([]uint32, size)}
	hash := uint32(0x43b0d7e5)
	hashed := func(v uint32) uint32 {
		v ^= hash
		hash *= multA
		v *= hash
		return v ^ v>>16
	}
	mix := func(x, y uint32) uint32 {
		r := left*x - right*y
		return r ^ r>>16
	}
	for i := range s.pool {
		var e uint32
		if i < len(entropy) {
			e = entropy[i]
		}
		s.pool[i] = hashed(e)
	}
	for i := range s.pool {
		for j := range s.pool {
			if i != j {
				s.pool[j] = mix(s.pool[j], hashed(s.pool[i]))
			}
		}
	}
	for i := len(s.pool); i < len(entropy); i++ {
		for j := range s.pool {
			s.pool[j] = mix(s.pool[j], hashed(entropy[i]))
		}
	}
	return s
}

// Pool is what the entropy was mixed to.
func (s *SeedSequence) Pool() []uint32 { return s.pool }

// Uint32s are n words of state.
func (s *SeedSequence) Uint32s(n int) []uint32 {
	hash := uint32(0x8b51f9dd)
	out := make([]uint32, n)
	for i := range out {
		v := s.pool[i%len(s.pool)] ^ hash
		hash *= 0x58f38ded
		v *= hash
		out[i] = v ^ v>>16
	}
	return out
}

// Uint64s are n words of twice the size.
func (s *SeedSequence) Uint64s(n int) []uint64 {
	w := s.Uint32s(2 * n)
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(w[2*i]) | uint64(w[2*i+1])<<32
	}
	return out
}
