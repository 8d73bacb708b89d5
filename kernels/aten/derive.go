package aten

import (
	"slices"
	"strings"

	"whittle/kernels/tensor"
)

// deriveVariants makes in-place and out= rows, view copies and the _foreach family from the functional rows.
func deriveVariants(order []string, lines map[string]line, byName map[string]*Op, read schemaReader, add func(string, Fn, bool, Tag) *Op) {
	// Functional rows by base name.
	base := map[string][]*Op{}
	for _, op := range byName {
		s := op.parsed
		base[s.Namespace+"::"+s.Name] = append(base[s.Namespace+"::"+s.Name], op)
	}
	for _, name := range order {
		if byName[name] != nil {
			continue
		}
		text := lines[name].text
		root, _, _ := strings.Cut(name, ".")
		switch {
		case strings.HasPrefix(root, "aten::_foreach_"):
			deriveForeach(name, root, text, base, byName, read, add)
		case strings.Contains(text, "*, ") && strings.Contains(text, "!)") && !strings.Contains(text, "(Tensor(a!) self"):
			deriveOut(name, root, text, base, read, add)
		case strings.HasSuffix(root, "_") && strings.Contains(text, "(Tensor(a!) self"):
			deriveInplace(name, root, text, base, read, add)
		}
	}
}

// sameArgs reports whether a's arguments, without the skipped one count at the end, have f's names and types.
func sameArgs(args []Arg, f *Schema) bool {
	if len(args) != len(f.Args) {
		return false
	}
	for i, a := range args {
		if a.Type != f.Args[i].Type || a.Name != f.Args[i].Name {
			return false
		}
	}
	return true
}

// deriveInplace makes x_ of x, where their arguments agree: it computes x and copies the result into the first argument, whose shape and dtype
// stay, so that x has to broadcast and cast to these.
func deriveInplace(name, root, text string, base map[string][]*Op, read schemaReader, add func(string, Fn, bool, Tag) *Op) {
	s, err := read.schema(text)
	if err != nil {
		return
	}
	for _, f := range base[strings.TrimSuffix(root, "_")] {
		if !sameArgs(s.Args, f.parsed) || f.Has(View) {
			continue
		}
		if f.Decomp != nil {
			add(name, func(c *Call) (Value, error) {
				functional := *c
				functional.Op = f
				v, err := f.Decomp(&functional)
				if err != nil {
					return nil, err
				}
				if r, ok := v.(*tensor.Tensor); ok && !tensor.CanCast(r.DType, c.T(0).DType) {
					return nil, errf("result type %s can't be cast to the desired output type %s", cName(r.DType), cName(c.T(0).DType))
				}
				return c.via("copy_", c.Args[0], v)
			}, true, 0)
			return
		}
		add(name, func(c *Call) (Value, error) { return inplace(c, f) }, false, 0)
		return
	}
}

// inplace runs a functional row and stores the result in the first argument.
func inplace(c *Call, f *Op) (Value, error) {
	self := c.T(0)
	if f.Has(Pointwise) {
		if err := checkOverlap(self, c.Args[1:]); err != nil {
			return nil, err
		}
	}
	cc := *c
	cc.Op, cc.inplace = f, self
	run := f.Meta
	if c.real {
		run = f.Eager
	}
	v, err := run(&cc)
	if err != nil {
		return nil, err
	}
	r, ok := v.(*tensor.Tensor)
	if !ok {
		return nil, errf("%s has no single result", f.Name())
	}
	if r == self {
		self.Bump()
		return self, nil
	}
	if !tensor.SameShape(r, self) {
		return nil, errf("output with shape %s doesn't match the broadcast shape %s", tensor.ShapeText(self.Shape), tensor.ShapeText(r.Shape))
	}
	if !tensor.CanCast(r.DType, self.DType) {
		return nil, errf("result type %s can't be cast to the desired output type %s", cName(r.DType), cName(self.DType))
	}
	if c.real {
		tensor.Copy(self, r)
	}
	c.bump(self)
	return self, nil
}

// checkOverlap refuses to write to a tensor of which two elements are one, or which shares some of its elements with what is read, but not all of them
// in the same places: what is read would depend on the order of the writes. As PyTorch, it lets pass what is not dense.
func checkOverlap(out *tensor.Tensor, reads []Value) error {
	if out.HasInternalOverlap() {
		return errTwice()
	}
	if out.Numel() == 0 || !out.IsNonOverlappingAndDense() {
		return nil
	}
	from, to := bytesOf(out)
	for _, v := range reads {
		t, ok := v.(*tensor.Tensor)
		if !ok || t == nil || t == out || t.Storage != out.Storage || t.Numel() == 0 || !t.IsNonOverlappingAndDense() {
			continue
		}
		a, b := bytesOf(t)
		if a >= to || b <= from || a == from && b == to && slices.Equal(t.Stride, out.Stride) {
			continue
		}
		return errShared()
	}
	return nil
}

// bump counts a write; metadata runs on real tensors leave them alone.
func (c *Call) bump(t *tensor.Tensor) {
	if c.real || t.Fake {
		t.Bump()
	}
}

// ScalarTypeName is what PyTorch's messages call a dtype: Float, Long.
func ScalarTypeName(d tensor.DType) string { return cName(d) }

// cName is a dtype as C++ messages spell it: Float, Long.
func cName(d tensor.DType) string {
	switch d {
	case tensor.Float32:
		return "Float"
	case tensor.Float64:
		return "Double"
	case tensor.Float16:
		return "Half"
	case tensor.BFloat16:
		return "BFloat16"
	case tensor.Int64:
		return "Long"
	case tensor.Int32:
		return "Int"
	case tensor.Int16:
		return "Short"
	case tensor.Int8:
		return "Char"
	case tensor.UInt8:
		return "Byte"
	case tensor.Bool:
		return "Bool"
	case tensor.Complex64:
		return "ComplexFloat"
	case tensor.Complex128:
		return "ComplexDouble"
	case tensor.Complex32:
		return "ComplexHalf"
	case tensor.UInt16:
		return "UInt16"
	case tensor.UInt32:
		return "UInt32"
	case tensor.UInt64:
		return "UInt64"
	case tensor.Float8E4M3FN:
		return "Float8_e4m3fn"
	case tensor.Float8E5M2:
		return "Float8_e5m2"
	case tensor.Float8E4M3FNUZ:
		return "Float8_e4m3fnuz"
	case tensor.Float8E5M2FNUZ:
		return "Float8_e5m2fnuz"
	}
	return "Undefined"
}

// deriveOut makes the out= form of a functional row. Kernels compute into a result of their own that is then copied, or, where they can, into
// out itself; out is resized to fit, and its dtype has to take the result's.
func deriveOut(name, root, text string, base map[string][]*Op, read schemaReader, add func(string, Fn, bool, Tag) *Op) {
	s, err := read.schema(text)
	if err != nil {
		return
	}
	var ins []Arg
	var outs []int
	for i, a := range s.Args {
		if a.Write() && a.KwOnly {
			outs = append(outs, i)
		} else {
			ins = append(ins, a)
		}
	}
	if len(outs) == 0 {
		return
	}
	for _, f := range base[root] {
		if f.Has(Inplace) || !outMatches(ins, f.parsed) {
			continue
		}
		fs := f.parsed
		body := func(c *Call, via bool) (Value, error) {
			args := make([]Value, len(fs.Args))
			for i, a := range fs.Args {
				if k := s.Arg(a.Name); k >= 0 {
					args[i] = c.Args[k]
				} else {
					args[i] = a.Default
				}
			}
			// A factory takes dtype and device from out.
			if k := fs.Arg("dtype"); k >= 0 && s.Arg("dtype") < 0 && args[k] == nil {
				if o, ok := c.Args[outs[0]].(*tensor.Tensor); ok {
					args[k] = o.DType
				}
			}
			var v Value
			var err error
			if o, ok := c.Args[outs[0]].(*tensor.Tensor); ok && f.Has(Pointwise) {
				if shape, err := broadcast(args); err == nil && slices.Equal(shape, o.Shape) { // any other is given memory of its own
					if err := checkOverlap(o, args); err != nil {
						return nil, err
					}
				}
			}
			if via && c.Dispatch != nil {
				v, err = c.Dispatch.Dispatch(f, args)
			} else if into, ok := c.Args[outs[0]].(*tensor.Tensor); ok && c.real && len(outs) == 1 {
				v, err = eager(f, args, into)
			} else {
				v, err = c.sub().Dispatch(f, args)
			}
			if err != nil {
				return nil, err
			}
			rs, ok := v.([]Value)
			if !ok {
				rs = []Value{v}
			}
			if len(outs) == 1 {
				if l, isList := c.Args[outs[0]].([]Value); isList {
					if len(l) != len(rs) {
						return nil, errf("%s expected an out= argument of %d tensors, got %d", f.parsed.Name, len(rs), len(l))
					}
					for i := range l {
						if _, err := c.intoOut(l[i], rs[i]); err != nil {
							return nil, err
						}
					}
					return nil, nil
				}
			}
			res := make([]Value, len(outs))
			for i, k := range outs {
				if res[i], err = c.intoOut(c.Args[k], rs[i]); err != nil {
					return nil, err
				}
			}
			if len(res) == 1 {
				return res[0], nil
			}
			return res, nil
		}
		add(name, func(c *Call) (Value, error) { return body(c, false) }, false, 0)
		return
	}
}

// outMatches allows a functional row to have factory options that the out= form lacks.
func outMatches(ins []Arg, f *Schema) bool {
	k := 0
	for _, a := range f.Args {
		if k < len(ins) && ins[k].Name == a.Name && ins[k].Type == a.Type {
			k++
			continue
		}
		switch a.Name {
		case "dtype", "layout", "device", "pin_memory", "requires_grad", "memory_format":
			continue
		}
		return false
	}
	return k == len(ins)
}

// intoOut stores r in an out= tensor, resizing it if its shape differs.
func (c *Call) intoOut(ov, rv Value) (Value, error) {
	o, ok := ov.(*tensor.Tensor)
	r, ok2 := rv.(*tensor.Tensor)
	if !ok || !ok2 {
		return nil, errf("out= needs a tensor")
	}
	if !tensor.CanCast(r.DType, o.DType) {
		return nil, errf("result type %s can't be cast to the desired output type %s", cName(r.DType), cName(o.DType))
	}
	if !tensor.SameShape(o, r) {
		st := r.Stride
		if !r.IsNonOverlappingAndDense() {
			st = tensor.ContiguousStrides(r.Shape)
		}
		resizeTo(o, r.Shape, st)
	}
	if c.real && r != o {
		tensor.Copy(o, r)
	}
	c.bump(o)
	return o, nil
}

// resizeTo changes t's shape in place, growing its storage when needed.
func resizeTo(t *tensor.Tensor, shape, stride []int64) {
	need := t.Offset
	n := int64(1)
	for i, s := range shape {
		if s == 0 {
			n = 0
			break
		}
		n += (s - 1) * stride[i]
	}
	need = (need + n) * int64(t.DType.Size())
	if need > t.Storage.NBytes {
		if !t.Fake {
			s := tensor.NewStorage(need)
			copy(s.Data, t.Storage.Data)
			t.Storage.Data = s.Data
		}
		t.Storage.NBytes = need
	}
	t.Shape = append([]int64{}, shape...)
	t.Stride = append([]int64{}, stride...)
}

// deriveForeach runs the operator of the same name on each element of the lists.
func deriveForeach(name, root, text string, base map[string][]*Op, byName map[string]*Op, read schemaReader, add func(string, Fn, bool, Tag) *Op) {
	s, err := read.schema(text)
	if err != nil {
		return
	}
	if strings.Contains(text, "out)") {
		return
	}
	single := strings.TrimPrefix(root, "aten::_foreach_")
	inplace := strings.HasSuffix(single, "_")
	single = strings.TrimSuffix(single, "_")
	switch single {
	case "norm":
		single = "linalg_vector_norm"
	}
	if len(base["aten::"+single]) == 0 {
		return
	}
	suffix := ""
	if inplace {
		suffix = "_"
	}
	each := func(c *Call, d Dispatcher) (Value, error) {
		n := -1
		for i, a := range s.Args {
			if l, ok := c.Args[i].([]Value); ok && a.Type.List {
				if n >= 0 && len(l) != n {
					return nil, errf("Tensor lists must have the same number of tensors, got %d and %d", n, len(l))
				}
				n = len(l)
			}
		}
		var out []Value
		for k := 0; k < n; k++ {
			var args []Value
			kw := map[string]Value{}
			for i, a := range s.Args {
				v := c.Args[i]
				if a.Type.List {
					v = v.([]Value)[k]
				}
				switch {
				case a.Name == "alpha", a.Name == "dtype":
					if v != nil {
						kw[a.Name] = v
					}
				case (single == "addcmul" || single == "addcdiv") && (a.Name == "value" || a.Name == "scalars"):
					if v, err = packedScalar(v, k, n); err != nil {
						return nil, err
					}
					kw["value"] = v
				default:
					args = append(args, v)
				}
			}
			if single == "copy" && !inplace || single == "zero" && !inplace {
				suffix = ""
			}
			target := single
			if (target == "maximum" || target == "minimum" || target == "clamp_max" || target == "clamp_min") && len(args) == 2 {
				_, isT := args[1].(*tensor.Tensor)
				switch {
				case !isT && target == "maximum":
					target = "clamp_min"
				case !isT && target == "minimum":
					target = "clamp_max"
				case isT && inplace && target == "maximum":
					target = "clamp_min"
				case isT && inplace && target == "minimum":
					target = "clamp_max"
				}
			}
			op, bound, err := ResolveOverload(Packet("aten", target+suffix), args, kw)
			if err != nil {
				return nil, err
			}
			v, err := d.Dispatch(op, bound)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		if inplace {
			return nil, nil
		}
		if out == nil {
			out = []Value{}
		}
		return out, nil
	}
	if op := add(name, func(c *Call) (Value, error) { return each(c, c.sub()) }, false, 0); op != nil {
		op.ByElement = func(c *Call) (Value, error) { return each(c, c.Dispatch) }
	}
}

// packedScalar is number k of a tensor that holds one for each of n tensors; other values are as they are. A fake one stands for 1.
func packedScalar(v Value, k, n int) (Value, error) {
	t, ok := v.(*tensor.Tensor)
	switch {
	case !ok:
		return v, nil
	case t.Dim() != 1:
		return nil, errf("Expected packed scalar Tensor to be of dimension 1. Got %d instead.", t.Dim())
	case t.Shape[0] != int64(n):
		return nil, errf("Expected length of scalars to match input of length %d but got %d instead.", n, t.Shape[0])
	case t.DType.IsFloat() && t.Fake:
		return 1.0, nil
	case t.DType.IsFloat():
		return t.At(int64(k)), nil
	case t.Fake:
		return int64(1), nil
	}
	return t.AtInt(int64(k)), nil
}
