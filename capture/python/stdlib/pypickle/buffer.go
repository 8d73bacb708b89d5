package pypickle

import (
	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// pickleBuffer is a PickleBuffer: a view of an object's memory that may travel beside the pickle.
type pickleBuffer struct {
	vm.Identity
	class *vm.Type
	view  *vm.MemoryView // nil once released
}

// Type implements vm.Object.
func (b *pickleBuffer) Type() *vm.Type { return b.class }

// View implements vm.Buffer. Of a released one it is nil.
func (b *pickleBuffer) View() *vm.MemoryView { return b.view }

// makeBuffer makes PickleBuffer.
func (s *module) makeBuffer(in *vm.Interp) {
	s.buffer = in.NewNativeType(vm.Spec{Name: "PickleBuffer", Module: "pickle", NoDict: true, Strict: true, NoModule: true, Final: true,
		Doc: "Wrapper for potentially out-of-band buffers",
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			if len(kw) > 0 {
				return nil, in.Errorf(in.Exc.TypeError, "PickleBuffer() takes no keyword arguments")
			}
			if len(args) == 0 {
				return nil, in.Errorf(in.Exc.TypeError, "PickleBuffer() takes exactly 1 positional argument (0 given)")
			}
			if len(args) > 1 {
				return nil, in.Errorf(in.Exc.TypeError, "PickleBuffer() takes at most 1 argument (%d given)", len(args))
			}
			v, err := in.MemoryView(args[0])
			if err != nil && in.Matches(err, in.Exc.TypeError) {
				err = in.Errorf(in.Exc.TypeError, "a bytes-like object is required, not '%s'", vm.TypeName(args[0]))
			}
			return &pickleBuffer{class: cls, view: v}, err
		},
		Methods: map[string]vm.GoFunc{
			"raw": clinic.Method("raw", "", func(c *clinic.Call) (vm.Object, error) {
				b := c.Self.(*pickleBuffer)
				if b.view == nil {
					return nil, c.Errorf(c.Exc.ValueError, "operation forbidden on released PickleBuffer object")
				}
				raw, ok := b.view.Raw()
				if !ok {
					return nil, c.Errorf(c.Exc.BufferError, "cannot extract raw buffer from non-contiguous buffer")
				}
				return raw, nil
			}),
			"release": clinic.Method("release", "", func(c *clinic.Call) (vm.Object, error) {
				c.Self.(*pickleBuffer).view = nil
				return vm.None, nil
			}),
		}})
}

// saveBuffer saves a PickleBuffer: in the pickle, or, if the callback takes it, beside it.
func (p *pickler) saveBuffer(b *pickleBuffer) error {
	if p.proto < 5 {
		return p.in.Errorf(p.pickling, "PickleBuffer can only pickled with protocol >= 5")
	}
	if b.view == nil {
		return p.in.Errorf(p.in.Exc.ValueError, "operation forbidden on released PickleBuffer object")
	}
	raw, ok := b.view.Raw()
	if !ok {
		return p.in.Errorf(p.pickling, "PickleBuffer can not be pickled when pointing to a non-contiguous buffer")
	}
	within := true
	if p.callback != nil {
		v, err := p.in.Call(p.callback, []vm.Object{b}, nil)
		if err != nil {
			return err
		}
		if within, err = p.in.Truth(v); err != nil {
			return err
		}
	}
	data, _ := vm.AsBytes(raw)
	_, writable := vm.WritableBytes(raw)
	switch {
	case within && writable:
		return p.byteArrayData(b, data, nil)
	case within:
		return p.bytesData(b, data, nil)
	}
	if err := p.op(opNextBuffer); err != nil || writable {
		return err
	}
	return p.op(opReadonlyBuffer)
}
