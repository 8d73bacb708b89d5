package pybz2

import (
	"bytes"
	"errors"

	"github.com/dsnet/compress/bzip2"

	"whittle/capture/python/clinic"
	"whittle/capture/python/stdlib/inflow"
	"whittle/capture/python/vm"
)

// compressor is a BZ2Compressor.
type compressor struct {
	out  bytes.Buffer
	w    *bzip2.Writer
	done bool
}

func (z *compressor) take() vm.Object {
	b := vm.Bytes(z.out.Bytes())
	z.out.Reset()
	return b
}

// Module makes module _bz2.
func Module(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_bz2", "")
	of := func(o vm.Object) *inflow.Stream { return o.(*vm.Instance).Native.(*inflow.Stream) }
	spec := inflow.Class("BZ2Decompressor", "_bz2", "End of stream already reached", of, func(in *vm.Interp, err error) error {
		if errors.Is(err, errInvalid) {
			return in.Errorf(in.Exc.OSError, "%s", err)
		}
		return err
	})
	none := vm.NewParams("BZ2Decompressor", "")
	spec.New = func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		if _, err := none.Bind(in, args, kw); err != nil {
			return nil, err
		}
		s := inflow.New(func(src *inflow.Source, emit func([]byte) bool) error { return decode(src, emit) })
		return vm.NewInstance(cls, s), nil
	}
	m.Set("BZ2Decompressor", in.NewNativeType(spec))
	m.Set("BZ2Compressor", compressorClass(in))
	return m, nil
}

func compressorClass(in *vm.Interp) *vm.Type {
	of := func(c *clinic.Call) *compressor { return c.Self.(*vm.Instance).Native.(*compressor) }
	p := vm.NewParams("BZ2Compressor", "compresslevel=9, /")
	return in.NewNativeType(vm.Spec{Name: "BZ2Compressor", Module: "_bz2", NoDict: true, Strict: true,
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			a, err := p.Bind(in, args, kw)
			if err != nil {
				return nil, err
			}
			level, err := in.Index(a[0])
			if err != nil {
				return nil, err
			}
			if level < 1 || level > 9 {
				return nil, in.Errorf(in.Exc.ValueError, "compresslevel must be between 1 and 9")
			}
			z := &compressor{}
			z.w, err = bzip2.NewWriter(&z.out, &bzip2.WriterConfig{Level: int(level)})
			return vm.NewInstance(cls, z), err
		},
		Methods: map[string]vm.GoFunc{
			"__init__": func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.None, nil },
			"compress": clinic.Method("compress", "data:bytes, /", func(c *clinic.Call) (vm.Object, error) {
				z := of(c)
				if z.done {
					return nil, c.Errorf(c.Exc.ValueError, "Compressor has been flushed")
				}
				if _, err := z.w.Write(c.Bytes(0)); err != nil {
					return nil, err
				}
				return z.take(), nil
			}),
			"flush": clinic.Method("flush", "", func(c *clinic.Call) (vm.Object, error) {
				z := of(c)
				if z.done {
					return nil, c.Errorf(c.Exc.ValueError, "Repeated call to flush()")
				}
				z.done = true
				if err := z.w.Close(); err != nil {
					return nil, err
				}
				return z.take(), nil
			}),
			"__reduce_ex__": inflow.Unpicklable, "__reduce__": inflow.Unpicklable,
		}})
}
