// Reductions of rows and of columns and running ones, one row each, included for each element type with T, INT (an integer of its size), REDUCE(x), the
// names, and POINT(exp). m is what has been gathered, in the type A, x the next element, and k what another part has gathered; c is the number of the row
// or column that an element is compared with.

#define REDUCTIONS(ROW)                                         \
  ROW(SUM, double, 0, m + x, m + k)                             \
  ROW(NANSUM, double, 0, m + (x == x ? x : 0), m + k)           \
  ROW(PROD, double, 1, m *x, m *k)                              \
  ROW(SQUARES, double, 0, m + (double)x * x, m + k)             \
  ROW(SIZES, double, 0, m + __builtin_fabs(x), m + k)           \
  ROW(NONZEROS, double, 0, m + (x != 0), m + k)                 \
  ROW(GREATEST, T, -__builtin_inf(), (x > m) | (x != x) ? x : m, (k > m) | (k != k) ? k : m) \
  ROW(LEAST, T, __builtin_inf(), (x < m) | (x != x) ? x : m, (k < m) | (k != k) ? k : m)     \
  ROW(LARGEST, T, 0, ({ T u = x < 0 ? -x : x; (u > m) | (u != u) ? u : m; }), (k > m) | (k != k) ? k : m) \
  ROW(SMALLEST, T, __builtin_inf(), ({ T u = x < 0 ? -x : x; (u < m) | (u != u) ? u : m; }), (k < m) | (k != k) ? k : m) \
  ROW(DEVIATIONS, double, 0, m + ((double)x - c) * ((double)x - c), m + k) \
  ROW(EXPS, double, 0, m + POINT(exp)((double)x - c), m + k) \
  ROW(POWERS, double, 0, m + REDUCE(power)(x < 0 ? -x : x, c), m + k)

#ifndef REDUCTIONS_NAMED // their numbers, in the order of the rows
#define REDUCTIONS_NAMED
#define ROW(OP, A, INIT, STEP, JOIN) W_REDUCE_##OP,
enum { W_REDUCTIONS, REDUCTIONS(ROW) };
#undef ROW
#endif

enum { REDUCE(LANES) = 4 * VB / 8 };

static inline double REDUCE(power)(T x, double p) { return sizeof(T) == 4 ? whittle_powf((float)x, (float)p) : pow(x, p); }

// Each of some rows, stride apart, of cols elements.
static void REDUCE(rows)(int op, double *o, const T *a, const double *center, int64_t rows, int64_t cols, int64_t stride) {
  enum { L = REDUCE(LANES) };
#define ROW(OP, A, INIT, STEP, JOIN)                                              \
  case W_REDUCE_##OP:                                                             \
    for (int64_t r = 0; r < rows; r++, a += stride) {                             \
      A some[L];                                                                  \
      const double c = center ? center[r] : 0;                                    \
      (void)c;                                                                    \
      for (int j = 0; j < L; j++) some[j] = INIT;                                 \
      int64_t i = 0;                                                              \
      for (; i + L <= cols; i += L)                                               \
        for (int j = 0; j < L; j++) { A m = some[j]; T x = a[i + j]; some[j] = STEP; } \
      A m = some[0];                                                              \
      for (int j = 1; j < L; j++) { A k = some[j]; m = JOIN; }                    \
      for (; i < cols; i++) { T x = a[i]; m = STEP; }                             \
      o[r] = m;                                                                   \
    }                                                                             \
    break;
  switch (op) { REDUCTIONS(ROW) }
#undef ROW
}

// Each of some columns of rows that are stride apart.
static void REDUCE(cols)(int op, double *o, const T *a, const double *center, int64_t rows, int64_t cols, int64_t stride) {
  enum { W = 256 };
#define ROW(OP, A, INIT, STEP, JOIN)                                              \
  case W_REDUCE_##OP:                                                             \
    for (int64_t j0 = 0; j0 < cols; j0 += W) {                                    \
      A some[W];                                                                  \
      double about[W];                                                            \
      int64_t w = cols - j0 < W ? cols - j0 : W;                                  \
      for (int64_t j = 0; j < w; j++) some[j] = INIT, about[j] = center ? center[j0 + j] : 0; \
      const T *p = a + j0;                                                        \
      int64_t r = 0;                                                              \
      for (; r + 2 <= rows; r += 2, p += 2 * stride)                              \
        for (int64_t j = 0; j < w; j++) {                                         \
          const double c = about[j];                                              \
          (void)c;                                                                \
          A m = some[j];                                                          \
          T x = p[j];                                                             \
          m = STEP;                                                               \
          x = p[j + stride];                                                      \
          some[j] = STEP;                                                         \
        }                                                                         \
      for (; r < rows; r++, p += stride)                                          \
        for (int64_t j = 0; j < w; j++) { const double c = about[j]; (void)c; A m = some[j]; T x = p[j]; some[j] = STEP; } \
      for (int64_t j = 0; j < w; j++) o[j0 + j] = some[j];                        \
    }                                                                             \
    break;
  switch (op) { REDUCTIONS(ROW) }
#undef ROW
}

// The sums of products of each row with v; of each column. Along a row as many are added in T, in lanes of their own, as lose little by it, and what that
// gives in double.
enum { REDUCE(FEW) = 64 };
static void REDUCE(dot_rows)(double *o, const T *a, const T *v, int64_t rows, int64_t cols, int64_t stride) {
  enum { V = VB / sizeof(T), L = 4 * V };
  for (int64_t r = 0; r < rows; r++, a += stride) {
    double m = 0;
    int64_t i = 0;
    while (i + L <= cols) {
      T some[L];
      int64_t to = i + L * REDUCE(FEW) < cols ? i + L * REDUCE(FEW) : cols;
      for (int j = 0; j < L; j++) some[j] = 0;
      for (; i + L <= to; i += L)
        for (int j = 0; j < L; j++) some[j] += a[i + j] * v[i + j];
      double sums[L];
      for (int j = 0; j < L; j++) sums[j] = some[j];
      for (int h = L / 2; h > 0; h /= 2)
        for (int j = 0; j < h; j++) sums[j] += sums[j + h];
      m += sums[0];
    }
    if (i + V <= cols) { // what is left of short rows, a vector at a time
      typedef T vt __attribute__((vector_size(VB), aligned(sizeof(T)), may_alias));
      vt some = {0};
      for (; i + V <= cols; i += V) some += *(const vt *)(a + i) * *(const vt *)(v + i);
      double even = 0, odd = 0;
      for (int j = 0; j < V; j += 2) even += some[j], odd += some[j + 1];
      m += even + odd;
    }
    for (; i < cols; i++) m += (double)a[i] * (double)v[i];
    o[r] = m;
  }
}
static void REDUCE(dot_cols)(double *o, const T *a, const T *v, int64_t rows, int64_t cols, int64_t stride) {
  enum { W = 256 };
  for (int64_t j0 = 0; j0 < cols; j0 += W) {
    double some[W];
    int64_t w = cols - j0 < W ? cols - j0 : W;
    for (int64_t j = 0; j < w; j++) some[j] = 0;
    const T *p = a + j0;
    int64_t r = 0;
    for (; r + 2 <= rows; r += 2, p += 2 * stride) {
      double x = v[r], y = v[r + 1];
      for (int64_t j = 0; j < w; j++) some[j] = some[j] + (double)p[j] * x + (double)p[j + stride] * y;
    }
    for (; r < rows; r++, p += stride)
      for (int64_t j = 0; j < w; j++) some[j] += (double)p[j] * (double)v[r];
    for (int64_t j = 0; j < w; j++) o[j0 + j] = some[j];
  }
}

// The row, counted from 0, of the first NaN, else of the first greatest (least: smallest) element of each column, and that element.
static void REDUCE(arg_cols)(int64_t *o, T *best, const T *a, int64_t rows, int64_t cols, int64_t stride, int least) {
  enum { W = 256 };
  for (int64_t j0 = 0; j0 < cols; j0 += W) {
    T m[W];
    INT at[W];
    int64_t w = cols - j0 < W ? cols - j0 : W;
    for (int64_t j = 0; j < w; j++) m[j] = a[j0 + j], at[j] = 0;
    const T *p = a + j0 + stride;
    for (int64_t r = 1; r < rows; r++, p += stride) {
      if (least)
        for (int64_t j = 0; j < w; j++) { int up = (p[j] < m[j]) | ((p[j] != p[j]) & (m[j] == m[j])); m[j] = up ? p[j] : m[j]; at[j] = up ? (INT)r : at[j]; }
      else
        for (int64_t j = 0; j < w; j++) { int up = (p[j] > m[j]) | ((p[j] != p[j]) & (m[j] == m[j])); m[j] = up ? p[j] : m[j]; at[j] = up ? (INT)r : at[j]; }
    }
    for (int64_t j = 0; j < w; j++) o[j0 + j] = at[j], best[j0 + j] = m[j];
  }
}

// Of each of some windows, the rows at[ends[w]] to at[ends[w+1]-1] of a, of cols elements: of each column the greatest element and its row, of NaNs the
// last, else the first.
static void REDUCE(windows_max)(T *best, int64_t *o, const T *a, const int64_t *at, const int64_t *ends, int64_t windows, int64_t cols) {
  enum { L = VB / sizeof(T) };
  typedef T vt __attribute__((vector_size(VB), aligned(sizeof(T)), may_alias));
  typedef INT vi __attribute__((vector_size(VB), aligned(sizeof(T)), may_alias));
  for (int64_t w = 0; w < windows; w++, best += cols, o += cols) {
    for (int64_t j = 0; j < cols && cols < L; j++) {
      T m = -__builtin_inf();
      int64_t which = at[ends[w]];
      for (int64_t k = ends[w]; k < ends[w + 1]; k++) {
        T x = a[at[k] * cols + j];
        if ((x > m) | (x != x)) m = x, which = at[k];
      }
      best[j] = m, o[j] = which;
    }
    for (int64_t j0 = 0; j0 < cols && cols >= L; j0 += L) {
      int64_t j = j0 + L <= cols ? j0 : cols - L; // the last ones once more, where they are no whole vector
      vt m = (vt){0} - (T)__builtin_inf();
      vi which = (vi){0} + (INT)at[ends[w]];
      for (int64_t k = ends[w]; k < ends[w + 1]; k++) {
        vt x = *(const vt *)(a + at[k] * cols + j);
        vi up = (x > m) | (x != x);
        m = (vt)((up & (vi)x) | (~up & (vi)m));
        which = (up & (INT)at[k]) | (~up & which);
      }
      *(vt *)(best + j) = m;
      for (int i = 0; i < L; i++) o[j + i] = which[i];
    }
  }
}

// The sums of the columns of windows, divided by the window's size.
static void REDUCE(windows_mean)(T *o, const T *a, const int64_t *at, const int64_t *ends, const T *sizes, int64_t windows, int64_t cols) {
  enum { W = 128 };
  for (int64_t w = 0; w < windows; w++, o += cols)
    for (int64_t j0 = 0; j0 < cols; j0 += W) {
      T m[W], size = sizes[w];
      int64_t n = cols - j0 < W ? cols - j0 : W;
      for (int64_t j = 0; j < n; j++) m[j] = 0;
      for (int64_t k = ends[w]; k < ends[w + 1]; k++) {
        const T *p = a + at[k] * cols + j0;
        for (int64_t j = 0; j < n; j++) m[j] += p[j];
      }
      for (int64_t j = 0; j < n; j++) o[j0 + j] = m[j] / size;
    }
}

// What is run along lines, one row each: what it begins with, and what the next element makes of it.
#define SCANS(ROW)                   \
  ROW(SUM, 0, m + x)                 \
  ROW(PRODUCT, 1, m * x)             \
  ROW(LOG_SUM, -__builtin_inf(), ({ double t = m > x ? m : x, d = POINT(log1pexp)(-__builtin_fabs(m - x)); m != m ? m : x != x ? x : m == x && m - m != 0 ? m : t + d; }))

#ifndef SCANS_NAMED
#define SCANS_NAMED
#define ROW(OP, INIT, STEP) W_SCAN_##OP,
enum { SCANS(ROW) };
#undef ROW
#endif

// Running ones in double, of rows that are cols apart, along the columns: four columns' worth of vectors wait for each other little.
static void REDUCE(scan_cols)(int op, T *o, const T *a, int64_t rows, int64_t cols, int64_t width) {
  enum { W = 256 };
#define ROW(OP, INIT, STEP)                                                       \
  case W_SCAN_##OP:                                                               \
    for (int64_t j0 = 0; j0 < width; j0 += W) {                                   \
      double some[W];                                                             \
      int64_t w = width - j0 < W ? width - j0 : W;                                \
      for (int64_t j = 0; j < w; j++) some[j] = INIT;                             \
      for (int64_t r = 0; r < rows; r++) {                                        \
        const T *p = a + r * cols + j0;                                           \
        T *q = o + r * cols + j0;                                                 \
        for (int64_t j = 0; j < w; j++) { double m = some[j], x = p[j]; m = STEP; some[j] = m; q[j] = (T)m; } \
      }                                                                           \
    }                                                                             \
    break;
  switch (op) { SCANS(ROW) }
#undef ROW
}

// GEMM(turn) in one copy.
static __attribute__((noinline)) void REDUCE(turned)(T *d, int64_t ds, const T *s, int64_t ss, int64_t w, int64_t k) { GEMM(turn)(d, ds, s, ss, w, k); }

// The same along contiguous rows.
static void REDUCE(scan_rows)(int op, T *o, const T *a, int64_t rows, int64_t cols) {
  enum { K = 16, B = 64 };
  int64_t r = 0;
  T block[K * B]; // of columns, turned
#define ROW(OP, INIT, STEP)                                                       \
  case W_SCAN_##OP:                                                               \
    for (; r + K <= rows; r += K, a += K * cols, o += K * cols) {                 \
      double some[K];                                                             \
      for (int k = 0; k < K; k++) some[k] = INIT;                                 \
      for (int64_t i = 0; i < cols; i += B) {                                     \
        int64_t w = cols - i < B ? cols - i : B;                                  \
        REDUCE(turned)(block, K, a + i, cols, K, w);                              \
        for (int64_t j = 0; j < w; j++)                                           \
          for (int k = 0; k < K; k++) { double m = some[k], x = block[j * K + k]; m = STEP; some[k] = m; block[j * K + k] = (T)m; } \
        REDUCE(turned)(o + i, cols, block, K, w, K);                              \
      }                                                                           \
    }                                                                             \
    for (; r < rows; r++, a += cols, o += cols) {                                 \
      double m = INIT;                                                            \
      for (int64_t i = 0; i < cols; i++) { double x = a[i]; m = STEP; o[i] = (T)m; } \
    }                                                                             \
    break;
  switch (op) { SCANS(ROW) }
#undef ROW
}
#undef SCANS

static inline __attribute__((always_inline)) T REDUCE(power_of_e)(T x) { return sizeof(T) == 4 ? (T)whittle_expf((float)x) : (T)whittle_expd(x); }

// Softmax, or its logarithm, of each of width columns of rows that are cols apart; sums are calculated in double.
static void REDUCE(soft_cols)(T *restrict o, const T *restrict a, int64_t rows, int64_t cols, int64_t width, int logarithm) {
  enum { W = 128 };
  for (int64_t j0 = 0; j0 < width; j0 += W) {
    T m[W];
    double s[W];
    int64_t w = width - j0 < W ? width - j0 : W;
    for (int64_t j = 0; j < w; j++) m[j] = -__builtin_inf(), s[j] = 0;
    for (int64_t r = 0; r < rows; r++) {
      const T *p = a + r * cols + j0;
      for (int64_t j = 0; j < w; j++) m[j] = (p[j] > m[j]) | (p[j] != p[j]) ? p[j] : m[j];
    }
    for (int64_t r = 0; r < rows; r++) {
      const T *p = a + r * cols + j0;
      T *q = o + r * cols + j0;
      if (logarithm)
        for (int64_t j = 0; j < w; j++) s[j] += REDUCE(power_of_e)(p[j] - m[j]);
      else
        for (int64_t j = 0; j < w; j++) { T e = REDUCE(power_of_e)(p[j] - m[j]); q[j] = e; s[j] += e; }
    }
    for (int64_t j = 0; j < w; j++) s[j] = logarithm ? log(s[j]) : 1 / s[j];
    for (int64_t r = 0; r < rows; r++) {
      const T *p = a + r * cols + j0;
      T *q = o + r * cols + j0;
      if (logarithm)
        for (int64_t j = 0; j < w; j++) q[j] = p[j] - m[j] - (T)s[j];
      else
        for (int64_t j = 0; j < w; j++) q[j] *= (T)s[j];
    }
  }
}

// The same of contiguous rows of cols elements.
static void REDUCE(soft_rows)(T *restrict o, const T *restrict a, int64_t rows, int64_t cols, int logarithm) {
  enum { L = REDUCE(LANES) };
  for (int64_t r = 0; r < rows; r++, a += cols, o += cols) {
    T some[L], m = -__builtin_inf();
    double sums[L], s = 0;
    int64_t i = 0;
    for (int j = 0; j < L; j++) some[j] = m, sums[j] = 0;
    for (; i + L <= cols; i += L)
      for (int j = 0; j < L; j++) some[j] = (a[i + j] > some[j]) | (a[i + j] != a[i + j]) ? a[i + j] : some[j];
    for (int j = 0; j < L; j++) m = (some[j] > m) | (some[j] != some[j]) ? some[j] : m;
    for (; i < cols; i++) m = (a[i] > m) | (a[i] != a[i]) ? a[i] : m;
    for (i = 0; i + L <= cols; i += L)
      for (int j = 0; j < L; j++) { double e = whittle_expd((double)a[i + j] - (double)m); o[i + j] = (T)e; sums[j] += e; }
    for (int j = 0; j < L; j++) s += sums[j];
    for (; i < cols; i++) { double e = whittle_expd((double)a[i] - (double)m); o[i] = (T)e; s += e; }
    s = logarithm ? log(s) : 1 / s;
    if (logarithm)
      for (i = 0; i < cols; i++) o[i] = (T)((double)a[i] - (double)m - s);
    else
      for (i = 0; i < cols; i++) o[i] = (T)(o[i] * s);
  }
}

// The gradient of the one or the other, y being its result, of columns.
static void REDUCE(soft_back_cols)(T *restrict o, const T *restrict g, const T *restrict y, int64_t rows, int64_t cols, int64_t width, int logarithm) {
  enum { W = 128 };
  for (int64_t j0 = 0; j0 < width; j0 += W) {
    double s[W];
    int64_t w = width - j0 < W ? width - j0 : W;
    for (int64_t j = 0; j < w; j++) s[j] = 0;
    for (int64_t r = 0; r < rows; r++) {
      const T *p = g + r * cols + j0, *q = y + r * cols + j0;
      if (logarithm)
        for (int64_t j = 0; j < w; j++) s[j] += p[j];
      else
        for (int64_t j = 0; j < w; j++) s[j] += (double)p[j] * (double)q[j];
    }
    for (int64_t r = 0; r < rows; r++) {
      const T *p = g + r * cols + j0, *q = y + r * cols + j0;
      T *to = o + r * cols + j0;
      if (logarithm)
        for (int64_t j = 0; j < w; j++) to[j] = p[j] - REDUCE(power_of_e)(q[j]) * (T)s[j];
      else
        for (int64_t j = 0; j < w; j++) to[j] = (T)(((double)p[j] - s[j]) * (double)q[j]);
    }
  }
}

// Of the differences of x from each of some rows, stride apart, of cols elements: how many are not 0, the sum of their sizes or of their squares, the
// greatest size (NaN if there is one).
static void REDUCE(distances)(int kind, double *o, const T *x, const T *a, int64_t rows, int64_t cols, int64_t stride) {
  enum { L = 2 * VB / sizeof(T) };
#define APART(KIND, STEP, JOIN)                                                     \
  case KIND:                                                                        \
    for (int64_t r = 0; r < rows; r++, a += stride) {                               \
      double all = 0;                                                               \
      int64_t i = 0;                                                                \
      while (i + L <= cols) {                                                       \
        T some[L];                                                                  \
        int64_t to = i + L * REDUCE(FEW) < cols ? i + L * REDUCE(FEW) : cols;       \
        for (int j = 0; j < L; j++) some[j] = 0;                                    \
        for (; i + L <= to; i += L)                                                 \
          for (int j = 0; j < L; j++) { T m = some[j], d = x[i + j] - a[i + j]; d = d < 0 ? -d : d; some[j] = STEP; } \
        for (int j = 0; j < L; j++) { double m = all, k = some[j]; all = JOIN; }    \
      }                                                                             \
      for (; i < cols; i++) { double m = all, d = __builtin_fabs((double)x[i] - (double)a[i]); all = STEP; } \
      o[r] = all;                                                                   \
    }                                                                               \
    break;
  switch (kind) {
    APART(W_APART_NONZEROS, m + (d != 0), m + k)
    APART(W_APART_SIZES, m + d, m + k)
    APART(W_APART_SQUARES, m + d * d, m + k)
    APART(W_APART_GREATEST, (d > m) | (d != d) ? d : m, (k > m) | (k != k) ? k : m)
  }
#undef APART
}
#undef REDUCTIONS
