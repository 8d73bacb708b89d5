package codegen

import (
	"whittle/kernels/native"
	"whittle/kernels/tensor"
)

// ops maps a scalar operator to C++; $0, $1, ... are the operands, T the C type of the result.
var ops = map[string]string{
	"add": "$0 + $1", "sub": "$0 - $1", "mul": "$0 * $1", "div": "$0 / $1",
	"neg": "-$0", "abs": "whittle_abs($0)", "sign": "T(($0 > T(0)) - ($0 < T(0)))",
	"exp": "whittle_exp($0)", "exp2": "std::exp2($0)", "expm1": "std::expm1($0)",
	"log": "whittle_log($0)", "log2": "std::log2($0)", "log10": "std::log10($0)", "log1p": "whittle_log1p($0)",
	"sqrt": "std::sqrt($0)", "rsqrt": "T(1) / std::sqrt($0)", "reciprocal": "T(1) / $0",
	"sin": "std::sin($0)", "cos": "std::cos($0)", "tan": "std::tan($0)",
	"asin": "std::asin($0)", "acos": "std::acos($0)", "atan": "std::atan($0)", "atan2": "std::atan2($0, $1)",
	"sinh": "std::sinh($0)", "cosh": "std::cosh($0)", "tanh": "whittle_tanh($0)",
	"asinh": "std::asinh($0)", "acosh": "std::acosh($0)", "atanh": "std::atanh($0)",
	"erf": "whittle_erf($0)", "erfc": "std::erfc($0)", "lgamma": "std::lgamma($0)",
	"sigmoid": "T(1) / (T(1) + whittle_exp(-$0))",
	"ceil":    "std::ceil($0)", "floor": "std::floor($0)", "round": "std::nearbyint($0)", "trunc": "std::trunc($0)",
	"relu":    "whittle_max($0, T(0))",
	"pow":     "whittle_pow($0, $1)",
	"maximum": "whittle_max($0, $1)", "minimum": "whittle_min($0, $1)",
	"fmod": "whittle_fmod($0, $1)", "remainder": "whittle_remainder($0, $1)",
	"div_floor": "whittle_div_floor($0, $1)", "div_trunc": "whittle_div_trunc($0, $1)",
	"eq": "$0 == $1", "ne": "$0 != $1", "lt": "$0 < $1", "le": "$0 <= $1", "gt": "$0 > $1", "ge": "$0 >= $1",
	"and": "$0 && $1", "or": "$0 || $1", "xor": "bool($0) != bool($1)", "not": "!$0",
	"bitand": "T($0 & $1)", "bitor": "T($0 | $1)", "bitxor": "T($0 ^ $1)", "bitnot": "T(~$0)",
	"isnan": "std::isnan($0)", "isinf": "std::isinf($0)",
	"where": "$0 ? $1 : $2",
	"cast":  "whittle_cast<T>($0)",
	"fma":   "whittle_fma($0, $1, $2)",
	// The faults that torch._inductor.config.cpp.inject_*_bug_TESTING_ONLY ask for.
	"bug_compile": "compile error!",
	"bug_runtime": "$0; throw 1",
	"bug_plus1":   "$0 + T(1)",
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

// overloads picks the eager kernels' functions for float, and the library's for double.
const overloads = `
static inline float whittle_exp(float x) { return whittle_expf(x); }
static inline double whittle_exp(double x) { return std::exp(x); }
static inline float whittle_log(float x) { return whittle_logf(x); }
static inline double whittle_log(double x) { return std::log(x); }
static inline float whittle_log1p(float x) { return whittle_log1pf(x); }
static inline double whittle_log1p(double x) { return std::log1p(x); }
static inline float whittle_tanh(float x) { return whittle_tanhf(x); }
static inline double whittle_tanh(double x) { return std::tanh(x); }
static inline float whittle_erf(float x) { return whittle_erff(x); }
static inline double whittle_erf(double x) { return std::erf(x); }
`

// support has the 16-bit floats, and arithmetic where C++ is not PyTorch: NaN wins maxima and minima, remainders have the sign of the divisor,
// floats that no int64 holds become its least value, and abs of -0 is 0.
const support = `#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <algorithm>
#include <type_traits>
struct bf16 { uint16_t x; operator float() const { uint32_t u = uint32_t(x) << 16; float f; std::memcpy(&f, &u, 4); return f; }
  bf16() = default;
  bf16(float f) { uint32_t u; std::memcpy(&u, &f, 4); x = (f != f) ? 0x7fc0 : uint16_t((u + 0x7fff + ((u >> 16) & 1)) >> 16); } };
struct f16 { _Float16 x; operator float() const { return float(x); } f16() = default; f16(float f) : x(_Float16(f)) {} };
template <typename T> static inline T whittle_abs(T a) { return a < T(0) ? T(-a) : (a == T(0) ? T(0) : a); }
template <typename T> static inline T whittle_max(T a, T b) { return (a > b || a != a) ? a : b; }
template <typename T> static inline T whittle_min(T a, T b) { return (a < b || a != a) ? a : b; }
template <typename T> static inline T whittle_pow(T a, T b) {
  if constexpr (std::is_floating_point<T>::value) return std::pow(a, b);
  else { if (b < 0) return a == 1 ? T(1) : (a == T(-1) ? (b % 2 ? T(-1) : T(1)) : T(0)); T r = 1; while (b) { if (b & 1) r *= a; a *= a; b >>= 1; } return r; } }
template <typename T> static inline bool whittle_no_rest(T b) { return b == 0 || (std::is_signed<T>::value && b == T(-1)); } // the least number by -1 traps
template <typename T> static inline T whittle_fmod(T a, T b) { if constexpr (std::is_floating_point<T>::value) return std::fmod(a, b); else return whittle_no_rest(b) ? T(0) : T(a % b); }
template <typename T> static inline T whittle_remainder(T a, T b) {
  if constexpr (std::is_floating_point<T>::value) { T m = std::fmod(a, b); return (m != 0 && ((b < 0) != (m < 0))) ? m + b : m; }
  else { if (whittle_no_rest(b)) return T(0); T m = a % b; return (m != 0 && ((b < 0) != (m < 0))) ? T(m + b) : m; } }
template <typename T> static inline T whittle_div_floor(T a, T b) {
  if constexpr (std::is_floating_point<T>::value) { if (b == 0) return a / b; T m = std::fmod(a, b); T d = (a - m) / b; if (m != 0 && ((b < 0) != (m < 0))) d -= 1;
    if (d == 0) return std::copysign(T(0), a / b); T f = std::floor(d); return d - f > T(0.5) ? f + 1 : f; }
  else { if (b == 0) return T(0); T q = a / b; return (a % b != 0 && ((a < 0) != (b < 0))) ? T(q - 1) : q; } }
template <typename T> static inline T whittle_div_trunc(T a, T b) { if constexpr (std::is_floating_point<T>::value) return std::trunc(a / b); else return b == 0 ? T(0) : T(a / b); }
template <typename T> static inline T whittle_fma(T a, T b, T c) { if constexpr (std::is_floating_point<T>::value) return std::fma(a, b, c); else return T(uint64_t(a) * uint64_t(b) + uint64_t(c)); }
template <typename T, typename S> static inline T whittle_cast(S a) {
  if constexpr (std::is_same<T, bool>::value) return a != S(0);
  else if constexpr (std::is_floating_point<S>::value && std::is_integral<T>::value) {
    if (!(a >= S(-9.2233720368547758e18) && a < S(9.2233720368547758e18))) return T(std::numeric_limits<int64_t>::min()); return T(int64_t(a)); }
  else return T(a); }
`
