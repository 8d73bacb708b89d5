package sizes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/symbolic"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// world is a trace with tensors x: f32[4, 6] and y: f32[4, 6], all sizes symbols of their own, and a number n seen as 3.
type world struct {
	*Tracker
	x, y *tensor.Tensor
	n    number
}

type number struct {
	e    *Expr
	hint int64
}

func (n number) Hint() aten.Value  { return n.hint }
func (n number) Expression() *Expr { return n.e }

func newWorld() *world {
	w := &world{Tracker: New(symbolic.NewEnv())}
	mk := func(name string) *tensor.Tensor {
		t := tensor.EmptyFake(tensor.Float32, []int64{4, 6}, []int64{6, 1})
		a := w.Env.Size(4, name+"0", symbolic.Dynamic)
		b := w.Env.Size(6, name+"1", symbolic.Dynamic)
		w.Set(t, []*Expr{a, b}, nil)
		return t
	}
	w.x, w.y = mk("x"), mk("y")
	w.n = number{w.Env.Number(3, "n"), 3}
	return w
}

func (w *world) run(name string, args ...aten.Value) (aten.Value, error) {
	op, bound, err := aten.ResolveOverload(aten.Packet("aten", name), args, nil)
	if err != nil {
		return nil, err
	}
	return w.Dispatch(op, bound, func(args []aten.Value) (aten.Value, error) { return aten.Fake.Dispatch(op, args) })
}

func (w *world) guards() string {
	var in []symbolic.Input
	for _, s := range w.Env.Symbols() {
		in = append(in, symbolic.Input{From: s.From, Expr: symbolic.Sym(s.Name), Tensor: true})
	}
	gs, _ := w.Env.Guards(in)
	var out []string
	for _, g := range gs {
		if !strings.HasPrefix(g.Text, "2 <= ") {
			out = append(out, g.Text)
		}
	}
	return strings.Join(out, "; ")
}

func TestRules(t *testing.T) {
	ints := func(ns ...any) []aten.Value {
		out := make([]aten.Value, len(ns))
		for i, n := range ns {
			if k, ok := n.(int); ok {
				n = int64(k)
			}
			out[i] = n
		}
		return out
	}
	for _, c := range []struct {
		name   string
		op     string
		args   func(w *world) []aten.Value
		want   string
		guards string
	}{
		{"pointwise makes sizes equal", "add", func(w *world) []aten.Value { return []aten.Value{w.x, w.y} }, "[s0 s1]", "y0 == x0; y1 == x1"},
		{"with a number", "mul", func(w *world) []aten.Value { return []aten.Value{w.x, w.n} }, "[s0 s1]", ""},
		{"softmax", "softmax", func(w *world) []aten.Value { return []aten.Value{w.x, int64(-1)} }, "[s0 s1]", ""},
		{"sum", "sum", func(w *world) []aten.Value { return []aten.Value{w.x, ints(0)} }, "[s1]", ""},
		{"keepdim", "amax", func(w *world) []aten.Value { return []aten.Value{w.x, ints(-1), true} }, "[s0 1]", ""},
		{"transpose", "transpose", func(w *world) []aten.Value { return []aten.Value{w.x, int64(0), int64(1)} }, "[s1 s0]", ""},
		{"cat", "cat", func(w *world) []aten.Value { return []aten.Value{[]aten.Value{w.x, w.y}, int64(0)} }, "[s0 + s2 s1]", "y1 == x1"},
		{"stack", "stack", func(w *world) []aten.Value { return []aten.Value{[]aten.Value{w.x, w.x}, int64(1)} }, "[s0 2 s1]", ""},
		{"slice to a constant", "slice", func(w *world) []aten.Value { return []aten.Value{w.x, int64(1), int64(1), int64(3), int64(1)} }, "[s0 2]", "3 <= x1"},
		{"slice from the end", "slice", func(w *world) []aten.Value { return []aten.Value{w.x, int64(0), int64(0), int64(-1), int64(1)} }, "[s0 - 1 s1]", ""},
		{"select", "select", func(w *world) []aten.Value { return []aten.Value{w.x, int64(1), int64(2)} }, "[s0]", "x1 > 2"},
		{"flatten", "flatten", func(w *world) []aten.Value { return []aten.Value{w.x, int64(0), int64(-1)} }, "[s0*s1]", ""},
		{"reshape", "reshape", func(w *world) []aten.Value { return []aten.Value{w.x, ints(-1)} }, "[s0*s1]", ""},
		{"view splits a dimension", "view", func(w *world) []aten.Value {
			return []aten.Value{w.x, ints(number{symbolic.Sym("s0"), 4}, 2, -1)}
		}, "[s0 2 (s1//2)]", "((x0*x1) % (2*x0)) == 0; x1 != 2; (x1 % 2) == 0"},
		{"expand", "expand", func(w *world) []aten.Value { return []aten.Value{w.x, ints(3, -1, -1)} }, "[3 s0 s1]", ""},
		{"repeat", "repeat", func(w *world) []aten.Value { return []aten.Value{w.x, ints(2, 1)} }, "[2*s0 s1]", ""},
		{"zeros of a number", "zeros", func(w *world) []aten.Value { return []aten.Value{ints(w.n)} }, "[s4]", ""},
		{"arange", "arange", func(w *world) []aten.Value { return []aten.Value{w.n} }, "[s4]", ""},
		{"chunk", "chunk", func(w *world) []aten.Value { return []aten.Value{w.x, int64(2)} }, "[((s0 + 1)//2) s1] [s0 - (((s0 + 1)//2)) s1]",
			"(((-1) + x0 + ((1 + x0) // 2)) // ((1 + x0) // 2)) == 2; x0 + ((-1)*((1 + x0) // 2)) >= 0"},
		{"the bias of a product", "linear", func(w *world) []aten.Value {
			b := tensor.EmptyFake(tensor.Float32, []int64{4}, []int64{1})
			w.Set(b, []*Expr{w.Env.Size(4, "b0", symbolic.Dynamic)}, nil)
			return []aten.Value{w.x, w.y, b}
		}, "[s0 s2]", "y1 == x1; b0 == y0"},
		{"gather reaches no further than it may", "gather", func(w *world) []aten.Value {
			i := tensor.EmptyFake(tensor.Int64, []int64{4, 6}, []int64{6, 1})
			w.Copy(i, w.y)
			return []aten.Value{w.x, int64(1), i}
		}, "[s2 s3]", "y0 <= x0"},
		{"parts of given sizes", "split", func(w *world) []aten.Value { return []aten.Value{w.x, ints(w.n, 3), int64(1)} }, "[s0 s1 - 3] [s0 3]", "n == (-3) + x1"},
		{"permute", "permute", func(w *world) []aten.Value { return []aten.Value{w.x, ints(1, 0)} }, "[s1 s0]", ""},
		{"layer norm", "layer_norm", func(w *world) []aten.Value { return []aten.Value{w.x, ints(6)} }, "[s0 6]", ""},
		{"padding", "constant_pad_nd", func(w *world) []aten.Value { return []aten.Value{w.x, ints(1, 2)} }, "[s0 s1 + 3]", ""},
		{"what differs with the data's order", "tril", func(w *world) []aten.Value { return []aten.Value{w.x} }, "[s0 s1]", ""},
	} {
		w := newWorld()
		v, err := w.run(c.op, c.args(w)...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, r := range tensors(v, nil) {
			var parts []string
			for _, e := range w.Size(r) {
				parts = append(parts, e.String())
			}
			got = append(got, "["+strings.Join(parts, " ")+"]")
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if g := w.guards(); g != c.guards {
			t.Errorf("%s: guards %q, want %q", c.name, g, c.guards)
		}
	}
}

// An operator whose results no expression explains fixes the sizes that it read.
func TestFallback(t *testing.T) {
	w := newWorld()
	v, err := w.run("diag", w.x, int64(0))
	if err != nil {
		t.Fatal(err)
	}
	out := v.(*tensor.Tensor)
	if w.Symbolic(out) {
		// min(s0, s1) is not among the candidates: were it, the guards would have to say so.
		t.Errorf("size %v", w.Size(out))
	}
	if w.Symbolic(w.x) {
		t.Errorf("the input is still symbolic: %v", w.Size(w.x))
	}
}
