package native

/*
#include "kernels.h"
static int64_t pieces32(const whittle_kernels *t, float *o, float *a, int64_t n, double *table, int32_t *index, int32_t bits, float *ends, int64_t *other) { return t->pieces32(o, a, n, table, index, bits, ends, other); }
*/
import "C"

import (
	"math"
	"sync"
	"unsafe"
)

const (
	pieceTerms = 8
	infBits    = 0x7f800000 // of a float32
	signBit    = 1 << 31
)

// pieceBits are the bits of a float32, at each level, that say where in its piece it is: a sixteenth of what lies between two powers of two, and a 256th.
var pieceBits = [...]int{19, 15}

// Pieces is a function of one float32 by polynomials, each for a piece of what lies between two powers of two. They are made of the function of float64
// when a number asks for them the first time, and checked: where they are not as good as float32 needs, as where the function turns too fast, smaller pieces
// are tried, and where these are not either, next to a pole, the function itself is called. Where the function is NaN, or infinite, throughout, so is its piece.
type Pieces struct {
	f      func(float64) float64
	mu     sync.RWMutex
	levels [len(pieceBits)]pieceLevel
	ends   [4]float32 // of 0 and infinity, then of the negative ones
}

// A pieceLevel is the pieces of one size.
type pieceLevel struct {
	bits  int
	index []int32   // by the upper bits of a number: 0 => nobody asked, -1 => there is no polynomial, otherwise its place in table
	table []float64 // pieceTerms coefficients each; the first is no piece
}

// NewPieces is f by pieces. f is called for any float32, by several threads at once.
func NewPieces(f func(float64) float64) *Pieces { return &Pieces{f: f} }

// Map computes out[i] = f(a[i]); lengths are equal and out and a apart.
func (p *Pieces) Map(out, a []float32) {
	p.mu.Lock()
	if p.levels[0].index == nil {
		for i := range p.levels {
			p.levels[i] = pieceLevel{pieceBits[i], make([]int32, 1<<(32-pieceBits[i])), make([]float64, pieceTerms)}
		}
		for i, x := range []float64{0, math.Inf(1), math.Copysign(0, -1), math.Inf(-1)} {
			p.ends[i] = float32(p.f(x))
		}
	}
	p.mu.Unlock()
	const some = 1024
	var other, hard [some]int64
	var x, y [some]float32 // what has no large piece
	for len(out) > 0 {
		n := min(len(out), some)
		left := p.level(0, out[:n], a[:n], &other)
		k := 0
		for _, i := range other[:left] {
			x[k], other[k] = a[i], i
			k++
		}
		if k > 0 {
			for _, i := range hard[:p.level(1, y[:k], x[:k], &hard)] {
				y[i] = float32(p.f(float64(x[i])))
			}
			for j, i := range other[:k] {
				out[i] = y[j]
			}
		}
		out, a = out[n:], a[n:]
	}
}

// level computes what lies in pieces of one level, makes those that are asked for the first time, and gives the number of the others, whose positions go to other.
func (p *Pieces) level(which int, out, a []float32, other *[1024]int64) int {
	l := &p.levels[which]
	for {
		p.mu.RLock()
		left := int(C.pieces32(table, p32(out), p32(a), C.int64_t(len(a)), p64(l.table), (*C.int32_t)(unsafe.SliceData(l.index)), C.int32_t(l.bits), p32(p.ends[:]), (*C.int64_t)(&other[0])))
		asked := true
		for _, i := range other[:left] {
			asked = asked && l.index[math.Float32bits(a[i])>>l.bits] != 0
		}
		p.mu.RUnlock()
		if asked {
			return left
		}
		for _, i := range other[:left] {
			p.fit(l, math.Float32bits(a[i])>>l.bits)
		}
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

// constant makes a piece on which the function is NaN, or one of the infinities as a float32, at each of values: all of it is outside of where the function
// is defined. It reports whether that is so.
func (l *pieceLevel) constant(at uint32, values ...float64) bool {
	x := float32(values[0])
	for _, v := range values {
		y := float32(v)
		if y-y == 0 || y != x && x == x || y == y && x != x {
			return false
		}
	}
	l.add(at, [pieceTerms]float64{float64(x)})
	return true
}

// add makes a piece of its coefficients.
func (l *pieceLevel) add(at uint32, c [pieceTerms]float64) {
	l.index[at] = int32(len(l.table) / pieceTerms)
	l.table = append(l.table, c[:]...)
}

// fit makes a piece that nobody has asked for, if there is one.
func (p *Pieces) fit(l *pieceLevel, at uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.index[at] != 0 {
		return
	}
	l.index[at] = -1
	first, last := at<<l.bits, at<<l.bits|(1<<l.bits-1)
	if first&^signBit > infBits {
		l.constant(at, p.f(math.NaN()))
		return
	}
	if e := first &^ signBit >> 23; e == 0 || e == 255 {
		return
	}
	lo := float64(math.Float32frombits(first))
	width := float64(math.Float32frombits(last)) - lo
	width *= float64(int64(1)<<l.bits) / float64(int64(1)<<l.bits-1)
	number := func(t float64) float64 { return lo + (t+1)/2*width }
	var y [pieceTerms]float64
	size := 0.0
	for i := range y {
		y[i] = p.f(number(math.Cos((float64(i) + 0.5) * math.Pi / pieceTerms)))
		size = max(size, math.Abs(y[i]))
	}
	if l.constant(at, append([]float64{p.f(lo), p.f(float64(math.Float32frombits(last)))}, y[:]...)...) {
		return
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
			return
		}
	}
	l.add(at, c)
}
