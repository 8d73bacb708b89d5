// Package native holds the C side of whittle: SIMD kernels called through cgo, and
// the building, caching and loading of generated C++.
//
// The kernels are compiled three times (SSE2, AVX2+FMA, AVX-512) and the best version for
// the machine is chosen when the process starts; Level says which, and SetLevel
// lowers it for tests. Those that are written once for each element type are in typed.h:
// products (gemm.h), convolutions (conv.h), functions of elements as rows of a table (point.h),
// reductions and running sums as another (reduce.h). These have Go twins (…Go) that they are tested against and that
// serve inputs too small to be worth a cgo call. Factors and solutions of small matrices are in solve.h, Fourier transforms of lines in fft.h, and functions
// of one float that are slow to compute are tables of polynomials (pieces.h): those are tested against other libraries and the functions themselves. Slices given to one call may
// be the same but must not overlap otherwise.
package native
