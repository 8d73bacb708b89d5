// Factors and solutions of small dense matrices in double, in rows one after the other: what is subtracted from a row is a multiple of another, so that
// all loops go along rows. For sizes whose matrices stay in the cache; larger ones are worth blocks.

// y -= f * x.
static inline __attribute__((always_inline)) void NAME(less64)(double *y, double f, const double *x, int64_t n) {
  _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) y[i] -= f * x[i];
}

// a (m x n, rows lda apart) += alpha * x * y'; each row is by so much longer than the one before.
static void NAME(outer64)(int64_t m, int64_t n, int64_t longer, double alpha, const double *x, const double *y, double *a, int64_t lda) {
  for (int64_t i = 0; i < m; i++) NAME(less64)(a + i * lda, -alpha * x[i], y, n + i * longer);
}

// The factors of a (n x m) by partial pivoting, in its place; piv are the rows that were swapped, from 1 on.
static void NAME(lu64)(double *a, int64_t n, int64_t m, int64_t *piv) {
  int64_t k = n < m ? n : m;
  for (int64_t j = 0; j < k; j++) {
    int64_t p = j;
    double big = __builtin_fabs(a[j * m + j]), *top = a + j * m;
    for (int64_t i = j + 1; i < n; i++) {
      double x = __builtin_fabs(a[i * m + j]);
      if (x > big) big = x, p = i;
    }
    piv[j] = p + 1;
    if (p != j) {
      double *other = a + p * m;
      for (int64_t i = 0; i < m; i++) { double x = top[i]; top[i] = other[i]; other[i] = x; }
    }
    if (top[j] == 0) continue;
    for (int64_t i = j + 1; i < n; i++) {
      double *row = a + i * m, f = row[j] / top[j];
      row[j] = f;
      NAME(less64)(row + j + 1, f, top + j + 1, m - j - 1);
    }
  }
}

// The Cholesky factor of the matrix whose upper or lower triangle a (n x n) holds, in its place. The result is the order of the first leading minor that is
// not positive definite, 0 for none; the rest is not factored then. column has room for n.
static int64_t NAME(cholesky64)(double *a, int64_t n, int upper, double *column) {
  for (int64_t k = 0; k < n; k++) {
    double d = a[k * n + k], *x = a + k * n;
    if (!(d > 0)) return k + 1;
    x[k] = d = sqrt(d);
    if (upper) {
      for (int64_t j = k + 1; j < n; j++) x[j] /= d;
      for (int64_t i = k + 1; i < n; i++) NAME(less64)(a + i * n + i, x[i], x + i, n - i);
      continue;
    }
    for (int64_t i = k + 1; i < n; i++) column[i] = a[i * n + k] /= d;
    for (int64_t i = k + 1; i < n; i++) NAME(less64)(a + i * n + k + 1, column[i], column + k + 1, i - k);
  }
  return 0;
}

// Solves A X = B, or with trans that of A turned, in the place of b (n x k), for a triangle of a (n x n), unit: with ones on its diagonal.
static void NAME(triangle64)(const double *a, double *b, int64_t n, int64_t k, int upper, int unit, int trans) {
  int64_t down = trans ? 1 : n, across = trans ? n : 1; // of the matrix that is solved
  int backwards = upper != trans;
  for (int64_t q = 0; q < n; q++) {
    int64_t i = backwards ? n - 1 - q : q;
    double *y = b + i * k;
    if (k == 1 && across == 1) { // what is known of it at once
      int64_t from = backwards ? i + 1 : 0, to = backwards ? n : i, j = from;
      double s[8] = {0}, t = 0;
      for (; j + 8 <= to; j += 8)
        for (int l = 0; l < 8; l++) s[l] += a[i * n + j + l] * b[j + l];
      for (; j < to; j++) t += a[i * n + j] * b[j];
      y[0] -= ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])) + t;
      if (!unit) y[0] /= a[i * n + i];
      continue;
    }
    if (!unit) {
      double d = a[i * n + i];
      for (int64_t j = 0; j < k; j++) y[j] /= d;
    }
    int64_t from = backwards ? 0 : i + 1, to = backwards ? i : n;
    if (k == 1) {
      NAME(less64)(b + from, y[0], a + i * n + from, to - from);
      continue;
    }
    for (int64_t j = from; j < to; j++) NAME(less64)(b + j * k, a[j * down + i * across], y, k);
  }
}
