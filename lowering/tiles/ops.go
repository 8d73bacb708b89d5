package tiles

import (
	"math"

	"whittle/kernels/aten"
	"whittle/kernels/native"
	"whittle/kernels/tensor"
)

// An operation computes out, of dtype d, from operands of one class, each of as many elements as out or of one.
type operation func(out vector, d tensor.DType, in []vector)

// unary, binary and compare are the operators that have a SIMD kernel for floats.
var (
	unary = map[string]native.Op{
		"neg": native.Neg, "abs": native.Abs, "exp": native.Exp, "exp2": native.Exp2, "expm1": native.Expm1, "log": native.Log, "log2": native.Log2,
		"log10": native.Log10, "log1p": native.Log1p, "sqrt": native.Sqrt, "rsqrt": native.Rsqrt, "reciprocal": native.Recip, "sin": native.Sin,
		"cos": native.Cos, "tan": native.Tan, "asin": native.Asin, "acos": native.Acos, "atan": native.Atan, "sinh": native.Sinh, "cosh": native.Cosh,
		"tanh": native.Tanh, "asinh": native.Asinh, "acosh": native.Acosh, "atanh": native.Atanh, "erf": native.Erf, "erfc": native.Erfc,
		"sigmoid": native.Sigmoid, "ceil": native.Ceil, "floor": native.Floor, "round": native.Round, "trunc": native.Trunc,
	}
	binary = map[string]native.Op{
		"add": native.Add, "sub": native.Sub, "mul": native.Mul, "div": native.Div, "maximum": native.Max, "minimum": native.Min, "pow": native.Pow,
		"atan2": native.Atan2,
	}
	compare = map[string]native.Op{"eq": native.Eq, "ne": native.Ne, "lt": native.Lt, "le": native.Le, "gt": native.Gt, "ge": native.Ge}
)

// floats are operators on one element of the other kind: what has no SIMD kernel, in the precision of T.
func floats[T float32 | float64](op string) func(x []T) T {
	mod := func(a, b T) T { return T(math.Mod(float64(a), float64(b))) }
	switch op {
	case "sign":
		return func(x []T) T {
			switch {
			case x[0] > 0:
				return 1
			case x[0] < 0:
				return -1
			}
			return 0
		}
	case "relu":
		return func(x []T) T {
			if x[0] > 0 || x[0] != x[0] {
				return x[0]
			}
			return 0
		}
	case "lgamma":
		return func(x []T) T {
			v, _ := math.Lgamma(float64(x[0]))
			return T(v)
		}
	case "fmod":
		return func(x []T) T { return mod(x[0], x[1]) }
	case "remainder":
		return func(x []T) T {
			m := mod(x[0], x[1])
			if m != 0 && (x[1] < 0) != (m < 0) {
				m += x[1]
			}
			return m
		}
	case "div_floor":
		return func(x []T) T {
			a, b := x[0], x[1]
			if b == 0 {
				return a / b
			}
			m := mod(a, b)
			q := (a - m) / b
			if m != 0 && (b < 0) != (m < 0) {
				q--
			}
			if q == 0 {
				return T(math.Copysign(0, float64(a/b)))
			}
			f := T(math.Floor(float64(q)))
			if q-f > 0.5 {
				f++
			}
			return f
		}
	case "div_trunc":
		return func(x []T) T { return T(math.Trunc(float64(x[0] / x[1]))) }
	case "fma":
		return func(x []T) T { return T(math.FMA(float64(x[0]), float64(x[1]), float64(x[2]))) }
	case "bug_plus1":
		return func(x []T) T { return x[0] + 1 }
	}
	return nil
}

// integers are the operators on integers, before they are cut to their width.
func integers(op string) func(x []int64) int64 {
	divided := func(b int64) bool { return b != 0 && b != -1 } // else there is no rest, and the least number by -1 traps
	switch op {
	case "add":
		return func(x []int64) int64 { return x[0] + x[1] }
	case "sub":
		return func(x []int64) int64 { return x[0] - x[1] }
	case "mul":
		return func(x []int64) int64 { return x[0] * x[1] }
	case "neg":
		return func(x []int64) int64 { return -x[0] }
	case "abs":
		return func(x []int64) int64 { return max(x[0], -x[0]) }
	case "sign":
		return func(x []int64) int64 { return min(max(x[0], -1), 1) }
	case "relu":
		return func(x []int64) int64 { return max(x[0], 0) }
	case "maximum":
		return func(x []int64) int64 { return max(x[0], x[1]) }
	case "minimum":
		return func(x []int64) int64 { return min(x[0], x[1]) }
	case "fmod":
		return func(x []int64) int64 {
			if !divided(x[1]) {
				return 0
			}
			return x[0] % x[1]
		}
	case "remainder":
		return func(x []int64) int64 {
			if !divided(x[1]) {
				return 0
			}
			m := x[0] % x[1]
			if m != 0 && (x[1] < 0) != (m < 0) {
				m += x[1]
			}
			return m
		}
	case "bitand":
		return func(x []int64) int64 { return x[0] & x[1] }
	case "bitor":
		return func(x []int64) int64 { return x[0] | x[1] }
	case "bitxor":
		return func(x []int64) int64 { return x[0] ^ x[1] }
	case "bitnot":
		return func(x []int64) int64 { return ^x[0] }
	case "fma":
		return func(x []int64) int64 { return x[0]*x[1] + x[2] }
	case "pow":
		return func(x []int64) int64 { return aten.IntPow(x[0], x[1]) }
	case "bug_plus1":
		return func(x []int64) int64 { return x[0] + 1 }
	}
	return nil
}

// truths are the operators whose operands are bools; bytes are 0 and 1.
var truths = map[string]func(x []uint8) uint8{
	"and": func(x []uint8) uint8 { return x[0] & x[1] }, "or": func(x []uint8) uint8 { return x[0] | x[1] },
	"xor": func(x []uint8) uint8 { return x[0] ^ x[1] }, "not": func(x []uint8) uint8 { return 1 - x[0] },
	"eq": func(x []uint8) uint8 { return 1 - x[0] ^ x[1] }, "ne": func(x []uint8) uint8 { return x[0] ^ x[1] },
	"lt": func(x []uint8) uint8 { return (1 - x[0]) & x[1] }, "gt": func(x []uint8) uint8 { return x[0] & (1 - x[1]) },
	"minimum": func(x []uint8) uint8 { return x[0] & x[1] }, "maximum": func(x []uint8) uint8 { return x[0] | x[1] },
	"fma": func(x []uint8) uint8 { return x[0]&x[1] | x[2] }, "relu": func(x []uint8) uint8 { return x[0] },
	"le": func(x []uint8) uint8 { return (1 - x[0]) | x[1] }, "ge": func(x []uint8) uint8 { return x[0] | (1 - x[1]) },
}

// each applies f to element after element.
func each[T, R any](f func(x []T) R, out []R, in [][]T) {
	x := make([]T, len(in))
	for k := range out {
		for j, v := range in {
			x[j] = at(v, k)
		}
		out[k] = f(x)
	}
}

// operationOf is the row of an operator for operands of a class; nil if there is none.
func operationOf(op string, c class) operation {
	switch c {
	case single:
		return floating(op, func(v vector) []float32 { return v.f }, native.Unary32, native.Binary32)
	case double:
		return floating(op, func(v vector) []float64 { return v.d }, native.Unary64, native.Binary64)
	case integer:
		if k, ok := compare[op]; ok {
			return func(out vector, _ tensor.DType, in []vector) { native.Compare(k, out.b, in[0].i, in[1].i) }
		}
		if f := integers(op); f != nil {
			return func(out vector, d tensor.DType, in []vector) {
				each(f, out.i, fields(in, func(v vector) []int64 { return v.i }))
				wrap(d, out.i)
			}
		}
	case truth:
		if f := truths[op]; f != nil {
			return func(out vector, _ tensor.DType, in []vector) {
				each(f, out.b, fields(in, func(v vector) []uint8 { return v.b }))
			}
		}
	}
	return nil
}

// floating is operationOf for floats, of one type and with its kernels.
func floating[T float32 | float64](op string, of func(vector) []T, one func(op native.Op, out, a []T), two func(op native.Op, out, a, b []T)) operation {
	if k, ok := unary[op]; ok {
		return func(out vector, _ tensor.DType, in []vector) { one(k, of(out), of(in[0])) }
	}
	if k, ok := binary[op]; ok {
		return func(out vector, _ tensor.DType, in []vector) { two(k, of(out), of(in[0]), of(in[1])) }
	}
	if k, ok := compare[op]; ok {
		return func(out vector, _ tensor.DType, in []vector) { native.Compare(k, out.b, of(in[0]), of(in[1])) }
	}
	if f := floats[T](op); f != nil {
		return func(out vector, _ tensor.DType, in []vector) { each(f, of(out), fields(in, of)) }
	}
	if f := classify[T](op); f != nil {
		return func(out vector, _ tensor.DType, in []vector) { each(f, out.b, fields(in, of)) }
	}
	return nil
}

// fields are the elements of vectors.
func fields[T any](in []vector, of func(vector) []T) [][]T {
	out := make([][]T, len(in))
	for k, v := range in {
		out[k] = of(v)
	}
	return out
}

// classify are the questions about one float.
func classify[T float32 | float64](op string) func(x []T) uint8 {
	byte := func(b bool) uint8 {
		if b {
			return 1
		}
		return 0
	}
	switch op {
	case "isnan":
		return func(x []T) uint8 { return byte(x[0] != x[0]) }
	case "isinf":
		return func(x []T) uint8 { return byte(math.IsInf(float64(x[0]), 0)) }
	}
	return nil
}

// choose is where: the first operand is a bool.
func choose(out vector, d tensor.DType, in []vector) {
	switch classOf(d) {
	case single:
		native.Select(native.Selection, bits[uint32](out.f), in[0].b, bits[uint32](in[1].f), bits[uint32](in[2].f))
	case double:
		native.Select(native.Selection, bits[uint64](out.d), in[0].b, bits[uint64](in[1].d), bits[uint64](in[2].d))
	case integer:
		native.Select(native.Selection, bits[uint64](out.i), in[0].b, bits[uint64](in[1].i), bits[uint64](in[2].i))
	default:
		native.Select(native.Selection, out.b, in[0].b, in[1].b, in[2].b)
	}
}
