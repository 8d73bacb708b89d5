#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif
#include "kernels.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

static pthread_key_t room_key;
static pthread_once_t room_once = PTHREAD_ONCE_INIT;
static void room_made(void) { pthread_key_create(&room_key, free); }

// Memory of n bytes for a kernel on this thread until it asks again. It is kept while the thread lives, on large pages where there are any: to have it
// anew takes longer than a small product.
void *whittle_room(size_t n) {
  static __thread char *room;
  static __thread size_t size;
  if (n > size) {
    const size_t page = (size_t)2 << 20;
    pthread_once(&room_once, room_made);
    free(room);
    size = (n + page - 1) / page * page;
    room = aligned_alloc(page, size);
    if (!room) abort();
#if defined(__linux__)
    madvise(room, size, MADV_HUGEPAGE);
#endif
    pthread_setspecific(room_key, room);
  }
  return room;
}

// memcpy past the cache: others see it after whittle_stream_end.
void whittle_stream(void *to, const void *from, size_t n) {
#if defined(__x86_64__)
  char *d = to;
  const char *s = from;
  size_t head = -(uintptr_t)d & 63;
  if (head > n) head = n;
  memcpy(d, s, head);
  for (d += head, s += head, n -= head; n >= 64; d += 64, s += 64, n -= 64)
    for (int i = 0; i < 4; i++) _mm_stream_si128((__m128i *)d + i, _mm_loadu_si128((const __m128i *)s + i));
  memcpy(d, s, n);
#else
  memcpy(to, from, n);
#endif
}

void whittle_stream_end(void) {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

// Row k of to, of size bytes, is what lies at at[k] of from.
void whittle_move_rows(char *to, const char *from, const int64_t *at, int64_t n, int64_t size, int past) {
  if (past) {
    for (int64_t k = 0; k < n; k++) whittle_stream(to + k * size, from + at[k], size);
    whittle_stream_end();
  } else {
    for (int64_t k = 0; k < n; k++) memcpy(to + k * size, from + at[k], size);
  }
}

int whittle_cpu_level(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) return 2;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 1;
#endif
  return 0;
}

const whittle_kernels *whittle_table(int level) {
#if defined(__x86_64__)
  if (level >= 2) return &whittle_avx512;
  if (level == 1) return &whittle_avx2;
#endif
  return &whittle_sse2;
}

// p: channels, height, width, kernel h w, stride h w, padding h w, dilation h w, output h w, first and last row of the output.
void whittle_im2col32(float *col, const float *im, const int64_t *p) {
  int64_t C = p[0], H = p[1], W = p[2], kh = p[3], kw = p[4], sh = p[5], sw = p[6], ph = p[7], pw = p[8], dh = p[9], dw = p[10], ow = p[12], from = p[13], to = p[14];
  for (int64_t c = 0; c < C; c++)
    for (int64_t i = 0; i < kh; i++)
      for (int64_t j = 0; j < kw; j++)
        for (int64_t y = from; y < to; y++) {
          int64_t iy = y * sh - ph + i * dh;
          if (iy < 0 || iy >= H) {
            memset(col, 0, sizeof(float) * ow);
            col += ow;
            continue;
          }
          const float *row = im + (c * H + iy) * W;
          int64_t ix = j * dw - pw;
          if (sw == 1) {
            int64_t lo = ix < 0 ? (-ix < ow ? -ix : ow) : 0;
            int64_t hi = W - ix < ow ? (W - ix > lo ? W - ix : lo) : ow;
            for (int64_t x = 0; x < lo; x++) col[x] = 0;
            memcpy(col + lo, row + ix + lo, sizeof(float) * (hi - lo));
            for (int64_t x = hi; x < ow; x++) col[x] = 0;
          } else {
            for (int64_t x = 0; x < ow; x++) {
              int64_t q = ix + x * sw;
              col[x] = q >= 0 && q < W ? row[q] : 0;
            }
          }
          col += ow;
        }
}
