package native

import (
	"context"
	"errors"
	"testing"
	"time"
	"unsafe"
)

func builder(t *testing.T) *Builder {
	if _, err := FindCompiler(); err != nil {
		t.Skip(err)
	}
	return &Builder{Dir: t.TempDir()}
}

func TestBuild(t *testing.T) {
	b := builder(t)
	src := `#include <cstdint>
extern "C" void kernel(void** bufs, const int64_t* sizes) {
  float* x = (float*)bufs[0];
  for (int64_t i = 0; i < sizes[0]; i++) x[i] = x[i] * 2 + 1;
}`
	for range 2 { // compiled, then cached
		lib, err := b.Build(context.Background(), src)
		if err != nil {
			t.Fatal(err)
		}
		x := []float32{1, 2, 3}
		lib.Call([]unsafe.Pointer{unsafe.Pointer(&x[0])}, []int64{3})
		if x[0] != 3 || x[2] != 7 {
			t.Errorf("kernel result %v", x)
		}
	}
	// Another builder on the same directory finds the file.
	other := &Builder{Dir: b.Dir}
	if _, err := other.Build(context.Background(), src); err != nil {
		t.Fatal(err)
	}
	var ce *CompileError
	if _, err := b.Build(context.Background(), "not C++"); !errors.As(err, &ce) || ce.Output == "" {
		t.Errorf("bad source: %v", err)
	}
}

func TestBuildCancel(t *testing.T) {
	b := builder(t)
	b.Compiler = []string{"/bin/sh", "-c", "sleep 60"}
	b.Flags = []string{}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := b.Build(ctx, "x")
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 10*time.Second {
		t.Errorf("cancelled build: %v after %v", err, time.Since(start))
	}
}
