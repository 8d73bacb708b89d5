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

// weights packs kernels of k elements each, part of parts of m of them, as product wants them: those of each KC elements as the tiles of a block of m rows.
static void CONV(weights)(int64_t m, int64_t k, T *packed, const T *w, int64_t part, int64_t parts) {
  enum { KC = GEMM(KC) };
  int64_t tiles = (m + MR - 1) / MR;
  for (int64_t t = tiles * part / parts; t < tiles * (part + 1) / parts; t++) {
    int64_t top = GEMM(tops)(m, t), h = GEMM(tops)(m, t + 1) - top;
    for (int64_t pc = 0; pc < k; pc += KC) {
      int64_t kc = k - pc < KC ? k - pc : KC;
      GEMM(pack_tile)(packed + pc * m + top * kc, w + top * k + pc, k, 1, h, kc);
    }
  }
}

// A line is a vector of neighbours in a row of outputs: where its inputs lie under the first place of the kernel, and where it is put; -1: nowhere.
typedef struct {
  const T *in;
  int64_t out;
} CONV(line);

// put stores a line.
static inline __attribute__((always_inline)) void CONV(put)(T *c, V x, int add) {
  if (add) x += *(V *)c;
  *(V *)c = x;
}

// strip is the product of h packed kernels and two lines, whose inputs under the places of the kernel lie at at.
static inline __attribute__((always_inline)) void CONV(strip)(int h, int64_t k, const T *pa, const CONV(line) *x, const int64_t *at, T *c, int64_t crs, int add) {
  V c0[MR], c1[MR];
  const T *in0 = x[0].in, *in1 = x[1].in;
  _Pragma("GCC unroll 16") for (int i = 0; i < h; i++) c0[i] = c1[i] = (V){0};
  _Pragma("GCC unroll 1") for (int64_t p = 0; p < k; p++) {
    V b0 = *(const V *)(in0 + at[p]), b1 = *(const V *)(in1 + at[p]);
    _Pragma("GCC unroll 16") for (int i = 0; i < h; i++) {
      T w = pa[i];
      c0[i] += w * b0;
      c1[i] += w * b1;
    }
    pa += h;
  }
  for (int i = 0; i < h; i++) {
    CONV(put)(c + i * crs + x[0].out, c0[i], add);
    if (x[1].out >= 0) CONV(put)(c + i * crs + x[1].out, c1[i], add);
  }
}

// A field is the part of an image under some rows of outputs, with zeros around it, in which what lies a stride apart in the image are neighbours: for each
// channel and each remainder of a place in the kernel by the strides, a plane of rows x width. Output (y, x) has what belongs to it y*width+x behind what
// output (0, 0) has, under every place.
typedef struct {
  int64_t rows, width, size;
} CONV(field);

static inline CONV(field) CONV(field_of)(const whittle_plane *g, int64_t outs) {
  int64_t rows = outs + (g->kh - 1) * g->dh / g->sh, width = g->ow + (g->kw - 1) * g->dw / g->sw;
  return (CONV(field)){rows, width, g->c * g->sh * g->sw * rows * width};
}

// spread fills the field of rows from y on of the outputs.
static void CONV(spread)(T *d, const T *im, const whittle_plane *g, int64_t y, CONV(field) f) {
  int64_t s = g->sw;
  for (int64_t c = 0; c < g->c; c++)
    for (int64_t i = 0; i < g->sh; i++)
      for (int64_t j = 0; j < s; j++) {
        int64_t lo, hi;
        CONV(span)(j - g->pw, s, g->w, f.width, &lo, &hi);
        for (int64_t r = 0; r < f.rows; r++, d += f.width) {
          int64_t iy = (y + r) * g->sh + i - g->ph;
          if (iy < 0 || iy >= g->h) {
            memset(d, 0, sizeof(T) * f.width);
            continue;
          }
          const T *row = im + (c * g->h + iy) * g->w + j - g->pw;
          for (int64_t x = 0; x < lo; x++) d[x] = 0;
          if (s == 1)
            memcpy(d + lo, row + lo, sizeof(T) * (hi - lo));
          else if (s == 2)
            for (int64_t x = lo; x < hi; x++) d[x] = row[x * 2];
          else
            for (int64_t x = lo; x < hi; x++) d[x] = row[x * s];
          for (int64_t x = hi; x < f.width; x++) d[x] = 0;
        }
      }
}

// places is where, behind what an output has under the first place of the kernel, lies what it has under the places from first on.
static void CONV(places)(int64_t *at, const whittle_plane *g, CONV(field) f, int64_t first, int64_t n) {
  for (int64_t p = first; p < first + n; p++) {
    int64_t j = p % g->kw * g->dw, i = p / g->kw % g->kh * g->dh, c = p / g->kw / g->kh;
    at[p - first] = (((c * g->sh + i % g->sh) * g->sw + j % g->sw) * f.rows + i / g->sh) * f.width + j / g->sw;
  }
}

// lines is how many vectors the outputs of some rows are. Where rows are not whole vectors, a vector goes on from one row into the next, and has what lies between
// them in the field.
static inline int64_t CONV(lines)(const whittle_plane *g, int64_t outs) {
  enum { L = GEMM(L) };
  return g->ow % L == 0 ? outs * g->ow / L : ((outs - 1) * CONV(field_of)(g, outs).width + g->ow + L - 1) / L;
}

// in_field is product for rows from y to end-1 of the outputs: vectors of them are read where they lie in the field. If they have what lies between the rows,
// sums are made elsewhere, and the outputs copied.
static void CONV(in_field)(int64_t m, const T *packed, const T *im, const whittle_plane *g, int64_t y, int64_t end, T *c, int64_t crs) {
  enum { L = GEMM(L), KC = GEMM(KC), CACHED = (1 << 19) / sizeof(T) };
  int64_t k = g->c * g->kh * g->kw, fit = end - y, whole = g->ow % L == 0;
  while (fit > 4 && CONV(field_of)(g, fit).size > CACHED) fit = (fit + 1) / 2;
  for (; y < end; c += fit * g->ow, y += fit) {
    int64_t outs = end - y < fit ? end - y : fit, lines = CONV(lines)(g, outs);
    CONV(field) f = CONV(field_of)(g, outs);
    size_t field = (size_t)(f.size + L) * sizeof(T), sums = whole ? 0 : (size_t)(m * lines * L) * sizeof(T);
    char *room = whittle_room(field + sums + KC * sizeof(int64_t) + (size_t)(lines + 1) * sizeof(CONV(line)) + 128);
    int64_t *at = (int64_t *)(((uintptr_t)(room + field + sums) + 63) & ~(uintptr_t)63);
    CONV(line) *x = (CONV(line) *)(at + KC);
    T *to = whole ? c : (T *)(room + field);
    int64_t step = whole ? crs : lines * L, per = g->ow / L;
    CONV(spread)((T *)room, im, g, y, f);
    for (int64_t q = 0; q < lines; q++) x[q] = (CONV(line)){(T *)room + (whole ? q / per * f.width + q % per * L : q * L), q * L};
    x[lines] = (CONV(line)){(T *)room, -1};
    for (int64_t pc = 0; pc < k; pc += KC) {
      int64_t kc = k - pc < KC ? k - pc : KC;
      CONV(places)(at, g, f, pc, kc);
      for (int64_t q = 0; q < lines; q += 2)
        for (int64_t t = 0, i = 0, next; i < m; i = next) {
          next = GEMM(tops)(m, ++t);
#define STRIP(H) case H: CONV(strip)(H, kc, packed + pc * m + i * kc, x + q, at, to + i * step, step, pc > 0); break;
          switch (next - i) { HEIGHTS }
#undef STRIP
        }
    }
    for (int64_t i = 0; i < m && !whole; i++)
      for (int64_t q = 0; q < outs; q++) memcpy(c + i * crs + q * g->ow, to + i * step + q * f.width, sizeof(T) * g->ow);
  }
}

// product writes outputs from to to-1 of m channels: the products of their packed kernels, m x C*KH*KW, and the columns of the image. Sums are the ones of the
// product of matrices, whose B is never whole.
static void CONV(product)(int64_t m, const T *packed, const T *im, const whittle_plane *g, int64_t from, int64_t to, T *c, int64_t crs) {
  enum { L = GEMM(L), NR = GEMM(NR), KC = GEMM(KC), NC = GEMM(NC) };
  int64_t k = g->c * g->kh * g->kw, n = to - from, kc0 = k < KC ? k : KC, nc0 = n < NC ? (n + NR - 1) / NR * NR : NC;
  // Rows are read in their field, unless that is mostly what lies between them.
  if (from % g->ow == 0 && to % g->ow == 0 && 2 * CONV(lines)(g, n / g->ow) * L <= 3 * (n + NR)) {
    CONV(in_field)(m, packed, im, g, from / g->ow, to / g->ow, c, crs);
    return;
  }
  T *pb = whittle_room((size_t)(kc0 * nc0) * sizeof(T));
  for (int64_t jc = 0; jc < n; jc += NC) {
    int64_t nc = n - jc < NC ? n - jc : NC;
    for (int64_t pc = 0; pc < k; pc += KC) {
      int64_t kc = k - pc < KC ? k - pc : KC;
      for (int64_t j = 0; j < nc; j += NR) CONV(panel)(pb + j * kc, im, g, pc, kc, from + jc + j, nc - j < NR ? nc - j : NR);
      GEMM(block)(m, nc, kc, packed + pc * m, pb, c + jc, crs, 1, 1, pc > 0);
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

// deep writes the outputs of one channel and one kernel, whose weights are finite: vectors of them are read in the field, and each is one sum, in the order
// of the kernel.
static void CONV(deep)(T *y, const T *im, const T *w, const whittle_plane *g) {
  enum { L = GEMM(L), AT_ONCE = 4 };
  int64_t taps = g->kh * g->kw, whole = g->ow % L == 0, per = g->ow / L, lines = CONV(lines)(g, g->oh);
  CONV(field) f = CONV(field_of)(g, g->oh);
  size_t field = (size_t)(f.size + L) * sizeof(T), sums = whole ? 0 : (size_t)(lines * L) * sizeof(T);
  char *room = whittle_room(field + sums + (size_t)taps * sizeof(int64_t) + 128);
  int64_t *at = (int64_t *)(((uintptr_t)(room + field + sums) + 63) & ~(uintptr_t)63);
  T *to = whole ? y : (T *)(room + field);
  CONV(spread)((T *)room, im, g, 0, f);
  CONV(places)(at, g, f, 0, taps);
  const T *next = (T *)room;
  for (int64_t q = 0, left = per; q < lines; q += AT_ONCE) {
    const T *in[AT_ONCE];
    V sum[AT_ONCE];
    int64_t n = lines - q < AT_ONCE ? lines - q : AT_ONCE;
    _Pragma("GCC unroll 4") for (int u = 0; u < AT_ONCE; u++) { // those that are not there are the last one again
      in[u] = u < n ? next : in[u - 1];
      sum[u] = (V){0};
      if (u >= n) continue;
      next += L;
      if (whole && --left == 0) next += f.width - g->ow, left = per;
    }
    for (int64_t p = 0; p < taps; p++)
      _Pragma("GCC unroll 4") for (int u = 0; u < AT_ONCE; u++) sum[u] += w[p] * *(const V *)(in[u] + at[p]);
    for (int64_t u = 0; u < n; u++) *(V *)(to + (q + u) * L) = sum[u];
  }
  for (int64_t q = 0; q < g->oh && !whole; q++) memcpy(y + q * g->ow, to + q * f.width, sizeof(T) * g->ow);
}

// depthwise convolves one channel by one kernel: forward writes y, of im and w; the gradient of the input adds to im, of y and w; that of the
// kernel adds to w, of y and im.
static void CONV(depthwise)(int what, T *restrict y, T *restrict im, T *restrict w, const whittle_plane *g) {
  enum { L = 2 * VB / sizeof(T) };
  int64_t finite = 1; // zeros around the image may be multiplied
  for (int64_t p = 0; p < g->kh * g->kw; p++) finite &= w[p] - w[p] == 0;
  if (what == W_FORWARD && finite && CONV(lines)(g, g->oh) * GEMM(L) <= 3 * (g->oh * g->ow + GEMM(L))) {
    CONV(deep)(y, im, w, g);
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
