package native

import (
	"container/list"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/sourcegraph/conc/pool"
)

// adds is a kernel that adds k to its first buffer's first number.
func adds(k int) string {
	return fmt.Sprintf(`#include <cstdint>
extern "C" void kernel(void** bufs, const int64_t* sizes) {
  int64_t* x = (int64_t*)bufs[0];
#pragma omp parallel for
  for (int64_t i = 0; i < 1; i++) x[i] += %d;
}`, k)
}

func call(lib *Library, x int64) int64 {
	lib.Call([]unsafe.Pointer{unsafe.Pointer(&x)}, nil)
	return x
}

// mapped are the shared objects below dir that the process has loaded, as the kernel sees it.
func mapped(t *testing.T, dir string) map[string]bool {
	t.Helper()
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	all := map[string]bool{}
	for _, l := range strings.Split(string(b), "\n") {
		if i := strings.IndexByte(l, '/'); i >= 0 && strings.HasPrefix(l[i:], dir+"/") {
			all[strings.TrimSuffix(l[i:], " (deleted)")] = true
		}
	}
	return all
}

// only makes the set of loaded libraries a new one with room for most, for one test.
func only(t *testing.T, most int) {
	old := libraries
	libraries = &loaded{most: most, byKey: map[string]*object{}, idle: list.New()}
	t.Cleanup(func() { libraries = old })
}

// collected waits until the garbage collector has ended all uses but the given number.
func collected(l *loaded, users int) {
	for {
		runtime.GC()
		l.mu.Lock()
		n := 0
		for _, o := range l.byKey {
			n += o.users
		}
		l.mu.Unlock()
		if n <= users {
			return
		}
		time.Sleep(time.Millisecond) // clean-ups run beside us
	}
}

// TestLoadedOnce: builders share what the process has loaded, also of another directory; a use of its own is what each gets.
func TestLoadedOnce(t *testing.T) {
	only(t, 8)
	a := builder(t)
	first, err := a.Build(context.Background(), adds(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []*Builder{a, {Dir: a.Dir}, {Dir: t.TempDir()}} {
		lib, err := b.Build(context.Background(), adds(1))
		if err != nil {
			t.Fatal(err)
		}
		if lib.obj != first.obj {
			t.Errorf("%s is loaded beside %s", lib.Path, first.Path)
		}
	}
	if n := len(mapped(t, a.Dir)); n != 1 {
		t.Errorf("%d libraries are mapped", n)
	}
	runtime.KeepAlive(first)
}

// TestLoadedIsBounded: what is not used goes, longest unused first, what is used stays, and what went comes back when it is wanted.
func TestLoadedIsBounded(t *testing.T) {
	const most, n = 3, 7
	only(t, most)
	b := builder(t)
	held, err := b.Build(context.Background(), adds(0))
	if err != nil {
		t.Fatal(err)
	}
	base := func(p string) string { return filepath.Base(p) }
	var last []string
	for k := 1; k < n; k++ {
		lib, err := b.Build(context.Background(), adds(k))
		if err != nil {
			t.Fatal(err)
		}
		if got := call(lib, 100); got != int64(100+k) {
			t.Errorf("kernel %d gave %d", k, got)
		}
		last = append(last, base(lib.Path))
		runtime.KeepAlive(lib)
		collected(libraries, 1)
	}
	got := mapped(t, b.Dir)
	if len(got) != most {
		t.Errorf("%d of %d libraries are mapped, want %d", len(got), n, most)
	}
	for p := range got {
		if name := base(p); name != base(held.Path) && name != last[len(last)-1] && name != last[len(last)-2] {
			t.Errorf("%s is loaded, although others were used later", name)
		}
	}
	if got := call(held, 5); got != 5 {
		t.Errorf("the kernel that was held gave %d", got)
	}
	for k := 1; k < n; k++ {
		lib, err := b.Build(context.Background(), adds(k))
		if err != nil {
			t.Fatal(err)
		}
		if got := call(lib, 10); got != int64(10+k) {
			t.Errorf("kernel %d gave %d after it had been unloaded", k, got)
		}
	}
	runtime.KeepAlive(held)
}

// TestLoadedHoldsWhatIsUsed: more libraries in use than the bound are all kept, and go down to it when their users go.
func TestLoadedHoldsWhatIsUsed(t *testing.T) {
	const most, n = 2, 5
	only(t, most)
	b := builder(t)
	func() {
		libs := make([]*Library, n)
		for k := range libs {
			var err error
			if libs[k], err = b.Build(context.Background(), adds(k)); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		for k, lib := range libs {
			if got := call(lib, 1); got != int64(1+k) {
				t.Errorf("kernel %d gave %d", k, got)
			}
		}
		if got := len(mapped(t, b.Dir)); got != n {
			t.Errorf("%d libraries are mapped, want %d", got, n)
		}
		runtime.KeepAlive(libs)
	}()
	collected(libraries, 0)
	if got := len(mapped(t, b.Dir)); got != most {
		t.Errorf("%d libraries are mapped when nobody uses one, want %d", got, most)
	}
}

// TestLoadedByMany: goroutines that load, call and drop the same few libraries, with room for fewer, get right results.
func TestLoadedByMany(t *testing.T) {
	only(t, 2)
	b := builder(t)
	p := pool.New().WithErrors()
	for g := range 4 {
		p.Go(func() error {
			for i := range 40 {
				k := (g + i) % 5
				lib, err := b.Build(context.Background(), adds(k))
				if err != nil {
					return err
				}
				if got := call(lib, 1); got != int64(1+k) {
					return fmt.Errorf("kernel %d gave %d", k, got)
				}
				if i%8 == 0 {
					runtime.GC()
				}
			}
			return nil
		})
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
	collected(libraries, 0)
	if got := len(mapped(t, b.Dir)); got > 2 {
		t.Errorf("%d libraries are mapped", got)
	}
}
