package native

/*
#cgo CFLAGS: -O3 -g0 -std=gnu11 -Wno-unused-function
#cgo LDFLAGS: -lm -ldl
#include <stdlib.h>
#include "kernels.h"

static void unary32(const whittle_kernels *t, int op, float *o, float *a, int64_t n) { t->unary32(op, o, a, n); }
static void unary64(const whittle_kernels *t, int op, double *o, double *a, int64_t n) { t->unary64(op, o, a, n); }
static void binary32(const whittle_kernels *t, int op, float *o, float *a, int64_t sa, float *b, int64_t sb, int64_t n) { t->binary32(op, o, a, sa, b, sb, n); }
static void binary64(const whittle_kernels *t, int op, double *o, double *a, int64_t sa, double *b, int64_t sb, int64_t n) { t->binary64(op, o, a, sa, b, sb, n); }
static void compare32(const whittle_kernels *t, int op, uint8_t *o, float *a, int64_t sa, float *b, int64_t sb, int64_t n) { t->compare32(op, o, a, sa, b, sb, n); }
static void compare64(const whittle_kernels *t, int op, uint8_t *o, double *a, int64_t sa, double *b, int64_t sb, int64_t n) { t->compare64(op, o, a, sa, b, sb, n); }
static void comparei64(const whittle_kernels *t, int op, uint8_t *o, int64_t *a, int64_t sa, int64_t *b, int64_t sb, int64_t n) { t->comparei64(op, o, a, sa, b, sb, n); }
static void bits(const whittle_kernels *t, int op, uint8_t *o, uint8_t *a, int64_t sa, uint8_t *b, int64_t sb, int64_t n) { t->bits(op, o, a, sa, b, sb, n); }
static void ints64(const whittle_kernels *t, int op, int64_t *o, int64_t *a, int64_t sa, int64_t *b, int64_t sb, int64_t n) { t->ints64(op, o, a, sa, b, sb, n); }
static int64_t sum_ints64(const whittle_kernels *t, int64_t *a, int64_t n) { return t->sum_ints64(a, n); }
static void convert(const whittle_kernels *t, int to, int from, void *o, void *a, int64_t n) { t->convert(to, from, o, a, n); }
static void widen16(const whittle_kernels *t, float *o, uint16_t *a, int64_t n) { t->widen16(o, a, n); }
static void narrow16(const whittle_kernels *t, uint16_t *o, float *a, int64_t n) { t->narrow16(o, a, n); }
static void widenhalf(const whittle_kernels *t, float *o, uint16_t *a, int64_t n) { t->widenhalf(o, a, n); }
static void narrowhalf(const whittle_kernels *t, uint16_t *o, float *a, int64_t n) { t->narrowhalf(o, a, n); }
static void clamp32(const whittle_kernels *t, int op, float *o, float *a, int64_t sa, float *l, int64_t sl, float *h, int64_t sh, int64_t n) { t->clamp32(op, o, a, sa, l, sl, h, sh, n); }
static void clamp64(const whittle_kernels *t, int op, double *o, double *a, int64_t sa, double *l, int64_t sl, double *h, int64_t sh, int64_t n) { t->clamp64(op, o, a, sa, l, sl, h, sh, n); }
static void choose(const whittle_kernels *t, int size, void *o, uint8_t *c, int64_t sc, void *a, int64_t sa, void *b, int64_t sb, int64_t n) { t->select(size, o, c, sc, a, sa, b, sb, n); }
static void arg_rows32(const whittle_kernels *t, int64_t *o, float *a, int64_t r, int64_t c, int least) { t->arg_rows32(o, a, r, c, least); }
static void cumsum_rows32(const whittle_kernels *t, float *o, float *a, int64_t r, int64_t c) { t->cumsum_rows32(o, a, r, c); }
static void sum_rows32(const whittle_kernels *t, float *o, float *a, int64_t r, int64_t c, int64_t s) { t->sum_rows32(o, a, r, c, s); }
static void sum_parts32(const whittle_kernels *t, double *o, float *a, int64_t n, int64_t part) { t->sum_parts32(o, a, n, part); }
static double deviations32(const whittle_kernels *t, float *a, int64_t n, double mean, int power) { return t->deviations32(a, n, mean, power); }
static void sum_cols32(const whittle_kernels *t, float *o, float *a, int64_t r, int64_t c, int64_t s) { double tmp[512]; t->sum_cols32(o, a, r, c, s, tmp); }
static void max_rows32(const whittle_kernels *t, float *o, float *a, int64_t r, int64_t c, int64_t s) { t->max_rows32(o, a, r, c, s); }
static void softmax_rows32(const whittle_kernels *t, float *o, float *a, int64_t r, int64_t c, int lg) { t->softmax_rows32(o, a, r, c, lg); }
static void norm_rows32(const whittle_kernels *t, float *o, float *m, float *rs, float *a, float *w, float *b, int64_t r, int64_t c, float eps) { t->norm_rows32(o, m, rs, a, w, b, r, c, eps); }
static void gemm32(const whittle_kernels *t, int64_t m, int64_t n, int64_t k, float *a, int64_t ars, int64_t acs, float *b, int64_t brs, int64_t bcs, float *c, int64_t crs, int64_t ccs, float alpha, float beta) {
  t->gemm32(m, n, k, a, ars, acs, b, brs, bcs, c, crs, ccs, alpha, beta);
}
static void gemm64(const whittle_kernels *t, int64_t m, int64_t n, int64_t k, double *a, int64_t ars, int64_t acs, double *b, int64_t brs, int64_t bcs, double *c, int64_t crs, int64_t ccs, double alpha, double beta) {
  t->gemm64(m, n, k, a, ars, acs, b, brs, bcs, c, crs, ccs, alpha, beta);
}
static void norm_sums32(const whittle_kernels *t, double *sums, float *g, float *x, float *w, float mean, float rstd, int64_t n) { t->norm_sums32(sums, g, x, w, mean, rstd, n); }
static void norm_apply32(const whittle_kernels *t, float *o, float *g, float *x, float *w, float f, float mean, float rstd, float a, float b, int64_t n) { t->norm_apply32(o, g, x, w, f, mean, rstd, a, b, n); }
static void norm_cols32(const whittle_kernels *t, double *dw, double *db, float *g, float *x, float *mean, float *rstd, int64_t r, int64_t c, int64_t n) { t->norm_cols32(dw, db, g, x, mean, rstd, r, c, n); }
#define POINT(NM, T) \
  static void NM(const whittle_kernels *t, int op, T *o, T *a, int64_t sa, T *b, int64_t sb, T *c, int64_t sc, double p, double q, double r, double s, int64_t n) { \
    const T *in[3] = {a, b, c}; \
    int64_t step[3] = {sa, sb, sc}; \
    double num[4] = {p, q, r, s}; \
    t->NM(op, o, in, step, num, n); \
  }
// Rows of a kernel: o, a, b and c are the first, r.. how far apart they are.
#define ROWS1(NM, T) \
  static void NM##_rows(const whittle_kernels *t, int op, T *o, int64_t ro, T *a, int64_t ra, int64_t n, int64_t rows) { \
    for (int64_t r = 0; r < rows; r++) t->NM(op, o + r * ro, a + r * ra, n); \
  }
#define ROWS2(NM, O, T) \
  static void NM##_rows(const whittle_kernels *t, int op, O *o, int64_t ro, T *a, int64_t sa, int64_t ra, T *b, int64_t sb, int64_t rb, int64_t n, int64_t rows) { \
    for (int64_t r = 0; r < rows; r++) t->NM(op, o + r * ro, a + r * ra, sa, b + r * rb, sb, n); \
  }
#define ROWS3(NM, T) \
  static void NM##_rows(const whittle_kernels *t, int op, T *o, int64_t ro, T *a, int64_t sa, int64_t ra, T *b, int64_t sb, int64_t rb, T *c, int64_t sc, int64_t rc, \
      double p, double q, double r, double s, int64_t n, int64_t rows) { \
    int64_t step[3] = {sa, sb, sc}; \
    double num[4] = {p, q, r, s}; \
    for (int64_t i = 0; i < rows; i++) { \
      const T *in[3] = {a + i * ra, b ? b + i * rb : b, c ? c + i * rc : c}; \
      t->NM(op, o + i * ro, in, step, num, n); \
    } \
  }
static void choose_rows(const whittle_kernels *t, int size, void *o, int64_t ro, uint8_t *c, int64_t sc, int64_t rc, void *a, int64_t sa, int64_t ra, void *b, int64_t sb, int64_t rb, int64_t n, int64_t rows) {
  for (int64_t r = 0; r < rows; r++) t->select(size, (char *)o + r * ro * size, c + r * rc, sc, (char *)a + r * ra * size, sa, (char *)b + r * rb * size, sb, n);
}
ROWS1(unary32, float)
ROWS1(unary64, double)
ROWS2(binary32, float, float)
ROWS2(binary64, double, double)
ROWS2(compare32, uint8_t, float)
ROWS2(compare64, uint8_t, double)
ROWS2(comparei64, uint8_t, int64_t)
ROWS3(point32, float)
ROWS3(point64, double)
POINT(point32, float)
POINT(point64, double)
static void windows_max32(const whittle_kernels *t, float *best, int64_t *o, float *a, int64_t *at, int64_t *ends, int64_t windows, int64_t cols) { t->windows_max32(best, o, a, at, ends, windows, cols); }
static void windows_mean32(const whittle_kernels *t, float *o, float *a, int64_t *at, int64_t *ends, float *sizes, int64_t windows, int64_t cols) { t->windows_mean32(o, a, at, ends, sizes, windows, cols); }
static void polynomial32(const whittle_kernels *t, int kind, float *o, float *a, float *degree, int64_t n) { t->polynomial32(kind, o, a, degree, n); }
static void normal32(const whittle_kernels *t, float *b, int64_t n, double mean, double std) { t->normal32(b, n, mean, std); }
static void weights32(const whittle_kernels *t, int64_t m, int64_t k, float *packed, float *w, int64_t part, int64_t parts) { t->weights32(m, k, packed, w, part, parts); }
static void convolve32(const whittle_kernels *t, int64_t m, float *w, float *im, const whittle_plane *g, int64_t from, int64_t to, float *c, int64_t crs) { t->convolve32(m, w, im, g, from, to, c, crs); }
static void weights64(const whittle_kernels *t, int64_t m, int64_t k, double *packed, double *w, int64_t part, int64_t parts) { t->weights64(m, k, packed, w, part, parts); }
static void convolve64(const whittle_kernels *t, int64_t m, double *w, double *im, const whittle_plane *g, int64_t from, int64_t to, double *c, int64_t crs) { t->convolve64(m, w, im, g, from, to, c, crs); }
static void unfold32(const whittle_kernels *t, float *col, float *im, const whittle_plane *g, int64_t from, int64_t to) { t->unfold32(col, im, g, from, to); }
static void unfold64(const whittle_kernels *t, double *col, double *im, const whittle_plane *g, int64_t from, int64_t to) { t->unfold64(col, im, g, from, to); }
static void fold32(const whittle_kernels *t, float *im, float *col, const whittle_plane *g) { t->fold32(im, col, g); }
static void fold64(const whittle_kernels *t, double *im, double *col, const whittle_plane *g) { t->fold64(im, col, g); }
static void depthwise32(const whittle_kernels *t, int what, float *y, float *im, float *w, const whittle_plane *g) { t->depthwise32(what, y, im, w, g); }
static void depthwise64(const whittle_kernels *t, int what, double *y, double *im, double *w, const whittle_plane *g) { t->depthwise64(what, y, im, w, g); }
*/
import "C"

import (
	_ "embed"
	"sync"
	"unsafe"

	"whittle/kernels/parallel"
)

// An Op names an elementwise kernel.
type Op int

// Binary kernels. Max and Min give NaN if either operand is NaN.
const (
	Add Op = 1 + iota
	Sub
	Mul
	Div
	Max
	Min
	Pow
	Atan2
	Hypot
)

// Binary kernels of Bits.
const (
	And Op = 10 + iota
	Or
	Xor
)

// Gradients of activations: of the gradient of the result, and of the operand; of a sigmoid and a tanh, of the result.
const (
	GeluBack Op = 112 + iota
	GeluTanhBack
	SiluBack
	SigmoidBack
	TanhBack
)

// Comparisons: kernels of two operands whose results are bytes, 0 or 1.
const (
	Eq Op = 16 + iota
	Ne
	Lt
	Le
	Gt
	Ge
	Both   // both are not 0
	Either // one is not 0, or both
	OneOf  // one is not 0, the other is
	Within // the first is no farther from 0 than the second
	Beyond // or no nearer
)

// Unary kernels. Round goes to the even one of two that are as near.
const (
	Exp Op = 32 + iota
	Log
	Tanh
	Sigmoid
	Erf
	Gelu
	Relu
	Sqrt
	Rsqrt
	Neg
	Abs
	Sin
	Cos
	Recip
	Silu
	GeluTanh
	Square
	Cube
	Floor
	Ceil
	Trunc
	Round
	Exp2
	Expm1
	Log2
	Log10
	Log1p
	Tan
	Asin
	Acos
	Atan
	Sinh
	Cosh
	Asinh
	Acosh
	Atanh
	Erfc
	Lgamma
)

// Kernels of three operands: Clamp and Select.
const (
	Clamping Op = 96 + iota
	Selection
)

// Kernels of Point: functions of up to three elements and of numbers, as point.h has them, in its order. Those named Back are gradients, of the
// gradient of the result and the operands.
const (
	Frac Op = 128 + iota
	Angle
	Sign
	Scaled
	Leaky
	Hardtanh
	Hardsigmoid
	Hardswish
	Elu
	Softplus
	Mish
	Hardshrink
	Softshrink
	Threshold
	Logsigmoid
	Decay
	Logit
	Entr
	NanToNum
	RoundUp
	RoundDown
	AddTimes
	SubTimes
	RsubTimes
	Fmod
	Remainder
	FloorDiv
	TruncDiv
	Copysign
	FMax
	FMin
	Heaviside
	LogAddExp
	LogAddExp2
	XLogY
	XLog1PY
	Lerp
	Times
	LeakyBack
	EluBack
	HardtanhBack
	HardsigmoidBack
	HardswishBack
	SoftplusBack
	MishBack
	ShrinkBack
	ThresholdBack
	LogsigmoidBack
	LogitBack
	SoftmaxBack // of the result, and the sum of the gradients times the results (or, of its logarithm, of the gradients)
	LogSoftmaxBack
	PRelu
	MSE
	SmoothL1
	Huber
	SoftMargin
	BCE
	BCELogits
	NextAfter
	OuterAdd // x times the second number, and the first times y times z
	AddCMul
	AddCDiv
	Lerp3
	MSEBack
	SmoothL1Back
	HuberBack
	SoftMarginBack
	BCEBack
	PReluBack
	PReluBackW
	BCELogitsWeighed
)

// Streamed, added to an operation, has its result written past the cache. For results so large that they leave it before anybody reads them,
// and that are none of the operands: their memory need not be fetched to be overwritten.
const Streamed Op = 1 << 16

// An ISA is an instruction set that the kernels exist for.
type ISA int

// The instruction sets.
const (
	SSE2 ISA = iota
	AVX2
	AVX512
)

func (l ISA) String() string { return [...]string{"sse2", "avx2", "avx512"}[l] }

var (
	detected = ISA(C.whittle_cpu_level())
	table    = C.whittle_table(C.int(detected))
)

// Level is the instruction set that this machine supports best.
func Level() ISA { return detected }

// setLevel switches kernels, for tests.
func setLevel(l ISA) { table = C.whittle_table(C.int(min(l, detected))) }

// tiny is the length up to which a Go loop beats a cgo call.
const tiny = 64

func p32(s []float32) *C.float  { return (*C.float)(unsafe.Pointer(unsafe.SliceData(s))) }
func pi64(s []int64) *C.int64_t { return (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(s))) }
func p64(s []float64) *C.double { return (*C.double)(unsafe.Pointer(unsafe.SliceData(s))) }

// exact says that op has one right result, which the Go loop gives, too. The others are approximations: those of the Go loop differ in the last
// bit, and a result must not depend on how many there are.
func (op Op) exact() bool {
	switch op {
	case Relu, Sqrt, Rsqrt, Neg, Abs, Recip, Square, Cube, Floor, Ceil, Trunc, Round:
		return true
	}
	return false
}

// Scalar is C and C++ source: the functions of one float that the kernels are made of, for code that is to give the same bits.
//
//go:embed scalar.h
var Scalar string

// Unary32 computes out[i] = op(a[i]). len(a) must be len(out).
func Unary32(op Op, out, a []float32) {
	_ = a[:len(out)]
	if len(out) <= tiny && op.exact() {
		UnaryGo(op, out, a)
		return
	}
	C.unary32(table, C.int(op), p32(out), p32(a), C.int64_t(len(out)))
}

// Unary64 is Unary32 for float64.
func Unary64(op Op, out, a []float64) {
	_ = a[:len(out)]
	if len(out) <= tiny/4 && op.exact() {
		UnaryGo(op, out, a)
		return
	}
	C.unary64(table, C.int(op), p64(out), p64(a), C.int64_t(len(out)))
}

func step(n, l int) C.int64_t {
	if l == 1 && n != 1 {
		return 0
	}
	return 1
}

// Binary32 computes out[i] = op(a[i], b[i]); an operand of length 1 is repeated.
func Binary32(op Op, out, a, b []float32) {
	if len(out) <= tiny && op < Pow {
		BinaryGo(op, out, a, b)
		return
	}
	C.binary32(table, C.int(op), p32(out), p32(a), step(len(out), len(a)), p32(b), step(len(out), len(b)), C.int64_t(len(out)))
}

// Binary64 is Binary32 for float64.
func Binary64(op Op, out, a, b []float64) {
	if len(out) <= tiny && op < Pow {
		BinaryGo(op, out, a, b)
		return
	}
	C.binary64(table, C.int(op), p64(out), p64(a), step(len(out), len(a)), p64(b), step(len(out), len(b)), C.int64_t(len(out)))
}

// Compare computes out[i] = op(a[i], b[i]), 0 or 1; an operand of length 1 is repeated.
func Compare[T float32 | float64 | int64](op Op, out []uint8, a, b []T) {
	if len(out) <= tiny {
		CompareGo(op&^Streamed, out, a, b)
		return
	}
	o, pa, pb := (*C.uint8_t)(unsafe.SliceData(out)), unsafe.Pointer(unsafe.SliceData(a)), unsafe.Pointer(unsafe.SliceData(b))
	sa, sb, n := step(len(out), len(a)), step(len(out), len(b)), C.int64_t(len(out))
	switch any(a).(type) {
	case []float32:
		C.compare32(table, C.int(op), o, (*C.float)(pa), sa, (*C.float)(pb), sb, n)
	case []float64:
		C.compare64(table, C.int(op), o, (*C.double)(pa), sa, (*C.double)(pb), sb, n)
	case []int64:
		C.comparei64(table, C.int(op), o, (*C.int64_t)(pa), sa, (*C.int64_t)(pb), sb, n)
	}
}

// Point computes out[i] = op(in[0][i], ...), op being one of the kernels of Frac to BCELogitsWeighed, of as many operands as it has; num are its numbers.
// An operand of length 1 is repeated.
func Point[T float32 | float64](op Op, out []T, in [][]T, num []float64) {
	if len(out) == 0 {
		return
	}
	n := C.int64_t(len(out))
	var p [4]C.double
	for k, x := range num {
		p[k] = C.double(x)
	}
	var at [3]*T
	var steps [3]C.int64_t
	for k, v := range in {
		_ = v[min(len(out), len(v))-1]
		at[k], steps[k] = unsafe.SliceData(v), step(len(out), len(v))
	}
	switch out := any(out).(type) {
	case []float32:
		at := any(at).([3]*float32)
		C.point32(table, C.int(op), p32(out), (*C.float)(at[0]), steps[0], (*C.float)(at[1]), steps[1], (*C.float)(at[2]), steps[2], p[0], p[1], p[2], p[3], n)
	case []float64:
		at := any(at).([3]*float64)
		C.point64(table, C.int(op), p64(out), (*C.double)(at[0]), steps[0], (*C.double)(at[1]), steps[1], (*C.double)(at[2]), steps[2], p[0], p[1], p[2], p[3], n)
	}
}

// A Lane is one operand of rows of a kernel: from where it begins on, and how far apart its elements, 0 or 1, and its rows are, in elements.
type Lane[T any] struct {
	From      []T
	Step, Row int64
}

// lane is a lane's address and distances. All of its rows of n elements must be there.
func (l Lane[T]) lane(n, rows int64) (at unsafe.Pointer, step, row C.int64_t) {
	_ = l.From[(rows-1)*l.Row+(n-1)*l.Step]
	return unsafe.Pointer(unsafe.SliceData(l.From)), C.int64_t(l.Step), C.int64_t(l.Row)
}

const (
	shortRow  = 96   // the length up to which several rows are joined where they can be: the end of each costs as much as the rest
	joinedRow = 1024 // how long a row becomes
)

// joins reports whether rows of n elements of l are one row when put together: they follow each other, or are the same again and again.
func (l Lane[T]) joins(n int64) bool { return l.Row == 0 || l.Step == 1 && l.Row == n }

// joinedRooms are where the rows of two operands are put together.
var joinedRooms = sync.Pool{New: func() any { return new([2][joinedRow]float64) }}

// joined is l with some rows of n elements put together, in room if they are the same again and again. l must join.
func (l Lane[T]) joined(n, some int64, room *[joinedRow]float64) Lane[T] {
	switch {
	case l.Row == n:
		return Lane[T]{From: l.From, Step: 1, Row: n * some}
	case l.Step == 0:
		return l
	}
	row := unsafe.Slice((*T)(unsafe.Pointer(room)), n*some)
	for at := int64(0); at < n*some; at += n {
		copy(row[at:at+n], l.From)
	}
	return Lane[T]{From: row, Step: 1}
}

// after is l without its first rows.
func (l Lane[T]) after(rows int64) Lane[T] {
	l.From = l.From[rows*l.Row:]
	return l
}

// UnaryRows is Unary32 or Unary64 for rows of n elements; the step of out and a is 1.
func UnaryRows[T float32 | float64](op Op, out, a Lane[T], n, rows int64) {
	o, _, ro := out.lane(n, rows)
	pa, _, ra := a.lane(n, rows)
	switch any(zero[T]()).(type) {
	case float32:
		C.unary32_rows(table, C.int(op), (*C.float)(o), ro, (*C.float)(pa), ra, C.int64_t(n), C.int64_t(rows))
	case float64:
		C.unary64_rows(table, C.int(op), (*C.double)(o), ro, (*C.double)(pa), ra, C.int64_t(n), C.int64_t(rows))
	}
}

// BinaryRows is Binary32 or Binary64 for rows of n elements; the step of out is 1.
func BinaryRows[T float32 | float64](op Op, out, a, b Lane[T], n, rows int64) {
	if n < shortRow && rows >= 8 && out.Row == n && a.joins(n) && b.joins(n) { // several rows go as one
		some, room := min(rows, joinedRow/n), joinedRooms.Get().(*[2][joinedRow]float64)
		defer joinedRooms.Put(room)
		a, b := a.joined(n, some, &room[0]), b.joined(n, some, &room[1])
		wide := Lane[T]{From: out.From, Step: 1, Row: n * some}
		BinaryRows(op, wide, a, b, n*some, rows/some)
		if rest, at := rows%some, rows/some; rest > 0 {
			BinaryRows(op, wide.after(at), a.after(at), b.after(at), n*rest, 1)
		}
		return
	}
	o, _, ro := out.lane(n, rows)
	pa, sa, ra := a.lane(n, rows)
	pb, sb, rb := b.lane(n, rows)
	switch any(zero[T]()).(type) {
	case float32:
		C.binary32_rows(table, C.int(op), (*C.float)(o), ro, (*C.float)(pa), sa, ra, (*C.float)(pb), sb, rb, C.int64_t(n), C.int64_t(rows))
	case float64:
		C.binary64_rows(table, C.int(op), (*C.double)(o), ro, (*C.double)(pa), sa, ra, (*C.double)(pb), sb, rb, C.int64_t(n), C.int64_t(rows))
	}
}

// CompareRows is Compare for rows of n elements; the step of out is 1.
func CompareRows[T float32 | float64 | int64](op Op, out Lane[uint8], a, b Lane[T], n, rows int64) {
	p, _, ro := out.lane(n, rows)
	o := (*C.uint8_t)(p)
	pa, sa, ra := a.lane(n, rows)
	pb, sb, rb := b.lane(n, rows)
	switch any(zero[T]()).(type) {
	case float32:
		C.compare32_rows(table, C.int(op), o, ro, (*C.float)(pa), sa, ra, (*C.float)(pb), sb, rb, C.int64_t(n), C.int64_t(rows))
	case float64:
		C.compare64_rows(table, C.int(op), o, ro, (*C.double)(pa), sa, ra, (*C.double)(pb), sb, rb, C.int64_t(n), C.int64_t(rows))
	case int64:
		C.comparei64_rows(table, C.int(op), o, ro, (*C.int64_t)(pa), sa, ra, (*C.int64_t)(pb), sb, rb, C.int64_t(n), C.int64_t(rows))
	}
}

// SelectRows is Select for rows of n elements; the step of out is 1.
func SelectRows[T uint8 | uint16 | uint32 | uint64](out Lane[T], cond Lane[uint8], a, b Lane[T], n, rows int64) {
	o, _, ro := out.lane(n, rows)
	c, sc, rc := cond.lane(n, rows)
	pa, sa, ra := a.lane(n, rows)
	pb, sb, rb := b.lane(n, rows)
	C.choose_rows(table, C.int(unsafe.Sizeof(zero[T]())), o, ro, (*C.uint8_t)(c), sc, rc, pa, sa, ra, pb, sb, rb, C.int64_t(n), C.int64_t(rows))
}

// PointRows is Point for rows of n elements; the step of out is 1.
func PointRows[T float32 | float64](op Op, out Lane[T], in []Lane[T], num []float64, n, rows int64) {
	var p [4]C.double
	for k, x := range num {
		p[k] = C.double(x)
	}
	var at [3]unsafe.Pointer
	var step, row [3]C.int64_t
	for k, l := range in {
		at[k], step[k], row[k] = l.lane(n, rows)
	}
	o, _, ro := out.lane(n, rows)
	switch any(zero[T]()).(type) {
	case float32:
		C.point32_rows(table, C.int(op), (*C.float)(o), ro, (*C.float)(at[0]), step[0], row[0], (*C.float)(at[1]), step[1], row[1], (*C.float)(at[2]), step[2], row[2],
			p[0], p[1], p[2], p[3], C.int64_t(n), C.int64_t(rows))
	case float64:
		C.point64_rows(table, C.int(op), (*C.double)(o), ro, (*C.double)(at[0]), step[0], row[0], (*C.double)(at[1]), step[1], row[1], (*C.double)(at[2]), step[2], row[2],
			p[0], p[1], p[2], p[3], C.int64_t(n), C.int64_t(rows))
	}
}

// zero is a number by whose type a kernel is chosen.
func zero[T any]() (x T) { return }

// A Polynomial is a family of orthogonal polynomials.
type Polynomial int

// The polynomials of Chebyshev, of four kinds, of Hermite, of two, of Laguerre and of Legendre.
const (
	ChebyshevT Polynomial = iota
	ChebyshevU
	ChebyshevV
	ChebyshevW
	HermiteH
	HermiteHe
	LaguerreL
	LegendreP

	Shifted Polynomial = 16 // added to one: that of 2x-1 instead of x
)

// Polynomials computes the polynomial of each degree, cut to a whole number, of each number of a; one of a negative degree is 0. Lengths are equal.
func Polynomials(p Polynomial, out, a, degree []float32) {
	if len(out) > 0 {
		_, _ = a[len(out)-1], degree[len(out)-1]
		C.polynomial32(table, C.int(p), p32(out), p32(a), p32(degree), C.int64_t(len(out)))
	}
}

// Normal32 turns uniform samples of [0, 1), a multiple of 16, into normal ones by the method of Box and Muller: of 16 each, the first eight give the
// radii and the others the angles. What float32 would round is rounded, but nothing else is: logarithm, root, sine and cosine are those of float64.
func Normal32(b []float32, mean, std float64) {
	if len(b) > 0 {
		C.normal32(table, p32(b), C.int64_t(len(b)), C.double(mean), C.double(std))
	}
}

// Bits computes out[i] = a[i] op b[i], op being And, Or or Xor, on the bytes of integers; an operand of length 1 is repeated.
func Bits(op Op, out, a, b []uint8) {
	if len(out) <= tiny {
		BitsGo(op, out, a, b)
		return
	}
	C.bits(table, C.int(op), (*C.uint8_t)(unsafe.SliceData(out)), (*C.uint8_t)(unsafe.SliceData(a)), step(len(out), len(a)),
		(*C.uint8_t)(unsafe.SliceData(b)), step(len(out), len(b)), C.int64_t(len(out)))
}

// Ints computes out[i] = a[i] op b[i], op being Add, Sub, Mul, Max or Min, which wraps around; an operand of length 1 is repeated.
func Ints(op Op, out, a, b []int64) {
	if len(out) <= tiny {
		IntsGo(op, out, a, b)
		return
	}
	C.ints64(table, C.int(op), pi64(out), pi64(a), step(len(out), len(a)), pi64(b), step(len(out), len(b)), C.int64_t(len(out)))
}

// SumInts is the sum of a, which wraps around.
func SumInts(a []int64) int64 { return int64(C.sum_ints64(table, pi64(a), C.int64_t(len(a)))) }

// A Number is a type of elements that Convert knows.
type Number interface {
	float32 | float64 | int64 | int32 | int16 | int8 | uint8
}

// numberOf is T's number in kernels.h.
func numberOf[T Number]() Op {
	switch any(zero[T]()).(type) {
	case float32:
		return 0
	case float64:
		return 1
	case int64:
		return 2
	case int32:
		return 3
	case int16:
		return 4
	case int8:
		return 5
	}
	return 6
}

// Convert computes out[i] = a[i] in another type. Integers are cut to the bits that there are. Floats are cut towards zero, for int64 as one, for the others as
// an int32; what that does not hold, and NaN, is its least value, whose bits are cut. past is Streamed, for types of at least 4 bytes, or 0.
func Convert[D, S Number](past Op, out []D, a []S) {
	_ = a[:len(out)]
	to, from := numberOf[D](), numberOf[S]()
	if len(out) == 0 || to == from {
		for i := range out {
			out[i] = D(a[i])
		}
		return
	}
	C.convert(table, C.int(to|past), C.int(from), unsafe.Pointer(unsafe.SliceData(out)), unsafe.Pointer(unsafe.SliceData(a)), C.int64_t(len(out)))
}

// FromBFloat16 converts the bits of bfloat16 numbers to float32; lengths are equal.
func FromBFloat16(out []float32, a []uint16) {
	_ = a[:len(out)]
	C.widen16(table, p32(out), (*C.uint16_t)(unsafe.SliceData(a)), C.int64_t(len(out)))
}

// ToBFloat16 rounds to the bits of the nearest bfloat16 numbers, to even of two that are as near; lengths are equal.
func ToBFloat16(out []uint16, a []float32) {
	_ = a[:len(out)]
	C.narrow16(table, (*C.uint16_t)(unsafe.SliceData(out)), p32(a), C.int64_t(len(out)))
}

// FromFloat16 converts the bits of half precision numbers to float32; lengths are equal.
func FromFloat16(out []float32, a []uint16) {
	_ = a[:len(out)]
	C.widenhalf(table, p32(out), (*C.uint16_t)(unsafe.SliceData(a)), C.int64_t(len(out)))
}

// ToFloat16 rounds to the bits of the nearest half precision numbers, to even of two that are as near; lengths are equal.
func ToFloat16(out []uint16, a []float32) {
	_ = a[:len(out)]
	C.narrowhalf(table, (*C.uint16_t)(unsafe.SliceData(out)), p32(a), C.int64_t(len(out)))
}

// Clamp computes out[i] = min(max(a[i], lo[i]), hi[i]), NaN where any of the three is; an operand of length 1 is repeated.
// op is Clamping, or that Streamed.
func Clamp[T float32 | float64](op Op, out, a, lo, hi []T) {
	if len(out) <= tiny {
		ClampGo(out, a, lo, hi)
		return
	}
	sa, sl, sh, n := step(len(out), len(a)), step(len(out), len(lo)), step(len(out), len(hi)), C.int64_t(len(out))
	switch out := any(out).(type) {
	case []float32:
		C.clamp32(table, C.int(op&Streamed), p32(out), p32(any(a).([]float32)), sa, p32(any(lo).([]float32)), sl, p32(any(hi).([]float32)), sh, n)
	case []float64:
		C.clamp64(table, C.int(op&Streamed), p64(out), p64(any(a).([]float64)), sa, p64(any(lo).([]float64)), sl, p64(any(hi).([]float64)), sh, n)
	}
}

// Select computes out[i] = a[i] where cond[i] is not 0, else b[i]; an operand of length 1 is repeated. Elements are moved as they are.
// op is Selection, or that Streamed.
func Select[T uint8 | uint16 | uint32 | uint64](op Op, out []T, cond []uint8, a, b []T) {
	if len(out) <= tiny {
		SelectGo(out, cond, a, b)
		return
	}
	C.choose(table, C.int(unsafe.Sizeof(out[0]))|C.int(op&Streamed), unsafe.Pointer(unsafe.SliceData(out)), (*C.uint8_t)(unsafe.SliceData(cond)), step(len(out), len(cond)),
		unsafe.Pointer(unsafe.SliceData(a)), step(len(out), len(a)), unsafe.Pointer(unsafe.SliceData(b)), step(len(out), len(b)), C.int64_t(len(out)))
}

// grain is the number of elements that are worth a thread.
const grain = 32768

// rows shares rows of cols elements out among threads.
func rows(n, cols int, f func(lo, hi int)) { parallel.For(n, grain/max(cols, 1)+1, f) }

// ArgRows32 finds in each of len(out) contiguous rows of cols elements, at least one, the first NaN, else the first greatest, or smallest, element.
func ArgRows32(out []int64, a []float32, cols int, least bool) {
	if len(out) == 0 {
		return
	}
	_ = a[:len(out)*cols]
	l := C.int(0)
	if least {
		l = 1
	}
	rows(len(out), cols, func(lo, hi int) {
		C.arg_rows32(table, (*C.int64_t)(unsafe.SliceData(out[lo:])), p32(a[lo*cols:]), C.int64_t(hi-lo), C.int64_t(cols), l)
	})
}

// CumsumRows32 computes the running sums, in float64, of each contiguous row of cols elements.
func CumsumRows32(out, a []float32, cols int) {
	if cols == 0 || len(out) == 0 {
		return
	}
	_ = a[:len(out)]
	rows(len(out)/cols, cols, func(lo, hi int) {
		C.cumsum_rows32(table, p32(out[lo*cols:]), p32(a[lo*cols:]), C.int64_t(hi-lo), C.int64_t(cols))
	})
}

// long is the length from which a row is summed in parts of that length, by as many threads as there are.
const long = 1 << 16

// SumRows32 sums each of len(out) rows of cols elements; rows start stride elements apart. Partial sums of 1024 are added in float64.
func SumRows32(out, a []float32, cols, stride int) {
	if len(out) == 0 {
		return
	}
	if len(out)*cols <= tiny {
		SumRowsGo(out, a, cols, stride)
		return
	}
	if cols < 2*long {
		rows(len(out), cols, func(lo, hi int) {
			C.sum_rows32(table, p32(out[lo:]), p32(a[lo*stride:]), C.int64_t(hi-lo), C.int64_t(cols), C.int64_t(stride))
		})
		return
	}
	part := make([]float64, (cols+long-1)/long)
	for r := range out {
		row := a[r*stride : r*stride+cols]
		parallel.For(len(part), 1, func(lo, hi int) {
			C.sum_parts32(table, p64(part[lo:hi]), p32(row[lo*long:]), C.int64_t(min(hi*long, cols)-lo*long), long)
		})
		s := 0.0
		for _, p := range part {
			s += p
		}
		out[r] = float32(s)
	}
}

// Deviations32 is the sum of a[i]-mean, to the power 1 or 2, in float64.
func Deviations32(a []float32, mean float64, power int) float64 {
	if len(a) == 0 {
		return 0
	}
	return float64(C.deviations32(table, p32(a), C.int64_t(len(a)), C.double(mean), C.int(power)))
}

// SumCols32 sums rows rows of len(out) columns into out: four at a time in float32, those sums in float64.
func SumCols32(out, a []float32, rows, stride int) {
	if len(out) == 0 {
		return
	}
	parallel.For((len(out)+63)/64, grain/(64*rows+1)+1, func(lo, hi int) {
		lo, hi = lo*64, min(hi*64, len(out))
		C.sum_cols32(table, p32(out[lo:hi]), p32(a[lo:]), C.int64_t(rows), C.int64_t(hi-lo), C.int64_t(stride))
	})
}

// MaxRows32 takes each row's maximum; NaN if the row has one, -inf if it is empty.
func MaxRows32(out, a []float32, cols, stride int) {
	if len(out) == 0 {
		return
	}
	rows(len(out), cols, func(lo, hi int) {
		C.max_rows32(table, p32(out[lo:]), p32(a[lo*stride:]), C.int64_t(hi-lo), C.int64_t(cols), C.int64_t(stride))
	})
}

// SoftmaxRows32 computes softmax, or its logarithm, of each contiguous row of cols elements.
func SoftmaxRows32(out, a []float32, cols int, logarithm bool) {
	if cols == 0 || len(out) == 0 {
		return
	}
	lg := C.int(0)
	if logarithm {
		lg = 1
	}
	rows(len(out)/cols, cols, func(lo, hi int) {
		C.softmax_rows32(table, p32(out[lo*cols:]), p32(a[lo*cols:]), C.int64_t(hi-lo), C.int64_t(cols), lg)
	})
}

// NormRows32 normalises each contiguous row of cols elements to mean 0 and variance 1, then applies weight and bias
// (nil for none). mean and rstd get one value per row.
func NormRows32(out, mean, rstd, a, weight, bias []float32, cols int, eps float32) {
	if cols == 0 || len(mean) == 0 {
		return
	}
	rows(len(mean), cols, func(lo, hi int) {
		C.norm_rows32(table, p32(out[lo*cols:]), p32(mean[lo:]), p32(rstd[lo:]), p32(a[lo*cols:]), p32(weight), p32(bias), C.int64_t(hi-lo), C.int64_t(cols), C.float(eps))
	})
}

// NormBack32 is the gradient of a norm over contiguous rows of cols elements behind g: dx, and dw and db of weight and bias. They are of each element
// of a row where run is 0; otherwise each is for a run of so many elements in a row, and they are taken in turn. weight may be nil. With xh the
// normalised element and g times the weight, dx = rstd * (g - mean(g) - xh*mean(g*xh)). No sum depends on the number of threads.
func NormBack32(dx, x, g, mean, rstd, weight []float32, dw, db []float64, cols, run int) {
	if cols == 0 || len(mean) == 0 {
		return
	}
	n, runs := cols, 1
	if run > 0 {
		n, runs = run, cols/run
	}
	// part is where run i of row r lies, with the weights of its elements or the one that it has.
	part := func(r, i int) (at int, each []float32, one float32) {
		switch {
		case weight == nil:
			return r*cols + i*n, nil, 1
		case run > 0:
			return r*cols + i*n, nil, weight[(r*runs+i)%len(weight)]
		}
		return r * cols, weight, 1
	}
	sums := make([]float64, 2*len(mean)*runs) // of each run, without its one weight
	rows(len(mean), cols, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			m, s, s1, s2 := C.float(mean[r]), C.float(rstd[r]), 0.0, 0.0
			for i := range runs {
				at, each, one := part(r, i)
				sum := sums[2*(r*runs+i):][:2]
				C.norm_sums32(table, p64(sum), p32(g[at:]), p32(x[at:]), p32(each), m, s, C.int64_t(n))
				s1, s2 = s1+float64(one)*sum[0], s2+float64(one)*sum[1]
			}
			for i := range runs {
				at, each, one := part(r, i)
				C.norm_apply32(table, p32(dx[at:]), p32(g[at:]), p32(x[at:]), p32(each), C.float(one), m, s, C.float(s1/float64(cols)), C.float(s2/float64(cols)), C.int64_t(n))
			}
		}
	})
	if run > 0 {
		clear(dw)
		clear(db)
		for q := range len(mean) * runs {
			db[q%len(db)] += sums[2*q]
			dw[q%len(dw)] += sums[2*q+1]
		}
		return
	}
	parallel.For((cols+63)/64, grain/(64*len(mean)+1)+1, func(lo, hi int) {
		lo, hi = lo*64, min(hi*64, cols)
		C.norm_cols32(table, p64(dw[lo:]), p64(db[lo:]), p32(g[lo:]), p32(x[lo:]), p32(mean), p32(rstd), C.int64_t(len(mean)), C.int64_t(cols), C.int64_t(hi-lo))
	})
}

// Pairs makes out of pairs of an element of a and one of b, astep and bstep apart.
func Pairs[T float32 | float64](out, a []T, astep int64, b []T, bstep int64) {
	n := int64(len(out) / 2)
	if n == 0 {
		return
	}
	_, _ = a[astep*(n-1)], b[bstep*(n-1)]
	var z T
	C.whittle_pairs(C.int64_t(unsafe.Sizeof(z)), unsafe.Pointer(unsafe.SliceData(out)), unsafe.Pointer(unsafe.SliceData(a)), C.int64_t(astep), unsafe.Pointer(unsafe.SliceData(b)), C.int64_t(bstep), C.int64_t(n))
}

// Windows are sets of the rows of a matrix: window i takes those that At names from Ends[i] to Ends[i+1]-1.
type Windows struct {
	At, Ends []int64
}

// MaxWindows32 gives of each window of a, of rows of cols elements, and of each column the greatest element and its row: the last NaN, else the first that
// equals it. No window is empty, and rows are less than 1<<31.
func MaxWindows32(best []float32, row []int64, a []float32, w Windows, cols int) {
	if n := (len(w.Ends) - 1) * cols; n > 0 {
		_, _ = best[n-1], row[n-1]
		C.windows_max32(table, p32(best), pi64(row), p32(a), pi64(w.At), pi64(w.Ends), C.int64_t(len(w.Ends)-1), C.int64_t(cols))
	}
}

// MeanWindows32 gives of each window of a, of rows of cols elements, and of each column the sum, in the order of the rows, divided by the window's size.
func MeanWindows32(out, a []float32, w Windows, sizes []float32, cols int) {
	if n := (len(w.Ends) - 1) * cols; n > 0 {
		_, _ = out[n-1], sizes[len(w.Ends)-2]
		C.windows_mean32(table, p32(out), p32(a), pi64(w.At), pi64(w.Ends), p32(sizes), C.int64_t(len(w.Ends)-1), C.int64_t(cols))
	}
}

// A Matrix is a strided matrix for the gemm kernels: element (i, j) is Data[i*RS+j*CS].
type Matrix[T float32 | float64] struct {
	Data   []T
	RS, CS int
}

// from is the matrix whose first element is element off of m's data.
func (m Matrix[T]) from(off int) Matrix[T] {
	if off > 0 {
		m.Data = m.Data[off:]
	}
	return m
}

// A Grid is rows of elements in memory: element j of row i is Memory[At+i*Row+j*Step]. Distances may be negative.
type Grid[T any] struct {
	Memory        []T
	At, Step, Row int64
}

// CopyRows copies rows rows of n elements, which are apart from those copied to. It uses one thread.
func CopyRows[T uint8 | uint16 | uint32 | uint64 | float32 | float64 | int64](to, from Grid[T], n, rows int64) {
	if n <= 0 || rows <= 0 {
		return
	}
	for _, g := range []*Grid[T]{&to, &from} { // the corners are there, and so is what lies between
		right, down := (n-1)*g.Step, (rows-1)*g.Row
		_, _, _, _ = g.Memory[g.At], g.Memory[g.At+right], g.Memory[g.At+down], g.Memory[g.At+right+down]
	}
	C.whittle_copy_rows(C.int64_t(unsafe.Sizeof(to.Memory[0])), unsafe.Pointer(&to.Memory[to.At]), C.int64_t(to.Step), C.int64_t(to.Row),
		unsafe.Pointer(&from.Memory[from.At]), C.int64_t(from.Step), C.int64_t(from.Row), C.int64_t(n), C.int64_t(rows))
}

// PickRows fills to with rows of width elements, each made of runs: of row i, Length elements from To on are those of from at starts[i]+From.
func PickRows[T uint8 | uint16 | uint32 | uint64 | [2]uint64](to, from []T, starts []int64, runs []Run, width int) {
	if len(starts) == 0 || len(runs) == 0 {
		return
	}
	_ = to[len(starts)*width-1]
	var z T
	C.whittle_pick_rows(C.int64_t(unsafe.Sizeof(z)), unsafe.Pointer(unsafe.SliceData(to)), unsafe.Pointer(unsafe.SliceData(from)), pi64(starts), C.int64_t(len(starts)), pi64(unsafe.Slice(&runs[0].To, 3*len(runs))), C.int64_t(len(runs)), C.int64_t(width))
}

// A Run is neighbours of a row of PickRows.
type Run struct{ To, From, Length int64 }

// MoveRows fills out with rows of size bytes: row k is what begins at at[k] of from. op is 0 or Streamed.
func MoveRows(op Op, out, from []byte, at []int64, size int) {
	if len(at) == 0 || size == 0 {
		return
	}
	_ = out[:len(at)*size]
	for _, p := range at {
		_ = from[p : p+int64(size)]
	}
	C.whittle_move_rows((*C.char)(unsafe.Pointer(unsafe.SliceData(out))), (*C.char)(unsafe.Pointer(unsafe.SliceData(from))),
		(*C.int64_t)(unsafe.SliceData(at)), C.int64_t(len(at)), C.int64_t(size), C.int(op))
}

// splitWork is the number of multiplications from which two threads are used.
const splitWork = 1 << 21

// Gemm32 computes C = alpha*A*B + beta*C, A being m x k and B k x n, on as many threads as are worth it. With beta 0, C may hold anything.
func Gemm32(m, n, k int, alpha float32, a, b Matrix[float32], beta float32, c Matrix[float32]) {
	split(m, n, k, a.RS, b.CS, c.RS, c.CS, func(m, n, ao, bo, co int) {
		GemmAlone32(m, n, k, alpha, a.from(ao), b.from(bo), beta, c.from(co))
	})
}

// GemmAlone32 is Gemm32 on one thread, for those who share the work out themselves.
func GemmAlone32(m, n, k int, alpha float32, a, b Matrix[float32], beta float32, c Matrix[float32]) {
	if m == 0 || n == 0 {
		return
	}
	if m*n*k <= 512 {
		GemmGo(m, n, k, alpha, a, b, beta, c)
		return
	}
	C.gemm32(table, C.int64_t(m), C.int64_t(n), C.int64_t(k), p32(a.Data), C.int64_t(a.RS), C.int64_t(a.CS), p32(b.Data), C.int64_t(b.RS), C.int64_t(b.CS),
		p32(c.Data), C.int64_t(c.RS), C.int64_t(c.CS), C.float(alpha), C.float(beta))
}

// Gemm64 is Gemm32 for float64.
func Gemm64(m, n, k int, alpha float64, a, b Matrix[float64], beta float64, c Matrix[float64]) {
	split(m, n, k, a.RS, b.CS, c.RS, c.CS, func(m, n, ao, bo, co int) {
		GemmAlone64(m, n, k, alpha, a.from(ao), b.from(bo), beta, c.from(co))
	})
}

// GemmAlone64 is Gemm64 on one thread.
func GemmAlone64(m, n, k int, alpha float64, a, b Matrix[float64], beta float64, c Matrix[float64]) {
	if m == 0 || n == 0 {
		return
	}
	if m*n*k <= 512 {
		GemmGo(m, n, k, alpha, a, b, beta, c)
		return
	}
	C.gemm64(table, C.int64_t(m), C.int64_t(n), C.int64_t(k), p64(a.Data), C.int64_t(a.RS), C.int64_t(a.CS), p64(b.Data), C.int64_t(b.RS), C.int64_t(b.CS),
		p64(c.Data), C.int64_t(c.RS), C.int64_t(c.CS), C.double(alpha), C.double(beta))
}

// split shares the longer side of C out among threads when the product is large. No
// sum is split, so the result does not depend on it.
func split(m, n, k, ars, bcs, crs, ccs int, one func(m, n, ao, bo, co int)) {
	if m*n*k < splitWork || max(m, n) < 64 {
		one(m, n, 0, 0, 0)
		return
	}
	// One part per thread: each packs the other matrix for itself.
	share := func(tiles int) int { return (tiles + parallel.Threads() - 1) / parallel.Threads() }
	if m >= n {
		tiles := (m + 11) / 12
		parallel.For(tiles, share(tiles), func(lo, hi int) {
			lo, hi = lo*12, min(hi*12, m)
			one(hi-lo, n, lo*ars, 0, lo*crs)
		})
	} else {
		tiles := (n + 31) / 32
		parallel.For(tiles, share(tiles), func(lo, hi int) {
			lo, hi = lo*32, min(hi*32, n)
			one(m, hi-lo, 0, lo*bcs, lo*ccs)
		})
	}
}

// A Plane is the geometry of a convolution over planes: channels and size of an image, and size, stride, padding, dilation and outputs of the kernel in
// both directions.
type Plane struct {
	C, H, W, KH, KW, SH, SW, PH, PW, DH, DW, OH, OW int
}

func (p *Plane) c() *C.whittle_plane {
	n := func(i int) C.int64_t { return C.int64_t(i) }
	return &C.whittle_plane{n(p.C), n(p.H), n(p.W), n(p.KH), n(p.KW), n(p.SH), n(p.SW), n(p.PH), n(p.PW), n(p.DH), n(p.DW), n(p.OH), n(p.OW)}
}

// Unfold writes the part of the matrix of columns, (C*KH*KW) x (OH*OW), of the image im (C x H x W) that makes rows from to to-1 of the output.
func Unfold[T float32 | float64](p *Plane, col, im []T, from, to int) {
	if len(col) == 0 || len(im) == 0 {
		return
	}
	switch col := any(col).(type) {
	case []float32:
		C.unfold32(table, p32(col), p32(any(im).([]float32)), p.c(), C.int64_t(from), C.int64_t(to))
	case []float64:
		C.unfold64(table, p64(col), p64(any(im).([]float64)), p.c(), C.int64_t(from), C.int64_t(to))
	}
}

// PackWeights packs part part of parts of the kernels w of m channels, k elements each, for Convolve; packed has m*k elements, too.
func PackWeights[T float32 | float64](m, k int, packed, w []T, part, parts int) {
	if m*k == 0 {
		return
	}
	_, _ = packed[m*k-1], w[m*k-1]
	switch w := any(w).(type) {
	case []float32:
		C.weights32(table, C.int64_t(m), C.int64_t(k), p32(any(packed).([]float32)), p32(w), C.int64_t(part), C.int64_t(parts))
	case []float64:
		C.weights64(table, C.int64_t(m), C.int64_t(k), p64(any(packed).([]float64)), p64(w), C.int64_t(part), C.int64_t(parts))
	}
}

// Convolve writes outputs from to to-1 of m channels to c, whose rows are crs apart: the products of their kernels, m rows of C*KH*KW as PackWeights packs them, and
// the columns of the image im (C x H x W), which never lie in memory as a whole. Whole rows of outputs are faster. Sums are those of the product of matrices of more
// than three rows.
func Convolve[T float32 | float64](p *Plane, m int, w, im []T, from, to int, c []T, crs int) {
	if m == 0 || from >= to || len(w) == 0 || len(im) == 0 {
		return
	}
	switch c := any(c).(type) {
	case []float32:
		C.convolve32(table, C.int64_t(m), p32(any(w).([]float32)), p32(any(im).([]float32)), p.c(), C.int64_t(from), C.int64_t(to), p32(c), C.int64_t(crs))
	case []float64:
		C.convolve64(table, C.int64_t(m), p64(any(w).([]float64)), p64(any(im).([]float64)), p.c(), C.int64_t(from), C.int64_t(to), p64(c), C.int64_t(crs))
	}
}

// Fold adds a matrix of columns to the image im (C x H x W) that they are of.
func Fold[T float32 | float64](p *Plane, im, col []T) {
	if len(col) == 0 || len(im) == 0 {
		return
	}
	switch col := any(col).(type) {
	case []float32:
		C.fold32(table, p32(any(im).([]float32)), p32(col), p.c())
	case []float64:
		C.fold64(table, p64(any(im).([]float64)), p64(col), p.c())
	}
}

// What Depthwise computes.
const (
	Forward = C.W_FORWARD
	Input   = C.W_INPUT  // the gradient of the image
	Kernel  = C.W_KERNEL // the gradient of the kernel
)

// Depthwise convolves one channel im (H x W) by one kernel w (KH x KW). Forward writes the output y (OH x OW); Input adds to im the gradient where y
// is that of the output, Kernel adds to w.
func Depthwise[T float32 | float64](what int, p *Plane, y, im, w []T) {
	if len(y) == 0 || len(im) == 0 || len(w) == 0 {
		return
	}
	switch y := any(y).(type) {
	case []float32:
		C.depthwise32(table, C.int(what), p32(y), p32(any(im).([]float32)), p32(any(w).([]float32)), p.c())
	case []float64:
		C.depthwise64(table, C.int(what), p64(y), p64(any(im).([]float64)), p64(any(w).([]float64)), p.c())
	}
}
