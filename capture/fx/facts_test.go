package fx

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// callOf reads one statement: "torch.relu(x, inplace=True)", or "x.add_(y)".
func callOf(t *testing.T, text string) *Node {
	t.Helper()
	g, err := ParseGraph("def forward(self, x, y, w):\n    out = " + text + "\n    return (out,)\n")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	calls := g.Calls()
	return calls[len(calls)-1]
}

// TestFacts shows what calls do: which arguments they write to, of which they read metadata alone, which their results share memory with.
func TestFacts(t *testing.T) {
	type want struct {
		Effect                  aten.Effect
		Writes, Metadata, Views string
	}
	pure, random, lasting := want{Effect: aten.Pure}, want{Effect: aten.Random}, want{Effect: aten.Lasting}
	writes := func(e aten.Effect, names string) want { return want{Effect: e, Writes: names} }
	inplace := want{Effect: aten.Pure, Writes: "x", Views: "x"}
	for _, c := range []struct {
		text string
		want want
	}{
		// Operators: what their schemas say.
		{"torch.ops.aten.add.Tensor(x, y)", pure},
		{"torch.ops.aten.add_.Tensor(x, y)", inplace},
		{"torch.ops.aten.add.out(x, y, out = w)", want{Effect: aten.Pure, Writes: "w", Views: "w"}},
		{"torch.ops.aten.add(x, y)", pure},
		{"torch.ops.aten.view.default(x, [2])", want{Effect: aten.Pure, Views: "x"}},
		{"torch.ops.aten.to.dtype_layout(x)", want{Effect: aten.Pure, Views: "x"}}, // no out= in spite of its name
		{"torch.ops.aten.max.dim_max(x, 0, max = y, max_values = w)", want{Effect: aten.Pure, Writes: "y w", Views: "y w"}},
		{"torch.ops.aten.zeros_like.default(x)", want{Effect: aten.Pure, Metadata: "x"}},
		{"torch.ops.aten.empty_like.default(x)", want{Effect: aten.Uninitialised, Metadata: "x"}},
		{"torch.ops.aten.bernoulli.p(x, 0.5)", want{Effect: aten.Random, Metadata: "x"}},
		{"torch.bernoulli(x)", random},
		{"torch.bernoulli(x, 0.5)", want{Effect: aten.Random, Metadata: "x"}},
		{"torch.ops.aten.expand_as.default(x, y)", want{Effect: aten.Pure, Metadata: "y", Views: "x"}},
		{"torch.ops.aten.copy.default(x, y)", want{Effect: aten.Pure, Metadata: "x"}},
		{"torch.ops.aten.rand.default([2])", random},
		{"torch.ops.aten.bernoulli_.float(x, 0.5)", want{Effect: aten.Random, Writes: "x", Views: "x"}},
		{"torch.ops.aten._assert_scalar.default(x, 'm')", lasting},
		{"torch.ops.aten._native_batch_norm_legit.default(x, None, None, y, w, False, 0.1, 1e-05)", writes(aten.Pure, "y w")},
		{"torch.ops.aten.native_batch_norm.default(x, None, None, y, w, True, 0.1, 1e-05)", writes(aten.Pure, "y w")},
		{"torch.ops.aten.native_batch_norm.default(x, None, None, y, w, False, 0.1, 1e-05)", pure},
		{"torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(x, y, w)", pure},
		{"torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(x, y, w, 0.5)", random},
		{"torch.ops.prims.iota.default(2)", pure},
		{"torch.ops.prims.inductor_seeds.default(2)", random},
		{"torch.ops.inductor.resize_storage_bytes_.default(x, 0)", writes(aten.Pure, "x")},
		{"torch.ops.torchvision.roi_align(x, y, 1.0, 2, 2, 2, False)", pure},
		{"torch.ops.higher_order.cond(x, y, w, [x])", pure},
		{"torch.ops.profiler._record_function_exit(x)", lasting},

		// Functions of torch: those of operators, in all their forms.
		{"torch.add(x, y)", pure},
		{"torch.add(x, y, alpha = 2)", pure},
		{"torch.add(input = x, other = y)", pure},
		{"torch.add(x, y, out = w)", writes(aten.Pure, "w")},
		{"torch.add(x, y, out = None)", pure},
		{"torch.sum(x, axis = 0)", pure}, // a name that only Python takes
		{"torch.relu_(x)", inplace},
		{"torch._foreach_add_(x, y)", writes(aten.Pure, "x")},
		{"torch.lstm(x, (y, w), (x, x), True, 1, 0.0, True, False, True)", pure},
		{"torch.lstm(x, (y, w), (x, x), True, 1, 0.5, True, False, True)", random},
		{"torch.linalg.inv(x)", pure},
		{"torch._C._linalg.linalg_inv(x)", pure},
		{"torch.special.exp2(x)", pure},
		{"torch.dropout(x, 0.5, False)", pure},
		{"torch.dropout(x, 0.5, True)", random},
		{"torch._C._nn.scaled_dot_product_attention(x, y, w, dropout_p = 0.0)", pure},
		{"torch._C._nn.scaled_dot_product_attention(x, y, w, dropout_p = 0.1)", random},
		{"torch.manual_seed(1)", lasting},
		{"torch._C._set_grad_enabled(False)", lasting},
		{"torch._C._log_api_usage_once('x')", pure},
		{"torch.amp.autocast_mode._enter_autocast('cpu')", lasting},
		{"torch._assert(x, 'm')", lasting},
		{"torch._assert_async(x)", lasting},
		{"torch._check_is_size(x)", lasting},
		{"torch.empty(2)", want{Effect: aten.Uninitialised}},

		// Functions in Python, whose arguments decide.
		{"torch.nn.functional.relu(x)", pure},
		{"torch.nn.functional.relu(x, True)", writes(aten.Pure, "x")},
		{"torch.nn.functional.relu(x, inplace = True)", writes(aten.Pure, "x")},
		{"torch.nn.functional.dropout(x, 0.5, False, False)", pure},
		{"torch.nn.functional.dropout(x)", random},
		{"torch.nn.functional.dropout(x, 0.5, True, True)", writes(aten.Random, "x")},
		{"torch.nn.functional.alpha_dropout(x)", pure},
		{"torch.nn.functional.batch_norm(x, y, w, None, None, True)", writes(aten.Pure, "y w")},
		{"torch.nn.functional.batch_norm(x, y, w, None, None, False)", pure},
		{"torch.nn.functional.batch_norm(x, None, None, training = True)", pure},
		{"torch.nn.functional.instance_norm(x, y, w)", writes(aten.Pure, "y w")},
		{"torch.nn.functional.embedding(x, w, None, 1.0)", writes(aten.Pure, "w")},
		{"torch.nn.functional.embedding(x, w)", pure},
		{"torch.nn.init.kaiming_uniform_(x)", want{Effect: aten.Random, Writes: "x", Views: "x"}},

		// Operators of Python, builtins and math.
		{"operator.iadd(x, y)", inplace},
		{"operator.and_(x, y)", pure}, // no writing in spite of its name
		{"operator.getitem(x, 0)", want{Effect: aten.Pure, Views: "x"}},
		{"operator.setitem(x, 0, y)", writes(aten.Pure, "x")},
		{"setattr(x, 'grad', y)", writes(aten.Pure, "x")},
		{"getattr(x, 'shape')", pure},
		{"print(x)", lasting},
		{"math.ceil(x)", pure},

		// Methods.
		{"x.add_(y)", inplace},
		{"x.add(y)", pure},
		{"x.normal_(0.0, 1.0)", want{Effect: aten.Random, Writes: "x", Views: "x"}},
		{"x.new_zeros(2)", want{Effect: aten.Pure, Metadata: "x"}},
		{"x.size(0)", want{Effect: aten.Pure, Metadata: "x"}},
		{"x.__iadd__(y)", inplace},
		{"x.__setitem__(0, y)", writes(aten.Pure, "x")},
		{"x.float()", pure},
		{"x.backward()", lasting},
	} {
		n := callOf(t, c.text)
		f, ok := n.Facts()
		if !ok {
			t.Errorf("%s: %s is not known", c.text, n.Target)
			continue
		}
		names := func(as []Arg) string {
			var out []string
			for _, a := range as {
				out = append(out, a.(*Node).Name)
			}
			return strings.Join(out, " ")
		}
		if diff := cmp.Diff(c.want, want{f.Effect, names(f.Writes), names(f.Metadata), names(f.Views)}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, diff)
		}
		impure := f.Effect == aten.Random || f.Effect == aten.Lasting || len(f.Writes) > 0
		for _, u := range []Unknown{UnknownMay, UnknownDoesNot} {
			got := []bool{n.IsImpure(u), n.IsMutating(u), n.IsRandom(u), n.IsUninitialised(u)}
			if diff := cmp.Diff([]bool{impure, len(f.Writes) > 0, f.Effect == aten.Random, f.Effect == aten.Uninitialised}, got); diff != "" {
				t.Errorf("%s: impure, mutating, random, uninitialised:\n%s", c.text, diff)
			}
		}
	}
}

// TestUnknownTargets shows that what is not known is what the caller says.
func TestUnknownTargets(t *testing.T) {
	g, err := ParseGraph("def forward(self, x):\n    dead = torch.ops.mylib.foo_.default(x)\n    out = torch.relu(x)\n    return (out,)\n")
	if err != nil {
		t.Fatal(err)
	}
	x := g.Nodes[0]
	for _, n := range []*Node{
		{Op: CallFunction, Target: "mylib.foo_.default", Args: []Arg{x}},
		{Op: CallFunction, Target: "mylib.dropout.default", Args: []Arg{x}},
		{Op: CallFunction, Target: "einops.einops:rearrange", Args: []Arg{x}},
		{Op: CallFunction, Target: "torch.no_such_function", Args: []Arg{x}},
		{Op: CallMethod, Target: "no_such_method_", Args: []Arg{x}},
		{Op: CallModule, Target: "dropout", Args: []Arg{x}},
	} {
		for _, u := range []Unknown{UnknownMay, UnknownDoesNot} {
			if _, ok := n.Facts(); ok || n.IsMutating(u) != bool(u) || n.IsRandom(u) != bool(u) || n.IsImpure(u) != (bool(u) || n.Op == CallModule) {
				t.Errorf("%s: known, or not what the caller says", n.Target)
			}
		}
	}
	kept, _ := g.Clone()
	if n := kept.EliminateDeadCode(UnknownMay); n != 0 {
		t.Errorf("%d calls went that may do something", n)
	}
	if n := g.EliminateDeadCode(UnknownDoesNot); n != 1 {
		t.Errorf("%d calls went, want 1", n)
	}
}

// TestNoCalls shows that names decide nothing where nothing is called.
func TestNoCalls(t *testing.T) {
	for _, op := range []Op{Placeholder, GetAttr} {
		n := &Node{Op: op, Name: "normal", Target: "normal"}
		if n.IsImpure(UnknownMay) || n.IsMutating(UnknownMay) || n.IsRandom(UnknownMay) {
			t.Errorf("%s normal does something", op)
		}
	}
}

// TestCustomOperator shows that an operator that a program defined is what its schema says, whatever its name.
func TestCustomOperator(t *testing.T) {
	none := func(c *aten.Call) (aten.Value, error) { return nil, nil }
	var lib aten.Library
	for schema, want := range map[string]string{
		"mylib::bump(Tensor x, Tensor(a!) y) -> ()":   "y",
		"mylib::fill_rest_(Tensor x) -> Tensor":       "",
		"mylib::dropout(Tensor x, float p) -> Tensor": "",
	} {
		op, err := lib.Define(aten.Op{Schema: schema, Meta: none, Eager: none})
		if err != nil {
			t.Fatal(err)
		}
		n := &Node{Op: CallFunction, Target: op.Name(), Custom: op, Args: []Arg{&Node{Name: "x"}, &Node{Name: "y"}}}
		f, ok := n.Facts()
		got := ""
		for _, w := range f.Writes {
			got += w.(*Node).Name
		}
		if !ok || f.Effect != aten.Pure || got != want {
			t.Errorf("%s: known %v, effect %d, writes %q; want pure, %q", schema, ok, f.Effect, got, want)
		}
	}
}

// TestTargetsAreKnown walks the table, and every function that graphs print in a form of its own: each is known, and stands once.
func TestTargetsAreKnown(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range targets {
		if row.effect == aten.UnknownEffect {
			t.Errorf("%s: a row without an effect: %s", row.module, row.calls)
		}
		for _, l := range strings.Split(row.calls, "\n") {
			names := strings.Fields(l)
			if s, err := aten.ParseSchema(l); err == nil {
				names = []string{s.Name}
			} else if strings.Contains(l, "(") {
				t.Errorf("%s: %v", row.module, err)
			}
			for _, n := range names {
				if k := row.module + "." + n; seen[k] {
					t.Errorf("%s stands twice", k)
				}
				seen[row.module+"."+n] = true
			}
		}
	}
	x := &Node{Op: Placeholder, Name: "x"}
	for _, target := range slices.Concat(slices.Collect(maps.Keys(infix)), slices.Collect(maps.Keys(prefix)), slices.Collect(maps.Keys(inplace)), slices.Collect(maps.Keys(builtinFuncs))) {
		n := &Node{Op: CallFunction, Target: target, Args: []Arg{x, x}}
		if _, ok := n.Facts(); !ok {
			t.Errorf("%s is not known", target)
		}
		if _, ok := inplace[target]; ok && !n.IsMutating(UnknownDoesNot) {
			t.Errorf("%s writes to nothing", target)
		}
	}
	for name, c := range callees().packets {
		for _, f := range c.forms {
			if f.Effect != c.forms[0].Effect {
				t.Errorf("%s has forms of different effects", name)
			}
		}
	}
}

// pythonSignatures are the parameters of PyTorch's functions in Python; signatures.py beside it wrote it.
//
//go:embed testdata/signatures.tsv
var pythonSignatures string

// TestTargetsAsPyTorch compares the signatures of the table with PyTorch's, as the facts go by names, positions and defaults.
func TestTargetsAsPyTorch(t *testing.T) {
	recorded := map[string]bool{}
	for _, l := range strings.Split(strings.TrimSpace(pythonSignatures), "\n") {
		name, want, _ := strings.Cut(l, "\t")
		recorded[name] = true
		c := callees().rows[name]
		if c == nil || len(c.forms[0].Sig.Args) == 0 {
			t.Errorf("%s has no signature in the table", name)
			continue
		}
		var params []string
		for _, a := range c.forms[0].Sig.Args {
			p := a.Name
			if a.HasDefault {
				p += "=" + FormatArg(a.Default)
			}
			params = append(params, p)
		}
		got := strings.Join(params, ", ")
		if got != strings.NewReplacer("gain=1,", "gain=1.0,", "a=0,", "a=0.0,", "norm_type=2,", "norm_type=2.0,").Replace(want) {
			t.Errorf("%s:\nPyTorch %s\nhere    %s", name, want, got)
		}
	}
	for name, c := range callees().rows {
		if strings.HasPrefix(name, "torch.nn.") && len(c.forms[0].Sig.Args) > 0 && !recorded[name] {
			t.Errorf("%s is none of PyTorch's functions that write or draw", name)
		}
	}
}

// BenchmarkIsImpure measures the question that hashing and dead code ask of every node.
func BenchmarkIsImpure(b *testing.B) {
	x := &Node{Op: Placeholder, Name: "x", Val: tensor.EmptyFake(tensor.Float32, []int64{2}, []int64{1})}
	for _, n := range []*Node{
		{Op: CallFunction, Target: "aten.add.Tensor", Args: []Arg{x, x}}, {Op: CallFunction, Target: "aten.view.default", Args: []Arg{x, List{int64(2)}}},
		{Op: CallFunction, Target: "torch.add", Args: []Arg{x, x}}, {Op: CallFunction, Target: "torch.nn.functional.dropout", Args: []Arg{x, 0.5, false}},
	} {
		b.Run(fmt.Sprint(n.Target), func(b *testing.B) {
			for range b.N {
				n.IsImpure(UnknownDoesNot)
			}
		})
	}
}
