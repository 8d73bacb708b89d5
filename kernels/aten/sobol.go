package aten

import (
	_ "embed"
	"math/bits"
	"slices"

	"whittle/kernels/tensor"
)

// Sobol sequences: points that fill a cube evenly. Each dimension has a primitive polynomial over two elements and, for as many numbers as its degree,
// direction numbers to start with; the others follow by the polynomial (Bratley and Fox, Algorithm 659, 1988).

// sobolStart holds the first direction numbers that Joe and Kuo found by search (Constructing Sobol sequences with better two-dimensional projections,
// 2008; their table new-joe-kuo-6.21201): of each dimension behind the first those from the second number on, number i without its last bit, which is set,
// in i-1 bits, lowest first.
//
//go:embed sobol.bin
var sobolStart []byte

const (
	sobolBits = 30
	sobolDims = 21201
)

// sobolNumbers gives the direction numbers of the first dims dimensions, each at the top of sobolBits bits.
func sobolNumbers(dims int) [][sobolBits]int64 {
	out := make([][sobolBits]int64, 0, dims)
	var first [sobolBits]int64
	for j := range first {
		first[j] = 1 << (sobolBits - 1 - j)
	}
	out = append(out, first)
	at := 0
	take := func(n int) int64 {
		var v int64
		for i := range n {
			v |= int64(sobolStart[at/8]>>(at%8)&1) << i
			at++
		}
		return v
	}
	for degree := 1; len(out) < dims; degree++ {
		for middle := uint64(0); middle < 1<<(degree-1) && len(out) < dims; middle++ {
			p := 1<<degree | middle<<1 | 1
			if !primitive(p, degree) {
				continue
			}
			var m [sobolBits]int64
			m[0] = 1
			for i := 1; i < degree; i++ {
				m[i] = take(i)<<1 | 1
			}
			for k := degree; k < sobolBits; k++ {
				m[k] = m[k-degree] ^ m[k-degree]<<degree
				for i := 1; i < degree; i++ {
					if p>>(degree-i)&1 == 1 {
						m[k] ^= m[k-i] << i
					}
				}
			}
			for j := range m {
				m[j] <<= sobolBits - 1 - j
			}
			out = append(out, m)
		}
	}
	return out
}

// primitive reports whether the powers of x are all polynomials below p but 0: whether no power below the highest gives 1 again.
func primitive(p uint64, degree int) bool {
	if degree == 1 {
		return p == 3
	}
	mul := func(a, b uint64) uint64 {
		var r uint64
		for ; b != 0; b >>= 1 {
			if b&1 == 1 {
				r ^= a
			}
			if a <<= 1; a>>degree&1 == 1 {
				a ^= p
			}
		}
		return r
	}
	power := func(n uint64) uint64 {
		r, b := uint64(1), uint64(2)
		for ; n != 0; n >>= 1 {
			if n&1 == 1 {
				r = mul(r, b)
			}
			b = mul(b, b)
		}
		return r
	}
	order := uint64(1)<<degree - 1
	if power(order) != 1 {
		return false
	}
	rest := order
	for q := uint64(2); rest > 1; q++ {
		if q*q > rest {
			q = rest
		}
		if rest%q != 0 {
			continue
		}
		for rest%q == 0 {
			rest /= q
		}
		if power(order/q) == 1 {
			return false
		}
	}
	return true
}

// sobol registers the operators of torch.quasirandom.SobolEngine. The point behind the one of a number is that with the direction number of the lowest bit
// which the number lacks added (Antonov and Saleev).
func sobol() {
	step := func(point []int64, state []int64, number int64) {
		l := bits.TrailingZeros64(^uint64(number))
		for d := range point {
			point[d] ^= state[d*sobolBits+l]
		}
	}
	// ready checks that the numbers of an engine are those of so many dimensions, and that it has points enough.
	ready := func(c *Call, dims, last int64, ts ...*tensor.Tensor) error {
		want := []int64{dims, dims * sobolBits}
		if last < 0 || last >= 1<<sobolBits {
			return errf("Sobol' sequences have 2**%d points, but number %d is asked for", sobolBits, last)
		}
		for i, t := range ts {
			if i < len(want) && len(ts) > 1 && t.Numel() != want[i] || len(ts) == 1 && t.Numel() != want[1] {
				return errf("Expected the numbers of a Sobol' sequence of %d dimensions, but got a tensor of size %v", dims, t.Shape)
			}
			if t.DType != tensor.Int64 {
				return errf("expected scalar type Long but found %s", cName(t.DType))
			}
		}
		return nil
	}
	def("_sobol_engine_draw", func(c *Call) (Value, error) {
		quasi, n, state, dims, number := c.T(0), c.I(1), c.T(2), c.I(3), c.I(4)
		if err := ready(c, dims, number+max(n, 0), quasi, state); err != nil {
			return nil, err
		}
		if n < 0 {
			return nil, errf("Trying to create tensor with negative dimension %d: [%d, %d]", n, n, dims)
		}
		o, last := c.NewC(c.optDT(tensor.DefaultDType), n, dims), c.NewC(tensor.Int64, quasi.Shape...)
		if !c.real {
			return []Value{o, last}, nil
		}
		point, numbers, xs := quasi.Ints(), state.Ints(), make([]float64, 0, n*dims)
		for i := range n {
			step(point, numbers, number+i)
			for _, v := range point {
				xs = append(xs, float64(v)/(1<<sobolBits))
			}
		}
		o.SetFloats(xs)
		last.SetInts(point)
		return []Value{o, last}, nil
	})
	def("_sobol_engine_ff_", func(c *Call) (Value, error) {
		quasi, n, state, number := c.T(0), c.I(1), c.T(2), c.I(4)
		if err := ready(c, c.I(3), number+max(n, 0), quasi, state); err != nil {
			return nil, err
		}
		if c.real {
			point, numbers := quasi.Ints(), state.Ints()
			for i := range n {
				step(point, numbers, number+i)
			}
			quasi.SetInts(point)
		}
		c.bump(quasi)
		return quasi, nil
	})
	def("_sobol_engine_initialize_state_", func(c *Call) (Value, error) {
		state, dims := c.T(0), c.I(1)
		if dims < 1 || dims > sobolDims {
			return nil, errf("Supported range of dimensionality for SobolEngine is [1, %d]", sobolDims)
		}
		if err := ready(c, dims, 0, state); err != nil {
			return nil, err
		}
		if c.real {
			var flat []int64
			for _, numbers := range sobolNumbers(int(dims)) {
				flat = append(flat, numbers[:]...)
			}
			state.SetInts(flat)
		}
		c.bump(state)
		return state, nil
	})
	// Matoušek's linear scrambling: each direction number is multiplied, as a vector of bits with the highest first, by a lower triangular matrix.
	def("_sobol_engine_scramble_", func(c *Call) (Value, error) {
		state, ltm, dims := c.T(0), c.T(1), c.I(2)
		if err := ready(c, dims, 0, state); err != nil {
			return nil, err
		}
		if ltm.DType != tensor.Int64 || ltm.Numel() != dims*sobolBits*sobolBits {
			return nil, errf("Expected matrices of integers for %d dimensions, but got a tensor of size %v", dims, ltm.Shape)
		}
		if c.real {
			numbers, entries := state.Ints(), ltm.Ints()
			for d, row := range slices.Collect(slices.Chunk(numbers, sobolBits)) {
				var rows [sobolBits]uint64
				for i := range rows {
					rows[i] = 1 << (sobolBits - 1 - i) // the diagonal is set
					for j := range i {
						rows[i] |= uint64(entries[(d*sobolBits+i)*sobolBits+j]&1) << (sobolBits - 1 - j)
					}
				}
				for j, v := range row {
					row[j] = 0
					for i, r := range rows {
						row[j] |= int64(bits.OnesCount64(r&uint64(v))&1) << (sobolBits - 1 - i)
					}
				}
			}
			state.SetInts(numbers)
		}
		c.bump(state)
		return state, nil
	})
}
