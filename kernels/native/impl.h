// The kernels, included once per instruction set with VB (vector bytes), MR (rows
// of a gemm tile) and NAME(x) defined.

#include "scalar.h"

#define VL32 (VB / 4)
typedef float NAME(vf) __attribute__((vector_size(VB), aligned(4), may_alias));
typedef double NAME(vd) __attribute__((vector_size(VB), aligned(8), may_alias));

// STREAM runs CALL for blocks of a result O of N elements of type T, in a room of a few lines of memory, and streams them: so few that the
// stores are under way while the next block is computed. Blocks after the first begin with a line.
#define STREAM(T, O, N, CALL)                                              \
  {                                                                        \
    T room[1024 / sizeof(T)] __attribute__((aligned(64)));                 \
    int64_t m = (-(uintptr_t)(O) & 63) / sizeof(T);                        \
    if (m == 0) m = 1024 / sizeof(T);                                      \
    for (int64_t i = 0; i < (N); i += m, m = 1024 / sizeof(T)) {           \
      if (m > (N) - i) m = (N) - i;                                        \
      CALL;                                                                \
      whittle_stream((O) + i, room, m * sizeof(T));                        \
    }                                                                      \
    whittle_stream_end();                                                  \
    return;                                                                \
  }

// A square root sets errno for all that the compiler knows, and is not vectorised by itself.
#if defined(__x86_64__)
#define SQRTS(T, V, F, E)                                        \
  {                                                              \
    int64_t i = 0;                                               \
    for (; i + (int64_t)(VB / sizeof(T)) <= n; i += VB / sizeof(T)) { \
      V x = F(*(const V *)(a + i));                              \
      *(V *)(o + i) = (E);                                       \
    }                                                            \
    for (; i < n; i++) {                                         \
      T x = sizeof(T) == 4 ? __builtin_sqrtf(a[i]) : __builtin_sqrt(a[i]); \
      o[i] = (E);                                                \
    }                                                            \
  }                                                              \
  break;
#else
#define SQRTS(T, V, F, E) \
  for (int64_t i = 0; i < n; i++) { T x = sizeof(T) == 4 ? __builtin_sqrtf(a[i]) : __builtin_sqrt(a[i]); o[i] = (E); } break;
#endif

#define LOOP(T, E) \
  for (int64_t i = 0; i < n; i++) { T x = a[i]; o[i] = (E); } break;

// TAME is LOOP for a function that knows no large numbers: where there is one, the C library does them all.
#define TAME(T, WILD, LIBRARY, E)                      \
  {                                                    \
    int wild = 0;                                      \
    for (int64_t i = 0; i < n; i++) wild |= WILD(a[i]); \
    if (wild) { LOOP(T, LIBRARY) }                     \
    LOOP(T, E)                                         \
  }

// Square roots, in place.
static __attribute__((noinline)) void NAME(roots)(double *a, int64_t n) {
  int64_t i = 0;
#if defined(__x86_64__)
  for (; i + VB / 8 <= n; i += VB / 8) *(NAME(vd) *)(a + i) = SQRT64(*(NAME(vd) *)(a + i));
#endif
  for (; i < n; i++) a[i] = __builtin_sqrt(a[i]);
}

// ROOTED is LOOP for a function that needs a square root, of S(j): the roots of a block are taken first.
#define ROOTED(S, E)                                          \
  for (int64_t from = 0; from < n; from += 128) {             \
    double root[128];                                         \
    int64_t m = n - from < 128 ? n - from : 128;              \
    for (int64_t i = from; i < from + m; i++) root[i - from] = (S); \
    NAME(roots)(root, m);                                     \
    for (int64_t i = from; i < from + m; i++) o[i] = (E);     \
  }                                                           \
  break;

// Functions so long that the compiler would call them, element by element, had they no loop of their own.
#define APART(NM, ...) static __attribute__((noinline, flatten)) void NAME(NM)(float *o, const float *a, int64_t n) { do { switch (0) { default: __VA_ARGS__ } } while (0); }
APART(asin32, ROOTED(whittle_asin_square(__builtin_fabsf(a[i])), whittle_asinf_by(a[i], root[i - from])))
APART(acos32, ROOTED(whittle_asin_square(__builtin_fabsf(a[i])), whittle_acosf_by(a[i], root[i - from])))
APART(lgamma32, LOOP(float, whittle_lgammaf(x)))
#undef APART

static void NAME(unary32)(int op, float *o, const float *a, int64_t n) {
  if (op & W_STREAM) STREAM(float, o, n, NAME(unary32)(op - W_STREAM, room, a + i, m))
  switch (op) {
    case W_EXP: LOOP(float, whittle_expf(x))
    case W_LOG: LOOP(float, whittle_logf(x))
    case W_TANH: LOOP(float, whittle_tanhf(x))
    case W_SIGMOID: LOOP(float, whittle_sigmoidf(x))
    case W_ERF: LOOP(float, whittle_erff(x))
    case W_GELU: LOOP(float, 0.5f * x * (1.0f + whittle_erff(x * 0.70710678118654752f)))
    case W_GELU_TANH: LOOP(float, 0.5f * x * (1.0f + whittle_tanhf(0.79788456080286536f * (x + 0.044715f * x * x * x))))
    case W_SILU: LOOP(float, x / (1.0f + whittle_expf_or_tiny(-x)))
    case W_RELU: LOOP(float, x < 0.0f ? 0.0f : x)
    case W_SQRT: SQRTS(float, NAME(vf), SQRT32, x)
    case W_RSQRT: SQRTS(float, NAME(vf), SQRT32, 1.0f / x)
    case W_RECIP: LOOP(float, 1.0f / x)
    case W_NEG: LOOP(float, -x)
    case W_ABS: LOOP(float, __builtin_fabsf(x))
    case W_SQUARE: LOOP(float, x * x)
    case W_CUBE: LOOP(float, x * x * x)
    case W_FLOOR: LOOP(float, __builtin_floorf(x))
    case W_CEIL: LOOP(float, __builtin_ceilf(x))
    case W_TRUNC: LOOP(float, __builtin_truncf(x))
    case W_ROUND: LOOP(float, __builtin_rintf(x))
    case W_EXP2: LOOP(float, whittle_exp2f(x))
    case W_EXPM1: LOOP(float, whittle_expm1f(x))
    case W_LOG2: LOOP(float, whittle_log2f(x))
    case W_LOG10: LOOP(float, whittle_log10f(x))
    case W_LOG1P: LOOP(float, whittle_log1pf(x))
    case W_ASIN: NAME(asin32)(o, a, n); break;
    case W_ACOS: NAME(acos32)(o, a, n); break;
    case W_LGAMMA: NAME(lgamma32)(o, a, n); break;
    case W_ATAN: LOOP(float, whittle_atanf(x))
    case W_SINH: LOOP(float, whittle_sinhf(x))
    case W_COSH: LOOP(float, whittle_coshf(x))
    case W_ASINH: LOOP(float, whittle_asinhf(x))
    case W_ACOSH: LOOP(float, whittle_acoshf(x))
    case W_ATANH: LOOP(float, whittle_atanhf(x))
    case W_ERFC: LOOP(float, whittle_erfcf(x))
    case W_SIN: TAME(float, whittle_wild, sinf(x), whittle_sincosf(x, 0))
    case W_COS: TAME(float, whittle_wild, cosf(x), whittle_sincosf(x, 1))
    case W_TAN: TAME(float, whittle_wild, tanf(x), whittle_tanf(x))
  }
}

static void NAME(unary64)(int op, double *o, const double *a, int64_t n) {
  if (op & W_STREAM) STREAM(double, o, n, NAME(unary64)(op - W_STREAM, room, a + i, m))
  switch (op) {
    case W_EXP: LOOP(double, whittle_expd(x))
    case W_LOG: LOOP(double, whittle_logd(x))
    case W_TANH: LOOP(double, tanh(x))
    case W_SIGMOID: LOOP(double, 1.0 / (1.0 + whittle_expd(-x)))
    case W_ERF: LOOP(double, erf(x))
    case W_GELU: LOOP(double, 0.5 * x * (1.0 + erf(x * 0.70710678118654752440)))
    case W_GELU_TANH: LOOP(double, 0.5 * x * (1.0 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))))
    case W_SILU: LOOP(double, x / (1.0 + whittle_expd(-x)))
    case W_RELU: LOOP(double, x < 0.0 ? 0.0 : x)
    case W_SQRT: SQRTS(double, NAME(vd), SQRT64, x)
    case W_RSQRT: SQRTS(double, NAME(vd), SQRT64, 1.0 / x)
    case W_RECIP: LOOP(double, 1.0 / x)
    case W_NEG: LOOP(double, -x)
    case W_ABS: LOOP(double, __builtin_fabs(x))
    case W_SQUARE: LOOP(double, x * x)
    case W_CUBE: LOOP(double, x * x * x)
    case W_FLOOR: LOOP(double, __builtin_floor(x))
    case W_CEIL: LOOP(double, __builtin_ceil(x))
    case W_TRUNC: LOOP(double, __builtin_trunc(x))
    case W_ROUND: LOOP(double, __builtin_rint(x))
    case W_EXP2: LOOP(double, exp2(x))
    case W_EXPM1: LOOP(double, expm1(x))
    case W_LOG2: LOOP(double, log2(x))
    case W_LOG10: LOOP(double, log10(x))
    case W_LOG1P: LOOP(double, log1p(x))
    case W_TAN: LOOP(double, tan(x))
    case W_ASIN: LOOP(double, asin(x))
    case W_ACOS: LOOP(double, acos(x))
    case W_ATAN: LOOP(double, atan(x))
    case W_SINH: LOOP(double, sinh(x))
    case W_COSH: LOOP(double, cosh(x))
    case W_ASINH: LOOP(double, asinh(x))
    case W_ACOSH: LOOP(double, acosh(x))
    case W_ATANH: LOOP(double, atanh(x))
    case W_ERFC: LOOP(double, erfc(x))
    case W_LGAMMA: LOOP(double, ({ int sign; lgamma_r(x, &sign); }))
    case W_SIN: TAME(double, whittle_wildd, sin(x), whittle_sincosd(x, 0))
    case W_COS: TAME(double, whittle_wildd, cos(x), whittle_sincosd(x, 1))
  }
}

#define BLOOP(T, E) \
  if (sa && sb) { for (int64_t i = 0; i < n; i++) { T x = a[i], y = b[i]; o[i] = (E); } } \
  else if (sa) { T y = b[0]; for (int64_t i = 0; i < n; i++) { T x = a[i]; o[i] = (E); } } \
  else { T x = a[0]; for (int64_t i = 0; i < n; i++) { T y = sb ? b[i] : b[0]; o[i] = (E); } } break;

// BACK is BLOOP with the operands' names the other way round: y is the gradient, which comes first.
#define BACK(T, E) \
  if (sa && sb) { for (int64_t i = 0; i < n; i++) { T y = a[i], x = b[i]; o[i] = (E); } } \
  else { for (int64_t i = 0; i < n; i++) { T y = a[sa ? i : 0], x = b[sb ? i : 0]; o[i] = (E); } } break;

// The square root of x*x + y*y, infinite if x or y is.
static void NAME(hypot32)(float *o, const float *a, int64_t sa, const float *b, int64_t sb, int64_t n) {
  do switch (0) {
    default: ROOTED(({ double x = a[i * sa], y = b[i * sb]; x * x + y * y; }), ({
      float x = __builtin_fabsf(a[i * sa]), y = __builtin_fabsf(b[i * sb]), r = (float)root[i - from];
      r = x == __builtin_inff() ? x : r;
      y == __builtin_inff() ? y : r;
    }))
  } while (0);
}

#define POW pow
#define POWf whittle_powf
#define ATAN2 atan2
#define ATAN2f whittle_atan2f
#define EXP exp
#define EXPf whittle_expf
#define TINYEXP exp
#define TINYEXPf whittle_expf_or_tiny
#define ERF erf
#define ERFf whittle_erff
#define TANH tanh
#define TANHf whittle_tanhf
// The derivatives of gelu by its distribution and density, of its form by tanh, and of silu; x is the operand.
#define GELU_SLOPE(T, F) (T)0.5 * (1 + ERF##F(x * (T)0.70710678118654752)) + x * EXP##F((T)-0.5 * x * x) * (T)0.39894228040143268
#define GELU_INNER(T) ((T)0.79788456080286536 * (x + (T)0.044715 * x * x * x))
#define GELU_TANH_SLOPE(T, t) (T)0.5 * (1 + t) + (T)0.5 * x * (1 - t * t) * (T)0.79788456080286536 * (1 + (T)0.134145 * x * x)
// Those that the compiler would call for each element; see APART.
#define BACKWARD(NM, T, E) \
  static __attribute__((noinline, flatten)) void NAME(NM)(T *o, const T *a, int64_t sa, const T *b, int64_t sb, int64_t n) { do { switch (0) { default: BACK(T, E) } } while (0); }
BACKWARD(gelu_back32, float, y * (GELU_SLOPE(float, f)))
BACKWARD(gelu_back64, double, y * (GELU_SLOPE(double, )))
BACKWARD(gelu_tanh_back32, float, ({ float t = TANHf(GELU_INNER(float)); y * (GELU_TANH_SLOPE(float, t)); }))
BACKWARD(gelu_tanh_back64, double, ({ double t = TANH(GELU_INNER(double)); y * (GELU_TANH_SLOPE(double, t)); }))
BACKWARD(silu_back32, float, ({ float t = 1 / (1 + TINYEXPf(-x)); y * t * (1 + x * (1 - t)); }))
BACKWARD(silu_back64, double, ({ double t = 1 / (1 + TINYEXP(-x)); y * t * (1 + x * (1 - t)); }))
#undef BACKWARD
#define BINARY(NM, T, F, B) \
  static void NAME(NM)(int op, T *o, const T *a, int64_t sa, const T *b, int64_t sb, int64_t n) { \
    if (op & W_STREAM) STREAM(T, o, n, NAME(NM)(op - W_STREAM, room, a + i * sa, sa, b + i * sb, sb, m)) \
    if (op == W_HYPOT && sizeof(T) == 4) { \
      NAME(hypot32)((float *)o, (const float *)a, sa, (const float *)b, sb, n); \
      return; \
    } \
    switch (op) { \
      case W_ADD: BLOOP(T, x + y) \
      case W_SUB: BLOOP(T, x - y) \
      case W_MUL: BLOOP(T, x * y) \
      case W_DIV: BLOOP(T, x / y) \
      case W_MAX: BLOOP(T, x != x ? x : (y != y ? y : (x > y ? x : y))) \
      case W_MIN: BLOOP(T, x != x ? x : (y != y ? y : (x < y ? x : y))) \
      case W_POW: BLOOP(T, POW##F(x, y)) \
      case W_ATAN2: BLOOP(T, ATAN2##F(x, y)) \
      case W_HYPOT: BLOOP(T, hypot##F(x, y)) \
      case W_GELU_BACK: NAME(gelu_back##B)(o, a, sa, b, sb, n); break; \
      case W_GELU_TANH_BACK: NAME(gelu_tanh_back##B)(o, a, sa, b, sb, n); break; \
      case W_SILU_BACK: NAME(silu_back##B)(o, a, sa, b, sb, n); break; \
      case W_SIGMOID_BACK: BACK(T, y * (1 - x) * x) \
      case W_TANH_BACK: BACK(T, y * (1 - x * x)) \
    } \
  }
BINARY(binary32, float, f, 32)
BINARY(binary64, double, , 64)

#define COMPARE(NM, T) \
  static void NAME(NM)(int op, uint8_t *o, const T *a, int64_t sa, const T *b, int64_t sb, int64_t n) { \
    if (op & W_STREAM) STREAM(uint8_t, o, n, NAME(NM)(op - W_STREAM, room, a + i * sa, sa, b + i * sb, sb, m)) \
    switch (op) { \
      case W_EQ: BLOOP(T, x == y) \
      case W_NE: BLOOP(T, x != y) \
      case W_LT: BLOOP(T, x < y) \
      case W_LE: BLOOP(T, x <= y) \
      case W_GT: BLOOP(T, x > y) \
      case W_GE: BLOOP(T, x >= y) \
      case W_BOTH: BLOOP(T, (x != 0) & (y != 0)) \
      case W_EITHER: BLOOP(T, (x != 0) | (y != 0)) \
      case W_ONE_OF: BLOOP(T, (x != 0) ^ (y != 0)) \
      case W_WITHIN: BLOOP(T, (x <= y) & (x >= -y)) \
      case W_BEYOND: BLOOP(T, (x >= y) | (x <= -y)) \
    } \
  }
COMPARE(compare32, float)
COMPARE(compare64, double)
COMPARE(comparei64, int64_t)

// Bit by bit, whatever the integers are wide.
static void NAME(bits)(int op, uint8_t *o, const uint8_t *a, int64_t sa, const uint8_t *b, int64_t sb, int64_t n) {
  switch (op) {
    case W_AND: BLOOP(uint8_t, x & y)
    case W_OR: BLOOP(uint8_t, x | y)
    case W_XOR: BLOOP(uint8_t, x ^ y)
  }
}

// Integers wrap around.
static void NAME(ints64)(int op, int64_t *o, const int64_t *a, int64_t sa, const int64_t *b, int64_t sb, int64_t n) {
  switch (op) {
    case W_ADD: BLOOP(int64_t, (int64_t)((uint64_t)x + (uint64_t)y))
    case W_SUB: BLOOP(int64_t, (int64_t)((uint64_t)x - (uint64_t)y))
    case W_MUL: BLOOP(int64_t, (int64_t)((uint64_t)x * (uint64_t)y))
    case W_MAX: BLOOP(int64_t, x > y ? x : y)
    case W_MIN: BLOOP(int64_t, x < y ? x : y)
  }
}

static int64_t NAME(sum_ints64)(const int64_t *a, int64_t n) {
  uint64_t s = 0;
  for (int64_t i = 0; i < n; i++) s += (uint64_t)a[i];
  return (int64_t)s;
}

// From one type to another, see W_AS_F32 and the rest: floats become integers as this processor cuts them, to 64 bits or to 32, whose lower bits are taken.
#define TO(D, D_, S, S_, VIA) \
  case W_AS_##D * 8 + W_AS_##S: { D_ *to = o; const S_ *from = a; for (int64_t i = 0; i < n; i++) to[i] = (D_)(VIA)from[i]; } break;
static void NAME(convert)(int to, int from, void *o, const void *a, int64_t n) {
  if (to & W_STREAM) {
    int64_t size = (to - W_STREAM) == W_AS_F64 || (to - W_STREAM) == W_AS_I64 ? 8 : 4, each = from == W_AS_F64 || from == W_AS_I64 ? 8 : from <= W_AS_I32 ? 4 : from == W_AS_I16 ? 2 : 1;
    char room[4096] __attribute__((aligned(64)));
    int64_t m = (-(uintptr_t)o & 63) / size;
    if (m == 0) m = sizeof room / size;
    for (int64_t i = 0; i < n; i += m, m = sizeof room / size) {
      if (m > n - i) m = n - i;
      NAME(convert)(to - W_STREAM, from, room, (const char *)a + i * each, m);
      whittle_stream((char *)o + i * size, room, m * size);
    }
    whittle_stream_end();
    return;
  }
  switch (to * 8 + from) {
    TO(F32, float, F64, double, double) TO(F32, float, I64, int64_t, int64_t) TO(F32, float, I32, int32_t, int32_t) TO(F32, float, I16, int16_t, int16_t) TO(F32, float, I8, int8_t, int8_t) TO(F32, float, U8, uint8_t, uint8_t)
    TO(F64, double, F32, float, float) TO(F64, double, I64, int64_t, int64_t) TO(F64, double, I32, int32_t, int32_t) TO(F64, double, I16, int16_t, int16_t) TO(F64, double, I8, int8_t, int8_t) TO(F64, double, U8, uint8_t, uint8_t)
    TO(I64, int64_t, F32, float, int64_t) TO(I64, int64_t, F64, double, int64_t) TO(I64, int64_t, I32, int32_t, int32_t) TO(I64, int64_t, I16, int16_t, int16_t) TO(I64, int64_t, I8, int8_t, int8_t) TO(I64, int64_t, U8, uint8_t, uint8_t)
    TO(I32, int32_t, F32, float, int32_t) TO(I32, int32_t, F64, double, int32_t) TO(I32, int32_t, I64, int64_t, int64_t) TO(I32, int32_t, I16, int16_t, int16_t) TO(I32, int32_t, I8, int8_t, int8_t) TO(I32, int32_t, U8, uint8_t, uint8_t)
    TO(I16, int16_t, F32, float, int32_t) TO(I16, int16_t, F64, double, int32_t) TO(I16, int16_t, I64, int64_t, int64_t) TO(I16, int16_t, I32, int32_t, int32_t) TO(I16, int16_t, I8, int8_t, int8_t) TO(I16, int16_t, U8, uint8_t, uint8_t)
    TO(I8, int8_t, F32, float, int32_t) TO(I8, int8_t, F64, double, int32_t) TO(I8, int8_t, I64, int64_t, int64_t) TO(I8, int8_t, I32, int32_t, int32_t) TO(I8, int8_t, I16, int16_t, int16_t) TO(I8, int8_t, U8, uint8_t, uint8_t)
    TO(U8, uint8_t, F32, float, int32_t) TO(U8, uint8_t, F64, double, int32_t) TO(U8, uint8_t, I64, int64_t, int64_t) TO(U8, uint8_t, I32, int32_t, int32_t) TO(U8, uint8_t, I16, int16_t, int16_t) TO(U8, uint8_t, I8, int8_t, int8_t)
  }
}
#undef TO

static void NAME(widen16)(float *o, const uint16_t *a, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    union { uint32_t i; float f; } u = {(uint32_t)a[i] << 16};
    o[i] = u.f;
  }
}

// To bfloat16, to the nearest, to even of two that are as near.
static void NAME(narrow16)(uint16_t *o, const float *a, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    union { float f; uint32_t i; } u = {a[i]};
    uint32_t r = (u.i + 0x7fff + (u.i >> 16 & 1)) >> 16;
    o[i] = a[i] != a[i] ? 0x7fc0 : r;
  }
}

// From and to half precision: by the processor where it can, else by the bits, rounding to the nearest, to even of two that are as near.
static void NAME(widenhalf)(float *o, const uint16_t *a, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(o + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(a + i))));
#endif
  for (; i < n; i++) {
    union { uint32_t i; float f; } u = {(uint32_t)(a[i] & 0x7fff) << 13}, up = {0x77800000}; // 2^112
    int whole = (a[i] & 0x7c00) == 0x7c00;
    u.f *= up.f; // puts the exponent right, of subnormals too
    u.i |= whole ? 0x7f800000 : 0;
    u.i |= (uint32_t)(a[i] & 0x8000) << 16;
    o[i] = u.f;
  }
}
static void NAME(narrowhalf)(uint16_t *o, const float *a, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) _mm_storeu_si128((__m128i *)(o + i), _mm256_cvtps_ph(_mm256_loadu_ps(a + i), 0));
#endif
  for (; i < n; i++) {
    union { float f; uint32_t i; } u = {a[i]}, low;
    uint32_t sign = u.i >> 16 & 0x8000, b = u.i & 0x7fffffff;
    low.i = b;
    low.f += 0.5f; // aligns the mantissa of what is subnormal
    uint32_t r = b >= 0x47800000 ? 0x7c00 : b < 0x38800000 ? low.i - 0x3f000000 : (b + 0xfff + (b >> 13 & 1) - 0x38000000) >> 13;
    o[i] = sign | (b > 0x7f800000 ? 0x7e00 | (b >> 13 & 0x3ff) : r);
  }
}

// The bounds are compared first: one that is NaN is the result.
#define CLAMP(NM, T) \
  static void NAME(NM)(int op, T *o, const T *a, int64_t sa, const T *lo, int64_t sl, const T *hi, int64_t sh, int64_t n) { \
    if (op & W_STREAM) STREAM(T, o, n, NAME(NM)(0, room, a + i * sa, sa, lo + i * sl, sl, hi + i * sh, sh, m)) \
    if (sa && !sl && !sh) { \
      T l = lo[0], h = hi[0]; \
      if (l != l || h != h) { for (int64_t i = 0; i < n; i++) o[i] = a[i] != a[i] ? a[i] : l != l ? l : h; return; } \
      for (int64_t i = 0; i < n; i++) { T x = a[i]; x = x < l ? l : x; o[i] = x > h ? h : x; } \
      return; \
    } \
    for (int64_t i = 0; i < n; i++) { \
      T x = a[i * sa], l = lo[i * sl], h = hi[i * sh], y = x < l ? l : x; \
      y = y > h ? h : y; \
      y = h != h ? h : y; \
      y = l != l ? l : y; \
      o[i] = x != x ? x : y; \
    } \
  }
CLAMP(clamp32, float)
CLAMP(clamp64, double)

#define SELECT(T) { \
    T *to = o; const T *x = a, *y = b; \
    if (sc && sa && sb) { for (int64_t i = 0; i < n; i++) { T u = x[i], v = y[i]; to[i] = c[i] ? u : v; } } \
    else if (sc && sa) { T v = y[0]; for (int64_t i = 0; i < n; i++) { T u = x[i]; to[i] = c[i] ? u : v; } } \
    else if (sc && sb) { T u = x[0]; for (int64_t i = 0; i < n; i++) { T v = y[i]; to[i] = c[i] ? u : v; } } \
    else { for (int64_t i = 0; i < n; i++) to[i] = c[i * sc] ? x[i * sa] : y[i * sb]; } \
  } break;

static void NAME(select)(int size, void *o, const uint8_t *c, int64_t sc, const void *a, int64_t sa, const void *b, int64_t sb, int64_t n) {
  int e = size & ~W_STREAM;
  if (size & W_STREAM)
    STREAM(uint8_t, (uint8_t *)o, n * e,
           NAME(select)(e, room, c + i / e * sc, sc, (const uint8_t *)a + i * sa, sa, (const uint8_t *)b + i * sb, sb, m / e))
  switch (size) {
    case 1: SELECT(uint8_t)
    case 2: SELECT(uint16_t)
    case 4: SELECT(uint32_t)
    case 8: SELECT(uint64_t)
  }
}

static inline double NAME(sum32)(const float *p, int64_t n) {
  double total = 0;
  while (n > 0) {
    int64_t m = n < 1024 ? n : 1024, i = 0;
    NAME(vf) s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (; i + 4 * VL32 <= m; i += 4 * VL32) {
      s0 += *(const NAME(vf) *)(p + i);
      s1 += *(const NAME(vf) *)(p + i + VL32);
      s2 += *(const NAME(vf) *)(p + i + 2 * VL32);
      s3 += *(const NAME(vf) *)(p + i + 3 * VL32);
    }
    s0 = (s0 + s1) + (s2 + s3);
    float r[VL32];
    memcpy(r, &s0, sizeof r);
    double t = 0;
    for (int j = 0; j < VL32; j++) t += r[j];
    for (; i < m; i++) t += p[i];
    total += t;
    p += m;
    n -= m;
  }
  return total;
}

static void NAME(sum_rows32)(float *o, const float *a, int64_t rows, int64_t cols, int64_t stride) {
  for (int64_t r = 0; r < rows; r++) o[r] = (float)NAME(sum32)(a + r * stride, cols);
}

static void NAME(sum_parts32)(double *o, const float *a, int64_t n, int64_t part) {
  for (int64_t i = 0; i < n; i += part) *o++ = NAME(sum32)(a + i, n - i < part ? n - i : part);
}

// The sum of a - mean, or of its squares, in double.
static double NAME(deviations32)(const float *a, int64_t n, double mean, int power) {
  enum { L = VB / 4 };
  double s[2 * L] = {0};
  int64_t i = 0;
  if (power == 1) {
    for (; i + 2 * L <= n; i += 2 * L)
      for (int j = 0; j < 2 * L; j++) s[j] += (double)a[i + j] - mean;
  } else {
    for (; i + 2 * L <= n; i += 2 * L)
      for (int j = 0; j < 2 * L; j++) { double d = (double)a[i + j] - mean; s[j] += d * d; }
  }
  double t = 0;
  for (int j = 0; j < 2 * L; j++) t += s[j];
  for (; i < n; i++) { double d = (double)a[i] - mean; t += power == 1 ? d : d * d; }
  return t;
}

static double NAME(sum64)(const double *p, int64_t n) {
  if (n > 128) {
    int64_t h = (n / 2 + 7) & ~7LL;
    return NAME(sum64)(p, h) + NAME(sum64)(p + h, n - h);
  }
  double s[8] = {0};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int j = 0; j < 8; j++) s[j] += p[i + j];
  double t = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
  for (; i < n; i++) t += p[i];
  return t;
}

static void NAME(sum_cols32)(float *o, const float *a, int64_t rows, int64_t cols, int64_t stride, double *tmp) {
  for (int64_t j0 = 0; j0 < cols; j0 += 512) {
    int64_t m = cols - j0 < 512 ? cols - j0 : 512;
    for (int64_t j = 0; j < m; j++) tmp[j] = 0;
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      const float *p0 = a + r * stride + j0, *p1 = p0 + stride, *p2 = p1 + stride, *p3 = p2 + stride;
      for (int64_t j = 0; j < m; j++) tmp[j] += (p0[j] + p1[j]) + (p2[j] + p3[j]);
    }
    for (; r < rows; r++) {
      const float *p = a + r * stride + j0;
      for (int64_t j = 0; j < m; j++) tmp[j] += p[j];
    }
    for (int64_t j = 0; j < m; j++) o[j0 + j] = (float)tmp[j];
  }
}

static inline float NAME(max32)(const float *p, int64_t n) {
  float m[4 * VL32], s[4 * VL32];
  for (int j = 0; j < 4 * VL32; j++) m[j] = -__builtin_inff(), s[j] = 0;
  int64_t i = 0;
  for (; i + 4 * VL32 <= n; i += 4 * VL32)
    for (int j = 0; j < 4 * VL32; j++) {
      float x = p[i + j];
      m[j] = x > m[j] ? x : m[j];
      s[j] = x != x ? x : s[j];
    }
  float r = -__builtin_inff(), nan = 0;
  for (int j = 0; j < 4 * VL32; j++) {
    r = m[j] > r ? m[j] : r;
    nan = s[j] != s[j] ? s[j] : nan;
  }
  for (; i < n; i++) {
    r = p[i] > r ? p[i] : r;
    nan = p[i] != p[i] ? p[i] : nan;
  }
  return nan != nan ? nan : r;
}

static void NAME(max_rows32)(float *o, const float *a, int64_t rows, int64_t cols, int64_t stride) {
  for (int64_t r = 0; r < rows; r++) o[r] = NAME(max32)(a + r * stride, cols);
}

// The position of the first NaN, else of the first greatest (least: smallest) element.
static void NAME(arg_rows32)(int64_t *o, const float *a, int64_t rows, int64_t cols, int least) {
  for (int64_t r = 0; r < rows; r++, a += cols) {
    float m[4 * VL32];
    int nan = 0;
    int64_t i = 0;
    for (int j = 0; j < 4 * VL32; j++) m[j] = a[0];
    for (; i + 4 * VL32 <= cols; i += 4 * VL32) {
      if (least) {
        for (int j = 0; j < 4 * VL32; j++) m[j] = a[i + j] < m[j] ? a[i + j] : m[j];
      } else {
        for (int j = 0; j < 4 * VL32; j++) m[j] = a[i + j] > m[j] ? a[i + j] : m[j];
      }
      int u = 0;
      for (int j = 0; j < 4 * VL32; j++) u |= a[i + j] != a[i + j];
      if (u) { nan = 1; break; }
    }
    float best = m[0];
    for (int j = 1; j < 4 * VL32; j++) best = least ? (m[j] < best ? m[j] : best) : (m[j] > best ? m[j] : best);
    for (; !nan && i < cols; i++) {
      nan = a[i] != a[i];
      best = least ? (a[i] < best ? a[i] : best) : (a[i] > best ? a[i] : best);
    }
    int64_t k = 0;
    if (nan || best != best) {
      while (k < cols && a[k] == a[k]) k++;
    } else {
      for (int64_t e = cols - 64; k <= e; k += 64) {
        int hit = 0;
        for (int j = 0; j < 64; j++) hit |= a[k + j] == best;
        if (hit) break;
      }
      while (k < cols - 1 && a[k] != best) k++;
    }
    o[r] = k;
  }
}

// Sums run in double, four rows at a time: each waits for its own last sum alone.
static void NAME(cumsum_rows32)(float *o, const float *a, int64_t rows, int64_t cols) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4, a += 4 * cols, o += 4 * cols) {
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int64_t i = 0; i < cols; i++) {
      o[i] = (float)(s0 += a[i]);
      o[i + cols] = (float)(s1 += a[i + cols]);
      o[i + 2 * cols] = (float)(s2 += a[i + 2 * cols]);
      o[i + 3 * cols] = (float)(s3 += a[i + 3 * cols]);
    }
  }
  for (; r < rows; r++, a += cols, o += cols) {
    double s = 0;
    for (int64_t i = 0; i < cols; i++) o[i] = (float)(s += a[i]);
  }
}

static void NAME(softmax_rows32)(float *o, const float *a, int64_t rows, int64_t cols, int logarithm) {
  for (int64_t r = 0; r < rows; r++, a += cols, o += cols) {
    float m = NAME(max32)(a, cols);
    if (logarithm) {
      float tmp[256];
      double s = 0;
      for (int64_t i = 0; i < cols; i += 256) {
        int64_t k = cols - i < 256 ? cols - i : 256;
        for (int64_t j = 0; j < k; j++) tmp[j] = whittle_expf(a[i + j] - m);
        s += NAME(sum32)(tmp, k);
      }
      float l = (float)log(s);
      for (int64_t j = 0; j < cols; j++) o[j] = a[j] - m - l;
    } else {
      for (int64_t j = 0; j < cols; j++) o[j] = whittle_expf(a[j] - m);
      float inv = (float)(1.0 / NAME(sum32)(o, cols));
      for (int64_t j = 0; j < cols; j++) o[j] *= inv;
    }
  }
}

static void NAME(norm_rows32)(float *o, float *mean, float *rstd, const float *a, const float *w, const float *b, int64_t rows, int64_t cols, float eps) {
  for (int64_t r = 0; r < rows; r++, a += cols, o += cols) {
    double mu = NAME(sum32)(a, cols) / (double)cols;
    float m = (float)mu;
    double v = 0, d1 = 0;
    float tmp[256];
    for (int64_t i = 0; i < cols; i += 256) {
      int64_t k = cols - i < 256 ? cols - i : 256;
      for (int64_t j = 0; j < k; j++) { float d = a[i + j] - m; tmp[j] = d * d; }
      v += NAME(sum32)(tmp, k);
    }
    (void)d1;
    float rs = (float)(1.0 / sqrt(v / (double)cols + (double)eps));
    mean[r] = m;
    rstd[r] = rs;
    if (w && b) {
      for (int64_t j = 0; j < cols; j++) o[j] = (a[j] - m) * rs * w[j] + b[j];
    } else if (w) {
      for (int64_t j = 0; j < cols; j++) o[j] = (a[j] - m) * rs * w[j];
    } else {
      for (int64_t j = 0; j < cols; j++) o[j] = (a[j] - m) * rs + (b ? b[j] : 0.0f);
    }
  }
}

// What the gradient of a norm is made of. With xh = (x-mean)*rstd: the sums of g and of g*xh, g times w where there is one;
static void NAME(norm_sums32)(double *sums, const float *g, const float *x, const float *w, float mean, float rstd, int64_t n) {
  enum { L = 2 * VL32, PIECE = 512 };
  double s1 = 0, s2 = 0;
  for (int64_t from = 0; from < n; from += PIECE) {
    int64_t to = n - from < PIECE ? n : from + PIECE, j = from;
    float a[L] = {0}, b[L] = {0};
    for (; j + L <= to; j += L)
      for (int q = 0; q < L; q++) {
        float y = w ? g[j + q] * w[j + q] : g[j + q];
        a[q] += y;
        b[q] += y * ((x[j + q] - mean) * rstd);
      }
    for (int q = 0; q < L; q++) s1 += a[q], s2 += b[q];
    for (; j < to; j++) {
      float y = w ? g[j] * w[j] : g[j];
      s1 += y;
      s2 += y * ((x[j] - mean) * rstd);
    }
  }
  sums[0] = s1;
  sums[1] = s2;
}

// rstd*(g*w - a - xh*b), or with a number f in the place of w;
static void NAME(norm_apply32)(float *restrict o, const float *restrict g, const float *restrict x, const float *restrict w, float f, float mean, float rstd, float a, float b, int64_t n) {
  if (w)
    for (int64_t j = 0; j < n; j++) o[j] = rstd * (g[j] * w[j] - a - (x[j] - mean) * rstd * b);
  else
    for (int64_t j = 0; j < n; j++) o[j] = rstd * (g[j] * f - a - (x[j] - mean) * rstd * b);
}

// and, of each of n columns, the sums of g*xh and of g over all rows, which are cols apart.
static void NAME(norm_cols32)(double *restrict dw, double *restrict db, const float *restrict g, const float *restrict x, const float *mean, const float *rstd, int64_t rows, int64_t cols, int64_t n) {
  for (int64_t j = 0; j < n; j++) dw[j] = db[j] = 0;
  for (int64_t r = 0; r < rows; r++, g += cols, x += cols) {
    float m = mean[r], s = rstd[r];
    for (int64_t j = 0; j < n; j++) {
      dw[j] += g[j] * ((x[j] - m) * s);
      db[j] += g[j];
    }
  }
}

#if defined(__FMA__)
#define FMA64(a, b, c) __builtin_fma(a, b, c)
#else
#define FMA64(a, b, c) ((a) * (b) + (c))
#endif

// The functions of point.h, as good as float needs for float, and those of the C library for double. log1p and tanh are of what is not below 0.
static inline __attribute__((always_inline)) double NAME(point32_exp)(double x) {
  double y = whittle_exp64(x > 709.0 ? 709.0 : x < -709.0 ? -709.0 : x);
  return x > 709.0 ? __builtin_inf() : x < -709.0 ? 0 : y;
}
static inline __attribute__((always_inline)) double NAME(point32_expm1)(double x) {
  double y = whittle_expm164(x > 709.0 ? 709.0 : x < -709.0 ? -709.0 : x);
  return x > 709.0 ? __builtin_inf() : x == 0 ? x : y;
}
static inline __attribute__((always_inline)) double NAME(point32_log)(double x) {
  double y = whittle_log64(x > 0 ? x : 1);
  y = x == 0 ? -__builtin_inf() : x < 0 ? __builtin_nan("") : y;
  return x == __builtin_inf() || x != x ? x : y;
}
static inline __attribute__((always_inline)) double NAME(point32_log1p)(double x) {
  double small = x * FMA64(x, FMA64(x, 1.0 / 3.0, -0.5), 1.0), y = x < 1e-4 ? small : whittle_log64(1 + x);
  return x == __builtin_inf() || x != x ? x : y;
}
// log1p of exp. An exp with its ends set right, in a log1p that looks for them, is not vectorised: the ends come last.
static inline __attribute__((always_inline)) double NAME(point32_log1pexp)(double x) {
  double e = whittle_exp64(x > 709.0 ? 709.0 : x < -709.0 ? -709.0 : x);
  double small = e * FMA64(e, FMA64(e, 1.0 / 3.0, -0.5), 1.0), large = whittle_log64(1 + e);
  double y = e < 1e-4 ? small : large;
  return x != x ? x : x > 709.0 ? __builtin_inf() : y;
}
static inline __attribute__((always_inline)) double NAME(point32_tanh)(double x) {
  double m = whittle_expm164(x > 100 ? 200 : x + x);
  return m / (m + 2);
}
static inline __attribute__((always_inline)) double NAME(point32_fmod)(double x, double y) {
  double a = __builtin_fabs(x), b = __builtin_fabs(y);
  double r = FMA64(-__builtin_trunc(a / b), b, a);
  r = r < 0 ? r + b : r; // the quotient was rounded up
  return b == __builtin_inf() && a != b ? x : __builtin_copysign(r, x);
}
static inline __attribute__((always_inline)) double NAME(point32_nextafter)(double x, double y) {
  union { float f; int32_t i; } u = {(float)x}, v;
  float to = (float)y;
  int32_t up = (to > u.f) == (u.f > 0) ? 1 : -1; // away from zero, or towards it
  v.i = u.f == 0 ? (to > 0 ? 1 : INT32_MIN + 1) : u.i + up;
  return x != x || y != y ? x + y : x == y ? y : v.f;
}
static inline __attribute__((always_inline)) float NAME(point32_near_exp)(float x) { return whittle_expf(x); }
static inline __attribute__((always_inline)) float NAME(point32_near_expm1)(float x) { return whittle_expm1f(x); }
static inline __attribute__((always_inline)) float NAME(point32_near_log)(float x) { return whittle_logf(x); }
static inline __attribute__((always_inline)) float NAME(point32_near_log1p)(float x) { return whittle_log1pf(x); }
static inline __attribute__((always_inline)) double NAME(point64_near_log1p)(double x) { return log1p(x); }
static inline __attribute__((always_inline)) double NAME(point64_near_exp)(double x) { return exp(x); }
static inline __attribute__((always_inline)) double NAME(point64_near_expm1)(double x) { return expm1(x); }
static inline __attribute__((always_inline)) double NAME(point64_near_log)(double x) { return log(x); }
static inline __attribute__((always_inline)) double NAME(point64_nextafter)(double x, double y) { return nextafter(x, y); }
static inline __attribute__((always_inline)) double NAME(point64_exp)(double x) { return exp(x); }
static inline __attribute__((always_inline)) double NAME(point64_expm1)(double x) { return expm1(x); }
static inline __attribute__((always_inline)) double NAME(point64_log)(double x) { return log(x); }
static inline __attribute__((always_inline)) double NAME(point64_log1p)(double x) { return log1p(x); }
static inline __attribute__((always_inline)) double NAME(point64_log1pexp)(double x) { return log1p(exp(x)); }
static inline __attribute__((always_inline)) double NAME(point64_tanh)(double x) { return tanh(x); }
static inline __attribute__((always_inline)) double NAME(point64_fmod)(double x, double y) { return fmod(x, y); }

typedef int32_t NAME(vi32) __attribute__((vector_size(VB)));
typedef int64_t NAME(vi64) __attribute__((vector_size(VB)));
#define ZIP1(I, L) (I), (I) + (L)
#define ZIP2(I, L) ZIP1(I, L), ZIP1((I) + 1, L)
#define ZIP4(I, L) ZIP2(I, L), ZIP2((I) + 2, L)
#define ZIP8(I, L) ZIP4(I, L), ZIP4((I) + 4, L)

#define T float
#define V NAME(vf)
#define I NAME(vi32)
#define GEMM(x) NAME(gemm32_##x)
#define CONV(x) NAME(conv32_##x)
#define POINT(x) NAME(point32_##x)
#define REDUCE(x) NAME(reduce32_##x)
#define INT int32_t
#if VB == 16
#define ZIP ZIP2
#elif VB == 32
#define ZIP ZIP4
#else
#define ZIP ZIP8
#endif
#include "typed.h"

#define T double
#define V NAME(vd)
#define I NAME(vi64)
#define GEMM(x) NAME(gemm64_##x)
#define CONV(x) NAME(conv64_##x)
#define POINT(x) NAME(point64_##x)
#define REDUCE(x) NAME(reduce64_##x)
#define INT int64_t
#if VB == 16
#define ZIP ZIP1
#elif VB == 32
#define ZIP ZIP2
#else
#define ZIP ZIP4
#endif
#include "typed.h"

// See native.Normal32.
static __attribute__((flatten)) void NAME(normal32)(float *b, int64_t n, double mean, double std) {
  enum { GROUPS = 16, HALF = 8 * GROUPS };
  for (int64_t from = 0; from < n; from += 16 * GROUPS) {
    int64_t groups = n - from < 16 * GROUPS ? (n - from) / 16 : GROUPS;
    float u[HALF] = {0}, v[HALF] = {0};
    double r[HALF], s[HALF], c[HALF];
    for (int64_t g = 0; g < groups; g++) {
      memcpy(u + 8 * g, b + from + 16 * g, 8 * sizeof(float));
      memcpy(v + 8 * g, b + from + 16 * g + 8, 8 * sizeof(float));
    }
    for (int i = 0; i < HALF; i++) r[i] = -2.0f * (float)whittle_logd(1.0f - u[i]);
    NAME(roots)(r, 8 * groups);
    for (int i = 0; i < HALF; i++) s[i] = whittle_sincosd((double)(6.2831853071795865f * v[i]), 0);
    for (int i = 0; i < HALF; i++) c[i] = whittle_sincosd((double)(6.2831853071795865f * v[i]), 1);
    for (int i = 0; i < HALF; i++) {
      double radius = (float)r[i];
      u[i] = (float)((double)(float)(radius * c[i]) * std + mean);
      v[i] = (float)((double)(float)(radius * s[i]) * std + mean);
    }
    for (int64_t g = 0; g < groups; g++) {
      memcpy(b + from + 16 * g, u + 8 * g, 8 * sizeof(float));
      memcpy(b + from + 16 * g + 8, v + 8 * g, 8 * sizeof(float));
    }
  }
}

// Polynomials by their recurrences upwards, of one number (or, shifted, of 2x-1) and degree each; of a degree below 0 they are 0.
#define UPWARDS(FIRST, NEXT)                                  \
  for (int64_t i = 0; i < n; i++) {                           \
    double x = shift * a[i] - (shift - 1), p = (FIRST), q = 1; \
    int64_t d = whittle_degree(degree[i]);                    \
    for (int64_t k = 1; k < d && x == x; k++) {               \
      double next = (NEXT);                                   \
      q = p;                                                  \
      p = next;                                               \
    }                                                         \
    o[i] = (float)(d < 0 ? 0 : x != x ? x : d == 0 ? 1 : p);  \
  }                                                           \
  break;
// What is no int64 is below 0 as one, as for PyTorch on this processor.
static inline int64_t whittle_degree(float d) { return d > -9.2233720368547758e18f && d < 9.2233720368547758e18f ? (int64_t)d : -1; }
static void NAME(polynomial32)(int kind, float *o, const float *a, const float *degree, int64_t n) {
  const double shift = kind & W_SHIFTED ? 2 : 1;
  int below = 1;
  for (int64_t i = 0; i < n; i++) below &= degree[i] <= -1;
  if (below) {
    for (int64_t i = 0; i < n; i++) o[i] = 0;
    return;
  }
  switch (kind & ~W_SHIFTED) {
    case W_CHEBYSHEV_T: UPWARDS(x, 2 * x * p - q)
    case W_CHEBYSHEV_U: UPWARDS(2 * x, 2 * x * p - q)
    case W_CHEBYSHEV_V: UPWARDS(2 * x - 1, 2 * x * p - q)
    case W_CHEBYSHEV_W: UPWARDS(2 * x + 1, 2 * x * p - q)
    case W_HERMITE_H: UPWARDS(2 * x, 2 * x * p - (double)(2 * k) * q)
    case W_HERMITE_HE: UPWARDS(x, x * p - (double)k * q)
    case W_LAGUERRE_L: UPWARDS(1 - x, ((2 * (double)k + 1 - x) * p - (double)k * q) / ((double)k + 1))
    case W_LEGENDRE_P: UPWARDS(x, ((2 * (double)k + 1) * x * p - (double)k * q) / ((double)k + 1))
  }
}
#undef UPWARDS

#include "pieces.h"
#include "fft.h"
#include "solve.h"

const whittle_kernels TABLE = {
    NAME(unary32), NAME(unary64), NAME(binary32), NAME(binary64), NAME(compare32), NAME(compare64), NAME(comparei64), NAME(bits), NAME(widen16), NAME(narrow16), NAME(widenhalf), NAME(narrowhalf),
    NAME(clamp32), NAME(clamp64), NAME(select), NAME(sum_rows32), NAME(sum_parts32), NAME(deviations32), NAME(sum_cols32),
    NAME(max_rows32), NAME(arg_rows32), NAME(cumsum_rows32), NAME(softmax_rows32), NAME(norm_rows32), NAME(norm_sums32), NAME(norm_apply32), NAME(norm_cols32), NAME(gemm32_product), NAME(gemm64_product),
    NAME(point32_all), NAME(point64_all), NAME(reduce32_rows), NAME(reduce64_rows), NAME(reduce32_cols), NAME(reduce64_cols), NAME(reduce32_dot_rows), NAME(reduce64_dot_rows), NAME(reduce32_dot_cols), NAME(reduce64_dot_cols), NAME(reduce32_arg_cols), NAME(reduce64_arg_cols),
    NAME(reduce32_scan_cols), NAME(reduce64_scan_cols), NAME(reduce32_scan_rows), NAME(reduce64_scan_rows),
    NAME(reduce32_soft_cols), NAME(reduce64_soft_cols), NAME(reduce32_soft_rows), NAME(reduce64_soft_rows), NAME(reduce32_soft_back_cols), NAME(reduce64_soft_back_cols), NAME(reduce32_distances), NAME(reduce64_distances), NAME(gemm32_turn), NAME(gemm64_turn),
    NAME(conv32_weights), NAME(conv64_weights), NAME(conv32_product), NAME(conv64_product), NAME(conv32_unfold), NAME(conv64_unfold), NAME(conv32_fold), NAME(conv64_fold), NAME(conv32_depthwise), NAME(conv64_depthwise),
    NAME(pieces32), NAME(polynomial32), NAME(normal32), NAME(fft_lines),
    NAME(ints64), NAME(sum_ints64), NAME(convert), NAME(lu64), NAME(cholesky64), NAME(reduce32_windows_max), NAME(reduce32_windows_mean), NAME(outer64), NAME(triangle64),
};
#undef LOOP
#undef SQRTS
#undef ROOTED
#undef BLOOP
#undef BINARY
#undef COMPARE
#undef CLAMP
#undef SELECT
#undef STREAM
#undef FMA64
#undef VL32
