// Functions of one float, vectorisable, shared by the kernels and by generated code (C and C++): both give the same bits, whatever
// the compiler makes of a sum with a product, because those are spelled out.
#if defined(__FMA__)
#define MADD(a, b, c) __builtin_fmaf(a, b, c)
#else
#define MADD(a, b, c) ((a) * (b) + (c))
#endif

// The parts of exp(x) = 2^n * p(r), |r| <= ln2/2.
static inline float whittle_exp_parts(float x, int32_t *power) {
  float t = MADD(x, 1.44269504088896341f, 12582912.0f);
  float n = t - 12582912.0f;
  float r = MADD(n, -0.693145751953125f, x);
  r = MADD(n, -1.428606765330187e-6f, r);
  float p = 1.9875691500e-4f;
  p = MADD(p, r, 1.3981999507e-3f);
  p = MADD(p, r, 8.3334519073e-3f);
  p = MADD(p, r, 4.1665795894e-2f);
  p = MADD(p, r, 1.6666665459e-1f);
  p = MADD(p, r, 5.0000001201e-1f);
  *power = (int32_t)n;
  return MADD(p, r * r, r) + 1.0f;
}

// The scale is applied in two steps so that subnormals and overflow come out right.
static inline float whittle_expf(float x) {
  float c = x > 89.0f ? 89.0f : x;
  c = c < -104.0f ? -104.0f : c;
  int32_t i;
  float p = whittle_exp_parts(c, &i);
  int32_t h = i >> 1;
  union { int32_t i; float f; } s1 = {(h + 127) << 23}, s2 = {(i - h + 127) << 23};
  float y = p * s1.f * s2.f;
  return x != x ? x : y;
}

// exp for |x| < 80, the same bits with less care.
static inline float whittle_exp_mid(float x) {
  int32_t n;
  float p = whittle_exp_parts(x, &n);
  union { int32_t i; float f; } s = {(n + 127) << 23};
  return p * s.f;
}

static inline float whittle_logf(float x) {
  union { float f; int32_t i; } u = {x}, v;
  int sub = x < 1.17549435e-38f;
  v.f = x * 8388608.0f;
  u.i = sub ? v.i : u.i;
  float e = sub ? -23.0f : 0.0f;
  int32_t ix = u.i - 0x3f3504f3;  // sqrt(1/2)
  int32_t ie = ix >> 23;
  e += (float)ie;
  u.i = (ix & 0x007fffff) + 0x3f3504f3;
  float f = u.f - 1.0f;
  float z = f * f;
  float p = 7.0376836292e-2f;
  p = MADD(p, f, -1.1514610310e-1f);
  p = MADD(p, f, 1.1676998740e-1f);
  p = MADD(p, f, -1.2420140846e-1f);
  p = MADD(p, f, 1.4249322787e-1f);
  p = MADD(p, f, -1.6668057665e-1f);
  p = MADD(p, f, 2.0000714765e-1f);
  p = MADD(p, f, -2.4999993993e-1f);
  p = MADD(p, f, 3.3333331174e-1f);
  float y = p * f * z;
  y = MADD(e, -2.12194440e-4f, y);
  y = MADD(-0.5f, z, y);
  float r = f + y;
  r = MADD(e, 0.693359375f, r);
  r = x == 0.0f ? -__builtin_inff() : r;
  r = x < 0.0f ? __builtin_nanf("") : r;
  r = x == __builtin_inff() ? x : r;
  return x != x ? x : r;
}

// log(1+x), put right by the ratio of x to what is left of it in 1+x (Kahan).
static inline float whittle_log1pf(float x) {
  float u = 1.0f + x, d = u - 1.0f;
  float y = whittle_logf(u) * (x / d);
  y = d == 0.0f ? x : y;
  return x == __builtin_inff() ? x : y;
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
  l = __builtin_copysignf(l, x);
  float r = a < 0.625f ? s : l;
  return x != x ? x : r;
}

static inline float whittle_sigmoidf(float x) { return 1.0f / (1.0f + whittle_expf(-x)); }

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

#undef MADD
