// Matrix products, included for each element type with T, V (a vector of them), I (of integers of their size), ZIP (the lanes of two vectors in
// turn, from lane I of each) and GEMM(x), the names, defined.
//
// C = alpha*A*B + beta*C is computed as GotoBLAS does (Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008): an MR x NR
// tile of C lies in registers while a panel of MR rows of A and one of NR columns of B pass by. The panels are packed, so that they are read in
// order: of B, KC x NR elements that stay in the first cache while the tiles of an MC x KC block of A, in the second, are gone through.
// Those of B are padded with zeros. Sums are cut at multiples of KC, so that another KC gives other last bits.

enum { GEMM(L) = VB / sizeof(T), GEMM(NR) = 2 * GEMM(L), GEMM(KC) = 384, GEMM(NC) = 64 * GEMM(NR), GEMM(MC) = MR * (128 / MR) };

// square transposes L x L elements, of which the rows from h on are taken to be zeros.
static inline __attribute__((always_inline)) void GEMM(square)(T *restrict d, int64_t width, const T *restrict s, int64_t rs, int64_t h) {
  enum { L = GEMM(L) };
  V x[L], y[L];
  _Pragma("GCC unroll 16") for (int i = 0; i < L; i++) x[i] = i < h ? *(const V *)(s + i * rs) : (V){0};
  // They are turned log2(L) times: the first half of the vectors is interleaved with the second.
  _Pragma("GCC unroll 4") for (int n = 1; n < L; n *= 2) {
    _Pragma("GCC unroll 8") for (int i = 0; i < L / 2; i++) {
      y[2 * i] = __builtin_shuffle(x[i], x[i + L / 2], (I){ZIP(0, L)});
      y[2 * i + 1] = __builtin_shuffle(x[i], x[i + L / 2], (I){ZIP(L / 2, L)});
    }
    _Pragma("GCC unroll 16") for (int i = 0; i < L; i++) x[i] = y[i];
  }
  _Pragma("GCC unroll 16") for (int i = 0; i < L; i++) *(V *)(d + i * width) = x[i];
}

// turned transposes: w rows of k elements, rs apart, become columns: element (q, p) goes to d[p*width+q]. panel says that d has nothing else.
static inline __attribute__((always_inline)) void GEMM(turned)(T *restrict d, int64_t width, const T *restrict s, int64_t rs, int64_t w, int64_t k, int panel) {
  enum { L = GEMM(L) };
  int64_t p = 0, whole = w / L * L, rest = w - whole;
  for (; p + L <= k; p += L) {
    // What is left of the rows goes first: of a panel as whole vectors, where they end in what is written after them.
    if (panel && rest >= 3 && (k - p - L) * width >= whole + L - width) {
      GEMM(square)(d + p * width + whole, width, s + whole * rs + p, rs, rest);
    } else {
      for (int64_t q = whole; q < w; q++)
        for (int i = 0; i < L; i++) d[(p + i) * width + q] = s[q * rs + p + i];
    }
    for (int64_t q = 0; q < whole; q += L) GEMM(square)(d + p * width + q, width, s + q * rs + p, rs, L);
  }
  for (; p < k; p++)
    for (int64_t q = 0; q < w; q++) d[p * width + q] = s[q * rs + p];
}

// turn is turned by squares whose lines of memory stay in the cache.
static void GEMM(turn)(T *d, int64_t ds, const T *s, int64_t ss, int64_t w, int64_t k) {
  enum { SIDE = 64 };
  for (int64_t q = 0; q < w; q += SIDE)
    for (int64_t p = 0; p < k; p += SIDE) GEMM(turned)(d + p * ds + q, ds, s + q * ss + p, ss, w - q < SIDE ? w - q : SIDE, k - p < SIDE ? k - p : SIDE, 0);
}

// pack_rows packs up to w of the rows of a matrix, whose elements lie in order, beside each other, and zeros where there are fewer than width.
static inline __attribute__((always_inline)) void GEMM(pack_rows)(T *restrict d, const T *restrict s, int64_t rs, int64_t w, int64_t k, int width) {
  GEMM(turned)(d, width, s, rs, w, k, 1);
  if (w < width)
    for (int64_t p = 0; p < k; p++)
      for (int64_t q = w; q < width; q++) d[p * width + q] = 0;
}

// pack packs w columns, cs apart, of k elements, rs apart.
static inline __attribute__((always_inline)) void GEMM(pack)(T *restrict d, const T *restrict s, int64_t cs, int64_t rs, int64_t w, int64_t k, int width) {
  if (rs == 1 && cs != 1) {
    GEMM(pack_rows)(d, s, cs, w, k, width);
  } else if (w == width && cs == 1) {
    for (int64_t p = 0; p < k; p++) __builtin_memcpy(d + p * width, s + p * rs, sizeof(T) * width);
  } else {
    for (int64_t p = 0; p < k; p++) {
      for (int64_t q = 0; q < w; q++) d[p * width + q] = s[p * rs + q * cs];
      for (int64_t q = w; q < width; q++) d[p * width + q] = 0;
    }
  }
}

// pack_wide packs columns that lie in order, several panels at once, as memory is read faster in long pieces.
static inline void GEMM(pack_wide)(T *restrict d, const T *restrict s, int64_t rs, int64_t w, int64_t k) {
  enum { NR = GEMM(NR), WIDE = 8 };
  int64_t j = 0;
  for (; j + WIDE * NR <= w; j += WIDE * NR)
    for (int64_t p = 0; p < k; p++)
      _Pragma("GCC unroll 8") for (int q = 0; q < WIDE; q++) __builtin_memcpy(d + (j + q * NR) * k + p * NR, s + p * rs + j + q * NR, sizeof(T) * NR);
  for (; j < w; j += NR) GEMM(pack)(d + j * k, s + j, 1, rs, w - j < NR ? w - j : NR, k, NR);
}

// tops is where the rows of tile t of a block of m begin: tiles are as high as each other, as far as that can be, and packed that wide.
static inline int64_t GEMM(tops)(int64_t m, int64_t t) { return t * m / ((m + MR - 1) / MR); }

// strip is alpha times the product of a panel of h rows and two vectors of columns of b, whose rows lie brs apart; add says that it is added to c, and not
// put there. c has rows crs apart.
static inline __attribute__((always_inline)) void GEMM(strip)(int h, int64_t k, const T *pa, const T *b, int64_t brs, T *c, int64_t crs, T alpha, int add) {
  enum { L = GEMM(L) };
  V c0[MR], c1[MR];
  _Pragma("GCC unroll 16") for (int i = 0; i < h; i++) c0[i] = c1[i] = (V){0};
  for (int i = 0; i < h; i++) __builtin_prefetch(c + i * crs);
  _Pragma("GCC unroll 1") for (int64_t p = 0; p < k; p++) { // once at a time: of two, GCC begins so much at once that sums leave the registers
    V b0 = *(const V *)(b), b1 = *(const V *)(b + L);
    __builtin_prefetch(b + 16 * brs);
    __builtin_prefetch(b + 16 * brs + L);
    _Pragma("GCC unroll 16") for (int i = 0; i < h; i++) {
      T x = pa[i];
      c0[i] += x * b0;
      c1[i] += x * b1;
    }
    pa += h;
    b += brs;
  }
  if (add) {
    _Pragma("GCC unroll 16") for (int i = 0; i < h; i++) {
      *(V *)(c + i * crs) += alpha * c0[i];
      *(V *)(c + i * crs + L) += alpha * c1[i];
    }
  } else {
    _Pragma("GCC unroll 16") for (int i = 0; i < h; i++) {
      *(V *)(c + i * crs) = alpha * c0[i];
      *(V *)(c + i * crs + L) = alpha * c1[i];
    }
  }
}

// HEIGHTS is STRIP of each height that a tile can have.
#if MR > 6
#define HEIGHTS STRIP(1) STRIP(2) STRIP(3) STRIP(4) STRIP(5) STRIP(6) STRIP(7) STRIP(8) STRIP(9) STRIP(10) STRIP(11) STRIP(12)
#elif MR > 4
#define HEIGHTS STRIP(1) STRIP(2) STRIP(3) STRIP(4) STRIP(5) STRIP(6)
#else
#define HEIGHTS STRIP(1) STRIP(2) STRIP(3) STRIP(4)
#endif

// tile is strip of any height.
static inline __attribute__((always_inline)) void GEMM(tile)(int64_t h, int64_t k, const T *pa, const T *b, int64_t brs, T *c, int64_t crs, T alpha, int add) {
#define STRIP(H) case H: GEMM(strip)(H, k, pa, b, brs, c, crs, alpha, add); break;
  switch (h) { HEIGHTS }
#undef STRIP
}

// edge is tile for w columns of a c that may have its elements anywhere.
static void GEMM(edge)(int64_t h, int64_t w, int64_t k, const T *pa, const T *pb, T *c, int64_t crs, int64_t ccs, T alpha, int add) {
  enum { NR = GEMM(NR) };
  T room[MR * NR] __attribute__((aligned(64)));
  GEMM(tile)(h, k, pa, pb, NR, room, NR, alpha, 0);
  for (int64_t q = 0; q < h; q++)
    for (int64_t r = 0; r < w; r++) c[q * crs + r * ccs] = room[q * NR + r] + (add ? c[q * crs + r * ccs] : 0);
}

// block multiplies a packed block of A with packed columns of B.
static __attribute__((noinline)) void GEMM(block)(int64_t mc, int64_t nc, int64_t kc, const T *pa, const T *pb, T *c, int64_t crs, int64_t ccs, T alpha, int add) {
  enum { NR = GEMM(NR) };
  for (int64_t j = 0; j < nc; j += NR) {
    int64_t w = nc - j < NR ? nc - j : NR;
    for (int64_t t = 0, i = 0, end; i < mc; i = end) {
      end = GEMM(tops)(mc, ++t);
      T *to = c + i * crs + j * ccs;
      if (w == NR && ccs == 1)
        GEMM(tile)(end - i, kc, pa + i * kc, pb + j * kc, NR, to, crs, alpha, add);
      else
        GEMM(edge)(end - i, w, kc, pa + i * kc, pb + j * kc, to, crs, ccs, alpha, add);
    }
  }
}

// columns packs k columns of h elements that lie in order.
static inline __attribute__((always_inline)) void GEMM(columns)(int h, T *restrict d, const T *restrict s, int64_t cs, int64_t k) {
  for (int64_t p = 0; p < k; p++) __builtin_memcpy(d + p * h, s + p * cs, sizeof(T) * h);
}

// pack_tile packs h rows of A, rs apart, of k elements, cs apart.
static inline void GEMM(pack_tile)(T *restrict d, const T *restrict s, int64_t rs, int64_t cs, int64_t h, int64_t k) {
#define STRIP(H) case H: GEMM(columns)(H, d, s, cs, k); break;
  if (rs == 1 && cs != 1)
    switch (h) { HEIGHTS }
  else
    GEMM(pack)(d, s, rs, cs, h, k, h);
#undef STRIP
}

// pack_tiles packs mc rows of A for block.
static void GEMM(pack_tiles)(T *pa, const T *a, int64_t ars, int64_t acs, int64_t mc, int64_t kc) {
  for (int64_t t = 0, i = 0, end; i < mc; i = end) {
    end = GEMM(tops)(mc, ++t);
    GEMM(pack_tile)(pa + i * kc, a + i * ars, ars, acs, end - i, kc);
  }
}

// low is product for no more rows than a tile has, and columns of B that lie in order. Sums are the ones of product.
static __attribute__((noinline)) void GEMM(low)(int64_t m, int64_t n, int64_t k, const T *a, int64_t ars, int64_t acs, const T *b, int64_t brs, T *c, int64_t crs, T alpha, int beta) {
  enum { NR = GEMM(NR), KC = GEMM(KC) };
  T *pa = whittle_room((size_t)(KC * (MR + NR)) * sizeof(T) + 128), *pb = pa + KC * MR;
  for (int64_t pc = 0; pc < k; pc += KC) {
    int64_t kc = k - pc < KC ? k - pc : KC, add = pc > 0 || beta, j = 0;
    GEMM(pack_tile)(pa, a + pc * acs, ars, acs, m, kc);
    const T *from = b + pc * brs;
    for (; j + NR <= n; j += NR) GEMM(tile)(m, kc, pa, from + j, brs, c + j, crs, alpha, add);
    if (j == n) continue;
    GEMM(pack)(pb, from + j, 1, brs, n - j, kc, NR);
    GEMM(edge)(m, n - j, kc, pa, pb, c + j, crs, 1, alpha, add);
  }
}

static void GEMM(product)(int64_t m, int64_t n, int64_t k, const T *a, int64_t ars, int64_t acs, const T *b, int64_t brs, int64_t bcs, T *c, int64_t crs,
                          int64_t ccs, T alpha, T beta) {
  enum { L = GEMM(L), NR = GEMM(NR), KC = GEMM(KC), NC = GEMM(NC), MC = GEMM(MC) };
  if (crs == 1 && ccs != 1) { // the transposes, so that C has rows
    GEMM(product)(n, m, k, b, bcs, brs, a, acs, ars, c, ccs, crs, alpha, beta);
    return;
  }
  if (beta != 1 && (beta != 0 || k <= 0 || alpha == 0 || m <= 3))
    for (int64_t i = 0; i < m; i++)
      for (int64_t j = 0; j < n; j++) c[i * crs + j * ccs] = beta == 0 ? 0 : beta * c[i * crs + j * ccs];
  if (k <= 0 || alpha == 0) return;
  if (m <= 3 && bcs == 1) { // too few rows for a tile: a multiple of each row of B is added
    for (int64_t i = 0; i < m; i++)
      for (int64_t j0 = 0; j0 < n; j0 += 1024) {
        T sum[1024];
        int64_t w = n - j0 < 1024 ? n - j0 : 1024;
        for (int64_t j = 0; j < w; j++) sum[j] = 0;
        for (int64_t p = 0; p < k; p++) {
          T x = a[i * ars + p * acs];
          const T *row = b + p * brs + j0;
          for (int64_t j = 0; j < w; j++) sum[j] += x * row[j];
        }
        for (int64_t j = 0; j < w; j++) c[i * crs + (j0 + j) * ccs] += alpha * sum[j];
      }
    return;
  }
  if (m <= 3 && brs == 1 && acs == 1) { // sums along the columns of B
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < m; i++) {
        const T *x = a + i * ars, *y = b + j * bcs;
        T sum[2 * L] = {0}, all = 0;
        int64_t p = 0;
        for (; p + 2 * L <= k; p += 2 * L)
          for (int q = 0; q < 2 * L; q++) sum[q] += x[p + q] * y[p + q];
        for (int q = 0; q < 2 * L; q++) all += sum[q];
        for (; p < k; p++) all += x[p] * y[p];
        c[i * crs + j * ccs] += alpha * all;
      }
    return;
  }
  if (m <= MR && bcs == 1 && ccs == 1) { // one panel of rows: what is read once need not be packed
    GEMM(low)(m, n, k, a, ars, acs, b, brs, c, crs, alpha, beta != 0);
    return;
  }
  int64_t kc0 = k < KC ? k : KC, nc0 = n < NC ? (n + NR - 1) / NR * NR : NC, mc0 = m < MC ? (m + MR - 1) / MR * MR : MC;
  T *pb = whittle_room((size_t)(kc0 * (nc0 + mc0)) * sizeof(T) + 128), *pa = (T *)(((uintptr_t)(pb + kc0 * nc0) + 63) & ~(uintptr_t)63);
  for (int64_t jc = 0; jc < n; jc += NC) {
    int64_t nc = n - jc < NC ? n - jc : NC;
    for (int64_t pc = 0; pc < k; pc += KC) {
      int64_t kc = k - pc < KC ? k - pc : KC;
      if (bcs == 1)
        GEMM(pack_wide)(pb, b + pc * brs + jc, brs, nc, kc);
      else
        for (int64_t j = 0; j < nc; j += NR) GEMM(pack)(pb + j * kc, b + pc * brs + (jc + j) * bcs, bcs, brs, nc - j < NR ? nc - j : NR, kc, NR);
      for (int64_t ic = 0; ic < m; ic += MC) {
        int64_t mc = m - ic < MC ? m - ic : MC;
        GEMM(pack_tiles)(pa, a + ic * ars + pc * acs, ars, acs, mc, kc);
        GEMM(block)(mc, nc, kc, pa, pb, c + ic * crs + jc * ccs, crs, ccs, alpha, pc > 0 || beta != 0);
      }
    }
  }
}
