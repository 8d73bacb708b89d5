package pypickle

import (
	"encoding/binary"
	"fmt"
	"math"

	"whittle/capture/python/vm"
)

// fail raises UnpicklingError.
func (u *unpickler) fail(format string, args ...any) error {
	return u.in.Errorf(u.unpickling, format, args...)
}

// load runs a pickle.
func (u *unpickler) load() (vm.Object, error) {
	u.stack, u.marks, u.proto = nil, nil, 0
	for {
		b, err := u.take(1)
		if err != nil {
			if u.in.Matches(err, u.unpickling) {
				err = u.in.Errorf(u.in.Exc.EOFError, "Ran out of input")
			}
			return nil, err
		}
		code := b[0]
		if code == opStop {
			return u.pop()
		}
		f := loaders[code]
		if f == nil {
			return nil, u.fail("invalid load key, '%s'.", printable(code))
		}
		if err := f(u); err != nil {
			return nil, err
		}
	}
}

func printable(c byte) string {
	if c >= ' ' && c <= '~' && c != '\'' && c != '\\' {
		return string(c)
	}
	return fmt.Sprintf("\\x%02x", c)
}

// fence is the place of the last mark: what lies below is out of reach.
func (u *unpickler) fence() int {
	if n := len(u.marks); n > 0 {
		return u.marks[n-1]
	}
	return 0
}

func (u *unpickler) underflow() error {
	if len(u.marks) > 0 {
		return u.fail("unexpected MARK found")
	}
	return u.fail("unpickling stack underflow")
}

func (u *unpickler) push(o vm.Object) { u.stack = append(u.stack, o) }

func (u *unpickler) pop() (vm.Object, error) {
	n := len(u.stack)
	if n <= u.fence() {
		return nil, u.underflow()
	}
	v := u.stack[n-1]
	u.stack = u.stack[:n-1]
	return v, nil
}

// top is the last object, which stays.
func (u *unpickler) top() (vm.Object, error) {
	if len(u.stack) <= u.fence() {
		return nil, u.underflow()
	}
	return u.stack[len(u.stack)-1], nil
}

// popTo takes the objects from a place on.
func (u *unpickler) popTo(at int) ([]vm.Object, error) {
	if at < u.fence() || at > len(u.stack) {
		return nil, u.underflow()
	}
	items := append([]vm.Object(nil), u.stack[at:]...)
	u.stack = u.stack[:at]
	return items, nil
}

// marker takes the last mark and gives its place.
func (u *unpickler) marker() (int, error) {
	n := len(u.marks)
	if n == 0 {
		return 0, u.fail("could not find MARK")
	}
	at := u.marks[n-1]
	u.marks = u.marks[:n-1]
	return at, nil
}

// marked takes the last mark and what lies above it.
func (u *unpickler) marked() ([]vm.Object, error) {
	at, err := u.marker()
	if err != nil {
		return nil, err
	}
	return u.popTo(at)
}

// number reads an unsigned number of n bytes.
func (u *unpickler) number(n int) (uint64, error) {
	b, err := u.take(n)
	if err != nil {
		return 0, err
	}
	var p [8]byte
	copy(p[:], b)
	return binary.LittleEndian.Uint64(p[:]), nil
}

// sized reads a length of n bytes, and so much data. what names it in errors.
func (u *unpickler) sized(n int, what string) ([]byte, error) {
	size, err := u.number(n)
	if err != nil {
		return nil, err
	}
	if size > math.MaxInt64 {
		return nil, u.in.Errorf(u.in.Exc.OverflowError, "%s exceeds system's maximum size of %d bytes", what, int64(math.MaxInt64))
	}
	if size > mostData {
		return nil, u.in.Errorf(u.in.Exc.OverflowError, "byte string is too large")
	}
	return u.take(int(size))
}

// mostData is the size beyond which CPython makes no bytes.
const mostData = math.MaxInt64 - 64

// text decodes the strings of Python 2.
func (u *unpickler) text(b []byte) (vm.Object, error) {
	if u.encoding == "bytes" {
		return vm.Bytes(b), nil
	}
	s, err := u.in.Decode(b, u.encoding, u.errors)
	return vm.Str(s), err
}

// findClass finds a class or a function.
func (u *unpickler) findClass(mod, name string) (vm.Object, error) {
	in := u.in
	if u.proto < 3 && u.fixImports {
		var err error
		if mod, name, err = u.oldNames(in, mod, name, false); err != nil {
			return nil, err
		}
	}
	m, err := u.importModule(in, mod)
	if err != nil {
		return nil, err
	}
	parts := []string{name}
	if u.proto >= 4 {
		var local bool
		if parts, local = path(name); local {
			return nil, u.noAttr("local attribute", name, m)
		}
	}
	v, _, err := deep(in, m, parts)
	if err == nil && v == nil {
		err = u.noAttr("attribute", name, m)
	}
	return v, err
}

func (u *unpickler) noAttr(what, name string, m vm.Object) error {
	n, err := u.in.Repr(vm.Str(name))
	if err != nil {
		return err
	}
	s, err := u.in.Repr(m)
	if err != nil {
		return err
	}
	return u.in.Errorf(u.in.Exc.AttributeError, "Can't get %s %s on %s", what, n, s)
}

// global asks find_class, which a derived class may have of its own.
func (u *unpickler) global(mod, name vm.Object) (vm.Object, error) {
	if u.self != nil {
		return u.in.CallMethod(u.self, "find_class", mod, name)
	}
	m, _ := vm.AsStr(mod)
	n, _ := vm.AsStr(name)
	return u.findClass(m, n)
}
