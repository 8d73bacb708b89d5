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

// ended closes a file that nothing refers to any more, and warns if it holds a descriptor. Its errors are nobody's.
func (m *module) ended(in *vm.Interp, self vm.Object) {
	v, err := in.GetAttrOpt(self, "closed")
	if err != nil || v == nil {
		return
	}
	if closed, err := in.Truth(v); err != nil || closed {
		return
	}
	if f := bottom(self); f != nil && f.fd >= 0 && f.closefd {
		if err := warnOf(in, self); err != nil {
			in.Unraisable(err, "", self)
		}
	}
	_, _ = in.CallMethod(self, "close")
}

// bottom is the raw file below a file, nil if it is none of ours.
func bottom(o vm.Object) *fileIO {
	self, ok := o.(*vm.Instance)
	if !ok {
		return nil
	}
	switch x := self.Native.(type) {
	case *fileIO:
		return x
	case *buffered:
		f, _ := x.raw.own.(*fileIO)
		return f
	case *textIO:
		if x.buffer == nil {
			return nil
		}
		return bottom(x.buffer)
	}
	return nil
}

// warnOf issues the ResourceWarning about a file that its program did not close.
func warnOf(in *vm.Interp, self vm.Object) error {
	text, err := in.Repr(self)
	if err != nil {
		return err
	}
	w, err := in.Import("_warnings")
	if err == nil {
		_, err = in.CallMethod(w, "warn", vm.Str("unclosed file "+text), in.Exc.ResourceWarning, vm.MakeInt(1), self)
	}
	return err
}
