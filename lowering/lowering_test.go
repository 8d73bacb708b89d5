package lowering_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"whittle/accuracy"
	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/kernels/aten"
	"whittle/kernels/native"
	"whittle/kernels/tensor"
	"whittle/lowering"
)

func data(shape ...int64) *tensor.Tensor {
	xs := make([]float32, tensor.Numel(shape))
	for i := range xs {
		xs[i] = float32(math.Sin(float64(i)*0.7 + 0.3))
	}
	return tensor.FromFloat32s(xs, shape...)
}

func compile(t *testing.T, body string, cfg lowering.Config, inputs ...any) (*fx.GraphModule, *lowering.Compiled, error) {
	t.Helper()
	if _, err := native.FindCompiler(); err != nil && cfg.Tier != lowering.Tiles {
		t.Skip(err)
	}
	names := []string{"a", "b", "c"}[:len(inputs)]
	g, err := fx.ParseGraph("def forward(self, " + strings.Join(names, ", ") + "):\n" + body)
	if err != nil {
		t.Fatal(err)
	}
	gm := &fx.GraphModule{Graph: g}
	if err := interp.Propagate(context.Background(), gm, inputs); err != nil {
		t.Fatal(err)
	}
	cfg.CacheDir = t.TempDir()
	c, err := lowering.Compile(context.Background(), gm, cfg)
	return gm, c, err
}

// TestCompiledEqualsEager compares generated code with the eager kernels on small graphs.
func TestCompiledEqualsEager(t *testing.T) {
	m := data(4, 6)
	cases := []struct {
		name, body string
		inputs     []any
	}{
		{"pointwise chain", `
    sin = torch.ops.aten.sin.default(a)
    mul = torch.ops.aten.mul.Tensor(sin, b)
    add = torch.ops.aten.add.Tensor(mul, 2.0)
    relu = torch.ops.aten.relu.default(add)
    return (relu, mul)`, []any{m, data(6)}},
		{"softmax", `
    amax = torch.ops.aten.amax.default(a, [1], True)
    sub = torch.ops.aten.sub.Tensor(a, amax)
    exp = torch.ops.aten.exp.default(sub)
    sum_1 = torch.ops.aten.sum.dim_IntList(exp, [1], True)
    div = torch.ops.aten.div.Tensor(exp, sum_1)
    return (div,)`, []any{m}},
		{"views stay free", `
    permute = torch.ops.aten.permute.default(a, [1, 0])
    exp = torch.ops.aten.exp.default(permute)
    view = torch.ops.aten.view.default(a, [2, 12])
    slice_1 = torch.ops.aten.slice.Tensor(view, 1, 2, 8, 2)
    neg = torch.ops.aten.neg.default(slice_1)
    return (exp, neg)`, []any{m}},
		{"a transposed read waits for all that it reads", `
    sin = torch.ops.aten.sin.default(a)
    permute = torch.ops.aten.permute.default(sin, [1, 0])
    exp = torch.ops.aten.exp.default(permute)
    add = torch.ops.aten.add.Tensor(exp, sin)
    return (sin, permute, exp, add)`, []any{data(5, 5)}},
		{"layer norm", `
    var_mean = torch.ops.aten.var_mean.correction(a, [1], correction = 0, keepdim = True)
    getitem = var_mean[0]
    getitem_1 = var_mean[1]
    add = torch.ops.aten.add.Tensor(getitem, 1e-05)
    rsqrt = torch.ops.aten.rsqrt.default(add)
    sub = torch.ops.aten.sub.Tensor(a, getitem_1)
    mul = torch.ops.aten.mul.Tensor(sub, rsqrt)
    return (mul,)`, []any{m}},
		{"reductions without and with kept axes", `
    mean = torch.ops.aten.mean.dim(a, [0])
    sum_1 = torch.ops.aten.sum.default(a)
    amin = torch.ops.aten.amin.default(a, [1], True)
    return (mean, sum_1, amin)`, []any{m}},
		{"matrix product between loops", `
    exp = torch.ops.aten.exp.default(a)
    mm = torch.ops.aten.mm.default(exp, b)
    tanh = torch.ops.aten.tanh.default(mm)
    return (tanh,)`, []any{m, data(6, 3)}},
		{"comparison and where", `
    gt = torch.ops.aten.gt.Scalar(a, 0)
    full = torch.ops.aten.full.default([], 0.5, dtype = torch.float32)
    where = torch.ops.aten.where.self(gt, a, full)
    return (where, gt)`, []any{m}},
		{"integers", `
    add = torch.ops.aten.add.Tensor(a, 7)
    remainder = torch.ops.aten.remainder.Scalar(add, 3)
    mul = torch.ops.aten.mul.Tensor(remainder, remainder)
    return (mul,)`, []any{tensor.FromInt64s([]int64{-5, 0, 3, 9}, 4)}},
		{"the least integer divided by -1", `
    remainder = torch.ops.aten.remainder.Tensor(a, b)
    fmod = torch.ops.aten.fmod.Tensor(a, b)
    return (remainder, fmod)`, []any{tensor.FromInt64s([]int64{math.MinInt64, 7}, 2), tensor.FromInt64s([]int64{-1, -1}, 2)}},
		{"views of what is not in memory", `
    exp = torch.ops.aten.exp.default(a)
    view = torch.ops.aten.view.default(exp, [2, 2, 3, 2])
    permute = torch.ops.aten.permute.default(view, [0, 2, 1, 3])
    neg = torch.ops.aten.neg.default(permute)
    clone = torch.ops.aten.clone.default(neg, memory_format = torch.contiguous_format)
    view_1 = torch.ops.aten.view.default(clone, [8, 3])
    slice_1 = torch.ops.aten.slice.Tensor(view_1, 0, -7, 9223372036854775807, 2)
    select = torch.ops.aten.select.int(slice_1, 1, -1)
    flip = torch.ops.aten.flip.default(slice_1, [0, 1])
    sin = torch.ops.aten.sin.default(select)
    cos = torch.ops.aten.cos.default(flip)
    view_2 = torch.ops.aten.view.default(clone, [24])
    view_3 = torch.ops.aten.view.default(view_2, [3, 8])
    sum_1 = torch.ops.aten.sum.dim_IntList(view_3, [1])
    return (sin, cos, sum_1)`, []any{m}},
		{"the same rows under two shapes", `
    view = torch.ops.aten.view.default(a, [32, 4, 12])
    amax = torch.ops.aten.amax.default(view, [2])
    exp = torch.ops.aten.exp.default(a)
    sum_1 = torch.ops.aten.sum.dim_IntList(exp, [1], True)
    div = torch.ops.aten.div.Tensor(exp, sum_1)
    view_1 = torch.ops.aten.view.default(div, [32, 4, 12])
    unsqueeze = torch.ops.aten.unsqueeze.default(amax, 2)
    add = torch.ops.aten.add.Tensor(view_1, unsqueeze)
    return (add, amax)`, []any{data(128, 12)}},
		{"parts side by side, padded", `
    exp = torch.ops.aten.exp.default(a)
    cat = torch.ops.aten.cat.default([exp, a, b], 1)
    cat_1 = torch.ops.aten.cat.default([a, exp], -2)
    pad = torch.ops.aten.constant_pad_nd.default(exp, [1, 2, 0, 3], 0.5)
    sum_1 = torch.ops.aten.sum.dim_IntList(cat, [1])
    neg = torch.ops.aten.neg.default(pad)
    return (cat, cat_1, pad, sum_1, neg)`, []any{m, data(4, 2)}},
		{"reductions of columns, of the middle, and of all that is long", `
    mul = torch.ops.aten.mul.Tensor(a, a)
    sum_1 = torch.ops.aten.sum.dim_IntList(mul, [0])
    view = torch.ops.aten.view.default(a, [50, 60, 70])
    amax = torch.ops.aten.amax.default(view, [1])
    amin = torch.ops.aten.amin.default(view, [0, 2])
    mean = torch.ops.aten.mean.default(a)
    view_1 = torch.ops.aten.view.default(a, [42000, 5])
    sum_2 = torch.ops.aten.sum.dim_IntList(view_1, [0])
    var_mean = torch.ops.aten.var_mean.correction(view_1, [0], correction = 1)
    getitem = var_mean[0]
    getitem_1 = var_mean[1]
    gt = torch.ops.aten.gt.Scalar(a, 2)
    any_1 = torch.ops.aten.any.default(gt)
    return (sum_1, amax, amin, mean, sum_2, getitem, getitem_1, any_1)`, []any{data(300, 700)}},
		{"variances", `
    var = torch.ops.aten.var.correction(a, [1], correction = 1)
    var_1 = torch.ops.aten.var.correction(a, correction = 0)
    var_2 = torch.ops.aten.var.correction(a, [0], correction = 1, keepdim = True)
    var_3 = torch.ops.aten.var.correction(b, [0], correction = 1)
    return (var, var_1, var_2, var_3)`, []any{m, data(1, 3)}},
		{"transposes, in tiles", `
    permute = torch.ops.aten.permute.default(a, [1, 0])
    add = torch.ops.aten.add.Tensor(permute, b)
    view = torch.ops.aten.view.default(b, [5, 17, 50])
    permute_1 = torch.ops.aten.permute.default(view, [2, 0, 1])
    clone = torch.ops.aten.clone.default(permute_1, memory_format = torch.contiguous_format)
    return (add, clone)`, []any{data(50, 85), data(85, 50)}},
		{"transposes, in blocks that are turned", `
    permute = torch.ops.aten.permute.default(a, [1, 0])
    add = torch.ops.aten.add.Tensor(permute, b)
    mul = torch.ops.aten.mul.Tensor(add, permute)
    flip = torch.ops.aten.flip.default(a, [1])
    permute_1 = torch.ops.aten.permute.default(flip, [1, 0])
    sub = torch.ops.aten.sub.Tensor(b, permute_1)
    return (mul, sub)`, []any{data(300, 421), data(421, 300)}},
		{"rows of float16", `
    mul = torch.ops.aten.mul.Tensor(a, 2.5)
    sin = torch.ops.aten.sin.default(a)
    cat = torch.ops.aten.cat.default([mul, sin], 1)
    permute = torch.ops.aten.permute.default(a, [1, 0])
    add = torch.ops.aten.add.Tensor(permute, 1)
    amax = torch.ops.aten.amax.default(sin, [1])
    amin = torch.ops.aten.amin.default(mul, [0])
    select = torch.ops.aten.select.int(cat, 0, 2)
    neg = torch.ops.aten.neg.default(select)
    return (mul, sin, cat, add, amax, amin, neg)`, []any{data(9, 700).To(tensor.Float16)}},
		{"read by an index", `
    embedding = torch.ops.aten.embedding.default(a, b)
    relu = torch.ops.aten.relu.default(embedding)
    sum_1 = torch.ops.aten.sum.dim_IntList(embedding, [2])
    select = torch.ops.aten.select.int(b, 0, 1)
    index_select = torch.ops.aten.index_select.default(a, -1, select)
    exp = torch.ops.aten.exp.default(a)
    gather = torch.ops.aten.gather.default(exp, 1, b)
    add = torch.ops.aten.add.Tensor(gather, b)
    sub = torch.ops.aten.sub.Tensor(b, 6)
    index = torch.ops.aten.index.Tensor(a, [None, sub])
    view = torch.ops.aten.view.default(a, [3, 2, 7])
    index_1 = torch.ops.aten.index.Tensor(view, [select, None, select])
    unsqueeze = torch.ops.aten.unsqueeze.default(select, 1)
    index_2 = torch.ops.aten.index.Tensor(view, [unsqueeze, select])
    index_3 = torch.ops.aten._unsafe_index.Tensor(view, [None, select, unsqueeze])
    neg = torch.ops.aten.neg.default(index_3)
    return (relu, sum_1, index_select, add, index, index_1, index_2, neg)`, []any{data(6, 7), tensor.FromInt64s([]int64{2, 1, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0}, 4, 3)}},
		{"memory that is used again, and such that views share", `
    exp = torch.ops.aten.exp.default(a)
    mm = torch.ops.aten.mm.default(exp, b)
    view = torch.ops.aten.view.default(mm, [128, 256])
    sin = torch.ops.aten.sin.default(view)
    mm_1 = torch.ops.aten.mm.default(sin, exp)
    topk = torch.ops.aten.topk.default(mm_1, 200)
    getitem = topk[0]
    getitem_1 = topk[1]
    cos = torch.ops.aten.cos.default(mm_1)
    mm_2 = torch.ops.aten.mm.default(cos, b)
    sort = torch.ops.aten.sort.default(mm_2)
    getitem_2 = sort[0]
    transpose = torch.ops.aten.t.default(getitem_2)
    neg = torch.ops.aten.neg.default(getitem)
    return (neg, getitem_1, transpose, view)`, []any{data(256, 256), data(256, 128)}},
		{"operands that no vector reaches", `
    mul = torch.ops.aten.mul.Tensor(a, 1e8)
    sin = torch.ops.aten.sin.default(mul)
    remainder = torch.ops.aten.remainder.Scalar(mul, 0.3)
    sum_1 = torch.ops.aten.sum.dim_IntList(sin, [1])
    cos = torch.ops.aten.cos.default(mul)
    sum_2 = torch.ops.aten.sum.dim_IntList(cos, [0])
    return (sin, remainder, sum_1, sum_2)`, []any{data(6, 50)}},
		{"powers by a constant", `
    p1 = torch.ops.aten.pow.Tensor_Scalar(a, 3)
    p2 = torch.ops.aten.pow.Tensor_Scalar(a, -2)
    p3 = torch.ops.aten.pow.Tensor_Scalar(a, 0.5)
    p4 = torch.ops.aten.pow.Tensor_Scalar(a, 1.7)
    return (p1, p2, p3, p4)`, []any{m}},
		{"bfloat16 rounds", `
    convert = torch.ops.prims.convert_element_type.default(a, torch.bfloat16)
    mul = torch.ops.aten.mul.Tensor(convert, convert)
    return (mul,)`, []any{m}},
	}
	for i, c := range append(cases, cases...) {
		name, tier := c.name+" in C++", lowering.Cpp
		if i >= len(cases) {
			name, tier = c.name+" in tiles", lowering.Tiles
		}
		t.Run(name, func(t *testing.T) {
			gm, p, err := compile(t, c.body, lowering.Config{Tier: tier}, c.inputs...)
			if err != nil {
				t.Fatal(err)
			}
			want, err := fx.Run(context.Background(), gm, c.inputs, interp.Aten(context.Background(), aten.Eager))
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Run(c.inputs)
			if err != nil {
				t.Fatal(err)
			}
			o := accuracy.Default()
			o.Tol = 1e-5
			if rep := accuracy.Compare(want, any(got), nil, o); !rep.Same {
				t.Errorf("%s\n%s", rep.Message, strings.Join(p.Steps, "\n"))
			}
		})
	}
}

// TestReadOutOfRange: generated code reads by no index that the operator refuses, and the error is the operator's.
func TestReadOutOfRange(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"embedding = torch.ops.aten.embedding.default(a, b)", "index out of range in self"},
		{"index = torch.ops.aten.index.Tensor(a, [b])", "index 4 is out of bounds for dimension 0 with size 4"},
		{"exp = torch.ops.aten.exp.default(a)\n    sub = torch.ops.aten.sub.Tensor(b, 9)\n    index = torch.ops.aten.index.Tensor(exp, [None, sub])", "index -7 is out of bounds for dimension 1 with size 6"},
		{"gather = torch.ops.aten.gather.default(a, 0, b)", "index 4 is out of bounds for dimension 0 with size 4"},
	} {
		name, _, _ := strings.Cut(c.body[strings.LastIndex(c.body, "\n")+1:], " =")
		body := "\n    " + c.body + "\n    neg = torch.ops.aten.neg.default(" + strings.TrimSpace(name) + ")\n    return (neg,)"
		for _, tier := range []lowering.Tier{lowering.Cpp, lowering.Tiles} {
			_, p, err := compile(t, body, lowering.Config{Tier: tier}, data(4, 6), tensor.FromInt64s([]int64{2, 4}, 1, 2))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Run([]any{data(4, 6), tensor.FromInt64s([]int64{2, 4}, 1, 2)}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.body, err, c.want)
			}
		}
	}
}

// TestInjectedFaults shows what the settings for testing failing compilers do.
func TestInjectedFaults(t *testing.T) {
	body := "\n    relu = torch.ops.aten.relu.default(a)\n    return (relu,)"
	_, _, err := compile(t, body, lowering.Config{InjectRelu: "compile_error"}, data(4))
	var ce *lowering.CompileError
	if !errors.As(err, &ce) {
		t.Errorf("compile_error: got %v, want a CompileError", err)
	}
	_, p, err := compile(t, body, lowering.Config{InjectRelu: "accuracy"}, data(4))
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Run([]any{data(4)})
	if err != nil {
		t.Fatal(err)
	}
	if x, y := out[0].(*tensor.Tensor).At(0), data(4).At(0)+1; math.Abs(x-y) > 1e-6 {
		t.Errorf("accuracy: got %v, want x+1 = %v", x, y)
	}
}

// TestFoobarIsAnAssertion: the operator that exists to fail fails in lowering, with PyTorch's text.
func TestFoobarIsAnAssertion(t *testing.T) {
	_, _, err := compile(t, "\n    f = torch.ops.aten._foobar.default(a)\n    return (f,)", lowering.Config{}, data(2, 2))
	var le *lowering.LoweringError
	if !errors.As(err, &le) || le.Type != "AssertionError" || le.Target != "aten._foobar.default" {
		t.Errorf("got %v, want an AssertionError at aten._foobar.default", err)
	}
}
