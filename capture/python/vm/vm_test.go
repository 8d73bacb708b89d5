package vm

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func run(t *testing.T, src string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	in := New()
	in.Stdout = &out
	err := in.RunSource("t.py", src)
	in.Flush()
	if err != nil {
		return out.String() + in.FormatException(err), err
	}
	return out.String(), nil
}

func TestScripts(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"hello", "print('hello', 1+2)", "hello 3\n"},
		{"class", "class A:\n    def __init__(self, x): self.x = x\n    def f(self): return self.x * 2\nclass B(A):\n    def f(self): return super().f() + 1\nprint(B(4).f())", "9\n"},
		{"exception", "try:\n    1/0\nexcept ZeroDivisionError as e:\n    print('caught', e)\nfinally:\n    print('done')", "caught division by zero\ndone\n"},
		{"generator", "def g():\n    for i in range(3):\n        yield i\nprint(list(g()), sum(x*x for x in range(5)))", "[0, 1, 2] 30\n"},
		{"closure", "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n        return n\n    return g\ng = f(); g(); print(g())", "2\n"},
		{"comprehension", "print([x for x in range(5) if x % 2], {k: v for k, v in zip('ab', [1, 2])}, {1, 3, 2})", "[1, 3] {'a': 1, 'b': 2} {1, 2, 3}\n"},
		{"fstring", "x = 3.14159\nprint(f'{x:.2f} {x!r:>10} {x=} {\"a\":*^5}')", "3.14    3.14159 x=3.14159 **a**\n"},
		{"match", "match [1, 2, 3]:\n    case [1, *r]: print(r)\n    case _: print('no')", "[2, 3]\n"},
		{"with", "class C:\n    def __enter__(self): print('in'); return 5\n    def __exit__(self, *a): print('out', a[0]); return True\nwith C() as x:\n    print(x)\n    raise ValueError\nprint('after')", "in\n5\nout <class 'ValueError'>\nafter\n"},
	} {
		got, _ := run(t, c.src)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, d)
		}
	}
}

func TestCancel(t *testing.T) {
	in := New()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	defer in.WithContext(ctx)()
	err := in.RunSource("t.py", "while True: pass")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
}

// TestCancelLoops holds that every kind of loop looks up from its work.
func TestCancelLoops(t *testing.T) {
	for _, src := range []string{
		"while True: pass", "x = 1\nwhile x: pass", "x = 0\nwhile not x: pass", "x = None\nwhile x is None: pass", "x = 1\nwhile x is not None: pass",
		"x = 1\nwhile x < 2: pass", "x = 1\nwhile not x > 2: pass", "x = 1\nwhile True:\n    if x: continue", "def f():\n    while True: yield 1\nfor _ in f(): pass",
		"x = []\nwhile not x or x is None: pass", "def f():\n    try: f()\n    except RecursionError: pass\nwhile 1: f()",
	} {
		in := New()
		ctx, cancel := context.WithCancel(context.Background())
		lift := in.WithContext(ctx)
		timer := time.AfterFunc(20*time.Millisecond, cancel)
		if err := in.RunSource("t.py", src); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", src, err)
		}
		timer.Stop()
		lift()
	}
}

func TestRecursion(t *testing.T) {
	got, _ := run(t, "def f(): return f()\ntry: f()\nexcept RecursionError as e: print(e)")
	if !strings.Contains(got, "maximum recursion depth exceeded") {
		t.Fatal(got)
	}
}

func TestTraceSeesEveryInstruction(t *testing.T) {
	in := New()
	n := 0
	in.FrameHook = func(in *Interp, f *Frame) (Object, error) {
		if f.Code.Name == "f" {
			f.Trace = func(f *Frame) error { n++; return nil }
		}
		return in.EvalFrame(f)
	}
	if err := in.RunSource("t.py", "def f(a):\n    return a + 1\nf(2)"); err != nil {
		t.Fatal(err)
	}
	if n != 5 {
		t.Fatalf("saw %d instructions", n)
	}
}

func TestAbortFromTracePassesHandlers(t *testing.T) {
	in := New()
	stop := errors.New("stop")
	in.FrameHook = func(in *Interp, f *Frame) (Object, error) {
		if f.Code.Name == "f" {
			f.Trace = func(f *Frame) error { return stop }
		}
		return in.EvalFrame(f)
	}
	err := in.RunSource("t.py", "def f():\n    pass\ntry:\n    f()\nexcept BaseException:\n    pass\nfinally:\n    print('no')")
	if !errors.Is(err, stop) {
		t.Fatalf("got %v", err)
	}
}
