package pyio

import (
	"unsafe"

	"whittle/capture/python/vm"
)

// bytesOf is the memory of an object with a buffer, which must not be changed or kept.
func bytesOf(in *vm.Interp, o vm.Object) ([]byte, error) {
	switch x := o.(type) {
	case vm.Bytes:
		return unsafe.Slice(unsafe.StringData(string(x)), len(x)), nil
	case *vm.ByteArray:
		return x.B, nil
	}
	if b, ok := vm.AsBytes(o); ok {
		return b, nil
	}
	return nil, in.Errorf(in.Exc.TypeError, "a bytes-like object is required, not '%s'", vm.TypeName(o))
}

// memoryOf is the memory of an object that is to be written to.
func memoryOf(in *vm.Interp, o vm.Object, method string) ([]byte, error) {
	if b, ok := vm.WritableBytes(o); ok {
		return b, nil
	}
	return nil, in.Errorf(in.Exc.TypeError, "%s() argument must be read-write bytes-like object, not %s", method, vm.ArgName(o))
}

// ownBytes is a bytes object of memory that nobody changes any more.
func ownBytes(b []byte) vm.Bytes { return vm.Bytes(unsafe.String(unsafe.SliceData(b), len(b))) }

// ownText is the same as text.
func ownText(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// textBytes are the bytes of a text, which must not be changed.
func textBytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// view is a memoryview of a buffer, for a method of a class that Python code made.
func view(b []byte, readonly bool) *vm.MemoryView {
	return vm.NewMemoryView(&vm.ByteArray{B: b}, b, 'B', readonly)
}
