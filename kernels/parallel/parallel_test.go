package parallel

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

func TestForVisitsEachOnce(t *testing.T) {
	defer Set(0)
	for _, threads := range []int{1, 2, 3, 8} {
		Set(threads)
		for _, n := range []int{0, 1, 2, 7, 100, 1001} {
			for _, grain := range []int{0, 1, 10, 5000} {
				seen := make([]atomic.Int32, n)
				For(n, grain, func(lo, hi int) {
					if lo >= hi {
						t.Errorf("empty part %d:%d", lo, hi)
					}
					for i := lo; i < hi; i++ {
						seen[i].Add(1)
					}
				})
				for i := range seen {
					if k := seen[i].Load(); k != 1 {
						t.Fatalf("threads %d, n %d, grain %d: %d was visited %d times", threads, n, grain, i, k)
					}
				}
			}
		}
	}
}

// A panic in a part reaches the caller.
func TestForPanics(t *testing.T) {
	defer Set(0)
	Set(4)
	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "part 7") {
			t.Errorf("recovered %v", r)
		}
	}()
	For(100, 1, func(lo, hi int) {
		if lo <= 7 && 7 < hi {
			panic("part 7")
		}
	})
}

func TestThreads(t *testing.T) {
	defer Set(0)
	t.Setenv("OMP_NUM_THREADS", "3")
	if n := Threads(); n != 3 {
		t.Errorf("of the environment: %d", n)
	}
	Set(5)
	if n := Threads(); n != 5 {
		t.Errorf("set: %d", n)
	}
}
