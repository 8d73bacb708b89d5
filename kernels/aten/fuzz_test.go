package aten

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"whittle/kernels/tensor"
)

// randomTensor makes a small tensor: often of rank 2, sometimes 0-d, empty, with dimensions of size 1, strided, or transposed.
func randomTensor(r *rand.Rand, rank int) *tensor.Tensor {
	if rank < 0 {
		rank = []int{2, 2, 3, 1, 4, 0}[r.IntN(6)]
	}
	shape := make([]int64, rank)
	for i := range shape {
		shape[i] = []int64{3, 3, 3, 2, 1, 4, 0}[r.IntN(7)]
	}
	d := []tensor.DType{tensor.Float32, tensor.Float32, tensor.Float64, tensor.Int64, tensor.Bool, tensor.BFloat16, tensor.Int32}[r.IntN(7)]
	st := tensor.ContiguousStrides(shape)
	off := int64(0)
	switch r.IntN(4) {
	case 0:
		for i := range st {
			st[i] *= 2
		}
		off = 1
	case 1:
		if rank >= 2 {
			rev := slices.Clone(shape)
			slices.Reverse(rev)
			st = tensor.ContiguousStrides(rev)
			slices.Reverse(st)
		}
	}
	n := off + 1
	for i, s := range shape {
		n += max(s-1, 0) * st[i]
	}
	t := tensor.NewView(tensor.Empty(d, n), shape, st, off)
	t.Base = nil
	xs := make([]float64, t.Numel())
	for i := range xs {
		xs[i] = float64(r.IntN(9)-3) / []float64{1, 1, 2}[r.IntN(3)]
		if d.Kind() < tensor.KindFloat {
			xs[i] = float64(r.IntN(3))
		}
	}
	t.SetFloats(xs)
	return t
}

// randomArgs makes a value for each argument of a schema. Tensors of one call mostly have one rank.
func randomArgs(r *rand.Rand, s *Schema) []Value {
	rank := -1
	if r.IntN(3) > 0 {
		rank = []int{2, 2, 1, 3, 4}[r.IntN(5)]
	}
	first := true
	tens := func() *tensor.Tensor {
		if !first && r.IntN(8) == 0 {
			return randomTensor(r, -1)
		}
		first = false
		return randomTensor(r, rank)
	}
	one := func(a Arg) Value {
		switch a.Type.Base {
		case "Tensor":
			return tens()
		case "int", "SymInt":
			return int64(r.IntN(5) - 1)
		case "float", "SymFloat":
			return float64(r.IntN(5)) / 2
		case "bool", "SymBool":
			return r.IntN(2) == 0
		case "Scalar", "number":
			return []Value{int64(r.IntN(4)), float64(r.IntN(4)) / 2, true}[r.IntN(3)]
		case "str":
			return []Value{"mean", "sum", "none", "amax", "constant", "reflect", "linear"}[r.IntN(7)]
		case "ScalarType":
			return []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int64}[r.IntN(3)]
		}
		return nil
	}
	out := make([]Value, len(s.Args))
	for i, a := range s.Args {
		if a.HasDefault && r.IntN(2) == 0 || a.Type.Base == "Generator" || a.Type.Base == "Device" || a.Type.Base == "Layout" || a.Type.Base == "MemoryFormat" {
			out[i] = a.Default
			if a.HasDefault || a.Type.Optional {
				continue
			}
		}
		if a.Type.Optional && r.IntN(2) == 0 {
			out[i] = nil
			continue
		}
		if !a.Type.List {
			out[i] = one(a)
			continue
		}
		n := a.Type.Size
		if n == 0 || r.IntN(6) == 0 {
			n = r.IntN(4)
		}
		l := []Value{}
		for range n {
			v := one(a)
			if x, ok := v.(int64); ok && a.Name != "dim" && a.Name != "dims" {
				v = max(x, 1)
			}
			l = append(l, v)
		}
		out[i] = l
	}
	return out
}

func fakeArg(v Value) Value {
	switch v := v.(type) {
	case *tensor.Tensor:
		return tensor.FakeLike(v)
	case []Value:
		out := make([]Value, len(v))
		for i, x := range v {
			out[i] = fakeArg(x)
		}
		return out
	}
	return v
}

func describe(v Value) string {
	switch v := v.(type) {
	case *tensor.Tensor:
		return fmt.Sprintf("%s%v%v", v.DType.Short(), v.Shape, v.Stride)
	case []Value:
		p := make([]string, len(v))
		for i, x := range v {
			p[i] = describe(x)
		}
		return "(" + strings.Join(p, ", ") + ")"
	}
	return fmt.Sprint(v)
}

// trusting are operators whose kernels rely on the shapes that the derivative or the module calling them gives: a call with
// others fails from within.
var trusting = map[string]bool{"_adaptive_avg_pool2d_backward": true, "_adaptive_avg_pool3d_backward": true, "_cdist_backward": true, "_native_multi_head_attention": true,
	"_scaled_dot_product_flash_attention_for_cpu_backward": true, "_transformer_encoder_layer_fwd": true, "batch_norm_backward": true,
	"convolution_backward": true, "embedding_dense_backward": true, "embedding_backward": true, "glu_backward": true, "masked_scatter_backward": true,
	"multi_margin_loss_backward": true, "native_batch_norm_backward": true, "native_group_norm_backward": true,
	"native_layer_norm_backward": true, "nll_loss_backward": true, "_segment_reduce_backward": true, "nll_loss2d_backward": true, "_pdist_backward": true, "avg_pool2d_backward": true, "avg_pool3d_backward": true}

// skipped says which operators random arguments are not for: those that make tensors of any size, or random numbers.
func skipped(op *Op) bool {
	return op.Sig().Namespace != "aten" || op.Has(Factory) || op.Has(Random)
}

// TestRandomCalls runs every operator on random arguments: no kernel may fail from within, and metadata must agree with what the
// kernel computes.
func TestRandomCalls(t *testing.T) {
	calls := 20
	if testing.Short() {
		calls = 3
	}
	ran, wrong := 0, map[string]string{}
	for _, op := range All() {
		if skipped(op) {
			continue
		}
		r := rand.New(rand.NewPCG(1, uint64(len(op.Schema))))
		for range calls {
			args := randomArgs(r, op.Sig())
			fakes := fakeArg(args).([]Value)
			desc := describe(args)
			real, rerr := Eager.Dispatch(op, args)
			fake, ferr := Fake.Dispatch(op, fakes)
			ran++
			complain := func(what string) {
				if wrong[op.Name()] == "" {
					wrong[op.Name()] = what + " of " + desc
				}
			}
			var fe *Error
			switch {
			case trusting[op.Sig().Name] && (rerr != nil || ferr != nil):
			case rerr != nil && strings.Contains(rerr.Error(), "internal error"):
				complain(rerr.Error())
			case ferr != nil && strings.Contains(ferr.Error(), "internal error"):
				complain("fake: " + ferr.Error())
			case errors.As(ferr, &fe) && fe.Kind == DataDependentError:
			case rerr == nil && ferr != nil:
				complain("fake fails: " + ferr.Error())
			case rerr == nil:
				if a, b := describe(real), describe(fake); a != b {
					complain("eager " + a + ", fake " + b)
				}
			}
		}
	}
	t.Logf("%d calls", ran)
	for n, w := range wrong {
		t.Errorf("%s: %s", n, w)
	}
}
