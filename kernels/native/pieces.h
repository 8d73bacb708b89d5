// Functions of one float by tables of polynomials: as many pieces for each power of two as the upper bits of the number tell apart, and as many for negative
// numbers. See native.Pieces.

#ifndef W_PIECE_TERMS
enum { W_PIECE_TERMS = 8 };
#endif

// index has for the bits of a number above the lower ones the place of its piece in table; what is not above 0 is none, and the positions of such numbers go to
// other, save for zeros and infinities, whose results are ends (see native.Pieces). The result says how many there are.
static int64_t NAME(pieces32)(float *restrict o, const float *restrict a, int64_t n, const double *restrict table, const int32_t *restrict index, int32_t bits, const float *ends, int64_t *restrict other) {
  int64_t count = 0;
  int32_t mask = (1 << bits) - 1;
  double scale = 2.0 / (1 << bits);
  for (int64_t from = 0; from < n; from += 256) {
    int64_t to = n - from < 256 ? n : from + 256;
    int bad = 0;
    for (int64_t i = from; i < to; i++) {
      union { float f; uint32_t i; } u = {a[i]};
      bad += index[u.i >> bits] <= 0;
    }
    for (int64_t i = from; i < to && bad < to - from; i++) {
      union { float f; int32_t i; } u = {a[i]};
      int32_t k = index[(uint32_t)u.i >> bits];
      const double *c = table + (int64_t)(k < 0 ? 0 : k) * W_PIECE_TERMS;
      double t = (double)(u.i & mask) * scale - 1.0;
      double p = c[7];
      p = FMA64(p, t, c[6]);
      p = FMA64(p, t, c[5]);
      p = FMA64(p, t, c[4]);
      p = FMA64(p, t, c[3]);
      p = FMA64(p, t, c[2]);
      p = FMA64(p, t, c[1]);
      p = FMA64(p, t, c[0]);
      o[i] = (float)p;
    }
    if (!bad) continue;
    for (int64_t i = from; i < to; i++) {
      union { float f; uint32_t i; } u = {a[i]};
      if (index[u.i >> bits] > 0) continue;
      uint32_t size = u.i & 0x7fffffff;
      if (size == 0 || size == 0x7f800000)
        o[i] = ends[(u.i >> 31) * 2 + (size != 0)];
      else
        other[count++] = i;
    }
  }
  return count;
}
