package ops

import (
	"fmt"
	"strings"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// ATen resolves a Python path to the operator of the same name, where the two agree.
type ATen struct{}

// renamed maps functions whose operator has another name.
var renamed = map[string]string{
	"torch.nn.functional.cross_entropy": "", "Tensor.T": "numpy_T", "Tensor.H": "matrix_H", "Tensor.mT": "mT", "Tensor.mH": "mH",
	"torch.nn.functional.conv_transpose1d": "conv_transpose1d", "torch.special.softmax": "special_softmax",
	"torch.nn.functional.logsigmoid": "log_sigmoid", "torch.nn.functional.silu": "silu", "torch.nn.functional.upsample_bilinear": "", "torch.nn.functional.softmin": "",
}

var casts = map[string]tensor.DType{
	"float": tensor.Float32, "double": tensor.Float64, "half": tensor.Float16, "bfloat16": tensor.BFloat16, "long": tensor.Int64,
	"int": tensor.Int32, "short": tensor.Int16, "char": tensor.Int8, "byte": tensor.UInt8, "bool": tensor.Bool,
}

var dunders = map[string]string{
	"__radd__": "add", "__rmul__": "mul", "__rsub__": "rsub", "__and__": "bitwise_and", "__or__": "bitwise_or", "__xor__": "bitwise_xor",
	"__rand__": "bitwise_and", "__ror__": "bitwise_or", "__rxor__": "bitwise_xor",
}

// Resolve implements Resolver.
func (ATen) Resolve(call string) (Callable, bool) {
	if n, ok := renamed[call]; ok {
		if n == "" {
			return nil, false
		}
		return packet(n), true
	}
	switch {
	case strings.HasPrefix(call, "torch.ops.aten."):
		n := strings.TrimPrefix(call, "torch.ops.")
		if op := aten.Lookup(n); op != nil {
			return func(d aten.Dispatcher, args []aten.Value, kw map[string]aten.Value) (aten.Value, error) {
				return aten.CallKw(d, n, plain(args), plainKw(kw))
			}, true
		}
		return known(strings.TrimPrefix(n, "aten."))
	case strings.HasPrefix(call, "torch.linalg."):
		return known("linalg_" + strings.TrimPrefix(call, "torch.linalg."))
	case strings.HasPrefix(call, "torch.special."):
		return known("special_" + strings.TrimPrefix(call, "torch.special."))
	case strings.HasPrefix(call, "torch.fft."):
		return known("fft_" + strings.TrimPrefix(call, "torch.fft."))
	case strings.HasPrefix(call, "torch.nn.functional."):
		n := strings.TrimPrefix(call, "torch.nn.functional.")
		if f := functional(n); f != nil {
			return f, true
		}
		return known(n)
	case strings.HasPrefix(call, "Tensor."):
		n := strings.TrimPrefix(call, "Tensor.")
		if d, ok := casts[n]; ok {
			return func(dp aten.Dispatcher, args []aten.Value, kw map[string]aten.Value) (aten.Value, error) {
				a := []aten.Value{args[0], d, false, false}
				if f, ok := kw["memory_format"]; ok {
					a = append(a, f)
				}
				return aten.Run(dp, "aten.to.dtype", a...)
			}, true
		}
		switch n {
		case "__getitem__":
			return func(d aten.Dispatcher, args []aten.Value, kw map[string]aten.Value) (aten.Value, error) {
				return GetItem(d, args[0].(*tensor.Tensor), args[1])
			}, true
		case "__rmatmul__":
			return swapped("matmul"), true
		case "__rdiv__":
			return func(d aten.Dispatcher, args []aten.Value, kw map[string]aten.Value) (aten.Value, error) {
				r, err := aten.Run(d, "aten.reciprocal", args[0])
				if err != nil {
					return nil, err
				}
				return aten.Run(d, "aten.mul.Tensor", r, args[1])
			}, true
		case "__rmod__":
			return swapped("remainder"), true
		case "__rpow__":
			return swapped("pow"), true
		}
		if m, ok := dunders[n]; ok {
			return known(m)
		}
		return known(n)
	case strings.HasPrefix(call, "torch."):
		return known(strings.TrimPrefix(call, "torch."))
	}
	return nil, false
}

func known(name string) (Callable, bool) {
	if len(aten.Packet("aten", name)) == 0 {
		return nil, false
	}
	return packet(name), true
}

func swapped(name string) Callable {
	f := packet(name)
	return func(d aten.Dispatcher, args []aten.Value, kw map[string]aten.Value) (aten.Value, error) {
		return f(d, []aten.Value{args[1], args[0]}, kw)
	}
}

func plain(args []aten.Value) []aten.Value {
	out := make([]aten.Value, len(args))
	for i, a := range args {
		out[i] = plainValue(a)
	}
	return out
}

func plainKw(kw map[string]aten.Value) map[string]aten.Value {
	out := map[string]aten.Value{}
	for k, v := range kw {
		switch k {
		case "axis":
			k = "dim"
		case "x":
			if _, ok := kw["self"]; !ok && false {
				k = "self"
			}
		}
		out[k] = plainValue(v)
	}
	return out
}

func plainValue(v aten.Value) aten.Value {
	switch v := v.(type) {
	case Tuple:
		return plain(v)
	case []aten.Value:
		return plain(v)
	}
	return v
}

// packet resolves overloads by the arguments; sizes and dims given one by one are gathered into a list, and arguments that
// exist only in Python are dropped.
func packet(name string) Callable {
	return func(d aten.Dispatcher, args []aten.Value, kw map[string]aten.Value) (aten.Value, error) {
		p := aten.Packet("aten", name)
		args, kw = plain(args), plainKw(kw)
		delete(kw, "inplace")
		if kw["out"] == nil {
			delete(kw, "out")
		}
		for _, k := range []string{"requires_grad", "pin_memory"} {
			if kw[k] == false || kw[k] == nil {
				delete(kw, k)
			}
		}
		op, bound, err := aten.ResolveOverload(p, args, kw)
		if err != nil {
			// x.permute(1, 0): trailing ints are one list.
			for k := 0; k <= 1 && k < len(args); k++ {
				rest := args[k:]
				ints := len(rest) > 0
				for _, r := range rest {
					if _, ok := r.(int64); !ok {
						ints = false
					}
				}
				if !ints {
					continue
				}
				alt := append(append([]aten.Value{}, args[:k]...), append([]aten.Value{}, rest...))
				if o, b, e := aten.ResolveOverload(p, alt, kw); e == nil {
					op, bound, err = o, b, nil
					break
				}
			}
			// Tensor lists given one by one.
			if err != nil && len(args) > 0 {
				if o, b, e := aten.ResolveOverload(p, []aten.Value{args}, kw); e == nil {
					op, bound, err = o, b, nil
				}
			}
			// expand() and friends may be called without sizes.
			if err != nil && len(args) == 1 {
				if o, b, e := aten.ResolveOverload(p, []aten.Value{args[0], []aten.Value{}}, kw); e == nil {
					op, bound, err = o, b, nil
				}
			}
		}
		if err != nil {
			return nil, err
		}
		return d.Dispatch(op, bound)
	}
}

// GetItem is tensor indexing: ints, slices, None, Ellipsis, tensors, lists and tuples of them.
func GetItem(d aten.Dispatcher, t *tensor.Tensor, index aten.Value) (aten.Value, error) {
	items, ok := index.(Tuple)
	if !ok {
		items = Tuple{index}
	}
	used := 0
	for _, it := range items {
		switch it := it.(type) {
		case nil, Ellipsis, bool:
		case *tensor.Tensor:
			if it.DType == tensor.Bool || it.DType == tensor.UInt8 {
				used += it.Dim()
			} else {
				used++
			}
		default:
			used++
		}
	}
	cur := aten.Value(t)
	dim := int64(0)
	var idx []aten.Value
	advanced := false
	run := func(name string, args ...aten.Value) error {
		v, err := aten.Run(d, name, append([]aten.Value{cur}, args...)...)
		if err == nil {
			cur = v
		}
		return err
	}
	put := func(v aten.Value) {
		for int64(len(idx)) < dim {
			idx = append(idx, nil)
		}
		idx = append(idx, v)
		advanced = true
	}
	for _, it := range items {
		var err error
		switch it := it.(type) {
		case int64:
			err = run("aten.select.int", dim, it)
		case Slice:
			step := it.Step
			if step == nil {
				step = int64(1)
			}
			if it.Start != nil || it.Stop != nil || step != int64(1) {
				err = run("aten.slice.Tensor", dim, it.Start, it.Stop, step)
			}
			dim++
		case Ellipsis:
			dim += int64(t.Dim() - used)
		case nil:
			err = run("aten.unsqueeze", dim)
			dim++
		case bool:
			if err = run("aten.unsqueeze", dim); err == nil {
				put(tensor.FromBools([]bool{it}))
				dim++
			}
		case *tensor.Tensor:
			if it.Dim() == 0 && it.DType.IsInt() && !it.Fake {
				err = run("aten.select.int", dim, it.AtInt(0))
				break
			}
			put(it)
			if it.DType == tensor.Bool {
				dim += int64(it.Dim())
			} else {
				dim++
			}
		case []aten.Value:
			x, e := listTensor(it)
			if e != nil {
				return nil, e
			}
			put(x)
			dim++
		default:
			return nil, fmt.Errorf("index of type %T", it)
		}
		if err != nil {
			return nil, err
		}
	}
	if advanced {
		return aten.Run(d, "aten.index.Tensor", cur, idx)
	}
	if cur == aten.Value(t) {
		return aten.Run(d, "aten.alias", t)
	}
	return cur, nil
}

func listTensor(l []aten.Value) (*tensor.Tensor, error) {
	xs := make([]int64, len(l))
	bools := make([]bool, len(l))
	isBool := false
	for i, v := range l {
		switch v := v.(type) {
		case int64:
			xs[i] = v
		case bool:
			bools[i], isBool = v, true
		default:
			return nil, fmt.Errorf("list index of %T", v)
		}
	}
	if isBool {
		return tensor.FromBools(bools, int64(len(l))), nil
	}
	return tensor.FromInt64s(xs, int64(len(l))), nil
}
