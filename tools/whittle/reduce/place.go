package reduce

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"whittle/kernels/tensor"
	"whittle/minify"
	"whittle/repros"
)

// place describes a state's inputs in r: fills as expressions, held data by what hold says of the i-th input. Inputs that share memory share
// a storage, which hold is asked for once.
func place(r *repros.Repro, s minify.State, hold func(i int, in minify.Input) (repros.Storage, error)) error {
	seen := map[*tensor.Storage]int{}
	for i, n := range s.Module.Graph.Placeholders() {
		in := s.Inputs[i]
		switch v := in.Value.(type) {
		case nil:
			r.Inputs = append(r.Inputs, repros.Input{Kind: repros.ConstInput, Name: n.Target})
		case int64, float64:
			r.Inputs = append(r.Inputs, repros.Input{Kind: repros.SymIntInput, Name: n.Target, Value: v})
		case bool:
			k := int64(0)
			if v {
				k = 1
			}
			r.Inputs = append(r.Inputs, repros.Input{Kind: repros.SymIntInput, Name: n.Target, Value: k})
		case *tensor.Tensor:
			if in.Data.Fill == minify.FillZeroTensor {
				r.Inputs = append(r.Inputs, repros.Input{Kind: repros.ExprInput, Name: n.Target, Shape: v.Shape, DType: v.DType.String(),
					Expr: "torch._efficientzerotensor(" + tuple(v.Shape) + ", dtype=torch." + v.DType.String() + ")"})
				continue
			}
			k, shared := seen[v.Storage]
			if !shared {
				st, err := storage(i, in, v, hold)
				if err != nil {
					return fmt.Errorf("input %s: %w", n.Target, err)
				}
				k = len(r.Storages)
				r.Storages = append(r.Storages, st)
				seen[v.Storage] = k
			}
			x := repros.Input{Kind: repros.TensorInput, Name: n.Target, Storage: k, Shape: slices.Clone(v.Shape), Offset: v.Offset, DType: v.DType.String(), RequiresGrad: in.RequiresGrad, Leaf: true}
			if !slices.Equal(v.Stride, tensor.ContiguousStrides(v.Shape)) {
				x.Stride = slices.Clone(v.Stride)
			}
			r.Inputs = append(r.Inputs, x)
		default:
			return fmt.Errorf("input %s: a %T cannot be written into a repro", n.Target, v)
		}
	}
	return nil
}

func storage(i int, in minify.Input, t *tensor.Tensor, hold func(int, minify.Input) (repros.Storage, error)) (repros.Storage, error) {
	if in.Data.Fill == minify.FillNone {
		st, err := hold(i, in)
		if st.NBytes == 0 {
			st.NBytes = t.Storage.NBytes
		}
		if st.DTypeHint == "" {
			st.DTypeHint = t.DType.String()
		}
		st.Device = "cpu"
		return st, err
	}
	st := repros.Storage{NBytes: span(t) * int64(t.DType.Size()), Device: "cpu", DTypeHint: t.DType.String()}
	expr, err := fill(in.Data, t)
	if err != nil || expr == "" {
		return st, err
	}
	st.Expr = expr + ".untyped_storage()"
	return st, nil
}

// span is how many elements a tensor's storage has at least.
func span(t *tensor.Tensor) int64 {
	last := t.Offset + 1
	for i, n := range t.Shape {
		if n == 0 {
			return t.Offset
		}
		last += (n - 1) * t.Stride[i]
	}
	return last
}

// fill is Python for a tensor whose storage holds the elements of t, "" for random data.
func fill(d minify.Data, t *tensor.Tensor) (string, error) {
	n, typ := span(t), ""
	if t.DType != tensor.Float32 {
		typ = ", dtype=torch." + t.DType.String()
	}
	plain := t.Offset == 0 && slices.Equal(t.Stride, tensor.ContiguousStrides(t.Shape))
	var flat string
	switch d.Fill {
	case minify.FillRandom:
		return "", nil
	case minify.FillZeros:
		return fmt.Sprintf("torch.zeros(%d%s)", n, typ), nil
	case minify.FillOnes:
		return fmt.Sprintf("torch.ones(%d%s)", n, typ), nil
	case minify.FillArange:
		flat = fmt.Sprintf("torch.arange(%d, dtype=torch.%s)", t.Numel(), t.DType)
	case minify.FillList:
		flat = fmt.Sprintf("torch.tensor([%s], dtype=torch.%s)", strings.Join(d.List, ", "), t.DType)
	default:
		return "", fmt.Errorf("unknown fill %q", d.Fill)
	}
	if plain {
		return flat, nil
	}
	if t.Offset != 0 {
		return "", fmt.Errorf("a list of elements for a tensor with an offset")
	}
	return fmt.Sprintf("torch.empty_strided(%s, %s%s).copy_(%s.reshape(%s))", tuple(t.Shape), tuple(t.Stride), typ, flat, tuple(t.Shape)), nil
}

// tuple is a Python tuple.
func tuple(xs []int64) string {
	parts := make([]string, len(xs))
	for i, x := range xs {
		parts[i] = strconv.FormatInt(x, 10)
	}
	if len(xs) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
