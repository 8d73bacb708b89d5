// Entry points of the SIMD kernels. Sizes and strides count elements.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { W_ADD = 1, W_SUB, W_MUL, W_DIV, W_MAX, W_MIN,
       W_EXP = 32, W_LOG, W_TANH, W_SIGMOID, W_ERF, W_GELU, W_RELU, W_SQRT, W_RSQRT, W_NEG, W_ABS, W_SIN, W_COS, W_RECIP, W_SILU, W_GELU_TANH };

typedef struct {
  void (*unary32)(int op, float *o, const float *a, int64_t n);
  void (*unary64)(int op, double *o, const double *a, int64_t n);
  void (*binary32)(int op, float *o, const float *a, int64_t sa, const float *b, int64_t sb, int64_t n);
  void (*binary64)(int op, double *o, const double *a, int64_t sa, const double *b, int64_t sb, int64_t n);
  void (*sum_rows32)(float *o, const float *a, int64_t rows, int64_t cols, int64_t stride);
  void (*sum_rows64)(double *o, const double *a, int64_t rows, int64_t cols, int64_t stride);
  void (*sum_cols32)(float *o, const float *a, int64_t rows, int64_t cols, int64_t stride, double *tmp);
  void (*max_rows32)(float *o, const float *a, int64_t rows, int64_t cols, int64_t stride);
  void (*softmax_rows32)(float *o, const float *a, int64_t rows, int64_t cols, int logarithm);
  void (*norm_rows32)(float *o, float *mean, float *rstd, const float *a, const float *w, const float *b, int64_t rows, int64_t cols, float eps);
  void (*gemm32)(int64_t m, int64_t n, int64_t k, const float *a, int64_t ars, int64_t acs, const float *b, int64_t brs, int64_t bcs,
                 float *c, int64_t crs, int64_t ccs, float alpha, float beta);
  void (*gemm64)(int64_t m, int64_t n, int64_t k, const double *a, int64_t ars, int64_t acs, const double *b, int64_t brs, int64_t bcs,
                 double *c, int64_t crs, int64_t ccs, double alpha, double beta);
} whittle_kernels;

extern const whittle_kernels whittle_sse2, whittle_avx2, whittle_avx512;
int whittle_cpu_level(void);  // 0 SSE2, 1 AVX2+FMA, 2 AVX-512
const whittle_kernels *whittle_table(int level);
void whittle_im2col32(float *col, const float *im, const int64_t *p);
