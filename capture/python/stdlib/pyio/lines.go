package pyio

import "whittle/capture/python/vm"

// The methods __next__, and what for loops call in their place: the next line, nil at the end.

// nextLine adds __next__ to a class. lines reads a line of an object of exactly this class; other objects may have another method readline,
// whose results must be of type kind.
func nextLine[T any](c *class[T], empty vm.Object, kind string, exact func(self *vm.Instance, x T) bool, line func(in *vm.Interp, x T) (vm.Object, error)) {
	c.def("__next__", 0, 0, func(in *vm.Interp, self *vm.Instance, x T, _ []vm.Object) (vm.Object, error) {
		if exact(self, x) {
			v, err := line(in, x)
			if v == nil && err == nil {
				err = stop(in)
			}
			return v, err
		}
		v, err := in.CallMethod(self, "readline")
		if err != nil {
			return nil, err
		}
		if v.Type() != empty.Type() {
			return nil, in.Errorf(in.Exc.OSError, "readline() should have returned a %s object, not '%s'", kind, vm.TypeName(v))
		}
		if v == empty {
			return nil, stop(in)
		}
		return v, nil
	})
}

// line is the next line of bytes.
func (b *buffered) line(in *vm.Interp) (vm.Object, error) {
	v, err := b.lineChecked(in, -1)
	if err != nil || v == "" {
		return nil, err
	}
	return v, nil
}

func (b *buffered) exactly(self *vm.Instance) bool {
	return self.Class == b.m.reader || self.Class == b.m.random
}

// NextOf implements vm.NativeIterator, here and below.
func (b *buffered) NextOf(in *vm.Interp, self *vm.Instance) (vm.Object, bool, error) {
	if !b.exactly(self) {
		return nil, false, nil
	}
	v, err := b.line(in)
	return v, true, err
}

// line is the next line of text. Until the end there is no telling where the file is.
func (t *textIO) line(in *vm.Interp) (vm.Object, error) {
	if err := t.check(in); err != nil {
		return nil, err
	}
	t.telling = false
	s, err := t.readLine(in, -1)
	if err != nil {
		return nil, err
	}
	if s == "" {
		t.snapshot, t.telling = false, t.seekable
		return nil, nil
	}
	return vm.Str(s), nil
}

func (t *textIO) NextOf(in *vm.Interp, self *vm.Instance) (vm.Object, bool, error) {
	if self.Class != t.m.text {
		return nil, false, nil
	}
	v, err := t.line(in)
	return v, true, err
}

func (s *stringIO) NextOf(in *vm.Interp, self *vm.Instance) (vm.Object, bool, error) {
	if self.Class != s.m.stringIO {
		return nil, false, nil
	}
	v, err := s.nextLine(in)
	return v, true, err
}

// nextLine is the next line of text.
func (s *stringIO) nextLine(in *vm.Interp) (vm.Object, error) {
	if err := s.check(in); err != nil {
		return nil, err
	}
	if v := s.line(-1); v != vm.Str("") {
		return v, nil
	}
	return nil, nil
}

func (b *bytesIO) NextOf(in *vm.Interp, self *vm.Instance) (vm.Object, bool, error) {
	if self.Class != b.m.bytesIO {
		return nil, false, nil
	}
	v, err := b.nextLine(in)
	return v, true, err
}

// nextLine is the next line of bytes.
func (b *bytesIO) nextLine(in *vm.Interp) (vm.Object, error) {
	if err := b.check(in); err != nil {
		return nil, err
	}
	if line := b.line(-1); len(line) > 0 {
		return vm.Bytes(line), nil
	}
	return nil, nil
}
