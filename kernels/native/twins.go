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
	case Lgamma:
		return func(x float64) float64 {
			if math.IsInf(x, -1) {
				return math.Inf(1)
			}
			y, _ := math.Lgamma(x)
			return y
		}
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
		case Both:
			is = x != 0 && y != 0
		case Either:
			is = x != 0 || y != 0
		case OneOf:
			is = (x != 0) != (y != 0)
		case Within:
			is = x <= y && x >= -y
		case Beyond:
			is = x >= y || x <= -y
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

// gathered is the plain form of a Reduction of n elements.
func gathered(op Reduction, n int, at func(i int) float64, c float64) float64 {
	m := map[Reduction]float64{Prod: 1, Greatest: math.Inf(-1), Least: math.Inf(1), Smallest: math.Inf(1)}[op]
	for i := range n {
		x := at(i)
		switch op {
		case Sum:
			m += x
		case NanSum:
			if x == x {
				m += x
			}
		case Prod:
			m *= x
		case Squares:
			m += x * x
		case Sizes:
			m += math.Abs(x)
		case Nonzeros:
			if x != 0 {
				m++
			}
		case Greatest:
			m = max(m, x)
		case Least:
			m = min(m, x)
		case Largest:
			m = max(m, math.Abs(x))
		case Smallest:
			m = min(m, math.Abs(x))
		case Deviations:
			m += (x - c) * (x - c)
		case Exps:
			m += math.Exp(x - c)
		case Powers:
			m += math.Pow(math.Abs(x), c)
		}
	}
	return m
}

// ReduceRowsGo is the plain form of ReduceRows.
func ReduceRowsGo[T float32 | float64](op Reduction, out []float64, a []T, center []float64, cols, stride int) {
	for r := range out {
		c := 0.0
		if center != nil {
			c = center[r]
		}
		out[r] = gathered(op, cols, func(i int) float64 { return float64(a[r*stride+i]) }, c)
	}
}

// ReduceColsGo is the plain form of ReduceCols.
func ReduceColsGo[T float32 | float64](op Reduction, out []float64, a []T, center []float64, rows, stride int) {
	for j := range out {
		c := 0.0
		if center != nil {
			c = center[j]
		}
		out[j] = gathered(op, rows, func(i int) float64 { return float64(a[i*stride+j]) }, c)
	}
}

// DotRowsGo is the plain form of DotRows.
func DotRowsGo[T float32 | float64](out []float64, a, v []T, stride int) {
	for r := range out {
		out[r] = 0
		for i, x := range v {
			out[r] += float64(a[r*stride+i]) * float64(x)
		}
	}
}

// DotColsGo is the plain form of DotCols.
func DotColsGo[T float32 | float64](out []float64, a, v []T, stride int) {
	for j := range out {
		out[j] = 0
		for r, x := range v {
			out[j] += float64(a[r*stride+j]) * float64(x)
		}
	}
}

// ScanGo is the plain form of ScanRows and, where rows begin one element apart and elements of a row step apart, of ScanCols.
func ScanGo[T float32 | float64](op Running, out, a []T, n, step int) {
	m := [...]float64{0, 1, math.Inf(-1)}[op]
	for i := range n {
		switch x := float64(a[i*step]); op {
		case RunningSum:
			m += x
		case RunningProduct:
			m *= x
		case RunningLogSum:
			if !math.IsInf(m, 0) || m != x {
				m = max(m, x) + math.Log1p(math.Exp(-math.Abs(m-x)))
			}
		}
		out[i*step] = T(m)
	}
}

// IntsGo is Ints.
func IntsGo(op Op, out, a, b []int64) {
	for i := range out {
		x, y := at(a, i), at(b, i)
		switch op {
		case Add:
			out[i] = x + y
		case Sub:
			out[i] = x - y
		case Mul:
			out[i] = x * y
		case Max:
			out[i] = max(x, y)
		case Min:
			out[i] = min(x, y)
		}
	}
}

// PointGo is the plain form of Point.
func PointGo[T float32 | float64](op Op, out []T, in [][]T, num []float64) {
	var p [4]float64
	copy(p[:], num)
	for i := range out {
		var x [3]float64
		for k, v := range in {
			x[k] = float64(at(v, i))
		}
		out[i] = T(point[T](op, x[0], x[1], x[2], p[0], p[1], p[2], p[3]))
	}
}

// point is one element of PointGo, with the names of point.h.
func point[T float32 | float64](op Op, x, y, z, p, q, r, s float64) float64 {
	softplus := func(v float64) float64 { return math.Log1p(math.Exp(-math.Abs(v))) + max(v, 0) }
	sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	logSigmoid := func(v float64) float64 { return min(v, 0) - math.Log1p(math.Exp(-math.Abs(v))) }
	to6 := func(v float64) float64 { return min(max(v, 0), 6) }
	lerp := func(w float64) float64 {
		if math.Abs(w) < 0.5 {
			return x + w*(y-x)
		}
		return y - (y-x)*(1-w)
	}
	pick := func(c bool, a, b float64) float64 {
		if c {
			return a
		}
		return b
	}
	sum := func(d, unit float64) float64 { // the logarithm of a sum, whose parts are d apart
		if math.IsInf(x, 0) && x == y {
			return x
		}
		return max(x, y) + math.Log1p(math.Exp(-math.Abs(d)))/unit
	}
	number := func(v, other float64) float64 { return pick(v != v, other, v) }
	switch op {
	case Frac:
		return x - math.Trunc(x)
	case Angle:
		return pick(x < 0, math.Pi, pick(x != x, x, 0))
	case Sign:
		return pick(x > 0, 1, pick(x < 0, -1, 0))
	case Scaled:
		return x * p / q
	case Leaky:
		return pick(x > 0, x, x*p)
	case Hardtanh:
		return min(max(x, p), q)
	case Hardsigmoid:
		return to6(x+3) / 6
	case Hardswish:
		return x * to6(x+3) / 6
	case Elu:
		return pick(x < 0, math.Expm1(x*r)*p*q, x*q)
	case Softplus:
		return pick(float64(T(x*p)) > q, x, math.Log1p(math.Exp(x*p))/p)
	case Mish:
		return x * math.Tanh(softplus(x))
	case Hardshrink:
		return pick(x >= -p && x <= p, 0, x)
	case Softshrink:
		return pick(x > p, x-p, pick(x < -p, x+p, x*0))
	case Threshold:
		return pick(x <= p, q, x)
	case Logsigmoid:
		return logSigmoid(x)
	case Decay:
		return math.Exp(-math.Abs(x))
	case Logit:
		if q != 0 {
			x = max(min(x, 1-p), p)
		}
		return math.Log(x / (1 - x))
	case Entr:
		return pick(x > 0, -x*math.Log(x), pick(x == 0, 0, pick(x != x, x, math.Inf(-1))))
	case NanToNum:
		return pick(x != x, p, pick(math.IsInf(x, 1), q, pick(math.IsInf(x, -1), r, x)))
	case RoundUp:
		return math.RoundToEven(float64(T(x*p))) / p // of elements, products are rounded before
	case RoundDown:
		return math.RoundToEven(float64(T(x/p))) * p
	case AddTimes:
		return x + p*y
	case SubTimes:
		return x - p*y
	case RsubTimes:
		return y - p*x
	case Fmod:
		return math.Mod(x, y)
	case Remainder:
		m := math.Mod(x, y)
		return pick(m != 0 && (y < 0) != (m < 0), m+y, m)
	case FloorDiv:
		if y == 0 {
			return x / y
		}
		m := math.Mod(x, y)
		d := (x - m) / y
		if m != 0 && (y < 0) != (m < 0) {
			d--
		}
		f := math.Floor(d)
		return pick(d == 0, math.Copysign(0, x/y), pick(d-f > 0.5, f+1, f))
	case TruncDiv:
		return math.Trunc(float64(T(x / y)))
	case Copysign:
		return math.Copysign(x, y)
	case FMax:
		return max(number(x, y), number(y, x))
	case FMin:
		return min(number(x, y), number(y, x))
	case Heaviside:
		return pick(x == 0, y, pick(x > 0, 1, 0))
	case LogAddExp:
		return sum(x-y, 1)
	case LogAddExp2:
		return sum((x-y)*math.Ln2, math.Ln2)
	case XLogY:
		return pick(y != y, y, pick(x == 0, 0, x*math.Log(y)))
	case XLog1PY:
		return pick(y != y, y, pick(x == 0, 0, x*math.Log1p(y)))
	case Lerp:
		return lerp(p)
	case Times:
		return x * y * p
	case LeakyBack:
		return pick(y > 0, x, x*p)
	case EluBack:
		return pick(y > 0, x*q, pick(s != 0, x*r*(y+p*q), x*r*p*q*math.Exp(y*r)))
	case HardtanhBack:
		return pick(y <= p || y >= q, 0, x)
	case HardsigmoidBack:
		return pick(y > -3 && y < 3, x/6, 0)
	case HardswishBack:
		return pick(y < -3, 0, pick(y <= 3, x*(y/3+0.5), x))
	case SoftplusBack:
		e := math.Exp(y * p)
		return pick(float64(T(y*p)) > q, x, x*e/(e+1))
	case MishBack:
		t := math.Tanh(softplus(y))
		return x * (t + y*sigmoid(y)*(1-t*t))
	case ShrinkBack:
		return pick(y >= -p && y <= p, 0, x)
	case ThresholdBack:
		return pick(y <= p, 0, x)
	case LogsigmoidBack:
		return x / (1 + math.Exp(y)) // not x times 1 less a sigmoid, which is 0 too early
	case LogitBack:
		if q != 0 && (y < p || y > 1-p) {
			return 0
		}
		return pick(q == 0 && (y < 0 || y > 1), math.NaN(), x/(y*(1-y)))
	case SoftmaxBack:
		return (x - p) * y
	case LogSoftmaxBack:
		return x - math.Exp(y)*p
	case PRelu:
		return pick(x > 0, x, y*x)
	case MSE:
		return (x - y) * (x - y)
	case SmoothL1:
		d := math.Abs(x - y)
		return pick(d < p, 0.5*d*d/p, d-0.5*p)
	case Huber:
		d := math.Abs(x - y)
		return pick(d < p, 0.5*d*d, p*(d-0.5*p))
	case SoftMargin:
		return math.Log1p(math.Exp(-x * y))
	case BCE:
		return (y-1)*max(math.Log1p(-x), -100) - y*max(math.Log(x), -100)
	case BCELogits:
		return (1-y)*x - logSigmoid(x)
	case NextAfter:
		if _, ok := any(T(0)).(float32); ok {
			return float64(math.Nextafter32(float32(x), float32(y)))
		}
		return math.Nextafter(x, y)
	case OuterAdd:
		return pick(q == 0, p*y*z, q*x+p*y*z)
	case AddCMul:
		return x + p*y*z
	case AddCDiv:
		return x + p*(y/z)
	case Lerp3:
		return lerp(z)
	case MSEBack:
		return x * p * (2 * (y - z))
	case SmoothL1Back:
		d := y - z
		return x * p * pick(d <= -q, -1, pick(d >= q, 1, d/q))
	case HuberBack:
		return x * p * min(max(y-z, -q), q)
	case SoftMarginBack:
		e := math.Exp(-y * z)
		return x * p * (-z * e / (e + 1))
	case BCEBack:
		return p * x * (y - z) / max((1-y)*y, 1e-12)
	case PReluBack:
		return pick(y > 0, x, z*x)
	case PReluBackW:
		return pick(y > 0, 0, y*x)
	case BCELogitsWeighed:
		return (1-y)*x - (1+(z-1)*y)*logSigmoid(x)
	}
	return math.NaN()
}
