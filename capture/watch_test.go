package capture_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
)

// Each row of the table of watched instructions is met by a program. Compiled, f gives what plain Python does, and again in a second
// call, which finds the objects as the first one left them.
func TestWatchedInstructions(t *testing.T) {
	met := map[code.Op]bool{}
	for _, c := range []struct {
		name, src string
		args      string   // of each of the two calls
		breaks    []string // line 1 imports torch
	}{
		{"variables", `
n = 3
def f(x, k=2):
    global m
    y = x * k
    m = n
    del k
    return y + m`, "torch.ones(3)", nil},
		{"a global that is deleted", `
g = 1
def f(x):
    global g
    g = 2
    del g
    return x + 1`, "torch.ones(3)", []string{"skip 7 missing: DELETE_GLOBAL"}},
		{"cells", `
def f(x, k):
    def inner(y):
        nonlocal k
        k = k + 1
        return y * k
    class C:
        z = k
    return inner(x) + inner(x) + C.z`, "torch.ones(3), 2", []string{"skip 8 missing: LOAD_BUILD_CLASS"}},
		{"a cell that is deleted", `
def f(x):
    k = 2
    def inner(y): return y * k
    x = inner(x)
    del k
    return x + 1`, "torch.ones(3)", []string{"skip 7 missing: DELETE_DEREF"}},
		{"a pattern of a class, behind what is compiled", `
def f(x):
    x = x + 1
    x = x * 2
    match x.dim():
        case int():
            return x + 3`, "torch.ones(3)", []string{"skip 7 missing: MATCH_CLASS"}},
		{"an item that is deleted", `
def f(x, d):
    del d["a"]
    l = [1, 2]
    del l[0]
    return x + l[0]`, "torch.ones(3), {'a': 1}", []string{"skip 6 call_method ListVariable(length=2) __delitem__"}},
		{"a group of exceptions", `
def f(x):
    x = x + 1
    try:
        raise ExceptionGroup("two", [ValueError(), TypeError()])
    except* ValueError:
        x = x + 2
    except* TypeError:
        x = x + 3
    return x`, "torch.ones(3)", []string{"skip 7 missing: CHECK_EG_MATCH"}},
		{"imports", `
def f(x):
    import math
    from math import sqrt
    return x * math.pi + sqrt(4.0)`, "torch.ones(3)", nil},
		{"attributes and items", `
class C: pass
c = C()
c.a, c.d = 2, {"k": 1}
def f(x):
    c.a = c.a + 1
    c.d["k"] = c.d["k"] + c.a
    return x.sum() * c.d["k"]`, "torch.ones(3)", nil},
		{"attributes that go", `
class C: n = 1
c = C()
c.n, C.m = 2, 3
def f(x):
    del c.n
    x = x + c.n
    c.n = 2
    try:
        del C.m
    except AttributeError:
        pass
    return x`, "torch.ones(3)", []string{"skip 11 builtin: delattr"}},
		{"operators", `
l, s = [1, 2], {1, 2}
def f(x, a, b):
    if a < b and a is not b and 2 in l and 3 not in s and f"{a}|{b}" == "1|2":
        x = x + a
    return x, not a`, "torch.ones(3), 1, 2", nil},
		{"walks", `
l, d = [1, 2, 3], {"b": 2}
def add(*args, b, c=0):
    return args[0] * b + c
def f(x):
    for n in l:
        x = x + n
    p, q, r = l
    first, *rest = l
    both = [*l, *rest]
    both_sets = {*l, *rest}
    k = {**d, "c": 3}
    for row in x:
        x = x + row
    return add(*[x], **k, **{}) + p + q + r + len(both) + len(both_sets)`, "torch.ones(3)", nil},
		{"a branch on a value", `
def f(x):
    if x.sum():
        return x + 1
    return x - 1`, "torch.ones(3)", []string{"break 4 Data-dependent jump"}},
		{"and, or, while", `
def f(x):
    y = x.sum() and x.prod() or x
    while y.sum() < 3:
        y = y + 1
    n = 2
    while not n == 0:
        n = n - 1
    return y`, "torch.zeros(2)", []string{
			"break 4 Data-dependent jump", "break 4 Data-dependent jump", "break 5 Data-dependent jump", "break 5 Data-dependent jump"}},
		{"a slice that ends at a value", `
def f(x):
    n = x[2:torch.tensor(3)].sum()
    return x[:, None][n.long():]`, "torch.ones(3)", []string{"skip 5 Dynamic slicing on data-dependent value is not supported"}},
		{"a branch on an attribute", `
class C:
    pass
c = C()
c.on = torch.zeros(())
def f(x):
    if c.on:
        return x - 1
    c.on = torch.ones(())
    return x + 1
def again(x):
    r = f(x), f(x)
    c.on = torch.zeros(())
    return r`, "torch.ones(3)", []string{"break 8 Data-dependent jump"}},
		{"an exception", `
def f(x):
    try:
        raise ValueError
    except ValueError:
        return x + 1`, "torch.ones(3)", nil},
		{"a generator that is inlined", `
def g(x):
    yield x + 1
    yield x + 2
def f(x):
    for y in g(x):
        x = x + y
    return x`, "torch.ones(3)", nil},
		{"signs of an object", `
class Q:
    def __neg__(self): return 2
    def __pos__(self): return 3
    def __invert__(self): return 4
q = Q()
def f(x):
    x = x + 1
    return x + -q + +q + ~q`, "torch.ones(3)", []string{"skip 10 builtin: neg"}},
		{"an object that a tensor is multiplied by", `
class Q:
    def __rmul__(self, o): return o * 2
q = Q()
def f(x):
    x = x + 1
    return x * q`, "torch.ones(3)", []string{"skip 8 call_function args: TensorVariable() UserDefinedObjectVariable(Q)"}},
		{"a member of an enum that is called", `
import enum
class Act(enum.Enum):
    DOUBLE = 2
    def __call__(self, x): return x * self.value
def f(x):
    x = x + 1
    return Act.DOUBLE(x)`, "torch.ones(3)", []string{"break 9 call_function EnumVariable(<enum 'Act'>)"}},
		{"a product of objects", `
class Q:
    def __matmul__(self, o): return 2
q = Q()
def f(x):
    return x + q @ 1`, "torch.ones(3)", []string{"skip 7 builtin: matmul"}},
		{"a lock", `
import threading
lock = threading.Lock()
def f(x):
    x = x + 1
    with lock:
        return x + 2`, "torch.ones(3)", []string{"skip 7 BEFORE_WITH UserDefinedObjectVariable(lock)"}},
	} {
		calls := "\nprint(run(" + c.args + "), run(" + c.args + "))\n"
		_, eager := trace(t, c.src+"\nrun = f"+calls)
		s, got := trace(t, c.src+"\nrun = torch.compile(f, backend='eager')"+calls)
		if diff := cmp.Diff(eager.out, got.out); diff != "" {
			t.Errorf("%s: eager and compiled: %s", c.name, diff)
		}
		if diff := cmp.Diff(c.breaks, got.breaks); diff != "" {
			t.Errorf("%s: breaks: %s", c.name, diff)
		}
		main, _ := s.In.Modules.GetStr("__main__")
		main.(*vm.Module).Dict.Each(func(_, v vm.Object) bool {
			if f, ok := v.(*vm.Function); ok {
				instructions(f.Code.Code, met)
			}
			return true
		})
	}
	for _, op := range capture.Watched() {
		if !met[op] {
			t.Errorf("no program has %s", op)
		}
	}
}

// instructions notes those of c, and of the code in it.
func instructions(c *code.Code, met map[code.Op]bool) {
	for _, i := range c.Instrs {
		met[i.Op] = true
	}
	for _, k := range c.Consts {
		if inner, ok := k.(*code.Code); ok {
			instructions(inner, met)
		}
	}
}
