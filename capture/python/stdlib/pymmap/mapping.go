package pymmap

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"weak"

	"golang.org/x/sys/unix"

	"whittle/capture/python/vm"
)

// How the memory may be used: mmap's argument access.
const (
	accessDefault = iota
	accessRead
	accessWrite
	accessCopy
)

var accessNames = [...]string{"ACCESS_DEFAULT", "ACCESS_READ", "ACCESS_WRITE", "ACCESS_COPY"}

// mapping is the memory of a mmap, which is an instance with this as its Native.
type mapping struct {
	self    *vm.Instance
	data    []byte // nil once it is closed
	fd      int    // a descriptor of its own; -1 for nameless memory
	offset  int64
	access  int
	pos     int
	exports []weak.Pointer[export]
}

// export is what a view of the memory holds.
type export struct{ _ *mapping }

// Type implements vm.Object.
func (m *mapping) Type() *vm.Type { return m.self.Type() }

// Memory implements vm.Memory.
func (m *mapping) Memory() []byte { return m.data }

// View implements vm.Buffer.
func (m *mapping) View() *vm.MemoryView {
	v := vm.NewMemoryView(m.self, m.data, 'B', m.access == accessRead)
	e := &export{m}
	v.Hold(e)
	m.exports = append(m.exports, weak.Make(e))
	return v
}

// viewed reports whether a view of the memory is in use.
func (m *mapping) viewed() bool {
	alive := func() bool {
		m.exports = slices.DeleteFunc(m.exports, func(p weak.Pointer[export]) bool { return p.Value() == nil })
		return len(m.exports) > 0
	}
	if !alive() {
		return false
	}
	runtime.GC() // nobody counts who refers to a view
	return alive()
}

// open raises if the memory is closed.
func (m *mapping) open(in *vm.Interp) error {
	if m.data == nil {
		return in.Errorf(in.Exc.ValueError, "mmap closed or invalid")
	}
	return nil
}

// writable raises if the memory is not to be written.
func (m *mapping) writable(in *vm.Interp) error {
	if m.access == accessRead {
		return in.Errorf(in.Exc.TypeError, "mmap can't modify a readonly memory map.")
	}
	return nil
}

// close gives the memory back.
func (m *mapping) close(in *vm.Interp) error {
	if m.data == nil {
		return nil
	}
	if m.viewed() {
		return in.Errorf(in.Exc.BufferError, "cannot close exported pointers exist")
	}
	err := unix.Munmap(m.data)
	m.data = nil
	if m.fd >= 0 {
		_ = unix.Close(m.fd)
		m.fd = -1
	}
	if err != nil {
		return vm.NewOSError(in, err)
	}
	return nil
}

// resize makes the memory, and the file that it is of, longer or shorter.
func (m *mapping) resize(in *vm.Interp, size int64) error {
	switch {
	case m.viewed():
		return in.Errorf(in.Exc.BufferError, "mmap can't resize with extant buffers exported.")
	case m.access == accessRead || m.access == accessCopy:
		return in.Errorf(in.Exc.TypeError, "mmap can't resize a readonly or copy-on-write memory map.")
	case size < 0 || m.offset > 1<<62-size:
		return in.Errorf(in.Exc.ValueError, "new size out of range")
	}
	if m.fd >= 0 {
		if err := unix.Ftruncate(m.fd, m.offset+size); err != nil {
			return vm.NewOSError(in, err)
		}
	}
	data, err := unix.Mremap(m.data, int(size), unix.MREMAP_MAYMOVE)
	if err != nil {
		return vm.NewOSError(in, err)
	}
	m.data = data
	return nil
}

// size is the length of the file. Nameless memory has none.
func (m *mapping) size(in *vm.Interp) (int64, error) {
	var s unix.Stat_t
	if err := unix.Fstat(m.fd, &s); err != nil {
		return 0, vm.NewOSError(in, err)
	}
	return s.Size, nil
}

func (m *mapping) repr(name string) string {
	if m.data == nil {
		return fmt.Sprintf("<%s closed=True>", name)
	}
	return fmt.Sprintf("<%s closed=False, access=%s, length=%d, pos=%d, offset=%d>", name, accessNames[m.access], len(m.data), m.pos, m.offset)
}

// rest is what lies behind the position.
func (m *mapping) rest() []byte { return m.data[min(m.pos, len(m.data)):] }

var pageSize = os.Getpagesize()
