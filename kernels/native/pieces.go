package native

/*
#include "kernels.h"
static int64_t pieces32(const whittle_kernels *t, float *o, float *a, int64_t n, double *table, uint8_t *state, int64_t *other) { return t->pieces32(o, a, n, table, state, other); }
*/
import "C"

import (
	"math"
	"sync"
	"unsafe"
)

const (
	pieceBits  = 19 // of a float32, those that say where in its piece it is
	pieceTerms = 8
	pieceCount = 1 << (32 - pieceBits)
)

// Pieces is a function of one float32 by polynomials, each for a sixteenth of what lies between two powers of two. They are made of the function of float64
// when a number asks for them the first time, and checked: where they are not as good as float32 needs, next to a pole or where the function turns too fast, the
// function itself is called.
type Pieces struct {
	f     func(float64) float64
	mu    sync.RWMutex
	table []float64
	state []uint8
}

// The states of a piece.
const (
	unknown = iota
	fitted
	unfit
)

// NewPieces is f by pieces. f is called for any float32, by several threads at once.
func NewPieces(f func(float64) float64) *Pieces { return &Pieces{f: f} }

// Map computes out[i] = f(a[i]); lengths are equal and out and a apart.
func (p *Pieces) Map(out, a []float32) {
	p.mu.Lock()
	if p.table == nil {
		p.table, p.state = make([]float64, pieceCount*pieceTerms), make([]uint8, pieceCount)
	}
	p.mu.Unlock()
	const some = 1024
	var other [some]int64
	for len(out) > 0 {
		n := min(len(out), some)
		for {
			p.mu.RLock()
			left := int(C.pieces32(table, p32(out), p32(a), C.int64_t(n), p64(p.table), (*C.uint8_t)(unsafe.SliceData(p.state)), (*C.int64_t)(&other[0])))
			p.mu.RUnlock()
			again := false
			for _, i := range other[:left] {
				again = p.fit(math.Float32bits(a[i])>>pieceBits) || again
			}
			if again {
				continue
			}
			for _, i := range other[:left] {
				out[i] = float32(p.f(float64(a[i])))
			}
			break
		}
		out, a = out[n:], a[n:]
	}
}

// toPowers turns values at the zeros of Chebyshev's polynomial into coefficients of powers.
var toPowers = sync.OnceValue(func() (m [pieceTerms][pieceTerms]float64) {
	// Coefficient j is 2/n times the sum of values times T_j at the zeros, or 1/n of it for j = 0.
	var powers [pieceTerms][pieceTerms]float64 // of T_j
	powers[0][0], powers[1][1] = 1, 1
	for j := 2; j < pieceTerms; j++ {
		for k := range pieceTerms {
			powers[j][k] = -powers[j-2][k]
			if k > 0 {
				powers[j][k] += 2 * powers[j-1][k-1]
			}
		}
	}
	for i := range pieceTerms {
		for j := range pieceTerms {
			w := 2 * math.Cos(float64(j)*(float64(i)+0.5)*math.Pi/pieceTerms) / pieceTerms
			if j == 0 {
				w /= 2
			}
			for k := range pieceTerms {
				m[k][i] += w * powers[j][k]
			}
		}
	}
	return m
})

// fit makes a piece that is unknown; it reports whether there is a polynomial for it now.
func (p *Pieces) fit(at uint32) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state[at] != unknown {
		return p.state[at] == fitted
	}
	p.state[at] = unfit
	if e := at >> (23 - pieceBits) & 255; e == 0 || e == 255 {
		return false
	}
	lo := float64(math.Float32frombits(at << pieceBits))
	width := float64(math.Float32frombits(at<<pieceBits|(1<<pieceBits-1))) - lo
	width *= float64(int64(1)<<pieceBits) / (1<<pieceBits - 1)
	number := func(t float64) float64 { return lo + (t+1)/2*width }
	var y [pieceTerms]float64
	size := 0.0
	for i := range y {
		y[i] = p.f(number(math.Cos((float64(i) + 0.5) * math.Pi / pieceTerms)))
		size = max(size, math.Abs(y[i]))
	}
	var c [pieceTerms]float64
	m := toPowers()
	for k := range c {
		for i, v := range y {
			c[k] += m[k][i] * v
		}
	}
	for _, t := range []float64{-1, -0.93, -0.55, -0.21, 0.04, 0.39, 0.71, 0.97} {
		want, got := p.f(number(t)), 0.0
		for k := pieceTerms - 1; k >= 0; k-- {
			got = got*t + c[k]
		}
		if off := math.Abs(got - want); !(off <= 3e-9*math.Abs(want) && off <= 1e-10*size) || math.Abs(want) < 1e-30 || size > 1e38 {
			return false
		}
	}
	copy(p.table[at*pieceTerms:], c[:])
	p.state[at] = fitted
	return true
}
