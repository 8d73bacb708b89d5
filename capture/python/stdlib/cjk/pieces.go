package cjk

import (
	"encoding/binary"
	"math/big"
	"slices"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// pieceClass makes one of the classes that work piece by piece.
func pieceClass(in *vm.Interp, name, params string, methods map[string]vm.GoFunc, more ...*vm.GetSet) *vm.Type {
	p := vm.NewParams(name, params)
	// Classes derived from it come with an __init__ in Python that is not for it.
	methods["__init__"] = func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.None, nil }
	return in.NewNativeType(vm.Spec{Name: name, Module: "_multibytecodec", Strict: true, Methods: methods, GetSet: append(more, errorsAttr()),
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			a, err := p.Bind(in, args, kw)
			if err != nil {
				return nil, err
			}
			s, err := schemeOf(in, cls)
			if err != nil {
				return nil, err
			}
			errs, ok := vm.AsStr(a[len(a)-1])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "%s() argument 'errors' must be str, not %s", name, vm.ArgName(a[len(a)-1]))
			}
			v := &piece{scheme: s, st: s.start, errs: errs}
			if len(a) > 1 {
				v.stream = a[0]
			}
			return vm.NewInstance(cls, v), nil
		}})
}

func resetMethod() vm.GoFunc {
	return clinic.Method("reset", "", func(c *clinic.Call) (vm.Object, error) {
		pieceOf(c.Self).reset()
		return vm.None, nil
	})
}

func encoderClass(in *vm.Interp) *vm.Type {
	return pieceClass(in, "MultibyteIncrementalEncoder", "errors='strict'", map[string]vm.GoFunc{
		"encode": clinic.Method("encode", "input, final:bool=False", func(c *clinic.Call) (vm.Object, error) {
			text, err := textOf(c)
			if err != nil {
				return nil, err
			}
			b, err := pieceOf(c.Self).give(c.Interp, text, c.Bool(1))
			return vm.Bytes(b), err
		}),
		"reset": clinic.Method("reset", "", func(c *clinic.Call) (vm.Object, error) {
			pieceOf(c.Self).reset()
			return vm.None, nil
		}),
		"getstate": clinic.Method("getstate", "", func(c *clinic.Call) (vm.Object, error) {
			// a byte for the length of the text that waits, the text, the state
			p := pieceOf(c.Self)
			b := append(append([]byte{byte(len(p.text))}, p.text...), p.st[:]...)
			slices.Reverse(b)
			return vm.MakeBig(new(big.Int).SetBytes(b)), nil
		}),
		"setstate": clinic.Method("setstate", "state, /", func(c *clinic.Call) (vm.Object, error) {
			n, ok := vm.AsBig(c.Args[0])
			if !ok {
				return nil, c.Errorf(c.Exc.TypeError, "setstate() argument must be int, not %s", vm.ArgName(c.Args[0]))
			}
			b := make([]byte, 17)
			if n.Sign() < 0 {
				return nil, c.Errorf(c.Exc.OverflowError, "can't convert negative int to unsigned")
			}
			if n.BitLen() > len(b)*8 {
				return nil, c.Errorf(c.Exc.OverflowError, "int too big to convert")
			}
			n.FillBytes(b)
			slices.Reverse(b)
			if b[0] > 8 {
				return nil, c.Errorf(c.Exc.UnicodeError, "pending buffer too large")
			}
			text, err := c.Decode(b[1:1+b[0]], "utf-8", "strict")
			if err != nil {
				return nil, err
			}
			p := pieceOf(c.Self)
			p.text = text
			copy(p.st[:], b[1+b[0]:])
			return vm.None, nil
		}),
	})
}

func decoderClass(in *vm.Interp) *vm.Type {
	return pieceClass(in, "MultibyteIncrementalDecoder", "errors='strict'", map[string]vm.GoFunc{
		"decode": clinic.Method("decode", "input:bytes, final:bool=False", func(c *clinic.Call) (vm.Object, error) {
			s, err := pieceOf(c.Self).take(c.Interp, c.Bytes(0), c.Bool(1))
			return vm.Str(s), err
		}),
		"reset": resetMethod(),
		"getstate": clinic.Method("getstate", "", func(c *clinic.Call) (vm.Object, error) {
			p := pieceOf(c.Self)
			return vm.NewTuple(vm.Bytes(p.rest), vm.MakeBig(new(big.Int).SetUint64(binary.LittleEndian.Uint64(p.st[:])))), nil
		}),
		"setstate": clinic.Method("setstate", "state, /", func(c *clinic.Call) (vm.Object, error) {
			t, ok := vm.AsTuple(c.Args[0])
			if !ok {
				return nil, c.Errorf(c.Exc.TypeError, "setstate() argument must be tuple, not %s", vm.ArgName(c.Args[0]))
			}
			if len(t.Items) != 2 {
				return nil, c.Errorf(c.Exc.TypeError, "setstate(): illegal state argument")
			}
			b, isBytes := t.Items[0].(vm.Bytes)
			n, isInt := vm.AsBig(t.Items[1])
			if !isBytes || !isInt {
				return nil, c.Errorf(c.Exc.TypeError, "setstate(): illegal state argument")
			}
			if n.Sign() < 0 || n.BitLen() > 64 {
				return nil, c.Errorf(c.Exc.OverflowError, "int too big to convert")
			}
			if len(b) > 8 {
				return nil, c.Errorf(c.Exc.UnicodeError, "pending buffer too large")
			}
			p := pieceOf(c.Self)
			p.rest = []byte(b)
			binary.LittleEndian.PutUint64(p.st[:], n.Uint64())
			return vm.None, nil
		}),
	})
}

func streamAttr() *vm.GetSet {
	return &vm.GetSet{Name: "stream", Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) { return pieceOf(self).stream, nil }}
}

// read asks the stream by one of its methods until there are characters or nothing comes any more.
func (p *piece) read(in *vm.Interp, method string, size vm.Object) (string, error) {
	n := int64(-1)
	if size != vm.None {
		var err error
		if _, ok := vm.AsInt(size); !ok {
			return "", in.Errorf(in.Exc.TypeError, "arg 1 must be an integer")
		}
		if n, err = in.Index(size); err != nil {
			return "", err
		}
	}
	if n == 0 {
		return "", nil
	}
	for {
		var args []vm.Object
		if n >= 0 {
			args = append(args, vm.MakeInt(n))
		}
		v, err := in.CallMethod(p.stream, method, args...)
		if err != nil {
			return "", err
		}
		b, ok := v.(vm.Bytes)
		if !ok {
			return "", in.Errorf(in.Exc.TypeError, "stream function returned a non-bytes object (%s)", vm.TypeName(v))
		}
		end := len(b) == 0 || n < 0
		s, err := p.take(in, []byte(b), end)
		if err != nil || s != "" || end {
			return s, err
		}
		n = 1 // one byte more may complete a character
	}
}

func readerClass(in *vm.Interp) *vm.Type {
	reads := func(name, method string) vm.GoFunc {
		return clinic.Method(name, "sizeobj=None, /", func(c *clinic.Call) (vm.Object, error) {
			s, err := pieceOf(c.Self).read(c.Interp, method, c.Args[0])
			if err != nil || name != "readlines" {
				return vm.Str(s), err
			}
			return c.CallMethod(vm.Str(s), "splitlines", vm.True)
		})
	}
	return pieceClass(in, "MultibyteStreamReader", "stream, errors='strict'", map[string]vm.GoFunc{
		"read": reads("read", "read"), "readline": reads("readline", "readline"), "readlines": reads("readlines", "read"), "reset": resetMethod(),
	}, streamAttr())
}

func writerClass(in *vm.Interp) *vm.Type {
	write := func(c *clinic.Call, o vm.Object) error {
		p := pieceOf(c.Self)
		s, ok := vm.AsStr(o)
		if !ok {
			return c.Errorf(c.Exc.TypeError, "couldn't convert the object to unicode.")
		}
		b, err := p.give(c.Interp, s, false)
		if err != nil {
			return err
		}
		_, err = c.CallMethod(p.stream, "write", vm.Bytes(b))
		return err
	}
	return pieceClass(in, "MultibyteStreamWriter", "stream, errors='strict'", map[string]vm.GoFunc{
		"write": clinic.Method("write", "strobj, /", func(c *clinic.Call) (vm.Object, error) { return vm.None, write(c, c.Args[0]) }),
		"writelines": clinic.Method("writelines", "lines, /", func(c *clinic.Call) (vm.Object, error) {
			n, err := c.Len(c.Args[0])
			if err != nil {
				return nil, c.Errorf(c.Exc.TypeError, "arg must be a sequence object")
			}
			for i := range n {
				o, err := c.GetItem(c.Args[0], vm.MakeInt(int64(i)))
				if err != nil {
					return nil, err
				}
				if err := write(c, o); err != nil {
					return nil, err
				}
			}
			return vm.None, nil
		}),
		"reset": clinic.Method("reset", "", func(c *clinic.Call) (vm.Object, error) {
			p := pieceOf(c.Self)
			b, err := p.give(c.Interp, "", true)
			if err != nil {
				return nil, err
			}
			p.reset()
			if len(b) > 0 {
				_, err = c.CallMethod(p.stream, "write", vm.Bytes(b))
			}
			return vm.None, err
		}),
	}, streamAttr())
}
