package torch

import (
	"fmt"
	"strconv"
	"strings"

	"whittle/capture/numpy"
	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Value converts a Python argument to an operator argument; ok is false for what no operator takes.
func (t *Torch) Value(o vm.Object) (aten.Value, bool) {
	switch o := o.(type) {
	case *Tensor:
		return o.T, true
	case *Scalar:
		if t.Symbolic || o.Env.Lasting && t.Dispatch == t.Eagerly() {
			return SymbolicNumber{o}, true
		}
		return o.hint(), true
	case vm.Bool:
		return bool(o), true
	case vm.Int:
		return int64(o), true
	case vm.Float:
		return float64(o), true
	case vm.Complex:
		return complex128(o), true
	case vm.Str:
		return string(o), true
	case *vm.NoneType:
		return nil, true
	case *vm.Tuple:
		return t.values(o.Items)
	case *vm.List:
		return t.values(o.Items)
	case *DType:
		return o.D, true
	case *Device:
		return o.D, true
	case *MemoryFormat:
		return o.F, true
	case *Layout:
		return o.L, o.L == tensor.Strided // those of sparse tensors are made by other functions
	case *Generator:
		return o.G, true
	case *vm.Type:
		switch o {
		case vm.FloatType:
			return tensor.Float64, true
		case vm.IntType:
			return tensor.Int64, true
		case vm.BoolType:
			return tensor.Bool, true
		}
	case *vm.Range:
		items, err := t.In.IterAll(o)
		if err != nil {
			return nil, false
		}
		return t.values(items)
	case *numpy.Array: // one integer is a number, by its __index__
		if oneInteger(o) {
			return t.Value(numpy.Loaded(t.In).Python(o.A.Get(o.A.Offset)))
		}
	case *vm.Instance:
		if n := t.plainNumber(o); n != o {
			return t.Value(n)
		}
		if tup, ok := vm.AsTuple(o); ok {
			return t.values(tup.Items)
		}
		if l, ok := vm.AsList(o); ok {
			return t.values(l.Items)
		}
		if i, ok := vm.AsInt(o); ok {
			return i, true
		}
		if f, ok := vm.AsFloat(o); ok {
			return f, true
		}
	}
	return nil, false
}

func (t *Torch) values(items []vm.Object) (aten.Value, bool) {
	out := make([]aten.Value, len(items))
	for i, x := range items {
		v, ok := t.Value(x)
		if !ok {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}

// Object converts an operator's result to Python; several results become a tuple.
func (t *Torch) Object(v aten.Value) vm.Object {
	switch v := v.(type) {
	case nil:
		return vm.None
	case *tensor.Tensor:
		return t.Wrap(v)
	case bool:
		return vm.MakeBool(v)
	case int64:
		return vm.MakeInt(v)
	case float64:
		return vm.Float(v)
	case complex128:
		return vm.Complex(v)
	case SymbolicNumber:
		return v.Scalar
	case string:
		return vm.Str(v)
	case tensor.DType:
		return t.DTypeObject(v)
	case tensor.Device:
		return &Device{v, t}
	case tensor.MemoryFormat:
		return t.formats[v]
	case tensor.Layout:
		return t.layout
	case []aten.Value:
		items := make([]vm.Object, len(v))
		for i, x := range v {
			items[i] = t.Object(x)
		}
		return vm.NewTuple(items...)
	}
	panic(fmt.Sprintf("torch: no Python form for %T", v))
}

func parseDevice(s string) (tensor.Device, error) {
	typ, idx, has := strings.Cut(s, ":")
	d := tensor.Device{Type: typ, Index: -1}
	if has {
		n, err := strconv.Atoi(idx)
		if err != nil {
			return d, fmt.Errorf("Invalid device string: '%s'", s)
		}
		d.Index = n
	}
	switch typ {
	case "cpu", "meta", "cuda", "mps", "xpu", "hpu", "xla":
		return d, nil
	}
	return d, fmt.Errorf("Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, privateuseone device type at start of device string: %s", typ)
}
