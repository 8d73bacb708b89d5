package tensor

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// blankFrom is the size in bytes from which asking the system about pages costs less than clearing them.
	blankFrom = 1 << 18
	// retry is after how many cleared blocks it is tried again whether those who ask for blank ones write to them.
	retry = 32
	page  = 1 << 12
)

// NewStorageBlank is NewStorage for a result that nobody may ever look at, as that of torch.empty: large memory is taken out of use instead of cleared,
// so that it costs its writer a fault a page, and nobody else anything. Where what it gives is written after all, it clears, as NewStorage does.
func NewStorageBlank(nbytes int64) *Storage {
	if nbytes < blankFrom || poisoned != "" {
		return NewStorage(nbytes)
	}
	buf, blank := heap.takeBlank(int(nbytes))
	s := &Storage{Data: buf[:nbytes:nbytes], NBytes: nbytes, block: buf, blank: blank}
	if !blank {
		clearAll(s.Data)
	}
	return s
}

// EmptyBlank is EmptyStrided for a result that nobody may ever look at: see NewStorageBlank.
func EmptyBlank(d DType, shape, stride []int64) *Tensor {
	return &Tensor{Storage: NewStorageBlank(extent(shape, stride) * int64(d.Size())), DType: d, Shape: cloneDims(shape), Stride: cloneDims(stride)}
}

// takeBlank is take of a buffer that is zero where blank, since no page of it is in use; else it may hold anything.
func (m *memory) takeBlank(n int) (buf []byte, blank bool) {
	size := class(n)
	m.mu.Lock()
	b := m.found(size, true)
	try := m.cleared == 0 || m.cleared > retry
	if b.buf != nil && !b.blank && !try {
		m.cleared++
	}
	m.mu.Unlock()
	switch {
	case b.buf == nil:
		b.buf, b.blank = make([]byte, size), true
		LargePages(b.buf)
	case !b.blank && try:
		b.blank = discard(b.buf)
	}
	m.lend(b.buf, b.blank)
	return b.buf, b.blank
}

// discard has the system take the pages of buf back, which is zero then. It reports whether it could.
func discard(buf []byte) bool {
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(buf))) & (page - 1))
	n := (len(buf) - skip) &^ (page - 1)
	if n <= 0 || unix.Madvise(buf[skip:skip+n], unix.MADV_DONTNEED) != nil {
		return false
	}
	clear(buf[:skip])
	clear(buf[skip+n:])
	return true
}

// unused reports whether buf is zero since no page of it is in use. Where its first page is not, which is where who writes begins, what else is in use is
// given back: the system does that faster than it says whether anything is.
func unused(buf []byte) bool {
	var in [1]byte
	p := unsafe.Pointer(unsafe.SliceData(buf))
	if uintptr(p)&(page-1) != 0 {
		return false
	}
	_, _, err := unix.Syscall(unix.SYS_MINCORE, uintptr(p), page, uintptr(unsafe.Pointer(&in[0])))
	return err == 0 && in[0]&1 == 0 && discard(buf)
}
