package parallel

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc/panics"
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

const (
	// parts is into how many parts per thread a range is cut, so that a thread that starts late or is interrupted holds up the others little.
	parts = 4
	// linger is how long a helper looks for the next job before it sleeps. To wake one takes longer than most operators do.
	linger = 200 * time.Microsecond
)

// For calls f for disjoint parts [lo, hi) of 0 to n-1, several at once, each of at least grain where n allows, and returns when all are done.
// Where the parts begin depends on the number of threads: a result must not. Within f, and while another For is under way, it is a plain call.
// A panic in f is raised again, as a *panics.Recovered.
func For(n, grain int, f func(lo, hi int)) {
	grain = max(grain, 1)
	workers := min(Threads(), (n+grain-1)/grain)
	if workers < 2 || !crew.free.TryLock() {
		if n > 0 {
			f(0, n)
		}
		return
	}
	defer crew.free.Unlock()
	size := max(grain, (n+workers*parts-1)/(workers*parts))
	j := &job{f: f, n: n, size: size, over: make(chan struct{})}
	j.left.Store(int64((n + size - 1) / size))
	j.seats.Store(int64(workers - 1))
	crew.start(j, workers-1)
	j.work()
	crew.job.Store(nil)
	j.wait()
	j.f = nil // a helper remembers its last job, and must not keep what f holds
	j.trouble.Repanic()
}

// A job is one range that is shared out.
type job struct {
	f       func(lo, hi int)
	n, size int
	seats   atomic.Int64 // helpers that may still join
	next    atomic.Int64 // where the part begins that is taken next
	left    atomic.Int64 // parts that are not done
	over    chan struct{}
	trouble panics.Catcher
}

// join is work for a helper.
func (j *job) join() {
	if j.seats.Add(-1) >= 0 {
		j.work()
	}
}

// work takes parts until none is left. Who comes late finds none.
func (j *job) work() {
	for {
		hi := int(j.next.Add(int64(j.size)))
		lo := hi - j.size
		if lo >= j.n {
			return
		}
		j.trouble.Try(func() { j.f(lo, min(hi, j.n)) })
		if j.left.Add(-1) == 0 {
			close(j.over)
		}
	}
}

// wait returns when the parts that others took are done, which is soon.
func (j *job) wait() {
	for begin := time.Now(); time.Since(begin) < linger; pause() {
		if j.left.Load() == 0 {
			return
		}
	}
	<-j.over
}

// crew is the helpers of this process: goroutines that live on, since starting one on another thread takes longer than most operators do.
var crew helpers

type helpers struct {
	free    sync.Mutex // held by the For that has the helpers
	job     atomic.Pointer[job]
	sleeper []chan *job // of each helper: where it sleeps
}

// start gives j to n helpers.
func (c *helpers) start(j *job, n int) {
	for len(c.sleeper) < n {
		wake := make(chan *job)
		c.sleeper = append(c.sleeper, wake)
		go c.help(wake)
	}
	c.job.Store(j)
	for _, wake := range c.sleeper[:n] {
		select {
		case wake <- j:
		default: // awake
		}
	}
}

// help works on jobs, and sleeps when there was none for a while.
func (c *helpers) help(wake chan *job) {
	var last *job
	for {
		for begin := time.Now(); time.Since(begin) < linger; pause() {
			if j := c.job.Load(); j != nil && j != last {
				j.join()
				last, begin = j, time.Now()
			}
		}
		last = <-wake
		last.join()
	}
}
