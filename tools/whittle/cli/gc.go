package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"unsafe"

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
// spent on faults. Nothing is touched by it, and it is free again when it returns. fill touches the first of it: it is for a goroutine beside
// the one that will want it, as the system clears pages for half as long as importing torch takes.
func roomFirst() (fill func()) {
	debug.SetGCPercent(-1) // one collection is enough to give it back
	room := make([]byte, 96<<20)
	tensor.LargePages(room)
	at := uintptr(unsafe.Pointer(unsafe.SliceData(room)))
	runtime.GC()
	return func() { populate(at, importing) }
}

// importing is how much memory importing torch takes, in bytes.
const importing = 48 << 20

// A turn is garbage from the start: its finalizer tells that a collection is over.
type turn struct{ percent int }

// paceGC lets the heap grow by percent, and by growth at most. A process that runs a program, and does not only wait for one, has room for it; fill
// is as roomFirst's.
func paceGC(program bool) (fill func()) {
	fill = func() {}
	if program {
		fill = roomFirst()
	}
	debug.SetGCPercent(first)
	runtime.SetFinalizer(&turn{first}, (*turn).over)
	return fill
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
