package native

import (
	"fmt"
	"testing"
)

// BenchmarkKernels times each kernel on a block that stays in the cache.
func BenchmarkKernels(b *testing.B) {
	const n, cols = 1 << 16, 1 << 10
	x, y, out := make([]float32, n), make([]float32, n), make([]float32, n)
	bytes, index := make([]uint8, n), make([]int64, n/cols)
	words := make([]uint32, n)
	for i := range x {
		x[i], y[i], bytes[i] = float32(i%97)/97+0.1, float32(i%89)/89+0.1, uint8(i*7919>>3&1)
	}
	mean, rstd, sums := make([]float32, n/cols), make([]float32, n/cols), make([]float64, n/cols)
	for _, k := range []struct {
		name string
		f    func()
	}{
		{"add", func() { Binary32(Add, out, x, y) }},
		{"add scalar", func() { Binary32(Add, out, x, y[:1]) }},
		{"max", func() { Binary32(Max, out, x, y) }},
		{"exp", func() { Unary32(Exp, out, x) }},
		{"log", func() { Unary32(Log, out, x) }},
		{"tanh", func() { Unary32(Tanh, out, x) }},
		{"sigmoid", func() { Unary32(Sigmoid, out, x) }},
		{"gelu", func() { Unary32(Gelu, out, x) }},
		{"silu", func() { Unary32(Silu, out, x) }},
		{"sqrt", func() { Unary32(Sqrt, out, x) }},
		{"relu", func() { Unary32(Relu, out, x) }},
		{"square", func() { Unary32(Square, out, x) }},
		{"compare", func() { Compare(Gt, bytes, x, y) }},
		{"compare scalar", func() { Compare(Gt, bytes, x, y[:1]) }},
		{"clamp", func() { Clamp(Clamping, out, x, y[:1], y[1:2]) }},
		{"select", func() { Select(Selection, words, bytes, words, words[:1]) }},
		{"sum", func() { SumRows32(mean, x, cols, cols) }},
		{"max rows", func() { MaxRows32(mean, x, cols, cols) }},
		{"arg rows", func() { ArgRows32(index, x, cols, false) }},
		{"cumsum", func() { CumsumRows32(out, x, cols) }},
		{"softmax", func() { SoftmaxRows32(out, x, cols, false) }},
		{"log softmax", func() { SoftmaxRows32(out, x, cols, true) }},
		{"frac", func() { Point(Frac, out, [][]float32{x}, nil) }},
		{"elu", func() { Point(Elu, out, [][]float32{x}, []float64{1, 1, 1}) }},
		{"mish back", func() { Point(MishBack, out, [][]float32{x, y}, nil) }},
		{"remainder", func() { Point(Remainder, out, [][]float32{x, y}, nil) }},
		{"addcmul", func() { Point(AddCMul, out, [][]float32{x, y, x}, []float64{0.5}) }},
		{"logical and", func() { Compare(Both, bytes, x, y) }},
		{"reduce sum rows", func() { ReduceRows(Sum, sums, x, nil, cols, cols) }},
		{"reduce sum columns", func() { ReduceCols(Sum, sums, x, nil, n/len(sums), len(sums)) }},
		{"reduce greatest rows", func() { ReduceRows(Greatest, sums, x, nil, cols, cols) }},
		{"reduce greatest columns", func() { ReduceCols(Greatest, sums, x, nil, n/len(sums), len(sums)) }},
		{"reduce exps columns", func() { ReduceCols(Exps, sums, x, nil, n/len(sums), len(sums)) }},
		{"arg columns", func() { ArgCols(index, mean, x, n/len(index), len(index), false) }},
		{"scan columns", func() { ScanCols(RunningSum, out, x, cols) }},
		{"scan rows", func() { ScanRows(RunningProduct, out, x, cols) }},
		{"dot rows", func() { DotRows(sums, x, y[:cols], cols) }},
		{"dot columns", func() { DotCols(sums, x, y[:n/len(sums)], len(sums)) }},
		{"turn", func() { Turn(out, n/cols, x, cols, n/cols, cols) }},
		{"norm", func() { NormRows32(out, mean, rstd, x, nil, nil, cols, 1e-5) }},
	} {
		b.Run(k.name, func(b *testing.B) {
			b.SetBytes(4 * n)
			for range b.N {
				k.f()
			}
		})
	}
}

// BenchmarkLowProducts times products of few rows.
func BenchmarkLowProducts(b *testing.B) {
	const n = 1024
	x, y, z := make([]float32, 32*n), make([]float32, n*n), make([]float32, 32*n)
	for i := range x {
		x[i] = float32(i%97) / 97
	}
	for i := range y {
		y[i] = float32(i%89) / 89
	}
	for _, m := range []int{1, 4, 8, 12, 32} {
		b.Run(fmt.Sprint(m), func(b *testing.B) {
			for range b.N {
				Gemm32(m, n, n, 1, Matrix[float32]{x, n, 1}, Matrix[float32]{y, n, 1}, 0, Matrix[float32]{z, n, 1})
			}
			b.ReportMetric(float64(2*m*n*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
