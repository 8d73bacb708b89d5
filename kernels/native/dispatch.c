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

// Elements of rows rows of n: element j of row i is i*ds+j*d elements from to, and i*ss+j*s from from.
#define COPY(T)                                                                                                             \
  static void copy_##T(T *restrict to, int64_t d, int64_t ds, const T *restrict from, int64_t s, int64_t ss, int64_t n, int64_t rows) { \
    if (n < 8 && rows > n) { /* by columns */                                                                               \
      int64_t t = n; n = rows; rows = t;                                                                                    \
      t = d; d = ds; ds = t;                                                                                                \
      t = s; s = ss; ss = t;                                                                                                \
    }                                                                                                                       \
    for (int64_t i = 0; i < rows; i++, to += ds, from += ss) {                                                              \
      if (d == 1 && s == 1)                                                                                                 \
        memcpy(to, from, n * sizeof(T));                                                                                    \
      else if (d == 1 && s == -1)                                                                                           \
        for (int64_t j = 0; j < n; j++) to[j] = from[-j];                                                                   \
      else if (d == 1 && s == 0)                                                                                            \
        for (int64_t j = 0; j < n; j++) to[j] = from[0];                                                                    \
      else if (d == 1 && s == 2)                                                                                            \
        for (int64_t j = 0; j < n; j++) to[j] = from[2 * j];                                                                \
      else if (d == 2 && s == 1)                                                                                            \
        for (int64_t j = 0; j < n; j++) to[2 * j] = from[j];                                                                \
      else                                                                                                                  \
        for (int64_t j = 0; j < n; j++) to[j * d] = from[j * s];                                                            \
    }                                                                                                                       \
  }
COPY(uint8_t) COPY(uint16_t) COPY(uint32_t) COPY(uint64_t)

void whittle_copy_rows(int64_t size, void *to, int64_t d, int64_t ds, const void *from, int64_t s, int64_t ss, int64_t n, int64_t rows) {
  switch (size) {
    case 1: copy_uint8_t(to, d, ds, from, s, ss, n, rows); break;
    case 2: copy_uint16_t(to, d, ds, from, s, ss, n, rows); break;
    case 4: copy_uint32_t(to, d, ds, from, s, ss, n, rows); break;
    case 8: copy_uint64_t(to, d, ds, from, s, ss, n, rows); break;
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
