package native

/*
#include "kernels.h"
static void fft_lines(const whittle_kernels *t, int what, int64_t *h, double *w, double *roots, int64_t side, int64_t n, void *src, int64_t *at, int64_t step, void *dst, int64_t *to,
                      int64_t tostep, int64_t first, int64_t lines, double scale) {
  t->fft_lines(what, h, w, roots, side, n, src, at, step, dst, to, tostep, first, lines, scale);
}
*/
import "C"

import (
	"math"
	"math/bits"
	"sync"
	"unsafe"

	"whittle/kernels/parallel"
)

// A Transform is a discrete Fourier transform of one length, of complex numbers or of real ones: what of it does not depend on the numbers.
type Transform struct {
	n    int
	real bool // the plan is of half the length, where that is even

	head  []int64   // see fft.h
	table []float64 // the same
	roots []float64 // of a real transform of even length

	parts [2]*Transform // of a long complex transform: it is done as one of a matrix, along its columns, then its rows. nil for others
	turns []float64     // and what is between them
	side  int
}

const (
	fftRoots = 4 + iota
	fftChirp
	fftSpectrum
	_
	fftRadix
)

const (
	fftInner  = 72
	fftWidest = 64      // the largest prime factor that has a pass of its own
	fftLong   = 1 << 12 // from which length few lines are done as matrices
)

// root is e^(-2 pi i k/n), k from 0 to n, by the part of a turn where sine and cosine are most accurate.
func root(k, n int) (c, s float64) {
	switch eighth := 8 * k; {
	case eighth > 4*n:
		c, s = root(n-k, n)
		return c, -s
	case eighth > 2*n: // k > n/4
		c, s = quarterRoot(2*n-4*k, n)
		return -c, s
	}
	return quarterRoot(4*k, n)
}

// quarterRoot is root of k/4, which is at most a quarter of n.
func quarterRoot(k, n int) (c, s float64) {
	if 2*k > n {
		c, s = quarterRoot(n-k, n)
		return -s, -c
	}
	s, c = math.Sincos(math.Pi / 2 * float64(k) / float64(n))
	return c, -s
}

// radices factors n for the passes, the widest first; left is what has too large factors.
func radices(n int) (rs []int, left int) {
	twos := bits.TrailingZeros(uint(n))
	n >>= twos
	switch {
	case twos%3 == 2:
		rs = append(rs, 4)
	case twos == 1:
		rs = append(rs, 2)
	case twos%3 == 1:
		rs = append(rs, 4, 4)
		twos -= 3
	}
	for range twos / 3 {
		rs = append(rs, 8)
	}
	for f := 3; f < fftWidest && n > 1; f += 2 {
		for n%f == 0 {
			rs = append(rs, f)
			n /= f
		}
	}
	return rs, n
}

// planned writes the plan of a complex transform of n, from head's place at on.
func (t *Transform) planned(n, at int) {
	head := t.head[at:]
	head[0] = int64(n)
	rs, left := radices(n)
	if left > 1 {
		t.chirped(n, at)
		return
	}
	head[2], head[fftRoots] = int64(len(rs)), int64(len(t.table))
	for i, r := range rs {
		head[fftRadix+i] = int64(r)
	}
	for l, i := n, 0; i < len(rs); i++ {
		r := rs[i]
		m := l / r
		for p := range m {
			for k := 1; k < r; k++ {
				c, s := root(p*k, l)
				t.table = append(t.table, c, s)
			}
		}
		if r > 5 && r != 8 {
			for k := range r {
				c, s := root(k, r)
				t.table = append(t.table, c, s)
			}
		}
		l = m
	}
}

// chirped is planned for a length with a large prime factor.
func (t *Transform) chirped(n, at int) {
	m := 1 << bits.Len(uint(2*n-2))
	for _, r := range []int{9, 5, 3} { // r/16, r/8 or r/4 of it may do
		q := 1 << (bits.Len(uint(r)) - 1)
		if c := m / (2 * q) * r; m >= 2*q && c >= 2*n-1 && c < m {
			m = c
			break
		}
	}
	t.head[at+1] = 1
	t.planned(m, at+fftInner)
	chirp := make([]float64, 2*n)
	for k := range n {
		chirp[2*k], chirp[2*k+1] = root(k*k%(2*n), 2*n)
	}
	t.head[at+fftChirp] = int64(len(t.table))
	t.table = append(t.table, chirp...)
	wrapped := make([]complex128, m)
	for k := range n {
		w := complex(chirp[2*k], -chirp[2*k+1]) * complex(1/float64(m), 0)
		wrapped[k], wrapped[(m-k)%m] = w, w
	}
	inner := &Transform{n: m, head: t.head[at+fftInner:], table: t.table}
	out := make([]complex128, m)
	inner.lines(unsafe.Pointer(&wrapped[0]), []int64{0}, 1, unsafe.Pointer(&out[0]), []int64{0}, 1, 0, 1)
	t.head[at+fftSpectrum] = int64(len(t.table))
	for _, w := range out {
		t.table = append(t.table, real(w), imag(w))
	}
}

var transforms struct {
	sync.Mutex
	known map[[2]int]*Transform
}

// TransformOf is the transform of n numbers, at least 1, real or complex ones. The last ones are remembered.
func TransformOf(n int, real bool) *Transform {
	if real {
		return transformOf(n, ofReal)
	}
	return transformOf(n, ofComplex)
}

// The kinds of transforms: of those that are ofLines, lines are done together however long they are.
const (
	ofComplex = iota
	ofReal
	ofLines
)

func transformOf(n, kind int) *Transform {
	key, real := [2]int{n, kind}, kind == ofReal
	transforms.Lock()
	t := transforms.known[key]
	transforms.Unlock()
	if t != nil {
		return t
	}
	t = &Transform{n: n, real: real, head: make([]int64, 2*fftInner)}
	m := n
	if real && n%2 == 0 {
		m /= 2
		for k := range m + 1 {
			c, s := root(k, n)
			t.roots = append(t.roots, c, s)
		}
	}
	if kind != ofLines && !(real && n%2 != 0) && m >= fftLong {
		t.split(m)
	}
	if t.parts[0] == nil {
		t.planned(m, 0)
	}
	transforms.Lock()
	defer transforms.Unlock()
	if len(transforms.known) >= 64 || transforms.known == nil {
		transforms.known = map[[2]int]*Transform{}
	}
	transforms.known[key] = t
	return t
}

// split has the transform of n done as one of a matrix, if n has two factors that are about as large.
func (t *Transform) split(n int) {
	if _, left := radices(n); left > 1 {
		return
	}
	a := int(math.Sqrt(float64(n)))
	for a > 1 && n%a != 0 {
		a--
	}
	if a < 16 {
		return
	}
	t.parts = [2]*Transform{transformOf(a, ofLines), transformOf(n/a, ofLines)}
	t.side = (bits.Len(uint(n)) + 1) / 2
	for k := range 1 << t.side {
		c, s := root(min(k, n), n)
		t.turns = append(t.turns, c, s)
	}
	for k := range n>>t.side + 1 {
		c, s := root(k<<t.side, n)
		t.turns = append(t.turns, c, s)
	}
}

// What fft.h calls its W_FROM32 and so on.
const (
	from32 = 1 << iota
	to32
	inverse
	fromReal
	toReal
	turned
)

// few is how many lines are few enough to be done as matrices each.
const few = 8

// lines is fft_lines of complex128.
func (t *Transform) lines(src unsafe.Pointer, at []int64, step int64, dst unsafe.Pointer, to []int64, tostep int64, what int, scale float64) {
	t.call(what, nil, 0, src, at, step, dst, to, tostep, 0, scale)
}

func (t *Transform) call(what int, roots []float64, side int, src unsafe.Pointer, at []int64, step int64, dst unsafe.Pointer, to []int64, tostep int64, first int, scale float64) {
	C.fft_lines(table, C.int(what), (*C.int64_t)(unsafe.SliceData(t.head)), p64(t.table), p64(roots), C.int64_t(side), C.int64_t(t.n), src, (*C.int64_t)(unsafe.SliceData(at)), C.int64_t(step),
		dst, (*C.int64_t)(unsafe.SliceData(to)), C.int64_t(tostep), C.int64_t(first), C.int64_t(len(at)), C.double(scale))
}

// shared gives the lines to threads, in groups of as many as are done together.
func (t *Transform) shared(what int, roots []float64, side int, src unsafe.Pointer, at []int64, step int64, dst unsafe.Pointer, to []int64, tostep int64, scale float64) {
	parallel.For((len(at)+few-1)/few, grain/8/few/(t.n+1)+1, func(lo, hi int) {
		lo, hi = lo*few, min(hi*few, len(at))
		t.call(what, roots, side, src, at[lo:hi], step, dst, to[lo:hi], tostep, lo, scale)
	})
}

// Complex are the elements of complex tensors, and Real of others.
type (
	Complex interface{ complex64 | complex128 }
	Real    interface{ float32 | float64 }
)

func width[T any](narrow int) int {
	var z T
	switch any(z).(type) {
	case complex64, float32:
		return narrow
	}
	return 0
}

func at0[T any](x []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

// ComplexLines transforms lines of complex numbers: that which begins at src[at[k]], its elements step apart, to dst[to[k]] and on, tostep apart, times scale. The
// inverse is not divided by the length. A line may be its own result where the steps are the same; otherwise results must not overlap what is read.
func ComplexLines[S, D Complex](t *Transform, dst []D, to []int64, tostep int64, src []S, at []int64, step int64, back bool, scale float64) {
	what := width[S](from32) | width[D](to32)
	if back {
		what |= inverse
	}
	if t.parts[0] == nil {
		t.shared(what, nil, 0, at0(src), at, step, at0(dst), to, tostep, scale)
		return
	}
	for k := range at {
		t.matrix(what, at0(src[at[k]:]), step, at0(dst[to[k]:]), tostep, scale)
	}
}

// matrix is one complex line by parts.
func (t *Transform) matrix(what int, src unsafe.Pointer, step int64, dst unsafe.Pointer, tostep int64, scale float64) {
	a, b := t.parts[0], t.parts[1]
	between := make([]complex128, a.n*b.n)
	at, to := make([]int64, b.n), make([]int64, b.n)
	for i := range at {
		at[i], to[i] = int64(i)*step, int64(i)
	}
	a.shared(what&^to32|turned, t.turns, t.side, src, at, step*int64(b.n), at0(between), to, int64(b.n), 1)
	at, to = make([]int64, a.n), make([]int64, a.n)
	for i := range at {
		at[i], to[i] = int64(i*b.n), int64(i)*tostep
	}
	b.shared(what&^from32, nil, 0, at0(between), at, 1, dst, to, tostep*int64(a.n), scale)
}

// RealLines is ComplexLines of real numbers: the first half of the spectrum and the frequency behind it, where there is one.
func RealLines[S Real, D Complex](t *Transform, dst []D, to []int64, tostep int64, src []S, at []int64, step int64, scale float64) {
	if t.parts[0] == nil {
		t.shared(fromReal|width[S](from32)|width[D](to32), t.roots, 0, at0(src), at, step, at0(dst), to, tostep, scale)
		return
	}
	h := t.n / 2
	z, s := make([]complex128, h), complex(scale/2, 0)
	for k := range at {
		line := src[at[k]:]
		if step != 1 {
			line = make([]S, t.n)
			for i := range line {
				line[i] = src[at[k]+int64(i)*step]
			}
		}
		t.matrix(width[S](from32), at0(line), 1, at0(z), 1, 1)
		out := dst[to[k]:]
		parallel.For(h+1, grain/4, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				x, y := z[i%h], z[(h-i)%h]
				y = complex(real(y), -imag(y))
				d := x - y
				out[int64(i)*tostep] = D((x + y + complex(imag(d), -real(d))*complex(t.roots[2*i], t.roots[2*i+1])) * s)
			}
		})
	}
}

// HalfLines is the inverse of RealLines, not divided by the length.
func HalfLines[S Complex, D Real](t *Transform, dst []D, to []int64, tostep int64, src []S, at []int64, step int64, scale float64) {
	if t.parts[0] == nil {
		t.shared(toReal|inverse|width[S](from32)|width[D](to32), t.roots, 0, at0(src), at, step, at0(dst), to, tostep, scale)
		return
	}
	h := t.n / 2
	z := make([]complex128, h)
	for k := range at {
		in := src[at[k]:]
		first, last := real(complex128(in[0])), real(complex128(in[int64(h)*step]))
		parallel.For(h, grain/4, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				x, y := complex128(in[int64(i)*step]), complex128(in[int64(h-i)*step])
				if i == 0 {
					x, y = complex(first, 0), complex(last, 0)
				}
				y = complex(real(y), -imag(y))
				d := (x - y) * complex(t.roots[2*i], -t.roots[2*i+1])
				z[i] = x + y + complex(-imag(d), real(d))
			}
		})
		line := dst[to[k]:]
		if tostep != 1 {
			line = make([]D, t.n)
		}
		t.matrix(inverse|width[D](to32), at0(z), 1, at0(line), 1, scale)
		for i := 0; tostep != 1 && i < t.n; i++ {
			dst[to[k]+int64(i)*tostep] = line[i]
		}
	}
}
