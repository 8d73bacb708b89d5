// What convolutions over planes take beside products, included for each element type with T, V (a vector of them) and CONV(x), the names, defined.
//
// All of them walk over pairs of an output and the input under one place of the kernel. For a row of outputs and a place, span says which have one.

static inline void CONV(span)(int64_t first, int64_t stride, int64_t width, int64_t outs, int64_t *lo, int64_t *hi) {
  int64_t l = first < 0 ? (stride - 1 - first) / stride : 0, h = first < width ? (width - 1 - first) / stride + 1 : 0;
  if (h > outs) h = outs;
  *lo = l < h ? l : h;
  *hi = h;
}

// unfold writes rows from to to-1 of the outputs' columns: those of an image of C x H x W.
static void CONV(unfold)(T *col, const T *im, const whittle_plane *g, int64_t from, int64_t to) {
  for (int64_t c = 0; c < g->c; c++)
    for (int64_t i = 0; i < g->kh; i++)
      for (int64_t j = 0; j < g->kw; j++) {
        int64_t lo, hi, x0 = j * g->dw - g->pw;
        CONV(span)(x0, g->sw, g->w, g->ow, &lo, &hi);
        for (int64_t y = from; y < to; y++, col += g->ow) {
          int64_t iy = y * g->sh - g->ph + i * g->dh;
          if (iy < 0 || iy >= g->h) {
            for (int64_t x = 0; x < g->ow; x++) col[x] = 0;
            continue;
          }
          const T *row = im + (c * g->h + iy) * g->w + x0;
          for (int64_t x = 0; x < lo; x++) col[x] = 0;
          if (g->sw == 1)
            memcpy(col + lo, row + lo, sizeof(T) * (hi - lo));
          else
            for (int64_t x = lo; x < hi; x++) col[x] = row[x * g->sw];
          for (int64_t x = hi; x < g->ow; x++) col[x] = 0;
        }
      }
}

// A run is outputs of one row whose columns are neighbours in a panel.
typedef struct {
  int64_t at, n, y, x;
} CONV(run);

// panel packs elements p0 to p0+k-1 of the columns of outputs from to from+w-1, at most as many as a panel has, as product wants them.
static void CONV(panel)(T *restrict d, const T *im, const whittle_plane *g, int64_t p0, int64_t k, int64_t from, int64_t w) {
  enum { NR = GEMM(NR) };
  CONV(run) runs[NR];
  int count = 0;
  for (int64_t q = 0; q < w; count++) {
    int64_t y = (from + q) / g->ow, x = (from + q) % g->ow, n = g->ow - x < w - q ? g->ow - x : w - q;
    runs[count] = (CONV(run)){q, n, y * g->sh - g->ph, x * g->sw - g->pw};
    q += n;
  }
  int64_t j = p0 % g->kw, i = p0 / g->kw % g->kh, c = p0 / g->kw / g->kh;
  for (int64_t p = 0; p < k; p++, d += NR) {
    const T *plane = im + c * g->h * g->w;
    for (int64_t q = w; q < NR; q++) d[q] = 0;
    for (int r = 0; r < count; r++) {
      int64_t y = runs[r].y + i * g->dh, x = runs[r].x + j * g->dw, n = runs[r].n, s = g->sw;
      T *to = d + runs[r].at;
      const T *row = plane + y * g->w + x;
      if (y < 0 || y >= g->h)
        for (int64_t q = 0; q < n; q++) to[q] = 0;
      else if (x >= 0 && s == 1 && n == NR && x + NR <= g->w)
        __builtin_memcpy(to, row, sizeof(T) * NR);
      else if (x >= 0 && x + (n - 1) * s < g->w)
        for (int64_t q = 0; q < n; q++) to[q] = row[q * s];
      else
        for (int64_t q = 0; q < n; q++) to[q] = x + q * s >= 0 && x + q * s < g->w ? row[q * s] : 0;
    }
    if (++j == g->kw) {
      j = 0;
      if (++i == g->kh) i = 0, c++;
    }
  }
}

// product writes outputs from to to-1 of m channels: the products of their kernels w, m x C*KH*KW, and the columns of the image. Sums are the ones of the product
// of matrices, whose B is never whole.
static void CONV(product)(int64_t m, const T *w, const T *im, const whittle_plane *g, int64_t from, int64_t to, T *c, int64_t crs) {
  enum { NR = GEMM(NR), KC = GEMM(KC), NC = GEMM(NC), MC = GEMM(MC) };
  int64_t k = g->c * g->kh * g->kw, n = to - from;
  int64_t kc0 = k < KC ? k : KC, nc0 = n < NC ? (n + NR - 1) / NR * NR : NC, mc0 = m < MC ? (m + MR - 1) / MR * MR : MC;
  T *pb = whittle_room((size_t)(kc0 * (nc0 + mc0)) * sizeof(T) + 128), *pa = (T *)(((uintptr_t)(pb + kc0 * nc0) + 63) & ~(uintptr_t)63);
  for (int64_t jc = 0; jc < n; jc += NC) {
    int64_t nc = n - jc < NC ? n - jc : NC;
    for (int64_t pc = 0; pc < k; pc += KC) {
      int64_t kc = k - pc < KC ? k - pc : KC;
      for (int64_t j = 0; j < nc; j += NR) CONV(panel)(pb + j * kc, im, g, pc, kc, from + jc + j, nc - j < NR ? nc - j : NR);
      for (int64_t ic = 0; ic < m; ic += MC) {
        int64_t mc = m - ic < MC ? m - ic : MC;
        for (int64_t i = 0; i < mc; i += MR) GEMM(pack)(pa + i * kc, w + (ic + i) * k + pc, k, 1, mc - i < MR ? mc - i : MR, kc, MR);
        GEMM(block)(mc, nc, kc, pa, pb, c + ic * crs + jc, crs, 1, 1, pc > 0);
      }
    }
  }
}

// fold adds columns to the image that they are of.
static void CONV(fold)(T *im, const T *col, const whittle_plane *g) {
  for (int64_t c = 0; c < g->c; c++)
    for (int64_t i = 0; i < g->kh; i++)
      for (int64_t j = 0; j < g->kw; j++) {
        int64_t lo, hi, x0 = j * g->dw - g->pw;
        CONV(span)(x0, g->sw, g->w, g->ow, &lo, &hi);
        for (int64_t y = 0; y < g->oh; y++, col += g->ow) {
          int64_t iy = y * g->sh - g->ph + i * g->dh;
          if (iy < 0 || iy >= g->h) continue;
          T *row = im + (c * g->h + iy) * g->w + x0;
          if (g->sw == 1)
            for (int64_t x = lo; x < hi; x++) row[x] += col[x];
          else
            for (int64_t x = lo; x < hi; x++) row[x * g->sw] += col[x];
        }
      }
}

// window writes outputs from lo to hi-1 of a row, all of whose places under the rows i0 to i1-1 of the kernel w lie in the image, of which row is the place of
// the first: each is one sum, in the order of the kernel.
static inline void CONV(window)(T *restrict y, const T *restrict row, const T *restrict w, const whittle_plane *g, int64_t i0, int64_t i1, int64_t lo, int64_t hi) {
  enum { L = VB / sizeof(T) };
  int64_t x = lo;
  for (; x + 2 * L <= hi; x += 2 * L) {
    V a = {0}, b = {0};
    for (int64_t i = i0; i < i1; i++) {
      const T *p = row + i * g->dh * g->w + x;
      for (int64_t j = 0; j < g->kw; j++, p += g->dw) {
        T k = w[i * g->kw + j];
        a += k * *(const V *)p;
        b += k * *(const V *)(p + L);
      }
    }
    *(V *)(y + x) = a;
    *(V *)(y + x + L) = b;
  }
  for (; x < hi; x += L) {
    if (x + L > hi && hi - lo >= L) x = hi - L; // some are written twice
    if (x + L > hi) break;
    V a = {0};
    for (int64_t i = i0; i < i1; i++) {
      const T *p = row + i * g->dh * g->w + x;
      for (int64_t j = 0; j < g->kw; j++, p += g->dw) a += w[i * g->kw + j] * *(const V *)p;
    }
    *(V *)(y + x) = a;
  }
  for (; x < hi; x++) {
    T a = 0;
    for (int64_t i = i0; i < i1; i++)
      for (int64_t j = 0; j < g->kw; j++) a += w[i * g->kw + j] * row[i * g->dh * g->w + j * g->dw + x];
    y[x] = a;
  }
}

// depthrow writes row oy of the outputs of depthwise, whose places lie beside each other.
static void CONV(depthrow)(T *restrict y, const T *restrict im, const T *restrict w, const whittle_plane *g, int64_t oy) {
  int64_t top = oy * g->sh - g->ph, i0 = 0, i1 = g->kh, left = 0, right = g->ow;
  while (i0 < i1 && top + i0 * g->dh < 0) i0++;
  while (i0 < i1 && top + (i1 - 1) * g->dh >= g->h) i1--;
  for (int64_t j = 0; j < g->kw; j += g->kw > 1 ? g->kw - 1 : 1) {
    int64_t lo, hi;
    CONV(span)(j * g->dw - g->pw, 1, g->w, g->ow, &lo, &hi);
    if (lo > left) left = lo;
    if (hi < right) right = hi;
  }
  if (right < left) left = right = g->ow;
  const T *row = im + top * g->w - g->pw;
  CONV(window)(y, row, w, g, i0, i1, left, right);
  for (int64_t x = 0; x < g->ow; x++) {
    if (x == left && (x = right) == g->ow) break;
    T a = 0;
    for (int64_t i = i0; i < i1; i++)
      for (int64_t j = 0; j < g->kw; j++) {
        int64_t at = x + j * g->dw - g->pw;
        if (at >= 0 && at < g->w) a += w[i * g->kw + j] * row[i * g->dh * g->w + j * g->dw + x];
      }
    y[x] = a;
  }
}

// depthwise convolves one channel by one kernel: forward writes y, of im and w; the gradient of the input adds to im, of y and w; that of the
// kernel adds to w, of y and im.
static void CONV(depthwise)(int what, T *restrict y, T *restrict im, T *restrict w, const whittle_plane *g) {
  enum { L = 2 * VB / sizeof(T) };
  if (what == W_FORWARD && g->sw == 1) {
    for (int64_t oy = 0; oy < g->oh; oy++) CONV(depthrow)(y + oy * g->ow, im, w, g, oy);
    return;
  }
  if (what == W_FORWARD)
    for (int64_t i = 0; i < g->oh * g->ow; i++) y[i] = 0;
  for (int64_t oy = 0; oy < g->oh; oy++, y += g->ow)
    for (int64_t i = 0; i < g->kh; i++) {
      int64_t iy = oy * g->sh - g->ph + i * g->dh, s = g->sw;
      if (iy < 0 || iy >= g->h) continue;
      for (int64_t j = 0; j < g->kw; j++) {
        int64_t lo, hi, x0 = j * g->dw - g->pw;
        CONV(span)(x0, s, g->w, g->ow, &lo, &hi);
        T *restrict row = im + iy * g->w + x0, *restrict out = y, k = w[i * g->kw + j];
        if (what == W_FORWARD)
          for (int64_t x = lo; x < hi; x++) out[x] += k * row[x * s];
        else if (what == W_INPUT && s == 1)
          for (int64_t x = lo; x < hi; x++) row[x] += k * out[x];
        else if (what == W_INPUT)
          for (int64_t x = lo; x < hi; x++) row[x * s] += k * out[x];
        else {
          T sum[L] = {0}, all = 0;
          int64_t x = lo;
          if (s == 1)
            for (; x + L <= hi; x += L)
              for (int q = 0; q < L; q++) sum[q] += out[x + q] * row[x + q];
          for (int q = 0; q < L; q++) all += sum[q];
          for (; x < hi; x++) all += out[x] * row[x * s];
          w[i * g->kw + j] += all;
        }
      }
    }
}
