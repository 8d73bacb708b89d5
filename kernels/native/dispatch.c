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

// memcpy for rows of some kilobytes: the library's way with these is slow where to and from lie differently in their pages. A row is copied from its end where
// what is read next would otherwise look like what was written last.
static void copy_row(void *restrict to, const void *restrict from, size_t n) {
#if defined(__x86_64__)
  char *d = to;
  const char *s = from;
  if (n >= 256 && n <= 64 << 10) {
    size_t i = 0, whole = n & ~(size_t)63;
    if ((size_t)((uintptr_t)d - (uintptr_t)s & 4095) < 512) {
      memcpy(d + whole, s + whole, n - whole);
      for (i = whole; i >= 64; i -= 64) {
        __m128i a = _mm_loadu_si128((const __m128i *)(s + i) - 1), b = _mm_loadu_si128((const __m128i *)(s + i) - 2), c = _mm_loadu_si128((const __m128i *)(s + i) - 3), e = _mm_loadu_si128((const __m128i *)(s + i) - 4);
        _mm_storeu_si128((__m128i *)(d + i) - 1, a), _mm_storeu_si128((__m128i *)(d + i) - 2, b), _mm_storeu_si128((__m128i *)(d + i) - 3, c), _mm_storeu_si128((__m128i *)(d + i) - 4, e);
      }
      return;
    }
    for (; i < whole; i += 64) {
      __m128i a = _mm_loadu_si128((const __m128i *)(s + i)), b = _mm_loadu_si128((const __m128i *)(s + i) + 1), c = _mm_loadu_si128((const __m128i *)(s + i) + 2), e = _mm_loadu_si128((const __m128i *)(s + i) + 3);
      _mm_storeu_si128((__m128i *)(d + i), a), _mm_storeu_si128((__m128i *)(d + i) + 1, b), _mm_storeu_si128((__m128i *)(d + i) + 2, c), _mm_storeu_si128((__m128i *)(d + i) + 3, e);
    }
    memcpy(d + whole, s + whole, n - whole);
    return;
  }
#endif
  memcpy(to, from, n);
}

// Row k of to, of size bytes, is what lies at at[k] of from.
void whittle_move_rows(char *to, const char *from, const int64_t *at, int64_t n, int64_t size, int past) {
  if (past) {
    for (int64_t k = 0; k < n; k++) whittle_stream(to + k * size, from + at[k], size);
    whittle_stream_end();
  } else {
    for (int64_t k = 0; k < n; k++) copy_row(to + k * size, from + at[k], size);
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
        copy_row(to, from, n * sizeof(T));                                                                                  \
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

// n rows of width elements: of each, as many as a run has, from its first number on, are those of from at the row's start and its second number.
#define PICK(T)                                                                                                                            \
  static void pick_##T(T *restrict to, const T *restrict from, const int64_t *starts, int64_t n, const int64_t *runs, int64_t count, int64_t width) { \
    for (int64_t k = 0; k < n; k++, to += width)                                                                                           \
      for (int64_t r = 0; r < count; r++) {                                                                                                \
        T *d = to + runs[3 * r];                                                                                                           \
        const T *s = from + starts[k] + runs[3 * r + 1];                                                                                   \
        int64_t m = runs[3 * r + 2];                                                                                                       \
        if (m == 1)                                                                                                                        \
          d[0] = s[0];                                                                                                                     \
        else                                                                                                                               \
          copy_row(d, s, m * sizeof(T));                                                                                                   \
      }                                                                                                                                    \
  }
typedef struct { uint64_t lo, hi; } pair_t;
PICK(uint8_t) PICK(uint16_t) PICK(uint32_t) PICK(uint64_t) PICK(pair_t)

void whittle_pick_rows(int64_t size, void *to, const void *from, const int64_t *starts, int64_t n, const int64_t *runs, int64_t count, int64_t width) {
  switch (size) {
    case 1: pick_uint8_t(to, from, starts, n, runs, count, width); break;
    case 2: pick_uint16_t(to, from, starts, n, runs, count, width); break;
    case 4: pick_uint32_t(to, from, starts, n, runs, count, width); break;
    case 8: pick_uint64_t(to, from, starts, n, runs, count, width); break;
    case 16: pick_pair_t(to, from, starts, n, runs, count, width); break;
  }
}

// n pairs of an element of a and one of b, sa and sb apart.
#define PAIRS(T)                                                                                       \
  static void pairs_##T(T *restrict o, const T *a, int64_t sa, const T *b, int64_t sb, int64_t n) {    \
    if (sa == 1 && sb == 0) {                                                                          \
      T y = b[0];                                                                                      \
      for (int64_t i = 0; i < n; i++) o[2 * i] = a[i], o[2 * i + 1] = y;                               \
    } else if (sa == 1 && sb == 1)                                                                     \
      for (int64_t i = 0; i < n; i++) o[2 * i] = a[i], o[2 * i + 1] = b[i];                            \
    else                                                                                               \
      for (int64_t i = 0; i < n; i++) o[2 * i] = a[i * sa], o[2 * i + 1] = b[i * sb];                  \
  }
PAIRS(float) PAIRS(double)

void whittle_pairs(int64_t size, void *o, const void *a, int64_t sa, const void *b, int64_t sb, int64_t n) {
  if (size == 4)
    pairs_float(o, a, sa, b, sb, n);
  else
    pairs_double(o, a, sa, b, sb, n);
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
