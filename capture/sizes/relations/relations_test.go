package relations

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/kernels/aten"
	"whittle/kernels/aten/atentest"
	"whittle/kernels/tensor"
)

// plain is a call with sizes that are numbers: a rule over them is a shape function.
type plain struct {
	op   *aten.Op
	args []aten.Value
	// wrong lists the relations that a rule holds the call to and that the call does not have.
	wrong []string
}

func (p *plain) Const(n int64) int64            { return n }
func (p *plain) Constant(s int64) (int64, bool) { return s, true }
func (p *plain) Value(s int64) int64            { return s }
func (p *plain) Sub(a, b int64) int64           { return a - b }
func (p *plain) Fix(s int64) int64              { return s }
func (p *plain) Mark(int, int64)                {}

func (p *plain) Add(s ...int64) (n int64) {
	for _, x := range s {
		n += x
	}
	return n
}

func (p *plain) Mul(s ...int64) int64 {
	n := int64(1)
	for _, x := range s {
		n *= x
	}
	return n
}

func (p *plain) Div(a, b int64) int64 {
	if b == 0 {
		return 0
	}
	return (a - p.Rest(a, b)) / b
}

func (p *plain) Rest(a, b int64) int64 {
	if b == 0 {
		return 0
	}
	return ((a % b) + b) % b
}

func (p *plain) Ask(r Relation, a, b int64) bool { return r.Holds(a, b) }

func (p *plain) Require(r Relation, a, b int64) {
	if !r.Holds(a, b) {
		p.wrong = append(p.wrong, fmt.Sprint(a, " and ", b))
	}
}

func (p *plain) Multiple(a, b int64) {
	if b > 0 && a%b != 0 {
		p.wrong = append(p.wrong, fmt.Sprint(a, " is no multiple of ", b))
	}
}

func (p *plain) Infer(shape []int64, count int64) []int64 {
	out, rest := slices.Clone(shape), int64(1)
	at := slices.Index(out, -1)
	for i, n := range out {
		if i != at {
			rest *= n
		}
	}
	if at >= 0 {
		out[at] = p.Div(count, rest)
	}
	return out
}

func (p *plain) SameCount(a, b []int64) {
	if p.Mul(a...) != p.Mul(b...) {
		p.wrong = append(p.wrong, fmt.Sprint(a, " as ", b))
	}
}

func (p *plain) Regroup(old, shape []int64) []int64 { p.SameCount(old, shape); return shape }

func (p *plain) Pieces(s, size int64) (out []int64) {
	if size == 0 {
		return nil
	}
	for ; s > size; s -= size {
		out = append(out, size)
	}
	return append(out, s)
}

func (p *plain) Sum(s int64, parts []int64) {
	if p.Add(parts...) != s {
		p.wrong = append(p.wrong, fmt.Sprint(s, " of ", parts))
	}
}

func (p *plain) Window(n, pad, k, dil, stride int64) int64 {
	return p.Div(n+2*pad-dil*(k-1)-1, stride) + 1
}

func (p *plain) Schema() *aten.Schema { return p.op.Sig() }

func (p *plain) Tensor(i int) []int64 {
	if t, ok := p.args[i].(*tensor.Tensor); ok && t != nil {
		return append([]int64{}, t.Shape...)
	}
	return nil
}

func (p *plain) Tensors(i int) (out []Tensor[int64]) {
	l, _ := p.args[i].([]aten.Value)
	for _, x := range l {
		t, ok := x.(*tensor.Tensor)
		if ok = ok && t != nil; !ok {
			out = append(out, Tensor[int64]{})
			continue
		}
		out = append(out, Tensor[int64]{Given: ok, Size: t.Shape, DType: t.DType})
	}
	return out
}

func (p *plain) Operands() (out [][]int64) {
	for i := range p.args {
		if s := p.Tensor(i); s != nil {
			out = append(out, s)
		}
	}
	return out
}

func (p *plain) Number(i int) (int64, bool)    { n, ok := p.args[i].(int64); return n, ok }
func (p *plain) Numbers(i int) ([]int64, bool) { n, ok := p.Literal(i).([]int64); return n, ok }
func (p *plain) Extent(i int) (int64, bool)    { return p.Number(i) }
func (p *plain) Extents(i int) ([]int64, bool) { return p.Numbers(i) }

func (p *plain) Literal(i int) any {
	switch v := p.args[i].(type) {
	case int64, bool:
		return v
	case []aten.Value:
		out := make([]int64, len(v))
		for j, x := range v {
			n, ok := x.(int64)
			if !ok {
				return nil
			}
			out[j] = n
		}
		return out
	}
	return nil
}

// f is a tensor of float32, i one of int64.
func f(shape ...int64) *tensor.Tensor {
	return tensor.EmptyFake(tensor.Float32, shape, tensor.ContiguousStrides(shape))
}

func i64(shape ...int64) *tensor.Tensor {
	return tensor.EmptyFake(tensor.Int64, shape, tensor.ContiguousStrides(shape))
}

func ints(ns ...int64) []aten.Value {
	out := make([]aten.Value, len(ns))
	for i, n := range ns {
		out[i] = n
	}
	return out
}

type values = []aten.Value

// written are calls of operators whose arguments must fit each other; every other operator is called at random.
var written = map[string][]values{
	"mm": {{f(2, 3), f(3, 4)}}, "bmm": {{f(5, 2, 3), f(5, 3, 4)}}, "mv": {{f(2, 3), f(3)}}, "dot": {{f(3), f(3)}},
	"matmul": {{f(3), f(3)}, {f(2, 3), f(3)}, {f(3), f(3, 4)}, {f(5, 1, 2, 3), f(7, 3, 4)}},
	"linear": {{f(5, 2, 3), f(4, 3), f(4)}, {f(2, 3), f(4, 3)}, {f(2, 3), f(3)}},
	"addmm":  {{f(4), f(2, 3), f(3, 4)}, {f(2, 1), f(2, 3), f(3, 4)}}, "baddbmm": {{f(1, 4), f(5, 2, 3), f(5, 3, 4)}},
	"scaled_dot_product_attention":                {{f(2, 3, 4, 8), f(2, 3, 5, 8), f(2, 3, 5, 7)}, {f(4, 8), f(5, 8), f(5, 7)}},
	"_scaled_dot_product_flash_attention_for_cpu": {{f(2, 3, 4, 8), f(2, 3, 5, 8), f(2, 3, 5, 8)}},
	"embedding":                            {{f(10, 4), i64(2, 3)}},
	"index":                                {{f(2, 3, 4), values{nil, i64(5)}}, {f(2, 3, 4), values{i64(5), nil, i64(6, 1)}}, {f(2, 3, 4), values{i64(5), i64(5)}}},
	"cat":                                  {{values{f(2, 3), f(4, 3)}}, {values{f(2, 3), f(2, 1), f(2, 2)}, int64(-1)}, {values{f(0), f(2, 3)}}},
	"stack":                                {{values{f(2, 3), f(2, 3)}, int64(-1)}},
	"slice":                                {{f(9, 4), int64(0), int64(1), int64(-1), int64(3)}, {f(9), int64(0), int64(-20), int64(5)}, {f(9), int64(0), int64(7), int64(3)}, {f(9)}},
	"select":                               {{f(2, 3), int64(1), int64(-3)}},
	"narrow":                               {{f(5, 3), int64(0), int64(1), int64(3)}},
	"split":                                {{f(7, 3), int64(3)}, {f(2, 6), int64(3), int64(1)}, {f(2, 6), ints(1, 5), int64(-1)}},
	"split_with_sizes":                     {{f(2, 6), ints(1, 5), int64(-1)}},
	"unsafe_split_with_sizes":              {{f(2, 6), ints(3, 3), int64(-1)}},
	"tensor_split":                         {{f(7, 3), int64(3)}, {f(2, 6), int64(3), int64(1)}, {f(2, 3), int64(5)}},
	"unsafe_split":                         {{f(7, 3), int64(3)}},
	"chunk":                                {{f(7, 3), int64(3)}, {f(2, 6), int64(4), int64(1)}},
	"unsafe_chunk":                         {{f(7, 3), int64(3)}},
	"unbind":                               {{f(2, 3), int64(1)}},
	"diagonal":                             {{f(3, 5)}, {f(3, 5), int64(3)}, {f(2, 3, 5), int64(-1), int64(1), int64(2)}, {f(3, 5), int64(9)}},
	"topk":                                 {{f(3, 5), int64(2)}},
	"gather":                               {{f(3, 5), int64(1), i64(3, 2)}},
	"view":                                 {{f(4, 6), ints(2, -1, 3)}, {f(4, 6), ints(24)}},
	"view_copy":                            {{f(4, 6), ints(2, -1, 3)}},
	"reshape":                              {{f(4, 6), ints(6, 4)}},
	"_unsafe_view":                         {{f(4, 6), ints(8, 3)}},
	"_reshape_alias":                       {{f(4, 6), ints(8, 3), ints(3, 1)}},
	"flatten":                              {{f(2, 3, 4), int64(1)}, {f()}},
	"unflatten":                            {{f(2, 12), int64(1), ints(3, -1)}},
	"expand":                               {{f(3, 1), ints(2, -1, 4)}},
	"expand_copy":                          {{f(3, 1), ints(2, -1, 4)}},
	"broadcast_to":                         {{f(3, 1), ints(2, 3, 4)}},
	"repeat":                               {{f(3, 1), ints(2, 2, 4)}},
	"permute":                              {{f(2, 3, 4), ints(2, 0, -2)}},
	"permute_copy":                         {{f(2, 3, 4), ints(2, 0, -2)}},
	"numpy_T":                              {{f(2, 3, 4)}},
	"mT":                                   {{f(2, 3, 4)}},
	"t":                                    {{f(2, 3)}, {f(2)}},
	"full":                                 {{ints(2, 3), 1.0}},
	"empty_strided":                        {{ints(2, 3), ints(3, 1)}},
	"new_full":                             {{f(2), ints(2, 3), 1.0}},
	"arange":                               {{int64(5)}, {int64(2), int64(9)}, {int64(2), int64(9), int64(2)}},
	"conv1d":                               {{f(2, 6, 9), f(4, 3, 3), f(4), ints(2), ints(1), ints(1), int64(2)}},
	"conv2d":                               {{f(2, 6, 9, 8), f(4, 6, 3, 1)}, {f(2, 6, 9, 8), f(12, 1, 3, 3), nil, ints(1, 2), ints(1, 0), ints(2, 1), int64(6)}},
	"conv3d":                               {{f(2, 3, 5, 6, 7), f(4, 3, 2, 2, 2)}},
	"convolution":                          {{f(2, 6, 9, 8), f(4, 6, 3, 1), f(4), ints(1, 1), ints(0, 0), ints(1, 1), false, ints(0, 0), int64(1)}},
	"_convolution":                         {{f(2, 6, 9), f(4, 6, 3), nil, ints(1), ints(0), ints(1), false, ints(0), int64(1), false, false, false, false}},
	"_convolution.deprecated":              {{f(2, 6, 9), f(4, 6, 3), nil, ints(1), ints(0), ints(1), false, ints(0), int64(1), false, false, false}},
	"max_pool1d":                           {{f(2, 3, 9), ints(2)}},
	"max_pool2d":                           {{f(2, 3, 9, 8), ints(3, 2), ints(2, 2), ints(1, 1), ints(1, 1)}, {f(3, 9, 8), ints(3, 3)}},
	"max_pool3d":                           {{f(2, 3, 5, 6, 7), ints(2, 2, 2)}},
	"avg_pool1d":                           {{f(2, 3, 9), ints(2)}},
	"avg_pool2d":                           {{f(2, 3, 9, 8), ints(3, 2), ints(1, 1), ints(1, 1)}},
	"avg_pool3d":                           {{f(2, 3, 5, 6, 7), ints(2, 2, 2)}},
	"layer_norm":                           {{f(2, 3, 4), ints(3, 4), f(3, 4), f(3, 4)}},
	"native_layer_norm":                    {{f(2, 3, 4), ints(4), f(4), f(4), 1e-5}},
	"batch_norm":                           {{f(2, 3, 4), f(3), f(3), f(3), f(3), true, 0.1, 1e-5, false}},
	"instance_norm":                        {{f(2, 3, 4), f(3), f(3), f(3), f(3), true, 0.1, 1e-5, false}},
	"group_norm":                           {{f(2, 6, 4), int64(3), f(6), f(6)}},
	"native_group_norm":                    {{f(2, 6, 4, 5), f(6), f(6), int64(2), int64(6), int64(20), int64(3), 1e-5}},
	"native_batch_norm":                    {{f(2, 3, 4), f(3), f(3), f(3), f(3), true, 0.1, 1e-5}, {f(2, 3, 4), f(3), f(3), f(3), f(3), false, 0.1, 1e-5}},
	"_native_batch_norm_legit":             {{f(2, 3, 4), f(3), f(3), f(3), f(3), true, 0.1, 1e-5}, {f(2, 3, 4), f(3), f(3), f(3), f(3), false, 0.1, 1e-5}},
	"_native_batch_norm_legit.no_stats":    {{f(2, 3, 4), f(3), f(3), true, 0.1, 1e-5}},
	"_native_batch_norm_legit_no_training": {{f(2, 3, 4), f(3), f(3), f(3), f(3), 0.1, 1e-5}},
	"_native_batch_norm_legit_functional":  {{f(2, 3, 4), f(3), f(3), f(3), f(3), true, 0.1, 1e-5}},
	"cross_entropy_loss":                   {{f(4, 5), i64(4)}, {f(4, 5), i64(4), nil, int64(0)}, {f(5), i64()}, {f(4, 5, 6), f(4, 5, 6), nil, int64(0)}},
	"nll_loss":                             {{f(4, 5), i64(4)}, {f(4, 5), i64(4), nil, int64(0)}},
	"nll_loss_nd":                          {{f(4, 5, 6), i64(4, 6), nil, int64(0)}},
	"sum":                                  {{f(2, 3, 4), ints(0, -1)}, {f(2, 3, 4), ints(1), true}, {f(2, 3), ints()}, {f(2, 3), nil, true}},
	"mean":                                 {{f(2, 3, 4), ints(0, -1)}, {f(2, 3), nil, true}},
	"argmax":                               {{f(2, 3)}, {f(2, 3), int64(1)}, {f(2, 3), nil, true}},
	"masked_fill_":                         {{f(2, 3), tensor.EmptyFake(tensor.Bool, []int64{3}, []int64{1}), f()}, {f(2, 3), tensor.EmptyFake(tensor.Bool, []int64{3}, []int64{1}), 1.0}},
	"masked_fill":                          {{f(2, 3), tensor.EmptyFake(tensor.Bool, []int64{3}, []int64{1}), 1.0}},
}

// silent are operators that a rule is keyed to and says nothing of, and why.
var silent = map[string]string{
	"aten._convolution.out":    withOut,
	"aten.convolution.out":     withOut,
	"aten.mv.out":              withOut,
	"aten.nll_loss.out":        withOut,
	"aten.conv1d.padding":      "its padding is a word",
	"aten.conv2d.padding":      "its padding is a word",
	"aten.conv3d.padding":      "its padding is a word",
	"aten.equal.default":       "its result is no tensor",
	"aten.where.default":       "how many elements it has depends on data",
	"aten.view.dtype":          "is a view of the same elements as another type",
	"aten.view_copy.dtype":     "is a view of the same elements as another type",
	"aten.view_copy.dtype_out": "is a view of the same elements as another type",
}

const withOut = "no call at random fits; it is as the form without out="

// TestRules holds every rule to the meta functions of its operators.
func TestRules(t *testing.T) {
	table := NewTable[int64]()
	keys := map[string]bool{}
	for _, op := range aten.All() {
		rule := table.Of(op)
		if rule == nil {
			continue
		}
		s := op.Sig()
		for _, k := range []string{s.Name + "." + s.Overload, s.Name} {
			keys[k] = keys[k] || table[k] != nil
		}
		spoke := 0
		check := func(args []aten.Value) {
			out, err := aten.Fake.Dispatch(op, args)
			if err != nil {
				return
			}
			p := &plain{op: op, args: args}
			got := rule(p)
			if got == nil {
				return
			}
			spoke++
			var want [][]int64
			atentest.Tensors(out, func(r *tensor.Tensor) aten.Value {
				want = append(want, append([]int64{}, r.Shape...))
				return r
			})
			for i := range got {
				got[i] = append([]int64{}, got[i]...)
			}
			if d := cmp.Diff(want, got); d != "" || p.wrong != nil {
				t.Errorf("%s%s: %v %s", op.Name(), atentest.Describe(args), p.wrong, d)
			}
		}
		calls := written[s.Name+"."+s.Overload]
		if calls == nil {
			calls = written[s.Name]
		}
		for _, c := range calls {
			if args, err := aten.Bind(op, c, nil); err == nil {
				check(args)
			}
		}
		g := atentest.New(1, uint64(len(op.Schema)))
		for n := 0; n < 400 && (n < 20 && calls == nil || spoke == 0); n++ {
			check(atentest.Fake(g.Args(s)))
		}
		if why, ok := silent[op.Name()]; ok != (spoke == 0) {
			t.Errorf("%s: its rule spoke of %d calls (%s)", op.Name(), spoke, why)
		}
	}
	for k := range table {
		if !keys[k] {
			t.Errorf("no operator has the name %s", k)
		}
	}
}

// An operator that a program defines may have the name of one of PyTorch, and does something else.
func TestProgramsOperators(t *testing.T) {
	var lib aten.Library
	same := func(c *aten.Call) (aten.Value, error) { return c.T(0), nil }
	op, err := lib.Define(aten.Op{Schema: "mine::t(Tensor self) -> Tensor", Meta: same, Eager: same})
	if err != nil {
		t.Fatal(err)
	}
	if NewTable[int64]().Of(op) != nil {
		t.Error("mine::t has the rule of aten::t")
	}
}
