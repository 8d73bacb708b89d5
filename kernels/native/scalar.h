// Functions of one float, vectorisable, shared by the kernels and by generated code (C and C++): both give the same bits, whatever
// the compiler makes of a sum with a product, because those are spelled out.
#if defined(__FMA__)
#define MADD(a, b, c) __builtin_fmaf(a, b, c)
#define MADD64(a, b, c) __builtin_fma(a, b, c)
#else
#define MADD(a, b, c) ((a) * (b) + (c))
#define MADD64(a, b, c) ((a) * (b) + (c))
#endif

// exp(r) for |r| <= ln2/2.
static inline float whittle_exp_near(float r) {
  float p = 1.9875691500e-4f;
  p = MADD(p, r, 1.3981999507e-3f);
  p = MADD(p, r, 8.3334519073e-3f);
  p = MADD(p, r, 4.1665795894e-2f);
  p = MADD(p, r, 1.6666665459e-1f);
  p = MADD(p, r, 5.0000001201e-1f);
  return MADD(p, r * r, r) + 1.0f;
}

// The parts of exp(x) = 2^n * p(r), |r| <= ln2/2.
static inline float whittle_exp_parts(float x, int32_t *power) {
  float t = MADD(x, 1.44269504088896341f, 12582912.0f);
  float n = t - 12582912.0f;
  float r = MADD(n, -0.693145751953125f, x);
  r = MADD(n, -1.428606765330187e-6f, r);
  *power = (int32_t)n;
  return whittle_exp_near(r);
}

// p * 2^i. The scale is applied in two steps so that subnormals and overflow come out right.
static inline float whittle_scaled(float p, int32_t i) {
  int32_t h = i >> 1;
  union { int32_t i; float f; } s1 = {(h + 127) << 23}, s2 = {(i - h + 127) << 23};
  return p * s1.f * s2.f;
}

static inline float whittle_expf(float x) {
  float c = x > 89.0f ? 89.0f : x;
  c = c < -104.0f ? 0.0f : c; // the result is 0, and is not computed: a product that becomes too small takes a processor a hundred times as long
  int32_t i;
  float p = whittle_exp_parts(c, &i);
  float y = whittle_scaled(p, i);
  y = x < -104.0f ? 0.0f : y;
  return x != x ? x : y;
}

// exp, or where it is less than what 1 has a digit for some other number that is: numbers below the normal ones cost a hundred times as much.
static inline float whittle_expf_or_tiny(float x) { return whittle_expf(x < -87.0f ? -87.0f : x); }

// exp for |x| < 80, the same bits with less care.
static inline float whittle_exp_mid(float x) {
  int32_t n;
  float p = whittle_exp_parts(x, &n);
  union { int32_t i; float f; } s = {(n + 127) << 23};
  return p * s.f;
}

static inline float whittle_tanhf(float x) {
  float a = __builtin_fabsf(x);
  float z = x * x;
  float p = -5.70498872745e-3f;
  p = MADD(p, z, 2.06390887954e-2f);
  p = MADD(p, z, -5.37397155531e-2f);
  p = MADD(p, z, 1.33314422036e-1f);
  p = MADD(p, z, -3.33332819422e-1f);
  float s = MADD(p * z, x, x);
  float b = a > 10.0f ? 10.0f : a;
  float l = 1.0f - 2.0f / (whittle_exp_mid(b + b) + 1.0f);
  float r = __builtin_copysignf(a < 0.625f ? s : l, x); // of a zero, too
  return x != x ? x : r;
}

static inline float whittle_sigmoidf(float x) { return 1.0f / (1.0f + whittle_expf_or_tiny(-x)); }

static inline float whittle_erff(float a) {
  float t = __builtin_fabsf(a);
  float s = a * a;
  t = t > 4.0f ? 4.0f : t;
  float s2 = t * t;
  float r = MADD(-1.72853470e-5f, t, 3.83197126e-4f);
  float u = MADD(-3.88396438e-3f, t, 2.42546219e-2f);
  r = MADD(r, s2, u);
  r = MADD(r, t, -1.06777877e-1f);
  r = MADD(r, t, -6.34846687e-1f);
  r = MADD(r, t, -1.28717512e-1f);
  r = MADD(r, t, -t);
  float big = __builtin_copysignf(1.0f - whittle_exp_mid(r), a);
  float q = -5.96761703e-4f;
  q = MADD(q, s, 4.99119423e-3f);
  q = MADD(q, s, -2.67681349e-2f);
  q = MADD(q, s, 1.12819925e-1f);
  q = MADD(q, s, -3.76125336e-1f);
  q = MADD(q, s, 1.28379166e-1f);
  q = MADD(q, a, a);
  float y = t > 0.927734375f ? big : q;
  return a != a ? a : y;
}

// sin and cos for |x| <= 8192, beyond which a caller asks the C library (see whittle_wild).
static inline float whittle_sincosf(float x, int cosine) {
  float t = x * 0.636619772367581343f + 12582912.0f;
  union { float f; int32_t i; } u = {t};
  int32_t q = (u.i & 3) + cosine;
  float n = t - 12582912.0f;
#if defined(__FMA__)
  float r = MADD(n, -1.57079637050628662f, x); // exact
  r = MADD(n, 4.37113882867379e-8f, r);
  r = MADD(n, 1.71512451000588e-15f, r);
#else
  float r = x - n * 1.5703125f;
  r = r - n * 4.837512969970703e-4f;
  r = r - n * 7.54978995489188e-8f;
#endif
  float z = r * r;
  float s = MADD(MADD(-1.9515295891e-4f, z, 8.3321608736e-3f), z, -1.6666654611e-1f);
  s = MADD(s * z, r, r);
  float c = MADD(MADD(2.443315711809948e-5f, z, -1.388731625493765e-3f), z, 4.166664568298827e-2f);
  c = MADD(c * z, z, MADD(z, -0.5f, 1.0f));
  float y = (q & 1) ? c : s;
  y = (q & 2) ? -y : y;
  return !cosine && x == 0.0f ? x : y;
}

// Whether a sine, a cosine or a tangent is out of reach of the functions here.
static inline int whittle_wild(float x) { return !(__builtin_fabsf(x) <= 8192.0f); }

// The functions from here on compute in double, with polynomials that are as good as float needs: a result is right but for its rounding, nearly
// always. The coefficients are least maximum errors, fitted for this file.

// e^x - 1 = m + s*m + s, with s = 2^n - 1 given as *scale; |x| <= 1000.
static inline double whittle_expm1_parts(double x, double *scale) {
  double t = MADD64(x, 1.4426950408889634, 6755399441055744.0);
  double n = t - 6755399441055744.0;
  double r = MADD64(n, -0.69314718055994531, x);
  double p = 1.9899275950514960e-4;
  p = MADD64(p, r, 1.3888824174704295e-3);
  p = MADD64(p, r, 8.3332984807838670e-3);
  p = MADD64(p, r, 4.1666666853535553e-2);
  p = MADD64(p, r, 1.6666666719006254e-1);
  p = MADD64(p, r, 4.9999999999910166e-1);
  union { double f; uint64_t i; } u = {t}, v;
  v.i = (u.i << 52) + 0x3ff0000000000000u;
  *scale = v.f;
  return MADD64(p * r, r, r);
}

static inline double whittle_exp64(double x) {
  double s, m = whittle_expm1_parts(x, &s);
  return MADD64(m, s, s);
}

static inline double whittle_expm164(double x) {
  double s, m = whittle_expm1_parts(x, &s);
  return MADD64(m, s, s - 1.0);
}

// Within the range of exp as float, and a little more.
static inline double whittle_reach(double x) { x = x > 200.0 ? 200.0 : x; return x < -200.0 ? -200.0 : x; }

// log of a normal double above 0.
static inline double whittle_log64(double x) {
  union { double f; uint64_t i; } u = {x}, e, m;
  uint64_t t = u.i + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
  e.i = (t >> 52) | 0x4330000000000000u;
  m.i = (t & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu;
  double n = e.f - 4503599627371519.0;
  double s = (m.f - 1.0) / (m.f + 1.0), z = s * s;
  double p = 1.9371061164330056e-1;
  p = MADD64(p, z, 2.2190954806954766e-1);
  p = MADD64(p, z, 2.8571761836244924e-1);
  p = MADD64(p, z, 3.9999998759719602e-1);
  p = MADD64(p, z, 6.6666666667404761e-1);
  double y = MADD64(p * z, s, s + s);
  return MADD64(n, 0.69314718055994531, y);
}

// What a logarithm, times k, gives at the ends.
static inline float whittle_logk(float x, double k) {
  float y = (float)(whittle_log64(x) * k);
  y = x == 0.0f ? -__builtin_inff() : y;
  y = x < 0.0f ? __builtin_nanf("") : y;
  y = x == __builtin_inff() ? x : y;
  return x != x ? x : y;
}
static inline float whittle_logf(float x) { return whittle_logk(x, 1.0); }
static inline float whittle_log2f(float x) { return whittle_logk(x, 1.4426950408889634); }
static inline float whittle_log10f(float x) { return whittle_logk(x, 0.43429448190325183); }

// log(1+x), by its series where 1+x has lost too much of x.
static inline float whittle_log1pf(float x) {
  double u = x, small = u * MADD64(u, MADD64(u, 1.0 / 3.0, -0.5), 1.0);
  float y = (float)(__builtin_fabs(u) < 1e-4 ? small : whittle_log64(1.0 + (u > -1.0 ? u : 0.0)));
  y = x == -1.0f ? -__builtin_inff() : y;
  y = x < -1.0f ? __builtin_nanf("") : y;
  return x == __builtin_inff() || x != x || x == 0.0f ? x : y;
}

static inline float whittle_exp2f(float x) {
  float c = x > 129.0f ? 129.0f : x;
  c = c < -151.0f ? 0.0f : c; // see whittle_expf
  float n = (c + 12582912.0f) - 12582912.0f;
  float y = whittle_scaled(whittle_exp_near((c - n) * 0.693147180559945309f), (int32_t)n);
  y = x < -151.0f ? 0.0f : y;
  return x != x ? x : y;
}

static inline float whittle_expm1f(float x) {
  float y = (float)whittle_expm164(whittle_reach(x));
  return x != x || x == 0.0f ? x : y;
}

static inline float whittle_sinhf(float x) {
  double m = whittle_expm164(whittle_reach(__builtin_fabsf(x)));
  float y = __builtin_copysignf((float)(0.5 * (m + m / (m + 1.0))), x);
  return x != x ? x : y;
}

static inline float whittle_coshf(float x) {
  double e = whittle_exp64(whittle_reach(__builtin_fabsf(x)));
  float y = (float)(0.5 * (e + 1.0 / e));
  return x != x ? x : y;
}

static inline float whittle_asinhf(float x) {
  double a = __builtin_fabsf(x), z = a * a;
  double big = whittle_log64(a + __builtin_sqrt(MADD64(a, a, 1.0))), small = MADD64(-a * z, MADD64(z, -3.0 / 40.0, 1.0 / 6.0), a);
  float y = __builtin_copysignf((float)(a < 0.01 ? small : big), x);
  return x - x == 0.0f ? y : x;
}

static inline float whittle_acoshf(float x) {
  double a = x, y = whittle_log64((a < 1.0 ? 1.0 : a) + __builtin_sqrt(a < 1.0 ? 0.0 : (a - 1.0) * (a + 1.0)));
  float r = x < 1.0f ? __builtin_nanf("") : (float)y;
  return x == __builtin_inff() || x != x ? x : r;
}

static inline float whittle_atanhf(float x) {
  double a = __builtin_fabsf(x), z = a * a;
  double big = 0.5 * whittle_log64((1.0 + a) / (a < 1.0 ? 1.0 - a : 1.0)), small = MADD64(a * z, MADD64(z, MADD64(z, 1.0 / 7.0, 1.0 / 5.0), 1.0 / 3.0), a);
  float y = __builtin_copysignf((float)(a < 0.02 ? small : big), x);
  y = a == 1.0 ? __builtin_copysignf(__builtin_inff(), x) : y;
  y = a > 1.0 ? __builtin_nanf("") : y;
  return x != x ? x : y;
}

// atan for 0 <= x; beyond the tangent of an eighth of a turn's quarter by the difference from a quarter of pi, and of the reciprocal.
static inline double whittle_atan64(double x) {
  double w = x > 1.0 ? 1.0 / x : x;
  double v = w > 0.41421356237309503 ? (w - 1.0) / (w + 1.0) : w, z = v * v;
  double p = -4.0513667959543530e-2;
  p = MADD64(p, z, 7.1396076336225550e-2);
  p = MADD64(p, z, -9.0298281708155001e-2);
  p = MADD64(p, z, 1.1107571932205909e-1);
  p = MADD64(p, z, -1.4285615668549287e-1);
  p = MADD64(p, z, 1.9999998964791693e-1);
  p = MADD64(p, z, -3.3333333331556741e-1);
  double y = MADD64(p * z, v, v);
  y = w > 0.41421356237309503 ? y + 0.78539816339744831 : y;
  return x > 1.0 ? 1.5707963267948966 - y : y;
}

static inline float whittle_atanf(float x) {
  float y = __builtin_copysignf((float)whittle_atan64(__builtin_fabsf(x)), x);
  return x != x ? x : y;
}

// The signs of zeros say which side of the plane's cut is meant, and two infinities or two zeros have the angle of ones.
static inline float whittle_atan2f(float y, float x) {
  float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), inf = __builtin_inff();
  int both = (ax == ay) & ((ax == inf) | (ax == 0.0f));
  double q = (double)ay / (ax == 0.0f ? 1.0 : (double)ax);
  q = ax == 0.0f ? (double)inf : q;
  q = both ? (ax == inf ? 1.0 : 0.0) : q;
  double a = whittle_atan64(q);
  a = __builtin_copysignf(1.0f, x) < 0.0f ? 3.1415926535897932 - a : a;
  float r = __builtin_copysignf((float)a, y);
  return x != x || y != y ? x + y : r;
}

// asin for 0 <= x <= 1/2, and by the half angle up to 1: what has to be taken from a quarter of a turn, and how often. root is the square root of
// whittle_asin_square(x).
static inline double whittle_asin_square(double x) { return x > 0.5 ? (x > 1.0 ? 0.0 : 0.5 * (1.0 - x)) : x * x; }
static inline double whittle_asin_by(double x, double root, int *above) {
  *above = x > 0.5;
  double z = x > 0.5 ? 0.5 * (1.0 - x) : x * x, v = x > 0.5 ? root : x;
  double p = 2.9586435760055537e-2;
  p = MADD64(p, z, 5.2011544619585161e-3);
  p = MADD64(p, z, 1.9388050684962539e-2);
  p = MADD64(p, z, 2.2118748134425509e-2);
  p = MADD64(p, z, 3.0398810300735039e-2);
  p = MADD64(p, z, 4.4642310438609868e-2);
  p = MADD64(p, z, 7.5000006723228374e-2);
  p = MADD64(p, z, 1.6666666665311894e-1);
  return MADD64(p * z, v, v);
}

static inline float whittle_asinf_by(float x, double root) {
  int above;
  double a = whittle_asin_by(__builtin_fabsf(x), root, &above);
  a = above ? 1.5707963267948966 - (a + a) : a;
  float y = __builtin_copysignf((float)a, x);
  y = __builtin_fabsf(x) > 1.0f ? __builtin_nanf("") : y;
  return x != x ? x : y;
}

static inline float whittle_asinf(float x) { return whittle_asinf_by(x, __builtin_sqrt(whittle_asin_square(__builtin_fabsf(x)))); }

static inline float whittle_acosf_by(float x, double root) {
  int above;
  double a = whittle_asin_by(__builtin_fabsf(x), root, &above);
  double small = x < 0.0f ? 1.5707963267948966 + a : 1.5707963267948966 - a, large = x < 0.0f ? 3.1415926535897932 - (a + a) : a + a;
  float y = (float)(above ? large : small);
  y = __builtin_fabsf(x) > 1.0f ? __builtin_nanf("") : y;
  return x != x ? x : y;
}

static inline float whittle_acosf(float x) { return whittle_acosf_by(x, __builtin_sqrt(whittle_asin_square(__builtin_fabsf(x)))); }

// tan for |x| <= 8192.
static inline float whittle_tanf(float x) {
  double t = MADD64((double)x, 0.63661977236758138, 6755399441055744.0), n = t - 6755399441055744.0;
  union { double f; uint64_t i; } u = {t};
  double r = MADD64(n, -1.5707963267341256, (double)x); // its product with n is exact
  r = MADD64(n, -6.0771005065061922e-11, r);
  double z = r * r;
  double s = 2.7246945792974452e-06, c = -2.7298462975340262e-07;
  s = MADD64(s, z, -1.9840063760730514e-4);
  s = MADD64(s, z, 8.3333318323098610e-3);
  s = MADD64(s, z, -1.6666666663747176e-1);
  s = MADD64(s * z, r, r);
  c = MADD64(c, z, 2.4800581118494880e-5);
  c = MADD64(c, z, -1.3888887636436559e-3);
  c = MADD64(c, z, 4.1666666664230315e-2);
  c = MADD64(c * z, z, MADD64(z, -0.5, 1.0));
  int odd = (int)(u.i & 1);
  float y = (float)((odd ? -c : s) / (odd ? s : c));
  return x == 0.0f ? x : y;
}

// erfc(x) = t * e^(-x^2) * p(t), t = 1/(1+x/2), for x >= 0.
static inline float whittle_erfcf(float x) {
  double a = __builtin_fabsf(x);
  a = a > 14.0 ? 14.0 : a;
  double t = 1.0 / MADD64(a, 0.5, 1.0), p = -0.010021820048780784;
  p = MADD64(p, t, 0.038799728610746903);
  p = MADD64(p, t, 0.013471025888464234);
  p = MADD64(p, t, -0.33469661360316655);
  p = MADD64(p, t, 0.78124030789816878);
  p = MADD64(p, t, -0.81342958830808776);
  p = MADD64(p, t, 0.39913355903578263);
  p = MADD64(p, t, -0.18766285230682733);
  p = MADD64(p, t, 0.13416630205375177);
  p = MADD64(p, t, 0.16692493561575267);
  p = MADD64(p, t, 0.24796214049957185);
  p = MADD64(p, t, 0.28201563239579308);
  p = MADD64(p, t, 0.28209724210703796);
  double y = p * t * whittle_exp64(-a * a);
  y = x < 0.0f ? 2.0 - y : y;
  return x != x ? x : (float)y;
}

// x^y. A negative base has a power of integers alone, with the sign of odd ones.
static inline float whittle_powf(float x, float y) {
  float a = __builtin_fabsf(x), ay = __builtin_fabsf(y), inf = __builtin_inff();
  float half = y * 0.5f;
  int whole = (__builtin_truncf(y) == y) | (ay == inf), odd = whole & (ay < 16777216.0f) & (__builtin_truncf(half) != half);
  double l = whittle_log64(a == 0.0f || a == inf || a != a ? 1.0 : (double)a);
  float r = (float)whittle_exp64(whittle_reach(l * (ay == inf ? 0.0 : (double)y)));
  float far = (a > 1.0f) == (y > 0.0f) ? inf : 0.0f;
  r = ay == inf ? (a == 1.0f ? 1.0f : far) : r;
  r = a == 0.0f ? (y < 0.0f ? inf : 0.0f) : r;
  r = a == inf ? (y < 0.0f ? 0.0f : inf) : r;
  int minus = __builtin_copysignf(1.0f, x) < 0.0f;
  r = minus & odd ? -r : r;
  r = minus & !whole & (a != 0.0f) & (a != inf) ? __builtin_nanf("") : r;
  r = x != x || y != y ? x + y : r;
  return y == 0.0f || x == 1.0f ? 1.0f : r;
}

// The remainder of x by y with the sign of x, where the quotient is small enough for the product with y to be exact; see whittle_wild_fmod.
static inline float whittle_fmodf(float x, float y) {
  double a = __builtin_fabsf(x), b = __builtin_fabsf(y);
  double r = MADD64(-__builtin_trunc(a / b), b, a);
  r = r < 0.0 ? r + b : r; // the quotient was rounded up
  float f = __builtin_copysignf((float)r, x);
  return b == (double)__builtin_inff() && a != b ? x : f;
}
static inline int whittle_wild_fmod(float x, float y) { return __builtin_fabsf(x) > 2e8f * __builtin_fabsf(y); }

// Functions of one double, within an ulp or so: series of Taylor, cut where a term is below the last bit.

// e^x: 2^n is applied in two steps, so that what is subnormal and what is too large come out right.
static inline double whittle_expd(double x) {
  double c = x > 710.0 ? 710.0 : x;
  c = c < -746.0 ? -746.0 : c;
  const double round = 6755399441055744.0;
  double n = MADD64(c, 1.4426950408889634, round) - round;
  double r = MADD64(n, -0.69314718036912382, c); // exact, as n is small
  r = MADD64(n, -1.9082149292705877e-10, r);
  double p = 1.6059043836821613e-10;
  p = MADD64(p, r, 2.08767569878681e-09);
  p = MADD64(p, r, 2.505210838544172e-08);
  p = MADD64(p, r, 2.755731922398589e-07);
  p = MADD64(p, r, 2.7557319223985893e-06);
  p = MADD64(p, r, 2.48015873015873e-05);
  p = MADD64(p, r, 1.984126984126984e-04);
  p = MADD64(p, r, 1.388888888888889e-03);
  p = MADD64(p, r, 8.333333333333333e-03);
  p = MADD64(p, r, 4.1666666666666664e-02);
  p = MADD64(p, r, 1.6666666666666666e-01);
  p = MADD64(p, r, 0.5);
  p = MADD64(p, r * r, r) + 1.0;
  double h = MADD64(n, 0.5, round);
  union { double f; uint64_t i; } a = {h}, b = {n - (h - round) + round};
  a.i = (a.i << 52) + 0x3ff0000000000000u;
  b.i = (b.i << 52) + 0x3ff0000000000000u;
  double y = p * a.f * b.f;
  return x != x ? x : y;
}

// log x = n log 2 + log m, m within a factor of sqrt 2 of 1.
static inline double whittle_logd(double x) {
  int tiny = x < 2.2250738585072014e-308;
  union { double f; uint64_t i; } u = {tiny ? x * 18014398509481984.0 : x}, e, m;
  uint64_t t = u.i + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
  e.i = (t >> 52) | 0x4330000000000000u;
  m.i = (t & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu;
  double n = e.f - 4503599627371519.0 - (tiny ? 54.0 : 0.0);
  double f = m.f - 1.0, s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
  double p = 9.523809523809523e-02; // 2/21, 2/19, ...
  p = MADD64(p, z, 1.0526315789473684e-01);
  p = MADD64(p, z, 1.1764705882352941e-01);
  p = MADD64(p, z, 1.3333333333333333e-01);
  p = MADD64(p, z, 1.5384615384615385e-01);
  p = MADD64(p, z, 1.8181818181818182e-01);
  p = MADD64(p, z, 2.2222222222222221e-01);
  p = MADD64(p, z, 2.8571428571428570e-01);
  p = MADD64(p, z, 0.4);
  p = MADD64(p, z, 6.6666666666666663e-01);
  double low = MADD64(s, MADD64(p, z, half), n * 1.9082149292705877e-10);
  double y = MADD64(n, 0.69314718036912382, f - (half - low));
  y = x == 0.0 ? -__builtin_inf() : y;
  y = x < 0.0 ? __builtin_nan("") : y;
  y = x == __builtin_inf() ? x : y;
  return x != x ? x : y;
}

// The sine of r by its series, z being r*r; what stands for the term of r^17 and those after it is s.
static inline double whittle_sine(double s, double z, double r) {
  s = MADD64(s, z, -7.6471637318198164e-13);
  s = MADD64(s, z, 1.6059043836821613e-10);
  s = MADD64(s, z, -2.505210838544172e-08);
  s = MADD64(s, z, 2.7557319223985893e-06);
  s = MADD64(s, z, -1.984126984126984e-04);
  s = MADD64(s, z, 8.333333333333333e-03);
  s = MADD64(s, z, -1.6666666666666666e-01);
  return MADD64(s * z, r, r);
}

// The logarithm of the absolute value of gamma, by Stirling's series from 8 on; below, by the recurrence, and of negative numbers by the reflection. The
// absolute error is some 1e-15, which is enough for float next to its zeros at 1 and 2, but not in them.
static inline float whittle_lgammaf(float x) {
  double d = x, a = d < 0.5 ? 1.0 - d : d;
  double b = a < 8.0 ? a : 0.0;
  double product = b * (b + 1.0) * (b + 2.0) * (b + 3.0) * (b + 4.0) * (b + 5.0) * (b + 6.0) * (b + 7.0);
  double up = a < 8.0 ? a + 8.0 : a, v = 1.0 / up, z = v * v;
  double p = -2.9550653594771242e-2; // Bernoulli numbers over (2k-1)2k
  p = MADD64(p, z, 6.4102564102564103e-3);
  p = MADD64(p, z, -1.9175269175269175e-3);
  p = MADD64(p, z, 8.4175084175084175e-4);
  p = MADD64(p, z, -5.9523809523809524e-4);
  p = MADD64(p, z, 7.9365079365079365e-4);
  p = MADD64(p, z, -2.7777777777777778e-3);
  p = MADD64(p, z, 8.3333333333333333e-2);
  double y = (up - 0.5) * whittle_logd(up) - up + 0.91893853320467274 + p * v;
  double w = d - (double)__builtin_rintf(x); // |w| <= 1/2
  double t = w * 3.1415926535897932, q = t * t;
  double s = MADD64(1.9572941063391263e-20, q, -8.2206352466243297e-18);
  s = __builtin_fabs(whittle_sine(MADD64(s, q, 2.8114572543455206e-15), q, t)) * 0.31830988618379067; // |sin(pi x)| / pi
  double less = d < 0.5 ? (a < 8.0 ? s / product : s) : (a < 8.0 ? product : 1.0);
  double l = whittle_logd(less);
  double r = d < 0.5 ? -(l + y) : (a < 8.0 ? y - l : y);
  r = d == 1.0 || d == 2.0 ? 0.0 : r;
  r = d < 0.5 && w == 0.0 ? __builtin_inf() : r;
  float f = (float)r;
  f = x - x == 0.0f ? f : __builtin_fabsf(x); // infinities and NaN
  return f;
}

// sin and cos for |x| <= 10^6; see whittle_wildd.
static inline double whittle_sincosd(double x, int cosine) {
#if defined(__FMA__)
  union { double f; uint64_t i; } t = {MADD64(x, 0.63661977236758138, 6755399441055744.0)};
  double n = t.f - 6755399441055744.0;
  double r = MADD64(n, -1.5707963267948966, x); // exact
  r = MADD64(n, -6.123233995736766e-17, r);
  r = MADD64(n, 1.4973849048591833e-33, r);
  double z = r * r;
  double s = whittle_sine(2.8114572543455206e-15, z, r);
  double c = 4.779477332387385e-14;
  c = MADD64(c, z, -1.1470745597729725e-11);
  c = MADD64(c, z, 2.08767569878681e-09);
  c = MADD64(c, z, -2.755731922398589e-07);
  c = MADD64(c, z, 2.48015873015873e-05);
  c = MADD64(c, z, -1.388888888888889e-03);
  c = MADD64(c, z, 4.1666666666666664e-02);
  double w = MADD64(z, -0.5, 1.0);
  c = w + MADD64(c * z, z, MADD64(z, -0.5, 1.0 - w));
  uint64_t q = t.i + (uint64_t)cosine;
  union { double f; uint64_t i; } y = {(q & 1) ? c : s};
  y.i ^= (q & 2) << 62;
  return !cosine && x == 0.0 ? x : y.f;
#else // the remainder would need more digits
  return cosine ? __builtin_cos(x) : __builtin_sin(x);
#endif
}
static inline int whittle_wildd(double x) { return !(__builtin_fabs(x) <= 1e6); }

#undef MADD
#undef MADD64
