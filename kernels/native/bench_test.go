package native

import "testing"

// BenchmarkKernels times each kernel on a block that stays in the cache.
func BenchmarkKernels(b *testing.B) {
	const n, cols = 1 << 16, 1 << 10
	x, y, out := make([]float32, n), make([]float32, n), make([]float32, n)
	bytes, index := make([]uint8, n), make([]int64, n/cols)
	words := make([]uint32, n)
	for i := range x {
		x[i], y[i], bytes[i] = float32(i%97)/97+0.1, float32(i%89)/89+0.1, uint8(i*7919>>3&1)
	}
	mean, rstd := make([]float32, n/cols), make([]float32, n/cols)
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
