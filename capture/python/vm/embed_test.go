package vm

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"whittle/capture/python/code"
	"whittle/capture/python/literal"
)

// box is an embedder's payload.
type box struct{ v float64 }

func newBoxType(in *Interp) *Type {
	val := func(o Object) *box {
		if i, ok := o.(*Instance); ok {
			b, _ := i.Native.(*box)
			return b
		}
		return nil
	}
	var t *Type
	t = in.NewNativeType(Spec{
		Name: "Box", Module: "boxes",
		New: func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
			a, err := in.ParseArgs("Box", args, kw, "value=0.0")
			if err != nil {
				return nil, err
			}
			f, err := in.Float(a[0])
			return NewInstance(cls, &box{f}), err
		},
		Methods: map[string]GoFunc{
			"__init__": func(in *Interp, args []Object, kw []KwArg) (Object, error) { return None, nil },
			"__add__": func(in *Interp, args []Object, kw []KwArg) (Object, error) {
				x, y := val(args[0]), val(args[1])
				if y == nil {
					f, ok := AsFloat(args[1])
					if !ok {
						return NotImplemented, nil
					}
					y = &box{f}
				}
				return NewInstance(t, &box{x.v + y.v}), nil
			},
			"__radd__": func(in *Interp, args []Object, kw []KwArg) (Object, error) { return in.BinaryOp("+", args[0], args[1]) },
			"__repr__": func(in *Interp, args []Object, kw []KwArg) (Object, error) {
				return Str("Box(" + literal.Float(val(args[0]).v) + ")"), nil
			},
		},
		GetSet: []*GetSet{{Name: "value", Get: func(in *Interp, o Object) (Object, error) { return Float(val(o).v), nil },
			Set: func(in *Interp, o, v Object) error { f, err := in.Float(v); val(o).v = f; return err }}},
		Static: map[string]GoFunc{"zero": func(in *Interp, args []Object, kw []KwArg) (Object, error) { return NewInstance(t, &box{}), nil }},
	})
	return t
}

func TestNativeType(t *testing.T) {
	in := New()
	var out bytes.Buffer
	in.Stdout = &out
	in.RegisterModule("boxes", func(in *Interp) (*Module, error) {
		m := in.NewModule("boxes", "")
		m.Set("Box", newBoxType(in))
		return m, nil
	})
	in.AddSourceFS(fstest.MapFS{"pkg/__init__.py": {Data: []byte("from . import sub\nfrom .sub import f\n")}, "pkg/sub.py": {Data: []byte("def f(): return __name__\n")}}, "/embedded")
	err := in.RunSource("t.py", `
from boxes import Box
import pkg
class Sub(Box):
    def __init__(self, v, name): self.name = name
    def __new__(cls, v, name): return super().__new__(cls, v)
    def twice(self): return self + self
b = Box(2)
b.value = 5
b.extra = 1
s = Sub(3, 'n')
print(b, b + 1, 1 + b, s.twice(), s.name, s.value, Box.zero(), isinstance(s, Box), pkg.f(), pkg.__file__)
try: b + 'x'
except TypeError as e: print(e)
try: Box(wrong=1)
except TypeError as e: print(e)
`)
	in.Flush()
	if err != nil {
		t.Fatal(in.FormatException(err))
	}
	want := `Box(5.0) Box(6.0) Box(6.0) Box(6.0) n 3.0 Box(0.0) True pkg.sub /embedded/pkg/__init__.py
unsupported operand type(s) for +: 'Box' and 'str'
'wrong' is an invalid keyword argument for Box()
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestPanicInNativeBecomesError(t *testing.T) {
	in := New()
	in.RegisterModule("bad", func(in *Interp) (*Module, error) {
		m := in.NewModule("bad", "")
		m.Func("boom", func(in *Interp, args []Object, kw []KwArg) (Object, error) { panic("oops") })
		return m, nil
	})
	err := in.RunSource("t.py", "import bad\ntry: bad.boom()\nexcept BaseException: pass\n")
	var pe *PanicError
	if !errors.As(err, &pe) || !strings.Contains(err.Error(), "oops") {
		t.Fatalf("got %v", err)
	}
	if err := in.RunSource("t.py", "x = sum(range(10))"); err != nil {
		t.Fatal(err)
	}
}

// TestResumeInTheMiddle starts a clone of a function at an instruction of its middle, as resume functions do.
func TestResumeInTheMiddle(t *testing.T) {
	in := New()
	if err := in.RunSource("t.py", "def f(a, b):\n    c = a + b\n    return c * 10\n"); err != nil {
		t.Fatal(err)
	}
	m, _ := in.Modules.GetStr("__main__")
	o, _ := m.(*Module).Dict.GetStr("f")
	fn := o.(*Function)
	c := NewCode(fn.Code.Code.Clone())
	f := in.NewFrame(fn, c)
	for i, ins := range c.Instrs {
		if ins.Op == code.STORE_FAST {
			f.PC = i
		}
	}
	f.Stack[0] = MakeInt(7)
	f.SP = 1
	v, err := in.EvalFrame(f)
	if err != nil || v != Object(MakeInt(70)) {
		t.Fatalf("got %v, %v", v, err)
	}
}

func TestCallHook(t *testing.T) {
	in := New()
	var seen []string
	in.CallHook = func(in *Interp, callable Object, args []Object, kw []KwArg) (Object, bool, error) {
		if b, ok := callable.(*Builtin); ok {
			seen = append(seen, b.Name)
			if b.Name == "len" {
				return MakeInt(99), true, nil
			}
		}
		return nil, false, nil
	}
	var out bytes.Buffer
	in.Stdout = &out
	if err := in.RunSource("t.py", "print(len([1]), abs(-1), [3].count(3))"); err != nil {
		t.Fatal(err)
	}
	in.Flush()
	if out.String() != "99 1 1\n" || strings.Join(seen, " ") != "len abs count print" {
		t.Fatalf("got %q, saw %v", out.String(), seen)
	}
}

func TestFrameHookMayReplaceTheCall(t *testing.T) {
	in := New()
	var out bytes.Buffer
	in.Stdout = &out
	in.FrameHook = func(in *Interp, f *Frame) (Object, error) {
		if f.Code.Name == "f" {
			return Str("hooked"), nil
		}
		return in.EvalFrame(f)
	}
	if err := in.RunSource("t.py", "def f(): return 1\ndef g():\n    yield f()\nprint(f(), list(g()), [f() for _ in range(2)])"); err != nil {
		t.Fatal(in.FormatException(err))
	}
	in.Flush()
	if out.String() != "hooked ['hooked'] ['hooked', 'hooked']\n" {
		t.Fatalf("got %q", out.String())
	}
}

func TestPending(t *testing.T) {
	in := New()
	for _, c := range []struct {
		it   Object
		want string
	}{{NewListIter(NewList(MakeInt(1), MakeInt(2)), 1), "[2]"}, {NewRangeIter(3, 2, 2), "[3, 5]"}, {NewTupleIter([]Object{None}), "[None]"}} {
		items, ok := Pending(c.it)
		s, _ := in.Repr(NewList(items...))
		if !ok || s != c.want {
			t.Errorf("got %s, want %s", s, c.want)
		}
	}
}
