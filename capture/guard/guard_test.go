package guard_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
	"whittle/tools/whittle/stack"
)

// world is an interpreter with the values of a script.
type world struct {
	t       *testing.T
	s       *stack.Session
	globals *vm.Dict
}

func newWorld(t *testing.T, script string) *world {
	t.Helper()
	s := stack.New(context.Background(), t.TempDir())
	if err := s.In.RunSource("script.py", "import torch\n"+script); err != nil {
		t.Fatal(err)
	}
	main, _ := s.In.Modules.GetStr("__main__")
	return &world{t, s, main.(*vm.Module).Dict}
}

func (w *world) get(name string) vm.Object {
	w.t.Helper()
	v, ok := w.globals.GetStr(name)
	if !ok {
		w.t.Fatalf("the script has no %s", name)
	}
	return v
}

// env is a call with these values of the script as its arguments x, y and so on.
func (w *world) env(names ...string) *source.Env {
	e := &source.Env{In: w.s.In, Locals: map[string]vm.Object{}, Globals: w.globals}
	for i, n := range names {
		if n != "" {
			e.Locals[string(rune('x'+i))] = w.get(n)
		}
	}
	return e
}

var x, y = source.Local{Var: "x"}, source.Local{Var: "y"}

const values = `
class A:
    k = 1
    def __init__(self): self.own = 1
class B(A): pass
class I(int): pass
def f(): return 1
def same(): return f
def outer(k):
    def g(): return k
    return g
a, a2, b = A(), A(), B()
bare = A(); del bare.own
f1, f2 = outer(1), outer(2)
one, true, fone, two, nan, zero, nzero = 1, True, 1.0, 2, float("nan"), 0.0, -0.0
none = None
i1, i2 = I(1), I(2)
text = "p"
l0, l1, l2, l2b = [], [1], [1, 2], [1, 2]
t2, t2b, t2f = (1, 2), (1, 2), (1, 2.0)
d0, dpq, dqp, dpqr, dp = {}, {"p": 1, "q": 2}, {"q": 2, "p": 1}, {"p": 1, "q": 2, "r": 3}, {"p": 1}
s12, s21, s13 = {1, 2}, {2, 1}, {1, 3}
x22, x22b, x32, x4, xd = torch.ones(2, 2), torch.ones(2, 2), torch.ones(3, 2), torch.ones(4), torch.ones(2, 2).double()
xt, xg = torch.ones(2, 2).t(), torch.ones(2, 2, requires_grad=True)
p = torch.nn.Parameter(torch.ones(2, 2))
`

// Each kind of guard holds for some values and not for others, and says why.
func TestKinds(t *testing.T) {
	w := newWorld(t, values)
	tensorOf := func(name string, shape, stride []int64) *guard.Guard {
		v := w.get(name).(*torch.Tensor)
		return guard.Tensor(guard.TensorFacts{Class: v.Type(), DType: v.T.DType, KeysOf: noKeys, Grad: w.s.Torch.Grad.RequiresGrad, RequiresGrad: false,
			Layout: func() ([]int64, []int64) { return shape, stride }}, x)
	}
	square := tensorOf("x22", []int64{2, 2}, []int64{2, 1})
	keys := []vm.Object{vm.Str("p"), vm.Str("q")}
	for _, c := range []struct {
		name, expr string
		guard      *guard.Guard
		holds      []string          // for these values of x, and of y behind a space
		fails      map[string]string // for these, with the reason; "" => the expression
	}{
		{"type", "___check_type_id(L['x'], <id>)", guard.Type(w.get("a"), x), []string{"a", "a2"}, map[string]string{"b": "", "one": ""}},
		{"identity", "___check_obj_id(L['x'], <id>)", guard.Identity(w.get("none"), x), []string{"none"}, map[string]string{"a": ""}},
		{"code", "___check_obj_id(L['x'].__code__, <id>)", guard.Code(w.get("f1").(*vm.Function), x), []string{"f1", "f2"}, map[string]string{"f": "", "one": ""}},
		{"a number", "L['x'] == 1", guard.Equals(w.get("one"), "1", x), []string{"one"}, map[string]string{"true": "", "fone": "", "two": "", "": ""}},
		{"zero has a sign", "L['x'] == 0.0", guard.Equals(w.get("zero"), "0.0", x), []string{"zero"}, map[string]string{"nzero": ""}},
		{"nan is nan", "L['x'] == nan", guard.Equals(w.get("nan"), "nan", x), []string{"nan"}, map[string]string{"zero": ""}},
		{"a tuple", "L['x'] == (1, 2)", guard.Equals(w.get("t2"), "(1, 2)", x), []string{"t2", "t2b"}, map[string]string{"t2f": "", "l2": ""}},
		{"a list", "L['x'] == [1, 2]", guard.Equals(w.get("l2"), "[1, 2]", x), []string{"l2", "l2b"}, map[string]string{"l1": ""}},
		{"a set", "L['x'] == {1, 2}", guard.Equals(w.get("s12"), "{1, 2}", x), []string{"s12", "s21"}, map[string]string{"s13": ""}},
		{"a subclass of int", "the value of L['x']", guard.NativeEquals(vm.MakeInt(1), x), []string{"i1"}, map[string]string{"i2": "", "one": ""}},
		{"length", "len(L['x']) == 2", guard.Length(guard.LengthCheck, x, 2, guard.ListLen), []string{"l2", "l2b"}, map[string]string{"l1": "", "t2": ""}},
		{"no items", "not L['x']", guard.Length(guard.LengthCheck, x, 0, guard.ListLen), []string{"l0"}, map[string]string{"l1": "", "d0": ""}},
		{"tuple length", "len(L['x']) == 2", guard.Length(guard.LengthCheck, x, 2, guard.TupleLen), []string{"t2", "t2f"}, map[string]string{"l2": ""}},
		{"dict length", "len(L['x']) == 2", guard.Length(guard.DictLength, x, 2, guard.DictLen), []string{"dpq", "dqp"}, map[string]string{"dp": "", "l2": ""}},
		{"rows", "len(L['x']) == 2", guard.Length(guard.LengthCheck, x, 2, guard.TensorLen), []string{"x22", "xd"}, map[string]string{"x32": "", "l2": ""}},
		{"an attribute of its own", "___dict_contains('own', L['x'].__dict__)", guard.Has("own", x), []string{"a", "b"}, map[string]string{"bare": "", "one": ""}},
		{"no attribute of its own", "not ___dict_contains('own', L['x'].__dict__)", guard.Lacks("own", x), []string{"bare"}, map[string]string{"a": "", "one": ""}},
		{"a key", "'q' in L['x']", guard.Member(vm.Str("q"), "'q'", true, x), []string{"dpq"}, map[string]string{"dp": "", "l2": ""}},
		{"no key", "'q' in L['x']", guard.Member(vm.Str("q"), "'q'", false, x), []string{"dp"}, map[string]string{"dpq": ""}},
		{"all keys", "list(L['x'].keys())", guard.Keys(w.get("dpq").Type(), keys, x), []string{"dpq"}, map[string]string{"dqp": "", "dpqr": "", "dp": "", "a": ""}},
		{"keys in order", "list(L['x'].keys())[0] == 'p'", guard.KeysInOrder(keys, []string{"'p'", "'q'"}, x)[0], []string{"dpq", "dpqr"},
			map[string]string{"dqp": "", "dp": "list(L['x'].keys())[1] == 'q'"}},
		{"contents", "list(L['x'])", guard.Contents(w.get("s12"), []vm.Object{vm.MakeInt(1), vm.MakeInt(2)}, x), []string{"s12", "s21"}, map[string]string{"s13": "", "l2": ""}},
		{"one object", "L['x'] is L['y']", guard.OneObject(x, y), []string{"a a"}, map[string]string{"a a2": ""}},
		{"two objects", "L['x'] is not L['y']", guard.TwoObjects(x, y), []string{"a a2"}, map[string]string{"a a": ""}},
		{"tensor", "check_tensor(L['x'], Tensor, DispatchKeySet(CPU, BackendSelect), torch.float32, device=None, requires_grad=False, size=[2, 2], stride=[2, 1])", square,
			[]string{"x22", "x22b"}, map[string]string{
				"x32": "tensor 'L['x']' size mismatch at index 0. expected 2, actual 3",
				"xd":  "tensor 'L['x']' dtype mismatch. expected Float, actual Double",
				"x4":  "tensor 'L['x']' rank mismatch. expected 2, actual 1",
				"xt":  "tensor 'L['x']' stride mismatch at index 0. expected 2, actual 1",
				"xg":  "tensor 'L['x']' requires_grad mismatch. expected requires_grad=0",
				"one": "expected type of 'L['x']' to be a tensor type, ' but found <class 'int'>",
				"p":   "expected type of 'L['x']' to be a tensor type, ' but found <class 'torch.nn.parameter.Parameter'>",
			}},
		{"tensor with a free size", "check_tensor(L['x'], Tensor, DispatchKeySet(CPU, BackendSelect), torch.float32, device=None, requires_grad=False, size=[None, 2], stride=[2, 1])",
			tensorOf("x22", []int64{guard.Free, 2}, []int64{2, 1}), []string{"x22", "x32"}, map[string]string{"x4": "tensor 'L['x']' rank mismatch. expected 2, actual 1"}},
	} {
		set := guard.NewSet([]*guard.Guard{c.guard}, nil)
		if c.guard.Expr != c.expr {
			t.Errorf("%s: prints %s, want %s", c.name, c.guard.Expr, c.expr)
		}
		for _, args := range c.holds {
			if ok, why := set.Check(w.env(strings.Fields(args)...)); !ok {
				t.Errorf("%s: fails for %s: %s", c.name, args, why.Text)
			}
		}
		for args, want := range c.fails {
			if want == "" {
				want = c.guard.Expr
			}
			if ok, why := set.Check(w.env(strings.Fields(args)...)); ok || why.Text != want {
				t.Errorf("%s: for %q: holds is %v, because of %q, want %q", c.name, args, ok, why.Text, want)
			}
		}
	}
}

// noKeys are the keys of a call in inference mode with a tensor that was made there.
func noKeys(*torch.Tensor) guard.KeySet { return guard.KeySet{} }

// What varies decides about the hint, and no word of the program does.
func TestCauses(t *testing.T) {
	w := newWorld(t, values)
	facts := guard.TensorFacts{KeysOf: noKeys, Class: w.get("x22").Type(), DType: w.get("x22").(*torch.Tensor).T.DType, Grad: w.s.Torch.Grad.RequiresGrad,
		Layout: func() ([]int64, []int64) { return []int64{2, 2}, []int64{2, 1} }}
	misnamed := source.Item{Base: x, Key: vm.Str("len( == dtype mismatch"), Text: "'len( == dtype mismatch'"}
	for _, c := range []struct {
		guard *guard.Guard
		x     string
		want  guard.Cause
		hint  string // a part of it
	}{
		{guard.Tensor(facts, x), "x32", guard.SizeVaries, "mark_dynamic"},
		{guard.Tensor(facts, x), "xt", guard.SizeVaries, "mark_dynamic"},
		{guard.Tensor(facts, x), "xd", guard.DTypeVaries, "dtype"},
		{guard.Tensor(facts, x), "x4", guard.RankVaries, "number of dimensions"},
		{guard.Tensor(facts, x), "xg", guard.GradVaries, "gradients"},
		{guard.Tensor(facts, x), "one", guard.Other, "TORCH_LOGS=guards"},
		{guard.Equals(w.get("one"), "1", x), "two", guard.ValueVaries, "number"},
		{guard.Equals(w.get("one"), "1", x), "", guard.ValueVaries, "number"},
		{guard.Type(w.get("a"), x), "b", guard.ObjectVaries, "object"},
		{guard.Type(w.get("a"), misnamed), "d0", guard.ObjectVaries, "object"},
		{guard.Identity(w.get("a"), x), "b", guard.ObjectVaries, "object"},
		{guard.Length(guard.LengthCheck, x, 2, guard.ListLen), "l1", guard.LengthVaries, "length"},
		{guard.Length(guard.DictLength, x, 0, guard.DictLen), "dp", guard.LengthVaries, "length"}, // though it says "not L['x']"
		{guard.Lacks("own", x), "a", guard.LengthVaries, "length"},
		{guard.Member(vm.Str("q"), "'q'", true, x), "dp", guard.LengthVaries, "length"},
		{guard.New(guard.NoHasattr, "hasattr(L['x'], 'm') == False", x, never), "a", guard.Other, "TORCH_LOGS=guards"}, // though it says " == "
		{guard.New(guard.LambdaGuard, "L['x'] <= 4", nil, never), "a", guard.ValueVaries, "number"},
	} {
		ok, why := guard.NewSet([]*guard.Guard{c.guard}, nil).Check(w.env(c.x))
		if ok || why.Cause != c.want || !strings.Contains(why.Hint(), c.hint) {
			t.Errorf("%s, given %q: %v, cause %d with the hint %q; want cause %d", c.guard.Expr, c.x, ok, why.Cause, why.Hint(), c.want)
		}
	}
	for c := guard.Other; c <= guard.ValueVaries; c++ {
		if (guard.Failure{Cause: c}).Hint() == "" {
			t.Errorf("cause %d has no hint", c)
		}
	}
}

func never(*source.Env, vm.Object) (bool, guard.Failure) { return false, guard.Failure{} }

// Guards on classes and on names of the program hold until the program changes.
func TestChanges(t *testing.T) {
	w := newWorld(t, values+`
def nothing(): pass
def other(): A.other = 3
def k2(): A.k = 2
def k1(): A.k = 1
def z1(): A.z = 1
def hide():
    global len
    del A.z
    len = 3
def unhide():
    global len
    del len
`)
	a := w.get("A").(*vm.Type)
	set := guard.NewSet([]*guard.Guard{guard.Class(a, 0, []string{"k", "z"}, []vm.Object{a.Lookup("k"), nil}), guard.Unbound(w.globals, "len")}, nil)
	for _, step := range []struct{ change, want string }{
		{"nothing", ""},
		{"other", ""}, // nobody asked for it
		{"k2", "__main__.A.k has changed"},
		{"k1", ""},
		{"z1", "__main__.A.z has changed"},
		{"hide", "a global hides the builtin len"},
		{"unhide", ""},
	} {
		if _, err := w.s.In.Call(w.get(step.change), nil, nil); err != nil {
			t.Fatal(err)
		}
		if _, why := set.Check(w.env()); why.Text != step.want {
			t.Errorf("after %s: %q, want %q", step.change, why.Text, step.want)
		}
	}
}

// A set names the first guard that fails, in its order, or all of them; a value that is gone fails its guards.
func TestCheck(t *testing.T) {
	w := newWorld(t, values)
	item := source.Item{Base: x, Key: vm.Str("q"), Text: "'q'"}
	set := guard.NewSet([]*guard.Guard{guard.Length(guard.DictLength, x, 2, guard.DictLen), guard.Equals(vm.MakeInt(2), "2", item), guard.Type(w.get("one"), y)}, nil)
	for _, c := range []struct {
		args  []string
		first string
		all   []string
	}{
		{[]string{"dpq", "one"}, "", nil},
		{[]string{"dpqr", "a"}, "len(L['x']) == 2", []string{"len(L['x']) == 2", "___check_type_id(L['y'], <id>)"}},
		{[]string{"dp", "one"}, "len(L['x']) == 2", []string{"len(L['x']) == 2", "L['x']['q'] == 2"}},
		{[]string{"dqp", ""}, "___check_type_id(L['y'], <id>)", []string{"___check_type_id(L['y'], <id>)"}},
	} {
		e := w.env(c.args...)
		ok, first := set.Check(e)
		var all []string
		for _, f := range set.Failures(e) {
			all = append(all, f.Text)
		}
		if ok != (c.first == "") || first.Text != c.first || !slices.Equal(all, c.all) {
			t.Errorf("%v: %v %q %q, want %q %q", c.args, ok, first.Text, all, c.first, c.all)
		}
	}
	if ok, why := guard.NeverHolds("so it was recorded").Check(w.env()); ok || why.Text != "so it was recorded" {
		t.Errorf("NeverHolds: %v %q", ok, why.Text)
	}
}

// A check may run code of the program that checks the same set.
func TestCheckInsideCheck(t *testing.T) {
	w := newWorld(t, values)
	var set *guard.Set
	depth := 0
	set = guard.NewSet([]*guard.Guard{
		guard.Type(w.get("one"), x),
		guard.New(guard.LambdaGuard, "again", x, func(e *source.Env, _ vm.Object) (bool, guard.Failure) {
			if depth++; depth > 1 {
				return true, guard.Failure{}
			}
			return set.Check(w.env("two"))
		}),
		guard.Equals(vm.MakeInt(1), "1", x),
	}, nil)
	if ok, why := set.Check(w.env("one")); ok || why.Text != "L['x'] == 1" { // of the inner check
		t.Errorf("%v %q", ok, why.Text)
	}
	depth = 1
	if ok, why := set.Check(w.env("one")); !ok {
		t.Errorf("the set does not hold afterwards: %s", why.Text)
	}
}

// What a draft keeps, hides and shows, and in which order.
func TestDraft(t *testing.T) {
	w := newWorld(t, values)
	d := guard.NewDraft(nil)
	z := source.Global{Var: "dpq"}
	d.SetValue(z.Name(), w.get("dpq"))
	d.Add(guard.Length(guard.DictLength, z, 2, guard.DictLen))
	d.Order(z)
	d.Order(z)
	d.Add(guard.Type(w.get("a"), y), guard.Type(w.get("a"), x), guard.Type(w.get("a"), x))
	d.Add(guard.Type(w.get("a"), source.Attr{Base: source.Fixed{N: 1}, Of: "k"})) // hidden: it has no name
	d.Covertly(func() {
		d.Add(guard.Equals(vm.MakeInt(1), "1", x), guard.Keys(w.get("d0").Type(), nil, x))
		d.Add(guard.Identity(w.get("one"), y))
		d.Show("L['x']") // does nothing: the program still has not read it
	})
	d.AddAlias(x, y)
	d.AddAlias(y, x)
	d.AddAlias(x, z) // guarded already
	d.AddAnew(guard.Lacks("forward", x))
	d.AddAnew(guard.Lacks("forward", x))
	d.Distinct(y)
	d.Distinct(x)
	d.Distinct(source.Fixed{N: 2})
	keys := func(v vm.Object) ([]vm.Object, []string, bool) {
		return []vm.Object{vm.Str("p"), vm.Str("q")}, []string{"'p'", "'q'"}, true
	}
	show := func() []string {
		var out []string
		for _, g := range guard.NewSet(d.Ordered(keys), d).Shown() {
			out = append(out, g.Kind.String()+" "+g.Expr)
		}
		return out
	}
	want := []string{
		"TYPE_MATCH ___check_type_id(L['y'], <id>)",
		"TYPE_MATCH ___check_type_id(L['x'], <id>)",
		"OBJECT_ALIASING L['x'] is L['y']",
		"OBJECT_ALIASING L['x'] is L['y']",
		"DICT_CONTAINS not ___dict_contains('forward', L['x'].__dict__)",
		"DICT_CONTAINS not ___dict_contains('forward', L['x'].__dict__)",
		"EQUALS_MATCH list(G['dpq'].keys())[0] == 'p'",
		"EQUALS_MATCH list(G['dpq'].keys())[1] == 'q'",
		"NO_TENSOR_ALIASING check_no_aliasing(L['x'], L['y'])",
	}
	slices.Sort(want)
	got := show()
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	d.Show("L['x']") // the program has read it: its value is shown, what only whittle checks is not
	if got := show(); !slices.Contains(got, "EQUALS_MATCH L['x'] == 1") || slices.Contains(got, "ID_MATCH ___check_obj_id(L['y'], <id>)") ||
		slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "DICT_KEYS") }) {
		t.Errorf("shown after all: %q", got)
	}
}

// The tree as PyTorch 2.6 prints it, and the list that torch._dynamo.explain makes.
func TestPrinting(t *testing.T) {
	w := newWorld(t, values+"m = torch.nn.Linear(2, 2)\n")
	d := guard.NewDraft(nil)
	add := func(v string, src source.Source, gs ...*guard.Guard) {
		d.SetValue(src.Name(), w.get(v))
		d.Add(gs...)
	}
	add("dpq", y, guard.Length(guard.DictLength, y, 2, guard.DictLen))
	d.Order(y)
	vp := source.Item{Base: y, Key: vm.Str("p"), Text: "'p'"}
	add("one", vp, guard.Equals(w.get("one"), "1", vp))
	m := source.Module{Base: source.Local{Var: "m"}, Kind: source.LibraryModule}
	add("m", m, guard.Type(w.get("m"), m), guard.Lacks("forward", m))
	training := source.Attr{Base: m, Of: "training"}
	add("true", training, guard.Identity(w.get("true"), training))
	f := source.Global{Var: "f"}
	add("f", f, guard.Code(w.get("f").(*vm.Function), f))
	k := source.Item{Base: source.Attr{Base: f, Of: "__defaults__"}, Key: vm.MakeInt(0), Text: "0"}
	add("two", k, guard.Equals(w.get("two"), "2", k))
	length := source.Builtin{Dict: "__builtins_dict__0", Var: "len"}
	d.Add(guard.Identity(vm.None, length))
	d.Add(guard.Part("G['__import_torch'].compiler.is_compiling"))
	d.Add(guard.New(guard.Hasattr, "hasattr(L['x'], 'sum')", source.Attr{Base: x, Of: "sum"}, nil).Hide())
	d.Distinct(x)
	d.Distinct(source.Global{Var: "x22"})
	gs := append([]*guard.Guard{guard.New(guard.DefaultDevice, "utils_device.CURRENT_DEVICE == None", nil, nil)}, d.Ordered(func(vm.Object) ([]vm.Object, []string, bool) {
		return []vm.Object{vm.Str("p")}, []string{"'p'"}, true
	})...)
	gs = append(gs, guard.New(guard.LambdaGuard, "L['x'].size()[0] <= 4", nil, nil))
	set := guard.NewSet(gs, d)
	wantTree := []string{
		"+- RootGuardManager",
		"| +- DEFAULT_DEVICE: utils_device.CURRENT_DEVICE == None                           # _dynamo/output_graph.py:493 in init_ambient_guards",
		"| +- GuardManager: source=G, accessed_by=GlobalsGuardAccessor",
		"| | +- GuardManager: source=G['__import_torch'], accessed_by=DictGetItemGuardAccessor('__import_torch')",
		"| | | +- GuardManager: source=G['__import_torch'].compiler, accessed_by=GetAttrGuardAccessor(compiler)",
		"| | | | +- GuardManager: source=G['__import_torch'].compiler.is_compiling, accessed_by=GetAttrGuardAccessor(is_compiling)",
		"| | | | | +- ID_MATCH: ___check_obj_id(G['__import_torch'].compiler.is_compiling, <id>)",
		"| | +- GuardManager: source=G['f'], accessed_by=DictGetItemGuardAccessor('f')",
		"| | | +- GuardManager: source=G['f'].__code__, accessed_by=GetAttrGuardAccessor(__code__)",
		"| | | | +- ID_MATCH: ___check_obj_id(G['f'].__code__, <id>)",
		"| | | +- GuardManager: source=G['f'], accessed_by=FuncDefaultsGuardAccessor",
		"| | | | +- GuardManager: source=G['f'].__defaults__[0], accessed_by=GetItemGuardAccessor(0)",
		"| | | | | +- EQUALS_MATCH: G['f'].__defaults__[0] == 2",
		"| | +- GuardManager: source=G['__builtins_dict__0'], accessed_by=DictGetItemGuardAccessor('__builtins_dict__0')",
		"| | | +- GuardManager: source=G['__builtins_dict__0']['len'], accessed_by=DictGetItemGuardAccessor('len')",
		"| | | | +- ID_MATCH: ___check_obj_id(G['__builtins_dict__0']['len'], <id>)",
		"| +- DictGuardManager: source=L['y'], accessed_by=DictGetItemGuardAccessor('y')",
		"| | +- KeyValueManager pair at index=0",
		"| | | +- KeyManager: GuardManager: source=list(L['y'].keys())[0]",
		"| | | | +- EQUALS_MATCH: list(L['y'].keys())[0] == 'p'",
		"| | | +- ValueManager: GuardManager: source=L['y']['p']",
		"| | | | +- EQUALS_MATCH: L['y']['p'] == 1",
		"| +- GuardManager: source=L['x'], accessed_by=DictGetItemGuardAccessor('x')",
		"| | +- NO_TENSOR_ALIASING: check_no_aliasing(L['x'], G['x22'])",
		"| | +- GuardManager: source=L['x'].sum, accessed_by=GetAttrGuardAccessor(sum)",
		"| +- GuardManager: source=L['m'], accessed_by=DictGetItemGuardAccessor('m')",
		"| | +- TYPE_MATCH: ___check_type_id(L['m'], <id>)",
		"| | +- GuardManager: source=L['m'].__dict__, accessed_by=GetGenericDictGuardAccessor",
		"| | | +- DICT_CONTAINS: not ___dict_contains('forward', L['m'].__dict__)",
		"| | | +- GuardManager: source=L['m'].training, accessed_by=DictGetItemGuardAccessor('training')",
		"| | | | +- ID_MATCH: ___check_obj_id(L['m'].training, <id>)",
		"+- LAMBDA_GUARD: L['x'].size()[0] <= 4",
	}
	if d := cmp.Diff(wantTree, set.Tree()); d != "" {
		t.Errorf("tree (-want +got):\n%s", d)
	}
	one := func(name, where, maker, kind, code string) guard.Listed {
		return guard.Listed{Name: name, Where: where, Maker: maker, Types: []string{kind}, Code: []string{code}}
	}
	wantList := []guard.Listed{
		{Where: "SHAPE_ENV", Maker: "SHAPE_ENV"},
		one("", "GLOBAL", "DEFAULT_DEVICE", "DEFAULT_DEVICE", "utils_device.CURRENT_DEVICE == None"),
		{Where: "GLOBAL", Maker: "GRAD_MODE"},
		{Where: "GLOBAL", Maker: "DETERMINISTIC_ALGORITHMS"},
		{Where: "GLOBAL", Maker: "TORCH_FUNCTION_STATE"},
		one("L['x'].sum", "LOCAL", "HASATTR", "HASATTR", "hasattr(L['x'], 'sum')"),
		one("L['y']['p']", "LOCAL", "CONSTANT_MATCH", "EQUALS_MATCH", "L['y']['p'] == 1"),
		one("G['f']", "GLOBAL", "CLOSURE_MATCH", "ID_MATCH", "___check_obj_id(G['f'].__code__, <id>)"),
		one("G['f'].__defaults__[0]", "GLOBAL", "CONSTANT_MATCH", "EQUALS_MATCH", "G['f'].__defaults__[0] == 2"),
		one("G['__builtins_dict__0']['len']", "GLOBAL", "BUILTIN_MATCH", "ID_MATCH", "___check_obj_id(G['__builtins_dict__0']['len'], <id>)"),
		one("L['m']", "LOCAL", "TYPE_MATCH", "TYPE_MATCH", "___check_type_id(L['m'], <id>)"),
		one("L['m']", "LOCAL", "DICT_CONTAINS", "DICT_CONTAINS", "not ___dict_contains('forward', L['m'].__dict__)"),
		one("L['m'].training", "LOCAL", "CONSTANT_MATCH", "ID_MATCH", "___check_obj_id(L['m'].training, <id>)"),
	}
	if d := cmp.Diff(wantList, set.List()); d != "" {
		t.Errorf("list (-want +got):\n%s", d)
	}
}

// A guard keeps the line on which the trace relied on its fact.
func TestPlaces(t *testing.T) {
	w := newWorld(t, values)
	f := w.get("f").(*vm.Function)
	d := guard.NewDraft(func() guard.Place { return guard.Place{Code: f.Code, Line: f.Code.FirstLine} })
	d.Add(guard.Type(w.get("one"), x))
	set := guard.NewSet(d.Ordered(nil), d)
	at, ok := set.Shown()[0].Made()
	if !ok || at.Text() != "def f(): return 1" || !strings.HasSuffix(at.Comment(), "in f") {
		t.Errorf("%v %q", ok, at.Comment())
	}
	if got := (guard.Place{Code: f.Code, Line: 10_000}).Text(); got != "" {
		t.Errorf("a line that the file has not: %q", got)
	}
}

// Every kind has a name of its own, and the zero value is none.
func TestKindNames(t *testing.T) {
	seen := map[string]bool{}
	for k := guard.TensorMatch; k <= guard.ClassMatch; k++ {
		n := k.String()
		if n == "" || n != strings.ToUpper(n) || seen[n] {
			t.Errorf("kind %d is called %q", int(k), n)
		}
		seen[n] = true
	}
	defer func() {
		if recover() == nil {
			t.Error("the zero kind has a name")
		}
	}()
	_ = guard.Kind(0).String()
}

// TestHintOf: the hint for a text is that of the failure that is worded so, whatever names are in it.
func TestHintOf(t *testing.T) {
	for text, want := range map[string]guard.Cause{
		"tensor 'L['x']' size mismatch at index 0. expected 3, actual 5":   guard.SizeVaries,
		"tensor 'L['x']' dtype mismatch. expected Float, actual Double":    guard.DTypeVaries,
		"tensor 'L['x']' rank mismatch. expected 2, actual 3":              guard.RankVaries,
		"tensor 'L['x' dtype mismatch. ']' rank mismatch. expected 2":      guard.RankVaries,
		"tensor 'L['x']' requires_grad mismatch. expected requires_grad=0": guard.GradVaries,
		"len(L['x']) == 2": guard.LengthVaries,
		"L['k'] == 1":      guard.ValueVaries,
		"___check_obj_id(L['f'], 140397432316976)": guard.ObjectVaries,
		"L['x'].size()[0] == 4":                    guard.SizeVaries,
		"GLOBAL_STATE changed: grad_mode ":         guard.GradVaries,
		"something else":                           guard.Other,
		"":                                         guard.Other,
	} {
		if got, want := guard.HintOf(text), (guard.Failure{Cause: want}).Hint(); got != want {
			t.Errorf("%q: hint %q, want %q", text, got, want)
		}
	}
}
