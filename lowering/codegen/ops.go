package codegen

import (
	"whittle/kernels/native"
	"whittle/kernels/tensor"
)

// ops maps a scalar operator to C++; $0, $1, ... are the operands, T the C type of the result. Of floats none calls the C library, so that loops
// become vectors, but for those in wild.
var ops = map[string]string{
	"add": "$0 + $1", "sub": "$0 - $1", "mul": "$0 * $1", "div": "$0 / $1",
	"neg": "-$0", "abs": "whittle_abs($0)", "sign": "T(($0 > T(0)) - ($0 < T(0)))",
	"exp": "whittle_exp($0)", "exp2": "whittle_exp2($0)", "expm1": "whittle_expm1($0)",
	"log": "whittle_log($0)", "log2": "whittle_log2($0)", "log10": "whittle_log10($0)", "log1p": "whittle_log1p($0)",
	"sqrt": "whittle_sqrt($0)", "rsqrt": "T(1) / whittle_sqrt($0)", "reciprocal": "T(1) / $0",
	"sin": "whittle_sin($0)", "cos": "whittle_cos($0)", "tan": "whittle_tan($0)",
	"asin": "whittle_asin($0)", "acos": "whittle_acos($0)", "atan": "whittle_atan($0)", "atan2": "whittle_atan2($0, $1)",
	"sinh": "whittle_sinh($0)", "cosh": "whittle_cosh($0)", "tanh": "whittle_tanh($0)",
	"asinh": "whittle_asinh($0)", "acosh": "whittle_acosh($0)", "atanh": "whittle_atanh($0)",
	"erf": "whittle_erf($0)", "erfc": "whittle_erfc($0)", "lgamma": "whittle_lgamma($0)",
	"sigmoid": "T(1) / (T(1) + whittle_exp(-$0))",
	"ceil":    "whittle_ceil($0)", "floor": "whittle_floor($0)", "round": "whittle_nearbyint($0)", "trunc": "whittle_trunc($0)",
	"relu":    "whittle_max($0, T(0))",
	"pow":     "whittle_pow($0, $1)",
	"maximum": "whittle_max($0, $1)", "minimum": "whittle_min($0, $1)",
	"fmod": "whittle_fmod($0, $1)", "remainder": "whittle_remainder($0, $1)",
	"div_floor": "whittle_div_floor($0, $1)", "div_trunc": "whittle_div_trunc($0, $1)",
	"eq": "$0 == $1", "ne": "$0 != $1", "lt": "$0 < $1", "le": "$0 <= $1", "gt": "$0 > $1", "ge": "$0 >= $1",
	"and": "$0 && $1", "or": "$0 || $1", "xor": "bool($0) != bool($1)", "not": "!$0",
	"bitand": "T($0 & $1)", "bitor": "T($0 | $1)", "bitxor": "T($0 ^ $1)", "bitnot": "T(~$0)",
	"isnan": "whittle_isnan($0)", "isinf": "whittle_isinf($0)",
	"where": "whittle_where($0, $1, $2)",
	"cast":  "whittle_cast<T>($0)",
	"fma":   "whittle_fma($0, $1, $2)",
	// The faults that torch._inductor.config.cpp.inject_*_bug_TESTING_ONLY ask for.
	"bug_compile": "compile error!",
	"bug_runtime": "$0; throw 1",
	"bug_plus1":   "$0 + T(1)",
}

// wild are the operators that do not reach all operands as a vector of floats: the condition under which one is out of reach, and what is asked
// then, for all of the loop at once.
var wild = map[string]struct{ when, text string }{
	"sin":       {"whittle_wild($0)", "__builtin_sinf($0)"},
	"cos":       {"whittle_wild($0)", "__builtin_cosf($0)"},
	"tan":       {"whittle_wild($0)", "__builtin_tanf($0)"},
	"fmod":      {"whittle_wild_fmod($0, $1)", "__builtin_fmodf($0, $1)"},
	"remainder": {"whittle_wild_fmod($0, $1)", "whittle_remainder_of(__builtin_fmodf($0, $1), $1)"},
	"div_floor": {"whittle_wild_fmod($0, $1)", "whittle_div_floor_of($0, $1, __builtin_fmodf($0, $1))"},
}

// wildDoubles is wild for doubles.
var wildDoubles = map[string]struct{ when, text string }{
	"sin": {"whittle_wildd($0)", "__builtin_sin($0)"},
	"cos": {"whittle_wildd($0)", "__builtin_cos($0)"},
}

// ctype is the C++ type that holds a dtype in memory.
func ctype(d tensor.DType) string {
	switch d {
	case tensor.Float32:
		return "float"
	case tensor.Float64:
		return "double"
	case tensor.BFloat16:
		return "bf16"
	case tensor.Float16:
		return "f16"
	case tensor.Int64:
		return "int64_t"
	case tensor.Int32:
		return "int32_t"
	case tensor.Int16:
		return "int16_t"
	case tensor.Int8:
		return "int8_t"
	case tensor.UInt8:
		return "uint8_t"
	case tensor.Bool:
		return "bool"
	}
	return "void"
}

// Prelude is the support code at the head of every kernel; its names start with whittle_ or are bf16 and f16.
var Prelude = support + native.Scalar + overloads

// overloads picks the eager kernels' functions for float, and for double where they have them, else the library's, and builds on them.
const overloads = `
#define WHITTLE_OWN(name) \
  static inline float whittle_##name(float x) { return whittle_##name##f(x); } \
  template <typename T> static inline double whittle_##name(T x) { return __builtin_##name(double(x)); }
#define WHITTLE_BOTH(name) \
  static inline float whittle_##name(float x) { return whittle_##name##f(x); } \
  template <typename T> static inline WHITTLE_INLINE double whittle_##name(T x) { return whittle_##name##d(double(x)); }
WHITTLE_BOTH(exp) WHITTLE_BOTH(log) WHITTLE_OWN(exp2) WHITTLE_OWN(expm1) WHITTLE_OWN(log2) WHITTLE_OWN(log10) WHITTLE_OWN(log1p)
WHITTLE_OWN(tan) WHITTLE_OWN(asin) WHITTLE_OWN(acos) WHITTLE_OWN(atan) WHITTLE_OWN(sinh) WHITTLE_OWN(cosh) WHITTLE_OWN(tanh)
WHITTLE_OWN(asinh) WHITTLE_OWN(acosh) WHITTLE_OWN(atanh) WHITTLE_OWN(erf) WHITTLE_OWN(erfc)
static inline float whittle_sin(float x) { return whittle_sincosf(x, 0); }
template <typename T> static inline WHITTLE_INLINE double whittle_sin(T x) { return whittle_sincosd(double(x), 0); }
static inline float whittle_cos(float x) { return whittle_sincosf(x, 1); }
template <typename T> static inline WHITTLE_INLINE double whittle_cos(T x) { return whittle_sincosd(double(x), 1); }
static inline float whittle_atan2(float x, float y) { return whittle_atan2f(x, y); }
template <typename T> static inline double whittle_atan2(T x, T y) { return __builtin_atan2(double(x), double(y)); }
static inline float whittle_c_pow(float x, float y) { return whittle_powf(x, y); }
static inline float whittle_c_fmod(float x, float y) { return whittle_fmodf(x, y); }
template <typename T> static inline T whittle_pow(T a, T b) {
  if constexpr (whittle_type<T>::real) return whittle_c_pow(a, b);
  else { if (b < 0) return a == 1 ? T(1) : (a == T(-1) ? (b % 2 ? T(-1) : T(1)) : T(0)); T r = 1; while (b) { if (b & 1) r *= a; a *= a; b >>= 1; } return r; } }
template <typename T> static inline bool whittle_no_rest(T b) { return b == 0 || (whittle_type<T>::is_signed && b == T(-1)); } // the least number by -1 traps
template <typename T> static inline T whittle_fmod(T a, T b) { if constexpr (whittle_type<T>::real) return whittle_c_fmod(a, b); else return whittle_no_rest(b) ? T(0) : T(a % b); }
template <typename T> static inline T whittle_remainder_of(T m, T b) { return (m != 0) & ((b < 0) != (m < 0)) ? m + b : m; }
template <typename T> static inline T whittle_remainder(T a, T b) {
  if constexpr (whittle_type<T>::real) return whittle_remainder_of(whittle_c_fmod(a, b), b);
  else { if (whittle_no_rest(b)) return T(0); T m = a % b; return (m != 0 && ((b < 0) != (m < 0))) ? T(m + b) : m; } }
template <typename T> static inline T whittle_div_floor_of(T a, T b, T m) {
  T d = (a - m) / b; d = (m != 0) & ((b < 0) != (m < 0)) ? d - 1 : d;
  T f = whittle_floor(d); f = d - f > T(0.5) ? f + 1 : f;
  f = d == 0 ? whittle_copysign(T(0), a / b) : f;
  return b == 0 ? a / b : f; }
template <typename T> static inline T whittle_div_floor(T a, T b) {
  if constexpr (whittle_type<T>::real) return whittle_div_floor_of(a, b, whittle_c_fmod(a, b));
  else { if (b == 0) return T(0); T q = a / b; return (a % b != 0 && ((a < 0) != (b < 0))) ? T(q - 1) : q; } }
`

// support has the 16-bit floats, and arithmetic where C++ is not PyTorch: NaN wins maxima and minima, remainders have the sign of the divisor,
// floats that no int64 holds become its least value. It includes next to nothing: of a small kernel the headers of
// the C++ library would be half of the time to compile it.
const support = `#include <stdint.h>
// A function of one number by its name in the C library: of floats as of doubles, all else becomes a double.
#define WHITTLE_MATH(name) \
  static inline float whittle_##name(float x) { return __builtin_##name##f(x); } \
  template <typename T> static inline double whittle_##name(T x) { return __builtin_##name(double(x)); }
WHITTLE_MATH(sqrt) WHITTLE_MATH(lgamma) WHITTLE_MATH(ceil) WHITTLE_MATH(floor) WHITTLE_MATH(nearbyint) WHITTLE_MATH(trunc)
#define WHITTLE_MATH2(name) \
  static inline float whittle_##name(float x, float y) { return __builtin_##name##f(x, y); } \
  template <typename T> static inline double whittle_##name(T x, T y) { return __builtin_##name(double(x), double(y)); }
static inline double whittle_c_pow(double x, double y) { return __builtin_pow(x, y); }
static inline double whittle_c_fmod(double x, double y) { return __builtin_fmod(x, y); }
static inline float whittle_c_fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline double whittle_c_fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
WHITTLE_MATH2(copysign)
static inline bool whittle_isnan(float x) { return __builtin_isnan(x); }
static inline bool whittle_isinf(float x) { return __builtin_isinf(x); }
template <typename T> static inline bool whittle_isnan(T x) { return __builtin_isnan(double(x)); }
template <typename T> static inline bool whittle_isinf(T x) { return __builtin_isinf(double(x)); }
template <typename T> struct whittle_type { static constexpr bool real = false, truth = false, is_signed = T(-1) < T(0); };
template <> struct whittle_type<float> { static constexpr bool real = true, truth = false, is_signed = true; };
template <> struct whittle_type<double> { static constexpr bool real = true, truth = false, is_signed = true; };
template <> struct whittle_type<bool> { static constexpr bool real = false, truth = true, is_signed = false; };
template <typename T> static constexpr T whittle_highest() {
  if constexpr (whittle_type<T>::real) return T(__builtin_inf());
  else if constexpr (whittle_type<T>::truth) return true;
  else if constexpr (whittle_type<T>::is_signed) return T((uint64_t(1) << (8 * sizeof(T) - 1)) - 1);
  else return T(-1); }
template <typename T> static constexpr T whittle_lowest() {
  if constexpr (whittle_type<T>::real) return -T(__builtin_inf());
  else if constexpr (whittle_type<T>::truth) return false;
  else return T(~whittle_highest<T>()); }
struct bf16 { uint16_t x; operator float() const { uint32_t u = uint32_t(x) << 16; float f; __builtin_memcpy(&f, &u, 4); return f; }
  bf16() = default;
  bf16(float f) { uint32_t u; __builtin_memcpy(&u, &f, 4); x = (f != f) ? 0x7fc0 : uint16_t((u + 0x7fff + ((u >> 16) & 1)) >> 16); } };
struct f16 { _Float16 x; operator float() const { return float(x); } f16() = default; f16(float f) : x(_Float16(f)) {} };
// Rows of f16 as floats, and back.
static __attribute__((noinline, unused)) void whittle_widen(float *to, const f16 *from, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__) && !defined(__clang__)
  typedef short line __attribute__((vector_size(16)));
  for (; i + 8 <= n; i += 8) { line h; __builtin_memcpy(&h, from + i, 16); auto f = __builtin_ia32_vcvtph2ps256(h); __builtin_memcpy(to + i, &f, 32); }
#endif
  for (; i < n; i++) to[i] = float(from[i]); }
static __attribute__((noinline, unused)) void whittle_narrow(const float *from, f16 *to, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__) && !defined(__clang__)
  typedef float line __attribute__((vector_size(32)));
  for (; i + 8 <= n; i += 8) { line f; __builtin_memcpy(&f, from + i, 32); auto h = __builtin_ia32_vcvtps2ph256(f, 0); __builtin_memcpy(to + i, &h, 16); }
#endif
  for (; i < n; i++) to[i] = f16(from[i]); }
// The w elements from place q of each of k lines of memory, step apart, beside those of the others: element (p, q) goes to place q*Width+p. Squares of
// lines are turned as vectors, as often as those have halves: the first half of the vectors is interleaved with the second.
template <int Size> struct whittle_bits; template <> struct whittle_bits<2> { typedef uint16_t T; }; template <> struct whittle_bits<4> { typedef uint32_t T; };
template <> struct whittle_bits<8> { typedef uint64_t T; };
template <int Size, int Width> static __attribute__((noinline, unused)) void whittle_turn(void *to, const void *from, int64_t step, int64_t w, int64_t k) {
  typedef typename whittle_bits<Size>::T T;
  T *d = (T *)to; const T *s = (const T *)from;
  int64_t q = 0;
#if defined(__SSE2__) && !defined(__clang__)
#if defined(__AVX512F__)
  constexpr int L = Size == 2 ? 8 : 64 / Size;
#elif defined(__AVX2__)
  constexpr int L = Size == 2 ? 8 : 32 / Size;
#else
  constexpr int L = 16 / Size;
#endif
  typedef T line __attribute__((vector_size(L * Size), aligned(Size), may_alias));
  line low, high;
  for (int i = 0; i < L; i++) low[i] = (i % 2) * L + i / 2, high[i] = low[i] + L / 2;
  for (; q + L <= w; q += L) {
    int64_t p = 0;
    for (; p + L <= k; p += L) {
      line x[L], y[L];
#pragma GCC unroll 16
      for (int i = 0; i < L; i++) x[i] = *(const line *)(s + (p + i) * step + q);
#pragma GCC unroll 4
      for (int n = 1; n < L; n *= 2) {
#pragma GCC unroll 8
        for (int i = 0; i < L / 2; i++) y[2 * i] = __builtin_shuffle(x[i], x[i + L / 2], low), y[2 * i + 1] = __builtin_shuffle(x[i], x[i + L / 2], high);
#pragma GCC unroll 16
        for (int i = 0; i < L; i++) x[i] = y[i];
      }
#pragma GCC unroll 16
      for (int i = 0; i < L; i++) *(line *)(d + (q + i) * Width + p) = x[i];
    }
    for (; p < k; p++) for (int i = 0; i < L; i++) d[(q + i) * Width + p] = s[p * step + q + i];
  }
#endif
  for (int64_t p = 0; p < k; p++) for (int64_t r = q; r < w; r++) d[r * Width + p] = s[p * step + r]; }
// Rows to memory past the caches, for which they have to begin where a vector does; what does not is written as ever. Who waits for a thread, or is one that
// waits for others, sees them: that takes a locked instruction.
template <typename T> static __attribute__((noinline, unused)) void whittle_past(const T *from, T *to, int64_t n) {
  int64_t i = 0;
#if defined(__SSE2__) && !defined(__clang__)
#if defined(__AVX512F__)
#define WHITTLE_LINE 64
#define WHITTLE_PUT __builtin_ia32_movntps512
#elif defined(__AVX__)
#define WHITTLE_LINE 32
#define WHITTLE_PUT __builtin_ia32_movntps256
#else
#define WHITTLE_LINE 16
#define WHITTLE_PUT __builtin_ia32_movntps
#endif
  typedef float line __attribute__((vector_size(WHITTLE_LINE)));
  const int64_t each = WHITTLE_LINE / sizeof(T);
  for (; i < n && (uintptr_t(to + i) & 63); i++) to[i] = from[i];
  for (; i + 64 / int64_t(sizeof(T)) <= n;)
    for (int k = 0; k < 64 / WHITTLE_LINE; k++, i += each) { line v; __builtin_memcpy(&v, from + i, sizeof v); WHITTLE_PUT((float *)(to + i), v); }
#endif
  for (; i < n; i++) to[i] = from[i]; }
static __attribute__((noinline, unused)) void whittle_narrow_past(const float *from, f16 *to, int64_t n) {
  f16 half[256] __attribute__((aligned(64)));
  whittle_narrow(from, half, n);
  whittle_past(half, to, n); }
template <> struct whittle_type<bf16> { static constexpr bool real = false, truth = false, is_signed = true; };
template <> struct whittle_type<f16> { static constexpr bool real = false, truth = false, is_signed = true; };
template <typename T> static inline T whittle_abs(T a) { if constexpr (whittle_type<T>::real) return sizeof(T) == 4 ? T(__builtin_fabsf(a)) : T(__builtin_fabs(a)); else return a < T(0) ? T(-a) : a; }
template <typename T> static inline T whittle_where(bool c, T a, T b) { if constexpr (whittle_type<T>::truth) return (c & a) | (!c & b); else return c ? a : b; }
template <typename T> static inline T whittle_max(T a, T b) { return (a > b) | (a != a) ? a : b; }
template <typename T> static inline T whittle_min(T a, T b) { return (a < b) | (a != a) ? a : b; }
template <typename T> static inline T whittle_div_trunc(T a, T b) { if constexpr (whittle_type<T>::real) return whittle_trunc(a / b); else return b == 0 ? T(0) : T(a / b); }
template <typename T> static inline T whittle_fma(T a, T b, T c) { if constexpr (whittle_type<T>::real) return whittle_c_fma(a, b, c); else return T(uint64_t(a) * uint64_t(b) + uint64_t(c)); }
template <typename T, typename S> static inline T whittle_cast(S a) {
  if constexpr (whittle_type<T>::truth) return a != S(0);
  else if constexpr (whittle_type<S>::truth && whittle_type<T>::real) return a ? T(1) : T(0); // a choice is a vector's, a conversion of 64 bits is not
  else if constexpr (whittle_type<S>::real && !whittle_type<T>::real && sizeof(T) < 8) { // by way of an int32, whatever its width
    if (!(a >= S(-2147483648.) && a < S(2147483648.))) return T(INT32_MIN); return T(int32_t(a)); }
  else if constexpr (whittle_type<S>::real && !whittle_type<T>::real) {
    if (!(a >= S(-9.2233720368547758e18) && a < S(9.2233720368547758e18))) return T(INT64_MIN); return T(int64_t(a)); }
  else return T(a); }
// These are so long that GCC would call them, and a loop with a call has no vectors.
#define WHITTLE_INLINE __attribute__((always_inline))
static inline WHITTLE_INLINE double whittle_expd(double);
static inline WHITTLE_INLINE double whittle_logd(double);
static inline WHITTLE_INLINE double whittle_sincosd(double, int);
#pragma omp declare reduction(whittle_amax : float, double, int64_t, int32_t, int16_t, int8_t, uint8_t : omp_out = whittle_max(omp_out, omp_in)) initializer(omp_priv = omp_orig)
#pragma omp declare reduction(whittle_amin : float, double, int64_t, int32_t, int16_t, int8_t, uint8_t : omp_out = whittle_min(omp_out, omp_in)) initializer(omp_priv = omp_orig)
`
