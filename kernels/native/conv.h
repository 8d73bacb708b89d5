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

// depthwise convolves one channel by one kernel: forward writes y, of im and w; the gradient of the input adds to im, of y and w; that of the
// kernel adds to w, of y and im.
static void CONV(depthwise)(int what, T *restrict y, T *restrict im, T *restrict w, const whittle_plane *g) {
  enum { L = 2 * VB / sizeof(T) };
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
        if (what == W_FORWARD && s == 1)
          for (int64_t x = lo; x < hi; x++) out[x] += k * row[x];
        else if (what == W_FORWARD)
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
