package torch_test

import (
	"bytes"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
	"whittle/tools/whittle/stack"
)

// everything alters each field of the ambient state.
func everything(a *torch.Ambient) {
	a.Dispatch = aten.Fake
	a.Hook = func(*torch.Call) (vm.Object, error) { return nil, nil }
	a.Lift = func(x *tensor.Tensor) (*tensor.Tensor, error) { return x, nil }
	a.Symbolic = true
	a.Sizes = func(*tensor.Tensor, bool, ...int) []vm.Object { return nil }
	a.Numel = func(*tensor.Tensor) vm.Object { return nil }
	a.Record = func(string, []*tensor.Tensor, []*tensor.Tensor, func([]*tensor.Tensor) ([]*tensor.Tensor, error)) error {
		return nil
	}
	a.Cond = func(*tensor.Tensor, [2]*torch.GraphModule, []aten.Value) ([]aten.Value, error) { return nil, nil }
	a.GradSwitch = func(bool) {}
	a.Reads = true
	a.Checkpoint = 1
	a.Running = &fx.Node{}
	a.FrameHook = func(*vm.Interp, *vm.Frame) (vm.Object, error) { return nil, nil }
	a.LookupHook = func(*vm.Type, string, vm.Object) {}
	a.CallHook = func(*vm.Interp, vm.Object, []vm.Object, []vm.KwArg) (vm.Object, bool, error) { return nil, false, nil }
	a.ArrayHook = func(vm.ArrayUse) (vm.Object, bool, error) { return nil, false, nil }
	a.BindHook = func(_ *vm.Function, _ []vm.Object, _ []vm.KwArg, wrong error) error { return wrong }
	a.RaiseHook = func(_ *vm.Frame, r *vm.Raised) error { return r }
	a.ImportHook = func(load func() (vm.Object, error)) (vm.Object, error) { return load() }
}

// altered names the fields that are not as a new session has them.
func altered(t *torch.Torch) []string {
	out := []string{}
	look := func(v reflect.Value) {
		for i := range v.NumField() {
			switch name := v.Type().Field(i).Name; {
			case name == "Hooks": // looked at by themselves
			case name == "Dispatch":
				if t.Dispatch != t.Eagerly() {
					out = append(out, name)
				}
			case !v.Field(i).IsZero():
				out = append(out, name)
			}
		}
	}
	look(reflect.ValueOf(t.Ambient))
	look(reflect.ValueOf(t.In.Hooks))
	return out
}

func newTorch(t *testing.T) *torch.Torch { return stack.New(context.Background(), t.TempDir()).Torch }

func TestPushIsUndone(t *testing.T) {
	to := newTorch(t)
	for _, c := range []struct {
		name string
		end  func() error
	}{
		{"a result", func() error { return nil }},
		{"an error", func() error { return errors.New("refused") }},
		{"a panic", func() error { panic("broken") }},
		{"a push inside that nobody pops", func() error { to.Push(torch.Unwatched); return nil }},
	} {
		func() {
			defer func() { _ = recover() }()
			defer to.Push(everything)()
			fields := reflect.TypeFor[torch.Ambient]().NumField() - 1 + reflect.TypeFor[vm.Hooks]().NumField()
			if n := len(altered(to)); n != fields {
				t.Errorf("%s: %d fields of %d are altered inside: %v", c.name, n, fields, altered(to))
			}
			_ = c.end()
		}()
		if diff := cmp.Diff([]string{}, altered(to)); diff != "" {
			t.Errorf("%s: altered afterwards: %s", c.name, diff)
		}
	}
}

func TestModesAreKept(t *testing.T) {
	to := newTorch(t)
	type modes struct {
		Block torch.BlockModes
		Grad  bool
	}
	now := func() modes { return modes{to.BlockModes, to.Grad.Enabled()} }
	before := now()
	for name, end := range map[string]func(){"a result": func() {}, "a panic": func() { panic("broken") }} {
		func() {
			defer func() { _ = recover() }()
			defer to.KeepModes()()
			to.Inference, to.Autocast = !before.Block.Inference, torch.Autocast{Enabled: true, DType: tensor.Float16}
			to.Grad.SetEnabled(!before.Grad)
			end()
		}()
		if diff := cmp.Diff(before, now()); diff != "" {
			t.Errorf("after %s: %s", name, diff)
		}
	}
}

// Whatever way a compiled function ends, the session goes on as it was.
func TestTracesLeaveNothingBehind(t *testing.T) {
	const compiled = `
import torch

@torch.library.custom_op("mine::refuse", mutates_args=())
def refuse(x: torch.Tensor) -> torch.Tensor:
    raise ValueError("refused")

@refuse.register_fake
def _(x):
    raise ValueError("refused as a fake")

def failing(gm, inputs):
    raise RuntimeError("no backend")

def run(f, **kw):
    try:
        return torch.compile(f, **kw)(torch.ones(3, requires_grad=True))
    except Exception as e:
        return e

`
	for _, c := range []struct{ name, call string }{
		{"a graph", "run(lambda x: x.sin() + x.shape[0], dynamic=True)"},
		{"a graph of operators", "run(lambda x: x * torch.tensor(2.0), backend='aot_eager')"},
		{"an operator that fails on fakes", "run(refuse)"},
		{"an operator that fails on fakes, of a whole graph", "run(refuse, fullgraph=True)"},
		{"a break in a block", "def f(x):\n    with torch.no_grad(), torch.autocast('cpu'):\n        print('broken')\n        return x @ x\nrun(f)"},
		{"a break in a block of a whole graph", "def f(x):\n    with torch.inference_mode():\n        print('broken')\n    return x\nrun(f, fullgraph=True)"},
		{"an exception in a block", "def f(x):\n    with torch.no_grad():\n        return x.nothing\nrun(f)"},
		{"a backend that fails", "run(torch.sin, backend=failing)"},
	} {
		s := stack.New(context.Background(), t.TempDir())
		s.In.Stdout = new(bytes.Buffer)
		if err := s.In.RunSource("script.py", compiled+c.call); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff([]string{}, altered(s.Torch)); diff != "" {
			t.Errorf("%s: altered afterwards: %s", c.name, diff)
		}
		if !s.Torch.Grad.Enabled() || s.Torch.Inference || s.Torch.Autocast.Enabled {
			t.Errorf("%s: a mode is left: gradients %v, %+v", c.name, s.Torch.Grad.Enabled(), s.Torch.BlockModes)
		}
	}
}

// Outside of a change that is pushed, nobody assigns a field of the ambient state, or a hook of the interpreter: there would be nothing
// that brings it back.
func TestAmbientChangesByPush(t *testing.T) {
	allowed := map[string]string{
		"capture/torch/ambient.go t.Ambient":              "what Push is",
		"capture/torch/torch.go t.Ambient":                "where it begins",
		"capture/torch/graph.go t.Running":                "from node to node, under the push of the graph",
		"capture/module.go in.FrameHook":                  "a program enters and leaves a context as it likes",
		"capture/python/vm/tracing.go in.CallHook":        "a program sets and ends its own profile function",
		"tools/whittle/stack/stack.go s.Torch.GradSwitch": "under the push around aot.Compile, which calls Tracing",
	}
	fields := map[string]bool{"Ambient": true, "Hooks": true}
	for _, of := range []reflect.Type{reflect.TypeFor[torch.Ambient](), reflect.TypeFor[vm.Hooks]()} {
		for i := range of.NumField() {
			fields[of.Field(i).Name] = true
		}
	}
	session := regexp.MustCompile(`(^|\.)(t|T|Torch|in|In)$`) // what holds them, as this code calls it
	found := map[string]bool{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			as, ok := n.(*ast.AssignStmt)
			if !ok {
				return true
			}
			for _, l := range as.Lhs {
				if s, ok := l.(*ast.SelectorExpr); ok && fields[s.Sel.Name] && session.MatchString(types.ExprString(s.X)) {
					at := filepath.ToSlash(name) + " " + types.ExprString(s)
					found[at] = true
					if allowed[at] == "" {
						t.Errorf("%s is assigned by hand", at)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for at, why := range allowed {
		if !found[at] {
			t.Errorf("nothing assigns %s (%s)", at, why)
		}
	}
}
