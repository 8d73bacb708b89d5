package pyio

import (
	"bytes"

	"whittle/capture/python/vm"
)

// readAll reads to the end; nil, false if there is nothing yet.
func (b *buffered) readAll(in *vm.Interp) (data []byte, ok bool, err error) {
	data = bytes.Clone(b.take(len(b.unread())))
	if err := b.flush(in); err != nil {
		return nil, false, err
	}
	if b.raw.plain() {
		rest, ok, err := b.raw.own.readRest(in)
		if err != nil {
			return nil, false, err
		}
		if len(data) == 0 {
			return rest, ok, nil
		}
		return append(data, rest...), true, nil
	}
	v, err := b.readRestBy(in)
	if err != nil {
		return nil, false, err
	}
	if v == vm.None {
		return data, len(data) > 0, nil
	}
	rest, isBytes := v.(vm.Bytes)
	if !isBytes {
		return nil, false, in.Errorf(in.Exc.TypeError, "readall() should return bytes")
	}
	return append(data, rest...), true, nil
}

// readRestBy reads the rest by the methods of the raw object.
func (b *buffered) readRestBy(in *vm.Interp) (vm.Object, error) {
	readall, err := in.GetAttrOpt(b.raw.obj, "readall")
	if err != nil {
		return nil, err
	}
	if readall == nil {
		return readAllBy(in, b.raw.obj)
	}
	return in.Call(readall, nil, nil)
}

// readUpTo fills p as far as it can; -1 if there is nothing yet.
func (b *buffered) readUpTo(in *vm.Interp, p []byte) (int, error) {
	n := copy(p, b.unread())
	b.r += n
	if n == len(p) {
		return n, nil
	}
	if err := b.flush(in); err != nil {
		return 0, err
	}
	for n < len(p) {
		var k int
		var err error
		if whole := len(p) - n; whole >= b.size {
			k, err = b.raw.readInto(in, p[n:n+whole-whole%b.size])
			n += max(k, 0)
		} else if k, err = b.fill(in); err == nil && k > 0 {
			got := copy(p[n:], b.unread())
			b.r += got
			n += got
		}
		if err != nil {
			return 0, err
		}
		if k == 0 || k < 0 && n > 0 {
			return n, nil
		}
		if k < 0 {
			return -1, nil
		}
	}
	return n, nil
}

// read1 reads into p with at most one read of the raw object.
func (b *buffered) read1(in *vm.Interp, p []byte) (int, error) {
	if n := copy(p, b.unread()); n > 0 || len(p) == 0 {
		b.r += n
		return n, nil
	}
	if err := b.flush(in); err != nil {
		return 0, err
	}
	n, err := b.raw.readInto(in, p)
	return max(n, 0), err
}

// readLine reads a line of at most limit bytes, of any length for a negative one.
func (b *buffered) readLine(in *vm.Interp, limit int) ([]byte, error) {
	var line []byte
	for {
		ahead := b.unread()
		if limit >= 0 {
			ahead = ahead[:min(len(ahead), limit-len(line))]
		}
		i := bytes.IndexByte(ahead, '\n') + 1
		if i == 0 {
			i = len(ahead)
		}
		line = append(line, b.take(i)...)
		if i > 0 && line[len(line)-1] == '\n' || limit >= 0 && len(line) >= limit {
			return line, nil
		}
		if len(b.wbuf) > 0 {
			if err := b.flush(in); err != nil {
				return nil, err
			}
		}
		if n, err := b.fill(in); n <= 0 || err != nil {
			return line, err
		}
	}
}

// lineChecked is the method readline.
func (b *buffered) lineChecked(in *vm.Interp, limit int) (vm.Bytes, error) {
	if err := b.check(in, "readline"); err != nil {
		return "", err
	}
	if err := b.enter(in); err != nil {
		return "", err
	}
	defer b.leave()
	if i := bytes.IndexByte(b.unread(), '\n') + 1; i > 0 && (limit < 0 || i <= limit) {
		return b.give(i), nil
	}
	line, err := b.readLine(in, limit)
	if err != nil {
		return "", err
	}
	return ownBytes(line), nil
}

// read1Checked is read1 for text files.
func (b *buffered) read1Checked(in *vm.Interp, p []byte) (int, error) {
	if err := b.check(in, "read"); err != nil {
		return 0, err
	}
	if err := b.enter(in); err != nil {
		return 0, err
	}
	defer b.leave()
	return b.read1(in, p)
}

// readChecked is the method read.
func (b *buffered) readChecked(in *vm.Interp, n int) (vm.Object, error) {
	if n < -1 {
		return nil, in.Errorf(in.Exc.ValueError, "read length must be non-negative or -1")
	}
	if err := b.check(in, "read"); err != nil {
		return nil, err
	}
	if err := b.enter(in); err != nil {
		return nil, err
	}
	defer b.leave()
	if n < 0 {
		data, ok, err := b.readAll(in)
		if err != nil || !ok {
			return vm.None, err
		}
		return ownBytes(data), nil
	}
	if n > 1<<40 {
		return nil, in.RaiseObj(in.Exc.MemoryError)
	}
	if n > 0 && n <= len(b.unread()) {
		return b.give(n), nil
	}
	p := make([]byte, n)
	k, err := b.readUpTo(in, p)
	if err != nil || k < 0 {
		return vm.None, err
	}
	return ownBytes(p[:k]), nil
}

// bufferedReads are the methods of the classes that read.
func bufferedReads(c *class[*buffered]) {
	c.def("read", 0, 1, func(in *vm.Interp, _ *vm.Instance, b *buffered, a []vm.Object) (vm.Object, error) {
		n, err := size(in, a)
		if err != nil {
			return nil, err
		}
		return b.readChecked(in, n)
	})
	c.def("read1", 0, 1, func(in *vm.Interp, _ *vm.Instance, b *buffered, a []vm.Object) (vm.Object, error) {
		n := -1
		if len(a) > 0 {
			k, err := in.Index(a[0])
			if err != nil {
				return nil, err
			}
			n = int(k)
		}
		if err := b.usable(in); err != nil {
			return nil, err
		}
		if n < 0 {
			n = b.size
		}
		p := make([]byte, n)
		if n, err := b.read1Checked(in, p); err == nil {
			return ownBytes(p[:n]), nil
		} else {
			return nil, err
		}
	})
	c.def("peek", 0, 1, func(in *vm.Interp, _ *vm.Instance, b *buffered, _ []vm.Object) (v vm.Object, err error) {
		if err := b.check(in, "peek"); err != nil {
			return nil, err
		}
		err = b.within(in, func() error {
			if len(b.unread()) == 0 {
				if err := b.flush(in); err != nil {
					return err
				}
				if _, err := b.fill(in); err != nil {
					return err
				}
			}
			v = vm.Bytes(b.unread())
			return nil
		})
		return v, err
	})
	c.def("readline", 0, 1, func(in *vm.Interp, _ *vm.Instance, b *buffered, a []vm.Object) (vm.Object, error) {
		n, err := size(in, a)
		if err != nil {
			return nil, err
		}
		return b.lineChecked(in, n)
	})
	nextLine(c, vm.Bytes(""), "bytes", func(self *vm.Instance, b *buffered) bool { return b.exactly(self) }, func(in *vm.Interp, b *buffered) (vm.Object, error) { return b.line(in) })
	for name, once := range map[string]bool{"readinto": false, "readinto1": true} {
		c.def(name, 1, 1, func(in *vm.Interp, _ *vm.Instance, b *buffered, a []vm.Object) (v vm.Object, err error) {
			p, err := memoryOf(in, a[0], name)
			if err != nil {
				return nil, err
			}
			if err := b.check(in, "readinto"); err != nil {
				return nil, err
			}
			err = b.within(in, func() error {
				var n int
				if once {
					n, err = b.readOnce(in, p)
				} else {
					n, err = b.readUpTo(in, p)
				}
				v, err = count(n, err)
				return err
			})
			return v, err
		})
	}
}

// readOnce fills p with at most one read of the raw object. It reads more than the buffer has only where that need not go through the buffer.
func (b *buffered) readOnce(in *vm.Interp, p []byte) (int, error) {
	had := copy(p, b.unread())
	b.r += had
	rest := p[had:]
	if len(rest) == 0 || had > 0 && len(rest) <= b.size {
		return had, nil
	}
	if err := b.flush(in); err != nil {
		return 0, err
	}
	var n int
	var err error
	if len(rest) > b.size {
		n, err = b.raw.readInto(in, rest)
	} else if n, err = b.fill(in); n > 0 {
		n = copy(rest, b.unread())
		b.r += n
	}
	if had > 0 {
		n = max(n, 0) + had
	}
	return n, err
}
