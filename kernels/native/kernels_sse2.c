// The level of the oldest machines is compiled for size: loops are as they are written, not unrolled and cloned for lengths.
#pragma GCC optimize("O2", "tree-loop-vectorize", "tree-slp-vectorize", "no-math-errno", "no-trapping-math")
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "kernels.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#define VB 16
#define MR 4
#define SQRT32 _mm_sqrt_ps
#define SQRT64 _mm_sqrt_pd
#define NAME(x) x##_sse2
#define TABLE whittle_sse2
#include "impl.h"
