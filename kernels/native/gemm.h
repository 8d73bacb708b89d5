// Matrix products, included for each element type with T, V (a vector of them), I (of integers of their size), ZIP (the lanes of two vectors in
// turn, from lane I of each) and GEMM(x), the names, defined.
//
// C = alpha*A*B + beta*C is computed as GotoBLAS does (Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008): an MR x NR
// tile of C lies in registers while a panel of MR rows of A and one of NR columns of B pass by. The panels are packed, so that they are read in
// order: of B, KC x NR elements that stay in the first cache while the tiles of an MC x KC block of A, in the second, are gone through.
// Panels are padded with zeros. Sums are cut at multiples of KC, so that another KC gives other last bits.

enum { GEMM(L) = VB / sizeof(T), GEMM(NR) = 2 * GEMM(L), GEMM(KC) = 384, GEMM(NC) = 64 * GEMM(NR), GEMM(MC) = MR * (128 / MR) };

// turned transposes: w rows of k elements, rs apart, become columns: element (q, p) goes to d[p*width+q].
static inline __attribute__((always_inline)) void GEMM(turned)(T *restrict d, int64_t width, const T *restrict s, int64_t rs, int64_t w, int64_t k) {
  enum { L = GEMM(L) };
  int64_t p = 0;
  // L x L elements are turned at once: log2(L) times, the first half of the vectors is interleaved with the second.
  for (; p + L <= k; p += L) {
    int64_t q = 0;
    for (; q + L <= w; q += L) {
      V x[L], y[L];
      _Pragma("GCC unroll 16") for (int i = 0; i < L; i++) x[i] = *(const V *)(s + (q + i) * rs + p);
      _Pragma("GCC unroll 4") for (int n = 1; n < L; n *= 2) {
        _Pragma("GCC unroll 8") for (int i = 0; i < L / 2; i++) {
          y[2 * i] = __builtin_shuffle(x[i], x[i + L / 2], (I){ZIP(0, L)});
          y[2 * i + 1] = __builtin_shuffle(x[i], x[i + L / 2], (I){ZIP(L / 2, L)});
        }
        _Pragma("GCC unroll 16") for (int i = 0; i < L; i++) x[i] = y[i];
      }
      _Pragma("GCC unroll 16") for (int i = 0; i < L; i++) *(V *)(d + (p + i) * width + q) = x[i];
    }
    for (; q < w; q++)
      for (int i = 0; i < L; i++) d[(p + i) * width + q] = s[q * rs + p + i];
  }
  for (; p < k; p++)
    for (int64_t q = 0; q < w; q++) d[p * width + q] = s[q * rs + p];
}

// turn is turned by squares whose lines of memory stay in the cache.
static void GEMM(turn)(T *d, int64_t ds, const T *s, int64_t ss, int64_t w, int64_t k) {
  enum { SIDE = 64 };
  for (int64_t q = 0; q < w; q += SIDE)
    for (int64_t p = 0; p < k; p += SIDE) GEMM(turned)(d + p * ds + q, ds, s + q * ss + p, ss, w - q < SIDE ? w - q : SIDE, k - p < SIDE ? k - p : SIDE);
}

// pack_rows packs up to w of the rows of a matrix, whose elements lie in order, beside each other, and zeros where there are fewer than width.
static inline __attribute__((always_inline)) void GEMM(pack_rows)(T *restrict d, const T *restrict s, int64_t rs, int64_t w, int64_t k, int width) {
  GEMM(turned)(d, width, s, rs, w, k);
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

// tile is alpha times the product of two panels; add says that it is added to c, and not put there. c has rows of two vectors, crs apart.
static inline __attribute__((always_inline)) void GEMM(tile)(int64_t k, const T *pa, const T *pb, T *c, int64_t crs, T alpha, int add) {
  enum { L = GEMM(L) };
  V c0[MR], c1[MR];
  _Pragma("GCC unroll 16") for (int i = 0; i < MR; i++) c0[i] = c1[i] = (V){0};
  for (int i = 0; i < MR; i++) __builtin_prefetch(c + i * crs);
  _Pragma("GCC unroll 1") for (int64_t p = 0; p < k; p++) { // once at a time: of two, GCC begins so much at once that sums leave the registers
    V b0 = *(const V *)(pb), b1 = *(const V *)(pb + L);
    _Pragma("GCC unroll 16") for (int i = 0; i < MR; i++) {
      T x = pa[i];
      c0[i] += x * b0;
      c1[i] += x * b1;
    }
    pa += MR;
    pb += 2 * L;
  }
  if (add) {
    _Pragma("GCC unroll 16") for (int i = 0; i < MR; i++) {
      *(V *)(c + i * crs) += alpha * c0[i];
      *(V *)(c + i * crs + L) += alpha * c1[i];
    }
  } else {
    _Pragma("GCC unroll 16") for (int i = 0; i < MR; i++) {
      *(V *)(c + i * crs) = alpha * c0[i];
      *(V *)(c + i * crs + L) = alpha * c1[i];
    }
  }
}

// block multiplies a packed block of A with packed columns of B.
static __attribute__((noinline)) void GEMM(block)(int64_t mc, int64_t nc, int64_t kc, const T *pa, const T *pb, T *c, int64_t crs, int64_t ccs, T alpha, int add) {
  enum { NR = GEMM(NR) };
  T room[MR * NR] __attribute__((aligned(64)));
  for (int64_t j = 0; j < nc; j += NR) {
    int64_t w = nc - j < NR ? nc - j : NR;
    for (int64_t i = 0; i < mc; i += MR) {
      int64_t h = mc - i < MR ? mc - i : MR;
      T *to = c + i * crs + j * ccs;
      if (w == NR && h == MR && ccs == 1) {
        GEMM(tile)(kc, pa + i * kc, pb + j * kc, to, crs, alpha, add);
        continue;
      }
      GEMM(tile)(kc, pa + i * kc, pb + j * kc, room, NR, alpha, 0);
      for (int64_t q = 0; q < h; q++)
        for (int64_t r = 0; r < w; r++) to[q * crs + r * ccs] = room[q * NR + r] + (add ? to[q * crs + r * ccs] : 0);
    }
  }
}

// strip is tile for h rows, and columns of b that lie brs apart.
static inline __attribute__((always_inline)) void GEMM(strip)(int h, int64_t k, const T *pa, const T *b, int64_t brs, T *c, int64_t crs, T alpha, int add) {
  enum { L = GEMM(L) };
  V c0[MR], c1[MR];
  _Pragma("GCC unroll 16") for (int i = 0; i < h; i++) c0[i] = c1[i] = (V){0};
  _Pragma("GCC unroll 1") for (int64_t p = 0; p < k; p++) {
    V b0 = *(const V *)(b), b1 = *(const V *)(b + L);
    __builtin_prefetch(b + 16 * brs);
    __builtin_prefetch(b + 16 * brs + L);
    _Pragma("GCC unroll 16") for (int i = 0; i < h; i++) {
      T x = pa[i];
      c0[i] += x * b0;
      c1[i] += x * b1;
    }
    pa += MR;
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

// low is product for no more rows than a tile has, and columns of B that lie in order. Sums are the ones of product.
static __attribute__((noinline)) void GEMM(low)(int64_t m, int64_t n, int64_t k, const T *a, int64_t ars, int64_t acs, const T *b, int64_t brs, T *c, int64_t crs, T alpha, int beta) {
  enum { NR = GEMM(NR), KC = GEMM(KC) };
  T *pa = whittle_room((size_t)(KC * (MR + NR)) * sizeof(T) + 128), *pb = pa + KC * MR;
  T edge[MR * NR] __attribute__((aligned(64)));
  for (int64_t pc = 0; pc < k; pc += KC) {
    int64_t kc = k - pc < KC ? k - pc : KC, add = pc > 0 || beta;
    GEMM(pack)(pa, a + pc * acs, ars, acs, m, kc, MR);
    const T *from = b + pc * brs;
    for (int64_t j = 0; j < n; j += NR) {
      if (n - j < NR) {
        GEMM(pack)(pb, from + j, 1, brs, n - j, kc, NR);
        GEMM(tile)(kc, pa, pb, edge, NR, alpha, 0);
        for (int64_t i = 0; i < m; i++)
          for (int64_t r = 0; r < n - j; r++) c[i * crs + j + r] = edge[i * NR + r] + (add ? c[i * crs + j + r] : 0);
        break;
      }
#define STRIP(H) case H: GEMM(strip)(H, kc, pa, from + j, brs, c + j, crs, alpha, add); break;
      switch (m) {
        STRIP(1) STRIP(2) STRIP(3) STRIP(4)
#if MR > 4
        STRIP(5) STRIP(6)
#endif
#if MR > 6
        STRIP(7) STRIP(8) STRIP(9) STRIP(10) STRIP(11) STRIP(12)
#endif
      }
#undef STRIP
    }
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
        for (int64_t i = 0; i < mc; i += MR) GEMM(pack)(pa + i * kc, a + (ic + i) * ars + pc * acs, ars, acs, mc - i < MR ? mc - i : MR, kc, MR);
        GEMM(block)(mc, nc, kc, pa, pb, c + ic * crs + jc * ccs, crs, ccs, alpha, pc > 0 || beta != 0);
      }
    }
  }
}
