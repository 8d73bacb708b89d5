package vm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestStreams holds that output waits in the buffer until Flush, goes to the writer that is set by then, and that what fails is an OSError.
func TestStreams(t *testing.T) {
	in := New()
	var first, second bytes.Buffer
	in.Stdout = &first
	if err := in.Write("a"); err != nil {
		t.Fatal(err)
	}
	if first.Len() != 0 {
		t.Errorf("%q was written before Flush", first.String())
	}
	in.Stdout = &second
	fmt.Fprint(in.StdoutWriter(), "b")
	if err := in.StdoutWriter().Flush(); err != nil {
		t.Fatal(err)
	}
	if first.Len() != 0 || second.String() != "ab" {
		t.Errorf("first has %q, second %q", first.String(), second.String())
	}
	in.Stdin = strings.NewReader("one\ntwo\n")
	for _, want := range []string{"one\n", "two\n"} {
		if got, err := in.StdinReader().ReadString('\n'); got != want {
			t.Errorf("read %q, %v, want %q", got, err, want)
		}
	}
	in.Stdout = writerFunc(func([]byte) (int, error) { return 0, errors.New("full") })
	if err := in.Write(strings.Repeat("x", 10000)); !in.Matches(err, in.Exc.OSError) {
		t.Errorf("writing to a full file gives %v", err)
	}
}

// TestCallStack holds that calls find unbound slots however deep they go, that frames which are kept keep their variables, and that what
// fails, a panic too, leaves the stack as high as it was.
func TestCallStack(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"beyond the slab", "def f(n):\n    a, b, c, d, e = [n] * 5\n    return 0 if n == 0 else f(n - 1) + (a == e)\nprint(f(900))", "900\n"},
		{"twice", "def f(n):\n    return 0 if n == 0 else 1 + f(n - 1)\nprint(f(900), f(900))", "900 900\n"},
		{"unbound again", "def f(x):\n    if x: y = 1\n    try: return y\n    except UnboundLocalError: return 'unbound'\nprint(f(1), f(0))", "1 unbound\n"},
		{"kept by locals", "def f():\n    x = 5\n    return locals()\nd = f()\ndef g():\n    x = 6\ng()\nprint(d)", "{'x': 5}\n"},
		{"kept by a generator", "def f(x):\n    yield x\n    yield x + 1\ng = f(1)\nprint(next(g))\nprint(list(f(7)), next(g))", "1\n[7, 8] 2\n"},
		{"limit", "n = 0\ndef f():\n    global n\n    n += 1\n    f()\ntry: f()\nexcept RecursionError as e: print(n, e)", "999 maximum recursion depth exceeded\n"},
		{"limit of builtins", "l = []\nfor _ in range(2000): l = [l]\ntry: repr(l)\nexcept RecursionError as e: print(e)", "maximum recursion depth exceeded\n"},
	} {
		got, _ := run(t, c.src)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, d)
		}
	}
	in := New()
	in.Builtins.Func("boom", func(*Interp, []Object, []KwArg) (Object, error) { panic("boom") })
	before := in.mark()
	var p *PanicError
	if err := in.RunSource("t.py", "def f(): return boom()\nf()"); !errors.As(err, &p) || p.Value != "boom" {
		t.Errorf("got %v", err)
	}
	if after := in.mark(); after.depth != before.depth || after.top != before.top || in.Frame() != nil {
		t.Errorf("the stack was %d calls and %d slots high, and is %d and %d", before.depth, before.top, after.depth, after.top)
	}
}

// TestRetainedFrame holds that a frame which is retained while it runs can be read after its call.
func TestRetainedFrame(t *testing.T) {
	in := New()
	var f *Frame
	in.Builtins.Func("keep", func(in *Interp, _ []Object, _ []KwArg) (Object, error) {
		f = in.Frame()
		f.Retain()
		return None, nil
	})
	if err := in.RunSource("t.py", "def f(a):\n    b = a + 1\n    keep()\n    return b\ndef g(x, y):\n    return x\nf(4)\ng(8, 9)"); err != nil {
		t.Fatal(err)
	}
	text, err := in.Repr(f.LocalsDict())
	if err != nil || text != "{'a': 4, 'b': 5}" {
		t.Errorf("%s, %v", text, err)
	}
}

// TestHooks holds what each hook is told, in order.
func TestHooks(t *testing.T) {
	in := New()
	in.Stdout = &bytes.Buffer{}
	var log []string
	in.FrameHook = func(in *Interp, f *Frame) (Object, error) {
		log = append(log, "frame "+f.Code.Name)
		return in.EvalFrame(f)
	}
	in.LookupHook = func(t *Type, name string, v Object) {
		if !strings.HasPrefix(name, "__") {
			log = append(log, fmt.Sprintf("lookup %s.%s %v", t.Name, name, v != nil))
		}
	}
	in.CallHook = func(in *Interp, callable Object, args []Object, kw []KwArg) (Object, bool, error) {
		if fn, ok := callable.(*Function); ok && fn.Name == "g" {
			log = append(log, fmt.Sprintf("call g %d %d", len(args), len(kw)))
			return Int(42), true, nil
		}
		return nil, false, nil
	}
	if err := in.RunSource("t.py", "class A:\n    x = 1\ndef g(*a, **k): pass\ndef f(): return A().x + g(1, 2, k=3)\nr = f()"); err != nil {
		t.Fatal(err)
	}
	want := []string{"frame <module>", "frame A", "frame f", "lookup A.x true", "call g 2 1"}
	if d := cmp.Diff(want, log); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	m, _ := in.Modules.GetStr("__main__")
	if r, _ := m.(*Module).Dict.GetStr("r"); r != Int(43) {
		t.Errorf("r is %v", r)
	}
}

// TestInterrupts holds that OnInterrupt runs where the code is, and what it raises there can be caught, while an ended context cannot.
func TestInterrupts(t *testing.T) {
	in := New()
	var out bytes.Buffer
	in.Stdout = &out
	in.Builtins.Func("interrupt", func(in *Interp, _ []Object, _ []KwArg) (Object, error) { in.Interrupt(); return None, nil })
	in.OnInterrupt = func() error { return in.Errorf(in.Exc.KeyboardInterrupt, "") }
	if err := in.RunSource("t.py", "try:\n    interrupt()\n    while True: pass\nexcept KeyboardInterrupt:\n    print('caught')"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer in.WithContext(ctx)()
	in.Builtins.Func("cancel", func(*Interp, []Object, []KwArg) (Object, error) { cancel(errors.New("enough")); return None, nil })
	err := in.RunSource("t.py", "try:\n    cancel()\n    while True: pass\nexcept BaseException:\n    print('no')\nfinally:\n    print('no')")
	in.Flush()
	if err == nil || err.Error() != "interrupted: enough" || out.String() != "caught\n" {
		t.Errorf("%v after %q", err, out.String())
	}
}

// TestAtExit holds that callables run last first, those that they register too, and that an error stops none of them.
func TestAtExit(t *testing.T) {
	in := New()
	var out bytes.Buffer
	in.Stdout = &out
	in.Builtins.Func("at_exit", func(in *Interp, args []Object, _ []KwArg) (Object, error) { in.AtExit(args[0]); return None, nil })
	if err := in.RunSource("t.py", "at_exit(lambda: print('first'))\nat_exit(lambda: 1/0)\nat_exit(lambda: (print('last'), at_exit(lambda: print('late'))))"); err != nil {
		t.Fatal(err)
	}
	err := in.RunAtExit()
	if !in.Matches(err, in.Exc.ZeroDivisionError) || out.String() != "last\nlate\nfirst\n" {
		t.Errorf("%v after %q", err, out.String())
	}
}

// TestIdentities holds that an object keeps its number, that two have two, and that every run gives the same ones.
func TestIdentities(t *testing.T) {
	const src = "class A: pass\na, b = A(), A()\nprint(id(a) == id(a), id(a) != id(b), id(1) == id(1), a, id(b), id(True))"
	one, _ := run(t, src)
	two, _ := run(t, src)
	if one != two || !strings.HasPrefix(one, "True True True <__main__.A object at 0x7f") {
		t.Errorf("%s%s", one, two)
	}
}

// TestContexts holds how exceptions are chained, and that no chain is a cycle.
func TestContexts(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"raised while handling", "try:\n    try: 1/0\n    except ZeroDivisionError: [][0]\nexcept IndexError as e: print(repr(e.__context__))", "ZeroDivisionError('division by zero')\n"},
		{"not after", "try: 1/0\nexcept ZeroDivisionError: pass\ntry: [][0]\nexcept IndexError as e: print(e.__context__)", "None\n"},
		{"itself", "e = ValueError()\ntry: raise e\nexcept ValueError:\n    try: raise e\n    except ValueError as f: print(f is e, f.__context__)", "True None\n"},
		{"cycle", "a, b = ValueError('a'), ValueError('b')\ntry:\n    try: raise a\n    except ValueError: raise b\nexcept ValueError:\n    try: raise a\n    except ValueError as e: print(repr(e.__context__), e.__context__.__context__)", "ValueError('b') None\n"},
		{"in a generator", "def g():\n    try: 1/0\n    except ZeroDivisionError:\n        yield\n        [][0]\nit = g()\nnext(it)\ntry: {}[1]\nexcept KeyError:\n    try: next(it)\n    except IndexError as e: print(repr(e.__context__))", "ZeroDivisionError('division by zero')\n"},
		{"from", "try:\n    try: 1/0\n    except ZeroDivisionError as z: raise KeyError(1) from z\nexcept KeyError as e: print(e.__cause__ is e.__context__, e.__suppress_context__)", "True True\n"},
	} {
		got, _ := run(t, c.src)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, d)
		}
	}
}

// TestImports holds where modules are looked for, and in which order.
func TestImports(t *testing.T) {
	in := New()
	var out bytes.Buffer
	in.Stdout = &out
	in.RegisterModule("native", func(in *Interp) (*Module, error) {
		m := in.NewModule("native", "")
		m.Set("who", Str("Go"))
		return m, nil
	})
	in.AddSourceFS(fstest.MapFS{
		"plain.py":        {Data: []byte("who = 'tree'")},
		"native.py":       {Data: []byte("who = 'never'")},
		"pkg/__init__.py": {Data: []byte("from . import sub\nfrom .sub import name as again")},
		"pkg/sub.py":      {Data: []byte("import pkg\nname = __name__")},
		"bad.py":          {Data: []byte("1/0")},
	}, "<test>")
	src := "import plain, native, pkg.sub\nprint(plain.who, plain.__file__, native.who, pkg.again, pkg.sub.__package__)\n" +
		"for i in range(2):\n    try: import bad\n    except ZeroDivisionError: print('bad')\n" +
		"try: import nothing\nexcept ModuleNotFoundError as e: print(e)\n" +
		"try: import plain.sub\nexcept ModuleNotFoundError as e: print(e)\n" +
		"try: from pkg import nothing\nexcept ImportError as e: print(e)\n"
	if err := in.RunSource("t.py", src); err != nil {
		t.Fatal(in.FormatException(err))
	}
	in.Flush()
	want := "tree <test>/plain.py Go pkg.sub pkg\nbad\nbad\nNo module named 'nothing'\nNo module named 'plain.sub'; 'plain' is not a package\n" +
		"cannot import name 'nothing' from 'pkg' (<test>/pkg/__init__.py)\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if text, ok := in.SourceText("<test>/plain.py"); !ok || text != "who = 'tree'" {
		t.Errorf("the source is %q, %v", text, ok)
	}
}
