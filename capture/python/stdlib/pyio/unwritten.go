package pyio

import (
	"maps"
	"runtime"
	"weak"

	"golang.org/x/sys/unix"

	"whittle/capture/python/vm"
)

// holder is a file with data that was written to it and that the file beneath has not got yet.
type holder interface {
	pass(in *vm.Interp) error   // passes the data on, as flush does
	end(in *vm.Interp)          // passes it on and closes, as nothing refers to the file
	file() (fileIdentity, bool) // what is at the bottom, if that is a file
}

// unwritten are the files that hold something back, so that it is not lost with them.
type unwritten map[holder]weak.Pointer[vm.Instance]

// flush passes everything on: the program ends. Text goes into buffers, and these are then flushed in turn.
func (u unwritten) flush(in *vm.Interp) error {
	var first error
	for range 3 {
		for h := range maps.Clone(u) {
			if err := h.pass(in); err != nil && first == nil && !isErr(err, in, in.Exc.ValueError) {
				first = err
			}
			delete(u, h)
		}
	}
	return first
}

// collect ends the files that nothing refers to any more.
func (u unwritten) collect(in *vm.Interp, is func(h holder) bool) {
	if len(u) == 0 {
		return
	}
	var found []holder
	for h := range u {
		if is(h) {
			found = append(found, h)
		}
	}
	if len(found) == 0 {
		return
	}
	runtime.GC()
	for _, h := range found {
		if u[h].Value() == nil {
			delete(u, h)
			h.end(in)
		}
	}
}

// collectFor is collect for a file that is about to be read.
func (u unwritten) collectFor(in *vm.Interp, path string) {
	if len(u) == 0 {
		return
	}
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return
	}
	want := identityOf(&st)
	u.collect(in, func(h holder) bool {
		id, ok := h.file()
		return ok && id == want
	})
}

// Collect flushes and closes the files that hold something back and that nothing refers to any more: a part of gc.collect().
func Collect(in *vm.Interp) {
	if m, ok := in.Ext[moduleKey{}].(*module); ok {
		m.unwritten.collect(in, func(holder) bool { return true })
	}
}
