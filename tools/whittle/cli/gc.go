package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"whittle/capture/pace"
	"whittle/kernels/tensor"
)

const (
	// percent is how far the heap may grow between collections, of what lives: a program's own objects are small, and tensors come and go in
	// megabytes.
	percent = 400
	// growth bounds it in bytes. Memory that was never used before is the slowest there is.
	growth = 256 << 20
	// first is the percentage until the first collection, which so comes at 96 MB: a short program has none, though it imports torch.
	first = pace.First
)

// roomFirst has the memory until the first collection in one piece, for which large pages are asked: most of what a short program takes is
// spent on faults. Nothing is touched by it, and it is free again when it returns.
func roomFirst() {
	tensor.LargePages(make([]byte, 96<<20))
	runtime.GC()
}

// A turn is garbage from the start: its finalizer tells that a collection is over.
type turn struct{ percent int }

// paceGC lets the heap grow by percent, and by growth at most. A process that runs a program, and does not only wait for one, has room for it.
func paceGC(program bool) {
	if program {
		roomFirst()
	}
	debug.SetGCPercent(first)
	runtime.SetFinalizer(&turn{first}, (*turn).over)
}

func (t *turn) over() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	p := percent
	if live[0].Value.Kind() == metrics.KindUint64 {
		p = percentFor(live[0].Value.Uint64())
	}
	if p != t.percent {
		debug.SetGCPercent(p)
	}
	runtime.SetFinalizer(&turn{p}, (*turn).over)
}

// percentFor is the percentage for a heap of which so many bytes live.
func percentFor(live uint64) int {
	return int(min(percent, max(20, growth*100/max(live, 1))))
}
