// Functions of one float by tables of polynomials: sixteen pieces for each power of two, and as many for negative numbers, by the upper bits of the number.
// See native.Pieces.

#ifndef W_PIECE_BITS
enum { W_PIECE_BITS = 19, W_PIECE_TERMS = 8 };
#endif

// The positions of what lies in pieces whose state is not 1 go to other; the result says how many there are.
static int64_t NAME(pieces32)(float *restrict o, const float *restrict a, int64_t n, const double *restrict table, const uint8_t *restrict state, int64_t *restrict other) {
  int64_t count = 0;
  for (int64_t from = 0; from < n; from += 256) {
    int64_t to = n - from < 256 ? n : from + 256;
    int bad = 0;
    for (int64_t i = from; i < to; i++) {
      union { float f; uint32_t i; } u = {a[i]};
      bad |= state[u.i >> W_PIECE_BITS] ^ 1;
    }
    for (int64_t i = from; i < to; i++) {
      union { float f; int32_t i; } u = {a[i]};
      const double *c = table + ((int64_t)((uint32_t)u.i >> W_PIECE_BITS) * W_PIECE_TERMS);
      double t = (double)(u.i & ((1 << W_PIECE_BITS) - 1)) * (2.0 / (1 << W_PIECE_BITS)) - 1.0;
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
      if (state[u.i >> W_PIECE_BITS] != 1) other[count++] = i;
    }
  }
  return count;
}
