package pyio

import (
	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// pair is what a BufferedRWPair holds: two buffers, one to read from and one to write to.
type pair struct{ reader, writer vm.Object }

// makePair makes BufferedRWPair.
func (m *module) makePair(in *vm.Interp) *vm.Type {
	c := newClass(m, "BufferedRWPair", m.bufferedBase, func() *pair { return &pair{} })
	c.call("__init__", "reader, writer, buffer_size=8192, /", func(c *clinic.Call, _ *vm.Instance, p *pair) (vm.Object, error) {
		if err := m.require(c.Interp, c.Args[0], "_checkReadable"); err != nil {
			return nil, err
		}
		if err := m.require(c.Interp, c.Args[1], "_checkWritable"); err != nil {
			return nil, err
		}
		r, err := c.Interp.Call(m.reader, []vm.Object{c.Args[0], c.Args[2]}, nil)
		if err != nil {
			return nil, err
		}
		w, err := c.Interp.Call(m.writer, []vm.Object{c.Args[1], c.Args[2]}, nil)
		if err != nil {
			return nil, err
		}
		p.reader, p.writer = r, w
		return vm.None, nil
	})
	to := func(name string, hi int, side func(p *pair) vm.Object) {
		c.def(name, 0, hi, func(in *vm.Interp, _ *vm.Instance, p *pair, a []vm.Object) (vm.Object, error) {
			if p.reader == nil {
				return nil, in.Errorf(in.Exc.ValueError, "I/O operation on uninitialized object")
			}
			return in.CallMethod(side(p), name, a...)
		})
	}
	for name, hi := range map[string]int{"read": 1, "peek": 1, "read1": 1, "readinto": 1, "readinto1": 1, "readable": 0} {
		to(name, hi, func(p *pair) vm.Object { return p.reader })
	}
	for name, hi := range map[string]int{"write": 1, "flush": 0, "writable": 0} {
		to(name, hi, func(p *pair) vm.Object { return p.writer })
	}
	c.def("close", 0, 0, func(in *vm.Interp, _ *vm.Instance, p *pair, _ []vm.Object) (vm.Object, error) {
		if p.reader == nil {
			return nil, in.Errorf(in.Exc.ValueError, "I/O operation on uninitialized object")
		}
		_, err := in.CallMethod(p.writer, "close")
		v, rerr := in.CallMethod(p.reader, "close")
		return v, chained(err, rerr)
	})
	c.def("isatty", 0, 0, func(in *vm.Interp, _ *vm.Instance, p *pair, _ []vm.Object) (vm.Object, error) {
		if p.reader == nil {
			return nil, in.Errorf(in.Exc.ValueError, "I/O operation on uninitialized object")
		}
		v, err := in.CallMethod(p.writer, "isatty")
		if err != nil || v != vm.False {
			return v, err
		}
		return in.CallMethod(p.reader, "isatty")
	})
	c.get("closed", func(in *vm.Interp, _ *vm.Instance, p *pair) (vm.Object, error) {
		if p.writer == nil {
			return nil, in.Errorf(in.Exc.RuntimeError, "the BufferedRWPair object is being garbage-collected")
		}
		return in.GetAttr(p.writer, "closed")
	})
	return in.NewNativeType(c.spec)
}
