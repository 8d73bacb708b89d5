// Discrete Fourier transforms of lines, in double whatever the elements are. Several lines are transformed at once: their elements lie side by side, in
// real and imaginary parts apart, so that every step is one of whole vectors. Passes are Stockham's, which leave the result in order; a length with a large
// prime factor is a convolution with a chirp (Bluestein's). An inverse is the forward transform with the two parts exchanged.
//
// A plan is numbers alone, as native.plan makes it. Its head: the length, 1 for a chirp, the number of passes, their radices from FFT_RADIX on, and where in its table lie the
// roots of the passes, the chirp, and the chirp's spectrum; behind FFT_INNER the same of the convolution's transform.

#ifndef FFT_RADIX
enum { FFT_RADIX = 8, FFT_ROOTS = 4, FFT_CHIRP, FFT_SPECTRUM, FFT_INNER = 72, FFT_LANES = 8, FFT_WIDEST = 64 };
enum { W_FROM32 = 1, W_TO32 = 2, W_INVERSE = 4, W_FROM_REAL = 8, W_TO_REAL = 16, W_TURNED = 32 };
#endif

// What follows is for vectors V of L doubles. EACH goes through the m*s places of a pass that the elements of a butterfly are m*s apart from.
#define EACH(R, ...) \
  for (int64_t p = 0; p < m; p++, tw += 2 * (R - 1)) { \
    const double *ar = xr + s * p, *ai = xi + s * p; \
    double *br = yr + s * R * p, *bi = yi + s * R * p; \
    if (p == 0) { \
      for (int64_t q = 0; q < s; q += L) { const int turned = 0; __VA_ARGS__ } \
    } else { \
      for (int64_t q = 0; q < s; q += L) { const int turned = 1; __VA_ARGS__ } \
    } \
  }
#define IN(K) V r##K = *(const V *)(ar + s * m * K + q), i##K = *(const V *)(ai + s * m * K + q);
#define OUT(K, R, I) \
  { \
    V u = (R), v = (I); \
    if (turned && K) { \
      double c = tw[2 * ((K) - 1)], d = tw[2 * ((K) - 1) + 1]; \
      V t = u * c - v * d; \
      v = u * d + v * c; \
      u = t; \
    } \
    *(V *)(br + s * (K) + q) = u; \
    *(V *)(bi + s * (K) + q) = v; \
  }
// The transform of four, of elements A to D, as e0 to e3 with the prefix.
#define FOUR(E, A, B, C, D) \
  V E##tr0 = r##A + r##C, E##ti0 = i##A + i##C, E##tr1 = r##A - r##C, E##ti1 = i##A - i##C; \
  V E##tr2 = r##B + r##D, E##ti2 = i##B + i##D, E##tr3 = r##B - r##D, E##ti3 = i##B - i##D; \
  V E##r0 = E##tr0 + E##tr2, E##i0 = E##ti0 + E##ti2, E##r2 = E##tr0 - E##tr2, E##i2 = E##ti0 - E##ti2; \
  V E##r1 = E##tr1 + E##ti3, E##i1 = E##ti1 - E##tr3, E##r3 = E##tr1 - E##ti3, E##i3 = E##ti1 + E##tr3;

#define PASSES(SUF, T, N) \
  static void NAME(fft_pass##SUF)(int r, int64_t m, int64_t s, const double *tw, const double *restrict xr, const double *restrict xi, double *restrict yr, double *restrict yi) { \
    typedef T V; \
    enum { L = N }; \
    switch (r) { \
      case 2: EACH(2, IN(0) IN(1) OUT(0, r0 + r1, i0 + i1) OUT(1, r0 - r1, i0 - i1)) return; \
      case 3: EACH(3, IN(0) IN(1) IN(2) \
        V sr = r1 + r2, si = i1 + i2, dr = (r1 - r2) * 0.86602540378443864676, di = (i1 - i2) * 0.86602540378443864676; \
        V cr = r0 - 0.5 * sr, ci = i0 - 0.5 * si; \
        OUT(0, r0 + sr, i0 + si) OUT(1, cr + di, ci - dr) OUT(2, cr - di, ci + dr)) return; \
      case 4: EACH(4, IN(0) IN(1) IN(2) IN(3) FOUR(e, 0, 1, 2, 3) \
        OUT(0, er0, ei0) OUT(1, er1, ei1) OUT(2, er2, ei2) OUT(3, er3, ei3)) return; \
      case 5: EACH(5, IN(0) IN(1) IN(2) IN(3) IN(4) \
        V pr = r1 + r4, pi = i1 + i4, dr = r1 - r4, di = i1 - i4, ur = r2 + r3, ui = i2 + i3, vr = r2 - r3, vi = i2 - i3; \
        V cr = r0 + 0.30901699437494742410 * pr - 0.80901699437494742410 * ur, ci = i0 + 0.30901699437494742410 * pi - 0.80901699437494742410 * ui; \
        V gr = r0 - 0.80901699437494742410 * pr + 0.30901699437494742410 * ur, gi = i0 - 0.80901699437494742410 * pi + 0.30901699437494742410 * ui; \
        V hr = 0.95105651629515357212 * dr + 0.58778525229247312917 * vr, hi = 0.95105651629515357212 * di + 0.58778525229247312917 * vi; \
        V kr = 0.58778525229247312917 * dr - 0.95105651629515357212 * vr, ki = 0.58778525229247312917 * di - 0.95105651629515357212 * vi; \
        OUT(0, r0 + pr + ur, i0 + pi + ui) OUT(1, cr + hi, ci - hr) OUT(2, gr + ki, gi - kr) OUT(3, gr - ki, gi + kr) OUT(4, cr - hi, ci + hr)) return; \
      case 8: EACH(8, IN(0) IN(1) IN(2) IN(3) IN(4) IN(5) IN(6) IN(7) FOUR(e, 0, 2, 4, 6) FOUR(o, 1, 3, 5, 7) \
        V ar1 = (or1 + oi1) * 0.70710678118654752440, ai1 = (oi1 - or1) * 0.70710678118654752440; \
        V ar3 = (oi3 - or3) * 0.70710678118654752440, ai3 = (or3 + oi3) * -0.70710678118654752440; \
        OUT(0, er0 + or0, ei0 + oi0) OUT(1, er1 + ar1, ei1 + ai1) OUT(2, er2 + oi2, ei2 - or2) OUT(3, er3 + ar3, ei3 + ai3) \
        OUT(4, er0 - or0, ei0 - oi0) OUT(5, er1 - ar1, ei1 - ai1) OUT(6, er2 - oi2, ei2 + or2) OUT(7, er3 - ar3, ei3 - ai3)) return; \
    } \
    const double *root = tw + 2 * (r - 1) * m; /* e^(-2 pi i k/r) */ \
    const int half = r / 2; \
    EACH(r, IN(0) \
      V sr[FFT_WIDEST / 2], si[FFT_WIDEST / 2], dr[FFT_WIDEST / 2], di[FFT_WIDEST / 2]; \
      V tr = r0; V ti = i0; \
      for (int j = 1; j <= half; j++) { \
        V a = *(const V *)(ar + s * m * j + q), b = *(const V *)(ai + s * m * j + q); \
        V c = *(const V *)(ar + s * m * (r - j) + q), d = *(const V *)(ai + s * m * (r - j) + q); \
        sr[j - 1] = a + c; si[j - 1] = b + d; dr[j - 1] = a - c; di[j - 1] = b - d; \
        tr += a + c; ti += b + d; \
      } \
      OUT(0, tr, ti) \
      for (int k = 1; k <= half; k++) { \
        V cr = r0; V ci = i0; V er = {0}; V ei = {0}; \
        for (int j = 1, at = k; j <= half; j++, at = at + k >= r ? at + k - r : at + k) { \
          double c = root[2 * at], d = -root[2 * at + 1]; \
          cr += sr[j - 1] * c; ci += si[j - 1] * c; er += di[j - 1] * d; ei += dr[j - 1] * d; \
        } \
        OUT(k, cr + er, ci - ei) \
        OUT(r - k, cr - er, ci + ei) \
      }) \
  }
typedef double NAME(d1) __attribute__((may_alias));
PASSES(1, NAME(d1), 1)
PASSES(v, NAME(vd), VB / 8)
#undef PASSES
#undef FOUR
#undef OUT
#undef IN
#undef EACH

// b is the two parts, and as much room again; they are exchanged until the result is in the first two.
static void NAME(fft_passes)(const int64_t *h, const double *t, double **b, int64_t lanes) {
  const double *tw = t + h[FFT_ROOTS];
  int64_t l = h[0], s = lanes;
  for (int k = 0; k < h[2]; k++) {
    int r = (int)h[FFT_RADIX + k];
    int64_t m = l / r;
    (s % (VB / 8) ? NAME(fft_pass1) : NAME(fft_passv))(r, m, s, tw, b[0], b[1], b[2], b[3]);
    double *x = b[0], *y = b[1];
    b[0] = b[2], b[1] = b[3], b[2] = x, b[3] = y;
    tw += 2 * (r - 1) * m + (r > 5 && r != 8 ? 2 * r : 0);
    s *= r;
    l = m;
  }
}

// Each of n groups of lanes elements times a number of z, or times its conjugate.
static void NAME(fft_times)(double *restrict yr, double *restrict yi, const double *xr, const double *xi, const double *z, int64_t n, int64_t lanes) {
  for (int64_t k = 0; k < n; k++) {
    double c = z[2 * k], d = z[2 * k + 1];
    for (int64_t q = k * lanes; q < (k + 1) * lanes; q++) {
      double u = xr[q], v = xi[q];
      yr[q] = u * c - v * d;
      yi[q] = u * d + v * c;
    }
  }
}

static void NAME(fft_forward)(const int64_t *h, const double *t, double **b, int64_t lanes) {
  if (!h[1]) {
    NAME(fft_passes)(h, t, b, lanes);
    return;
  }
  const int64_t *in = h + FFT_INNER;
  int64_t n = h[0], m = in[0];
  const double *chirp = t + h[FFT_CHIRP], *spectrum = t + h[FFT_SPECTRUM];
  NAME(fft_times)(b[2], b[3], b[0], b[1], chirp, n, lanes);
  memset(b[2] + n * lanes, 0, (size_t)((m - n) * lanes) * sizeof(double));
  memset(b[3] + n * lanes, 0, (size_t)((m - n) * lanes) * sizeof(double));
  double *c[4] = {b[2], b[3], b[0], b[1]};
  NAME(fft_passes)(in, t, c, lanes);
  NAME(fft_times)(c[2], c[3], c[0], c[1], spectrum, m, lanes);
  double *back[4] = {c[3], c[2], c[1], c[0]};
  NAME(fft_passes)(in, t, back, lanes);
  NAME(fft_times)(back[3], back[2], back[1], back[0], chirp, n, lanes);
  b[0] = back[3], b[1] = back[2], b[2] = back[1], b[3] = back[0];
}

// Elements to and from their lanes. Lines that begin side by side are read and written side by side.
#define LANES(T) \
  static void NAME(fft_load_##T)(double *restrict re, double *restrict im, const T *x, const int64_t *at, int64_t step, int64_t n, int64_t lanes, int beside) { \
    if (lanes == 1) { \
      const T *p = x + 2 * at[0]; \
      for (int64_t j = 0; j < n; j++) re[j] = p[2 * j * step], im[j] = p[2 * j * step + 1]; \
    } else if (beside) { \
      const T *p = x + 2 * at[0]; \
      for (int64_t j = 0; j < n; j++, p += 2 * step, re += FFT_LANES, im += FFT_LANES) \
        for (int l = 0; l < FFT_LANES; l++) re[l] = p[2 * l], im[l] = p[2 * l + 1]; \
    } else { \
      const T *p[FFT_LANES]; \
      for (int l = 0; l < FFT_LANES; l++) p[l] = x + 2 * at[l]; \
      for (int64_t j = 0; j < n; j++, re += FFT_LANES, im += FFT_LANES) \
        for (int l = 0; l < FFT_LANES; l++) re[l] = p[l][2 * j * step], im[l] = p[l][2 * j * step + 1]; \
    } \
  } \
  static void NAME(fft_load_real_##T)(double *restrict re, const T *x, const int64_t *at, int64_t step, int64_t n, int64_t lanes) { \
    const T *p[FFT_LANES]; \
    for (int l = 0; l < lanes; l++) p[l] = x + at[l]; \
    if (lanes == 1) { \
      for (int64_t j = 0; j < n; j++) re[j] = p[0][j * step]; \
    } else { \
      for (int64_t j = 0; j < n; j++, re += FFT_LANES) \
        for (int l = 0; l < FFT_LANES; l++) re[l] = p[l][j * step]; \
    } \
  } \
  static void NAME(fft_store_##T)(T *y, const double *re, const double *im, const int64_t *to, int64_t step, int64_t n, int64_t lanes, int64_t some, double scale) { \
    if (lanes == 1) { \
      T *p = y + 2 * to[0]; \
      for (int64_t j = 0; j < n; j++) p[2 * j * step] = (T)(re[j] * scale), p[2 * j * step + 1] = (T)(im[j] * scale); \
    } else if (some == FFT_LANES && to[FFT_LANES - 1] - to[0] == FFT_LANES - 1) { \
      T *restrict p = y + 2 * to[0]; \
      for (int64_t j = 0; j < n; j++, p += 2 * step, re += FFT_LANES, im += FFT_LANES) \
        for (int l = 0; l < FFT_LANES; l++) p[2 * l] = (T)(re[l] * scale), p[2 * l + 1] = (T)(im[l] * scale); \
    } else { \
      for (int64_t from = 0; from < n; from += 64) \
        for (int64_t l = 0; l < some; l++) { \
          T *p = y + 2 * to[l]; \
          int64_t end = from + 64 < n ? from + 64 : n; \
          for (int64_t j = from; j < end; j++) p[2 * j * step] = (T)(re[j * FFT_LANES + l] * scale), p[2 * j * step + 1] = (T)(im[j * FFT_LANES + l] * scale); \
        } \
    } \
  } \
  static void NAME(fft_store_real_##T)(T *y, const double *re, const int64_t *to, int64_t step, int64_t n, int64_t lanes, int64_t some, double scale) { \
    for (int64_t from = 0; from < n; from += 64) \
      for (int64_t l = 0; l < some; l++) { \
        T *p = y + to[l]; \
        int64_t end = from + 64 < n ? from + 64 : n; \
        for (int64_t j = from; j < end; j++) p[j * step] = (T)(re[j * lanes + l] * scale); \
      } \
  }
LANES(float)
LANES(double)
#undef LANES

// Transforms lines of n elements, which begin at elements at[k] of src, step apart, and at to[k] of dst, times scale. what is a set of W_FROM32 and so
// on. roots, of a transform of an even number of real elements, are e^(-2 pi i k/n) for k up to n/2, and the plan is that of the half. If W_TURNED, they are
// two tables of 2^side numbers each, e^(-2 pi i k/N) for k below 2^side and for its multiples: element k of line number first+j gets the root for their product.
static void NAME(fft_lines)(int what, const int64_t *h, const double *t, const double *roots, int64_t side, int64_t n, const void *src, const int64_t *at, int64_t step, void *dst,
                            const int64_t *to, int64_t tostep, int64_t first, int64_t lines, double scale) {
  const int64_t size = (h[1] ? h[FFT_INNER] : h[0]) + 1;
  const int even = (what & (W_FROM_REAL | W_TO_REAL)) && n % 2 == 0;
  const int64_t half = n / 2, lanes = lines < 3 ? 1 : FFT_LANES;
  const int64_t part = (size * lanes + 7) / 8 * 8 + 8; // lengths of a power of two would lie on the same lines of the cache
  double *room = whittle_room((size_t)(4 * part) * sizeof(double) + 64);
  room = (double *)(((uintptr_t)room + 63) & ~(uintptr_t)63);
  for (int64_t k = 0; k < lines; k += lanes) {
    int64_t some = lines - k < lanes ? lines - k : lanes, from[FFT_LANES];
    for (int l = 0; l < lanes; l++) from[l] = at[k + (l < some ? l : some - 1)];
    int beside = some == FFT_LANES;
    for (int l = 1; l < lanes; l++) beside &= from[l] == from[0] + l;
    double *b[4] = {room, room + part, room + 2 * part, room + 3 * part};
    // The elements.
    if (what & W_FROM_REAL) {
      const int64_t count = even ? half : n, by = even ? 2 * step : step;
      for (int odd = 0; odd <= even; odd++) {
        if (what & W_FROM32)
          NAME(fft_load_real_float)(b[odd], (const float *)src + odd * step, from, by, count, lanes);
        else
          NAME(fft_load_real_double)(b[odd], (const double *)src + odd * step, from, by, count, lanes);
      }
      if (!even) memset(b[1], 0, (size_t)(n * lanes) * sizeof(double));
    } else {
      double *re = b[0], *im = b[1];
      int64_t count = n;
      if (what & W_TO_REAL) re = b[2], im = b[3], count = half + 1;
      if (what & W_FROM32)
        NAME(fft_load_float)(re, im, src, from, step, count, lanes, beside);
      else
        NAME(fft_load_double)(re, im, src, from, step, count, lanes, beside);
    }
    if (what & W_TO_REAL) { // the zero frequency of a real signal is real, and so is the highest of an even length
      memset(b[3], 0, (size_t)lanes * sizeof(double));
      if (even) {
        memset(b[3] + half * lanes, 0, (size_t)lanes * sizeof(double));
        for (int64_t j = 0; j < half; j++) {
          const double c = roots[2 * j], d = -roots[2 * j + 1];
          const double *xr = b[2] + j * lanes, *xi = b[3] + j * lanes, *yr = b[2] + (half - j) * lanes, *yi = b[3] + (half - j) * lanes;
          double *re = b[0] + j * lanes, *im = b[1] + j * lanes;
          for (int l = 0; l < lanes; l++) {
            double u = xr[l] - yr[l], v = xi[l] + yi[l];
            re[l] = xr[l] + yr[l] - (u * d + v * c);
            im[l] = xi[l] - yi[l] + (u * c - v * d);
          }
        }
      } else {
        for (int64_t j = 0; j < n; j++)
          for (int l = 0; l < lanes; l++) {
            b[0][j * lanes + l] = b[2][(j <= half ? j : n - j) * lanes + l];
            b[1][j * lanes + l] = j <= half ? b[3][j * lanes + l] : -b[3][(n - j) * lanes + l];
          }
      }
    }
    double *x;
    if (what & W_INVERSE) x = b[0], b[0] = b[1], b[1] = x, x = b[2], b[2] = b[3], b[3] = x;
    NAME(fft_forward)(h, t, b, lanes);
    if (what & W_TURNED) {
      const int64_t mask = ((int64_t)1 << side) - 1;
      for (int64_t j = 1; j < n; j++)
        for (int l = 0; l < lanes; l++) {
          int64_t e = j * (first + k + (l < some ? l : some - 1));
          const double *a = roots + 2 * (e & mask), *g = roots + 2 * (mask + 1 + (e >> side));
          double c = a[0] * g[0] - a[1] * g[1], d = a[0] * g[1] + a[1] * g[0], u = b[0][j * lanes + l], v = b[1][j * lanes + l];
          b[0][j * lanes + l] = u * c - v * d;
          b[1][j * lanes + l] = u * d + v * c;
        }
    }
    if (what & W_INVERSE) x = b[0], b[0] = b[1], b[1] = x, x = b[2], b[2] = b[3], b[3] = x;
    // The results.
    if (what & W_TO_REAL) {
      const int64_t count = even ? half : n, by = even ? 2 * tostep : tostep;
      for (int odd = 0; odd <= even; odd++) {
        if (what & W_TO32)
          NAME(fft_store_real_float)((float *)dst + odd * tostep, b[odd], to + k, by, count, lanes, some, scale);
        else
          NAME(fft_store_real_double)((double *)dst + odd * tostep, b[odd], to + k, by, count, lanes, some, scale);
      }
      continue;
    }
    int64_t count = n;
    if (what & W_FROM_REAL) count = half + 1;
    if (even) {
      for (int64_t j = 0; j <= half; j++) {
        const double c = 0.5 * roots[2 * j], d = 0.5 * roots[2 * j + 1];
        const int64_t p = j == half ? 0 : j, q = j == 0 ? 0 : half - j;
        const double *xr = b[0] + p * lanes, *xi = b[1] + p * lanes, *yr = b[0] + q * lanes, *yi = b[1] + q * lanes;
        double *re = b[2] + j * lanes, *im = b[3] + j * lanes;
        for (int l = 0; l < lanes; l++) {
          double u = xi[l] + yi[l], v = yr[l] - xr[l]; // -i times the difference
          re[l] = 0.5 * (xr[l] + yr[l]) + (u * c - v * d);
          im[l] = 0.5 * (xi[l] - yi[l]) + (u * d + v * c);
        }
      }
      b[0] = b[2], b[1] = b[3];
    }
    if (what & W_TO32)
      NAME(fft_store_float)(dst, b[0], b[1], to + k, tostep, count, lanes, some, scale);
    else
      NAME(fft_store_double)(dst, b[0], b[1], to + k, tostep, count, lanes, some, scale);
  }
}
