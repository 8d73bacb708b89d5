package parallel

import (
	"os"
	"runtime"
	"strconv"
	"sync/atomic"

	"github.com/sourcegraph/conc"
)

// threads is what Set has set, 0 for the default. Like PyTorch's it is one number for the process.
var threads atomic.Int64

// Set sets how many threads one operator may use, like torch.set_num_threads. n below 1 restores the default.
func Set(n int) { threads.Store(int64(max(n, 0))) }

// Threads is how many threads one operator may use: what Set says, else $OMP_NUM_THREADS, else as many as run at once.
func Threads() int {
	if n := threads.Load(); n > 0 {
		return int(n)
	}
	if n, err := strconv.Atoi(os.Getenv("OMP_NUM_THREADS")); err == nil && n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// parts is into how many parts per thread a range is cut, so that a thread that starts late or is interrupted holds up the others little.
const parts = 4

// For calls f for disjoint parts [lo, hi) of 0 to n-1, several at once, each of at least grain where n allows, and returns when all are done.
// Where the parts begin depends on the number of threads: a result must not.
func For(n, grain int, f func(lo, hi int)) {
	grain = max(grain, 1)
	workers := min(Threads(), (n+grain-1)/grain)
	if workers < 2 {
		if n > 0 {
			f(0, n)
		}
		return
	}
	size := max(grain, (n+workers*parts-1)/(workers*parts))
	var next atomic.Int64
	work := func() {
		for {
			hi := int(next.Add(int64(size)))
			lo := hi - size
			if lo >= n {
				return
			}
			f(lo, min(hi, n))
		}
	}
	var wg conc.WaitGroup
	defer wg.Wait()
	for range workers - 1 {
		wg.Go(work)
	}
	work()
}
