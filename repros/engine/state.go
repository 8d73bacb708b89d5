package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"whittle/kernels/tensor"
	"whittle/minify"
	"whittle/repros"
)

// SaveDir is the folder of storages beside a repro file.
const SaveDir = "checkpoints"

// Start is the state that r stands for, without its inputs: those come from what the engine holds.
func Start(r *repros.Repro) minify.State {
	s := minify.State{Module: r.Module}
	for _, c := range r.Config {
		s.Config = append(s.Config, minify.Setting(c))
	}
	return s
}

// A Hold says what storage the i-th input of a state has, whose data are none of those that an expression gives. Inputs that share memory share
// a storage, and are asked for once.
type Hold func(i int, in minify.Input) (repros.Storage, error)

// Render is the repro of a state: r with the state's graph, settings and inputs. An input that no repro can have is an error.
func Render(r *repros.Repro, s minify.State, hold Hold) (*repros.Repro, error) {
	x := *r
	x.Module = s.Module
	x.Config, x.Storages, x.Inputs = nil, nil, nil
	for _, c := range s.Config {
		x.Config = append(x.Config, repros.Setting(c))
	}
	return &x, place(&x, s, hold)
}

// Describe is the repro of a state without its data: for people, and for the store while a search is under way.
func Describe(r *repros.Repro, s minify.State) (*repros.Repro, error) {
	return Render(r, s, func(int, minify.Input) (repros.Storage, error) { return repros.Storage{}, nil })
}

// Finish is the repro of a state as it is written to a file. data gives the bytes of the i-th input's storage; what is too much for the file's
// text comes back by hash, and the text expects it below SaveDir.
func Finish(r *repros.Repro, s minify.State, data func(i int, in minify.Input) ([]byte, error)) (*repros.Repro, map[string][]byte, error) {
	stored := map[string][]byte{}
	x, err := Render(r, s, func(i int, in minify.Input) (repros.Storage, error) {
		b, err := data(i, in)
		if err != nil {
			return repros.Storage{}, err
		}
		return inlined(b, in.Value.(*tensor.Tensor).DType, stored), nil
	})
	x.SaveDir = ""
	if len(stored) > 0 {
		x.SaveDir = SaveDir
	}
	return x, stored, err
}

// maxInline is up to how many elements a storage is written into the repro's text.
const maxInline = 64

// inlined is a storage as text where it is small, else by the hash of its bytes, which are added to stored.
func inlined(data []byte, d tensor.DType, stored map[string][]byte) repros.Storage {
	st := repros.Storage{NBytes: int64(len(data)), DTypeHint: d.String()}
	if n := len(data) / d.Size(); n*d.Size() == len(data) && (n <= maxInline || uniform(data, d.Size())) {
		st.Expr = repros.DataExpr(d.String(), []int64{int64(n)}, data, "") + ".untyped_storage()"
		return st
	}
	st.Hash = repros.StorageHash(data)
	stored[st.Hash] = data
	return st
}

// uniform reports whether all elements are the same.
func uniform(data []byte, size int) bool {
	for i := size; i < len(data); i += size {
		if !slices.Equal(data[i:i+size], data[:size]) {
			return false
		}
	}
	return len(data) > 0
}

// place describes a state's inputs in r: fills as expressions, held data by what hold says.
func place(r *repros.Repro, s minify.State, hold Hold) error {
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
			x := repros.Input{Kind: repros.TensorInput, Name: n.Target, Storage: k, Shape: slices.Clone(v.Shape), Offset: v.Offset, DType: v.DType.String(), RequiresGrad: in.RequiresGrad, Leaf: in.Leaf()}
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

// storage is that of the i-th input, a tensor.
func storage(i int, in minify.Input, t *tensor.Tensor, hold Hold) (repros.Storage, error) {
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
	st := repros.Storage{NBytes: Span(t) * int64(t.DType.Size()), Device: "cpu", DTypeHint: t.DType.String()}
	expr, err := fill(in.Data, t)
	if err != nil || expr == "" {
		return st, err
	}
	st.Expr = expr + ".untyped_storage()"
	return st, nil
}

// Span is how many elements a tensor's storage has at least.
func Span(t *tensor.Tensor) int64 {
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
	n, typ := Span(t), ""
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
