package native

import "math"

// UnaryGo is the plain form of Unary32 and Unary64.
func UnaryGo[T float32 | float64](op Op, out, a []T) {
	if op == Rsqrt { // rounded twice, as the kernel does: a result must not depend on how many there are
		for i := range out {
			out[i] = 1 / T(math.Sqrt(float64(a[i])))
		}
		return
	}
	if op == Cube {
		for i, x := range a[:len(out)] {
			out[i] = x * x * x
		}
		return
	}
	f := unaryGo(op)
	for i := range out {
		out[i] = T(f(float64(a[i])))
	}
}

func unaryGo(op Op) func(x float64) float64 {
	switch op {
	case Exp:
		return math.Exp
	case Log:
		return math.Log
	case Tanh:
		return math.Tanh
	case Sigmoid:
		return func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	case Erf:
		return math.Erf
	case Gelu:
		return func(x float64) float64 { return 0.5 * x * (1 + math.Erf(x*math.Sqrt2/2)) }
	case GeluTanh:
		return func(x float64) float64 {
			return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
		}
	case Silu:
		return func(x float64) float64 { return x / (1 + math.Exp(-x)) }
	case Relu:
		return func(x float64) float64 {
			if x < 0 {
				return 0
			}
			return x
		}
	case Sqrt:
		return math.Sqrt
	case Rsqrt:
		return func(x float64) float64 { return 1 / math.Sqrt(x) }
	case Recip:
		return func(x float64) float64 { return 1 / x }
	case Neg:
		return func(x float64) float64 { return -x }
	case Abs:
		return math.Abs
	case Sin:
		return math.Sin
	case Cos:
		return math.Cos
	case Square:
		return func(x float64) float64 { return x * x }
	case Floor:
		return math.Floor
	case Ceil:
		return math.Ceil
	case Trunc:
		return math.Trunc
	case Round:
		return math.RoundToEven
	case Exp2:
		return math.Exp2
	case Expm1:
		return math.Expm1
	case Log2:
		return math.Log2
	case Log10:
		return math.Log10
	case Log1p:
		return math.Log1p
	case Tan:
		return math.Tan
	case Asin:
		return math.Asin
	case Acos:
		return math.Acos
	case Atan:
		return math.Atan
	case Sinh:
		return math.Sinh
	case Cosh:
		return math.Cosh
	case Asinh:
		return math.Asinh
	case Acosh:
		return math.Acosh
	case Atanh:
		return math.Atanh
	case Erfc:
		return math.Erfc
	}
	return func(float64) float64 { return math.NaN() }
}

// BinaryGo is the plain form of Binary32 and Binary64.
func BinaryGo[T float32 | float64](op Op, out, a, b []T) {
	for i := range out {
		x, y := at(a, i), at(b, i)
		switch op {
		case Add:
			out[i] = x + y
		case Sub:
			out[i] = x - y
		case Mul:
			out[i] = x * y
		case Div:
			out[i] = x / y
		case Max:
			out[i] = max(x, y)
		case Min:
			out[i] = min(x, y)
		case Pow:
			out[i] = T(math.Pow(float64(x), float64(y)))
		case Atan2:
			out[i] = T(math.Atan2(float64(x), float64(y)))
		case Hypot:
			out[i] = T(math.Hypot(float64(x), float64(y)))
		case GeluBack, GeluTanhBack, SiluBack, SigmoidBack, TanhBack:
			out[i] = T(float64(x) * slope(op, float64(y)))
		}
	}
}

// slope is the derivative of an activation, at its operand, or at its result for a sigmoid and a tanh.
func slope(op Op, x float64) float64 {
	switch op {
	case GeluBack:
		return 0.5*(1+math.Erf(x*math.Sqrt2/2)) + x*math.Exp(-0.5*x*x)/math.Sqrt(2*math.Pi)
	case GeluTanhBack:
		k := math.Sqrt(2 / math.Pi)
		t := math.Tanh(k * (x + 0.044715*x*x*x))
		return 0.5*(1+t) + 0.5*x*(1-t*t)*k*(1+3*0.044715*x*x)
	case SiluBack:
		s := 1 / (1 + math.Exp(-x))
		return s * (1 + x*(1-s))
	case SigmoidBack:
		return (1 - x) * x
	}
	return 1 - x*x
}

// at is element i of an operand, which may be one that is repeated.
func at[T any](s []T, i int) T {
	if len(s) == 1 {
		return s[0]
	}
	return s[i]
}

// CompareGo is the plain form of Compare.
func CompareGo[T float32 | float64 | int64](op Op, out []uint8, a, b []T) {
	for i := range out {
		x, y := at(a, i), at(b, i)
		var is bool
		switch op {
		case Eq:
			is = x == y
		case Ne:
			is = x != y
		case Lt:
			is = x < y
		case Le:
			is = x <= y
		case Gt:
			is = x > y
		case Ge:
			is = x >= y
		}
		out[i] = 0
		if is {
			out[i] = 1
		}
	}
}

// BitsGo is the plain form of Bits.
func BitsGo(op Op, out, a, b []uint8) {
	for i := range out {
		x, y := at(a, i), at(b, i)
		switch op {
		case And:
			out[i] = x & y
		case Or:
			out[i] = x | y
		case Xor:
			out[i] = x ^ y
		}
	}
}

// ClampGo is the plain form of Clamp.
func ClampGo[T float32 | float64](out, a, lo, hi []T) {
	for i := range out {
		out[i] = min(max(at(a, i), at(lo, i)), at(hi, i))
	}
}

// SelectGo is the plain form of Select.
func SelectGo[T any](out []T, cond []uint8, a, b []T) {
	for i := range out {
		out[i] = at(b, i)
		if at(cond, i) != 0 {
			out[i] = at(a, i)
		}
	}
}

// ArgRowsGo is the plain form of ArgRows32.
func ArgRowsGo[T float32 | float64](out []int64, a []T, cols int, least bool) {
	for r := range out {
		row := a[r*cols : (r+1)*cols]
		best := 0
		for i, x := range row {
			if x != x {
				best = i
				break
			}
			if least && x < row[best] || !least && x > row[best] {
				best = i
			}
		}
		out[r] = int64(best)
	}
}

// CumsumRowsGo is the plain form of CumsumRows32.
func CumsumRowsGo[T float32 | float64](out, a []T, cols int) {
	for r := 0; cols > 0 && r+cols <= len(a); r += cols {
		s := 0.0
		for i, x := range a[r : r+cols] {
			s += float64(x)
			out[r+i] = T(s)
		}
	}
}

// SumRowsGo is the plain form of SumRows32 and SumRows64.
func SumRowsGo[T float32 | float64](out, a []T, cols, stride int) {
	for r := range out {
		s := 0.0
		for _, x := range a[r*stride : r*stride+cols] {
			s += float64(x)
		}
		out[r] = T(s)
	}
}

// DeviationsGo is the plain form of Deviations32.
func DeviationsGo[T float32 | float64](a []T, mean float64, power int) float64 {
	s := 0.0
	for _, x := range a {
		d := float64(x) - mean
		if power == 2 {
			d *= d
		}
		s += d
	}
	return s
}

// SoftmaxRowsGo is the plain form of SoftmaxRows32.
func SoftmaxRowsGo[T float32 | float64](out, a []T, cols int, logarithm bool) {
	for r := 0; cols > 0 && r+cols <= len(a); r += cols {
		m := math.Inf(-1)
		for _, x := range a[r : r+cols] {
			m = max(m, float64(x))
		}
		s := 0.0
		for _, x := range a[r : r+cols] {
			s += math.Exp(float64(x) - m)
		}
		for i, x := range a[r : r+cols] {
			if logarithm {
				out[r+i] = T(float64(x) - m - math.Log(s))
			} else {
				out[r+i] = T(math.Exp(float64(x)-m) / s)
			}
		}
	}
}

// NormRowsGo is the plain form of NormRows32.
func NormRowsGo[T float32 | float64](out, mean, rstd, a, weight, bias []T, cols int, eps float64) {
	for r := range mean {
		row := a[r*cols : (r+1)*cols]
		m, v := 0.0, 0.0
		for _, x := range row {
			m += float64(x)
		}
		m /= float64(cols)
		for _, x := range row {
			v += (float64(x) - m) * (float64(x) - m)
		}
		rs := 1 / math.Sqrt(v/float64(cols)+eps)
		mean[r], rstd[r] = T(m), T(rs)
		for i, x := range row {
			y := (float64(x) - m) * rs
			if weight != nil {
				y *= float64(weight[i])
			}
			if bias != nil {
				y += float64(bias[i])
			}
			out[r*cols+i] = T(y)
		}
	}
}

// GemmGo is the plain form of Gemm32 and Gemm64.
func GemmGo[T float32 | float64](m, n, k int, alpha T, a, b Matrix[T], beta T, c Matrix[T]) {
	for i := 0; i < m; i++ {
		for j := 0; j < n; j++ {
			s := T(0)
			for p := 0; p < k; p++ {
				s += a.Data[i*a.RS+p*a.CS] * b.Data[p*b.RS+j*b.CS]
			}
			o := &c.Data[i*c.RS+j*c.CS]
			if beta == 0 {
				*o = alpha * s
			} else {
				*o = alpha*s + beta**o
			}
		}
	}
}
