package pypickle

import (
	"bytes"

	"whittle/capture/python/vm"
)

// source is where an unpickler reads: bytes that it has, and then a file.
type source struct {
	data     []byte
	at       int
	read     vm.Object // nil: the data is all there is
	readline vm.Object
}

// take gives the next n bytes. What is left of the data but does not suffice is dropped, as CPython does.
func (u *unpickler) take(n int) ([]byte, error) {
	if n <= len(u.data)-u.at {
		u.at += n
		return u.data[u.at-n : u.at], nil
	}
	if u.read == nil {
		return nil, u.truncated()
	}
	p, err := u.fromFile(u.read, vm.MakeInt(int64(n)))
	if err != nil {
		return nil, err
	}
	if len(p) < n {
		return nil, u.truncated()
	}
	u.data, u.at = p, n
	return p[:n], nil
}

// line gives the next line with its newline.
func (u *unpickler) line() ([]byte, error) {
	rest := u.data[u.at:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		u.at += i + 1
		return rest[:i+1], nil
	}
	if u.read == nil {
		return nil, u.truncated()
	}
	p, err := u.fromFile(u.readline)
	if err != nil {
		return nil, err
	}
	if len(p) == 0 || p[len(p)-1] != '\n' {
		return nil, u.truncated()
	}
	u.data, u.at = p, len(p)
	return p, nil
}

// fromFile calls a method of the file that gives bytes.
func (u *unpickler) fromFile(f vm.Object, args ...vm.Object) ([]byte, error) {
	v, err := u.in.Call(f, args, nil)
	if err != nil {
		return nil, err
	}
	if !v.Type().IsSubtype(vm.BytesType) {
		s, err := u.in.Repr(v)
		if err != nil {
			return nil, err
		}
		return nil, u.in.Errorf(u.in.Exc.ValueError, "read() returned non-bytes object (%s)", s)
	}
	p, _ := vm.AsBytes(v)
	return p, nil
}

func (u *unpickler) truncated() error { return u.fail("pickle data was truncated") }
