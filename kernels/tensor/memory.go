package tensor

import (
	"math/bits"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// keep is the size in bytes from which memory is kept for other tensors: what is smaller costs less to allocate than to remember.
	keep = 1 << 16
	// spend is how many bytes of kept memory may be handed out before the collector is asked for those that nobody holds any more.
	spend = 128 << 20
	// rest is how many collections memory may lie unused before it is given back.
	rest = 3
)

// heap is the memory that large tensors have left behind. New memory costs more than most operators on it: it is zeroed, and each page of it is a
// fault. A buffer comes back by a finalizer on itself, so that whatever points into it, a storage or a slice of one, keeps it from being used
// again. Its state is seen by nobody: it is an allocator.
var heap = &memory{free: map[int][]block{}}

type memory struct {
	mu         sync.Mutex
	free       map[int][]block // by size
	spent      int64           // bytes handed out since the last collection
	collecting bool
	watched    bool // a watch is set
	round      int  // collections so far
	cleared    int  // blocks that were cleared for blank storages since one came back written; 0 while none has, or it is time to try again
}

type block struct {
	buf   []byte
	round int  // of the heap, when it came back
	blank bool // none of its pages was in use then: it reads as zeros
}

// A watch is garbage from the start: its finalizer tells that a collection is over.
type watch struct{ m *memory }

// class rounds n up to one of four sizes per power of two, so that memory of about the right size fits.
func class(n int) int {
	step := 1 << max(bits.Len(uint(n-1))-3, 0)
	return (n + step - 1) / step * step
}

// take is a buffer of at least n bytes, which comes back when nobody holds it; dirty says that it may hold anything, otherwise it is zero.
func (m *memory) take(n int) (buf []byte, dirty bool) {
	buf, dirty = m.borrow(n)
	m.lend(buf, false)
	return buf, dirty
}

// lend has a buffer come back when nobody holds it.
func (m *memory) lend(buf []byte, blank bool) {
	size := len(buf)
	m.mu.Lock()
	m.watch()
	m.spent += int64(size)
	if m.spent > spend && !m.collecting {
		m.collecting = true
		go runtime.GC()
	}
	m.mu.Unlock()
	runtime.SetFinalizer(unsafe.SliceData(buf), func(p *byte) { m.put(unsafe.Slice(p, size), blank) })
}

// borrow is take for who puts the buffer back.
func (m *memory) borrow(n int) (buf []byte, dirty bool) {
	size := class(n)
	m.mu.Lock()
	b := m.found(size, false)
	m.mu.Unlock()
	if b.buf != nil {
		return b.buf, true
	}
	buf = make([]byte, size)
	LargePages(buf)
	return buf, false
}

// found takes a block of about that size out, the last that came back; rather one that is blank, or that is not. Its buf is nil where there is none.
func (m *memory) found(size int, blank bool) (b block) {
	for s := size; s <= 2*size; s = class(s + 1) { // what is larger serves better than what is new
		l := m.free[s]
		if len(l) == 0 {
			continue
		}
		at := len(l) - 1
		for i := at; i >= 0; i-- {
			if l[i].blank == blank {
				at = i
				break
			}
		}
		b = l[at]
		copy(l[at:], l[at+1:])
		l[len(l)-1] = block{}
		m.free[s] = l[:len(l)-1]
		break
	}
	return b
}

// largePage is the size of a large page of the processors that Linux has them on by default.
const largePage = 2 << 20

// LargePages asks the system to back the part of buf that large pages fit in by such pages, in what of it is not in use yet: one fault where
// there were 512, and fewer misses when it is read across. It is advice, and a system that has no such pages goes on without.
func LargePages(buf []byte) {
	if len(buf) < largePage {
		return
	}
	p := unsafe.Pointer(unsafe.SliceData(buf))
	skip := int(-uintptr(p) & (largePage - 1))
	if n := (len(buf) - skip) &^ (largePage - 1); n > 0 {
		_ = unix.Madvise(buf[skip:skip+n], unix.MADV_HUGEPAGE)
	}
}

// Room is n elements of memory for the course of a kernel, which may hold anything. done gives it back: nothing may point into it then.
func Room[T float32 | float64 | int64](n int64) (room []T, done func()) {
	var z T
	size := int(n) * int(unsafe.Sizeof(z))
	if size < keep {
		return make([]T, n), func() {}
	}
	buf, _ := heap.borrow(size)
	poison(buf)
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(buf))), n), func() { poison(buf); heap.put(buf, false) }
}

// back is put of what take gave, by who had it.
func (m *memory) back(buf []byte, blank bool) {
	runtime.SetFinalizer(unsafe.SliceData(buf), nil)
	m.mu.Lock()
	m.spent -= int64(len(buf))
	m.mu.Unlock()
	m.put(buf, blank)
}

// put takes a buffer back, of which blank says that it was lent as one without pages.
func (m *memory) put(buf []byte, blank bool) {
	wasBlank := blank
	blank = blank && unused(buf)
	m.mu.Lock()
	defer m.mu.Unlock()
	if wasBlank {
		m.cleared = 0
		if !blank {
			m.cleared = 1
		}
	}
	m.watch()
	m.free[len(buf)] = append(m.free[len(buf)], block{buf, m.round, blank})
}

// collected lets go of what was not used for long, and waits for the next collection while anything is kept.
func (w *watch) collected() {
	m := w.m
	m.mu.Lock()
	defer m.mu.Unlock()
	m.collecting, m.spent = false, 0
	m.round++
	for size, l := range m.free {
		n := 0
		for n < len(l) && l[n].round+rest < m.round { // the oldest are first, and the last is used first
			l[n] = block{}
			n++
		}
		if m.free[size] = l[n:]; n == len(l) {
			delete(m.free, size)
		}
	}
	if m.watched = false; len(m.free) > 0 {
		m.watch()
	}
}

// watch waits for the next collection.
func (m *memory) watch() {
	if !m.watched {
		m.watched = true
		runtime.SetFinalizer(&watch{m}, (*watch).collected)
	}
}

// NewStorage allocates nbytes of zeros, 64-byte aligned.
func NewStorage(nbytes int64) *Storage {
	s, dirty := storage(nbytes)
	if dirty {
		clearAll(s.Data)
	}
	return s
}

// NewStorageUnset is NewStorage whose bytes may be anything: for those who write all of them before anybody reads one. A build may have
// them filled with garbage: see poison.
func NewStorageUnset(nbytes int64) *Storage {
	s, _ := storage(nbytes)
	poison(s.Data)
	return s
}

// Recycle gives a storage's memory back at once, for those who know that nobody else has the storage, or a slice of it: the next tensor finds
// it in the cache. The storage has no data from then on.
func (s *Storage) Recycle() {
	if s.block == nil {
		return
	}
	poison(s.Data)
	heap.back(s.block, s.blank)
	s.Data, s.block, s.blank = nil, nil, false
}

// Recyclable reports whether there is memory that Recycle gives back.
func (s *Storage) Recyclable() bool { return s.block != nil }

func storage(nbytes int64) (*Storage, bool) {
	if nbytes <= 0 {
		return &Storage{Data: []byte{}}, false
	}
	if nbytes >= keep || poisoned != "" { // large objects begin where a page does
		buf, dirty := heap.take(max(int(nbytes), 1<<12))
		return &Storage{Data: buf[:nbytes:nbytes], NBytes: nbytes, block: buf}, dirty
	}
	buf := make([]byte, nbytes+63)
	off := int64(-uintptr(unsafe.Pointer(&buf[0])) & 63)
	return &Storage{Data: buf[off : off+nbytes : off+nbytes], NBytes: nbytes}, false
}
