#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "kernels.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#if defined(__x86_64__)
#pragma GCC target("avx2,fma,f16c")
#define VB 32
#define MR 6
#define SQRT32 _mm256_sqrt_ps
#define SQRT64 _mm256_sqrt_pd
#define NAME(x) x##_avx2
#define TABLE whittle_avx2
#include "impl.h"
#endif
