package main

/*
#cgo CFLAGS: -O3
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

// A copy as a kernel does it, past the cache where the machine can.
static void moved(char *to, const char *from, size_t n) {
#if defined(__x86_64__)
  for (size_t i = 0; i + 64 <= n; i += 64)
    for (int k = 0; k < 64; k += 16) _mm_stream_si128((__m128i *)(to + i + k), _mm_loadu_si128((const __m128i *)(from + i + k)));
  _mm_sfence();
#else
  memcpy(to, from, n);
#endif
}

// Multiplications with an addition on registers alone: enough chains that none waits for itself. The result is the number of operations of float.
#define CHAINS 12
#define PEAK(NAME, TARGET, BYTES) \
  TARGET static int64_t NAME(int64_t n, float *out) { \
    typedef float v __attribute__((vector_size(BYTES))); \
    v a[CHAINS], x, y; \
    for (int k = 0; k < BYTES / 4; k++) x[k] = 0.999999f, y[k] = 1e-7f; \
    for (int i = 0; i < CHAINS; i++) a[i] = x; \
    for (int64_t r = 0; r < n; r++) { \
      _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) a[i] = a[i] * x + y; \
    } \
    for (int i = 1; i < CHAINS; i++) a[0] += a[i]; \
    memcpy(out, &a[0], 4); \
    return n * CHAINS * (BYTES / 4) * 2; \
  }
#if defined(__x86_64__)
PEAK(peak512, __attribute__((target("avx512f,fma"))), 64)
PEAK(peak256, __attribute__((target("avx2,fma"))), 32)
#endif
PEAK(peak128, , 16)

static int64_t peak(int64_t n, float *out) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return peak512(n, out);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return peak256(n, out);
#endif
  return peak128(n, out);
}
*/
import "C"

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"
	"unsafe"
)

// together runs f on as many threads as there are, and says how long they took.
func together(f func(thread, of int)) float64 {
	n := runtime.GOMAXPROCS(0)
	var ready, done sync.WaitGroup
	begin := make(chan bool)
	for k := range n {
		ready.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			runtime.LockOSThread()
			ready.Done()
			<-begin
			f(k, n)
		}()
	}
	ready.Wait()
	start := time.Now()
	close(begin)
	done.Wait()
	return time.Since(start).Seconds()
}

// copied is the bytes a second that a copy of large memory reads and writes, the best of several.
func copied() float64 {
	const size = 64 << 20
	from, to := make([]byte, size), make([]byte, size+64)
	to = to[-uintptr(unsafe.Pointer(&to[0]))&63:][:size]
	for i := range from {
		from[i] = byte(i)
	}
	best := 0.0
	for range 9 {
		s := together(func(k, n int) {
			part := size / n &^ 63
			C.moved((*C.char)(unsafe.Pointer(&to[k*part])), (*C.char)(unsafe.Pointer(&from[k*part])), C.size_t(part))
		})
		best = max(best, 2*size/s)
	}
	return best
}

// peak is the operations a second of multiplications with additions on all threads, the best of several.
func peak() float64 {
	best := 0.0
	for range 7 {
		var mu sync.Mutex
		total := 0.0
		s := together(func(int, int) {
			var x C.float
			n := float64(C.peak(2000000, &x))
			mu.Lock()
			total += n
			mu.Unlock()
		})
		best = max(best, total/s)
	}
	return best
}

// limit prints what whittle's kernels get out of the machine: bytes a second beside a copy's, flops beside the peak.
func limit(ctx context.Context, ours []string, report io.Writer) error {
	text, err := script("limit", "")
	if err != nil {
		return err
	}
	rows, err := measure(ctx, ours, text, true)
	if err != nil {
		return fmt.Errorf("whittle: %w", err)
	}
	fmt.Fprint(report, limits(rows, copied(), peak()))
	return nil
}
