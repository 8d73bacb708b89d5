#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "kernels.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#if defined(__x86_64__)
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,prefer-vector-width=512,f16c")
#define VB 64
#define MR 12
#define SQRT32 _mm512_sqrt_ps
#define SQRT64 _mm512_sqrt_pd
#define NAME(x) x##_avx512
#define TABLE whittle_avx512
#include "impl.h"
#endif
