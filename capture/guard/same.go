package guard

import (
	"math"
	"slices"

	"whittle/capture/python/vm"
	"whittle/capture/torch"
)

// Same reports whether two values are one object, or constants that cannot be told apart: 1, 1.0 and True can, and so can 0.0 and
// -0.0. nil is the same as nil alone.
func Same(in *vm.Interp, a, b vm.Object) bool {
	if a == nil || b == nil || a.Type() != b.Type() {
		return a == b
	}
	switch x := a.(type) {
	case vm.Float:
		return sameFloat(float64(x), float64(b.(vm.Float)))
	case vm.Complex:
		y := b.(vm.Complex)
		return sameFloat(real(complex128(x)), real(complex128(y))) && sameFloat(imag(complex128(x)), imag(complex128(y)))
	case *vm.Tuple:
		return x == b || Constant(x) && Constant(b) && sameList(in, x.Items, b.(*vm.Tuple).Items)
	case *vm.FrozenSet:
		return x == b || Constant(x) && Constant(b) && sameSet(in, x.Items(), b.(*vm.FrozenSet).Items())
	}
	if a == b {
		return true
	}
	switch a.(type) {
	case *vm.BigInt, vm.Bytes, *torch.DType, *torch.Device, *torch.MemoryFormat:
		eq, err := in.Eq(a, b)
		return err == nil && eq
	}
	return false
}

func sameFloat(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

func sameList(in *vm.Interp, a, b []vm.Object) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Same(in, a[i], b[i]) {
			return false
		}
	}
	return true
}

func sameSet(in *vm.Interp, a, b []vm.Object) bool {
	for _, x := range a {
		if !slices.ContainsFunc(b, func(y vm.Object) bool { return Same(in, x, y) }) {
			return false
		}
	}
	return len(a) == len(b)
}

// Constant reports whether a value is made of constants alone.
func Constant(o vm.Object) bool {
	all := func(items []vm.Object) bool {
		return !slices.ContainsFunc(items, func(x vm.Object) bool { return !Constant(x) })
	}
	switch v := o.(type) {
	case vm.Int, vm.Float, vm.Str, vm.Bool, vm.Bytes, vm.Complex, *vm.NoneType, *vm.BigInt, *vm.EllipsisType, *torch.DType, *torch.Device, *torch.MemoryFormat:
		return true
	case *vm.Tuple:
		return all(v.Items)
	case *vm.List:
		return all(v.Items)
	case *vm.Set:
		return all(v.Items())
	case *vm.FrozenSet:
		return all(v.Items())
	}
	return false
}

// Contained lists what a container of Go holds, a set or a deque, say; ok is false for what is none, for lists, tuples and dicts,
// whose items have sources, and for iterators, which reading would use up.
func Contained(in *vm.Interp, o vm.Object) (items []vm.Object, ok bool) {
	switch v := o.(type) {
	case *vm.Set:
		return v.Items(), true
	case *vm.FrozenSet:
		return v.Items(), true
	case *vm.Instance:
		if v.Class.Module != "array" { // its class is written in Python: what that reads is seen
			return nil, false
		}
	}
	switch o.Type().Name {
	case "deque", "bytearray", "mappingproxy", "dict_keys", "dict_values", "dict_items", "array", "memoryview":
		items, err := in.IterAll(o)
		if err != nil {
			return nil, false
		}
		if o.Type().Name == "mappingproxy" {
			for _, k := range slices.Clone(items) {
				if v, err := in.GetItem(o, k); err == nil {
					items = append(items, v)
				}
			}
		}
		return items, true
	}
	return nil, false
}
