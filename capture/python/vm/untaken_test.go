package vm

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUntaken holds which values of calls are dropped without anybody having had them: numbers are those that make was called with.
func TestUntaken(t *testing.T) {
	in := New()
	in.Stdout = &bytes.Buffer{}
	var got []string
	in.Unheld = func(o Object) { got = append(got, fmt.Sprint(o.(*List).Items[0])) }
	builtin := func(name string, fresh bool, f GoFunc) {
		in.Builtins.Dict.SetStr(name, &Builtin{Name: name, Max: -1, Fresh: fresh, Fn: f})
	}
	builtin("make", true, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		in.Made = NewList(args...)
		return in.Made, nil
	})
	builtin("given", true, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		in.Made = nil // its result is another's
		return args[0], nil
	})
	builtin("override", false, func(in *Interp, args []Object, _ []KwArg) (Object, error) { // with an object in the place of the result, or only asked
		with := args[1]
		args[0].(*Function).Override = func(in *Interp, f *Frame) (Object, bool, error) {
			made, _ := in.Builtins.Dict.GetStr("make")
			_, err := in.Call(made, []Object{MakeInt(-23)}, nil)
			return with, with != None, err
		}
		return None, nil
	})
	builtin("same", false, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return args[0], nil })
	builtin("keeps", false, func(in *Interp, args []Object, _ []KwArg) (Object, error) { // as a cache does
		return in.Call(args[0], args[1:], nil)
	})
	box := in.NewNativeType(Spec{Name: "Box", New: func(in *Interp, cls *Type, args []Object, _ []KwArg) (Object, error) {
		return &Instance{Class: cls}, nil
	},
		Methods: map[string]GoFunc{
			"__add__": func(in *Interp, args []Object, _ []KwArg) (Object, error) {
				if _, ok := args[1].(Int); !ok {
					return NotImplemented, nil
				}
				in.Made = NewList(args[1])
				return in.Made, nil
			},
			"__lt__": func(in *Interp, args []Object, _ []KwArg) (Object, error) {
				in.Made = NewList(args[1])
				return in.Made, nil
			},
			"__neg__": func(in *Interp, args []Object, _ []KwArg) (Object, error) {
				in.Made = NewList(MakeInt(10))
				return in.Made, nil
			},
		}})
	in.Operates = box
	in.Builtins.Dict.SetStr("Box", box)
	source := `
class Manager:
    def __enter__(self): return self
    def __exit__(self, *a): return None
def within(n):
    with Manager():
        with Manager() as m:
            return make(n)
def later(n):
    with Manager():
        return make(n)
    return make(-n)
def looked(n):
    with Manager() as m:
        m.x = make(n)
        return m.x
class Other:
    def __radd__(self, a):
        self.kept = make(-15)
        return self.kept
class Derived(Box):
    def __add__(self, a):
        self.kept = make(-16)
        return self.kept
def returned(n): return make(n)
def twice(n): return returned(n)
def local(n):
    x = make(n)
    return x
def either(n, c):
    x = make(n)
    return x if c else make(-n)
class C:
    def method(self, n): return make(n)
    def kept(self, n):
        self.x = make(n)
        return self.x
def generator(n):
    yield make(n)
    return make(-n)
make(1)
make(*[2])
returned(3)
twice(4)
(lambda: make(5))()
C().method(6)
x = make(-1)
same(x)
given(x)
(lambda v: v)(x)
(lambda v: v)(v=x)
local(-2)
either(-3, True)
x if x else make(-4)
C().kept(-5)
keeps(make, -6)
keeps(returned, -7)
l = list(map(returned, [-8]))
(lambda v: v)(v=l[0])
same(l[0])
for y in generator(-9): y
[make(-10)]
make(-11)[0]
same(make(-12))
str(make(-13))
def f(v): v; return v
f(make(-14))
make(7)
b = Box()
b + 8
b < 9
-b
(lambda: b + 11)()
b + Other()
Derived() + 1
x = b + -17
[b + -18]
within(12)
later(13)
looked(-19)
y = within(-20)
returned(*[14])
x = returned(*[-21])
looked(*[-22])
def asked(n): return make(n)
override(asked, None)
asked(15)
override(asked, [-24])
asked(-25)
`
	if err := in.RunSource("t.py", source); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
