package tensor

import (
	"encoding/binary"
	"fmt"
	"math"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
)

const mtN, mtM = 624, 397

// Generator is PyTorch's CPU generator: a 32-bit Mersenne twister with cached
// normal samples. It is not safe for concurrent use.
type Generator struct {
	seed   uint64
	left   int32
	seeded bool
	next   uint32
	state  [mtN]uint32

	normal      float64 // the second of a pair of normal samples
	normalOK    bool
	normalF32   float32
	normalF32OK bool
}

// NewGenerator makes a generator seeded as torch.manual_seed(seed) does.
func NewGenerator(seed uint64) *Generator {
	g := new(Generator)
	g.ManualSeed(seed)
	return g
}

// DefaultSeed is the seed of a generator that nobody has seeded.
const DefaultSeed = 67280421310721

// ManualSeed restarts the stream.
func (g *Generator) ManualSeed(seed uint64) {
	*g = Generator{seed: seed, left: 1, seeded: true}
	g.state[0] = uint32(seed)
	for j := 1; j < mtN; j++ {
		g.state[j] = 1812433253*(g.state[j-1]^g.state[j-1]>>30) + uint32(j)
	}
}

// InitialSeed is the seed last set.
func (g *Generator) InitialSeed() uint64 { return g.seed }

// Clone copies the generator with its position in the stream.
func (g *Generator) Clone() *Generator { c := *g; return &c }

func (g *Generator) refill() {
	s := &g.state
	twist := func(i, next, from int) {
		u, v := s[i], s[next]
		s[i] = s[from] ^ (u&0x80000000|v&0x7fffffff)>>1 ^ -(v&1)&0x9908b0df
	}
	for i := 0; i < mtN-mtM; i++ {
		twist(i, i+1, i+mtM)
	}
	for i := mtN - mtM; i < mtN-1; i++ {
		twist(i, i+1, i+mtM-mtN)
	}
	twist(mtN-1, 0, mtM-1)
	g.left, g.next = mtN, 0
}

func temper(y uint32) uint32 {
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// Uint32 is the next 32 random bits.
func (g *Generator) Uint32() uint32 {
	g.left--
	if g.left == 0 {
		g.refill()
	}
	y := g.state[g.next]
	g.next++
	return temper(y)
}

// words fills b with what Uint32 gives one after the other.
func (g *Generator) words(b []uint32) {
	for len(b) > 0 {
		n := int(g.left) - 1
		if n == 0 {
			g.refill()
			g.left++ // the first word after a refill is not counted
			n = mtN
		}
		n = min(n, len(b))
		for i, y := range g.state[g.next:][:n] {
			b[i] = temper(y)
		}
		g.next += uint32(n)
		g.left -= int32(n)
		b = b[n:]
	}
}

// Uint64 is the next 64 random bits: two draws, high half first.
func (g *Generator) Uint64() uint64 {
	hi := uint64(g.Uint32())
	return hi<<32 | uint64(g.Uint32())
}

// Float32 is uniform in [0, 1) with 24 bits.
func (g *Generator) Float32() float32 { return float32(g.Uint32()&(1<<24-1)) / (1 << 24) }

// Float64 is uniform in [0, 1) with 53 bits.
func (g *Generator) Float64() float64 { return float64(g.Uint64()&(1<<53-1)) / (1 << 53) }

// Uniform01 is uniform in [0, 1) with d's precision, drawing as PyTorch does for that dtype.
func (g *Generator) Uniform01(d DType) float64 {
	switch d {
	case Float64:
		return g.Float64()
	case BFloat16:
		return float64(g.Uint32()&(1<<8-1)) / (1 << 8)
	case Float16:
		return float64(g.Uint32()&(1<<11-1)) / (1 << 11)
	}
	return float64(g.Float32())
}

// batch is how many samples are drawn at a time.
const batch = 512

// uniforms fills b with what Uniform01 gives one after the other.
func (g *Generator) uniforms(d DType, b []float64) {
	if d == Float64 {
		for i := range b {
			b[i] = g.Float64()
		}
		return
	}
	digits := 24
	switch d {
	case BFloat16:
		digits = 8
	case Float16:
		digits = 11
	}
	mask, scale := uint32(1)<<digits-1, 1/float64(uint32(1)<<digits)
	var w [batch]uint32
	for len(b) > 0 {
		n := min(len(b), batch)
		g.words(w[:n])
		for i, y := range w[:n] {
			b[i] = float64(y&mask) * scale
		}
		b = b[n:]
	}
}

// Normal is a standard normal sample; samples are made in pairs and the second is kept.
func (g *Generator) Normal() float64 {
	if g.normalOK {
		g.normalOK = false
		return g.normal
	}
	u1 := g.Float64()
	u2 := g.Float64()
	r := math.Sqrt(-2 * math.Log1p(-u2))
	theta := 2 * math.Pi * u1
	g.normal, g.normalOK = r*math.Sin(theta), true
	return r * math.Cos(theta)
}

// Exponential is a sample of rate lambda.
func (g *Generator) Exponential(lambda float64) float64 {
	return -1 / lambda * math.Log1p(-g.Float64())
}

// parts is a complex tensor as one of real numbers, with a dimension of two behind the others.
func (t *Tensor) parts() *Tensor {
	d := map[DType]DType{Complex32: Float16, Complex64: Float32, Complex128: Float64}[t.DType]
	shape, stride := make([]int64, 0, len(t.Shape)+1), make([]int64, 0, len(t.Shape)+1)
	for i, n := range t.Shape {
		shape, stride = append(shape, n), append(stride, 2*t.Stride[i])
	}
	v := NewView(t, append(shape, 2), append(stride, 1), 2*t.Offset)
	v.DType = d
	return v
}

// UniformFill fills t with samples of [from, to).
func (g *Generator) UniformFill(t *Tensor, from, to float64) {
	if t.DType.Kind() == KindComplex {
		g.UniformFill(t.parts(), from, to)
		return
	}
	// The ends are of the tensor's own precision, what is computed with them is float32. Product and sum are rounded once, as by a processor that fuses them.
	lo, width := RoundTo(t.DType, from), RoundTo(t.DType, RoundTo(t.DType, to)-RoundTo(t.DType, from))
	g.fill(t, func(b []float64) {
		g.uniforms(t.DType, b)
		for i, x := range b {
			if t.DType == Float64 {
				b[i] = math.FMA(x, to-from, from)
			} else {
				b[i] = float64(float32(x*width + lo)) // the product is exact
			}
		}
	})
}

// fill sets elements in memory order, which is how TensorIterator walks a fresh output, to what draw puts into a piece of them.
func (g *Generator) fill(t *Tensor, draw func(b []float64)) {
	if t.Numel() == 0 {
		return
	}
	l := NewLoop(t.Shape, t)
	in := l.Inner()[0]
	var b [batch]float64
	l.Rows(func(o []int64, n int64) {
		for i := int64(0); i < n; i += batch {
			piece := b[:min(batch, n-i)]
			draw(piece)
			StoreFloat(t, o[0]+i*in, in, piece)
		}
	})
}

// each draws one sample after the other.
func each(draw func() float64) func(b []float64) {
	return func(b []float64) {
		for i := range b {
			b[i] = draw()
		}
	}
}

func (g *Generator) fillInt(t *Tensor, draw func() int64) {
	if t.Numel() == 0 {
		return
	}
	l := NewLoop(t.Shape, t)
	in := l.Inner()[0]
	var b [batch]int64
	l.Rows(func(o []int64, n int64) {
		for i := int64(0); i < n; i += batch {
			piece := b[:min(batch, n-i)]
			for j := range piece {
				piece[j] = draw()
			}
			StoreInt(t, o[0]+i*in, in, piece)
		}
	})
}

// NormalFill fills t with normal samples. From 16 elements on, contiguous
// tensors take the block form: uniforms for the whole tensor first, then pairs 8 apart.
func (g *Generator) NormalFill(t *Tensor, mean, std float64) {
	if t.DType.Kind() == KindComplex { // half of the variance for each part, and the mean for both
		g.NormalFill(t.parts(), mean, std/math.Sqrt2)
		return
	}
	n := t.Numel()
	if n < 16 || !t.IsContiguous(ContiguousFormat) {
		g.fill(t, each(func() float64 { return math.FMA(g.Normal(), std, mean) }))
		return
	}
	mean, std = RoundTo(t.DType, mean), RoundTo(t.DType, std) // the block form takes both in the tensor's own precision
	if t.DType == Float32 {
		g.normals32(t, mean, std)
		return
	}
	buf := make([]float64, n)
	g.uniforms(t.DType, buf)
	block := func(b []float64) {
		for j := 0; j < 8; j++ {
			u1, u2 := 1-b[j], b[j+8]
			var r, c, s float64
			if t.DType == Float64 {
				r = math.Sqrt(-2 * math.Log(u1))
				s, c = math.Sincos(2 * math.Pi * u2)
			} else {
				r = RoundTo(t.DType, math.Sqrt(RoundTo(t.DType, -2*RoundTo(t.DType, math.Log(u1)))))
				theta := RoundTo(t.DType, float64(float32(2*math.Pi))*u2)
				s, c = math.Sincos(theta)
				if t.DType == BFloat16 || t.DType == Float16 {
					s, c = RoundTo(t.DType, s), RoundTo(t.DType, c)
					b[j] = RoundTo(t.DType, RoundTo(t.DType, r*c)*std) + mean
					b[j+8] = RoundTo(t.DType, RoundTo(t.DType, r*s)*std) + mean
					continue
				}
			}
			b[j] = r*c*std + mean
			b[j+8] = r*s*std + mean
		}
	}
	for i := int64(0); i+16 <= n; i += 16 {
		block(buf[i : i+16])
	}
	if n%16 != 0 {
		last := buf[n-16:]
		g.uniforms(t.DType, last)
		block(last)
	}
	StoreFloat(t, t.Offset, 1, buf)
}

// normals32 is the block form for float32, on several threads: the uniform samples are drawn before.
func (g *Generator) normals32(t *Tensor, mean, std float64) {
	out := t.Float32s()
	draw := func(b []float32) {
		var w [batch]uint32
		for len(b) > 0 {
			n := min(len(b), batch)
			g.words(w[:n])
			for i, y := range w[:n] {
				b[i] = float32(y&(1<<24-1)) * (1.0 / (1 << 24))
			}
			b = b[n:]
		}
	}
	// Of 16 samples each, the first eight are radii and the others angles. Each step is rounded, from float64: a last bit more or less, and programs
	// that magnify it print other numbers.
	blocks := func(b []float32) { native.Normal32(b, mean, std) }
	draw(out)
	whole := len(out) / 16
	parallel.For(whole, 1<<10, func(lo, hi int) { blocks(out[lo*16 : hi*16]) })
	if len(out)%16 != 0 {
		last := out[len(out)-16:]
		draw(last)
		blocks(last)
	}
}

// ExponentialFill fills t with exponential samples of rate lambda.
func (g *Generator) ExponentialFill(t *Tensor, lambda float64) {
	g.fill(t, each(func() float64 { return g.Exponential(lambda) }))
}

// BernoulliFill fills t with ones of probability p and zeros.
func (g *Generator) BernoulliFill(t *Tensor, p float64) {
	g.fill(t, each(func() float64 {
		if g.Float64() < p {
			return 1
		}
		return 0
	}))
}

// BernoulliTensor fills t with ones whose probabilities are the elements of p, which has t's shape.
func (g *Generator) BernoulliTensor(t, p *Tensor) {
	l := NewLoop(t.Shape, t, p)
	in := l.Inner()
	var b [1]float64
	l.Rows(func(o []int64, n int64) {
		for i := int64(0); i < n; i++ {
			LoadFloat(p, o[1]+i*in[1], 0, b[:])
			var u float64
			if p.DType == Float64 {
				u = g.Float64()
			} else {
				u = float64(g.Float32())
			}
			if u < b[0] {
				b[0] = 1
			} else {
				b[0] = 0
			}
			StoreFloat(t, o[0]+i*in[0], 0, b[:])
		}
	})
}

// RandomFill fills t with integers of [from, to), each by one 32-bit draw, or one 64-bit draw where the range needs it.
func (g *Generator) RandomFill(t *Tensor, from, to int64) {
	rng := uint64(to - from)
	g.fillInt(t, func() int64 {
		if rng >= 1<<32 {
			return from + int64(g.Uint64()%rng)
		}
		return from + int64(uint64(g.Uint32())%rng)
	})
}

// RandomFull fills t as random_() without bounds does: all non-negative values of an
// integer type, or the integers that a floating type holds exactly.
func (g *Generator) RandomFull(t *Tensor) {
	g.fillInt(t, func() int64 {
		switch t.DType {
		case Float64:
			return int64(g.Uint64() % (1<<53 + 1))
		case Float32:
			return int64(g.Uint32() % (1<<24 + 1))
		case BFloat16:
			return int64(g.Uint32() % (1<<8 + 1))
		case Float16:
			return int64(g.Uint32() % (1<<11 + 1))
		case Bool:
			return int64(g.Uint32() & 1)
		case Int64:
			return int64(g.Uint64() % (1 << 63))
		case Int32:
			return int64(g.Uint32() % (1 << 31))
		case Int16:
			return int64(g.Uint32() % (1 << 15))
		case Int8:
			return int64(g.Uint32() % (1 << 7))
		}
		return int64(g.Uint32() % (1 << 8))
	})
}

// Perm is a random permutation of 0..n-1, as torch.randperm(n).
func (g *Generator) Perm(n int64) []int64 {
	p := make([]int64, n)
	for i := range p {
		p[i] = int64(i)
	}
	for i := int64(0); i < n-1; i++ {
		z := int64(uint64(g.Uint32()) % uint64(n-i))
		p[i], p[i+z] = p[i+z], p[i]
	}
	return p
}

// stateBytes is the size of torch.get_rng_state().
const stateBytes = 5056

// State is the generator's state in the byte layout of torch.get_rng_state().
func (g *Generator) State() []byte {
	b := make([]byte, stateBytes)
	le := binary.LittleEndian
	le.PutUint64(b[0:], g.seed)
	le.PutUint32(b[8:], uint32(g.left))
	if g.seeded {
		le.PutUint32(b[12:], 1)
	}
	le.PutUint64(b[16:], uint64(g.next))
	for i, s := range g.state {
		le.PutUint64(b[24+8*i:], uint64(s))
	}
	o := 24 + 8*mtN
	if g.normalOK {
		// PyTorch stores the cached sample as normal_y with normal_rho 1 for old readers.
		le.PutUint64(b[o+8:], math.Float64bits(g.normal))
		le.PutUint32(b[o+24:], 1)
	}
	if g.normalF32OK {
		le.PutUint32(b[o+32:], math.Float32bits(g.normalF32))
		b[o+36] = 1
	}
	return b
}

// SetState restores what State gave.
func (g *Generator) SetState(b []byte) error {
	if len(b) != stateBytes {
		return fmt.Errorf("Expected a CPUGeneratorImplState of size %d but found the input RNG state size to be %d", stateBytes, len(b))
	}
	le := binary.LittleEndian
	var n Generator
	n.seed = le.Uint64(b[0:])
	n.left = int32(le.Uint32(b[8:]))
	n.seeded = le.Uint32(b[12:]) != 0
	n.next = uint32(le.Uint64(b[16:]))
	for i := range n.state {
		n.state[i] = uint32(le.Uint64(b[24+8*i:]))
	}
	if n.left < 1 || n.left > mtN || n.next > mtN {
		return fmt.Errorf("Invalid mt19937 state")
	}
	o := 24 + 8*mtN
	if le.Uint32(b[o+24:]) != 0 {
		n.normal = math.Float64frombits(le.Uint64(b[o+8:]))
		n.normalOK = true
	}
	if b[o+36] != 0 {
		n.normalF32 = math.Float32frombits(le.Uint32(b[o+32:]))
		n.normalF32OK = true
	}
	*g = n
	return nil
}
