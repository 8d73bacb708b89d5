// Entry points of the SIMD kernels. Sizes and strides count elements.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { W_ADD = 1, W_SUB, W_MUL, W_DIV, W_MAX, W_MIN, W_POW, W_ATAN2, W_HYPOT, W_AND, W_OR, W_XOR,
       W_EQ = 16, W_NE, W_LT, W_LE, W_GT, W_GE, W_BOTH, W_EITHER, W_ONE_OF, W_WITHIN, W_BEYOND,
       W_EXP = 32, W_LOG, W_TANH, W_SIGMOID, W_ERF, W_GELU, W_RELU, W_SQRT, W_RSQRT, W_NEG, W_ABS, W_SIN, W_COS, W_RECIP, W_SILU, W_GELU_TANH,
       W_SQUARE, W_CUBE, W_FLOOR, W_CEIL, W_TRUNC, W_ROUND,
       W_EXP2, W_EXPM1, W_LOG2, W_LOG10, W_LOG1P, W_TAN, W_ASIN, W_ACOS, W_ATAN, W_SINH, W_COSH, W_ASINH, W_ACOSH, W_ATANH, W_ERFC, W_LGAMMA };

// Types of elements, of the kernels that convert them.
enum { W_AS_F32, W_AS_F64, W_AS_I64, W_AS_I32, W_AS_I16, W_AS_I8, W_AS_U8 };

// Of the gradient of an activation's result, and of its operand (or, of a sigmoid and a tanh, its result).
enum { W_GELU_BACK = 112, W_GELU_TANH_BACK, W_SILU_BACK, W_SIGMOID_BACK, W_TANH_BACK };

// Orthogonal polynomials: of Chebyshev of the kinds T to W, of Hermite, Laguerre and Legendre.
enum { W_CHEBYSHEV_T, W_CHEBYSHEV_U, W_CHEBYSHEV_V, W_CHEBYSHEV_W, W_HERMITE_H, W_HERMITE_HE, W_LAGUERRE_L, W_LEGENDRE_P, W_SHIFTED = 16 };

// What is gathered of the differences of rows.
enum { W_APART_NONZEROS, W_APART_SIZES, W_APART_SQUARES, W_APART_GREATEST };

// Added to an operation (or a size): the result is written past the cache.
enum { W_STREAM = 1 << 16 };

// The geometry of a convolution over planes: channels and size of the input, of the kernel, strides, padding, dilation, and size of the output.
typedef struct {
  int64_t c, h, w, kh, kw, sh, sw, ph, pw, dh, dw, oh, ow;
} whittle_plane;

enum { W_FORWARD, W_INPUT, W_KERNEL };

typedef struct {
  void (*unary32)(int op, float *o, const float *a, int64_t n);
  void (*unary64)(int op, double *o, const double *a, int64_t n);
  void (*binary32)(int op, float *o, const float *a, int64_t sa, const float *b, int64_t sb, int64_t n);
  void (*binary64)(int op, double *o, const double *a, int64_t sa, const double *b, int64_t sb, int64_t n);
  void (*compare32)(int op, uint8_t *o, const float *a, int64_t sa, const float *b, int64_t sb, int64_t n);
  void (*compare64)(int op, uint8_t *o, const double *a, int64_t sa, const double *b, int64_t sb, int64_t n);
  void (*comparei64)(int op, uint8_t *o, const int64_t *a, int64_t sa, const int64_t *b, int64_t sb, int64_t n);
  void (*bits)(int op, uint8_t *o, const uint8_t *a, int64_t sa, const uint8_t *b, int64_t sb, int64_t n);
  void (*widen16)(float *o, const uint16_t *a, int64_t n);
  void (*narrow16)(uint16_t *o, const float *a, int64_t n);
  void (*widenhalf)(float *o, const uint16_t *a, int64_t n);
  void (*narrowhalf)(uint16_t *o, const float *a, int64_t n);
  void (*clamp32)(int op, float *o, const float *a, int64_t sa, const float *lo, int64_t sl, const float *hi, int64_t sh, int64_t n);
  void (*clamp64)(int op, double *o, const double *a, int64_t sa, const double *lo, int64_t sl, const double *hi, int64_t sh, int64_t n);
  void (*select)(int size, void *o, const uint8_t *c, int64_t sc, const void *a, int64_t sa, const void *b, int64_t sb, int64_t n);
  void (*sum_rows32)(float *o, const float *a, int64_t rows, int64_t cols, int64_t stride);
  void (*sum_parts32)(double *o, const float *a, int64_t n, int64_t part);
  double (*deviations32)(const float *a, int64_t n, double mean, int power);
  void (*sum_cols32)(float *o, const float *a, int64_t rows, int64_t cols, int64_t stride, double *tmp);
  void (*max_rows32)(float *o, const float *a, int64_t rows, int64_t cols, int64_t stride);
  void (*arg_rows32)(int64_t *o, const float *a, int64_t rows, int64_t cols, int least);
  void (*cumsum_rows32)(float *o, const float *a, int64_t rows, int64_t cols);
  void (*softmax_rows32)(float *o, const float *a, int64_t rows, int64_t cols, int logarithm);
  void (*norm_rows32)(float *o, float *mean, float *rstd, const float *a, const float *w, const float *b, int64_t rows, int64_t cols, float eps);
  void (*norm_sums32)(double *sums, const float *g, const float *x, const float *w, float mean, float rstd, int64_t n);
  void (*norm_apply32)(float *o, const float *g, const float *x, const float *w, float f, float mean, float rstd, float a, float b, int64_t n);
  void (*norm_cols32)(double *dw, double *db, const float *g, const float *x, const float *mean, const float *rstd, int64_t rows, int64_t cols, int64_t n);
  void (*gemm32)(int64_t m, int64_t n, int64_t k, const float *a, int64_t ars, int64_t acs, const float *b, int64_t brs, int64_t bcs,
                 float *c, int64_t crs, int64_t ccs, float alpha, float beta);
  void (*gemm64)(int64_t m, int64_t n, int64_t k, const double *a, int64_t ars, int64_t acs, const double *b, int64_t brs, int64_t bcs,
                 double *c, int64_t crs, int64_t ccs, double alpha, double beta);
  void (*point32)(int op, float *o, const float *const *in, const int64_t *step, const double *num, int64_t n);
  void (*point64)(int op, double *o, const double *const *in, const int64_t *step, const double *num, int64_t n);
  void (*reduce_rows32)(int op, double *o, const float *a, const double *center, int64_t rows, int64_t cols, int64_t stride);
  void (*reduce_rows64)(int op, double *o, const double *a, const double *center, int64_t rows, int64_t cols, int64_t stride);
  void (*reduce_cols32)(int op, double *o, const float *a, const double *center, int64_t rows, int64_t cols, int64_t stride);
  void (*reduce_cols64)(int op, double *o, const double *a, const double *center, int64_t rows, int64_t cols, int64_t stride);
  void (*dot_rows32)(double *o, const float *a, const float *v, int64_t rows, int64_t cols, int64_t stride);
  void (*dot_rows64)(double *o, const double *a, const double *v, int64_t rows, int64_t cols, int64_t stride);
  void (*dot_cols32)(double *o, const float *a, const float *v, int64_t rows, int64_t cols, int64_t stride);
  void (*dot_cols64)(double *o, const double *a, const double *v, int64_t rows, int64_t cols, int64_t stride);
  void (*arg_cols32)(int64_t *o, float *best, const float *a, int64_t rows, int64_t cols, int64_t stride, int least);
  void (*arg_cols64)(int64_t *o, double *best, const double *a, int64_t rows, int64_t cols, int64_t stride, int least);
  void (*scan_cols32)(int op, float *o, const float *a, int64_t rows, int64_t cols, int64_t width);
  void (*scan_cols64)(int op, double *o, const double *a, int64_t rows, int64_t cols, int64_t width);
  void (*scan_rows32)(int op, float *o, const float *a, int64_t rows, int64_t cols);
  void (*scan_rows64)(int op, double *o, const double *a, int64_t rows, int64_t cols);
  void (*soft_cols32)(float *o, const float *a, int64_t rows, int64_t cols, int64_t width, int logarithm);
  void (*soft_cols64)(double *o, const double *a, int64_t rows, int64_t cols, int64_t width, int logarithm);
  void (*soft_rows32)(float *o, const float *a, int64_t rows, int64_t cols, int logarithm);
  void (*soft_rows64)(double *o, const double *a, int64_t rows, int64_t cols, int logarithm);
  void (*soft_back_cols32)(float *o, const float *g, const float *y, int64_t rows, int64_t cols, int64_t width, int logarithm);
  void (*soft_back_cols64)(double *o, const double *g, const double *y, int64_t rows, int64_t cols, int64_t width, int logarithm);
  void (*distances32)(int kind, double *o, const float *x, const float *a, int64_t rows, int64_t cols, int64_t stride);
  void (*distances64)(int kind, double *o, const double *x, const double *a, int64_t rows, int64_t cols, int64_t stride);
  void (*turn32)(float *d, int64_t ds, const float *s, int64_t ss, int64_t w, int64_t k);
  void (*turn64)(double *d, int64_t ds, const double *s, int64_t ss, int64_t w, int64_t k);
  void (*weights32)(int64_t m, int64_t k, float *packed, const float *w, int64_t part, int64_t parts);
  void (*weights64)(int64_t m, int64_t k, double *packed, const double *w, int64_t part, int64_t parts);
  void (*convolve32)(int64_t m, const float *packed, const float *im, const whittle_plane *g, int64_t from, int64_t to, float *c, int64_t crs);
  void (*convolve64)(int64_t m, const double *packed, const double *im, const whittle_plane *g, int64_t from, int64_t to, double *c, int64_t crs);
  void (*unfold32)(float *col, const float *im, const whittle_plane *g, int64_t from, int64_t to);
  void (*unfold64)(double *col, const double *im, const whittle_plane *g, int64_t from, int64_t to);
  void (*fold32)(float *im, const float *col, const whittle_plane *g);
  void (*fold64)(double *im, const double *col, const whittle_plane *g);
  void (*depthwise32)(int what, float *y, float *im, float *w, const whittle_plane *g);
  void (*depthwise64)(int what, double *y, double *im, double *w, const whittle_plane *g);
  int64_t (*pieces32)(float *o, const float *a, int64_t n, const double *table, const int32_t *index, int32_t bits, const float *ends, int64_t *other);
  void (*polynomial32)(int kind, float *o, const float *a, const float *degree, int64_t n);
  void (*normal32)(float *b, int64_t n, double mean, double std);
  void (*fft_lines)(int what, const int64_t *h, const double *t, const double *roots, int64_t side, int64_t n, const void *src, const int64_t *at, int64_t step, void *dst,
                    const int64_t *to, int64_t tostep, int64_t first, int64_t lines, double scale);
  void (*ints64)(int op, int64_t *o, const int64_t *a, int64_t sa, const int64_t *b, int64_t sb, int64_t n);
  int64_t (*sum_ints64)(const int64_t *a, int64_t n);
  void (*convert)(int to, int from, void *o, const void *a, int64_t n);
  void (*lu64)(double *a, int64_t n, int64_t m, int64_t *piv);
  int64_t (*cholesky64)(double *a, int64_t n, int upper, double *column);
  void (*windows_max32)(float *best, int64_t *o, const float *a, const int64_t *at, const int64_t *ends, int64_t windows, int64_t cols);
  void (*windows_mean32)(float *o, const float *a, const int64_t *at, const int64_t *ends, const float *sizes, int64_t windows, int64_t cols);
  void (*outer64)(int64_t m, int64_t n, int64_t longer, double alpha, const double *x, const double *y, double *a, int64_t lda);
  void (*triangle64)(const double *a, double *b, int64_t n, int64_t k, int upper, int unit, int trans);
} whittle_kernels;

extern const whittle_kernels whittle_sse2, whittle_avx2, whittle_avx512;
int whittle_cpu_level(void);  // 0 SSE2, 1 AVX2+FMA, 2 AVX-512
const whittle_kernels *whittle_table(int level);
void *whittle_room(size_t n);
void whittle_stream(void *to, const void *from, size_t n);
void whittle_stream_end(void);
void whittle_copy_rows(int64_t size, void *to, int64_t d, int64_t ds, const void *from, int64_t s, int64_t ss, int64_t n, int64_t rows);
void whittle_pairs(int64_t size, void *o, const void *a, int64_t sa, const void *b, int64_t sb, int64_t n);
void whittle_pick_rows(int64_t size, void *to, const void *from, const int64_t *starts, int64_t n, const int64_t *runs, int64_t count, int64_t width);
void whittle_move_rows(char *to, const char *from, const int64_t *at, int64_t n, int64_t size, int past);
