package zlib

import (
	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// raiser raises the module's error.
type raiser func(c *clinic.Call, no int, doing, what string) error

// compressType is the class of what compressobj gives.
func compressType(in *vm.Interp, raise raiser) *vm.Type {
	of := func(c *clinic.Call) *deflater { return c.Self.(*vm.Instance).Native.(*deflater) }
	dup := func(c *clinic.Call) (vm.Object, error) {
		d := of(c)
		if d.done {
			return nil, c.Errorf(c.Exc.ValueError, "Inconsistent stream state")
		}
		// Go's writer cannot be copied: the copy compresses everything again, and what both have given already is dropped.
		n := newDeflater(d.form, d.level, d.dict)
		n.write(d.fed)
		return vm.NewInstance(c.Self.Type(), n), nil
	}
	methods := map[string]vm.GoFunc{
		"compress": clinic.Method("compress", "data:bytes, /", func(c *clinic.Call) (vm.Object, error) {
			if of(c).done {
				return nil, raise(c, -2, "compressing data", "inconsistent stream state")
			}
			return vm.Bytes(of(c).write(c.Bytes(0))), nil
		}),
		"flush": clinic.Method("flush", "mode:int=4, /", func(c *clinic.Call) (vm.Object, error) {
			if of(c).done {
				return nil, raise(c, -2, "flushing", "inconsistent stream state")
			}
			if c.Int(0) < 0 || c.Int(0) > 6 {
				return nil, raise(c, -2, "flushing", "inconsistent stream state")
			}
			return vm.Bytes(of(c).flush(c.Int(0))), nil
		}),
	}
	for _, n := range []string{"copy", "__copy__"} {
		methods[n] = clinic.Method(n, "", dup)
	}
	methods["__deepcopy__"] = clinic.Method("__deepcopy__", "memo, /", dup)
	return in.NewNativeType(vm.Spec{Strict: true, Name: "Compress", Module: "zlib", NoDict: true, Final: true, Methods: methods, New: noNew("zlib.Compress")})
}

// noNew refuses to make an instance of a class that only its module makes.
func noNew(name string) vm.NewFunc {
	return func(in *vm.Interp, _ *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		return nil, in.Errorf(in.Exc.TypeError, "cannot create '%s' instances", name)
	}
}

// decompressType is the class of what decompressobj gives.
func decompressType(in *vm.Interp, raise raiser) *vm.Type {
	native := func(o vm.Object) *inflater { return o.(*vm.Instance).Native.(*inflater) }
	of := func(c *clinic.Call) *inflater { return native(c.Self) }
	get := func(name string, f func(d *inflater) vm.Object) *vm.GetSet {
		return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) { return f(native(self)), nil }}
	}
	dup := func(c *clinic.Call) (vm.Object, error) {
		d := of(c)
		if d.eof {
			return nil, c.Errorf(c.Exc.ValueError, "Inconsistent stream state")
		}
		n := newInflater(d.form, d.dict)
		_, _ = n.feed(d.fed, -1)
		n.ready, n.in = append([]byte(nil), d.ready...), append([]byte(nil), d.in...)
		n.tail = append([]byte(nil), d.tail...)
		return vm.NewInstance(c.Self.Type(), n), nil
	}
	methods := map[string]vm.GoFunc{
		"decompress": clinic.Method("decompress", "data:bytes, /, max_length:int=0", func(c *clinic.Call) (vm.Object, error) {
			most := int(c.Int(1))
			if most < 0 {
				return nil, c.Errorf(c.Exc.ValueError, "max_length must be non-negative")
			}
			if most == 0 {
				most = -1
			}
			out, err := of(c).feed(c.Bytes(0), most)
			if err != nil {
				return nil, raise(c, err.no, "decompressing data", err.what)
			}
			return vm.Bytes(out), nil
		}),
		"flush": clinic.Method("flush", "length:int=16384, /", func(c *clinic.Call) (vm.Object, error) {
			if c.Int(0) <= 0 {
				return nil, c.Errorf(c.Exc.ValueError, "length must be greater than zero")
			}
			d := of(c)
			tail := d.tail
			d.tail = nil
			out, err := d.feed(tail, -1)
			if err != nil {
				return nil, raise(c, err.no, "flushing", err.what)
			}
			return vm.Bytes(out), nil
		}),
	}
	for _, n := range []string{"copy", "__copy__"} {
		methods[n] = clinic.Method(n, "", dup)
	}
	methods["__deepcopy__"] = clinic.Method("__deepcopy__", "memo, /", dup)
	return in.NewNativeType(vm.Spec{Strict: true, Name: "Decompress", Module: "zlib", NoDict: true, Final: true, Methods: methods, New: noNew("zlib.Decompress"), GetSet: []*vm.GetSet{
		get("unused_data", func(d *inflater) vm.Object { return vm.Bytes(d.unused) }),
		get("unconsumed_tail", func(d *inflater) vm.Object { return vm.Bytes(d.tail) }),
		get("eof", func(d *inflater) vm.Object { return vm.MakeBool(d.eof) }),
	}})
}
