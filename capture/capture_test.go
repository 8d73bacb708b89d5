package capture_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture"
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/tools/whittle/stack"
)

// seen is what capture did with a script.
type seen struct {
	graphs     []string // one line each: the targets of the calls
	breaks     []string // kind, line, reason
	recompiles []string // function: reason
	guards     []string // of the first compiled frame
	inputs     []string // of the first graph
	out        string
}

// trace runs a script and collects what capture did.
func trace(t testing.TB, src string) (*stack.Session, seen) {
	t.Helper()
	s := stack.New(context.Background(), t.TempDir())
	var out bytes.Buffer
	s.In.Stdout = &out
	var r seen
	s.Dynamo.Observe.Frame = func(f *capture.FrameEvent) {
		if f.Graph != nil {
			var calls []string
			for _, n := range f.Graph.Graph.Calls() {
				calls = append(calls, n.Target[strings.LastIndex(n.Target, ".")+1:])
			}
			r.graphs = append(r.graphs, strings.Join(calls, " "))
			if r.inputs == nil {
				r.inputs = []string{}
				for _, n := range f.Graph.Graph.Nodes {
					if n.Op == "placeholder" {
						r.inputs = append(r.inputs, n.Target)
					}
				}
			}
		}
		if r.guards == nil && f.Status == "compiled" {
			r.guards = []string{}
			for _, g := range f.Guards[3:] { // the first three hold for every frame
				if g.Kind != guard.TensorMatch && g.Kind != guard.NoHasattr {
					r.guards = append(r.guards, g.Kind.String()+" "+g.Expr)
				}
			}
		}
	}
	s.Dynamo.Observe.Break = func(b *capture.BreakEvent) {
		reason, _, _ := strings.Cut(b.Reason.Message(), "[")
		reason, _, _ = strings.Cut(reason, ">:") // the error's own words
		r.breaks = append(r.breaks, fmt.Sprintf("%s %d %s", b.Kind, b.Line, strings.TrimSpace(reason)))
	}
	s.Dynamo.Observe.Recompile = func(e *capture.RecompileEvent) {
		r.recompiles = append(r.recompiles, e.Function+": "+e.Reasons[0].String())
	}
	if err := s.In.RunSource("script.py", "import torch\n"+src); err != nil {
		t.Fatal(err)
	}
	if err := s.In.Flush(); err != nil {
		t.Fatal(err)
	}
	r.out = out.String()
	return s, r
}

// The guards were read off PyTorch 2.6.
func TestGuards(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"builtins", `
@torch.compile(backend="eager")
def f(xs):
    return xs[0] * len(xs)
f([torch.ones(2), torch.ones(3)])
`, []string{"TYPE_MATCH ___check_type_id(L['xs'], <id>)", "LENGTH_CHECK len(L['xs']) == 2", "ID_MATCH ___check_obj_id(G['__builtins_dict___0']['len'], <id>)"}},
		{"functions by their code", `
def g(x, k=2):
    return x * k
@torch.compile(backend="eager")
def f(x):
    return g(x)
f(torch.ones(2))
`, []string{"ID_MATCH ___check_obj_id(G['g'].__code__, <id>)", "EQUALS_MATCH G['g'].__defaults__[0] == 2"}},
		{"tensors that must differ", `
w = torch.ones(2)
@torch.compile(backend="eager")
def f(x, y):
    return x + y * w
f(torch.ones(2), torch.ones(2))
`, []string{"NO_TENSOR_ALIASING check_no_aliasing(L['x'], L['y'], G['w'])"}},
		{"one object in two places", `
x = torch.ones(2)
@torch.compile(backend="eager")
def f(a, b):
    return a + b
f(x, x)
`, []string{"OBJECT_ALIASING L['a'] is L['b']", "OBJECT_ALIASING L['a'] is L['b']"}},
		{"keys in order", `
@torch.compile(backend="eager")
def f(d):
    for k, v in d.items():
        v = v + 1
    return v
f({"p": torch.ones(2), "q": torch.ones(2)})
`, []string{"EQUALS_MATCH list(L['d'].keys())[0] == 'p'", "EQUALS_MATCH list(L['d'].keys())[1] == 'q'", "NO_TENSOR_ALIASING check_no_aliasing(L['d']['p'], L['d']['q'])"}},
		{"a decorated method", `
class E:
    @torch.no_grad()
    def up(self, x): return x * 2
e = E()
@torch.compile(backend="eager")
def f(x):
    return e.up(x)
f(torch.ones(2))
`, []string{
			"TYPE_MATCH ___check_type_id(G['e'], <id>)",
			"TYPE_MATCH ___check_type_id(G['e'].up.__closure__[0].cell_contents, <id>)",
			"ID_MATCH ___check_obj_id(G['e'].up.__closure__[1].cell_contents.__code__, <id>)",
		}},
		{"functions of NumPy, by what they are", `
import numpy as np
@torch.compile(backend="eager")
def f(x):
    return np.sum(np.exp(x))
f(np.ones(2))
`, []string{
			"ID_MATCH ___check_obj_id(G['np'], <id>)",
			"ID_MATCH ___check_obj_id(G['np'].exp, <id>)",
			"ID_MATCH ___check_obj_id(G['np'].sum, <id>)",
		}},
		{"what a new container begins with", `
@torch.compile(backend="eager")
def f(x, y, z, n):
    return [n, [n, y], z], x + 1
f(torch.ones(2), torch.ones(2), torch.ones(2), 3)
`, []string{"EQUALS_MATCH L['n'] == 3", "NO_TENSOR_ALIASING check_no_aliasing(L['x'], L['y'])"}},
		{"what a new container has behind a result", `
@torch.compile(backend="eager")
def f(x, y):
    return x + 1, y
f(torch.ones(2), torch.ones(2))
`, []string{}},
		{"a module and its parameters", `
class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l, self.k = torch.nn.Linear(2, 2), 3
    def forward(self, x):
        return self.l(x) * self.k
torch.compile(M(), backend="eager")(torch.ones(1, 2))
`, []string{
			"TYPE_MATCH ___check_type_id(L['self'], <id>)",
			"ID_MATCH ___check_obj_id(G['__import_torch_dot_nn_dot_modules_dot_linear'], <id>)",
			"ID_MATCH ___check_obj_id(G['__import_torch_dot_nn_dot_modules_dot_module'], <id>)",
			"ID_MATCH ___check_obj_id(G['__import_torch_dot_nn_dot_modules_dot_linear'].F, <id>)",
			"ID_MATCH ___check_obj_id(G['__import_torch_dot_nn_dot_modules_dot_linear'].F.linear, <id>)",
			"DICT_LENGTH not G['__import_torch_dot_nn_dot_modules_dot_module']._global_forward_hooks",
			"DICT_LENGTH not G['__import_torch_dot_nn_dot_modules_dot_module']._global_backward_hooks",
			"DICT_LENGTH not G['__import_torch_dot_nn_dot_modules_dot_module']._global_forward_pre_hooks",
			"DICT_LENGTH not G['__import_torch_dot_nn_dot_modules_dot_module']._global_backward_pre_hooks",
			"EQUALS_MATCH L['self'].k == 3",
			"DICT_LENGTH len(L['self']._modules) == 1",
			"DICT_LENGTH not L['self']._parameters",
			"TYPE_MATCH ___check_type_id(L['self']._modules['l'], <id>)",
			"DICT_CONTAINS not ___dict_contains('forward', L['self']._modules['l'].__dict__)",
			"DICT_LENGTH len(L['self']._modules['l']._parameters) == 2",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, got := trace(t, c.src)
			if d := cmp.Diff(c.want, got.guards); d != "" {
				t.Errorf("guards (-want +got):\n%s", d)
			}
		})
	}
}

// Modules of one class set attributes by one function, whose cell is guarded where the first does.
func TestSettersGuarded(t *testing.T) {
	_, got := trace(t, `
m = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.ReLU())
@torch.compile(backend="eager")
def f(x):
    m.eval()
    return m(x)
f(torch.ones(2))
`)
	got.guards = slices.DeleteFunc(got.guards, func(g string) bool { return !strings.Contains(g, "__setattr__") })
	want := []string{"ID_MATCH ___check_obj_id(G['m'].__class__.__setattr__.__closure__[0].cell_contents, <id>)"}
	if d := cmp.Diff(want, got.guards); d != "" {
		t.Errorf("guards (-want +got):\n%s", d)
	}
}

// A guard that fails compiles anew, with its reason; what nobody guards does not.
func TestRecompiles(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"a closure's value", `
def make(k):
    def g(x):
        return x * k
    return g
g = make(2)
@torch.compile(backend="eager")
def f(x):
    return g(x)
f(torch.ones(2)); f(torch.ones(2))
g = make(3)
print(f(torch.ones(2)).tolist())
`, []string{"f: 0/0: G['g'].__closure__[0].cell_contents == 2"}},
		{"gradients of a tensor in a dict that is as it was", `
w = torch.ones(2)
@torch.compile(backend="eager")
def f(x):
    return x * w
f(torch.ones(2)); f(torch.ones(2)); w.requires_grad_(True); f(torch.ones(2))
`, nil},
		{"and in one that is not", `
w = torch.ones(2)
@torch.compile(backend="eager")
def f(x):
    return x * w
f(torch.ones(2)); f(torch.ones(2)); w.requires_grad_(True); other = 1; f(torch.ones(2))
`, []string{"f: 0/0: tensor 'G['w']' requires_grad mismatch. expected requires_grad=0"}},
		{"and in one whose keys are guarded in order", `
d = {"a": torch.ones(2)}
f = torch.compile(lambda x: [x * d[k] for k in d], backend="eager")
f(torch.ones(2)); f(torch.ones(2)); d["a"].requires_grad_(True); f(torch.ones(2))
`, []string{"<lambda>: 0/0: tensor 'G['d']['a']' requires_grad mismatch. expected requires_grad=0"}},
		{"and in one that the guards did not see yet", `
m = torch.nn.Linear(2, 2)
f = torch.compile(lambda x: m(x), backend="eager")
f(torch.ones(2)); m.bias.requires_grad_(False); f(torch.ones(2))
`, []string{"<lambda>: 0/0: tensor 'G['m']._parameters['bias']' requires_grad mismatch. expected requires_grad=1"}},
		{"a constant of a class, which PyTorch takes as it is", `
class K: scale = 2
@torch.compile(backend="eager")
def f(x):
    return x * K.scale
f(torch.ones(2)); K.scale = 3; f(torch.ones(2))
`, nil},
		{"a variable that a nested function shares", `
@torch.compile(backend="eager")
def f(x, n):
    def add(v): return v + n
    x = add(x)
    torch._dynamo.graph_break()
    return add(x) + n
f(torch.ones(2), "a" == "b"); f(torch.ones(2), True)
`, []string{"f: 0/0: ___check_obj_id(L['n'], <id>)", "torch_dynamo_resume_in_f_at_7: 1/0: ___check_obj_id(L['n'], <id>)"}},
		{"two arguments become one", `
@torch.compile(backend="eager")
def f(a, b):
    return a + b
x = torch.ones(2)
f(x, torch.ones(2)); f(x, x)
`, []string{"f: 0/0: Duplicate tensors found"}},
		{"another method of the same class", `
class A:
    def run(self, x): return x + 1
a = A()
@torch.compile(backend="eager")
def f(x):
    return a.run(x)
f(torch.ones(2)); a.other = 3; f(torch.ones(2))
`, nil},
		{"a branch on a tensor in a loop", `
@torch.compile(backend="eager")
def f(x):
    y = x + 1
    for i in range(3):
        if y[0] > 100: break
        y = y * 2
    return y
print(f(torch.ones(2)).tolist())
`, []string{
			"torch_dynamo_resume_in_f_at_7: 1/0: ___tuple_iterator_len(L['___stack0']) == 2",
			"torch_dynamo_resume_in_f_at_7: 1/1: ___tuple_iterator_len(L['___stack0']) == 1",
		}},
		{"a key more", `
@torch.compile(backend="eager")
def f(d):
    return sum(d.values())
f({"p": torch.ones(2)}); f({"p": torch.ones(2), "q": torch.ones(2)})
`, []string{"f: 0/0: len(L['d']) == 1"}},
		{"a forward of its own", `
m = torch.nn.Linear(2, 2)
@torch.compile(backend="eager")
def f(x):
    return m(x)
f(torch.ones(1, 2)); m.forward = lambda x: x * 5; print(f(torch.ones(1, 2)).tolist())
`, []string{"f: 0/0: not ___dict_contains('forward', G['m'].__dict__)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, got := trace(t, c.src)
			if d := cmp.Diff(c.want, got.recompiles); d != "" {
				t.Errorf("recompiles (-want +got):\n%s", d)
			}
		})
	}
}

// What a failing guard is about decides about the advice: relations of sizes and of numbers print alike.
func TestRecompileCauses(t *testing.T) {
	for _, c := range []struct {
		name, call string // f is called with torch.ones(3) and 2 first, under dynamic=True
		want       guard.Cause
	}{
		{"a size", "f(torch.ones(8), 2)", guard.SizeVaries},
		{"a number", "f(torch.ones(3), 9)", guard.ValueVaries},
		{"gradients", "with torch.no_grad(): f(torch.ones(3), 2)", guard.GradVaries},
		{"autocast", "with torch.autocast('cpu'): f(torch.ones(3), 2)", guard.AutocastVaries},
		{"a mode", "torch.use_deterministic_algorithms(True); f(torch.ones(3), 2)", guard.Other},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := stack.New(context.Background(), t.TempDir())
			var got []guard.Cause
			s.Dynamo.Observe.Recompile = func(e *capture.RecompileEvent) { got = append(got, e.Reasons[0].Cause) }
			src := `import torch
@torch.compile(backend="eager", dynamic=True)
def f(x, n):
    if x.shape[0] < 5 and n < 5:
        return x * n
    return x + n
f(torch.ones(3), 2)
`
			if err := s.In.RunSource("script.py", src+c.call); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]guard.Cause{c.want}, got); d != "" {
				t.Errorf("causes (-want +got):\n%s", d)
			}
		})
	}
}

// Where graphs break, why, and what is compiled before and after; read off PyTorch 2.6. Line 1 imports torch.
func TestBreaks(t *testing.T) {
	for _, c := range []struct {
		name, src      string
		breaks, graphs []string
	}{
		{"print", `
@torch.compile(backend="eager")
def f(x):
    x = x + 1
    print("here")
    return x * 2
f(torch.ones(2))
`, []string{"break 6 builtin: print"}, []string{"add", "mul"}},
		{"in a callee", `
def g(x):
    x = x * 2
    print("here")
    return x * 5
@torch.compile(backend="eager")
def f(x):
    return g(x) + 3
f(torch.ones(2))
`, []string{"break 5 builtin: print", "break 5 builtin: print"}, []string{"mul", "mul", "add"}},
		{"in a loop", `
@torch.compile(backend="eager")
def f(x):
    for i in range(2):
        x = x * 2
        print("here")
    return x
f(torch.ones(2))
`, []string{"break 7 builtin: print"}, nil},
		{"inside try", `
@torch.compile(backend="eager")
def f(x):
    x = x + 1
    try:
        print("here")
    except ValueError:
        pass
    return x
f(torch.ones(2))
`, []string{"skip 7 builtin: print"}, nil},
		{"inside no_grad", `
@torch.compile(backend="eager")
def f(x):
    with torch.no_grad():
        y = x * 2
        print("here")
        z = y + 1
    return x * z
f(torch.ones(2, requires_grad=True))
`, []string{"break 7 builtin: print"}, []string{"_set_grad_enabled mul _set_grad_enabled", "_set_grad_enabled add _set_grad_enabled mul"}},
		{"inside a context manager of the script", `
class C:
    def __enter__(self): return self
    def __exit__(self, *a): return False
@torch.compile(backend="eager")
def f(x):
    with C():
        print("here")
        return x + 1
f(torch.ones(2))
`, []string{"skip 9 Graph break under GenericContextWrappingVariable"}, nil},
		{"methods of a class that derives from dict", `
class D(dict): pass
def f(x, d):
    x = x * d["k"] + d.get("k")
    for v in d.values(): x = x + v
    return x
torch.compile(f, backend="eager")(torch.ones(2), D(k=2))
`, []string{"break 6 call_method MutableMappingVariable(D) values", "skip 6 call_method UserDefinedObjectVariable(dict_values) __iter__ () {}"}, []string{"mul add"}},
		{"an item of a class that derives from dict", `
class D(dict): pass
def f(x, d):
    x = x + 1
    d["k"] = x
    return x * 2
torch.compile(f, backend="eager")(torch.ones(2), D())
`, []string{"break 6 call_method MutableMappingVariable(D) __setitem__"}, []string{"add", "mul"}},
		{"a loop over a class that derives from dict", `
class D(dict): pass
def f(x, d):
    x = x + 1
    return [x + d[k] for k in d]
torch.compile(f, backend="eager")(torch.ones(2), D(a=1))
`, []string{"skip 6 call_method MutableMappingVariable(D) __iter__ () {}"}, nil},
		{"an object of a class that derives from a container", `
class T(tuple): pass
def f(x):
    t = T((1, 2))
    return x + t[0]
torch.compile(f, backend="eager")(torch.ones(2))
`, []string{"break 5 call_function UserDefinedClassVariable(<class '__main__.T'>)",
			"break 6 call_method UserDefinedObjectVariable(T) __getitem__ (ConstantVariable(int: 0),) {}"}, []string{"add"}},
		{"an operator of a class in Python's collections", `
import collections
def f(x, d):
    return x + d["k"]
torch.compile(f, backend="eager")(torch.ones(2), collections.UserDict(k=2))
`, []string{"break 5 'inline in skipfiles: UserDict.__getitem__ | __getitem__ /whittle/lib/python3.11/collections/__init__.py, skipped according trace_rules.lookup SKIP_DIRS'"}, []string{"add"}},
		{"a function of the program that another stands in for", `
def g(x): return print(x)
@torch._dynamo.substitute_in_graph(g)
def h(x): return x + 1
torch.compile(lambda x: g(x) * 2, backend="eager")(torch.ones(2))
`, nil, []string{"add mul"}},
		{"sorting by what is no constant", `
def f(x):
    l = sorted([("b", x), ("a", x * 2)])
    return l[0][1] + 1
torch.compile(f, backend="eager")(torch.ones(2))
`, []string{"break 4 sort with non-constant keys"}, []string{"mul", "add"}},
		{"sorting by constants", `
def f(x):
    l = sorted([("b", x), ("a", x * 2)], key=lambda t: t[0])
    return l[0][1] + sorted([("b", 1), ("a", 2)])[0][1]
torch.compile(f, backend="eager")(torch.ones(2))
`, nil, []string{"mul add"}},
		{"a module that the trace gives to another", `
class M(torch.nn.Module):
    def forward(self, x):
        self.k = torch.nn.ReLU()
        return self.k(x)
torch.compile(M(), backend="eager")(torch.ones(2))
`, nil, []string{"_log_api_usage_once relu"}},
		{"branch on a tensor", `
@torch.compile(backend="eager")
def f(x):
    y = x.sum()
    if y > 0:
        return x + 1
    return x - 1
f(torch.ones(2))
`, []string{"break 6 Data-dependent jump"}, []string{"sum gt", "add"}},
		{"an exception of the script", `
class Bad(ValueError): pass
@torch.compile(backend="eager")
def f(x):
    try:
        raise Bad("q")
    except Bad:
        return x + 1
f(torch.ones(2))
`, []string{"skip 7 call_function UserDefinedClassVariable(<class '__main__.Bad'>)"}, nil},
		{"an exception that nobody catches", `
@torch.compile(backend="eager")
def f(x):
    x = x + 1
    raise ValueError("boom")
try:
    f(torch.ones(2))
except ValueError:
    pass
`, []string{"skip 6 Observed exception"}, nil},
		{"a wrong call", `
@torch.compile(backend="eager")
def f(x):
    return torch.sin(x, x)
try:
    f(torch.ones(2))
except TypeError:
    pass
`, []string{"break 5 TypeError <built-in method sin of type object at 0xADDR"}, nil},
		{"globals are no break", `
n, last = 0, None
@torch.compile(backend="eager")
def f(x):
    global n, last
    n += 1
    last = x * n
    return last + 1
f(torch.ones(2))
assert n == 1 and last.tolist() == [1.0, 1.0]
`, nil, []string{"mul add"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, got := trace(t, c.src)
			if d := cmp.Diff(c.breaks, got.breaks); d != "" {
				t.Errorf("breaks (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.graphs, got.graphs); d != "" {
				t.Errorf("graphs (-want +got):\n%s", d)
			}
		})
	}
}

// The inputs of a graph come in the order in which the trace uses them.
func TestInputOrder(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"functions look at their last argument first", `
@torch.compile(backend="eager")
def f(a, b, c):
    return torch.addmm(a, b, c)
f(torch.ones(2, 2), torch.ones(2, 2), torch.ones(2, 2))
`, []string{"L_c_", "L_b_", "L_a_"}},
		{"operators at their first", `
@torch.compile(backend="eager")
def f(a, b):
    return a - b
f(torch.ones(2), torch.ones(2))
`, []string{"L_a_", "L_b_"}},
		{"globals are used when they are loaded", `
w = torch.ones(2)
@torch.compile(backend="eager")
def f(a):
    return a - w
f(torch.ones(2))
`, []string{"G_w_", "L_a_"}},
		{"a generator runs to its end at once", `
@torch.compile(backend="eager")
def f(a, xs):
    for x in (v * 2 for v in xs):
        a = a + x
    return a
f(torch.ones(2), [torch.ones(2), torch.ones(2)])
`, []string{"L_xs_0_", "L_xs_1_", "L_a_"}},
		{"the body of an operator begins with what its function closes over", `
from torch._higher_order_ops.wrap import wrap
def make(y):
    def f(x): return wrap(lambda x: torch.sin(x) + y, x)
    return f
torch.compile(make(torch.ones(2)), backend="eager")(torch.ones(2))
`, []string{"L_y_", "L_x_"}},
		{"a size that came out as another stays, where that is read", `
@torch.compile(backend="eager", dynamic=True)
def f(a, b):
    return (a - b) * a.shape[0]
torch._dynamo.mark_dynamic(a := torch.ones(4), 0)
torch._dynamo.mark_dynamic(b := torch.ones(4), 0)
f(a, b)
`, []string{"s0", "L_a_", "s1", "L_b_"}},
		{"a number stays an input where the trace went on to rely on it", `
@torch.compile(backend="eager", dynamic=True)
def f(a, n):
    for i in range(0, 4, n):
        a = a[:i + n]
    return a
f(torch.ones(4), 2)
`, []string{"L_n_", "s1", "L_a_"}},
		{"what is only passed on is no input", `
@torch.compile(backend="eager")
def f(a, b):
    return b, a + 1
f(torch.ones(2), torch.ones(2))
`, []string{"L_a_"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, got := trace(t, c.src)
			if d := cmp.Diff(c.want, got.inputs); d != "" {
				t.Errorf("inputs (-want +got):\n%s", d)
			}
		})
	}
}

// BenchmarkGuards checks the guards of a model of some layers: the time is for all of them, "ns/100" for a hundred.
func BenchmarkGuards(b *testing.B) {
	s, _ := trace(b, `
class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4) for _ in range(16)])
        self.scale = 0.5
    def forward(self, x):
        for l in self.layers:
            x = torch.relu(l(x)) * self.scale
        return x
m = M()
x = torch.ones(2, 4)
torch.compile(m, backend="eager")(x)
`)
	main, ok := s.In.Modules.GetStr("__main__")
	if !ok {
		b.Fatal("no __main__")
	}
	globals := main.(*vm.Module).Dict
	m, _ := globals.GetStr("m")
	x, _ := globals.GetStr("x")
	check, n := s.Dynamo.GuardCheck("forward", map[string]vm.Object{"self": m, "x": x}, globals)
	if check == nil || n < 100 {
		b.Fatalf("%d guards", n)
	}
	if ok, why := check(); !ok {
		b.Fatal(why)
	}
	for b.Loop() {
		if ok, why := check(); !ok {
			b.Fatal(why)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)*100/float64(n), "ns/100")
}
