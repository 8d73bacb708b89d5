package lowering_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/kernels/aten"
	"whittle/kernels/native"
	"whittle/kernels/tensor"
	"whittle/lowering"
	"whittle/lowering/triton"
	"whittle/tools/tritontest"
)

// edges are values at which arithmetic of a dtype is not as usual.
func edges(d tensor.DType) []float64 {
	switch d {
	case tensor.Bool:
		return []float64{0, 1}
	case tensor.UInt8:
		return []float64{1, 0, 2, 127, 128, 255}
	case tensor.Int32:
		return []float64{1, math.MinInt32, -1, 0, 65537, math.MaxInt32}
	case tensor.Int64:
		return []float64{1, -(1 << 63), -3, 0, 2, 1 << 62}
	}
	return []float64{0.5, math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -1.5, 2.5, 7.25, -88, 1e30}
}

// operand is number k of tensors of dtype d that meet in every combination of edges.
func operand(d tensor.DType, k int) *tensor.Tensor {
	values := edges(d)
	n, every := len(values), 1
	for range k {
		every *= n
	}
	xs := make([]float64, n*n*n)
	for i := range xs {
		xs[i] = values[(i/every)%n]
	}
	x := tensor.Empty(d, int64(len(xs)))
	x.SetFloats(xs)
	return x
}

// loopArguments are the arguments that a loop is called with where the schema alone does not say which make sense; x, y and z are tensors, matrix is x in
// two rows, planes in four dimensions, and at is [1, 0].
var loopArguments = map[string][]string{
	"aten._to_copy.default":              {"x, dtype = torch.float64", "x, dtype = torch.int64", "x, dtype = torch.uint8", "x, dtype = torch.bool", "x, dtype = torch.bfloat16"},
	"aten.clamp.default":                 {"x, -1, 2", "x, None, 0.5", "x, 3", "x, 2.5, -1.5"},
	"aten.div.Scalar_mode":               {"x, 3, rounding_mode = 'floor'", "x, -0.5, rounding_mode = 'trunc'", "x, 2, rounding_mode = None"},
	"aten.div.Tensor_mode":               {"x, y, rounding_mode = 'floor'", "x, y, rounding_mode = 'trunc'", "x, y, rounding_mode = None"},
	"aten.flip.default":                  {"x, [0]", "x, [-1]", "x, []"},
	"prims.rev.default":                  {"x, [0]", "x, []"},
	"aten.full.default":                  {"[3], 2.5", "[3], 2, dtype = torch.uint8", "[], True"},
	"aten.new_full.default":              {"x, [3], 1"},
	"aten.new_ones.default":              {"x, [3]"},
	"aten.new_zeros.default":             {"x, [3]"},
	"aten.ones.default":                  {"[2, 3]"},
	"aten.zeros.default":                 {"[2, 3], dtype = torch.bool"},
	"aten.scalar_tensor.default":         {"2", "2.5, dtype = torch.float64", "True, dtype = torch.bool"},
	"prims.convert_element_type.default": {"x, torch.float64", "x, torch.int64", "x, torch.int32", "x, torch.uint8", "x, torch.bool", "x, torch.float16"},
	"prims.iota.default":                 {"5, start = 2, step = -3, dtype = torch.int64, device = device(type='cpu'), requires_grad = False"},
	"aten.add.Tensor":                    {"x, y", "x, 3", "x, -1.5", "x, y, alpha = 3"},
	"aten.sub.Tensor":                    {"x, y", "x, 3", "x, -1.5", "3, x", "x, y, alpha = 3"},
	"aten.mul.Tensor":                    {"x, y", "x, 3", "x, -1.5", "x, True"},
	"aten.where.self":                    {"gt, x, y", "gt, x, scalar"},
	"aten.where.ScalarOther":             {"gt, x, 1"},
	"aten.embedding.default":             {"matrix, at"},
	"aten.gather.default":                {"x, 0, at"},
	"aten.index_select.default":          {"x, 0, at", "matrix, -1, at"},
	"aten.index.Tensor":                  {"x, [at]", "matrix, [None, at]", "matrix, [at, at]"},
	"aten._unsafe_index.Tensor":          {"x, [at]", "matrix, [None, at]", "matrix, [at, at]"},
	"aten.avg_pool2d.default":            {"planes, [2, 2]", "planes, [2, 2], [1, 2], [1, 0], True, False"},
	"aten.avg_pool3d.default":            {"planes, [1, 2, 2]", "planes, [1, 2, 1], [1, 1, 1], [0, 1, 0], True, False"},
	"aten._adaptive_avg_pool2d.default":  {"planes, [2, 1]"},
	"aten._adaptive_avg_pool3d.default":  {"planes, [1, 2, 2]"},
}

// arguments are those that a loop is called with: by its row in loopArguments, else tensors for tensors, and several numbers for a number.
func arguments(op *aten.Op) []string {
	if as := loopArguments[op.Name()]; as != nil {
		return as
	}
	out := []string{""}
	tensors := 0
	for _, a := range op.Sig().Args {
		var each []string
		switch {
		case a.KwOnly || a.HasDefault:
			continue
		case a.Type.Base == "Tensor":
			each = []string{[]string{"x", "y", "z"}[tensors]}
			tensors++
		case a.Type.Base == "Scalar":
			each = []string{"3", "-1.5", "0", "True"}
		default:
			return nil
		}
		var next []string
		for _, o := range out {
			for _, e := range each {
				next = append(next, strings.TrimPrefix(o+", "+e, ", "))
			}
		}
		out = next
	}
	return out
}

// TestLoops walks the operators that become loops: each, in every dtype that its kernel takes, gives at special values what the kernel gives.
func TestLoops(t *testing.T) {
	if _, err := native.FindCompiler(); err != nil {
		t.Skip(err)
	}
	ctx := context.Background()
	compared := map[string]bool{}
	inTriton := tritontest.New(t)
	var loops []*aten.Op
	for _, op := range aten.All() {
		if lowering.Kind(op) == "loop" {
			loops = append(loops, op)
		}
	}
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Int64, tensor.Int32, tensor.UInt8, tensor.Bool} {
		inputs := []any{operand(d, 0), operand(d, 1), operand(d, 2)}
		head := "def forward(self, x, y, z):\n    gt = torch.ops.aten.gt.Tensor(x, y)\n    scalar = torch.ops.aten.scalar_tensor.default(2, dtype = torch." + d.String() + ")\n" +
			"    matrix = torch.ops.aten.view.default(x, [2, -1])\n    planes = torch.ops.aten.view.default(x, [1, 1, 4, -1])\n" +
			"    at = torch.ops.prims.iota.default(2, start = 1, step = -1, dtype = torch.int64, device = device(type='cpu'), requires_grad = False)\n"
		var lines, calls []string
		var want []any
		for _, op := range loops {
			for _, args := range arguments(op) {
				line := fmt.Sprintf("    r%d = torch.ops.%s(%s)\n", len(calls), op.Name(), args)
				g, err := fx.ParseGraph(head + line + fmt.Sprintf("    return r%d", len(calls)))
				if err != nil {
					t.Fatal(err)
				}
				v, err := fx.Run(ctx, &fx.GraphModule{Graph: g}, inputs, interp.Aten(ctx, aten.Eager))
				if err != nil {
					continue // the kernel refuses this dtype, or divides by zero
				}
				lines, calls, want = append(lines, line), append(calls, fmt.Sprintf("%s(%s) of %s", op.Name(), args, d)), append(want, v)
				compared[op.Name()] = true
			}
		}
		var results []string
		for i := range calls {
			results = append(results, fmt.Sprintf("r%d", i))
		}
		g, err := fx.ParseGraph(head + strings.Join(lines, "") + "    return (" + strings.Join(results, ", ") + ")")
		if err != nil {
			t.Fatal(err)
		}
		gm := &fx.GraphModule{Graph: g}
		if err := interp.Propagate(ctx, gm, inputs); err != nil {
			t.Fatal(err)
		}
		check := func(how string, got []any, err error) {
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range calls {
				differ(t, c+how, got[i].(*tensor.Tensor), want[i].(*tensor.Tensor), inputs)
			}
		}
		for tier, how := range map[lowering.Tier]string{lowering.Cpp: "", lowering.Tiles: " in tiles"} {
			p, err := lowering.Compile(ctx, gm, lowering.Config{CacheDir: t.TempDir(), Tier: tier, Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Run(inputs)
			check(how, got, err)
		}
		text, err := lowering.Triton(gm, lowering.Config{}, "inference", triton.Devices[0])
		if err != nil {
			t.Fatal(err)
		}
		got, err := inTriton.Run(text, inputs, 1024, 64)
		check(" in Triton", got, err)
	}
	for _, op := range loops {
		if !compared[op.Name()] {
			t.Errorf("%s has no call that is compared", op)
		}
	}
}

// differ says where a loop's result is not the kernel's.
func differ(t *testing.T, call string, got, want *tensor.Tensor, inputs []any) {
	t.Helper()
	if got.DType != want.DType || !tensor.SameShape(got, want) {
		t.Errorf("%s: %s%v, want %s%v", call, got.DType, got.Shape, want.DType, want.Shape)
		return
	}
	limit := map[tensor.DType]float64{tensor.Float64: 1e-12, tensor.Float32: 1e-6, tensor.BFloat16: 1e-2, tensor.Float16: 1e-3}[want.DType]
	bad := 0
	for i := range want.Numel() {
		x, y := got.At(i), want.At(i)
		if x == y || x != x && y != y || math.Abs(x-y) <= limit*math.Abs(y) {
			continue
		}
		if bad++; bad <= 2 {
			var at []float64
			for _, in := range inputs {
				at = append(at, in.(*tensor.Tensor).At(i%in.(*tensor.Tensor).Numel()))
			}
			t.Errorf("%s at %v is %v, want %v", call, at, x, y)
		}
	}
}
