// Package native holds the C side of whittle: SIMD kernels called through cgo, and
// the building, caching and loading of generated C++.
//
// The kernels are compiled three times (SSE2, AVX2+FMA, AVX-512) and the best version for
// the machine is chosen when the process starts; Level says which, and SetLevel
// lowers it for tests. Those that are written once for each element type are in typed.h:
// products (gemm.h), convolutions (conv.h), functions of elements as rows of a table (point.h),
// reductions and running sums as another (reduce.h). Fourier transforms are lines of doubles (fft.h), and functions of one float that are slow to compute are tables
// of polynomials (pieces.h). Every kernel has a Go twin (…Go) that it is tested against and that
// serves inputs too small to be worth a cgo call. Slices given to one call may
// be the same but must not overlap otherwise.
package native
