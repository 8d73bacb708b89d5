package tensor

import (
	"runtime"
	"testing"
	"time"
)

// Memory comes back when nobody holds it, and not before: neither the storage nor a slice of it.
// collect runs the collector, and leaves its finalizers a moment: they have a goroutine of their own, whose end cannot be waited for. Tests call it
// until they see what they look for.
func collect() {
	runtime.GC()
	time.Sleep(time.Millisecond)
}

func TestMemoryIsUsedAgain(t *testing.T) {
	const n = 1 << 20
	m := &memory{free: map[int][]block{}}
	used := func(f func()) int {
		f()
		for range 100 {
			collect()
			m.mu.Lock()
			k := len(m.free[n])
			m.mu.Unlock()
			if k > 0 {
				return k
			}
		}
		return 0
	}
	var slice []byte
	if k := used(func() { // all but a few bytes in the middle are let go
		buf, dirty := m.take(n)
		if dirty || len(buf) != n {
			t.Errorf("new memory: %d bytes, dirty %v", len(buf), dirty)
		}
		for i := range buf {
			buf[i] = 7
		}
		slice = buf[1000:1010]
	}); k != 0 {
		t.Errorf("memory that a slice points into came back")
	}
	if slice[5] != 7 {
		t.Errorf("the slice has changed: %v", slice)
	}
	slice = nil
	if k := used(func() {}); k != 1 {
		t.Fatalf("%d buffers came back, want 1", k)
	}
	if _, dirty := m.borrow(n / 4); dirty {
		t.Errorf("memory was used for something much smaller")
	}
	buf, dirty := m.take(n * 5 / 8)
	if !dirty || buf[500] != 7 {
		t.Errorf("memory was not used again: dirty %v", dirty)
	}
	runtime.KeepAlive(buf)
}

func TestMemoryIsGivenBack(t *testing.T) {
	const n = 1 << 20
	m := &memory{free: map[int][]block{}}
	m.take(n)
	for _, want := range []int{1, 0} { // it comes back, and is let go
		kept := -1
		for range 200 {
			collect()
			m.mu.Lock()
			kept = len(m.free)
			m.mu.Unlock()
			if kept == want {
				break
			}
		}
		if kept != want {
			t.Fatalf("%d sizes are kept, want %d", kept, want)
		}
	}
}

func TestClass(t *testing.T) {
	for n, want := range map[int]int{1: 1, 1 << 16: 1 << 16, 1<<16 + 1: 1<<16 + 1<<14, 16 << 20: 16 << 20, 1000000: 8 << 17, 900000: 7 << 17} {
		if got := class(n); got != want || got < n {
			t.Errorf("class(%d) = %d, want %d", n, got, want)
		}
	}
}

// Empty memory is zero, whatever it held before.
func TestEmptyIsZero(t *testing.T) {
	for range 50 {
		x := Full(Float32, 3, 1<<16)
		runtime.KeepAlive(x)
		x = nil
		runtime.GC()
		y := Empty(Float32, 1<<16)
		for _, v := range y.Float32s() {
			if v != 0 {
				t.Fatalf("an element of Empty is %v", v)
			}
		}
	}
}
