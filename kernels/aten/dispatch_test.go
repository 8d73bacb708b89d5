package aten

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"whittle/kernels/tensor"
)

func f32(shape []int64, xs ...float32) *tensor.Tensor { return tensor.FromFloat32s(xs, shape...) }

func list64(xs ...int64) Value { return ints(xs) }

// TestValues compares with results printed by PyTorch 2.6.
func TestValues(t *testing.T) {
	x := f32([]int64{2, 3}, 1, -2, 3, 0.5, 0, -1)
	w := f32([]int64{3, 2}, 1, 2, 3, 4, 5, 6)
	tests := []struct {
		op   string
		args []Value
		want []float64
	}{
		{"aten.add.Tensor", []Value{x, 2.5}, []float64{3.5, 0.5, 5.5, 3, 2.5, 1.5}},
		{"aten.mm", []Value{x, w}, []float64{10, 12, -4.5, -5}},
		{"aten.sum.dim_IntList", []Value{x, list64(1)}, []float64{2, -0.5}},
		{"aten.softmax.int", []Value{x, int64(1)}, []float64{0.118499, 0.00589975, 0.875601, 0.546549, 0.331498, 0.121952}},
		{"aten.gelu", []Value{x}, []float64{0.841345, -0.0455003, 2.99595, 0.345731, 0, -0.158655}},
		{"aten.var_mean.correction", []Value{x, list64(1)}, nil},
		{"aten.where.self", []Value{tensor.FromBools([]bool{true, false, true}, 3), x, 9.0}, []float64{1, 9, 3, 0.5, 9, -1}},
		{"aten.remainder.Scalar", []Value{x, 1.5}, []float64{1, 1, 0, 0.5, 0, 0.5}},
		{"aten.div.Tensor_mode", nil, nil},
		{"aten.max_pool2d", []Value{f32([]int64{1, 1, 2, 2}, 1, 5, 3, 2), int64(2)}, []float64{5}},
		{"aten.linear", []Value{x, f32([]int64{1, 3}, 1, 1, 1), f32([]int64{1}, 10)}, []float64{12, 9.5}},
		{"aten.cumsum", []Value{x, int64(0)}, []float64{1, -2, 3, 1.5, -2, 2}},
		{"aten.index_select", []Value{x, int64(1), tensor.FromInt64s([]int64{2, 0})}, []float64{3, 1, -1, 0.5}},
	}
	for _, tc := range tests {
		if tc.want == nil {
			continue
		}
		v, err := Run(Eager, tc.op, tc.args...)
		if err != nil {
			t.Errorf("%s: %v", tc.op, err)
			continue
		}
		if d := cmp.Diff(tc.want, v.(*tensor.Tensor).Floats(), cmpopts.EquateApprox(1e-5, 1e-6)); d != "" {
			t.Errorf("%s: -want +got\n%s", tc.op, d)
		}
	}
}

func TestErrors(t *testing.T) {
	x, y := tensor.Empty(tensor.Float32, 2, 3), tensor.Empty(tensor.Float32, 4)
	tests := []struct {
		op   string
		args []Value
		kind Kind
		msg  string
	}{
		{"aten.add.Tensor", []Value{x, y}, RuntimeError, "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"},
		{"aten.mm", []Value{x, x}, RuntimeError, "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"},
		{"aten.sum.dim_IntList", []Value{x, list64(5)}, IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 5)"},
		{"aten.view", []Value{x, list64(4)}, RuntimeError, "shape '[4]' is invalid for input of size 6"},
		{"aten.cat", []Value{[]Value{x, y}, int64(0)}, RuntimeError, "Tensors must have same number of dimensions: got 2 and 1"},
		{"aten.add_.Tensor", []Value{y, tensor.Empty(tensor.Float32, 2, 4)}, RuntimeError, "output with shape [4] doesn't match the broadcast shape [2, 4]"},
		{"aten.add_.Tensor", []Value{tensor.Empty(tensor.Int64, 4), 1.5}, RuntimeError, "result type Float can't be cast to the desired output type Long"},
		{"aten.conv2d", []Value{tensor.Empty(tensor.Float32, 1, 3, 8, 8), tensor.Empty(tensor.Float32, 4, 4, 3, 3)}, RuntimeError,
			"Given groups=1, weight of size [4, 4, 3, 3], expected input[1, 3, 8, 8] to have 4 channels, but got 3 channels instead"},
		{"aten.index_add", []Value{x, int64(0), tensor.FromInt64s([]int64{1}), tensor.Empty(tensor.Float32, 3)}, RuntimeError,
			"index_add_(): Number of indices (1) should be equal to source.size(dim): (3), for dim: 0"},
		{"aten.index_add", []Value{x, int64(1), tensor.FromInt64s([]int64{1}), tensor.Empty(tensor.Float32, 2)}, RuntimeError,
			"index_add_(): Indexing dim 1 is out of bounds of the source tensor with dim 1"},
		{"aten.index_add", []Value{x, int64(0), tensor.FromInt64s([]int64{1}), tensor.Empty(tensor.Float32, 1, 2)}, RuntimeError,
			"source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = [2, 3] source.shape = [1, 2]"},
	}
	for _, tc := range tests {
		for _, d := range []Dispatcher{Eager, Fake} {
			_, err := Run(d, tc.op, tc.args...)
			var e *Error
			if !errors.As(err, &e) {
				t.Errorf("%s: error %v is not typed", tc.op, err)
				continue
			}
			if e.Kind != tc.kind || e.Msg != tc.msg {
				t.Errorf("%s: %s: %s\nwant %s: %s", tc.op, e.Kind, e.Msg, tc.kind, tc.msg)
			}
		}
	}
}

func TestVariants(t *testing.T) {
	x := f32([]int64{2}, 1, 2)
	v, err := Run(Eager, "aten.add_.Tensor", x, 1.0)
	if err != nil || v != Value(x) || x.Storage.Version != 1 {
		t.Fatalf("add_: %v %v version %d", v, err, x.Storage.Version)
	}
	if d := cmp.Diff([]float64{2, 3}, x.Floats()); d != "" {
		t.Error(d)
	}
	// In place through a transposed view of itself: what is read would depend on the order of the writes.
	m := f32([]int64{2, 2}, 1, 2, 3, 4)
	tr, _ := Run(Eager, "aten.t", m)
	if _, err := Run(Eager, "aten.add_.Tensor", m, tr); err == nil || !strings.Contains(err.Error(), "refer to a single memory location") {
		t.Errorf("add_ of a transposed view: %v", err)
	}
	if d := cmp.Diff([]float64{1, 2, 3, 4}, m.Floats()); d != "" {
		t.Error(d)
	}
	out := tensor.Empty(tensor.Float32, 0)
	v, err = CallKw(Eager, "aten.mul.out", []Value{x, x}, map[string]Value{"out": out})
	if err != nil || v != Value(out) {
		t.Fatalf("mul.out: %v %v", v, err)
	}
	if d := cmp.Diff([]float64{4, 9}, out.Floats()); d != "" {
		t.Error(d)
	}
	v, err = CallKw(Eager, "aten.max.dim_max", []Value{f32([]int64{1, 3}, 1, 7, 2), int64(1)},
		map[string]Value{"max": tensor.Empty(tensor.Float32, 1), "max_values": tensor.Empty(tensor.Int64, 1)})
	if err != nil || v.([]Value)[1].(*tensor.Tensor).AtInt(0) != 1 {
		t.Fatalf("max.dim_max: %v %v", v, err)
	}
	l := []Value{f32([]int64{1}, 1), f32([]int64{1}, 2)}
	v, err = Run(Eager, "aten._foreach_add.Scalar", l, int64(3))
	if err != nil || v.([]Value)[1].(*tensor.Tensor).At(0) != 5 {
		t.Fatalf("_foreach_add: %v %v", v, err)
	}
	if _, err = Run(Eager, "aten._foreach_mul_.Scalar", l, int64(3)); err != nil || l[0].(*tensor.Tensor).At(0) != 3 {
		t.Fatalf("_foreach_mul_: %v %v", l, err)
	}
	if _, err = Run(Eager, "aten._foreach_addcdiv_.Scalar", l, l, l, 2.0); err != nil || l[0].(*tensor.Tensor).At(0) != 5 {
		t.Fatalf("_foreach_addcdiv_: %v %v", l, err)
	}
}

func TestFakeViews(t *testing.T) {
	x := tensor.EmptyFake(tensor.Float32, []int64{2, 3}, []int64{3, 1})
	v, err := Run(Default, "aten.t", x)
	if err != nil {
		t.Fatal(err)
	}
	y := v.(*tensor.Tensor)
	if !y.Fake || y.Storage != x.Storage || y.Base != x {
		t.Errorf("view of a fake: fake %v, same storage %v, base %p", y.Fake, y.Storage == x.Storage, y.Base)
	}
	v, err = Run(Default, "aten.select.int", y, int64(0), int64(1))
	if err != nil || v.(*tensor.Tensor).Base != x || v.(*tensor.Tensor).Offset != 1 {
		t.Errorf("view of a view: %v %v", v, err)
	}
	v, err = Run(Default, "aten.matmul", x, y)
	if err != nil || !v.(*tensor.Tensor).Fake {
		t.Errorf("matmul of fakes: %v %v", v, err)
	}
	if _, err := Run(Default, "aten.relu_", x); err != nil || x.Storage.Version != 1 {
		t.Errorf("relu_ of a fake: %v, version %d", err, x.Storage.Version)
	}
	if _, err := Run(Default, "aten.item", x); err == nil {
		t.Error("item of a fake succeeded")
	}
}

func TestResolve(t *testing.T) {
	x := tensor.Empty(tensor.Float32, 4)
	tests := []struct {
		name string
		args []Value
		want string
	}{
		{"add", []Value{x, int64(2)}, "aten.add.Tensor"},
		{"pow", []Value{x, int64(2)}, "aten.pow.Tensor_Scalar"},
		{"eq", []Value{x, 1.0}, "aten.eq.Scalar"},
		{"gt", []Value{x, x}, "aten.gt.Tensor"},
		{"sum", []Value{x}, "aten.sum.default"},
		{"sum", []Value{x, int64(0)}, "aten.sum.dim_IntList"},
		{"max", []Value{x, int64(0)}, "aten.max.dim"},
		{"max", []Value{x, x}, "aten.max.other"},
		{"split", []Value{x, int64(2)}, "aten.split.Tensor"},
		{"arange", []Value{int64(5)}, "aten.arange.default"},
		{"floor_divide", []Value{x, int64(2)}, "aten.floor_divide.default"},
		{"rsub", []Value{x, int64(2)}, "aten.rsub.Scalar"},
		{"where", []Value{x, x, 0.0}, "aten.where.ScalarOther"},
		{"var", []Value{x, int64(0)}, "aten.var.dim"},
		{"relu", []Value{x}, "aten.relu.default"},
	}
	for _, tc := range tests {
		op, _, err := ResolveOverload(Packet("aten", tc.name), tc.args, nil)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
		} else if op.Name() != tc.want {
			t.Errorf("%s(%v): %s, want %s", tc.name, len(tc.args), op.Name(), tc.want)
		}
	}
	op := Lookup("aten.conv2d")
	b, err := Bind(op, []Value{x, x}, map[string]Value{"stride": int64(2)})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Value{int64(2), int64(2)}, b[3]); d != "" {
		t.Error(d)
	}
	if _, err := Bind(op, []Value{x}, map[string]Value{"colour": int64(1)}); err == nil {
		t.Error("missing and unknown arguments were accepted")
	}
}

func FuzzParseSchema(f *testing.F) {
	for _, op := range All()[:200] {
		f.Add(op.Schema)
	}
	f.Add("aten::index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)")
	f.Add("aten::x(Tensor self, *, int[2] p=[0, 1], str s=\"a\\\"b\", float e=1e-05, int r=Mean) -> (Tensor a, Tensor(b!) c)")
	f.Fuzz(func(t *testing.T, src string) {
		s, err := ParseSchema(src)
		if err != nil {
			return
		}
		again, err := ParseSchema(s.String())
		if err != nil {
			t.Fatalf("%q prints as %q, which does not parse: %v", src, s.String(), err)
		}
		if again.String() != s.String() {
			t.Fatalf("%q prints as %q, then as %q", src, s.String(), again.String())
		}
	})
}

// TestRandom compares streams through operators with PyTorch's after torch.manual_seed(0). It owns DefaultGenerator while it runs.
func TestRandom(t *testing.T) {
	g := DefaultGenerator
	defer func() { DefaultGenerator = g }()
	DefaultGenerator = tensor.NewGenerator(0)
	get := func(op string, args ...Value) []float64 {
		v, err := Run(Eager, op, args...)
		if err != nil {
			t.Fatalf("%s: %v", op, err)
		}
		return v.(*tensor.Tensor).Floats()
	}
	p := f32([]int64{4}, .1, .2, .3, .4)
	got := append(get("aten.multinomial", p, int64(3)), get("aten.multinomial", p, int64(6), true)...)
	got = append(got, get("aten.rand", list64(1))...)
	if d := cmp.Diff([]float64{2, 1, 3, 3, 3, 1, 2, 2, 1, 0.6816}, got, cmpopts.EquateApprox(0, 1e-4)); d != "" {
		t.Errorf("multinomial: %s", d)
	}
	DefaultGenerator = tensor.NewGenerator(0)
	got = append(get("aten.dropout", tensor.Full(tensor.Float32, 1, 10), 0.4, true), get("aten.rand", list64(1))...)
	const s = 1.6666666
	if d := cmp.Diff([]float64{0, 0, s, 0, 0, 0, s, s, s, s, 0.6816}, got, cmpopts.EquateApprox(0, 1e-4)); d != "" {
		t.Errorf("dropout: %s", d)
	}
	DefaultGenerator = tensor.NewGenerator(0)
	got = append(get("aten.normal.Tensor_Tensor", f32([]int64{3}, 0, 0, 0), f32([]int64{3}, 1, 1, 1)), get("aten.normal_", tensor.Empty(tensor.Float32, 20), 1.0, 2.0)[:3]...)
	if d := cmp.Diff([]float64{1.540996, -0.293429, -2.178789, 0.287743, 1.874445, 1.98261}, got, cmpopts.EquateApprox(0, 1e-4)); d != "" {
		t.Errorf("normal: %s", d)
	}
}

func BenchmarkEager(b *testing.B) {
	x := tensor.Empty(tensor.Float32, 1<<20)
	DefaultGenerator.UniformFill(x, 0, 1)
	m, _ := Run(Eager, "aten.view", x, list64(1024, 1024))
	small := tensor.Empty(tensor.Float32, 4)
	for _, c := range []struct {
		name, op string
		args     []Value
	}{{"add", "aten.add.Tensor", []Value{x, x}}, {"exp", "aten.exp", []Value{x}}, {"sum", "aten.sum", []Value{x}}, {"softmax", "aten._softmax", []Value{m, int64(1), false}},
		{"mm", "aten.mm", []Value{m, m}}, {"add4", "aten.add.Tensor", []Value{small, small}}, {"where", "aten.gt.Scalar", []Value{x, 0.5}}, {"addT", "aten.add.Tensor", []Value{m, must(Run(Eager, "aten.t", m))}}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Run(Eager, c.op, c.args...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestSignatures(t *testing.T) {
	for _, c := range []struct {
		name   string
		method bool
		want   string
	}{
		{"add", false, "(Tensor input, Tensor other, *, Number alpha = 1, Tensor out = None)"},
		{"add", true, "(Tensor other, *, Number alpha = 1)"},
		{"relu", false, "(Tensor input)"}, // its out= form has no Python name
		{"relu", true, "()"},
		{"max", false, "(Tensor input, *, Tensor out = None)\n(Tensor input, Tensor other, *, Tensor out = None)\n" +
			"(Tensor input, int dim, bool keepdim = False, *, tuple of Tensors out = None)\n(Tensor input, name dim, bool keepdim = False, *, tuple of Tensors out = None)"},
		{"where", true, "(Tensor condition, Tensor other)\n(Tensor condition, Number other)"},
		{"conv1d", false, "(Tensor input, Tensor weight, Tensor bias = None, tuple of ints stride = 1, tuple of ints padding = 0, tuple of ints dilation = 1, int groups = 1)\n" +
			"(Tensor input, Tensor weight, Tensor bias = None, tuple of ints stride = 1, str padding = \"valid\", tuple of ints dilation = 1, int groups = 1)"},
		{"_unsafe_view", true, ""},
	} {
		var got []string
		for _, s := range Signatures(c.name, c.method) {
			got = append(got, s.String())
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("%s, method %v:\n%s", c.name, c.method, diff)
		}
	}
	if l := boundSchemas(); len(l) < 1000 {
		t.Errorf("only %d names are bound", len(l))
	}
	for _, l := range strings.Split(strings.TrimSpace(pythonOnlyTSV), "\n") {
		_, text, _ := strings.Cut(l, "\t")
		if _, err := ParseSchema(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestLent checks that what a row's function borrows is given back by the call, though the function has a copy of it.
func TestLent(t *testing.T) {
	c := &Call{lent: &lendings{}}
	large := tensor.Empty(tensor.Float32, 1<<16)
	_, err := runAs(c, func(c *Call) (Value, error) {
		c.numbers(1 << 16)
		c.dense(tensor.NewView(large, []int64{256, 256}, []int64{1, 256}, 0), tensor.Float32)
		return nil, nil
	}, false)
	if err != nil || len(c.lent.rooms) != 1 || len(c.lent.parts) != 1 {
		t.Fatalf("%d rooms and %d copies, %v", len(c.lent.rooms), len(c.lent.parts), err)
	}
	s := c.lent.parts[0].Storage
	if _, err := c.freed(nil, nil); err != nil || s.Recyclable() || !large.Storage.Recyclable() {
		t.Fatal("the copy was not given back, or what it is of was")
	}
}
